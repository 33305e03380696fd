/*  zpeerd_control.c - zpeerd's control socket
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <czmq.h>
#include "zpeerd_control.h"
#include "banned.h"

//  Requests of one client that wait, and answers it has not read
#define HWM 16

//  Frames of a request: who asks, an empty one, the command, its URL
#define FRAMES_MAX 4

struct zpeerd_control {
    void *socket;    //  Owned; ROUTER
    char *endpoint;  //  Owned; as bound
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
    zpeerd_control_t *self = *self_p;
    if (!self)
        return;
    zsys_close (self->socket, __FILE__, __LINE__);
    zstr_free (&self->endpoint);
    free (self);
    *self_p = NULL;
}

//  IPv6 only where it is written: an IPv4 address would come back as
//  "[::ffff:127.0.0.1]"
static void
s_set_options (void *socket, const char *endpoint)
{
    zsock_set_rcvhwm (socket, HWM);
    zsock_set_sndhwm (socket, HWM);
    zsock_set_rcvtimeo (socket, 0);
    zsock_set_sndtimeo (socket, 0);
    zsock_set_linger (socket, 0);
    zsock_set_ipv6 (socket, strchr (endpoint, '[') != NULL);
    zsock_set_maxmsgsize (socket, ZPEERD_CONTROL_FRAME_MAX);
}

zpeerd_control_t *
zpeerd_control_open (const char *endpoint, char error[ZPEERD_CONTROL_ERROR_MAX])
{
    assert (endpoint && error);
    //  Not zsock_new, which aborts when descriptors have run out
    void *socket = zsys_socket (ZMQ_ROUTER, __FILE__, __LINE__);
    if (socket)
        s_set_options (socket, endpoint);
    if (!socket || zmq_bind (socket, endpoint)) {
        snprintf (error, ZPEERD_CONTROL_ERROR_MAX, "%s: %s", endpoint,
                  zmq_strerror (errno));
        if (socket)
            zsys_close (socket, __FILE__, __LINE__);
        return NULL;
    }
    zpeerd_control_t *self = calloc (1, sizeof *self);
    assert (self);
    self->socket = socket;
    self->endpoint = zsock_last_endpoint (socket);
    assert (self->endpoint);
    return self;
}

const char *
zpeerd_control_endpoint (const zpeerd_control_t *self)
{
    assert (self);
    return self->endpoint;
}

void *
zpeerd_control_handle (const zpeerd_control_t *self)
{
    assert (self);
    return self->socket;
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
        zframe_send (&request.frames[0], self->socket, ZFRAME_MORE);
        if (request.delimited)
            zstr_sendm (self->socket, "");
        zstr_send (self->socket, answer);
        free (answer);
    }
    s_free_request (&request);
}
