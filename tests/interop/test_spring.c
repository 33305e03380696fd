//  Every action of the engine, read back from a Spring server, in batches and
//  as calls of their own

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "compare.h"
#include "pair.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (spring, .fini = s_stop, .timeout = 120);

//  ---- What an instance is

#define MINE                                                                   \
    "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo.InstanceInfo$"       \
    "DefaultDataCenterInfo\",\"name\":\"MyOwn\"}"
#define EMPTY "\"metadata\":{\"@class\":\"java.util.Collections$EmptyMap\"}"
#define REST                                                                   \
    "\"hostName\":\"shop02.example.net\",\"ipAddr\":\"192.0.2.52\","           \
    "\"overriddenStatus\":\"UNKNOWN\",\"isCoordinatingDiscoveryServer\":"      \
    "\"false\",\"lastDirtyTimestamp\":\"1000\",\"actionType\":\"ADDED\","
#define USUAL                                                                  \
    "\"status\":\"UP\",\"countryId\":1,\"port\":{\"$\":7001,\"@enabled\":"     \
    "\"true\"},\"securePort\":{\"$\":7002,\"@enabled\":\"false\"},"            \
    "\"leaseInfo\":{\"renewalIntervalInSecs\":30,\"durationInSecs\":90,"       \
    "\"evictionTimestamp\":0},"

//  As a server shows them; instanceId and app are added
static const char *const s_infos[] = {
    REST USUAL MINE "," EMPTY,
    REST USUAL EMPTY ",\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
                     "InstanceInfo$DefaultDataCenterInfo\",\"name\":"
                     "\"Netflix\"}",
    REST USUAL EMPTY ",\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
                     "AmazonInfo\",\"name\":\"Amazon\",\"metadata\":{"
                     "\"instance-id\":\"i-0a1b2c3d\",\"availability-zone\":"
                     "\"eu-west-1b\",\"own\":\"key\"}},\"vipAddress\":\"v\"",
    REST MINE ",\"status\":\"STARTING\",\"countryId\":49,"
              "\"port\":{\"$\":0,\"@enabled\":\"false\"},"
              "\"securePort\":{\"$\":65535,\"@enabled\":\"true\"},"
              "\"leaseInfo\":{\"renewalIntervalInSecs\":5,"
              "\"durationInSecs\":15,\"evictionTimestamp\":0},"
              "\"sid\":\"s1\",\"appGroupName\":\"GROUP\","
              "\"homePageUrl\":\"http://h/?a=b&c=%20\","
              "\"statusPageUrl\":\"http://h/info\","
              "\"healthCheckUrl\":\"http://h/health\","
              "\"secureHealthCheckUrl\":\"https://h/health\","
              "\"vipAddress\":\"a,b\",\"secureVipAddress\":\"sv\","
              "\"asgName\":\"catalog-v007\","
              "\"metadata\":{\"management.port\":\"8443\",\"\":\"empty key\","
              "\"empty\":\"\",\"quote\":\"\\\" \\\\ / \\b\\f\\n\\r\\t\\u0001\","
              "\"markup\":\"<a href='x'>&amp;</a>\","
              "\"unicode\":\"\\u00fc\\u20ac\\u4e2d\\ud83d\\ude00\\u2028\"}",
};

//  Sends the instance and compares every member of what the server then lists
static void
s_expect_whole (const char *id, json_t *given)
{
    char *text = json_dumps (given, 0);
    char reason[256] = "";
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    cr_assert_eq (zpeer_event_set_info_json (event, text, strlen (text), reason,
                                             sizeof reason),
                  ZPEER_OK, "%s", reason);
    zpeer_event_set_timestamp (event, 1000);
    stage_send (s_pair.feed, event);
    zpeer_event_destroy (&event);
    free (text);
    pair_delivered (&s_pair, pair_id (&s_pair, id), "Register");
    json_t *listed = pair_listed (&s_pair, id);
    char *differs = compare_infos (listed, given);
    cr_expect_null (differs, "Spring has %s", differs);
    free (differs);
    json_decref (listed);
}

static void
s_expect_all_whole (const char *const *set)
{
    pair_open (&s_pair, set);
    for (size_t i = 0; i < LENGTH (s_infos); i++) {
        char text[4096];
        char id[64];
        //  Reserved characters, and one beyond ASCII
        snprintf (id, sizeof id, "shop02:catalog %zu?&%%+\xc3\xbc", i);
        snprintf (text, sizeof text, "{%s}", s_infos[i]);
        json_t *given = json_loads (text, 0, NULL);
        cr_assert (given, "%s", text);
        json_object_set_new (given, "instanceId",
                             json_string (pair_id (&s_pair, id)));
        json_object_set_new (given, "app", json_string (s_pair.app));
        s_expect_whole (id, given);
        json_decref (given);
    }
}

Test (spring, every_member_of_an_instance_survives_a_batch)
{
    s_expect_all_whole (NULL);
}

Test (spring, every_member_of_an_instance_survives_a_call)
{
    s_expect_all_whole (s_single);
}

//  ---- The actions one by one

static void
s_act (zpeer_action_t action, uint64_t at, zpeer_status_t status)
{
    pair_send (&s_pair, "a", &(pair_event_t){action, at, status, 0}, 1);
}

static void
s_expect_actions (const char *const *set)
{
    pair_open (&s_pair, set);
    s_act (ZPEER_REGISTER, 1000, ZPEER_UP);
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1000);
    json_int_t renewed = pair_lease (&s_pair, "a", "lastRenewalTimestamp");
    s_act (ZPEER_HEARTBEAT, 1000, 0);
    pair_delivered (&s_pair, pair_id (&s_pair, "a"), "Heartbeat");
    cr_expect_gt (pair_lease (&s_pair, "a", "lastRenewalTimestamp"), renewed);
    s_act (ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    s_act (ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_DOWN);
    pair_await (&s_pair, "a", "DOWN", "UNKNOWN", 1002);
    s_act (ZPEER_REGISTER, 1003, ZPEER_UP);
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1003);
    s_act (ZPEER_CANCEL, 0, 0);
    pair_await_gone (&s_pair, "a");
    pair_await_count (&s_pair, s_pair.app, 0);
}

Test (spring, every_action_arrives_in_a_batch)
{
    s_expect_actions (NULL);
}

Test (spring, every_action_arrives_as_a_call)
{
    s_expect_actions (s_single);
}

//  ---- Mixtures: what gathered before it went out

#define EVENTS_MAX 5

static const struct {
    pair_event_t events[EVENTS_MAX];
    const char *status;  //  NULL: gone
    const char *overridden;
    uint64_t at;
} s_mixtures[] = {
    {{{ZPEER_REGISTER, 1000, ZPEER_UP, 0},
      {ZPEER_STATUS_UPDATE, 1000, ZPEER_OUT_OF_SERVICE, 0}},
     "OUT_OF_SERVICE",
     "OUT_OF_SERVICE",
     1000},
    {{{ZPEER_REGISTER, 1000, ZPEER_UP, ZPEER_OUT_OF_SERVICE}},
     "OUT_OF_SERVICE",
     "OUT_OF_SERVICE",
     1000},
    {{{ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0},
      {ZPEER_REGISTER, 1002, ZPEER_DOWN, 0}},
     "DOWN",
     "OUT_OF_SERVICE",
     1002},
    {{{ZPEER_DELETE_STATUS_OVERRIDE, 1001, 0, 0},
      {ZPEER_REGISTER, 1002, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     1002},
    {{{ZPEER_REGISTER, 1001, ZPEER_UP, 0},
      {ZPEER_STATUS_UPDATE, 1001, ZPEER_DOWN, 0},
      {ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     1002},
    {{{ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0},
      {ZPEER_STATUS_UPDATE, 1002, ZPEER_DOWN, 0}},
     "DOWN",
     "DOWN",
     1002},
    {{{ZPEER_HEARTBEAT, 1000, 0, 0},
      {ZPEER_STATUS_UPDATE, 1001, ZPEER_STARTING, 0}},
     "STARTING",
     "STARTING",
     1001},
    {{{ZPEER_HEARTBEAT, 1000, 0, 0}, {ZPEER_REGISTER, 1003, ZPEER_DOWN, 0}},
     "DOWN",
     "UNKNOWN",
     1003},
    {{{ZPEER_CANCEL, 0, 0, 0}, {ZPEER_REGISTER, 900, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     900},
    {{{ZPEER_CANCEL, 0, 0, 0},
      {ZPEER_REGISTER, 900, ZPEER_UP, 0},
      {ZPEER_STATUS_UPDATE, 901, ZPEER_DOWN, 0}},
     "DOWN",
     "DOWN",
     901},
    {{{ZPEER_REGISTER, 1001, ZPEER_UP, 0}, {ZPEER_CANCEL, 0, 0, 0}},
     NULL,
     NULL,
     0},
    {{{ZPEER_FORGET, 0, 0, 0}, {ZPEER_REGISTER, 1004, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     1004},
};

static void
s_expect_mixtures (const char *const *set)
{
    pair_open (&s_pair, set);
    for (size_t i = 0; i < LENGTH (s_mixtures); i++) {
        char id[32];
        size_t count = 0;
        while (count < EVENTS_MAX && s_mixtures[i].events[count].at +
                                         s_mixtures[i].events[count].action)
            count++;
        snprintf (id, sizeof id, "mixture %zu", i);
        pair_register (&s_pair, id, 1000, "");
        pair_await (&s_pair, id, "UP", "UNKNOWN", 1000);

        pair_send (&s_pair, id, s_mixtures[i].events, count);
        if (s_mixtures[i].status)
            pair_await (&s_pair, id, s_mixtures[i].status,
                        s_mixtures[i].overridden, s_mixtures[i].at);
        else
            pair_await_gone (&s_pair, id);
    }
}

Test (spring, every_mixture_ends_in_the_state_of_the_source)
{
    s_expect_mixtures (NULL);
}

Test (spring, every_mixture_ends_so_as_calls_too)
{
    s_expect_mixtures (s_single);
}
