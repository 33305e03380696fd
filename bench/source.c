#include <assert.h>
#include "source.h"
#include "banned.h"

void
source_open (source_t *self)
{
    zpeer_view_options_t options = {.tombstone_ms = 900000, .age_out = true};
    self->parser = zpeer_parser_new ();
    self->view = zpeer_view_new (&options);
}

void
source_close (source_t *self)
{
    zpeer_view_destroy (&self->view);
    zpeer_parser_destroy (&self->parser);
}

static void
s_take_frame (source_t *self, const load_frame_t *frame, source_fn *fn,
              void *arg)
{
    char reason[ZPEER_REASON_MAX];
    for (size_t offset = 0; offset < frame->size;) {
        zpeer_parsed_t event;
        zpeer_applied_t applied;
        int rc = zpeer_parser_next (self->parser, frame->data, frame->size,
                                    &offset, &event, reason);
        assert (rc == ZPEER_OK);
        zpeer_view_apply (self->view, 1, &event, &applied);
        if (fn)
            fn (arg, &event, &applied);
    }
}

void
source_take (source_t *self, const load_t *load, source_fn *fn, void *arg)
{
    for (size_t i = 0; i < load->count; i++)
        s_take_frame (self, &load->frames[i], fn, arg);
}
