#include <assert.h>
#include "outlets.h"
#include "socket.h"
#include "banned.h"

void
zpeer_outlets_free (zpeer_outlets_t *self)
{
    for (unsigned i = 0; i < self->limit; i++)
        zpeer_outlets_close (self, i);
    self->limit = 0;
}

int
zpeer_outlets_open (zpeer_outlets_t *self, unsigned lane, const char *endpoint)
{
    if (lane >= ZPEER_LANES_MAX)
        return ZPEER_E_RANGE;
    if (self->sockets[lane])
        return ZPEER_E_EXISTS;
    zsock_t *socket =
        zpeer_socket_new (ZPEER_ROLE_PUSH, ZPEER_OUTLETS_CHUNKS_MAX, -1);
    if (!socket)
        return ZPEER_E_RESOURCES;
    int rc = zpeer_socket_connect (socket, endpoint);
    if (rc) {
        zsock_destroy (&socket);
        return rc;
    }
    self->sockets[lane] = socket;
    if (lane >= self->limit)
        self->limit = lane + 1;
    return ZPEER_OK;
}

void
zpeer_outlets_close (zpeer_outlets_t *self, unsigned lane)
{
    if (lane < self->limit)
        zsock_destroy (&self->sockets[lane]);
}

bool
zpeer_outlets_post (void *self, unsigned lane, zpeer_chunk_t *chunk)
{
    zsock_t *socket = ((zpeer_outlets_t *) self)->sockets[lane];
    zmq_msg_t message;
    int rc = zmq_msg_init_data (&message, zpeer_chunk_ref (chunk),
                                sizeof *chunk, zpeer_chunk_free, NULL);
    assert (rc == 0);
    rc = zpeer_socket_send_msg (socket, NULL, 0, &message);
    if (rc)
        zmq_msg_close (&message);
    return rc == ZPEER_OK;
}

unsigned
zpeer_outlets_full (const zpeer_outlets_t *self,
                    const zpeer_handover_t *handover, zsock_t **sockets)
{
    unsigned count = 0;
    for (unsigned i = 0; i < self->limit; i++)
        if (zpeer_handover_waits (handover, i))
            sockets[count++] = self->sockets[i];
    return count;
}
