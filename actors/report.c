#include "report.h"
#include "socket.h"
#include "banned.h"

//  Outcomes under way to the reporter; as many again fit into its inbox
#define OUTCOMES_MAX 1000

int
zpeer_report_connect (zpeer_report_t *self, const char *endpoint)
{
    if (self->socket)
        return ZPEER_E_EXISTS;
    self->socket = zpeer_socket_new (ZPEER_ROLE_PUSH, OUTCOMES_MAX, -1);
    if (!self->socket)
        return ZPEER_E_RESOURCES;
    int rc = zpeer_socket_connect (self->socket, endpoint);
    if (rc)
        zsock_destroy (&self->socket);
    return rc;
}

void
zpeer_report_close (zpeer_report_t *self)
{
    zsock_destroy (&self->socket);
    zpeer_buffer_free (&self->map);
}

zpeer_buffer_t *
zpeer_report_map (zpeer_report_t *self)
{
    zpeer_buffer_reset (&self->map);
    return &self->map;
}

void
zpeer_report_send (zpeer_report_t *self, zpeer_topic_t topic)
{
    if (!self->socket)
        return;
    zpeer_slice_t frames[] = {zpeer_slice_str (zpeer_topic_text (topic)),
                              {self->map.data, self->map.size}};
    if (zpeer_socket_send (self->socket, frames, 2))
        self->lost++;
}
