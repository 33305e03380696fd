#include <czmq.h>
#include <jansson.h>
#include "lane.h"
#include "report.h"
#include "banned.h"

static const char *
s_text (const json_t *map, const char *name)
{
    const char *text = json_string_value (json_object_get (map, name));
    return text ? text : "";
}

static int64_t
s_number (const json_t *map, const char *name)
{
    return json_integer_value (json_object_get (map, name));
}

static peer_t *
s_peer (run_t *run, const json_t *map)
{
    for (unsigned i = 0; i < run->peer_count; i++)
        if (!strcmp (run->peers[i].url, s_text (map, "peer")))
            return &run->peers[i];
    return NULL;
}

//  The mark of an instance at a peer; NULL for an ASG
static mark_t *
s_mark (run_t *run, peer_t *peer, const char *app, const char *id)
{
    for (unsigned i = 0; i < run->instance_count; i++)
        if (!strcmp (run->instances[i].id, id) &&
            !strcmp (run->instances[i].app, app))
            return &peer->marks[i];
    return NULL;
}

static bool
s_refused (const peer_t *peer, const mark_t *mark, int64_t status)
{
    return mark->refused ||
           (status >= 0 && status < STATUS_LIMIT && peer->refusals[status]);
}

static void
s_handle_rejected (run_t *run, peer_t *peer, const json_t *map)
{
    int64_t status = s_number (map, "status");
    mark_t *mark = s_mark (run, peer, s_text (map, "app"), s_text (map, "id"));
    if (!mark)
        return;
    mark->rejected_at = run_now (run);
    if (!s_refused (peer, mark, status))
        run_fail (run, "false rejection", "P%u %s: %" PRId64, peer->number,
                  s_text (map, "id"), status);
}

static void
s_handle_conflict (run_t *run, peer_t *peer, const json_t *map)
{
    mark_t *mark = s_mark (run, peer, s_text (map, "app"), s_text (map, "id"));
    if (!mark)
        return;
    mark->conflict_at = run_now (run);
    if (!mark->touched)
        run_fail (run, "false conflict", "P%u %s", peer->number,
                  s_text (map, "id"));
}

static void
s_handle_dropped (run_t *run, peer_t *peer, const json_t *map)
{
    size_t i;
    json_t *key;
    json_array_foreach (json_object_get (map, "keys"), i, key)
    {
        mark_t *mark =
            s_mark (run, peer, json_string_value (json_array_get (key, 0)),
                    json_string_value (json_array_get (key, 1)));
        if (mark)
            mark->dropped_at = run_now (run);
    }
}

static void
s_handle_resync (run_t *run, peer_t *peer, const json_t *map)
{
    const char *state = s_text (map, "state");
    bool ended = !strcmp (state, "ended");
    peer->walks += ended || !strcmp (state, "replaced");
    if (ended && s_number (map, "left"))
        run_fail (run, "walk", "P%u: ended with something left", peer->number);
}

//  Each task accepted has ended once, waits, or is in flight
static void
s_check_sum (run_t *run, const peer_t *peer, const json_t *map)
{
    static const char *const endings[] = {
#define X(name, label, meaning) label,
        ZPEER_LANE_ENDINGS (X)
#undef X
    };
    int64_t sum = s_number (map, "waiting") + s_number (map, "in-flight");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        sum += s_number (map, endings[i]);
    if (sum != s_number (map, "accepted"))
        run_fail (run, "accounting", "P%u: %" PRId64 " accepted, %" PRId64,
                  peer->number, s_number (map, "accepted"), sum);
}

static void
s_handle_stats (run_t *run, peer_t *peer, const json_t *map)
{
    run->acceptor_stats += !strcmp (s_text (map, "source"), "acceptor");
    if (!peer || strcmp (s_text (map, "source"), "peer") != 0)
        return;
    s_check_sum (run, peer, map);
    run->figures[peer->number] =
        (figures_t){.at = run_now (run),
                    .waiting = s_number (map, "waiting"),
                    .in_flight = s_number (map, "in-flight"),
                    .owed = s_number (map, "owed"),
                    .renew = s_number (map, "renew")};
}

static void
s_handle (run_t *run, const char *topic, const char *text)
{
    static const struct {
        const char *topic;
        void (*handle) (run_t *run, peer_t *peer, const json_t *map);
    } topics[] = {{"rejected", s_handle_rejected},
                  {"conflict", s_handle_conflict},
                  {"dropped", s_handle_dropped},
                  {"resync", s_handle_resync}};
    json_t *map = json_loads (text, 0, NULL);
    peer_t *peer = s_peer (run, map);
    if (!strcmp (topic, "stats"))
        s_handle_stats (run, peer, map);
    else {
        run->outcomes++;
        history_say (&run->history, "          %s %s", topic, text);
        for (size_t i = 0; i < sizeof topics / sizeof *topics && peer; i++)
            if (!strcmp (topic, topics[i].topic))
                topics[i].handle (run, peer, map);
    }
    json_decref (map);
}

void
report_read (run_t *run, int limit_ms)
{
    const char *topic;
    const void *data;
    size_t size;
    int64_t deadline = zclock_mono () + limit_ms;
    int64_t left = limit_ms;
    do {
        if (zpeer_watch_recv (run->watch, left > 0 ? (int) left : 0, &topic,
                              &data, &size) != ZPEER_OK)
            return;
        char *text = zpeer_watch_json (data, size);
        if (text)
            s_handle (run, topic, text);
        free (text);
        left = deadline - zclock_mono ();
    } while (left > 0);
}
