#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "origins.h"
#include "banned.h"

//  What was found last may be another's by now
static void
s_forget (zpeer_origins_t *self)
{
    free (self->last);
    self->last = NULL;
}

void
zpeer_origins_free (zpeer_origins_t *self)
{
    for (unsigned i = 0; i < ZPEER_LANES_MAX; i++)
        zpeer_origins_remove (self, i);
}

int
zpeer_origins_set (zpeer_origins_t *self, unsigned lane, const char *url,
                   char error[ZPEER_URL_ERROR_MAX])
{
    zpeer_url_t parsed;
    int rc = zpeer_url_parse (&parsed, url, error);
    if (rc)
        return rc;
    zpeer_origins_remove (self, lane);
    self->bases[lane] = strdup (parsed.base);
    assert (self->bases[lane]);
    zpeer_url_free (&parsed);
    return ZPEER_OK;
}

void
zpeer_origins_remove (zpeer_origins_t *self, unsigned lane)
{
    assert (lane < ZPEER_LANES_MAX);
    free (self->bases[lane]);
    self->bases[lane] = NULL;
    s_forget (self);
}

static uint8_t
s_find (const zpeer_origins_t *self, const char *text)
{
    zpeer_url_t url;
    char error[ZPEER_URL_ERROR_MAX];
    if (zpeer_url_parse (&url, text, error))
        return 0;
    unsigned lane = 0;
    while (lane < ZPEER_LANES_MAX &&
           !(self->bases[lane] && !strcmp (self->bases[lane], url.base)))
        lane++;
    zpeer_url_free (&url);
    return lane < ZPEER_LANES_MAX ? (uint8_t) (lane + 1) : 0;
}

uint8_t
zpeer_origins_find (zpeer_origins_t *self, zpeer_slice_t url)
{
    if (!self->last || !zpeer_slice_eq (url, zpeer_slice_str (self->last))) {
        s_forget (self);
        self->last = strndup (url.data, url.size);
        assert (self->last);
        self->found = s_find (self, self->last);
    }
    return self->found;
}
