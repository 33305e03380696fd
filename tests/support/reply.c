#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "http.h"
#include "reply.h"
#include "banned.h"

#define GZIP_WINDOW (15 + 16)  //  zlib: the largest window, gzip's framing
#define EXTRA_BYTES 16         //  SPEER_LONG promises so much more
#define CHUNK_BYTES 4096       //  Of a chunked body

static const speer_rule_t s_no_rule = {.answer = SPEER_PROPER};

void
speer_reply_free (speer_reply_t *self)
{
    free (self->body);
    *self = (speer_reply_t){0};
}

void
speer_reply_set (speer_reply_t *self, int status, const char *type, char *body)
{
    free (self->body);
    self->status = status;
    self->type = type;
    self->body = body;
    self->size = body ? strlen (body) : 0;
}

//  Blanks behind the body, which JSON allows
static void
s_fill (speer_reply_t *self, size_t size)
{
    if (self->size >= size)
        return;
    self->body = (char *) realloc (self->body, size);
    assert (self->body);
    memset (self->body + self->size, ' ', size - self->size);
    self->size = size;
}

static void
s_gzip (speer_reply_t *self)
{
    z_stream stream = {.next_in = (Bytef *) self->body,
                       .avail_in = (uInt) self->size};
    int rc = deflateInit2 (&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                           GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);
    assert (rc == Z_OK);
    size_t room = deflateBound (&stream, self->size);
    char *packed = (char *) malloc (room);
    assert (packed);
    stream.next_out = (Bytef *) packed;
    stream.avail_out = (uInt) room;
    rc = deflate (&stream, Z_FINISH);
    assert (rc == Z_STREAM_END);
    free (self->body);
    self->body = packed;
    self->size = stream.total_out;
    deflateEnd (&stream);
}

char *
speer_gunzip (const char *data, size_t size, size_t max, size_t *out)
{
    z_stream stream = {.next_in = (Bytef *) data, .avail_in = (uInt) size};
    char *plain = (char *) malloc (max + 1);
    assert (plain);
    stream.next_out = (Bytef *) plain;
    stream.avail_out = (uInt) max;
    bool whole = inflateInit2 (&stream, GZIP_WINDOW) == Z_OK &&
                 inflate (&stream, Z_FINISH) == Z_STREAM_END;
    *out = stream.total_out;
    inflateEnd (&stream);
    if (!whole) {
        free (plain);
        return NULL;
    }
    plain[*out] = 0;
    return plain;
}

static void
s_spoil (speer_reply_t *self, const speer_rule_t *rule)
{
    if (rule->status && !rule->body)
        speer_reply_set (self, rule->status, NULL, NULL);
    else if (rule->status)
        self->status = rule->status;
    if (rule->body)
        speer_reply_set (self, self->status, SPEER_JSON, strdup (rule->body));
    if (rule->answer == SPEER_GARBAGE)
        speer_reply_set (self, self->status, SPEER_JSON,
                         strdup ("<html>{\"responseList\":[}"));
    if (rule->body_bytes > 0)
        s_fill (self, (size_t) rule->body_bytes);
    if (rule->gzip)
        s_gzip (self);
}

static void
s_write_length (const speer_reply_t *self, const speer_rule_t *rule, FILE *out)
{
    size_t length = self->size;
    if (rule->answer == SPEER_LONG)
        length += EXTRA_BYTES;
    else if (rule->answer == SPEER_SHORT)
        length /= 2;
    if (rule->chunked)
        fputs ("Transfer-Encoding: chunked\r\n", out);
    else if (self->status != 204)
        fprintf (out, "Content-Length: %zu\r\n", length);
}

static void
s_write_body (const speer_reply_t *self, bool chunked, FILE *out)
{
    size_t step = chunked ? CHUNK_BYTES : self->size;
    for (size_t at = 0; at < self->size; at += step) {
        size_t size = self->size - at < step ? self->size - at : step;
        if (chunked)
            fprintf (out, "%zx\r\n", size);
        fwrite (self->body + at, 1, size, out);
        if (chunked)
            fputs ("\r\n", out);
    }
    if (chunked)
        fputs ("0\r\n\r\n", out);
}

//  Head and body. Returns the bytes of the head.
static size_t
s_write (const speer_reply_t *self, const speer_rule_t *rule, bool close,
         FILE *out)
{
    fprintf (out, "HTTP/1.1 %d %s\r\n", self->status,
             speer_http_reason (self->status));
    if (self->type)
        fprintf (out, "Content-Type: %s\r\n", self->type);
    if (rule->gzip)
        fputs ("Content-Encoding: gzip\r\n", out);
    if (rule->headers)
        fputs (rule->headers, out);
    if (close)
        fputs ("Connection: close\r\n", out);
    s_write_length (self, rule, out);
    fputs ("\r\n", out);
    size_t head_size = (size_t) ftell (out);
    s_write_body (self, rule->chunked, out);
    return head_size;
}

//  How much of the bytes goes out, and what then
static void
s_cut (speer_output_t *self, speer_answer_t answer)
{
    static const struct {
        bool nothing;
        bool half;
        bool faulty;
        speer_then_t then;
    } cuts[SPEER_ANSWERS_MAX] = {
        [SPEER_HANG] = {true, false, true, SPEER_THEN_HANG},
        [SPEER_HANG_HALF] = {false, true, true, SPEER_THEN_HANG},
        [SPEER_CLOSE] = {true, false, true, SPEER_THEN_CLOSE},
        [SPEER_CLOSE_HALF] = {false, true, true, SPEER_THEN_CLOSE},
        [SPEER_RESET] = {true, false, true, SPEER_THEN_RESET},
        [SPEER_RESET_HALF] = {false, true, true, SPEER_THEN_RESET},
        [SPEER_NOT_HTTP] = {false, false, true, SPEER_THEN_CLOSE},
        [SPEER_LONG] = {false, false, true, SPEER_THEN_HANG},
        [SPEER_SHORT] = {false, false, true, SPEER_THEN_CLOSE},
    };
    if (cuts[answer].nothing)
        self->size = 0;
    if (cuts[answer].half)
        self->size -= (self->size - self->head_size + 1) / 2;
    if (cuts[answer].faulty)
        self->then = cuts[answer].then;
    self->whole = !cuts[answer].faulty;
}

speer_output_t
speer_reply_write (speer_reply_t *self, const speer_rule_t *rule,
                   bool keep_alive)
{
    speer_output_t output = {0};
    rule = rule ? rule : &s_no_rule;
    bool close = rule->close || !keep_alive;
    FILE *out = open_memstream (&output.data, &output.size);
    assert (out);
    s_spoil (self, rule);
    if (rule->answer == SPEER_NOT_HTTP)
        fputs ("\x16\x03\x01 this is no HTTP\r\n\r\n", out);
    else
        output.head_size = s_write (self, rule, close, out);
    fclose (out);
    output.then = close ? SPEER_THEN_CLOSE : SPEER_THEN_KEEP;
    output.status = self->status;
    s_cut (&output, rule->answer);
    speer_reply_free (self);
    return output;
}
