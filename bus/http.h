/*  http.h - the HTTP client of one peer

    Requests run at the same time on one curl multi handle, at most as many as
    the window allows; there is no queue behind it. Connections are kept and
    used again, until they are too old (ages.h) or all have been idle for too
    long: then they are closed. A request is never cut off for that. After a
    request that got no answer none of them is trusted: until one is answered
    requests go out on new connections, and those that were kept are closed.

    Threads: one at a time. Blocking: zpeer_http_poll only.
    Units: ms; now is monotonic and never goes back.

    A kept connection may turn out to be dead in the moment it is used: the peer
    had closed it just before. That is normal life in HTTP, and no failure: the
    request goes out once more, at once, on a new connection. The result says so
    (repeated), for the peer may have had the first one. It happens once a
    request, only if the connection is lost within a second and before anything
    of an answer has come, and never on a new connection.

    What curl does on its own and is switched off: sending again, redirects (a
    3xx is a status like any other), Expect: 100-continue, proxies of the
    environment, .netrc, signals, other protocols.
*/
#ifndef ZPEER_HTTP_H_INCLUDED
#define ZPEER_HTTP_H_INCLUDED

#include "result.h"
#include "url.h"

//  Most extra descriptors for zpeer_http_poll
#define ZPEER_HTTP_FDS_MAX 8

typedef struct {
    uint32_t connect_timeout_ms;  //  Name, TCP and TLS together
    uint32_t read_timeout_ms;     //  Once connected: nothing moves, either way
    uint32_t deadline_ms;         //  A whole request, whatever moves
    size_t reply_max_bytes;       //  Decoded
    unsigned max_in_flight;       //  The window
    uint32_t max_age_ms;          //  Of a connection; 0: without a limit
    uint32_t idle_ms;             //  Of a connection; 0: without a limit
    const char *ca_file;          //  Borrowed; NULL: those of the system
    const char *cert_file;        //  Borrowed; this side's; NULL: none
    const char *key_file;         //  Borrowed; NULL: it is in cert_file
    const char *identity;         //  Borrowed; DiscoveryIdentity-Id, this
                                  //  host's address; NULL: left out
} zpeer_http_options_t;

typedef struct {
    zpeer_slice_t method;  //  POST, PUT, DELETE or GET
    zpeer_slice_t path;    //  Below the base URL, query included
    zpeer_slice_t body;    //  JSON, or empty. NOT copied: it must stay until
                           //  the request's result has been taken
    bool replication;      //  Say that this is replication, which per-instance
                           //  and ASG calls must and the batch need not
    void *token;           //  Comes back in the result
} zpeer_http_request_t;

//  How a request ended. end is one of
//    STATUS        the peer answered; a body cut off matters for 2xx only
//    UNUSABLE      2xx, and its body cut off, wrongly encoded or too large; or
//                  status 0, and what came was not HTTP
//    READ_TIMEOUT  nothing moved for read_timeout_ms, or the deadline passed
//    UNSENT        not one byte of the request left: name, refused, timeout
//    RESET         connection lost after it may have been sent
//    TLS           handshake or certificate, nothing of the request was sent
//    TAKEN_BACK    zpeer_http_abort
//    INTERNAL      anything else
typedef struct {
    void *token;
    zpeer_end_t end;
    uint16_t status;      //  0: none came
    bool repeated;        //  It went out twice, and this is how the second one
                          //  ended: the peer may apply the first one, too
    uint32_t elapsed_ms;  //  From the start, both times together
    uint32_t retry_after_ms;  //  0: none; from seconds or from a date
    zpeer_slice_t body;   //  Borrowed until the next zpeer_http_next; decoded
    const char *detail;   //  Borrowed likewise; a sentence for the log, or
                          //  "". Never a secret.
    const char *renewal;  //  Likewise; why it went out on an old connection,
                          //  though it should have had a new one; "": it did
                          //  not, or has failed anyway
} zpeer_http_result_t;

typedef struct zpeer_http zpeer_http_t;

//  A client for the peer at url; copies what it needs of both. Cannot fail:
//  a CA file that does not exist ends every request as TLS.
zpeer_http_t *
zpeer_http_new (const zpeer_url_t *url, const zpeer_http_options_t *options);

//  Ends it at once. Requests in flight vanish without a result. To be called by
//  the thread that used it.
void zpeer_http_destroy (zpeer_http_t **self_p);

//  Requests started whose results have not been taken
unsigned zpeer_http_in_flight (const zpeer_http_t *self);

//  Starts a request. The window must not be full. What goes wrong is its
//  result.
void zpeer_http_start (zpeer_http_t *self, const zpeer_http_request_t *request,
                       uint64_t now);

//  Waits until a request can go on, one of the descriptors is readable, or
//  timeout_ms has passed; -1: no limit. Descriptors of zsocks are
//  edge-triggered: read them empty before this and after it.
void zpeer_http_poll (zpeer_http_t *self, const int *fds, size_t count,
                      int timeout_ms);

//  Moves every request on, without waiting
void zpeer_http_perform (zpeer_http_t *self, uint64_t now);

//  Takes the next result; false: there is none
bool zpeer_http_next (zpeer_http_t *self, zpeer_http_result_t *result);

//  Ends every request in flight, each with a result
void zpeer_http_abort (zpeer_http_t *self, uint64_t now);

//  When zpeer_http_perform should be called though nothing moved, because a
//  request times out; UINT64_MAX: not before something does
uint64_t zpeer_http_wake (const zpeer_http_t *self);

#endif
