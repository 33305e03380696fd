#include "counter.h"
#include "dispatch_log.h"
#include "banned.h"

//  The counter as text; "?" when health did not say
static const char *
s_count (const zpeer_result_t *result, char text[ZPEER_COUNTER_TEXT_MAX])
{
    if (result->max == 0)
        return "?";
    return zpeer_counter_text (result->count, result->max, text);
}

static void
s_log_network (zpeer_dispatch_log_t *self, uint64_t now,
               const zpeer_result_t *result)
{
    char text[ZPEER_COUNTER_TEXT_MAX];
    zpeer_sample (&self->lines, now, NETWORK_FAILURE, self->lines.about,
                  s_count (result, text), result->detail);
}

static void
s_log_silence (zpeer_dispatch_log_t *self, uint64_t now,
               const zpeer_result_t *result)
{
    char text[ZPEER_COUNTER_TEXT_MAX];
    zpeer_sample (&self->lines, now, READ_TIMEOUT, self->lines.about,
                  s_count (result, text), self->read_timeout_ms);
}

static void
s_log_tls (zpeer_dispatch_log_t *self, uint64_t now,
           const zpeer_result_t *result)
{
    zpeer_sample (&self->lines, now, TLS_FAILURE, self->lines.about,
                  result->items, result->detail);
}

static void
s_log_unusable (zpeer_dispatch_log_t *self, uint64_t now,
                const zpeer_result_t *result)
{
    char text[ZPEER_COUNTER_TEXT_MAX];
    zpeer_sample (&self->lines, now, UNUSABLE_ANSWER, self->lines.about,
                  s_count (result, text), result->detail);
}

static void
s_log_internal (zpeer_dispatch_log_t *self, uint64_t now,
                const zpeer_result_t *result)
{
    zpeer_sample (&self->lines, now, INTERNAL_FAILURE, self->lines.about,
                  result->items, result->detail);
}

void
zpeer_dispatch_log_failed (zpeer_dispatch_log_t *self, uint64_t now,
                           const zpeer_result_t *result)
{
    switch (result->end) {
    case ZPEER_END_UNSENT:
    case ZPEER_END_RESET: s_log_network (self, now, result); break;
    case ZPEER_END_READ_TIMEOUT: s_log_silence (self, now, result); break;
    case ZPEER_END_TLS: s_log_tls (self, now, result); break;
    case ZPEER_END_UNUSABLE: s_log_unusable (self, now, result); break;
    case ZPEER_END_INTERNAL: s_log_internal (self, now, result); break;
    default: break;
    }
}

void
zpeer_dispatch_log_renewal (zpeer_dispatch_log_t *self, uint64_t now,
                            const char *why)
{
    zpeer_sample (&self->lines, now, NOT_RENEWED, self->lines.about, why);
}

void
zpeer_dispatch_log_unheard (zpeer_dispatch_log_t *self, uint64_t now,
                            uint32_t waited_ms)
{
    zpeer_sample (&self->lines, now, HEALTH_SILENT, waited_ms,
                  self->lines.about);
}

void
zpeer_dispatch_log_gone (zpeer_dispatch_log_t *self, uint32_t silent_ms,
                         uint32_t aborted)
{
    zpeer_log (&self->lines.log, BATCHER_SILENT, self->lines.about, silent_ms,
               aborted);
}

void
zpeer_dispatch_log_key (zpeer_end_t end, char key[ZPEER_DISPATCH_KEY_MAX])
{
    snprintf (key, ZPEER_DISPATCH_KEY_MAX, "end-%s", zpeer_end_text (end));
    for (char *at = key; *at; at++)
        if (*at == ' ')
            *at = '-';
        else if (*at >= 'A' && *at <= 'Z')
            *at |= 0x20;
}

void
zpeer_dispatch_log_stats (zpeer_dispatch_log_t *self,
                          const zpeer_dispatch_stats_t *stats)
{
    zpeer_outcome_t map;
    zpeer_outcome_stats (&map, zpeer_report_map (&self->report),
                         ZPEER_SLICE ("dispatcher"),
                         zpeer_slice_str (self->lines.about));
#define X(kind, name, key, sentence)                                           \
    zpeer_outcome_uint (&map, key, stats->name);
    ZPEER_DISPATCH_COUNTERS (X)
#undef X
    for (unsigned i = 0; i < ZPEER_END_COUNT; i++) {
        char key[ZPEER_DISPATCH_KEY_MAX];
        zpeer_dispatch_log_key ((zpeer_end_t) i, key);
        zpeer_outcome_uint (&map, key, stats->ends[i]);
    }
    zpeer_outcome_end (&map);
    zpeer_report_send (&self->report, ZPEER_TOPIC_STATS);
}
