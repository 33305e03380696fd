/*  door.h - a ROUTER of the host's own, guarded as the engine's endpoints are

    For requests of the host's own clients, as zpeerd's control socket takes them.
    Clients beyond a bound are refused; of a client that libzmq cuts off, of which it
    says nothing by itself, the host is told.

        door = zpeer_door_open (endpoint, &options, error);
        …poll zpeer_door_socket (door) and zpeer_door_bell (door)
        if (zpeer_door_look (door, &news))
            …say so
        …receive from the socket, and answer

    Threads: one at a time per door. Blocking: never.
*/
#ifndef ZPEER_DOOR_H_INCLUDED
#define ZPEER_DOOR_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <zpeer/base.h>

#ifdef __cplusplus
extern "C" {
#endif

//  Room for an endpoint, and for the sentence about an error, NUL included
#define ZPEER_DOOR_ENDPOINT_MAX 256
#define ZPEER_DOOR_ERROR_MAX    512

typedef struct zpeer_door zpeer_door_t;

typedef struct {
    uint32_t clients_max;   //  But never more than half of the descriptors the
                            //  process may open
    uint32_t requests_max;  //  Of one client that wait, and answers that it has
                            //  not read; at least 1
    uint32_t
        frame_max_bytes;  //  Who sends a larger frame is cut off, over ipc and
                          //  tcp; at least 1
} zpeer_door_options_t;

//  A ROUTER bound to endpoint, with a linger time of 1 s. NULL: error says why, as
//  "ENDPOINT: reason". Over ipc what lies at the path is replaced only when it is a
//  socket that nobody listens on; the file is left behind.
ZPEER_EXPORT zpeer_door_t *
zpeer_door_open (const char *endpoint, const zpeer_door_options_t *options,
                 char error[ZPEER_DOOR_ERROR_MAX]);

ZPEER_EXPORT void zpeer_door_close (zpeer_door_t **self_p);

//  Where it is bound, with the port that was chosen, if it was "*"; borrowed
ZPEER_EXPORT const char *zpeer_door_endpoint (const zpeer_door_t *self);

//  The ROUTER, a libzmq socket; borrowed
ZPEER_EXPORT void *zpeer_door_socket (const zpeer_door_t *self);

//  A libzmq socket to poll for input: when there is some, look; borrowed
ZPEER_EXPORT void *zpeer_door_bell (const zpeer_door_t *self);

//  Clients whose connections ended on this side since the last look
typedef struct {
    uint32_t refused;  //  Beyond the bound
    uint32_t cut;      //  Sent too large a frame, wants encryption, or never
                       //  greeted
    uint32_t unseen;   //  Perhaps the same: gone before it was heard of
    uint32_t clients_max;  //  The bound
    char
        endpoint[ZPEER_DOOR_ENDPOINT_MAX];  //  Where the last one cut or unseen
                                            //  came in; "": none was
} zpeer_door_news_t;

//  Refuses those beyond the bound. Returns whether there is anything to say.
ZPEER_EXPORT bool zpeer_door_look (zpeer_door_t *self, zpeer_door_news_t *news);

#ifdef __cplusplus
}
#endif

#endif
