/*  progress.c - tells a person how far a long job is
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "progress.h"
#include "banned.h"

//  How often a bar, and a line, is shown, ms
#define BAR_EVERY  100
#define LINE_EVERY 2000

//  Cells of the bar
#define BAR_CELLS 24

void
progress_init (progress_t *self, bool quiet, int64_t now)
{
    assert (self);
    *self = (progress_t){
        .quiet = quiet,
        .terminal = isatty (STDERR_FILENO) == 1,
        .started_at = now,
        .shown_at = now,
    };
    self->due_at = now + (self->terminal ? 0 : LINE_EVERY);
}

static void
s_draw_bar (const progress_state_t *state, uint64_t rate)
{
    fputs ("\r\033[K", stderr);
    if (state->total_bytes > 0) {
        double part = (double) state->done_bytes / (double) state->total_bytes;
        int cells = (int) (part * BAR_CELLS + 0.5);
        fputc ('[', stderr);
        for (int i = 0; i < BAR_CELLS; i++)
            fputc (i < cells ? '=' : ' ', stderr);
        fprintf (stderr, "] %3.0f %%  ", part * 100);
    }
    fprintf (stderr, "%" PRIu64 " events  %" PRIu64 "/s  %" PRIu64 " rejected",
             state->sent, rate, state->rejected);
}

static void
s_print_line (const progress_state_t *state, uint64_t rate)
{
    fprintf (stderr, "%" PRIu64 " events sent, %" PRIu64 "/s", state->sent,
             rate);
    if (state->total_bytes > 0)
        fprintf (stderr, ", %.0f %% of the input",
                 100.0 * (double) state->done_bytes /
                     (double) state->total_bytes);
    fprintf (stderr, ", %" PRIu64 " accepted, %" PRIu64 " rejected\n",
             state->accepted, state->rejected);
}

void
progress_show (progress_t *self, const progress_state_t *state, int64_t now)
{
    assert (self);
    if (self->quiet || now < self->due_at)
        return;
    uint64_t past_ms = (uint64_t) (now - self->shown_at);
    uint64_t rate = past_ms ? (state->sent - self->shown) * 1000 / past_ms : 0;
    if (self->terminal)
        s_draw_bar (state, rate);
    else
        s_print_line (state, rate);
    fflush (stderr);
    self->drawn = self->terminal;
    self->shown = state->sent;
    self->shown_at = now;
    self->due_at = now + (self->terminal ? BAR_EVERY : LINE_EVERY);
}

void
progress_clear (progress_t *self)
{
    assert (self);
    if (self->drawn)
        fputs ("\r\033[K", stderr);
    self->drawn = false;
}
