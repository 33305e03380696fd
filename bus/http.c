#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include "http.h"
#include "transfer.h"
#include "banned.h"

typedef enum {
    SLOT_FREE,
    SLOT_ACTIVE,  //  In flight
    SLOT_DONE,    //  Its result waits to be taken
    SLOT_LENT     //  Its result is in the caller's hands until the next call
} s_slot_state_t;

typedef struct {
    zpeer_transfer_t transfer;  //  First: curl's private data is both
    s_slot_state_t state;
} s_slot_t;

struct zpeer_http {
    CURLM *multi;         //  Owned
    s_slot_t *slots;      //  Owned; one more than the window: a request may
                          //  start while a result is lent
    unsigned slot_count;  //
    unsigned in_flight;   //  ACTIVE and DONE
    unsigned active;      //  ACTIVE
    unsigned most_kept;   //  Connections
    zpeer_ages_t ages;    //  Of them
    bool kept;            //  There may be some
    bool doubtful;        //  And they may lead nowhere
    uint64_t
        idle_at;  //  When they have been idle for too long; UINT64_MAX: they
                  //  are in use, or there are none
};

//  OpenSSL's, if it is what libcurl was built with
extern void OPENSSL_thread_stop (void) __attribute__ ((weak));

static void
s_open (zpeer_http_t *self)
{
    self->multi = curl_multi_init ();
    assert (self->multi);
    curl_multi_setopt (self->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt (self->multi, CURLMOPT_MAXCONNECTS,
                       (long) self->most_kept);
}

//  Closes all connections. curl has no other way to do that.
static void
s_close_kept (zpeer_http_t *self)
{
    assert (!self->active);
    curl_multi_cleanup (self->multi);
    s_open (self);
    zpeer_ages_clear (&self->ages);
    self->kept = false;
    self->doubtful = false;
    self->idle_at = UINT64_MAX;
}

zpeer_http_t *
zpeer_http_new (const zpeer_url_t *url, const zpeer_http_options_t *options)
{
    assert (options->max_in_flight && options->connect_timeout_ms);
    curl_global_init (CURL_GLOBAL_DEFAULT);
    zpeer_http_t *self = (zpeer_http_t *) calloc (1, sizeof *self);
    assert (self);
    //  While one takes the place of another, both are there
    self->most_kept = options->max_in_flight + 1;
    zpeer_ages_init (&self->ages, options->max_age_ms, options->idle_ms,
                     self->most_kept);
    self->idle_at = UINT64_MAX;
    s_open (self);
    self->slot_count = options->max_in_flight + 1;
    self->slots = (s_slot_t *) calloc (self->slot_count, sizeof *self->slots);
    assert (self->slots);
    for (unsigned i = 0; i < self->slot_count; i++)
        zpeer_transfer_open (&self->slots[i].transfer, url, options,
                             &self->ages);
    return self;
}

void
zpeer_http_destroy (zpeer_http_t **self_p)
{
    zpeer_http_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (unsigned i = 0; i < self->slot_count; i++) {
        s_slot_t *slot = &self->slots[i];
        if (slot->state == SLOT_ACTIVE)
            curl_multi_remove_handle (self->multi, slot->transfer.easy);
        zpeer_transfer_close (&slot->transfer);
    }
    curl_multi_cleanup (self->multi);
    zpeer_ages_fini (&self->ages);
    free (self->slots);
    free (self);
    curl_global_cleanup ();
    //  What OpenSSL keeps for a thread it frees when the thread ends. Actors'
    //  threads are detached, and may be ending still when the process does:
    //  then it is never freed.
    if (OPENSSL_thread_stop)
        OPENSSL_thread_stop ();
}

unsigned
zpeer_http_in_flight (const zpeer_http_t *self)
{
    return self->in_flight;
}

static s_slot_t *
s_find (const zpeer_http_t *self, s_slot_state_t state)
{
    for (unsigned i = 0; i < self->slot_count; i++)
        if (self->slots[i].state == state)
            return &self->slots[i];
    return NULL;
}

static void
s_put_on (zpeer_http_t *self, const s_slot_t *slot)
{
    CURLMcode rc = curl_multi_add_handle (self->multi, slot->transfer.easy);
    assert (rc == CURLM_OK);
}

static void
s_put_on_again (zpeer_http_t *self, const s_slot_t *slot)
{
    curl_multi_remove_handle (self->multi, slot->transfer.easy);
    s_put_on (self, slot);
}

void
zpeer_http_start (zpeer_http_t *self, const zpeer_http_request_t *request,
                  uint64_t now)
{
    assert (self->in_flight + 1 < self->slot_count);
    s_slot_t *slot = s_find (self, SLOT_FREE);
    assert (slot);
    if (self->idle_at <= now)
        s_close_kept (self);
    zpeer_transfer_start (&slot->transfer, request, now, self->doubtful);
    s_put_on (self, slot);
    slot->state = SLOT_ACTIVE;
    self->in_flight++;
    self->active++;
    self->idle_at = UINT64_MAX;
}

void
zpeer_http_poll (zpeer_http_t *self, const int *fds, size_t count,
                 int timeout_ms)
{
    struct curl_waitfd waits[ZPEER_HTTP_FDS_MAX];
    assert (count <= ZPEER_HTTP_FDS_MAX);
    for (size_t i = 0; i < count; i++)
        waits[i] = (struct curl_waitfd){fds[i], CURL_WAIT_POLLIN, 0};
    curl_multi_poll (self->multi, waits, (unsigned) count,
                     timeout_ms < 0 ? INT_MAX : timeout_ms, NULL);
}

//  No answer came. A network that lets nothing through any more, or a machine that
//  is no more, is not seen on a connection that waits: each would cost a read
//  timeout.
static bool
s_is_silence (zpeer_end_t end)
{
    return end == ZPEER_END_READ_TIMEOUT || end == ZPEER_END_RESET ||
           end == ZPEER_END_UNSENT;
}

static void
s_take_off (zpeer_http_t *self, s_slot_t *slot)
{
    //  In the middle of a request this closes its connection
    curl_multi_remove_handle (self->multi, slot->transfer.easy);
    slot->state = SLOT_DONE;
    self->active--;
    zpeer_end_t end = slot->transfer.end;
    if (end == ZPEER_END_STATUS) {
        self->kept = true;
        self->doubtful = false;
    }
    else if (s_is_silence (end))
        self->doubtful = true;
}

//  Looks after the connections that no request is using
static void
s_mind_kept (zpeer_http_t *self, uint64_t now)
{
    if (self->active || !self->kept)
        return;
    if (self->ages.idle_ms && self->idle_at == UINT64_MAX)
        self->idle_at = now + self->ages.idle_ms;
    if (self->doubtful || self->idle_at <= now)
        s_close_kept (self);
}

void
zpeer_http_perform (zpeer_http_t *self, uint64_t now)
{
    int left = 0;
    for (unsigned i = 0; i < self->slot_count; i++)
        self->slots[i].transfer.now = now;
    curl_multi_perform (self->multi, &left);
    const CURLMsg *message;
    while ((message = curl_multi_info_read (self->multi, &left))) {
        s_slot_t *slot = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE, &slot);
        if (zpeer_transfer_done (&slot->transfer, code, now))
            s_take_off (self, slot);
        else
            s_put_on_again (self, slot);
    }
    for (unsigned i = 0; i < self->slot_count; i++) {
        s_slot_t *slot = &self->slots[i];
        if (slot->state == SLOT_ACTIVE &&
            zpeer_transfer_check (&slot->transfer, now))
            s_take_off (self, slot);
    }
    s_mind_kept (self, now);
}

bool
zpeer_http_next (zpeer_http_t *self, zpeer_http_result_t *result)
{
    s_slot_t *lent = s_find (self, SLOT_LENT);
    if (lent) {
        zpeer_transfer_reset (&lent->transfer);
        lent->state = SLOT_FREE;
    }
    s_slot_t *slot = s_find (self, SLOT_DONE);
    if (!slot)
        return false;
    slot->state = SLOT_LENT;
    self->in_flight--;
    zpeer_transfer_result (&slot->transfer, result);
    return true;
}

void
zpeer_http_abort (zpeer_http_t *self, uint64_t now)
{
    for (unsigned i = 0; i < self->slot_count; i++) {
        s_slot_t *slot = &self->slots[i];
        if (slot->state == SLOT_ACTIVE) {
            zpeer_transfer_abort (&slot->transfer, now);
            s_take_off (self, slot);
        }
    }
}

uint64_t
zpeer_http_wake (const zpeer_http_t *self)
{
    uint64_t wake = self->idle_at;
    for (unsigned i = 0; i < self->slot_count; i++) {
        const s_slot_t *slot = &self->slots[i];
        uint64_t at = zpeer_transfer_wake (&slot->transfer);
        if (slot->state == SLOT_ACTIVE && at < wake)
            wake = at;
    }
    return wake;
}
