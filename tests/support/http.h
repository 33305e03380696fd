/*  http.h - requests out of bytes

    As much of HTTP/1.1 as clients of a registry use: Content-Length and chunked
    bodies, keep-alive, percent-encoding. Pure: no socket, no clock.
*/
#ifndef SPEER_HTTP_H_INCLUDED
#define SPEER_HTTP_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#define SPEER_HEAD_MAX    65536        //  Bytes of request line and headers
#define SPEER_REQUEST_MAX (64u << 20)  //  Bytes of a whole request
#define SPEER_BAD_REQUEST ((size_t) -1)

//  Points into the bytes it was read from
typedef struct {
    const char *head;  //  Request line and headers, with the empty line
    size_t head_size;
    const char *method;
    size_t method_size;
    const char *target;  //  Path and query as sent
    size_t target_size;
    char *body;  //  Without chunks
    size_t body_size;
    bool keep_alive;
    bool expects;  //  Expect: 100-continue
} speer_http_t;

//  Reads one request. Returns its size in bytes; SPEER_BAD_REQUEST if it is none;
//  0 if more is needed, then *need is the least size worth trying again, and
//  self->expects is set if the head is complete and wants to be continued.
//  Chunks are joined in place, once the request is complete.
size_t
speer_http_parse (speer_http_t *self, char *data, size_t size, size_t *need);

//  The value of a header, blanks trimmed; NULL if absent
const char *
speer_http_header (const speer_http_t *self, const char *name, size_t *size);

//  The header's value contains text, in any case
bool speer_http_header_has (const speer_http_t *self, const char *name,
                            const char *text);

//  Decodes percent-encoding (and with plus also '+') into a new string
char *speer_http_decode (const char *text, size_t size, bool plus);

//  The decoded value of a query parameter of target, NULL if absent
char *speer_http_query (const speer_http_t *self, const char *name);

const char *speer_http_reason (int status);

#endif
