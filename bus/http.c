#include <assert.h>
#include <curl/curl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "buffer.h"
#include "http.h"
#include "banned.h"

//  curl itself puts no limit to the header lines of one answer
#define HEADERS_MAX 65536

//  A slot that had to hold a larger reply than this gives the memory back
#define REPLY_KEPT 262144

#define METHOD_MAX 8

typedef enum {
    SLOT_FREE,
    SLOT_ACTIVE,  //  In flight
    SLOT_DONE,    //  Its result waits to be taken
    SLOT_LENT     //  Its result is in the caller's hands until the next call
} s_slot_state_t;

//  A curl handle and the request it runs. What stays the same from one request
//  to the next is not set again.
typedef struct {
    zpeer_http_t *http;  //  Borrowed
    CURL *easy;          //  Owned
    s_slot_state_t state;
    void *token;                 //  The caller's
    char method[METHOD_MAX];     //  Set in easy, with the next three
    bool has_body;               //
    bool replication;            //
    zpeer_buffer_t url;          //  Owned; NUL-terminated
    zpeer_buffer_t reply;        //  Owned
    uint64_t started_at;         //
    uint64_t moved_at;           //  When bytes moved last
    uint64_t moved_bytes;        //  How many had, then
    size_t header_bytes;         //  Of the answer
    unsigned sends;              //  How often a connection was there to send
    uint32_t elapsed_ms;         //  Of a done request, as the next two
    zpeer_end_t end;             //
    uint16_t status;             //
    char text[CURL_ERROR_SIZE];  //  The error in words
} s_slot_t;

struct zpeer_http {
    CURLM *multi;                      //  Owned
    s_slot_t *slots;                   //  Owned; one more than the window: a
                                       //  request may start while a result is
                                       //  lent
    unsigned slot_count;               //
    unsigned in_flight;                //  ACTIVE and DONE
    struct curl_slist *headers[2][2];  //  Owned; with a body, as replication
    zpeer_slice_t base;                //  Owned; of the URL
    uint64_t now;                      //  For curl's callbacks
    uint32_t read_timeout_ms;
    uint32_t deadline_ms;
    size_t reply_max_bytes;
};

//  Sets an option; curl refuses only what a programmer got wrong
#define SET(easy, option, value)                                               \
    do {                                                                       \
        CURLcode set_rc = curl_easy_setopt ((easy), (option), (value));        \
        assert (set_rc == CURLE_OK);                                           \
        (void) set_rc;                                                         \
    } while (0)

//  What a curl error is about
typedef enum {
    CLASS_INTERNAL,
    CLASS_NETWORK,
    CLASS_TLS,
    CLASS_ANSWER  //  What came cannot be used
} s_class_t;

static s_class_t
s_class (CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:  //  Connecting: the rest is timed here
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING: return CLASS_NETWORK;

    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
    case CURLE_PEER_FAILED_VERIFICATION: return CLASS_TLS;

    case CURLE_PARTIAL_FILE:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:           //  Ours: over the limit
    case CURLE_OUT_OF_MEMORY:         //  A header line over curl's limit
    case CURLE_UNSUPPORTED_PROTOCOL:  //  Not HTTP
    case CURLE_WEIRD_SERVER_REPLY: return CLASS_ANSWER;
    default: return CLASS_INTERNAL;
    }
}

//  How a request ended that curl reports on, the HTTP status aside
static zpeer_end_t
s_curl_end (const s_slot_t *slot, CURLcode code)
{
    if (code == CURLE_OK)
        return ZPEER_END_STATUS;
    bool sent = slot->sends > 0;
    switch (s_class (code)) {
    case CLASS_NETWORK: return sent ? ZPEER_END_RESET : ZPEER_END_UNSENT;
    //  After a first sending it was the second connection that failed
    case CLASS_TLS: return sent ? ZPEER_END_RESET : ZPEER_END_TLS;
    case CLASS_ANSWER: return sent ? ZPEER_END_UNUSABLE : ZPEER_END_INTERNAL;
    default: return ZPEER_END_INTERNAL;
    }
}

static uint16_t
s_status (const s_slot_t *slot)
{
    long status = 0;
    curl_easy_getinfo (slot->easy, CURLINFO_RESPONSE_CODE, &status);
    //  1xx came before an answer
    return status >= 200 && status <= 999 ? (uint16_t) status : 0;
}

//  The one place where a request ends. A status other than 2xx says all there
//  is to know, whatever became of its body.
static void
s_finish (s_slot_t *slot, uint64_t now, zpeer_end_t end)
{
    zpeer_http_t *self = slot->http;
    assert (slot->state == SLOT_ACTIVE);
    curl_multi_remove_handle (self->multi, slot->easy);
    slot->state = SLOT_DONE;
    slot->status = s_status (slot);
    slot->elapsed_ms = (uint32_t) (now - slot->started_at);
    bool complete = end == ZPEER_END_STATUS;
    if (slot->status >= 300 && end != ZPEER_END_TAKEN_BACK)
        end = ZPEER_END_STATUS;
    else if (slot->status && end == ZPEER_END_RESET)
        end = ZPEER_END_UNUSABLE;
    if (!complete)
        zpeer_buffer_reset (&slot->reply);
    slot->end = end;
}

static void
s_recycle (s_slot_t *slot)
{
    slot->state = SLOT_FREE;
    zpeer_buffer_reset (&slot->reply);
    if (slot->reply.capacity > REPLY_KEPT)
        zpeer_buffer_free (&slot->reply);
}

//  curl's callbacks

//  A connection is there, and the request goes out next
static int
s_on_connected (void *arg, char *ip, char *local_ip, int port, int local_port)
{
    (void) ip;
    (void) local_ip;
    (void) port;
    (void) local_port;
    s_slot_t *slot = (s_slot_t *) arg;
    slot->sends++;
    slot->moved_at = slot->http->now;
    return CURL_PREREQFUNC_OK;
}

static size_t
s_on_header (char *data, size_t size, size_t count, void *arg)
{
    (void) data;
    s_slot_t *slot = (s_slot_t *) arg;
    slot->header_bytes += size * count;
    return slot->header_bytes <= HEADERS_MAX ? size * count : 0;
}

static size_t
s_on_body (char *data, size_t size, size_t count, void *arg)
{
    s_slot_t *slot = (s_slot_t *) arg;
    size_t bytes = size * count;
    if (bytes > slot->http->reply_max_bytes - slot->reply.size)
        return 0;
    zpeer_buffer_add (&slot->reply, data, bytes);
    return bytes;
}

//  What is the same for every request of the peer
static void
s_open_slot (zpeer_http_t *self, s_slot_t *slot, const zpeer_url_t *url,
             const zpeer_http_options_t *options)
{
    CURL *easy = curl_easy_init ();
    assert (easy);
    slot->http = self;
    slot->easy = easy;
    SET (easy, CURLOPT_PRIVATE, slot);
    SET (easy, CURLOPT_ERRORBUFFER, slot->text);
    SET (easy, CURLOPT_PREREQFUNCTION, s_on_connected);
    SET (easy, CURLOPT_PREREQDATA, slot);
    SET (easy, CURLOPT_HEADERFUNCTION, s_on_header);
    SET (easy, CURLOPT_HEADERDATA, slot);
    SET (easy, CURLOPT_WRITEFUNCTION, s_on_body);
    SET (easy, CURLOPT_WRITEDATA, slot);
    SET (easy, CURLOPT_NOSIGNAL, 1L);
    SET (easy, CURLOPT_QUICK_EXIT, 1L);
    SET (easy, CURLOPT_PROXY, "");
    SET (easy, CURLOPT_PROTOCOLS_STR, "http,https");
    SET (easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
    SET (easy, CURLOPT_FOLLOWLOCATION, 0L);
    SET (easy, CURLOPT_PATH_AS_IS, 1L);
    SET (easy, CURLOPT_TCP_KEEPALIVE, 1L);
    SET (easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    SET (easy, CURLOPT_USERAGENT, "zpeer/" ZPEER_VERSION);
    SET (easy, CURLOPT_CONNECTTIMEOUT_MS, (long) options->connect_timeout_ms);
    SET (easy, CURLOPT_SSL_VERIFYPEER, 1L);
    SET (easy, CURLOPT_SSL_VERIFYHOST, 2L);
    SET (easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
    if (options->ca_file)
        SET (easy, CURLOPT_CAINFO, options->ca_file);
    if (url->user) {
        SET (easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        SET (easy, CURLOPT_USERNAME, url->user);
        SET (easy, CURLOPT_PASSWORD, url->password);
    }
}

static void
s_add_header (struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append (*list, line);
    assert (longer);
    *list = longer;
}

//  EUREKA.md 1.4. A name without a value keeps curl from sending its own:
//  Expect would cost a second per large POST, and a form's Content-Type on an
//  empty body makes servers look for a form.
static struct curl_slist *
s_headers (bool has_body, bool replication, const char *identity)
{
    struct curl_slist *list = NULL;
    s_add_header (&list, "Expect:");
    s_add_header (&list, "Accept: application/json");
    s_add_header (&list, has_body ? "Content-Type: application/json"
                                  : "Content-Type:");
    s_add_header (&list, "DiscoveryIdentity-Name: DefaultServer");
    s_add_header (&list, "DiscoveryIdentity-Version: 1.0");
    if (identity) {
        char line[128];
        snprintf (line, sizeof line, "DiscoveryIdentity-Id: %s", identity);
        s_add_header (&list, line);
    }
    if (replication)
        s_add_header (&list, "x-netflix-discovery-replication: true");
    return list;
}

zpeer_http_t *
zpeer_http_new (const zpeer_url_t *url, const zpeer_http_options_t *options)
{
    assert (options->max_in_flight && options->connect_timeout_ms);
    curl_global_init (CURL_GLOBAL_DEFAULT);
    zpeer_http_t *self = (zpeer_http_t *) calloc (1, sizeof *self);
    assert (self);
    self->read_timeout_ms = options->read_timeout_ms;
    self->deadline_ms = options->deadline_ms;
    self->reply_max_bytes = options->reply_max_bytes;
    self->base = zpeer_slice_str (strdup (url->base));
    for (unsigned i = 0; i < 4; i++)
        self->headers[i / 2][i % 2] =
            s_headers (i / 2, i % 2, options->identity);
    self->multi = curl_multi_init ();
    assert (self->multi);
    curl_multi_setopt (self->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt (self->multi, CURLMOPT_MAXCONNECTS,
                       (long) options->max_in_flight);
    self->slot_count = options->max_in_flight + 1;
    self->slots = (s_slot_t *) calloc (self->slot_count, sizeof *self->slots);
    assert (self->slots);
    for (unsigned i = 0; i < self->slot_count; i++)
        s_open_slot (self, &self->slots[i], url, options);
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
            curl_multi_remove_handle (self->multi, slot->easy);
        curl_easy_cleanup (slot->easy);
        zpeer_buffer_free (&slot->url);
        zpeer_buffer_free (&slot->reply);
    }
    curl_multi_cleanup (self->multi);
    for (unsigned i = 0; i < 4; i++)
        curl_slist_free_all (self->headers[i / 2][i % 2]);
    free ((char *) self->base.data);
    free (self->slots);
    free (self);
    curl_global_cleanup ();
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

//  Whether the slot's last request was like this one, its body aside
static bool
s_is_alike (const s_slot_t *slot, const zpeer_http_request_t *request)
{
    size_t base = slot->http->base.size;
    if (slot->url.size != base + request->path.size + 1)
        return false;
    zpeer_slice_t path = {slot->url.data + base, request->path.size};
    return zpeer_slice_eq (path, request->path) &&
           zpeer_slice_eq (zpeer_slice_str (slot->method), request->method) &&
           slot->has_body == (request->body.size > 0) &&
           slot->replication == request->replication;
}

static void
s_set_request (s_slot_t *slot, const zpeer_http_request_t *request)
{
    zpeer_slice_t method = request->method;
    assert (method.size && method.size < sizeof slot->method);
    memcpy (slot->method, method.data, method.size);
    slot->method[method.size] = 0;
    slot->has_body = request->body.size > 0;
    slot->replication = request->replication;
    zpeer_buffer_reset (&slot->url);
    zpeer_buffer_slice (&slot->url, slot->http->base);
    zpeer_buffer_slice (&slot->url, request->path);
    zpeer_buffer_add (&slot->url, "", 1);
    SET (slot->easy, CURLOPT_URL, slot->url.data);
    //  A PUT without a body says so (Content-Length: 0), a DELETE does not
    bool sends = method.data[0] == 'P' || slot->has_body;
    if (sends)
        SET (slot->easy, CURLOPT_POSTFIELDS, "");
    else
        SET (slot->easy, CURLOPT_HTTPGET, 1L);
    SET (slot->easy, CURLOPT_CUSTOMREQUEST, slot->method);
    SET (slot->easy, CURLOPT_HTTPHEADER,
         slot->http->headers[slot->has_body][slot->replication]);
}

void
zpeer_http_start (zpeer_http_t *self, const zpeer_http_request_t *request,
                  uint64_t now)
{
    assert (self->in_flight + 1 < self->slot_count);
    s_slot_t *slot = s_find (self, SLOT_FREE);
    assert (slot);
    if (!s_is_alike (slot, request))
        s_set_request (slot, request);
    if (request->body.size)
        SET (slot->easy, CURLOPT_POSTFIELDS, request->body.data);
    SET (slot->easy, CURLOPT_POSTFIELDSIZE_LARGE,
         (curl_off_t) request->body.size);
    slot->state = SLOT_ACTIVE;
    slot->token = request->token;
    slot->started_at = now;
    slot->moved_bytes = 0;
    slot->header_bytes = 0;
    slot->sends = 0;
    slot->text[0] = 0;
    self->in_flight++;
    self->now = now;
    CURLMcode rc = curl_multi_add_handle (self->multi, slot->easy);
    assert (rc == CURLM_OK);
    (void) rc;
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

//  All that moved so far, both ways. Of a body this is what went over the wire:
//  a compressed one may move for long and yield nothing.
static uint64_t
s_moved_bytes (const s_slot_t *slot)
{
    curl_off_t sent = 0;
    curl_off_t received = 0;
    curl_easy_getinfo (slot->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo (slot->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return (uint64_t) sent + (uint64_t) received + slot->header_bytes;
}

static uint64_t
s_times_out_at (const s_slot_t *slot)
{
    uint64_t deadline_at = slot->started_at + slot->http->deadline_ms;
    uint64_t silent_at = slot->moved_at + slot->http->read_timeout_ms;
    //  Until there is a connection, curl watches over it
    return slot->sends && silent_at < deadline_at ? silent_at : deadline_at;
}

static void
s_time_out (s_slot_t *slot, uint64_t now)
{
    if (now - slot->started_at >= slot->http->deadline_ms)
        snprintf (slot->text, sizeof slot->text,
                  "not done in %u ms, though the peer is there",
                  slot->http->deadline_ms);
    else
        snprintf (slot->text, sizeof slot->text, "nothing moved for %u ms",
                  slot->http->read_timeout_ms);
    s_finish (slot, now,
              slot->sends ? ZPEER_END_READ_TIMEOUT : ZPEER_END_UNSENT);
}

static void
s_check_time (s_slot_t *slot, uint64_t now)
{
    uint64_t moved_bytes = s_moved_bytes (slot);
    if (moved_bytes != slot->moved_bytes) {
        slot->moved_bytes = moved_bytes;
        slot->moved_at = now;
    }
    if (now >= s_times_out_at (slot))
        s_time_out (slot, now);
}

static void
s_explain (s_slot_t *slot, CURLcode code)
{
    if (code == CURLE_WRITE_ERROR)
        snprintf (slot->text, sizeof slot->text,
                  "the answer is larger than %zu bytes",
                  slot->header_bytes > HEADERS_MAX
                      ? (size_t) HEADERS_MAX
                      : slot->http->reply_max_bytes);
    else if (code != CURLE_OK && !slot->text[0])
        snprintf (slot->text, sizeof slot->text, "%s",
                  curl_easy_strerror (code));
}

void
zpeer_http_perform (zpeer_http_t *self, uint64_t now)
{
    int left = 0;
    self->now = now;
    curl_multi_perform (self->multi, &left);
    const CURLMsg *message;
    while ((message = curl_multi_info_read (self->multi, &left))) {
        s_slot_t *slot = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE, &slot);
        s_explain (slot, code);
        s_finish (slot, now, s_curl_end (slot, code));
    }
    for (unsigned i = 0; i < self->slot_count; i++)
        if (self->slots[i].state == SLOT_ACTIVE)
            s_check_time (&self->slots[i], now);
}

//  Retry-After in ms; curl reads it, also where it is a date
static uint32_t
s_retry_after (const s_slot_t *slot)
{
    curl_off_t seconds = 0;
    curl_easy_getinfo (slot->easy, CURLINFO_RETRY_AFTER, &seconds);
    if (seconds <= 0)
        return 0;
    return seconds > UINT32_MAX / 1000 ? UINT32_MAX : (uint32_t) seconds * 1000;
}

bool
zpeer_http_next (zpeer_http_t *self, zpeer_http_result_t *result)
{
    s_slot_t *lent = s_find (self, SLOT_LENT);
    if (lent)
        s_recycle (lent);
    s_slot_t *slot = s_find (self, SLOT_DONE);
    if (!slot)
        return false;
    slot->state = SLOT_LENT;
    self->in_flight--;
    *result = (zpeer_http_result_t){
        .token = slot->token,
        .end = slot->end,
        .status = slot->status,
        .resent = slot->sends > 1,
        .elapsed_ms = slot->elapsed_ms,
        .retry_after_ms = s_retry_after (slot),
        .body = {slot->reply.data, slot->reply.size},
        .detail = slot->text,
    };
    return true;
}

void
zpeer_http_abort (zpeer_http_t *self, uint64_t now)
{
    for (unsigned i = 0; i < self->slot_count; i++)
        if (self->slots[i].state == SLOT_ACTIVE) {
            snprintf (self->slots[i].text, sizeof self->slots[i].text,
                      "aborted");
            s_finish (&self->slots[i], now, ZPEER_END_TAKEN_BACK);
        }
}

uint64_t
zpeer_http_wake (const zpeer_http_t *self)
{
    uint64_t wake = UINT64_MAX;
    for (unsigned i = 0; i < self->slot_count; i++) {
        const s_slot_t *slot = &self->slots[i];
        if (slot->state == SLOT_ACTIVE && s_times_out_at (slot) < wake)
            wake = s_times_out_at (slot);
    }
    return wake;
}
