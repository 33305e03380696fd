/*  conn.h - connections: requests in, bytes out

    What a rule says of single bytes happens here: half an answer, a reset, one
    byte at a time, a connection that is never read.
*/
#ifndef SPEER_CONN_H_INCLUDED
#define SPEER_CONN_H_INCLUDED

#include "core.h"
#include "reply.h"

typedef struct speer_conns speer_conns_t;

//  One connection. Others read it, and set what is theirs.
typedef struct {
    int fd;
    uint32_t serial;  //  Tells it from an earlier one with the same descriptor
    bool control;     //  On the control port
    bool busy;        //  A request waits for its answer, none is read
    bool serving;     //  Requests are being read from it just now
    bool doomed;      //  To be closed when that is over
    char *in;         //  Owned
    size_t in_size;
    size_t in_capacity;
    size_t need;  //  Bytes before it is worth to look again
    bool continued;
    char *out;  //  Owned; what could not be sent at once
    size_t out_size;
    size_t out_sent;
    size_t out_allowed;  //  Less than size while it drips
    int drip_ms;
    int64_t drip_at;
    speer_then_t then;
    bool whole;
    uint64_t record;  //  The caller's: number of the request in the journal
    int status;       //  The caller's: of the answer
    void *job;        //  The caller's
} speer_conn_t;

//  What is told. request: one came in; its bytes are there for the
//  call, and the connection is busy until speer_conn_answer. sent: the answer is
//  out, whole. gone: closed while busy, by the client (left) or by a rule.
typedef struct {
    void (*request) (void *arg, speer_conn_t *conn, speer_http_t *request);
    void (*sent) (void *arg, speer_conn_t *conn);
    void (*gone) (void *arg, speer_conn_t *conn, bool left);
    void *arg;
} speer_conn_events_t;

//  The connections of one server, watched by its epoll descriptor
speer_conns_t *speer_conns_new (speer_core_t *core, int epoll,
                                const speer_conn_events_t *events);
void speer_conns_destroy (speer_conns_t **self_p);

//  Takes over a descriptor that was accepted
void speer_conns_open (speer_conns_t *self, int fd, bool control);

//  Serves the connection behind an epoll tag, if it still is there. Tags of
//  connections are above INT_MAX.
void speer_conns_serve (speer_conns_t *self, uint64_t tag, uint32_t events);

//  Sends what has become due of answers that drip, and when to call it again
void speer_conns_drip (speer_conns_t *self);
int64_t speer_conns_wake_at (const speer_conns_t *self);

//  Closes those of the main port, or all
void speer_conns_drop (speer_conns_t *self, bool control);

//  How the main port's are read from now on
void speer_conns_mode (speer_conns_t *self, speer_mode_t mode);

//  A close will be a reset
void speer_conn_set_reset (int fd);

//  Sends the answer and goes on as it says. The output stays the caller's; the
//  connection may be gone afterwards.
void speer_conn_answer (speer_conns_t *self, speer_conn_t *conn,
                        const speer_output_t *output, int drip_ms);

#endif
