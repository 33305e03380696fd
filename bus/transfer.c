#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "retry_after.h"
#include "transfer.h"
#include "banned.h"

//  What is written at once, at most, to a connection without TLS: a batch of 250
//  Registers. With curl's 64 kB a Register costs a tenth more CPU time
//  (bench/README.md). With TLS it would do harm: curl tells of nothing that moved
//  before the whole of it has, and a slow peer would look silent.
#define UPLOAD_BYTES 262144L

//  A kept connection that is lost so soon after a request began to go out was dead
//  before. Later it is the peer that broke down in the middle of its work. ms.
#define AT_ONCE_MS 1000

//  How long curl may believe where a name leads, s; a new connection that is made
//  on purpose does not believe it at all
#define NAMES_S 60L

//  curl itself puts no limit to the header lines of one answer
#define HEADERS_MAX 65536

//  A transfer that had to hold a larger reply than this gives the memory back
#define REPLY_KEPT 262144

//  Sets an option; curl refuses only what a programmer got wrong
#define SET(easy, option, value)                                               \
    do {                                                                       \
        CURLcode set_rc = curl_easy_setopt ((easy), (option), (value));        \
        assert (set_rc == CURLE_OK);                                           \
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
    case CURLE_GOT_NOTHING:
    case CURLE_ABORTED_BY_CALLBACK:  //  Ours: curl must not send it again
        return CLASS_NETWORK;

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
s_curl_end (const zpeer_transfer_t *self, CURLcode code)
{
    if (code == CURLE_OK)
        return ZPEER_END_STATUS;
    bool sent = self->sent || self->repeated;
    switch (s_class (code)) {
    case CLASS_NETWORK: return sent ? ZPEER_END_RESET : ZPEER_END_UNSENT;
    //  Once it was sent, it was the next connection that failed
    case CLASS_TLS: return sent ? ZPEER_END_RESET : ZPEER_END_TLS;
    case CLASS_ANSWER: return sent ? ZPEER_END_UNUSABLE : ZPEER_END_INTERNAL;
    default: return ZPEER_END_INTERNAL;
    }
}

static uint16_t
s_status (const zpeer_transfer_t *self)
{
    //  Until curl begins a request, it tells of the one before
    if (!self->header_bytes)
        return 0;
    long status = 0;
    curl_easy_getinfo (self->easy, CURLINFO_RESPONSE_CODE, &status);
    //  1xx came before an answer
    return status >= 200 && status <= 999 ? (uint16_t) status : 0;
}

//  The one place where a request ends. A status other than 2xx says all there
//  is to know, whatever became of its body.
static void
s_finish (zpeer_transfer_t *self, uint64_t now, zpeer_end_t end)
{
    self->status = s_status (self);
    self->elapsed_ms = (uint32_t) (now - self->started_at);
    if (self->renews && !self->sent)
        zpeer_ages_failed (self->ages, now);
    if (end != ZPEER_END_STATUS)
        zpeer_buffer_reset (&self->reply);
    if (self->status >= 300 && end != ZPEER_END_TAKEN_BACK)
        end = ZPEER_END_STATUS;
    else if (self->status && end == ZPEER_END_RESET)
        end = ZPEER_END_UNUSABLE;
    self->end = end;
}

//  curl's callbacks

//  Whether the connection a request goes out on is new
static bool
s_is_new (const zpeer_transfer_t *self)
{
    long made = 0;
    curl_easy_getinfo (self->easy, CURLINFO_NUM_CONNECTS, &made);
    return made > 0;
}

//  Whether a request that was lost now may go out once more
static bool
s_may_repeat (const zpeer_transfer_t *self, uint64_t now)
{
    return self->sent && self->kept && !self->repeated && !self->header_bytes &&
           now - self->sent_at < AT_ONCE_MS;
}

//  Whether the connection is closed when the request has been answered
static void
s_set_last (zpeer_transfer_t *self, bool last)
{
    if (self->last != last)
        SET (self->easy, CURLOPT_FORBID_REUSE, (long) last);
    self->last = last;
}

//  A connection is there, and the request goes out next. Until this is called
//  not one byte of it has left.
//
//  1. A request goes out on a kept connection, which dies without an answer.
//  2. curl connects anew, and would send it again, several times if need be.
//  3. Once it may, on a new connection, and is noted: the peer may have had it,
//     and may apply it late, which whoever asked for it must know.
static int
s_on_connected (void *arg, char *ip, char *local_ip, int port, int local_port)
{
    (void) ip;
    (void) local_ip;
    (void) port;
    zpeer_transfer_t *self = (zpeer_transfer_t *) arg;
    bool is_new = s_is_new (self);
    if (self->sent) {
        if (!is_new || !s_may_repeat (self, self->now))
            return CURL_PREREQFUNC_ABORT;
        self->repeated = true;
    }
    if (is_new)
        zpeer_ages_made (self->ages, self->now, local_port,
                         self->renews && !self->sent);
    else if (zpeer_ages_use (self->ages, self->now, local_port))
        s_set_last (self, true);
    self->sent = true;
    self->kept = !is_new;
    self->sent_at = self->now;
    self->moved_at = self->now;
    return CURL_PREREQFUNC_OK;
}

static size_t
s_on_header (char *data, size_t size, size_t count, void *arg)
{
    (void) data;
    zpeer_transfer_t *self = (zpeer_transfer_t *) arg;
    self->header_bytes += size * count;
    return self->header_bytes <= HEADERS_MAX ? size * count : 0;
}

static size_t
s_on_body (char *data, size_t size, size_t count, void *arg)
{
    zpeer_transfer_t *self = (zpeer_transfer_t *) arg;
    size_t bytes = size * count;
    if (bytes > self->reply_max_bytes - self->reply.size)
        return 0;
    zpeer_buffer_add (&self->reply, data, bytes);
    return bytes;
}

//  What is the same for every request of the peer

static void
s_set_callbacks (zpeer_transfer_t *self)
{
    SET (self->easy, CURLOPT_PRIVATE, self);
    SET (self->easy, CURLOPT_ERRORBUFFER, self->detail);
    SET (self->easy, CURLOPT_PREREQFUNCTION, s_on_connected);
    SET (self->easy, CURLOPT_PREREQDATA, self);
    SET (self->easy, CURLOPT_HEADERFUNCTION, s_on_header);
    SET (self->easy, CURLOPT_HEADERDATA, self);
    SET (self->easy, CURLOPT_WRITEFUNCTION, s_on_body);
    SET (self->easy, CURLOPT_WRITEDATA, self);
}

//  Rounded up
static uint32_t
s_seconds (uint32_t ms)
{
    return ms / 1000 + (ms % 1000 > 0);
}

static void
s_set_protocol (CURL *easy, const zpeer_http_options_t *options)
{
    SET (easy, CURLOPT_NOSIGNAL, 1L);
    SET (easy, CURLOPT_QUICK_EXIT, 1L);
    SET (easy, CURLOPT_PROXY, "");
    SET (easy, CURLOPT_PROTOCOLS_STR, "http,https");
    SET (easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
    SET (easy, CURLOPT_FOLLOWLOCATION, 0L);
    SET (easy, CURLOPT_PATH_AS_IS, 1L);
    SET (easy, CURLOPT_TCP_KEEPALIVE, 1L);
    if (options->idle_ms)
        SET (easy, CURLOPT_MAXAGE_CONN, (long) s_seconds (options->idle_ms));
    SET (easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    SET (easy, CURLOPT_USERAGENT, "zpeer/" ZPEER_VERSION);
    SET (easy, CURLOPT_CONNECTTIMEOUT_MS, (long) options->connect_timeout_ms);
}

static void
s_set_trust (CURL *easy, const zpeer_url_t *url,
             const zpeer_http_options_t *options)
{
    if (!url->https)
        SET (easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BYTES);
    SET (easy, CURLOPT_SSL_VERIFYPEER, 1L);
    SET (easy, CURLOPT_SSL_VERIFYHOST, 2L);
    SET (easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
    //  Each handshake is a whole one, with the files as they are: a session that
    //  is resumed would show the certificate of the first time
    SET (easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    SET (easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    if (options->ca_file)
        SET (easy, CURLOPT_CAINFO, options->ca_file);
    if (options->cert_file)
        SET (easy, CURLOPT_SSLCERT, options->cert_file);
    if (options->key_file)
        SET (easy, CURLOPT_SSLKEY, options->key_file);
    if (!url->user)
        return;
    SET (easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    SET (easy, CURLOPT_USERNAME, url->user);
    SET (easy, CURLOPT_PASSWORD, url->password);
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

void
zpeer_transfer_open (zpeer_transfer_t *self, const zpeer_url_t *url,
                     const zpeer_http_options_t *options, zpeer_ages_t *ages)
{
    *self = (zpeer_transfer_t){
        .easy = curl_easy_init (),
        .ages = ages,
        .base_size = strlen (url->base),
        .reply_max_bytes = options->reply_max_bytes,
        .read_timeout_ms = options->read_timeout_ms,
        .deadline_ms = options->deadline_ms,
    };
    assert (self->easy);
    for (unsigned i = 0; i < 4; i++)
        self->headers[i / 2][i % 2] =
            s_headers (i / 2, i % 2, options->identity);
    zpeer_buffer_slice (&self->url, zpeer_slice_str (url->base));
    s_set_callbacks (self);
    s_set_protocol (self->easy, options);
    s_set_trust (self->easy, url, options);
}

void
zpeer_transfer_close (zpeer_transfer_t *self)
{
    curl_easy_cleanup (self->easy);
    for (unsigned i = 0; i < 4; i++)
        curl_slist_free_all (self->headers[i / 2][i % 2]);
    zpeer_buffer_free (&self->url);
    zpeer_buffer_free (&self->reply);
}

//  Whether the last request was like this one, its body aside
static bool
s_is_alike (const zpeer_transfer_t *self, const zpeer_http_request_t *request)
{
    if (self->url.size != self->base_size + request->path.size + 1)
        return false;
    zpeer_slice_t path = {self->url.data + self->base_size, request->path.size};
    return zpeer_slice_eq (path, request->path) &&
           zpeer_slice_eq (zpeer_slice_str (self->method), request->method) &&
           self->has_body == (request->body.size > 0) &&
           self->replication == request->replication;
}

static void
s_set_request (zpeer_transfer_t *self, const zpeer_http_request_t *request)
{
    zpeer_slice_t method = request->method;
    assert (method.size && method.size < sizeof self->method);
    memcpy (self->method, method.data, method.size);
    self->method[method.size] = 0;
    self->has_body = request->body.size > 0;
    self->replication = request->replication;
    self->url.size = self->base_size;
    zpeer_buffer_slice (&self->url, request->path);
    zpeer_buffer_add (&self->url, "", 1);
    SET (self->easy, CURLOPT_URL, self->url.data);
    //  A PUT without a body says so (Content-Length: 0), a DELETE does not
    if (method.data[0] == 'P' || self->has_body)
        SET (self->easy, CURLOPT_POSTFIELDS, "");
    else
        SET (self->easy, CURLOPT_HTTPGET, 1L);
    SET (self->easy, CURLOPT_CUSTOMREQUEST, self->method);
    SET (self->easy, CURLOPT_HTTPHEADER,
         self->headers[self->has_body][self->replication]);
}

//  Begins a try to send what is set; fresh: on a new connection
static void
s_begin (zpeer_transfer_t *self, uint64_t now, bool fresh)
{
    if (self->fresh != fresh) {
        SET (self->easy, CURLOPT_FRESH_CONNECT, (long) fresh);
        SET (self->easy, CURLOPT_DNS_CACHE_TIMEOUT, fresh ? 0L : NAMES_S);
    }
    self->fresh = fresh;
    s_set_last (self, false);
    self->now = now;
    self->moved_bytes = 0;
    self->header_bytes = 0;
    self->sent = false;
    self->detail[0] = 0;
}

void
zpeer_transfer_start (zpeer_transfer_t *self,
                      const zpeer_http_request_t *request, uint64_t now,
                      bool fresh)
{
    if (!s_is_alike (self, request))
        s_set_request (self, request);
    if (request->body.size)
        SET (self->easy, CURLOPT_POSTFIELDS, request->body.data);
    SET (self->easy, CURLOPT_POSTFIELDSIZE_LARGE,
         (curl_off_t) request->body.size);
    self->token = request->token;
    self->started_at = now;
    self->repeated = false;
    self->renewal[0] = 0;
    self->renews = !fresh && zpeer_ages_due (self->ages, now);
    s_begin (self, now, fresh || self->renews);
}

uint64_t
zpeer_transfer_wake (const zpeer_transfer_t *self)
{
    uint64_t deadline_at = self->started_at + self->deadline_ms;
    uint64_t silent_at = self->moved_at + self->read_timeout_ms;
    //  Until there is a connection, curl watches over it
    return self->sent && silent_at < deadline_at ? silent_at : deadline_at;
}

//  All that moved so far, both ways. Of a body this is what went over the wire:
//  a compressed one may move for long and yield nothing. A header line moves
//  when it is complete.
static uint64_t
s_moved_bytes (const zpeer_transfer_t *self)
{
    curl_off_t sent = 0;
    curl_off_t received = 0;
    curl_easy_getinfo (self->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo (self->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return (uint64_t) sent + (uint64_t) received + self->header_bytes;
}

bool
zpeer_transfer_check (zpeer_transfer_t *self, uint64_t now)
{
    uint64_t moved_bytes = s_moved_bytes (self);
    if (moved_bytes != self->moved_bytes) {
        self->moved_bytes = moved_bytes;
        self->moved_at = now;
    }
    if (now < zpeer_transfer_wake (self))
        return false;
    bool late = now - self->started_at >= self->deadline_ms;
    snprintf (self->detail, sizeof self->detail, "%s %u ms",
              late ? "not done in" : "nothing moved for",
              late ? self->deadline_ms : self->read_timeout_ms);
    s_finish (self, now,
              self->sent || self->repeated ? ZPEER_END_READ_TIMEOUT
                                           : ZPEER_END_UNSENT);
    return true;
}

//  Says what a curl error is about, where curl does not or speaks of itself
static void
s_explain (zpeer_transfer_t *self, CURLcode code)
{
    const char *text = self->detail[0] ? NULL : curl_easy_strerror (code);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        text = "the connection was lost before an answer came";
    else if (code == CURLE_OUT_OF_MEMORY && self->sent)
        text = "a header line of the answer is too long";
    if (code == CURLE_WRITE_ERROR)
        snprintf (self->detail, sizeof self->detail,
                  "the answer is larger than %zu bytes",
                  self->header_bytes > HEADERS_MAX ? (size_t) HEADERS_MAX
                                                   : self->reply_max_bytes);
    else if (text)
        snprintf (self->detail, sizeof self->detail, "%s", text);
}

//  Nothing was sent: the old connections are still there
static void
s_renewal_failed (zpeer_transfer_t *self, CURLcode code, uint64_t now)
{
    s_explain (self, code);
    snprintf (self->renewal, sizeof self->renewal, "%s", self->detail);
    zpeer_ages_failed (self->ages, now);
    self->renews = false;
    s_begin (self, now, false);
}

bool
zpeer_transfer_done (zpeer_transfer_t *self, CURLcode code, uint64_t now)
{
    if (code != CURLE_OK && self->renews && !self->sent) {
        s_renewal_failed (self, code, now);
        return false;
    }
    //  curl sends nothing again that was lost while it went out, or that it would
    //  send on another kept connection
    if (s_class (code) == CLASS_NETWORK && s_may_repeat (self, now)) {
        self->repeated = true;
        s_begin (self, now, true);
        return false;
    }
    if (code != CURLE_OK)
        s_explain (self, code);
    s_finish (self, now, s_curl_end (self, code));
    return true;
}

void
zpeer_transfer_abort (zpeer_transfer_t *self, uint64_t now)
{
    snprintf (self->detail, sizeof self->detail, "aborted");
    s_finish (self, now, ZPEER_END_TAKEN_BACK);
}

//  Of several headers the first counts, whatever it says. Not what curl makes
//  of it (CURLINFO_RETRY_AFTER): it takes "5s" for 5 s.
static uint32_t
s_retry_after_ms (const zpeer_transfer_t *self)
{
    if (!self->status)
        return 0;
    struct curl_header *header = NULL;
    CURLHcode rc = curl_easy_header (self->easy, "Retry-After", 0, CURLH_HEADER,
                                     -1, &header);
    return rc == CURLHE_OK ? zpeer_retry_after_ms (header->value, time (NULL))
                           : 0;
}

void
zpeer_transfer_result (const zpeer_transfer_t *self,
                       zpeer_http_result_t *result)
{
    *result = (zpeer_http_result_t){
        .token = self->token,
        .end = self->end,
        .status = self->status,
        .repeated = self->repeated,
        .elapsed_ms = self->elapsed_ms,
        .retry_after_ms = s_retry_after_ms (self),
        .body = {self->reply.data, self->reply.size},
        .detail = self->detail,
        .renewal = self->end == ZPEER_END_STATUS ? self->renewal : "",
    };
}

void
zpeer_transfer_reset (zpeer_transfer_t *self)
{
    zpeer_buffer_reset (&self->reply);
    if (self->reply.capacity > REPLY_KEPT)
        zpeer_buffer_free (&self->reply);
}
