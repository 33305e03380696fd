/*  command.h - commands over an actor's pipe, both ends

    An actor has one table of commands; this reads the pipe, checks name, number
    of arguments and when the command is allowed, calls the handler and answers:

        OK                    done
        OK value              done, and what was asked for
        ERROR sentence code   refused; code is the zpeer_error_t in decimal

    $TERM is not answered: it ends the actor's loop.

    Threads: zpeer_commands_t belongs to the actor's thread, zpeer_command_… to
    the thread that owns the zactor_t. Blocking: only zpeer_command_await and
    _call, which say for how long.
*/
#ifndef ZPEER_COMMAND_H_INCLUDED
#define ZPEER_COMMAND_H_INCLUDED

#include <czmq.h>
#include <zpeer/base.h>
#include "inlet.h"

//  Most arguments of a command
#define ZPEER_COMMAND_ARGS_MAX 4

//  Room for the value or the sentence of an answer, NUL included
#define ZPEER_COMMAND_ANSWER_MAX 512

//  What a handler returns when the answer comes later
#define ZPEER_COMMAND_LATER 1

typedef enum {
    ZPEER_WHEN_ANY,
    ZPEER_WHEN_BEFORE_START,
    ZPEER_WHEN_START,   //  It is START: allowed until it has succeeded; its
                        //  answer cannot come later
    ZPEER_WHEN_STARTED  //  After START
} zpeer_when_t;

//  self is what zpeer_commands_init was given, args are the arguments, valid
//  during the call. Returns ZPEER_OK, and the value in answer if there is one;
//  an error, and a sentence in answer (if it stays "", the error's own text is
//  taken); or ZPEER_COMMAND_LATER. answer has ZPEER_COMMAND_ANSWER_MAX bytes.
typedef int (zpeer_command_fn) (void *self, char *const *args, char *answer);

//  One line of the table, which ends with a line without a name
typedef struct {
    const char *name;
    unsigned args;  //  How many it takes
    zpeer_when_t when;
    zpeer_command_fn *handler;
} zpeer_command_t;

//  The actor's end
typedef struct {
    zpeer_inlet_t pipe;            //  Of a borrowed socket
    void *self;                    //  Borrowed; the handlers' first argument
    const zpeer_command_t *table;  //  Borrowed
    bool started;                  //  START has succeeded
    const char *pending;           //  Borrowed; the command whose answer is
                                   //  still to come, or NULL
} zpeer_commands_t;

//  Called by the actor's thread, which takes no more of the host's signals from
//  then on. Both pipe and table must stay while self is used.
void zpeer_commands_init (zpeer_commands_t *self, zsock_t *pipe, void *handler,
                          const zpeer_command_t *table);

//  Handles one command if one is there. Returns false when the actor has to
//  leave its loop. While an answer is pending every other command but $TERM is
//  refused: answers come in the order of the commands.
bool zpeer_commands_handle (zpeer_commands_t *self);

//  The answer to a command whose handler returned ZPEER_COMMAND_LATER. value:
//  may be NULL. Nothing happens if none is pending.
void zpeer_commands_ok (zpeer_commands_t *self, const char *value);

void
zpeer_commands_error (zpeer_commands_t *self, int code, const char *sentence);

//  For handlers: reads an argument that must be a decimal number up to max.
//  Returns ZPEER_OK, or ZPEER_E_RANGE and a sentence in answer.
int zpeer_command_number (const char *text, uint32_t max, uint32_t *number,
                          char *answer);

//  For handlers of endpoints over which pointers go: an argument that must be
//  inproc. Returns ZPEER_OK, or ZPEER_E_INVALID and a sentence in answer.
int zpeer_command_inproc (const char *endpoint, char *answer);

//  The other end

//  zactor_new, but NULL when descriptors, sockets or threads have run out
zactor_t *zpeer_command_actor (zactor_fn *actor, void *args);

//  Sends a command with its arguments, closed by NULL. Answers nobody waited
//  for are thrown away. Returns ZPEER_OK, or ZPEER_E_AGAIN: the actor has not
//  read a whole pipe of commands.
int zpeer_command_send (zactor_t *actor, const char *command, ...)
    __attribute__ ((sentinel));

//  Waits for the answer, at most timeout_ms (-1: for ever). answer may be NULL,
//  or has ZPEER_COMMAND_ANSWER_MAX bytes: the value, "" if there is none, or a
//  sentence about what went wrong. Returns ZPEER_OK, the error the actor gave,
//  ZPEER_E_TIMEOUT, or ZPEER_E_PARSE (not an answer).
int zpeer_command_await (zactor_t *actor, int timeout_ms, char *answer);

//  Both, one after the other
int zpeer_command_call (zactor_t *actor, int timeout_ms, char *answer,
                        const char *command, ...) __attribute__ ((sentinel));

#endif
