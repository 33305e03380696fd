/*  witness.h - the host's log, remembered for a test

    Threads: the log function is called from the engine's threads; everything
    here may be called from any.
*/
#ifndef WITNESS_H_INCLUDED
#define WITNESS_H_INCLUDED

#include <zpeer/log.h>

typedef struct witness witness_t;

witness_t *witness_new (void);

void witness_destroy (witness_t **self_p);

//  For zpeer_engine_set_log, with the witness as argument
void witness_log (void *witness, zpeer_log_level_t level, const char *id,
                  const char *text);

//  Lines with this message id so far
unsigned witness_count (witness_t *self, const char *id);

//  Waits until there are so many; false: limit_ms over
bool
witness_wait (witness_t *self, const char *id, unsigned count, int limit_ms);

//  Whether the newest line with this id holds text
bool witness_says (witness_t *self, const char *id, const char *text);

#endif
