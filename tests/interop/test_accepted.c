//  Whatever the acceptor takes, real servers take: random events out of values that
//  are odd, wrong or extreme

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "figures.h"
#include "malformed.h"
#include "random_body.h"
#include "banned.h"

#define EVENTS 1800
#define FRAME  60  //  Events in a request; fewer than a reply lists

//  For all of them to arrive at servers that have just started
#define ARRIVE_MS 30000

//  So many of each must be among them, or the values are badly chosen
#define ENOUGH 200

//  One in so many values is one that no server could take
#define BAD_ONE_IN 40

#define PLAIN  "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
#define MINE   "com.netflix.appinfo.MyDataCenterInfo"
#define AMAZON "com.netflix.appinfo.AmazonInfo"

//  Of an instance: the application, a number, and what needs care in JSON and paths
#define ID     "%s:%u"
#define ID_END "\xc3\x9f/ ?%\""
#define ID_MAX 64

//  Bytes of a Cancel at most
#define CANCEL_MAX 256

#define LENGTH(array) (sizeof (array) / sizeof *(array))
#define PICK(table)   table[random_below (&s_state, LENGTH (table))]

static pair_t s_pair;
static uint64_t s_state;

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (accepted, .fini = s_stop, .timeout = 120);

//  ---- Values, as JSON

static const char *const s_texts[] = {"\"\"",
                                      "\" \"",
                                      "\"x\"",
                                      "\"null\"",
                                      "\"\\\"\\\\/\\b\\f\\n\\r\\t\"",
                                      "\"~01~1f~7f\"",
                                      "\"~c2~80~c2~a0\"",
                                      "\"~e2~80~a8~e2~80~a9\"",
                                      "\"~ef~bf~bf~ef~bb~bf\"",
                                      "\"~f0~90~80~80~f4~8f~bf~bf\"",
                                      "\"~ed~9f~bf~ee~80~80\"",
                                      "\"]]><![CDATA[&\"",
                                      "\"%%d${jndi}\"",
                                      "\"~c4~b1~c3~9f\""};
static const char *const s_bad_texts[] = {
    "\"~ed~a0~80\"", "\"~ff\"",   "\"~c0~80\"", "\"~00\"", "{}",
    "{\"a\":{}}",    "[]",        "[1]",        "5",       "true",
    "\"~:nan\"",     "\"~:bin\"", "\"~:ext\""};

static const char *const s_numbers[] = {
    "0",     "1",      "-1",     "2147483647", "-2147483648",
    "\"7\"", "\"-0\"", "\"00\"", "3.0",        "\"0000000000000000009\""};
static const char *const s_bad_numbers[] = {
    "2147483648", "-2147483649", "9223372036854775807",
    "\"~:uint\"", "\"~:nan\"",   "\"~:inf\"",
    "1.5",        "1e300",       "\"\"",
    "\"x\"",      "\" 1\"",      "\"1e3\"",
    "true",       "{}",          "[]"};

static const char *const s_times[] = {"0",
                                      "1",
                                      "9223372036854775807",
                                      "\"9223372036854775807\"",
                                      "9007199254740993",
                                      "1e15"};

static const char *const s_flags[] = {"true", "\"true\"", "\"false\""};
static const char *const s_bad_flags[] = {"\"TRUE\"", "1", "\"\"", "{}", "[]"};

static const char *const s_statuses[] = {"\"UP\"", "\"DOWN\"", "\"STARTING\"",
                                         "\"OUT_OF_SERVICE\"", "\"UNKNOWN\""};
static const char *const s_bad_statuses[] = {"\"up\"", "\"\"", "1", "{}", "[]"};

static const char *const s_types[] = {"\"ADDED\"", "\"MODIFIED\"",
                                      "\"DELETED\""};

static const char *const s_classes[] = {"\"" PLAIN "\"", "\"" AMAZON "\"",
                                        "\"" MINE "\""};
static const char *const s_names[] = {"\"MyOwn\"", "\"Netflix\"", "\"Amazon\""};

//  ---- Members, each written as ,"name":value

static bool
s_chance (unsigned one_in)
{
    return random_below (&s_state, one_in) == 0;
}

#define VALUE(good, bad) (s_chance (BAD_ONE_IN) ? PICK (bad) : PICK (good))

static void
s_put (FILE *out, const char *name, const char *value)
{
    fprintf (out, ",\"%s\":%s", name, value);
}

//  Members nobody knows are stepped over, with whatever is in them
static void
s_put_unknown (FILE *out)
{
    if (s_chance (4))
        s_put (out, "more", s_chance (2) ? PICK (s_bad_texts) : PICK (s_texts));
}

static void
s_put_metadata (FILE *out)
{
    size_t count = random_below (&s_state, 5);
    fprintf (out, ",\"metadata\":{\"\":\"\"");
    for (size_t i = 0; i < count; i++) {
        //  What is a text as a value is one as a key
        const char *key = VALUE (s_texts, s_bad_texts);
        fprintf (out, ",\"k%zu", i);
        if (*key == '"' && key[1] != '~' && key[2] != ':')
            fprintf (out, "%.*s", (int) strlen (key) - 2, key + 1);
        fprintf (out, "\":%s",
                 s_chance (3) ? PICK (s_times) : VALUE (s_texts, s_bad_texts));
    }
    fputs (s_chance (9) ? ",\"@class\":\"x\"}" : "}", out);
}

static void
s_put_port (FILE *out, const char *name)
{
    static const char *const ports[] = {"0", "65535", "\"80\"", "8080.0"};
    static const char *const bad[] = {"-1",   "65536", "2147483648",
                                      "\"\"", "{}",    "[]"};
    fprintf (out, ",\"%s\":{\"$\":%s", name, VALUE (ports, bad));
    if (s_chance (2))
        s_put (out, "@enabled", VALUE (s_flags, s_bad_flags));
    s_put_unknown (out);
    fputs ("}", out);
}

static void
s_put_center (FILE *out)
{
    size_t i = random_below (&s_state, 2);
    bool fits = !s_chance (BAD_ONE_IN);
    fprintf (out, ",\"dataCenterInfo\":{");
    //  In one order or the other
    if (s_chance (2))
        fprintf (out, "\"name\":%s,\"@class\":%s",
                 fits ? s_names[2 * i] : PICK (s_names),
                 fits ? s_classes[i] : PICK (s_classes));
    else
        fprintf (out, "\"@class\":%s,\"name\":%s",
                 fits ? s_classes[i] : PICK (s_classes),
                 fits ? s_names[2 * i] : PICK (s_names));
    if (s_chance (2))
        s_put_metadata (out);
    s_put_unknown (out);
    fputs ("}", out);
}

static void
s_put_lease (FILE *out)
{
    fprintf (out, ",\"leaseInfo\":{\"durationInSecs\":%s",
             VALUE (s_numbers, s_bad_numbers));
    s_put (out, "renewalIntervalInSecs", VALUE (s_numbers, s_bad_numbers));
    if (s_chance (2))
        s_put (out, "serviceUpTimestamp", VALUE (s_times, s_bad_texts));
    s_put_unknown (out);
    fputs ("}", out);
}

static void
s_put_texts (FILE *out)
{
    static const char *const names[] = {"sid",
                                        "homePageUrl",
                                        "statusPageUrl",
                                        "healthCheckUrl",
                                        "secureHealthCheckUrl",
                                        "vipAddress",
                                        "appGroupName",
                                        "secureVipAddress",
                                        "asgName"};
    for (size_t i = 0; i < LENGTH (names); i++)
        if (s_chance (3))
            s_put (out, names[i], VALUE (s_texts, s_bad_texts));
}

static void
s_put_others (FILE *out)
{
    if (s_chance (3))
        s_put (out, "countryId", VALUE (s_numbers, s_bad_numbers));
    if (s_chance (3))
        s_put (out, "isCoordinatingDiscoveryServer",
               VALUE (s_flags, s_bad_flags));
    if (s_chance (3))
        s_put (out, "lastUpdatedTimestamp", VALUE (s_times, s_bad_numbers));
    if (s_chance (2))
        s_put (out, "status", VALUE (s_statuses, s_bad_statuses));
    if (s_chance (4))
        s_put (out, "overriddenStatus", VALUE (s_statuses, s_bad_statuses));
    if (s_chance (4))
        s_put (out, "actionType", VALUE (s_types, s_bad_statuses));
    s_put_unknown (out);
}

//  One Register; the caller's
static json_t *
s_event (unsigned number)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream (&text, &size);
    cr_assert (out);
    fprintf (out,
             "{\"action\":\"Register\",\"app\":\"%s\",\"id\":\"" ID
             "\xc3\x9f/ ?%%\\\"\",\"lastDirtyTimestamp\":%s,\"info\":{"
             "\"hostName\":\"h\"",
             s_pair.app, s_pair.app, number,
             s_chance (2) ? "7258118400000" : "1000");
    s_put (out, "ipAddr", "\"~e2~98~83\"");
    s_put_center (out);
    s_put_texts (out);
    s_put_others (out);
    if (s_chance (2))
        s_put_metadata (out);
    if (s_chance (2))
        s_put_port (out, s_chance (2) ? "port" : "securePort");
    if (s_chance (2))
        s_put_lease (out);
    fputs ("}}", out);
    fclose (out);
    json_error_t error;
    json_t *event = json_loads (text, 0, &error);
    cr_assert (event, "%s: %s", error.text, text);
    free (text);
    return event;
}

//  Feeds so many of them. Returns how many were taken.
static size_t
s_feed (unsigned first, unsigned count)
{
    zpeer_buffer_t frame = {0};
    zpeer_reply_t reply;
    for (unsigned i = 0; i < count; i++) {
        json_t *event = s_event (first + i);
        malformed_pack (event, &frame);
        json_decref (event);
    }
    cr_assert_eq (zpeer_feed_send_frame (s_pair.feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    cr_assert_eq (zpeer_feed_recv (s_pair.feed, &reply, STAGE_WAIT_MS),
                  ZPEER_OK);
    cr_assert_eq (reply.accepted + reply.rejected, count);
    zpeer_buffer_free (&frame);
    return reply.accepted;
}

//  Takes all of them away again: other programs read the whole registry often
static void
s_cancel_all (void)
{
    zpeer_buffer_t frame = {0};
    for (unsigned i = 0; i < EVENTS; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, ID "%s", s_pair.app, i, ID_END);
        zpeer_buffer_reserve (&frame, CANCEL_MAX);
        zpeer_event_encode_simple (frame.data, frame.capacity, &frame.size,
                                   ZPEER_CANCEL, s_pair.app, id, 0);
    }
    cr_assert_eq (zpeer_feed_send_frame (s_pair.feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    stage_accepted (s_pair.feed, EVENTS);
    zpeer_buffer_free (&frame);
    pair_await_count (&s_pair, s_pair.app, 0);
}

Test (accepted, what_the_acceptor_takes_breaks_no_batch_and_arrives)
{
    const char *given = getenv ("ZPEER_TEST_SEED");
    s_state = given ? strtoull (given, NULL, 0) : 1;
    cr_log_info ("ZPEER_TEST_SEED=%" PRIu64, s_state);
    //  Leases of a second may have run out when a busy server gets to them
    const char *const set[] = {"zpeer.view.age-out=false", NULL};
    size_t accepted = 0;
    pair_open (&s_pair, set);
    s_pair.limit_ms = ARRIVE_MS;
    for (unsigned i = 0; i < EVENTS; i += FRAME)
        accepted += s_feed (i, FRAME);
    cr_expect_gt (accepted, ENOUGH);
    cr_expect_gt (EVENTS - accepted, ENOUGH);
    pair_await_count (&s_pair, s_pair.app, accepted);
    for (size_t i = 0; i < s_pair.count; i++)
        figures_expect_peace (&s_pair, i);
    s_cancel_all ();
}
