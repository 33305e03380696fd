/*  source.h - parser and view without the acceptor around them

    For benchmarks of single parts: takes encoded events in, in the calling
    thread, and hands out what became of each.
*/
#ifndef SOURCE_H_INCLUDED
#define SOURCE_H_INCLUDED

#include "load.h"
#include "view.h"

typedef struct {
    zpeer_parser_t *parser;  //  Owned
    zpeer_view_t *view;      //  Owned
} source_t;

void source_open (source_t *self);

void source_close (source_t *self);

//  What was parsed, and what the view made of it; both borrowed for the call
typedef void (source_fn) (void *arg, const zpeer_parsed_t *event,
                          const zpeer_applied_t *applied);

//  Takes every event of a load in; fn may be NULL
void source_take (source_t *self, const load_t *load, source_fn *fn, void *arg);

#endif
