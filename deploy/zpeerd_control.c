/*  zpeerd_control.c - zpeerd's control socket
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <czmq.h>
#include <zpeer/door.h>
#include "zpeerd_control.h"
#include "banned.h"

//  Requests of one client that wait, and answers it has not read
#define REQUESTS_MAX 16

//  Most clients
#define CLIENTS_MAX 1000

//  From one line about clients that were cut off to the next, ms
#define QUIET_MS 10000

//  Frames of a request: who asks, an empty one, the command, its URL
#define FRAMES_MAX 4

struct zpeerd_control {
    zpeer_door_t *door;    //  Owned
    void *socket;          //  Borrowed from it: the ROUTER
    uint64_t quiet_until;  //  No line about clients that were cut off before
    uint64_t held;         //  How many were not said
};

//  One request
typedef struct {
    zframe_t *frames[FRAMES_MAX];  //  Owned; those that came, the first ones
    size_t count;                  //  How many came
    bool delimited;                //  The second one was empty
} request_t;

void
zpeerd_control_close (zpeerd_control_t **self_p)
{
    assert (self_p);
    if (*self_p)
        zpeer_door_close (&(*self_p)->door);
    free (*self_p);
    *self_p = NULL;
}

zpeerd_control_t *
zpeerd_control_open (const char *endpoint, char error[ZPEERD_CONTROL_ERROR_MAX])
{
    assert (endpoint && error);
    zpeer_door_options_t options = {
        .clients_max = CLIENTS_MAX,
        .requests_max = REQUESTS_MAX,
        .frame_max_bytes = ZPEERD_CONTROL_FRAME_MAX,
    };
    zpeer_door_t *door = zpeer_door_open (endpoint, &options, error);
    if (!door)
        return NULL;
    zpeerd_control_t *self = (zpeerd_control_t *) calloc (1, sizeof *self);
    assert (self);
    self->door = door;
    self->socket = zpeer_door_socket (door);
    return self;
}

const char *
zpeerd_control_endpoint (const zpeerd_control_t *self)
{
    assert (self);
    return zpeer_door_endpoint (self->door);
}

void *
zpeerd_control_handle (const zpeerd_control_t *self)
{
    assert (self);
    return self->socket;
}

void *
zpeerd_control_doors (const zpeerd_control_t *self)
{
    assert (self);
    return zpeer_door_bell (self->door);
}

long
zpeerd_control_wake_ms (const zpeerd_control_t *self)
{
    assert (self);
    uint64_t now = (uint64_t) zclock_mono ();
    if (!self->held)
        return -1;
    return self->quiet_until > now ? (long) (self->quiet_until - now) : 0;
}

//  Why clients were cut off
static void
s_explain (const zpeerd_control_t *self, const zpeer_door_news_t *ended,
           char news[ZPEERD_CONTROL_NEWS_MAX])
{
    char held[40] = "";
    if (self->held)
        snprintf (held, sizeof held, " (%" PRIu64 " more held back)",
                  self->held);
    if (ended->refused)
        snprintf (news, ZPEERD_CONTROL_NEWS_MAX,
                  "%u are connected at %s, no more are taken%s",
                  ended->clients_max, zpeer_door_endpoint (self->door), held);
    else
        snprintf (news, ZPEERD_CONTROL_NEWS_MAX,
                  "it sent a frame of more than %d bytes to %s, wants "
                  "encryption, %s%s",
                  ZPEERD_CONTROL_FRAME_MAX, ended->endpoint,
                  ended->cut ? "or never greeted"
                             : "or has left at once by itself",
                  held);
}

bool
zpeerd_control_look (zpeerd_control_t *self, char news[ZPEERD_CONTROL_NEWS_MAX])
{
    assert (self && news);
    uint64_t now = (uint64_t) zclock_mono ();
    zpeer_door_news_t ended;
    bool any = zpeer_door_look (self->door, &ended);
    if (now < self->quiet_until) {
        self->held += any;
        return false;
    }
    if (any)
        s_explain (self, &ended, news);
    else if (self->held)
        snprintf (news, ZPEERD_CONTROL_NEWS_MAX, "%" PRIu64 " more held back",
                  self->held);
    else
        return false;
    self->held = 0;
    self->quiet_until = now + QUIET_MS;
    return true;
}

//  Frees a frame, which may hold a secret
static void
s_destroy_frame (zframe_t **frame_p)
{
    if (*frame_p)
        explicit_bzero (zframe_data (*frame_p), zframe_size (*frame_p));
    zframe_destroy (frame_p);
}

static void
s_free_request (request_t *self)
{
    for (size_t i = 0; i < FRAMES_MAX; i++)
        s_destroy_frame (&self->frames[i]);
}

//  Takes one request off the socket, with all its frames. Returns false if there
//  is none.
static bool
s_recv (zpeerd_control_t *self, request_t *request)
{
    *request = (request_t){.count = 0};
    bool more = true;
    while (more) {
        zframe_t *frame = zframe_recv (self->socket);
        if (!frame)
            return false;
        more = zframe_more (frame);
        if (request->count == 1 && zframe_size (frame) == 0 && more)
            request->delimited = true;
        if (request->count < FRAMES_MAX)
            request->frames[request->count] = frame;
        else
            s_destroy_frame (&frame);
        request->count++;
    }
    return true;
}

//  A frame as text; NULL if it has a NUL
static char *
s_text (zframe_t *frame)
{
    if (memchr (zframe_data (frame), '\0', zframe_size (frame)))
        return NULL;
    return zframe_strdup (frame);
}

static void
s_free_text (char *text)
{
    if (text)
        explicit_bzero (text, strlen (text));
    free (text);
}

//  Does what a request asks. Returns the answer.
static char *
s_run (const request_t *request, zpeer_engine_t *engine)
{
    size_t first = request->delimited ? 2 : 1;
    size_t frames = request->count - first;
    if (request->count > FRAMES_MAX || frames < 1 || frames > 2)
        return strdup ("ERROR a request is a command, and a URL in a frame of "
                       "its own");
    bool given = frames == 2;
    char *command = s_text (request->frames[first]);
    char *url = given ? s_text (request->frames[first + 1]) : NULL;
    char *answer = !command || (given && !url)
                       ? strdup ("ERROR a frame is text without NUL")
                       : zpeerd_control_run (engine, command, url);
    free (command);
    s_free_text (url);
    return answer;
}

void
zpeerd_control_serve (zpeerd_control_t *self, zpeer_engine_t *engine)
{
    assert (self && engine);
    request_t request;
    if (s_recv (self, &request)) {
        char *answer = s_run (&request, engine);
        assert (answer);
        //  Who has gone, or does not read, gets no answer
        if (!zframe_send (&request.frames[0], self->socket, ZFRAME_MORE)) {
            if (request.delimited)
                zstr_sendm (self->socket, "");
            zstr_send (self->socket, answer);
        }
        free (answer);
    }
    s_free_request (&request);
}
