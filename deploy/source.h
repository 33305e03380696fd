/*  source.h - events out of the JSON that Eureka, or we, write

    Read are, each as one JSON value:

    - our event: {"action": "Heartbeat", "app": "A", "id": "i", …}, with the
      keys of protocol ZPEER/1;
    - an item of Eureka's peer replication, with appName for app and
      instanceInfo for info, or a whole {"replicationList": […]};
    - {"instance": {…}}, or the InstanceInfo alone: it registers;
    - the answer to GET apps/{APP}, {"application": {…}}, or to GET apps,
      {"applications": {…}}: a snapshot of every instance in it. One that is
      DELETED, as in the answer to GET apps/delta, is none.

    What the engine checks is not checked here; only what makes no event.
*/
#ifndef SOURCE_H_INCLUDED
#define SOURCE_H_INCLUDED

#include <jansson.h>
#include <zpeer/event.h>

//  Who gets what is in a value, in its order. item counts from 1 in a value that
//  holds several events, and is 0 in one that is an event itself.
typedef struct {
    void *arg;
    //  An event; borrowed for the call
    void (*event) (void *arg, uint64_t item, const zpeer_event_t *event);
    //  Something that makes no event, and why
    void (*reject) (void *arg, uint64_t item, const char *reason);
    //  Of which time such an answer is, by the engine's clock; 0: not known. NULL:
    //  as if 0
    uint64_t (*as_of) (void *arg);
} source_sink_t;

void source_read (const json_t *value, const source_sink_t *sink);

#endif
