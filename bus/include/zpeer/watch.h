/*  watch.h - reads what an engine reports

    Topics: conflict, rejected, dropped, need-register, peer, resync, delivered,
    stats; the maps behind them are in proto/PROTOCOL.md. Delivery is as PUB and
    SUB give it: a watch that is too slow, or connects late, misses messages. To
    miss nothing, make the watch before the engine starts. Else subscribe to
    stats, too: its first message, within a second, proves that the subscription
    holds, and what is asked of the engine then is seen from its beginning.

    Threads: one at a time per watch.
*/
#ifndef ZPEER_WATCH_H_INCLUDED
#define ZPEER_WATCH_H_INCLUDED

#include <zpeer/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zpeer_watch zpeer_watch_t;

//  A watch connected to endpoint; NULL if that is no endpoint, or if sockets or
//  descriptors ran out. topics: comma-separated, NULL or "" for all; each is
//  the beginning of a topic, and one that no topic begins with brings nothing.
//  Nobody need listen there yet, and an engine may come and go.
ZPEER_EXPORT zpeer_watch_t *
zpeer_watch_new (const char *endpoint, const char *topics);

ZPEER_EXPORT void zpeer_watch_destroy (zpeer_watch_t **self_p);

//  The next outcome: its topic, and the msgpack map. Both stay valid until the
//  next call. timeout_ms: 0 does not wait, -1 waits for ever; a signal ends the
//  wait early. Returns ZPEER_OK or ZPEER_E_TIMEOUT.
ZPEER_EXPORT int
zpeer_watch_recv (zpeer_watch_t *self, int timeout_ms, const char **topic,
                  const void **data, size_t *size);

//  The same map as one line of JSON; the caller frees it with free (). Bytes
//  that are no text come out as characters of the same number. NULL: not
//  msgpack.
ZPEER_EXPORT char *zpeer_watch_json (const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
