/*  client.h - a blocking HTTP client that shows how an answer ended

    For tests of the scripted peer, and for tests that play a second writer. It
    reads single bytes of an answer where libcurl would only say "failed".
*/
#ifndef SPEER_CLIENT_H_INCLUDED
#define SPEER_CLIENT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    SPEER_END_WHOLE,   //  As long as Content-Length said
    SPEER_END_CLOSED,  //  By the peer, before that
    SPEER_END_RESET,
    SPEER_END_LIMIT,   //  Nothing more came within the limit
    SPEER_END_REFUSED  //  No connection
} speer_end_t;

//  Zeroed is empty
typedef struct {
    speer_end_t end;
    int status;         //  0: no status line came
    size_t length;      //  Content-Length; 0: none
    size_t body_bytes;  //  What came of the body
    char *text;         //  Owned; all bytes that came, with a NUL behind them
    char *body;         //  Points into text; "" if there is none
} speer_response_t;

//  Connects to 127.0.0.1:port; -1 if that fails. Close it with close (2).
int speer_client_connect (int port);

//  Sends a request; headers are whole lines or NULL, body may be NULL. A body is
//  sent as JSON unless headers have a Content-Type; Accept is JSON likewise.
void speer_client_send (int fd, const char *method, const char *path,
                        const char *headers, const char *body);

//  Reads one answer. Free it with speer_response_free.
void speer_client_read (int fd, int limit_ms, speer_response_t *response);

//  All of that over a connection of its own. Returns the status.
int
speer_call (int port, const char *method, const char *path, const char *headers,
            const char *body, speer_response_t *response);

void speer_response_free (speer_response_t *self);

#endif
