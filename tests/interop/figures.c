#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <czmq.h>
#include "figures.h"
#include "banned.h"

//  Whether they are of this source and peer
static bool
s_is (pair_t *pair, json_t *figures, size_t peer, const char *source)
{
    const char *its = json_string_value (json_object_get (figures, "source"));
    const char *url = json_string_value (json_object_get (figures, "peer"));
    return its && url && !strcmp (its, source) &&
           zpeer_engine_peer_id (pair->engine, url) ==
               zpeer_engine_peer_id (pair->engine, pair->peers[peer].url);
}

json_t *
figures_of (pair_t *pair, size_t peer, const char *source)
{
    zpeer_watch_t *watch =
        zpeer_watch_new (zpeer_engine_outcomes (pair->engine), "stats");
    int64_t until = zclock_mono () + pair->limit_ms;
    json_t *figures = NULL;
    const char *topic;
    const void *data;
    size_t size;
    while (!figures && zclock_mono () < until &&
           zpeer_watch_recv (watch, pair->limit_ms, &topic, &data, &size) ==
               ZPEER_OK) {
        char *text = zpeer_watch_json (data, size);
        figures = json_loads (text, 0, NULL);
        free (text);
        if (s_is (pair, figures, peer, source))
            continue;
        json_decref (figures);
        figures = NULL;
    }
    zpeer_watch_destroy (&watch);
    cr_assert (figures, "no figures of %s", pair->peers[peer].url);
    return figures;
}

json_int_t
figure_of (pair_t *pair, size_t peer, const char *source, const char *name)
{
    json_t *figures = figures_of (pair, peer, source);
    json_int_t value = json_integer_value (json_object_get (figures, name));
    json_decref (figures);
    return value;
}

void
figures_expect_peace (pair_t *pair, size_t peer)
{
    static const char *const wars[] = {
        "end-http-status", "end-http-status-from-500", "end-unusable-answer"};
    json_t *figures = figures_of (pair, peer, "dispatcher");
    cr_expect_gt (json_integer_value (json_object_get (figures, "end-2xx")), 0);
    for (size_t i = 0; i < sizeof wars / sizeof *wars; i++)
        cr_expect_eq (json_integer_value (json_object_get (figures, wars[i])),
                      0, "%s: %s", remote_name (pair->peers[peer].remote),
                      wars[i]);
    json_decref (figures);
}
