/*  service.h - the engine under test, as processes

    Either zpeerd; or a program that embeds the engine and opens it for
    dispatchers of other processes (roles.h), which can be killed.
*/
#ifndef CHAOS_SERVICE_H_INCLUDED
#define CHAOS_SERVICE_H_INCLUDED

#include <stdio.h>
#include "peer.h"

#define PATH_MAX_BYTES  64  //  An ipc path has 107 at most
#define DISPATCHERS_MAX PEERS_MAX
#define SETTINGS_MAX    16
#define SETTING_BYTES   80

typedef struct {
    const char *self;    //  Borrowed; this program
    const char *zpeerd;  //  Borrowed
    char dir[PATH_MAX_BYTES];
    char events[PATH_MAX_BYTES];
    char outcomes[PATH_MAX_BYTES];
    char control[PATH_MAX_BYTES];
    char log[PATH_MAX_BYTES];
    char settings[SETTINGS_MAX][SETTING_BYTES];  //  KEY=VALUE
    unsigned setting_count;
    bool remote;  //  The engine is embedded, and dispatchers are processes
    pid_t pid;
    pid_t dispatchers[DISPATCHERS_MAX];  //  By peer; 0: none at present
    int ids[PEERS_MAX];                  //  Of the peers
    char left[32];                       //  A socket that is left at the end
} service_t;

//  An empty folder for its sockets and its log
void service_init (service_t *self, const char *program, const char *zpeerd);

//  Adds KEY=VALUE
void service_set (service_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

//  Returns what is wrong, static; NULL: nothing
const char *
service_start (service_t *self, const peer_t *peers, unsigned count);

//  The dispatcher of a peer, in remote mode
void service_start_dispatcher (service_t *self, const peer_t *peer);
void service_kill_dispatcher (service_t *self, const peer_t *peer);
void service_signal_dispatcher (const service_t *self, const peer_t *peer,
                                int signal);

//  Whether it has not ended by itself
bool service_runs (service_t *self);

//  Asks zpeerd for something about a peer. Returns what is wrong, static.
const char *
service_ask (const service_t *self, const char *command, const char *url);

//  SIGTERM; waits for the end. Returns what is wrong, static.
const char *service_stop (service_t *self, int limit_ms);

//  The end of its log
void service_print_log (const service_t *self, FILE *out);

//  Whether its log has that text
bool service_logged (const service_t *self, const char *text);

//  Kills what is left and removes the folder. Returns the name of a socket that
//  a zpeerd which has ended left in it, borrowed; or NULL.
const char *service_fini (service_t *self);

#endif
