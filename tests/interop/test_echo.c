//  What zpeer sends stays where it was sent: servers that are each other's peers
//  do not send it on

#include <criterion/criterion.h>
#include <criterion/options.h>
#include <czmq.h>
#include <stdio.h>
#include <string.h>
#include "figures.h"
#include "lines.h"
#include "banned.h"

#define INSTANCES 20

static const char *const s_names[] = {"one", "two"};

static pair_t s_pair;
static unsigned s_before[2];  //  Requests the servers had logged before

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (echo, .fini = s_stop, .timeout = 120);

//  One test at a time: all count in the same logs
__attribute__ ((constructor)) static void
s_configure (void)
{
    criterion_options.jobs = 1;
}

//  ---- What zpeer sends

static void
s_send (const char *id, zpeer_action_t action, uint64_t at,
        zpeer_status_t status)
{
    pair_send (&s_pair, id, &(pair_event_t){action, at, status, 0}, 1);
    pair_delivered (&s_pair, pair_id (&s_pair, id), zpeer_action_name (action));
}

//  Spring servers refuse it, as they do every one
static void
s_send_asg (void)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_ASG_STATUS_UPDATE);
    zpeer_event_set_asg (event, "catalog-v007");
    zpeer_event_set_status (event, ZPEER_OUT_OF_SERVICE);
    stage_send (s_pair.feed, event);
    zpeer_event_destroy (&event);
    pair_outcomes (&s_pair, "rejected", "asg", "catalog-v007");
}

//  Every action, each of them delivered when the next is sent
static void
s_send_all (void)
{
    char id[16];
    for (unsigned i = 0; i < INSTANCES; i++) {
        snprintf (id, sizeof id, "%u", i);
        pair_register (&s_pair, id, 1000, "");
    }
    pair_delivered (&s_pair, pair_id (&s_pair, id), "Register");
    s_send ("0", ZPEER_HEARTBEAT, 1000, 0);
    s_send ("1", ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    s_send ("1", ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_UP);
    s_send ("2", ZPEER_CANCEL, 0, 0);
    s_send_asg ();
    pair_await_count (&s_pair, s_pair.app, INSTANCES - 1);
}

//  ---- What a client says, which servers do send on

//  Registers an instance at a server, without the header of replication, or
//  cancels it
static void
s_client (remote_t *remote, const char *method)
{
    char *path = NULL;
    char *body = NULL;
    const char *id = pair_id (&s_pair, "control");
    bool posts = !strcmp (method, "POST");
    cr_assert (
        asprintf (&path, posts ? "apps/%s" : "apps/%s/%s", s_pair.app, id) > 0);
    cr_assert (asprintf (&body,
                         "{\"instance\":{\"instanceId\":\"%s\",\"app\":\"%s\","
                         "\"hostName\":\"h\",\"ipAddr\":\"192.0.2.9\","
                         "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
                         "MyDataCenterInfo\",\"name\":\"MyOwn\"},"
                         "\"lastDirtyTimestamp\":\"1000\"}}",
                         id, s_pair.app) > 0);
    int status = remote_call (remote, method, path, NULL, posts ? body : NULL,
                              posts ? strlen (body) : 0, NULL);
    cr_assert_eq (status / 100, 2, "%s %s: %d", method, path, status);
    free (path);
    free (body);
}

//  Waits until the server has the client's instance, or has it no more. It looks
//  again whenever the engine has published statistics.
static void
s_await_control (remote_t *remote, bool there)
{
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    const char *id = pair_id (&s_pair, "control");
    bool found = !there;
    while (found != there && zclock_mono () < until) {
        json_t *info = remote_instance (remote, s_pair.app, id);
        found = info != NULL;
        json_decref (info);
        if (found != there)
            figure_of (&s_pair, 0, "peer", "waiting");
    }
    cr_assert_eq (found, there, "the servers are no peers");
}

//  ---- Both together

//  Waits until a server has logged so many requests; a line may come a little
//  later than the answer
static void
s_expect_changes (size_t node, unsigned count)
{
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    unsigned had = 0;
    do
        had = lines_changes (s_names[node]) - s_before[node];
    while (had < count && zclock_mono () < until &&
           figure_of (&s_pair, 0, "peer", "waiting") >= 0);
    cr_expect_eq (had, count, "%s had %u requests, not %u", s_names[node], had,
                  count);
}

//  Its GET apps has so many instances, at the latest when its cache is over
static void
s_expect_count (remote_t *remote, size_t count)
{
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    size_t held;
    do
        held = remote_count (remote, s_pair.app);
    while (held != count && zclock_mono () < until &&
           figure_of (&s_pair, 0, "peer", "waiting") >= 0);
    cr_expect_eq (held, count, "%zu instances, not %zu", held, count);
}

static void
s_open (const char *const *set, size_t peers)
{
    for (size_t i = 0; i < 2; i++)
        s_before[i] = lines_changes (s_names[i]);
    pair_start (&s_pair, set);
    for (size_t i = 0; i < peers; i++)
        pair_add (&s_pair, remote_named (s_names[i]), NULL);
}

//  What a client says comes after all that zpeer sent, and servers keep that
//  order: once it is with the other server, so would an echo be.
//  1. zpeer sends, and counts its requests.
//  2. A client registers an instance at the first server: one request there, and
//     one more to the second, which thereby has it.
//  3. It cancels it at the second: one request there, one more to the first.
//  Whatever else a server has logged is an echo.
static void
s_expect_no_echo (const char *const *set, size_t peers)
{
    unsigned sent[2] = {0, 0};
    remote_t *remotes[2];
    s_open (set, peers);
    s_send_all ();
    for (size_t i = 0; i < peers; i++)
        sent[i] = (unsigned) figure_of (&s_pair, i, "dispatcher", "requests");
    for (size_t i = 0; i < 2; i++)
        remotes[i] = remote_named (s_names[i]);
    s_client (remotes[0], "POST");
    s_await_control (remotes[1], true);
    s_client (remotes[1], "DELETE");
    s_await_control (remotes[0], false);
    for (size_t i = 0; i < 2; i++) {
        s_expect_changes (i, sent[i] + 2);
        s_expect_count (remotes[i], i < peers ? INSTANCES - 1 : 0);
        remote_destroy (&remotes[i]);
    }
    cr_expect_gt (sent[0], 5);
}

Test (echo, batches_are_not_sent_on)
{
    s_expect_no_echo (NULL, 1);
}

Test (echo, calls_are_not_sent_on)
{
    s_expect_no_echo (s_single, 1);
}

Test (echo, batches_to_both_run_in_no_circle)
{
    s_expect_no_echo (NULL, 2);
}

Test (echo, calls_to_both_run_in_no_circle)
{
    s_expect_no_echo (s_single, 2);
}

//  The count would rise: the header is what keeps a call from being sent on
Test (echo, the_same_call_without_its_header_is_sent_on)
{
    s_open (NULL, 1);
    remote_t *two = remote_named ("two");
    unsigned before = lines_with ("two", "peerreplication/batch");
    s_client (s_pair.peers[0].remote, "POST");
    s_await_control (two, true);
    s_client (s_pair.peers[0].remote, "DELETE");
    s_await_control (two, false);
    cr_expect_gt (lines_with ("two", "peerreplication/batch"), before);
    remote_destroy (&two);
}
