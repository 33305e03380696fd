#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zpeer/door.h>
#include "doorman.h"
#include "banned.h"

_Static_assert(ZPEER_DOOR_ENDPOINT_MAX >= ZPEER_ENDPOINT_MAX, "room for it");

struct zpeer_door {
    zsock_t *socket;           //  Owned
    zpeer_doorman_t *doorman;  //  Owned; of it
    char endpoint[ZPEER_ENDPOINT_MAX];
};

void
zpeer_door_close (zpeer_door_t **self_p)
{
    assert (self_p);
    zpeer_door_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    zpeer_doorman_destroy (&self->doorman);
    zsock_destroy (&self->socket);
    free (self);
}

//  The doorman is there before anybody comes
static int
s_open (zpeer_door_t *self, const char *endpoint,
        const zpeer_door_options_t *options)
{
    self->socket =
        zpeer_socket_new (ZPEER_ROLE_SERVER, (int) options->requests_max,
                          options->frame_max_bytes);
    if (self->socket)
        self->doorman = zpeer_doorman_new (self->socket, options->clients_max);
    return self->doorman ? zpeer_socket_bind (self->socket, endpoint,
                                              self->endpoint, NULL)
                         : ZPEER_E_RESOURCES;
}

zpeer_door_t *
zpeer_door_open (const char *endpoint, const zpeer_door_options_t *options,
                 char error[ZPEER_DOOR_ERROR_MAX])
{
    assert (endpoint && options && error);
    assert (options->requests_max && options->frame_max_bytes);
    zpeer_door_t *self = (zpeer_door_t *) calloc (1, sizeof *self);
    assert (self);
    int rc = s_open (self, endpoint, options);
    if (rc == ZPEER_OK)
        return self;
    snprintf (error, ZPEER_DOOR_ERROR_MAX, "%s: %s", endpoint,
              rc == ZPEER_E_BIND ? zmq_strerror (errno) : zpeer_strerror (rc));
    zpeer_door_close (&self);
    return NULL;
}

const char *
zpeer_door_endpoint (const zpeer_door_t *self)
{
    assert (self);
    return self->endpoint;
}

void *
zpeer_door_socket (const zpeer_door_t *self)
{
    assert (self);
    return zsock_resolve (self->socket);
}

void *
zpeer_door_bell (const zpeer_door_t *self)
{
    assert (self);
    return zsock_resolve (zpeer_doorman_inlet (self->doorman)->socket);
}

bool
zpeer_door_look (zpeer_door_t *self, zpeer_door_news_t *news)
{
    assert (self && news);
    zpeer_doorman_news_t ended;
    //  Whoever polls the bell has taken its descriptor's edge
    zpeer_inlet_doubt (zpeer_doorman_inlet (self->doorman));
    zpeer_doorman_work (self->doorman, &ended);
    *news =
        (zpeer_door_news_t){.refused = ended.refused,
                            .cut = ended.cut,
                            .unseen = ended.unseen,
                            .clients_max = zpeer_doorman_max (self->doorman)};
    if (ended.cut + ended.unseen)
        snprintf (news->endpoint, sizeof news->endpoint, "%s", ended.endpoint);
    return ended.refused + ended.cut + ended.unseen > 0;
}
