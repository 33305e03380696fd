/*  play.h - the HTTP client against a server that the test plays itself

    Client and server run in the test's own thread: whatever waits here moves
    the client on meanwhile, so a test reads as the exchange it is about:

        play_begin (NULL);
        play_post ("{}");
        int peer = play_accept ();
        play_request (peer);
        play_send (peer, "HTTP/1.1 200 OK\r\n…");
        play_result (&result);

    Time is play_now and moves only when the test moves it. Every wait has a
    limit of some seconds of real time and fails the test then.
*/
#ifndef PLAY_H_INCLUDED
#define PLAY_H_INCLUDED

#include "http.h"

//  An answer as it should be; its body is PLAY_BODY
#define PLAY_BODY "{\"responseList\":[]}"
#define PLAY_OK                                                                \
    "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n"                                \
    "Content-Type: application/json\r\n\r\n" PLAY_BODY

extern zpeer_http_t *play_http;
extern uint64_t play_now;
extern unsigned play_port;

//  Change before play_begin: read timeout 300, deadline 10,000, connect timeout
//  2,000 ms, window 4, replies of at most 1 MiB
extern zpeer_http_options_t play_options;

//  Opens the server's port on 127.0.0.1 and a client for it. url, if any, is
//  used instead of http://127.0.0.1:port/eureka/; "%u" in it is the port.
void play_begin (const char *url);

//  Ends the client and closes everything
void play_end (void);

//  Closes the server's port only
void play_stop_listening (void);

//  Listens on the same port of another address; a descriptor for play_accept_at.
//  Close it with play_close.
int play_listen (const char *address);

//  POSTs body to the batch path; it must stay. The token is the body.
void play_post (const char *body);

//  Starts any request without a body
void play_call (const char *method, const char *path);

//  The next connection the client opens
int play_accept (void);

//  The same at what play_listen gave
int play_accept_at (int listener);

//  The next whole request on it; stays until the next call
const char *play_request (int peer);

//  Fails the test unless the client closes without another word
void play_end_of (int peer);

void play_send (int peer, const char *text);

void play_send_bytes (int peer, const char *data, size_t size);

//  Reads and forgets size bytes
void play_swallow (int peer, size_t size);

void play_close (int peer);

//  Closes so that the client sees a reset
void play_reset (int peer);

//  The next result
void play_result (zpeer_http_result_t *result);

//  Moves the client on until it wants to be woken at the given time: then it
//  has taken notice of all that was sent
void play_until_wake (uint64_t wake);

//  Moves time on, and the client
void play_pass (uint64_t ms);

#endif
