#include <assert.h>
#include <czmq.h>
#include "event.h"
#include "source.h"
#include "banned.h"

//  As the engine's default
#define TOMBSTONE_MS 900000

struct source {
    zpeer_view_t *view;      //  Owned
    zpeer_parser_t *parser;  //  Owned
};

source_t *
source_new (void)
{
    zpeer_view_options_t options = {.tombstone_ms = TOMBSTONE_MS,
                                    .age_out = true};
    source_t *self = (source_t *) calloc (1, sizeof *self);
    assert (self);
    self->view = zpeer_view_new (&options);
    self->parser = zpeer_parser_new ();
    return self;
}

void
source_destroy (source_t **self_p)
{
    source_t *self = *self_p;
    if (!self)
        return;
    zpeer_view_destroy (&self->view);
    zpeer_parser_destroy (&self->parser);
    free (self);
    *self_p = NULL;
}

bool
source_apply (source_t *self, const char *frame, size_t size,
              const uint32_t *rejected, uint32_t count)
{
    uint32_t index = 0;
    char reason[ZPEER_REASON_MAX];
    for (size_t offset = 0; offset < size; index++) {
        zpeer_parsed_t event;
        zpeer_applied_t applied;
        int rc = zpeer_parser_next (self->parser, frame, size, &offset, &event,
                                    reason);
        bool refused = count && *rejected == index;
        if (refused) {
            rejected++;
            count--;
        }
        if ((rc != ZPEER_OK) != refused || rc == ZPEER_E_PARSE)
            return false;
        if (!refused)
            zpeer_view_apply (self->view, (uint64_t) zclock_mono (), &event,
                              &applied);
    }
    return count == 0;
}

const zpeer_state_t *
source_find (const source_t *self, const char *app, const char *id)
{
    return zpeer_view_find (self->view, zpeer_slice_str (app),
                            zpeer_slice_str (id));
}

json_t *
source_info (const zpeer_state_t *state)
{
    //  The text ends where the status follows
    char *text =
        zsys_sprintf ("%.*s}", (int) state->info->size, state->info->data);
    json_error_t error;
    json_t *json = json_loads (text, JSON_DISABLE_EOF_CHECK, &error);
    assert (json);
    freen (text);
    return json;
}
