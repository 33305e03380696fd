//  Events that follow each other within half a second: zpeer tells the last state,
//  the reference tells its queue

#include <criterion/criterion.h>
#include <czmq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lines.h"
#include "malformed.h"
#include "pair.h"
#include "banned.h"

#define STATE_MAX 64

//  For the reference to start, on a busy machine, and to send
#define REFERENCE_MS 60000

static pair_t s_pair;
static lines_program_t s_reference;
static char s_app[32];  //  The reference's; zpeer's is the pair's

static void
s_stop (void)
{
    if (s_reference.file)
        fputs ("quit\n", s_reference.file);
    lines_end (&s_reference);
    pair_close (&s_pair);
}

TestSuite (order, .fini = s_stop, .timeout = 120);

//  Lines of JSON as both read them
#define REGISTER(at)                                                           \
    "{\"action\":\"Register\",\"app\":\"%a\",\"id\":\"%i\","                   \
    "\"lastDirtyTimestamp\":" at ",\"info\":{\"hostName\":\"h\",\"ipAddr\":"   \
    "\"192.0.2.1\",\"dataCenterInfo\":%c,\"status\":\"UP\"}}"
#define CANCEL "{\"action\":\"Cancel\",\"app\":\"%a\",\"id\":\"%i\"}"
#define UPDATE(at)                                                             \
    "{\"action\":\"StatusUpdate\",\"app\":\"%a\",\"id\":\"%i\","               \
    "\"lastDirtyTimestamp\":" at ",\"status\":\"OUT_OF_SERVICE\"}"
#define DELETE(at)                                                             \
    "{\"action\":\"DeleteStatusOverride\",\"app\":\"%a\",\"id\":\"%i\","       \
    "\"lastDirtyTimestamp\":" at ",\"status\":\"UP\"}"

//  One engine and one node of the reference, both with the same server as peer
static void
s_open (void)
{
    char arguments[256];
    pair_open (&s_pair, NULL);
    snprintf (s_app, sizeof s_app, "REF%d", getpid ());
    snprintf (arguments, sizeof arguments, "--peer %s", s_pair.peers[0].url);
    lines_start (&s_reference, "ZPEER_REFERENCE_NODE", arguments, "w");
    s_pair.limit_ms = REFERENCE_MS;
}

//  The same line for both, each about an application of its own
static void
s_feed (const char *id, const char *line, zpeer_buffer_t *frame)
{
    char name[64];
    snprintf (name, sizeof name, "%s:%s", s_app, id);
    char *text = malformed_expand (line, s_app, name);
    fprintf (s_reference.file, "%s\n", text);
    free (text);
    text = malformed_expand (line, s_pair.app, pair_id (&s_pair, id));
    json_t *event = json_loads (text, 0, NULL);
    cr_assert (event, "%s", text);
    malformed_pack (event, frame);
    json_decref (event);
    free (text);
}

//  Feeds these events about one instance, NULL behind the last, and then the
//  Register of another, at once
static void
s_feed_all (const char *id, const char *const *lines, const char *marker)
{
    zpeer_buffer_t frame = {0};
    unsigned count = 1;
    for (; lines[count - 1]; count++)
        s_feed (id, lines[count - 1], &frame);
    s_feed (marker, REGISTER ("1000"), &frame);
    fflush (s_reference.file);
    cr_assert_eq (zpeer_feed_send_frame (s_pair.feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    stage_accepted (s_pair.feed, count);
    zpeer_buffer_free (&frame);
}

//  What the server holds of an instance of one of the two
static void
s_state (const char *app, const char *id, char state[STATE_MAX])
{
    char name[64];
    snprintf (name, sizeof name, "%s:%s", app, id);
    json_t *info = remote_instance (s_pair.peers[0].remote, app, name);
    if (info)
        snprintf (
            state, STATE_MAX, "%s/%s",
            json_string_value (json_object_get (info, "status")),
            json_string_value (json_object_get (info, "overriddenStatus")));
    else
        snprintf (state, STATE_MAX, "nothing");
    json_decref (info);
}

//  Waits until the server has the marker of both: what came before it has been
//  sent, in the same batch
static void
s_await_marker (const char *marker)
{
    char state[STATE_MAX] = "";
    int64_t until = zclock_mono () + s_pair.limit_ms;
    pair_await (&s_pair, marker, "UP", "UNKNOWN", 1000);
    while (strcmp (state, "UP/UNKNOWN") != 0 && zclock_mono () < until) {
        s_state (s_app, marker, state);
        pair_await (&s_pair, marker, "UP", "UNKNOWN", 1000);
    }
    cr_assert_str_eq (state, "UP/UNKNOWN", "the reference sent nothing");
}

static void
s_expect (const char *const *lines, const char *zpeer, const char *reference)
{
    char state[STATE_MAX];
    s_feed_all ("x", lines, "marker");
    s_await_marker ("marker");
    s_state (s_pair.app, "x", state);
    cr_expect_str_eq (state, zpeer, "zpeer ends with %s", state);
    s_state (s_app, "x", state);
    cr_expect_str_eq (state, reference, "the reference ends with %s", state);
}

//  In the reference's queue the second Register takes the place of the first, and
//  the Cancel comes behind it
Test (order, register_cancel_register_ends_with_the_instance)
{
    static const char *const lines[] = {REGISTER ("1000"), CANCEL,
                                        REGISTER ("1001"), NULL};
    s_open ();
    s_expect (lines, "UP/UNKNOWN", "nothing");
}

//  So does the second update, and the deletion comes behind it. Deletion, update,
//  deletion ends well with the reference: its update says what has become of the
//  instance by the time it is sent.
Test (order, an_override_that_is_set_again_is_held)
{
    static const char *const before[] = {REGISTER ("1000"), NULL};
    static const char *const lines[] = {UPDATE ("1001"), DELETE ("1002"),
                                        UPDATE ("1003"), NULL};
    s_open ();
    s_feed_all ("x", before, "before");
    s_await_marker ("before");
    s_expect (lines, "OUT_OF_SERVICE/OUT_OF_SERVICE", "OUT_OF_SERVICE/UNKNOWN");
}
