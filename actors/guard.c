#include "guard.h"
#include "banned.h"

int
zpeer_guard_open (zpeer_guard_t *self, zsock_t *sock, const char *endpoint,
                  int64_t max_bytes)
{
    if (self->doorman || zpeer_socket_is_inproc (endpoint))
        return ZPEER_OK;
    self->max_bytes = max_bytes;
    self->doorman = zpeer_doorman_new (sock, ZPEER_DOORMAN_ANY);
    return self->doorman ? ZPEER_OK : ZPEER_E_RESOURCES;
}

void
zpeer_guard_close (zpeer_guard_t *self)
{
    zpeer_doorman_destroy (&self->doorman);
}

zpeer_inlet_t *
zpeer_guard_inlet (zpeer_guard_t *self)
{
    return self->doorman ? zpeer_doorman_inlet (self->doorman) : &self->none;
}

void
zpeer_guard_work (zpeer_guard_t *self, zpeer_sampler_t *lines, uint64_t now)
{
    zpeer_doorman_news_t news;
    if (!self->doorman)
        return;
    zpeer_doorman_work (self->doorman, &news);
    if (news.cut + news.unseen)
        zpeer_sample (lines, now, CLIENT_CUT, news.endpoint,
                      news.cut ? "" : " or left at once", self->max_bytes);
}
