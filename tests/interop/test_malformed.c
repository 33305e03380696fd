//  Items that break a whole batch: what real servers make of each, and that none
//  passes the acceptor

#include <criterion/criterion.h>
#include <criterion/options.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "figures.h"
#include "malformed.h"
#include "pair.h"
#include "banned.h"

//  Events that are good; also the most rejections a reply lists
#define GOOD 100

//  Events in a request
#define EVENTS_MAX 400

#define REGISTER                                                               \
    "{\"appName\":\"%s\",\"id\":\"%s\",\"action\":\"Register\","               \
    "\"instanceInfo\":{\"instanceId\":\"%s\",\"hostName\":\"h\","              \
    "\"app\":\"%s\",\"ipAddr\":\"192.0.2.1\",\"dataCenterInfo\":{\"@class\":"  \
    "\"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo\",\"name\":"     \
    "\"MyOwn\"},\"lastDirtyTimestamp\":\"1000\"}}"

static pair_t s_pair;
static malformed_t *s_table;
static size_t s_count;
static char s_app[32];

static void
s_start (void)
{
    snprintf (s_app, sizeof s_app, "BAD%d", getpid ());
    s_table = malformed_load (s_app, &s_count);
}

static void
s_stop (void)
{
    malformed_free (&s_table, s_count);
    pair_close (&s_pair);
}

TestSuite (malformed, .init = s_start, .fini = s_stop, .timeout = 120);

//  One test at a time: some items make the registry unreadable until they are
//  cancelled
__attribute__ ((constructor)) static void
s_configure (void)
{
    criterion_options.jobs = 1;
}

//  ---- What servers do

static void
s_put_good (zpeer_buffer_t *out, const char *id)
{
    char *item = NULL;
    int size = asprintf (&item, REGISTER, s_app, id, id, s_app);
    cr_assert (size > 0);
    zpeer_buffer_add (out, item, (size_t) size);
    free (item);
}

//  Posts a batch: so many good items, and this one before the last of them
static int
s_post (remote_t *remote, unsigned good, const malformed_t *bad,
        json_t **answer)
{
    zpeer_buffer_t body = {0};
    zpeer_buffer_lit (&body, "{\"replicationList\":[");
    for (unsigned i = 0; i < good; i++) {
        char id[16];
        snprintf (id, sizeof id, "good-%u", i);
        if (i + 1 == good) {
            zpeer_buffer_add (&body, bad->item, bad->item_size);
            zpeer_buffer_lit (&body, ",");
        }
        s_put_good (&body, id);
        zpeer_buffer_slice (&body, i + 1 < good ? ZPEER_SLICE (",")
                                                : ZPEER_SLICE ("]}"));
    }
    int status = remote_call (remote, "POST", "peerreplication/batch/", NULL,
                              body.data, body.size, answer);
    zpeer_buffer_free (&body);
    return status;
}

//  What the server has of it after a 200
static const char *
s_kept (remote_t *remote, const malformed_t *bad)
{
    char path[256];
    snprintf (path, sizeof path, "apps/%s/%s", s_app, bad->id);
    int status = remote_call (remote, "GET", path, NULL, NULL, 0, NULL);
    return status == 200 ? "stored" : status == 404 ? "lost" : "unreadable";
}

//  What the server does with one class, in the words of malformed.txt
static void
s_act (remote_t *remote, const malformed_t *bad, char *text, size_t size)
{
    json_t *answer = NULL;
    int status = s_post (remote, 2, bad, &answer);
    json_t *list = json_object_get (answer, "responseList");
    size_t count = json_array_size (list);
    json_int_t code = json_integer_value (
        json_object_get (json_array_get (list, 1), "statusCode"));
    if (status != 200)
        snprintf (text, size, "%d", status);
    else if (count != 3)
        snprintf (text, size, "%zu answers", count);
    else if (code != 200)
        snprintf (text, size, "item %d", (int) code);
    else
        snprintf (text, size, "%s", s_kept (remote, bad));
    json_decref (answer);
}

//  Takes the instance away again: some of them harm the whole registry
static void
s_cancel (remote_t *remote, const malformed_t *bad)
{
    char *body = NULL;
    cr_assert (asprintf (&body,
                         "{\"replicationList\":[{\"appName\":\"%s\",\"id\":"
                         "\"%s\",\"action\":\"Cancel\"}]}",
                         s_app, bad->id) > 0);
    cr_assert_eq (remote_batch (remote, body, NULL), 200);
    free (body);
}

static void
s_expect_table (const char *name, malformed_kind_t kind)
{
    remote_t *remote = remote_named (name);
    for (size_t i = 0; i < s_count; i++) {
        char does[32];
        if (!s_table[i].item || !strcmp (s_table[i].does[kind], "nothing"))
            continue;
        s_act (remote, &s_table[i], does, sizeof does);
        cr_expect_str_eq (does, s_table[i].does[kind], "%s: %s: %s, not %s",
                          name, s_table[i].name, does, s_table[i].does[kind]);
        s_cancel (remote, &s_table[i]);
    }
    remote_destroy (&remote);
}

Test (malformed, spring_does_with_each_what_the_table_says)
{
    s_expect_table ("spring", MALFORMED_SPRING);
}

Test (malformed, netflix_does_with_each_what_the_table_says)
{
    s_expect_table ("netflix", MALFORMED_NETFLIX);
}

//  The class of this name
static const malformed_t *
s_class (const char *name)
{
    for (size_t i = 0; i < s_count; i++)
        if (!strcmp (s_table[i].name, name))
            return &s_table[i];
    cr_assert_fail ("no class %s", name);
    return NULL;
}

Test (malformed, one_takes_a_hundred_good_ones_along)
{
    static const char *const names[] = {"spring", "netflix"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        remote_t *remote = remote_named (names[i]);
        const malformed_t *bad = s_class ("nested metadata");
        cr_expect_eq (s_post (remote, GOOD, bad, NULL), 400);
        cr_expect_eq (remote_count (remote, s_app), 0, "%s", names[i]);
        remote_destroy (&remote);
    }
}

//  ---- What zpeer does

//  One request: the good events, the classes among them
typedef struct {
    zpeer_buffer_t frame;
    const malformed_t *at[EVENTS_MAX];  //  By index in the request; NULL: good
    unsigned count;
    unsigned rejected;  //  As many are to be
} request_t;

static void
s_add_good (request_t *self, unsigned number)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    char id[64];
    snprintf (id, sizeof id, "%s:good-%u", s_app, number);
    zpeer_event_set_app (event, s_app);
    zpeer_event_set_id (event, id);
    zpeer_event_set_timestamp (event, 1000);
    zpeer_event_put_str (event, "hostName", "h");
    zpeer_event_put_str (event, "ipAddr", "192.0.2.1");
    zpeer_buffer_reserve (&self->frame, zpeer_event_size (event));
    zpeer_event_encode (event, self->frame.data, self->frame.capacity,
                        &self->frame.size);
    zpeer_event_destroy (&event);
    self->at[self->count++] = NULL;
}

static void
s_note (request_t *self, const malformed_t *bad)
{
    self->at[self->count++] = bad;
    self->rejected += bad->says != NULL;
}

//  As a feeder of its own packs it
static void
s_add_packed (request_t *self, const malformed_t *bad)
{
    if (!bad->event)
        return;
    malformed_pack (bad->event, &self->frame);
    s_note (self, bad);
}

//  As a host gives an InstanceInfo, in Eureka's own JSON
static void
s_add_json (request_t *self, const malformed_t *bad)
{
    char error[256] = "";
    if (!bad->info || strchr (bad->info, '~') || *bad->info != '{')
        return;
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_app (event, s_app);
    zpeer_event_set_id (event, bad->id);
    cr_assert_eq (zpeer_event_set_info_json (event, bad->info,
                                             strlen (bad->info), error,
                                             sizeof error),
                  ZPEER_OK, "%s: %s", bad->name, error);
    zpeer_buffer_reserve (&self->frame, zpeer_event_size (event));
    zpeer_event_encode (event, self->frame.data, self->frame.capacity,
                        &self->frame.size);
    zpeer_event_destroy (&event);
    s_note (self, bad);
}

//  Each rejection names what is wrong with the event it is for
static void
s_expect_reply (const request_t *self)
{
    zpeer_reply_t reply;
    cr_assert_eq (zpeer_feed_recv (s_pair.feed, &reply, STAGE_WAIT_MS),
                  ZPEER_OK);
    for (uint32_t i = 0; i < reply.listed; i++) {
        const malformed_t *bad = self->at[reply.indexes[i]];
        const char *says = bad && bad->says ? bad->says : "";
        cr_expect (*says && !strncmp (reply.reasons[i], says, strlen (says)),
                   "%s: %s, not %s", bad ? bad->name : "good", reply.reasons[i],
                   says);
    }
    cr_expect_eq (reply.rejected, self->rejected);
    cr_expect_eq (reply.listed, self->rejected);
    cr_expect_eq (reply.accepted, self->count - self->rejected);
}

static void
s_expect_hundred (void (*add) (request_t *, const malformed_t *))
{
    request_t request = {0};
    pair_open (&s_pair, NULL);
    cr_assert_leq (GOOD + s_count, EVENTS_MAX);
    for (size_t i = 0; i < GOOD || i < s_count; i++) {
        if (i < GOOD)
            s_add_good (&request, (unsigned) i);
        if (i < s_count)
            add (&request, &s_table[i]);
    }
    cr_assert_eq (zpeer_feed_send_frame (s_pair.feed, request.frame.data,
                                         request.frame.size, STAGE_WAIT_MS,
                                         NULL),
                  ZPEER_OK);
    s_expect_reply (&request);
    cr_expect_gt (request.rejected, 30);
    pair_await_count (&s_pair, s_app, request.count - request.rejected);
    for (size_t i = 0; i < s_pair.count; i++)
        figures_expect_peace (&s_pair, i);
    zpeer_buffer_free (&request.frame);
}

Test (malformed, each_is_rejected_by_name_and_a_hundred_good_ones_arrive)
{
    s_expect_hundred (s_add_packed);
}

Test (malformed, so_is_each_that_comes_as_json_of_an_instance)
{
    s_expect_hundred (s_add_json);
}

//  Bytes that are no map hide where the next event begins
Test (malformed, what_is_no_map_ends_the_request_and_those_before_arrive)
{
    static const char *const others[] = {"\xc0", "\x01", "\xa1x", "\x90"};
    pair_open (&s_pair, NULL);
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        request_t request = {0};
        zpeer_reply_t reply;
        s_add_good (&request, i);
        zpeer_buffer_add (&request.frame, others[i], strlen (others[i]));
        cr_assert_eq (zpeer_feed_send_frame (s_pair.feed, request.frame.data,
                                             request.frame.size, STAGE_WAIT_MS,
                                             NULL),
                      ZPEER_OK);
        cr_assert_eq (zpeer_feed_recv (s_pair.feed, &reply, STAGE_WAIT_MS),
                      ZPEER_OK);
        cr_expect_eq (reply.accepted, 1);
        cr_expect_eq (reply.rejected, 1);
        cr_expect_str_eq (reply.reasons[0],
                          "not a msgpack map as an event is one: something "
                          "else is there");
        zpeer_buffer_free (&request.frame);
    }
    pair_await_count (&s_pair, s_app, sizeof others / sizeof *others);
}
