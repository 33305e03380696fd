#include <assert.h>
#include <czmq.h>
#include "history.h"
#include "banned.h"

void
history_open (history_t *self, FILE *live)
{
    *self = (history_t){.out = live, .live = live, .started = zclock_mono ()};
    if (!live)
        self->out = open_memstream (&self->text, &self->size);
    assert (self->out);
}

void
history_close (history_t *self)
{
    if (!self->live)
        fclose (self->out);
    free (self->text);
}

int64_t
history_now (const history_t *self)
{
    return zclock_mono () - self->started;
}

void
history_say (history_t *self, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    fprintf (self->out, "%6" PRId64 "  ", history_now (self));
    vfprintf (self->out, format, args);
    fputc ('\n', self->out);
    va_end (args);
}

void
history_print (history_t *self, FILE *out)
{
    fflush (self->out);
    if (!self->live)
        fwrite (self->text, 1, self->size, out);
}
