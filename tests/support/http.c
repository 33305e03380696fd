#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "http.h"
#include "banned.h"

static const struct {
    int status;
    const char *reason;
} s_reasons[] = {
    {200, "OK"},
    {204, "No Content"},
    {307, "Temporary Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
};

const char *
speer_http_reason (int status)
{
    for (size_t i = 0; i < sizeof s_reasons / sizeof *s_reasons; i++)
        if (s_reasons[i].status == status)
            return s_reasons[i].reason;
    return "Scripted";
}

const char *
speer_http_header (const speer_http_t *self, const char *name, size_t *size)
{
    size_t name_size = strlen (name);
    const char *end = self->head + self->head_size;
    const char *line = self->head;
    while ((line = (const char *) memchr (line, '\n', (size_t) (end - line)))) {
        line++;
        if ((size_t) (end - line) <= name_size || line[name_size] != ':' ||
            strncasecmp (line, name, name_size) != 0)
            continue;
        const char *value = line + name_size + 1;
        const char *stop =
            (const char *) memchr (value, '\n', (size_t) (end - value));
        while (value < stop && isspace ((unsigned char) *value))
            value++;
        while (value < stop && isspace ((unsigned char) stop[-1]))
            stop--;
        *size = (size_t) (stop - value);
        return value;
    }
    return NULL;
}

bool
speer_http_header_has (const speer_http_t *self, const char *name,
                       const char *text)
{
    size_t size = 0;
    const char *value = speer_http_header (self, name, &size);
    size_t text_size = strlen (text);
    for (size_t i = 0; value && i + text_size <= size; i++)
        if (!strncasecmp (value + i, text, text_size))
            return true;
    return false;
}

//  Method, target and version of the first line
static bool
s_request_line (speer_http_t *self)
{
    const char *end = (const char *) memchr (self->head, '\r', self->head_size);
    const char *blank =
        (const char *) memchr (self->head, ' ', (size_t) (end - self->head));
    if (!blank || blank == self->head)
        return false;
    self->method = self->head;
    self->method_size = (size_t) (blank - self->head);
    self->target = blank + 1;
    blank = (const char *) memchr (self->target, ' ',
                                   (size_t) (end - self->target));
    if (!blank || *self->target != '/' ||
        (end - blank != sizeof " HTTP/1.x" - 1) ||
        memcmp (blank, " HTTP/1.", sizeof " HTTP/1." - 1) != 0)
        return false;
    self->target_size = (size_t) (blank - self->target);
    self->keep_alive =
        end[-1] == '1'
            ? !speer_http_header_has (self, "Connection", "close")
            : speer_http_header_has (self, "Connection", "keep-alive");
    return true;
}

//  The number at text, in base, that ends at a byte which is no digit of it
static bool
s_number (const char *text, const char *end, int base, size_t *number)
{
    *number = 0;
    const char *at = text;
    for (; at < end && isxdigit ((unsigned char) *at); at++) {
        int digit = isdigit ((unsigned char) *at)
                        ? *at - '0'
                        : tolower ((unsigned char) *at) - 'a' + 10;
        if (digit >= base || *number > SPEER_REQUEST_MAX)
            return false;
        *number = *number * (size_t) base + (size_t) digit;
    }
    return at > text && *number <= SPEER_REQUEST_MAX;
}

//  Walks the chunks of a body; with join it moves them together. Returns the
//  size of the body as sent, 0 if it is not complete, SPEER_BAD_REQUEST.
static size_t
s_chunks (char *body, size_t size, bool join, size_t *joined)
{
    char *at = body;
    char *end = body + size;
    *joined = 0;
    for (;;) {
        char *line = (char *) memmem (at, (size_t) (end - at), "\r\n", 2);
        size_t chunk;
        if (!line)
            return 0;
        if (!s_number (at, line, 16, &chunk))
            return SPEER_BAD_REQUEST;
        at = line + 2;
        if ((size_t) (end - at) < chunk + 2)
            return 0;
        if (memcmp (at + chunk, "\r\n", 2) != 0)
            return SPEER_BAD_REQUEST;
        if (join)
            memmove (body + *joined, at, chunk);
        *joined += chunk;
        at += chunk + 2;
        if (!chunk)
            return (size_t) (at - body);
    }
}

//  Finds the end of the body. As speer_http_parse.
static size_t
s_body (speer_http_t *self, size_t size, size_t *need)
{
    size_t value_size = 0;
    size_t body_size = 0;
    if (speer_http_header_has (self, "Transfer-Encoding", "chunked")) {
        size_t held = size - self->head_size;
        size_t sent = s_chunks (self->body, held, false, &body_size);
        if (sent == 0 || sent == SPEER_BAD_REQUEST) {
            *need = size + 1;
            return sent;
        }
        s_chunks (self->body, held, true, &self->body_size);
        return self->head_size + sent;
    }
    const char *value = speer_http_header (self, "Content-Length", &value_size);
    if (value && !s_number (value, value + value_size, 10, &body_size))
        return SPEER_BAD_REQUEST;
    self->body_size = body_size;
    *need = self->head_size + body_size;
    return size < *need ? 0 : *need;
}

size_t
speer_http_parse (speer_http_t *self, char *data, size_t size, size_t *need)
{
    *self = (speer_http_t){.head = data};
    char *end = (char *) memmem (
        data, size < SPEER_HEAD_MAX ? size : SPEER_HEAD_MAX, "\r\n\r\n", 4);
    *need = size + 1;
    if (!end)
        return size < SPEER_HEAD_MAX ? 0 : SPEER_BAD_REQUEST;
    self->head_size = (size_t) (end + 4 - data);
    self->body = data + self->head_size;
    if (!s_request_line (self))
        return SPEER_BAD_REQUEST;
    self->expects = speer_http_header_has (self, "Expect", "100-continue");
    return s_body (self, size, need);
}

char *
speer_http_decode (const char *text, size_t size, bool plus)
{
    char *decoded = (char *) malloc (size + 1);
    assert (decoded);
    char *to = decoded;
    for (size_t i = 0; i < size; i++) {
        size_t byte;
        if (text[i] == '%' && i + 2 < size &&
            isxdigit ((unsigned char) text[i + 2]) &&
            s_number (text + i + 1, text + i + 3, 16, &byte)) {
            *to++ = (char) byte;
            i += 2;
        }
        else if (plus && text[i] == '+')
            *to++ = ' ';
        else
            *to++ = text[i];
    }
    *to = 0;
    return decoded;
}

char *
speer_http_query (const speer_http_t *self, const char *name)
{
    size_t name_size = strlen (name);
    const char *end = self->target + self->target_size;
    const char *at =
        (const char *) memchr (self->target, '?', self->target_size);
    while (at && ++at < end) {
        const char *stop = (const char *) memchr (at, '&', (size_t) (end - at));
        const char *last = stop ? stop : end;
        if ((size_t) (last - at) > name_size && at[name_size] == '=' &&
            !memcmp (at, name, name_size))
            return speer_http_decode (
                at + name_size + 1, (size_t) (last - at) - name_size - 1, true);
        at = stop;
    }
    return NULL;
}
