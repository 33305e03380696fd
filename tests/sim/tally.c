#include <inttypes.h>
#include "network.h"
#include "tally.h"
#include "banned.h"

static void
s_one (FILE *out, const char *text, uint64_t count)
{
    if (count)
        fprintf (out, "    %-48s %10" PRIu64 "\n", text, count);
}

static void
s_outcomes (const tally_t *self, FILE *out)
{
    static const char *const texts[] = {[ZPEER_LANE_CONFLICT] = "conflict",
                                        [ZPEER_LANE_NEED_REGISTER] =
                                            "need-register",
                                        [ZPEER_LANE_REJECTED] = "rejected",
                                        [ZPEER_LANE_DROPPED] = "dropped",
                                        [ZPEER_LANE_DELIVERED] = "delivered",
                                        [ZPEER_LANE_RELEASED] = "released"};
    fprintf (out, "outcomes\n");
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        s_one (out, texts[i], self->outcomes[i]);
}

static void
s_endings (const tally_t *self, FILE *out)
{
    static const char *const texts[] = {
#define X(name, label, meaning) label,
        ZPEER_LANE_ENDINGS (X)
#undef X
    };
    fprintf (out, "tasks ended\n");
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++)
        s_one (out, texts[i], self->ended[i]);
}

void
tally_print (const tally_t *self, FILE *out)
{
    static const char *const texts[] = {
#define X(name, text) text,
        TALLIES (X)
#undef X
    };
    fprintf (out, "events\n");
    for (unsigned i = 0; i < ZPEER_ACTIONS; i++)
        s_one (out, zpeer_action_name ((zpeer_action_t) i), self->events[i]);
    fprintf (out, "faults\n");
    for (unsigned i = 0; i < network_faults (); i++)
        s_one (out, network_fault_name (i), self->faults[i]);
    fprintf (out, "verdicts\n");
    for (unsigned i = 0; i < ZPEER_VERDICTS; i++)
        s_one (out, zpeer_verdict_name ((zpeer_verdict_t) i),
               self->verdicts[i]);
    s_one (out, "escalated", self->escalated);
    s_outcomes (self, out);
    s_endings (self, out);
    fprintf (out, "what else\n");
    for (unsigned i = 0; i < TALLY_COUNT; i++)
        s_one (out, texts[i], self->counts[i]);
    fprintf (out,
             "at most %" PRIu32 " answers 400 for one bad item, %" PRIu32
             " attempts in vain beside one that hangs, %" PRIu32
             " wake-ups of a lane in a second\n",
             self->most_400, self->most_met, self->most_wakes);
}
