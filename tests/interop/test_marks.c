//  Whose word an event is, shown with servers that do not know each other

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "pair.h"
#include "banned.h"

#define OUT ZPEER_OUT_OF_SERVICE

static pair_t s_pair;

static void
s_start (void)
{
    pair_open (&s_pair, NULL);
}

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (marks, .init = s_start, .fini = s_stop, .timeout = 120);

typedef void (s_mark_fn) (zpeer_event_t *event);

static void
s_as_snapshot (zpeer_event_t *event)
{
    zpeer_event_set_snapshot (event, true);
}

static void
s_as_replicated (zpeer_event_t *event)
{
    zpeer_event_set_replicated (event, true);
}

//  From the first server
static void
s_as_told (zpeer_event_t *event)
{
    zpeer_event_set_origin (event, s_pair.peers[0].url);
}

static void
s_send (const char *id, pair_event_t from, s_mark_fn *mark)
{
    zpeer_event_t *event = pair_event (&s_pair, id, &from);
    mark (event);
    stage_send (s_pair.feed, event);
    zpeer_event_destroy (&event);
}

//  ---- Snapshots

//  Then a client's Register removes no override, and neither do verify and resync
Test (marks, an_override_goes_with_a_snapshot)
{
    pair_send (&s_pair, "a", &(pair_event_t){ZPEER_REGISTER, 1000, 0, OUT}, 1);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1000);
    pair_send (&s_pair, "a", &(pair_event_t){ZPEER_REGISTER, 1001, 0, 0}, 1);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    pair_verify (&s_pair);
    pair_outcomes (&s_pair, "resync", "state", "ended");
    pair_expect (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    s_send ("a", (pair_event_t){ZPEER_REGISTER, 1001, 0, 0}, s_as_snapshot);
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1001);
}

//  It was removed while the engine was away
Test (marks, an_override_that_only_the_servers_have_goes_with_a_snapshot)
{
    pair_register (&s_pair, "b", 1000, "");
    pair_send (&s_pair, "b", &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, OUT, 0},
               1);
    pair_await (&s_pair, "b", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    s_stop ();
    s_start ();
    pair_register (&s_pair, "b", 1002, "");
    pair_await (&s_pair, "b", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1002);
    s_send ("b", (pair_event_t){ZPEER_REGISTER, 1002, 0, 0}, s_as_snapshot);
    pair_await (&s_pair, "b", "UP", "UNKNOWN", 1002);
}

Test (marks, a_snapshot_brings_a_lower_timestamp)
{
    pair_register (&s_pair, "c", 1000, "");
    pair_await (&s_pair, "c", "UP", "UNKNOWN", 1000);
    s_send ("c", (pair_event_t){ZPEER_REGISTER, 900, ZPEER_DOWN, 0},
            s_as_snapshot);
    pair_await (&s_pair, "c", "DOWN", "UNKNOWN", 900);
}

//  ---- What others did

//  1. An operator sets an override at the servers  2. a resync from here, which does
//  not know it, takes it away  3. the source hears of it
Test (marks, an_override_of_another_outlives_our_resync)
{
    pair_register (&s_pair, "d", 1000, "");
    pair_await (&s_pair, "d", "UP", "UNKNOWN", 1000);
    pair_other_sends (&s_pair, "d",
                      "\"action\":\"StatusUpdate\",\"lastDirtyTimestamp\":1000,"
                      "\"status\":\"OUT_OF_SERVICE\"");
    pair_expect (&s_pair, "d", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1000);
    for (size_t i = 0; i < s_pair.count; i++)
        zpeer_engine_resync_peer (s_pair.engine, s_pair.peers[i].url);
    pair_await (&s_pair, "d", "UP", "UNKNOWN", 1000);
    s_send ("d", (pair_event_t){ZPEER_STATUS_UPDATE, 1000, OUT, 0},
            s_as_replicated);
    pair_await (&s_pair, "d", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1000);
}

//  What a client says to the first server
static void
s_call (const char *method, const char *id, const char *rest, const char *body)
{
    char path[256];
    snprintf (path, sizeof path, "apps/%s%s%s%s", s_pair.app, id ? "/" : "",
              id ? pair_id (&s_pair, id) : "", rest);
    int status = remote_call (s_pair.peers[0].remote, method, path, NULL, body,
                              body ? strlen (body) : 0, NULL);
    cr_assert (status == 200 || status == 204, "%s %s: %d", method, path,
               status);
}

static void
s_client_registers (const char *id)
{
    char body[1024];
    snprintf (body, sizeof body,
              "{\"instance\":{\"instanceId\":\"%s\",\"app\":\"%s\","
              "\"hostName\":\"shop02.example.net\",\"ipAddr\":\"192.0.2.52\","
              "\"status\":\"UP\",\"lastDirtyTimestamp\":\"1000\","
              "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
              "MyDataCenterInfo\",\"name\":\"MyOwn\"}}}",
              pair_id (&s_pair, id), s_pair.app);
    s_call ("POST", NULL, "", body);
}

//  A client registers at one server, and its operator sets an override there
Test (marks, what_a_client_tells_one_server_is_told_to_the_other)
{
    s_client_registers ("e");
    s_send ("e", (pair_event_t){ZPEER_REGISTER, 1000, 0, 0}, s_as_told);
    pair_await (&s_pair, "e", "UP", "UNKNOWN", 1000);
    s_call ("PUT", "e", "/status?value=OUT_OF_SERVICE&lastDirtyTimestamp=1000",
            NULL);
    s_send ("e", (pair_event_t){ZPEER_STATUS_UPDATE, 1000, OUT, 0}, s_as_told);
    pair_await (&s_pair, "e", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1000);
    s_call ("DELETE", "e", "", NULL);
    s_send ("e", (pair_event_t){ZPEER_CANCEL, 0, 0, 0}, s_as_told);
    pair_await_gone (&s_pair, "e");
}

//  It came back empty, and its client registered there anew
Test (marks, the_server_it_came_from_is_owed_what_the_source_has_besides)
{
    pair_register (&s_pair, "f", 1000, "");
    pair_send (&s_pair, "f", &(pair_event_t){ZPEER_STATUS_UPDATE, 1000, OUT, 0},
               1);
    pair_await (&s_pair, "f", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1000);
    s_call ("DELETE", "f", "", NULL);
    s_client_registers ("f");
    s_send ("f", (pair_event_t){ZPEER_REGISTER, 1000, 0, 0}, s_as_told);
    pair_await (&s_pair, "f", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1000);
}
