/*  zpeerd_commands.c - what can be asked of zpeerd
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zpeerd_control.h"
#include "banned.h"

//  What a command is told besides its name
typedef enum { TARGET_NONE, TARGET_PEER, TARGET_PEERS } target_t;

//  name, target, the engine's function
#define COMMANDS(X)                                                            \
    X ("peers", NONE, NULL)                                                    \
    X ("add-peer", PEER, zpeer_engine_add_peer)                                \
    X ("remove-peer", PEER, zpeer_engine_remove_peer)                          \
    X ("resync", PEERS, zpeer_engine_resync_peer)                              \
    X ("verify", PEERS, zpeer_engine_verify_peer)                              \
    X ("retry-now", PEERS, zpeer_engine_retry_peer)

typedef struct {
    const char *name;
    target_t target;
    int (*act) (zpeer_engine_t *engine, const char *url);
} command_t;

static const command_t s_commands[] = {
#define X(name, target, act) {name, TARGET_##target, act},
    COMMANDS (X)
#undef X
};

#define COMMAND_COUNT (sizeof s_commands / sizeof *s_commands)

static const char s_names[] =
#define X(name, target, act) " " name
    COMMANDS (X);
#undef X

static char *
s_print (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

static char *
s_print (const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start (arguments, format);
    int size = vasprintf (&text, format, arguments);
    va_end (arguments);
    assert (size >= 0);
    return text;
}

//  What the engine said about its last call
static char *
s_refuse (const zpeer_engine_t *engine, int rc)
{
    const char *sentence = zpeer_engine_error (engine);
    return s_print ("ERROR %s", *sentence ? sentence : zpeer_strerror (rc));
}

static char *
s_list_peers (const zpeer_engine_t *engine)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream (&text, &size);
    assert (file);
    fputs ("OK", file);
    const char *peer;
    for (size_t i = 0; (peer = zpeer_engine_peer (engine, i)); i++)
        fprintf (file, "%c%s", i ? '\n' : ' ', peer);
    fclose (file);
    return text;
}

//  The base URL of the peer that url names, whatever its spelling: a copy; NULL:
//  there is none
static char *
s_name (const zpeer_engine_t *engine, const char *url)
{
    int id = zpeer_engine_peer_id (engine, url);
    const char *peer;
    for (size_t i = 0; (peer = zpeer_engine_peer (engine, i)); i++)
        if (id >= 0 && zpeer_engine_peer_id (engine, peer) == id)
            return strdup (peer);
    return NULL;
}

//  A peer has its name before it is removed, and after it is added
static char *
s_run_one (zpeer_engine_t *engine, const command_t *command, const char *url)
{
    char *name = s_name (engine, url);
    int rc = command->act (engine, url);
    if (!name)
        name = s_name (engine, url);
    char *answer =
        rc ? s_refuse (engine, rc) : s_print ("OK %s", name ? name : "");
    free (name);
    return answer;
}

static char *
s_run_all (zpeer_engine_t *engine, const command_t *command)
{
    char *refused = NULL;
    const char *peer;
    size_t count = 0;
    for (; (peer = zpeer_engine_peer (engine, count)); count++) {
        int rc = command->act (engine, peer);
        if (rc && !refused)
            refused = s_refuse (engine, rc);
    }
    if (count == 0)
        return s_print ("ERROR there is no peer");
    return refused ? refused : s_list_peers (engine);
}

static const command_t *
s_find (const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp (s_commands[i].name, name))
            return &s_commands[i];
    return NULL;
}

char *
zpeerd_control_run (zpeer_engine_t *engine, const char *name, const char *url)
{
    assert (engine && name);
    const command_t *command = s_find (name);
    if (!command)
        return s_print ("ERROR no such command; there are:%s", s_names);
    if (command->target == TARGET_NONE)
        return url ? s_print ("ERROR %s takes no URL", command->name)
                   : s_list_peers (engine);
    bool all = command->target == TARGET_PEERS;
    if (!url)
        return s_print ("ERROR %s takes the URL of a peer%s", command->name,
                        all ? ", or \"all\"" : "");
    return all && !strcmp (url, "all") ? s_run_all (engine, command)
                                       : s_run_one (engine, command, url);
}
