/*  scripted_case.h - what the tests of the scripted peer begin with

    A peer per test, and calls to it. Texts are written with ' for ".
*/
#ifndef SCRIPTED_CASE_H_INCLUDED
#define SCRIPTED_CASE_H_INCLUDED

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client.h"
#include "scripted_peer.h"

#define BATCH    "/eureka/peerreplication/batch/"
#define LIMIT_MS 5000
#define QUIET_MS 50  //  Long enough to see that nothing comes
#define MARKED   "x-netflix-discovery-replication: true\r\n"

#define CENTER                                                                 \
    "'dataCenterInfo':{'@class':'com.netflix.appinfo.MyDataCenterInfo',"       \
    "'name':'MyOwn'}"

//  An instanceInfo of A/a1 with whatever members more
#define INFO(more)                                                             \
    "{'instanceId':'a1','hostName':'h','app':'A','ipAddr':'192.0.2.1'," CENTER \
    "," more "}"

//  Items of A/a1
#define ITEM(action, more)                                                     \
    "{'appName':'A','id':'a1'," more "'action':'" action "'}"
#define REGISTER(more)  ITEM ("Register", "'instanceInfo':" INFO (more) ",")
#define REGISTER_AT(ts) REGISTER ("'lastDirtyTimestamp':'" ts "'")
#define HEARTBEAT(ts)   ITEM ("Heartbeat", "'lastDirtyTimestamp':" ts ",")
#define CANCEL          ITEM ("Cancel", "")
#define STATUS(status, ts)                                                     \
    ITEM ("StatusUpdate", "'status':'" status "','lastDirtyTimestamp':" ts ",")
#define DELETE(more)                                                           \
    ITEM ("DeleteStatusOverride", "'lastDirtyTimestamp':6," more)

static speer_t *s_peer;
static speer_response_t s_response;

static inline void
s_setup (void)
{
    s_peer = speer_new (0, 0);
    cr_assert (s_peer);
}

static inline void
s_teardown (void)
{
    speer_response_free (&s_response);
    speer_destroy (&s_peer);
}

//  A copy with " for ', the caller's to free
static inline char *
s_quoted (const char *text)
{
    char *copy = strdup (text);
    cr_assert (copy);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

//  Any call; its answer is in s_response. Returns the status.
static inline int
s_call (const char *method, const char *path, const char *headers,
        const char *body)
{
    char *quoted = body ? s_quoted (body) : NULL;
    speer_response_free (&s_response);
    int status = speer_call (speer_port (s_peer), method, path, headers, quoted,
                             &s_response);
    free (quoted);
    return status;
}

//  Wraps items, separated by commas; the caller's to free
static inline char *
s_list (const char *items)
{
    size_t size = strlen (items) + sizeof "{'replicationList':[]}";
    char *body = (char *) malloc (size);
    cr_assert (body);
    snprintf (body, size, "{'replicationList':[%s]}", items);
    return body;
}

//  Sends a batch on a connection
static inline void
s_send (int fd, const char *items)
{
    char *body = s_list (items);
    char *quoted = s_quoted (body);
    speer_client_send (fd, "POST", BATCH, NULL, quoted);
    free (quoted);
    free (body);
}

//  A batch of these items, separated by commas. Returns the HTTP status.
static inline int
s_post (const char *items)
{
    char *body = s_list (items);
    int status = s_call ("POST", BATCH, NULL, body);
    free (body);
    return status;
}

//  The statusCode of the n-th item of the last answer, from 0; 0: no such item
static inline int
s_code (size_t n)
{
    json_t *answer = json_loads (s_response.body, 0, NULL);
    int code = (int) json_integer_value (json_object_get (
        json_array_get (json_object_get (answer, "responseList"), n),
        "statusCode"));
    json_decref (answer);
    return code;
}

//  Posts one item and returns its statusCode
static inline int
s_item (const char *item)
{
    cr_assert_eq (s_post (item), 200);
    return s_code (0);
}

//  The lease of A/a1, which must be there
static inline speer_lease_t
s_lease (void)
{
    speer_lease_t lease;
    cr_assert (speer_lease (s_peer, "A", "a1", &lease));
    return lease;
}

#endif
