/*  transfer.h - one curl handle, and the request it runs

    A transfer runs one request after the other. It sets up the handle, watches
    over its time and says how each request ended; who adds the handle to a
    multi handle and takes it off again is http.c.

    Threads, units: as http.h.
*/
#ifndef ZPEER_TRANSFER_H_INCLUDED
#define ZPEER_TRANSFER_H_INCLUDED

#include <curl/curl.h>
#include "ages.h"
#include "buffer.h"
#include "http.h"

//  Longest method, with NUL
#define ZPEER_METHOD_MAX 8

typedef struct {
    CURL *easy;                        //  Owned; its private data is this
    struct curl_slist *headers[2][2];  //  Owned; [with a body][replication]
    zpeer_ages_t *ages;                //  Borrowed; of the connections
    size_t base_size;                  //  Of the base URL, in front of url
    size_t reply_max_bytes;
    uint32_t read_timeout_ms;
    uint32_t deadline_ms;

    //  The last request, as it is set in easy: what stays the same from one to
    //  the next is not set again
    zpeer_buffer_t url;  //  Owned; NUL-terminated
    char method[ZPEER_METHOD_MAX];
    bool has_body;
    bool replication;
    bool fresh;  //  Not on a kept connection
    bool last;   //  Its connection is closed when it has been answered

    //  How far it is
    void *token;           //  The caller's
    uint64_t now;          //  For curl's callbacks
    uint64_t started_at;   //
    uint64_t sent_at;      //  When it began to go out
    uint64_t moved_at;     //  When bytes moved last
    uint64_t moved_bytes;  //  How many had, then
    size_t header_bytes;   //  Of the answer
    bool sent;             //  A connection was there to send it on
    bool kept;             //  That connection had served another request
    bool renews;           //  It is to go out on a new one, for its age
    bool repeated;         //  It goes out for the second time
    zpeer_buffer_t reply;  //  Owned

    //  How it ended
    zpeer_end_t end;
    uint16_t status;
    uint32_t elapsed_ms;
    char detail[CURL_ERROR_SIZE];
    char renewal[CURL_ERROR_SIZE];
} zpeer_transfer_t;

void
zpeer_transfer_open (zpeer_transfer_t *self, const zpeer_url_t *url,
                     const zpeer_http_options_t *options, zpeer_ages_t *ages);

//  The handle must be in no multi handle any more
void zpeer_transfer_close (zpeer_transfer_t *self);

//  Makes the handle ready to be added to a multi handle; fresh: for a new
//  connection
void zpeer_transfer_start (zpeer_transfer_t *self,
                           const zpeer_http_request_t *request, uint64_t now,
                           bool fresh);

//  Looks whether anything moved. True: its time is over, and it has ended.
bool zpeer_transfer_check (zpeer_transfer_t *self, uint64_t now);

//  When zpeer_transfer_check would say so, if nothing moved until then
uint64_t zpeer_transfer_wake (const zpeer_transfer_t *self);

//  Curl is done with it. Returns whether it has ended; if not, it is ready to be
//  added to a multi handle once more.
bool zpeer_transfer_done (zpeer_transfer_t *self, CURLcode code, uint64_t now);

void zpeer_transfer_abort (zpeer_transfer_t *self, uint64_t now);

//  How it ended; the result borrows from the transfer
void zpeer_transfer_result (const zpeer_transfer_t *self,
                            zpeer_http_result_t *result);

//  Lets go of the reply
void zpeer_transfer_reset (zpeer_transfer_t *self);

#endif
