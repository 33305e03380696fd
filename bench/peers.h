/*  peers.h - counting Eureka peers as processes of their own

    Started from the program zpeer-scripted-peer, whose path is in the variable
    ZPEER_SCRIPTED_PEER, or beside the benchmarks where the build puts it.
*/
#ifndef PEERS_H_INCLUDED
#define PEERS_H_INCLUDED

#include <stdint.h>

typedef struct {
    int pid;
    int port;
    char url[64];
    char control[64];
} peer_t;

//  Starts one; option is given to it (NULL: none). Returns 0, or -1.
int peer_start (peer_t *self, const char *self_path, const char *option);

//  One of the counters of its control page
uint64_t peer_counter (const peer_t *self, const char *name);

//  The body of GET path on its control page; the caller's to free
char *peer_get (const peer_t *self, const char *path);

//  Ends it
void peer_stop (peer_t *self);

#endif
