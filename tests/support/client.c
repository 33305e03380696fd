#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "client.h"
#include "banned.h"

#define READ_BYTES  65536
#define STATUS_LINE "HTTP/1.1 "
#define LIMIT_MS    5000  //  For speer_call, which expects a whole answer

int
speer_client_connect (int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons ((uint16_t) port),
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        connect (fd, (struct sockaddr *) &address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close (fd);
    return -1;
}

static bool
s_has (const char *headers, const char *name)
{
    return headers && strcasestr (headers, name);
}

void
speer_client_send (int fd, const char *method, const char *path,
                   const char *headers, const char *body)
{
    char *text = NULL;
    int size = asprintf (
        &text,
        "%s %s HTTP/1.1\r\nHost: peer\r\n%s%s%sContent-Length: %zu\r\n"
        "\r\n%s",
        method, path, headers ? headers : "",
        s_has (headers, "Accept:") ? "" : "Accept: application/json\r\n",
        s_has (headers, "Content-Type:") || !body
            ? ""
            : "Content-Type: application/json\r\n",
        body ? strlen (body) : 0, body ? body : "");
    assert (size > 0);
    for (ssize_t sent = 0, now = 0; sent < size; sent += now)
        if ((now = send (fd, text + sent, (size_t) (size - sent),
                         MSG_NOSIGNAL)) < 0)
            break;
    free (text);
}

//  Reads status, length and body out of what came. True if that is whole.
static bool
s_understand (speer_response_t *self, size_t size)
{
    char *end = strstr (self->text, "\r\n\r\n");
    self->body = self->text + size;
    if (strncmp (self->text, STATUS_LINE, sizeof STATUS_LINE - 1) != 0 || !end)
        return false;
    self->status = (int) strtol (self->text + sizeof STATUS_LINE - 1, NULL, 10);
    char *length = strcasestr (self->text, "\r\nContent-Length:");
    self->body = end + 4;
    self->body_bytes = size - (size_t) (self->body - self->text);
    self->length =
        length ? strtoul (length + sizeof "\r\nContent-Length:" - 1, NULL, 10)
               : 0;
    return (length || self->status == 204) && self->body_bytes >= self->length;
}

//  Returns false when nothing more comes, and says why
static bool
s_read (int fd, int limit_ms, speer_response_t *self, size_t *size)
{
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    self->text = (char *) realloc (self->text, *size + READ_BYTES + 1);
    assert (self->text);
    self->text[*size] = 0;
    self->end = SPEER_END_LIMIT;
    if (poll (&waits, 1, limit_ms) <= 0)
        return false;
    ssize_t got = recv (fd, self->text + *size, READ_BYTES, 0);
    self->end = got < 0 ? SPEER_END_RESET : SPEER_END_CLOSED;
    if (got > 0)
        *size += (size_t) got;
    self->text[*size] = 0;
    return got > 0;
}

void
speer_client_read (int fd, int limit_ms, speer_response_t *response)
{
    size_t size = 0;
    *response = (speer_response_t){0};
    while (s_read (fd, limit_ms, response, &size))
        if (s_understand (response, size)) {
            response->end = SPEER_END_WHOLE;
            return;
        }
    s_understand (response, size);
}

int
speer_call (int port, const char *method, const char *path, const char *headers,
            const char *body, speer_response_t *response)
{
    int fd = speer_client_connect (port);
    *response = (speer_response_t){.end = SPEER_END_REFUSED};
    if (fd < 0)
        return 0;
    speer_client_send (fd, method, path, headers, body);
    speer_client_read (fd, LIMIT_MS, response);
    close (fd);
    return response->status;
}

void
speer_response_free (speer_response_t *self)
{
    free (self->text);
    *self = (speer_response_t){0};
}
