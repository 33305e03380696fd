//  Every member of an instance, compared with what each server lists

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
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

TestSuite (members, .fini = s_stop, .timeout = 120);

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

//  Every member of what each server lists
static void
s_expect_listed (const char *id, json_t *given)
{
    for (size_t i = 0; i < s_pair.count; i++) {
        json_t *listed = pair_listed (&s_pair, i, id);
        char *differs = compare_infos (listed, given);
        cr_expect_null (differs, "%s has %s",
                        remote_name (s_pair.peers[i].remote), differs);
        free (differs);
        json_decref (listed);
    }
}

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
    s_expect_listed (id, given);
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

Test (members, every_member_of_an_instance_survives_a_batch)
{
    s_expect_all_whole (NULL);
}

Test (members, every_member_of_an_instance_survives_a_call)
{
    s_expect_all_whole (s_single);
}
