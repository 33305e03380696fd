//  What a Spring server lost, or knows better

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pair.h"
#include "banned.h"

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (spring_repair, .fini = s_stop, .timeout = 120);

//  A second writer: posts one item about the instance to the server
static void
s_other_writer (const char *id, const char *format)
{
    char *item = NULL;
    char *body = NULL;
    json_t *answer = NULL;
    const char *whole = pair_id (&s_pair, id);
    cr_assert (asprintf (&item, "{\"appName\":\"%s\",\"id\":\"%s\",%s}",
                         s_pair.app, whole, format) > 0);
    cr_assert (asprintf (&body, "{\"replicationList\":[%s]}", item) > 0);
    cr_assert_eq (remote_batch (s_pair.spring, body, &answer), 200);
    json_decref (answer);
    free (body);
    free (item);
}

//  It registers the instance, newer than the engine does
static void
s_other_registers (const char *id, int at)
{
    char *item = NULL;
    const char *whole = pair_id (&s_pair, id);
    cr_assert (
        asprintf (&item,
                  "\"action\":\"Register\",\"instanceInfo\":{\"instanceId\":"
                  "\"%s\",\"app\":\"%s\",\"hostName\":\"other\",\"ipAddr\":"
                  "\"192.0.2.9\",\"dataCenterInfo\":{\"@class\":\"com.netflix."
                  "appinfo.MyDataCenterInfo\",\"name\":\"MyOwn\"},\"status\":"
                  "\"DOWN\",\"lastDirtyTimestamp\":\"%d\"}",
                  whole, s_pair.app, at) > 0);
    s_other_writer (id, item);
    free (item);
}

static void
s_heartbeat (const char *id, uint64_t at)
{
    pair_send (&s_pair, id, &(pair_event_t){ZPEER_HEARTBEAT, at, 0, 0}, 1);
}

//  ---- 404

static void
s_expect_repair (const char *const *set)
{
    pair_open (&s_pair, set);
    pair_register (&s_pair, "a", 1000, ",\"vipAddress\":\"v\"");
    pair_send (
        &s_pair, "a",
        &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0}, 1);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    s_other_writer ("a", "\"action\":\"Cancel\"");
    pair_await_gone (&s_pair, "a");
    s_heartbeat ("a", 1001);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    json_t *info =
        remote_instance (s_pair.spring, s_pair.app, pair_id (&s_pair, "a"));
    cr_expect_str_eq (json_string_value (json_object_get (info, "vipAddress")),
                      "v");
    json_decref (info);
}

Test (spring_repair, a_heartbeat_of_an_instance_it_lost_brings_it_back)
{
    s_expect_repair (NULL);
}

Test (spring_repair, a_heartbeat_as_a_call_brings_it_back_too)
{
    s_expect_repair (s_single);
}

Test (spring_repair, an_override_of_an_instance_it_lost_brings_it_back)
{
    pair_open (&s_pair, NULL);
    pair_register (&s_pair, "b", 1000, "");
    pair_await (&s_pair, "b", "UP", "UNKNOWN", 1000);
    s_other_writer ("b", "\"action\":\"Cancel\"");
    pair_send (&s_pair, "b",
               &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_DOWN, 0}, 1);
    pair_await (&s_pair, "b", "DOWN", "DOWN", 1001);
}

Test (spring_repair, a_heartbeat_newer_than_its_copy_asks_for_the_register)
{
    pair_open (&s_pair, NULL);
    pair_register (&s_pair, "n", 1000, "");
    pair_await (&s_pair, "n", "UP", "UNKNOWN", 1000);
    s_heartbeat ("n", 1005);
    pair_outcome (&s_pair, "need-register", "id", pair_id (&s_pair, "n"));
}

//  ---- 409

static void
s_expect_conflict (const char *const *set)
{
    pair_open (&s_pair, set);
    pair_register (&s_pair, "c", 1000, "");
    pair_await (&s_pair, "c", "UP", "UNKNOWN", 1000);
    s_other_registers ("c", 2000);
    s_heartbeat ("c", 1000);
    json_t *outcome =
        pair_outcome (&s_pair, "conflict", "id", pair_id (&s_pair, "c"));
    cr_expect_eq (
        json_integer_value (json_object_get (outcome, "lastDirtyTimestamp")),
        2000);
    json_t *copy = json_loads (
        json_string_value (json_object_get (outcome, "copy")), 0, NULL);
    cr_expect_str_eq (json_string_value (json_object_get (copy, "hostName")),
                      "other");
    json_decref (copy);
    pair_await (&s_pair, "c", "DOWN", "UNKNOWN", 2000);
}

Test (spring_repair, a_newer_registration_there_is_a_conflict_and_stays)
{
    s_expect_conflict (NULL);
}

Test (spring_repair, a_newer_registration_met_by_a_call_is_one_too)
{
    s_expect_conflict (s_single);
}
