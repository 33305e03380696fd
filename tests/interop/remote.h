/*  remote.h - calls to a Eureka server, real or scripted

    What interop tests say to a server beside the engine, and how they read its
    registry. Threads: one at a time per remote. A call waits at most
    REMOTE_LIMIT_MS.
*/
#ifndef REMOTE_H_INCLUDED
#define REMOTE_H_INCLUDED

#include <stddef.h>
#include <jansson.h>

#define REMOTE_LIMIT_MS 30000

typedef struct remote remote_t;

//  base ends with a slash; it is the server's name, too
remote_t *remote_new (const char *base);

//  What run.sh says of a server of this name in the variable ZPEER_{name}_{what},
//  in capitals: its "url", the file with its "pid"; fails the test if there is
//  none
const char *remote_variable (const char *name, const char *what);

//  A server that run.sh started, by its name there: "spring", "netflix", …;
//  fails the test if there is none
remote_t *remote_named (const char *name);

void remote_destroy (remote_t **self_p);

const char *remote_base (const remote_t *self);

const char *remote_name (const remote_t *self);

//  One call; path is below the base. body may be NULL. header: one more header
//  line, or NULL. Returns the HTTP status, 0 if there was no answer. answer, if
//  not NULL, becomes a new reference to the JSON, NULL if it is none.
int remote_call (remote_t *self, const char *method, const char *path,
                 const char *header, const char *body, size_t size,
                 json_t **answer);

//  POST peerreplication/batch/
int remote_batch (remote_t *self, const char *body, json_t **answer);

//  GET apps/{app}/{id}, which no cache of the server answers. A new reference to
//  the InstanceInfo, NULL if there is none.
json_t *remote_instance (remote_t *self, const char *app, const char *id);

//  The instance in GET apps; as above
json_t *remote_listed (remote_t *self, const char *app, const char *id);

//  How many instances of an application GET apps has
size_t remote_count (remote_t *self, const char *app);

#endif
