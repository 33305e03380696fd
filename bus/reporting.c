#include "reporting.h"
#include "socket.h"
#include "banned.h"

int
zpeer_reporting_connect (zpeer_reporting_t *self, const char *endpoint)
{
    if (self->push)
        return ZPEER_E_STATE;
    self->push = zpeer_socket_new (ZPEER_ROLE_PUSH, ZPEER_REPORTING_HWM, -1);
    if (!self->push)
        return ZPEER_E_RESOURCES;
    int rc = zpeer_socket_connect (self->push, endpoint);
    if (rc)
        zsock_destroy (&self->push);
    return rc;
}

void
zpeer_reporting_close (zpeer_reporting_t *self)
{
    zsock_destroy (&self->push);
    *self = (zpeer_reporting_t){0};
}

void
zpeer_reporting_send (zpeer_reporting_t *self, zpeer_topic_t topic,
                      zpeer_buffer_t *map)
{
    zpeer_slice_t frames[] = {zpeer_slice_str (zpeer_topic_text (topic)),
                              {map->data, map->size}};
    zpeer_buffer_reset (map);
    if (!self->push)
        return;
    if (zpeer_socket_send (self->push, frames, 2) == ZPEER_OK)
        self->sent++;
    else
        self->lost++;
}
