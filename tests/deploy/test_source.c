/*  test_source.c - events out of every shape of JSON that is read
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "source.h"
#include "banned.h"

#define TRACE_MAX 4096

//  An InstanceInfo with as little as makes one
#define INFO                                                                   \
    "{\"instanceId\":\"i1\",\"app\":\"shop\",\"hostName\":\"h\","              \
    "\"ipAddr\":\"10.0.0.1\",\"status\":\"DOWN\","                             \
    "\"lastDirtyTimestamp\":\"77\"}"

//  What came out, one event a line
typedef struct {
    char text[TRACE_MAX];
    size_t used;
} trace_t;

static void
s_event (void *arg, uint64_t item, const zpeer_event_t *event)
{
    trace_t *self = arg;
    int length = snprintf (
        self->text + self->used, TRACE_MAX - self->used,
        "%" PRIu64 " %s %s/%s %" PRIu64 " %s %s%s\n", item,
        zpeer_action_name (zpeer_event_action (event)), zpeer_event_app (event),
        zpeer_event_id (event), zpeer_event_timestamp (event),
        zpeer_status_name (zpeer_event_status (event)),
        zpeer_status_name (zpeer_event_overridden_status (event)),
        zpeer_event_replicated (event) ? " replicated" : "");
    self->used += (size_t) length - 1;
    length = snprintf (
        self->text + self->used, TRACE_MAX - self->used,
        "%s%s%s%s%.0" PRIu64 "\n",
        zpeer_event_snapshot (event) ? " snapshot" : "",
        *zpeer_event_origin (event) ? " from " : "", zpeer_event_origin (event),
        zpeer_event_as_of (event) ? " as of " : "", zpeer_event_as_of (event));
    self->used += (size_t) length;
}

static uint64_t
s_as_of (void *arg)
{
    (void) arg;
    return 17;
}

static void
s_reject (void *arg, uint64_t item, const char *reason)
{
    trace_t *self = arg;
    int length = snprintf (self->text + self->used, TRACE_MAX - self->used,
                           "%" PRIu64 " no: %s\n", item, reason);
    self->used += (size_t) length;
}

static void
s_expect (const char *json, const char *expected)
{
    trace_t trace = {.used = 0};
    source_sink_t sink = {
        .arg = &trace, .event = s_event, .reject = s_reject, .as_of = s_as_of};
    json_t *value = json_loads (json, JSON_DECODE_ANY, NULL);
    cr_assert_not_null (value, "%s", json);
    source_read (value, &sink);
    json_decref (value);
    cr_assert_str_eq (trace.text, expected);
}

Test (source, reads_our_own_events)
{
    s_expect ("{\"action\":\"Heartbeat\",\"app\":\"a\",\"id\":\"i\","
              "\"lastDirtyTimestamp\":5,\"status\":\"UP\","
              "\"overriddenStatus\":\"OUT_OF_SERVICE\"}",
              "0 Heartbeat a/i 5 UP OUT_OF_SERVICE\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"i\","
              "\"replicated\":true}",
              "0 Cancel a/i 0 UNKNOWN UNKNOWN replicated\n");
    s_expect ("{\"action\":\"Register\",\"app\":\"shop\",\"id\":\"i1\","
              "\"info\":" INFO "}",
              "0 Register shop/i1 77 DOWN UNKNOWN\n");
    s_expect ("{\"action\":\"AsgStatusUpdate\",\"asg\":\"shop-v1\","
              "\"status\":\"DISABLED\"}",
              "0 AsgStatusUpdate /shop-v1 0 OUT_OF_SERVICE UNKNOWN\n");
}

//  As it may be said to the engine: beside its info or in it
Test (source, our_own_register_has_its_status_here_or_there)
{
    s_expect ("{\"action\":\"Register\",\"overriddenStatus\":"
              "\"OUT_OF_SERVICE\",\"info\":" INFO "}",
              "0 Register shop/i1 77 DOWN OUT_OF_SERVICE\n");
    s_expect ("{\"action\":\"Register\",\"status\":\"DOWN\",\"info\":" INFO "}",
              "0 Register shop/i1 77 DOWN UNKNOWN\n");
    s_expect ("{\"action\":\"Register\",\"status\":\"UP\",\"info\":" INFO "}",
              "0 no: status is UP, in info it is DOWN\n");
    s_expect ("{\"action\":\"Register\",\"overriddenStatus\":\"UP\",\"info\":"
              "{\"overriddenstatus\":\"DOWN\"}}",
              "0 no: overriddenStatus is UP, in info it is DOWN\n");
}

Test (source, reads_items_of_eurekas_replication)
{
    s_expect ("{\"appName\":\"A\",\"id\":\"i\",\"action\":\"StatusUpdate\","
              "\"lastDirtyTimestamp\":\"12\",\"status\":\"DOWN\","
              "\"overriddenStatus\":null,\"instanceInfo\":null}",
              "0 StatusUpdate A/i 12 DOWN UNKNOWN\n");
    s_expect ("{\"appName\":\"SHOP\",\"id\":\"i1\",\"action\":\"Register\","
              "\"lastDirtyTimestamp\":78,\"status\":\"UP\","
              "\"instanceInfo\":" INFO "}",
              "0 Register SHOP/i1 78 DOWN UNKNOWN\n");
}

Test (source, numbers_the_items_of_a_list)
{
    s_expect ("{\"replicationList\":["
              "{\"appName\":\"A\",\"id\":\"i\",\"action\":\"Cancel\"},"
              "{\"appName\":\"A\",\"id\":\"i\"},"
              "{\"appName\":\"B\",\"id\":\"j\",\"action\":\"Cancel\"}]}",
              "1 Cancel A/i 0 UNKNOWN UNKNOWN\n"
              "2 no: action is missing\n"
              "3 Cancel B/j 0 UNKNOWN UNKNOWN\n");
}

Test (source, an_instance_alone_registers)
{
    s_expect (INFO, "0 Register shop/i1 77 DOWN UNKNOWN\n");
    s_expect ("{\"instance\":" INFO "}",
              "0 Register shop/i1 77 DOWN UNKNOWN\n");
}

Test (source, every_instance_of_a_registry_is_a_snapshot)
{
    s_expect ("{\"applications\":{\"versions__delta\":\"1\",\"application\":["
              "{\"name\":\"SHOP\",\"instance\":[" INFO "," INFO "]},"
              "{\"name\":\"SHOP\",\"instance\":" INFO "}]}}",
              "1 Register shop/i1 77 DOWN UNKNOWN snapshot as of 17\n"
              "2 Register shop/i1 77 DOWN UNKNOWN snapshot as of 17\n"
              "3 Register shop/i1 77 DOWN UNKNOWN snapshot as of 17\n");
    s_expect ("{\"application\":{\"name\":\"SHOP\",\"instance\":[" INFO "]}}",
              "1 Register shop/i1 77 DOWN UNKNOWN snapshot as of 17\n");
    s_expect ("{\"applications\":{\"application\":[]}}", "");
}

//  GET apps/delta answers what has gone, too
Test (source, what_is_deleted_is_no_snapshot)
{
    s_expect ("{\"applications\":{\"application\":{\"instance\":["
              "{\"instanceId\":\"i2\",\"actionType\":\"DELETED\"}," INFO "]}}}",
              "1 no: actionType is DELETED: the registry has it no more\n"
              "2 Register shop/i1 77 DOWN UNKNOWN snapshot as of 17\n");
}

Test (source, an_event_says_whose_word_it_is)
{
    s_expect (
        "{\"action\":\"Register\",\"info\":" INFO
        ",\"snapshot\":true,\"asOf\":\"5\","
        "\"origin\":\"http://a/\"}",
        "0 Register shop/i1 77 DOWN UNKNOWN snapshot from http://a/ as of "
        "5\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"i\","
              "\"snapshot\":\"yes\"}",
              "0 no: snapshot is neither true nor false\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"i\","
              "\"asOf\":0}",
              "0 no: asOf is not a number from 1 to 9223372036854775807\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"i\","
              "\"origin\":5}",
              "0 no: origin is not a string\n");
}

Test (source, says_what_is_wrong)
{
    s_expect ("{\"action\":\"heartbeat\",\"app\":\"a\"}",
              "0 no: action \"heartbeat\" is none of Register, Heartbeat, "
              "Cancel, StatusUpdate, DeleteStatusOverride, AsgStatusUpdate, "
              "Forget\n");
    s_expect ("{\"action\":7}", "0 no: action is not a string\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\" \",\"id\":\"i\"}",
              "0 no: app is blank\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"..\",\"id\":\"i\"}",
              "0 no: app is what stands for a folder in a URL\n");
    s_expect ("{\"action\":\"Cancel\",\"appName\":5,\"id\":\"i\"}",
              "0 no: appName is not a string\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"\\u0001\"}",
              "0 no: id has a control character in it\n");
    s_expect ("{\"action\":\"Heartbeat\",\"app\":\"a\",\"id\":\"i\","
              "\"lastDirtyTimestamp\":\"5x\"}",
              "0 no: lastDirtyTimestamp is not a number of ms from 1 to "
              "7258118400000, the year 2200\n");
    s_expect ("{\"action\":\"Heartbeat\",\"app\":\"a\",\"id\":\"i\","
              "\"lastDirtyTimestamp\":1718271499871000}",
              "0 no: lastDirtyTimestamp is not a number of ms from 1 to "
              "7258118400000, the year 2200\n");
    s_expect ("{\"action\":\"StatusUpdate\",\"app\":\"a\",\"id\":\"i\","
              "\"lastDirtyTimestamp\":5,\"status\":\"\\u001bup\"}",
              "0 no: status \"?up\" is none of UNKNOWN, UP, DOWN, STARTING, "
              "OUT_OF_SERVICE\n");
    s_expect ("{\"action\":\"AsgStatusUpdate\",\"asg\":\"a\","
              "\"status\":\"UP\"}",
              "0 no: status is neither ENABLED nor DISABLED\n");
    s_expect ("{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"i\","
              "\"replicated\":1}",
              "0 no: replicated is neither true nor false\n");
    s_expect ("[1,2]", "0 no: neither an event nor anything Eureka writes\n");
    s_expect ("7", "0 no: neither an event nor anything Eureka writes\n");
}

//  Each shape, with a value of each wrong kind where an object is expected
Test (source, whatever_is_no_object_is_an_error)
{
    static const char *const wrong[] = {"5", "\"x\"", "true", "[[]]", "1.5"};
    static const struct {
        const char *format;
        const char *expected;
    } shapes[] = {
        {"{\"instance\":%s}", "0 no: instance is not an object\n"},
        {"{\"applications\":%s}", "0 no: applications is not an object\n"},
        {"{\"applications\":{\"application\":%s}}",
         "0 no: application is not an object\n"},
        {"{\"application\":%s}", "0 no: application is not an object\n"},
        {"{\"application\":{\"instance\":%s}}",
         "1 no: instance is not an object\n"},
        {"{\"replicationList\":%s}",
         "1 no: an item of replicationList is not an object\n"},
        {"{\"action\":\"Register\",\"info\":%s}",
         "0 no: info is not an object\n"},
        {"{\"action\":\"Register\",\"instanceInfo\":%s}",
         "0 no: instanceInfo is not an object\n"},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            char json[128];
            snprintf (json, sizeof json, shapes[i].format, wrong[k]);
            s_expect (json, shapes[i].expected);
        }
    s_expect ("{\"application\":{\"instance\":{\"actionType\":5}}}",
              "1 no: actionType is not a string\n");
}

//  The others of its list are read
Test (source, one_that_is_no_object_takes_no_other_along)
{
    s_expect ("{\"replicationList\":[7,"
              "{\"appName\":\"B\",\"id\":\"j\",\"action\":\"Cancel\"}]}",
              "1 no: an item of replicationList is not an object\n"
              "2 Cancel B/j 0 UNKNOWN UNKNOWN\n");
    s_expect ("{\"applications\":{\"application\":[null,"
              "{\"instance\":[\"x\"," INFO "]}]}}",
              "0 no: application is not an object\n"
              "1 no: instance is not an object\n"
              "2 Register shop/i1 77 DOWN UNKNOWN snapshot as of 17\n");
}

Test (source, says_how_long_a_name_is)
{
    char json[512];
    char name[300];
    memset (name, 'a', sizeof name);
    snprintf (json, sizeof json,
              "{\"action\":\"Cancel\",\"id\":\"i\",\"app\":\"%.256s\"}", name);
    s_expect (json, "0 no: app is too long, 256 bytes\n");
}

Test (source, leaves_what_the_engine_checks_to_the_engine)
{
    s_expect ("{\"action\":\"Heartbeat\",\"app\":\"a\",\"id\":\"i\"}",
              "0 Heartbeat a/i 0 UNKNOWN UNKNOWN\n");
    s_expect ("{\"action\":\"Register\",\"app\":\"a\",\"id\":\"i\"}",
              "0 Register a/i 0 UP UNKNOWN\n");
}
