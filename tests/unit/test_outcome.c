#include <criterion/criterion.h>
#include <msgpack.h>
#include "outcome.h"
#include "banned.h"

#define TEXT_MAX 16384

static zpeer_buffer_t s_out;
static zpeer_state_t *s_state;
static const zpeer_slice_t s_peer = {"http://peer1:8761/eureka/", 25};
static const zpeer_slice_t s_none = {NULL, 0};

static zpeer_state_t *
s_new_state (zpeer_slice_t app, zpeer_slice_t id)
{
    zpeer_name_t *name = zpeer_name_new (app, id);
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    return state;
}

static void
s_setup (void)
{
    s_state = s_new_state (ZPEER_SLICE ("ORDERS"), ZPEER_SLICE ("host:1"));
    s_state->timestamp = 7;
    s_state->top = 9;
}

static void
s_teardown (void)
{
    zpeer_state_unref (&s_state);
    zpeer_buffer_free (&s_out);
}

//  The one map in s_out as text, as msgpack-c prints it; valid until the next
static const char *
s_text (void)
{
    static char text[TEXT_MAX];
    msgpack_unpacked unpacked;
    msgpack_unpacked_init (&unpacked);
    size_t offset = 0;
    cr_assert_eq (
        msgpack_unpack_next (&unpacked, s_out.data, s_out.size, &offset),
        MSGPACK_UNPACK_SUCCESS);
    cr_assert_eq (offset, s_out.size, "one map and nothing behind it");
    cr_assert_eq (unpacked.data.type, MSGPACK_OBJECT_MAP);
    msgpack_object_print_buffer (text, sizeof text, unpacked.data);
    msgpack_unpacked_destroy (&unpacked);
    zpeer_buffer_reset (&s_out);
    return text;
}

TestSuite (outcome, .init = s_setup, .fini = s_teardown);

Test (outcome, a_conflict_carries_the_peers_copy_as_it_was)
{
    zpeer_copy_t copy = {0, 11, ZPEER_SLICE ("{\"a\":1}")};
    zpeer_outcome_conflict (&s_out, s_peer, s_state, &copy);
    cr_expect_str_eq (s_text (),
                      "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                      "\"app\"=>\"ORDERS\", \"id\"=>\"host:1\", "
                      "\"lastDirtyTimestamp\"=>11, \"ownTimestamp\"=>9, "
                      "\"copy\"=>\"{\"a\":1}\"}");
}

Test (outcome, a_conflict_may_come_without_a_copy)
{
    zpeer_outcome_conflict (&s_out, s_peer, s_state, NULL);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"app\"=>\"ORDERS\", \"id\"=>\"host:1\", "
                                 "\"ownTimestamp\"=>9}");
}

Test (outcome, a_rejection_says_what_was_answered)
{
    zpeer_outcome_rejected (&s_out, s_peer, s_state, 500, 3);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"app\"=>\"ORDERS\", \"id\"=>\"host:1\", "
                                 "\"lastDirtyTimestamp\"=>9, \"status\"=>500, "
                                 "\"batch\"=>3}");
}

Test (outcome, what_is_not_known_is_left_out)
{
    zpeer_outcome_need_register (&s_out, s_none, ZPEER_SLICE ("ORDERS"),
                                 ZPEER_SLICE ("host:1"), 0);
    cr_expect_str_eq (s_text (), "{\"app\"=>\"ORDERS\", \"id\"=>\"host:1\"}");
    zpeer_outcome_need_register (&s_out, s_peer, ZPEER_SLICE ("A"),
                                 ZPEER_SLICE ("b"), 5);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"app\"=>\"A\", \"id\"=>\"b\", "
                                 "\"lastDirtyTimestamp\"=>5}");
}

Test (outcome, the_bytes_are_those_of_the_protocol_page)
{
    zpeer_outcome_need_register (&s_out, s_none, ZPEER_SLICE ("CATALOG"),
                                 ZPEER_SLICE ("shop02:9001"), 1718271499871);
    static const char bytes[] = "\xde\x00\x03\xa3"
                                "app\xa7"
                                "CATALOG\xa2"
                                "id\xab"
                                "shop02:9001\xb2"
                                "lastDirtyTimestamp\xcf\x00\x00\x01\x90\x10"
                                "\xf6\x5e\x5f";
    cr_assert_eq (s_out.size, sizeof bytes - 1);
    cr_expect_arr_eq (s_out.data, bytes, sizeof bytes - 1);
}

Test (outcome, a_delivery_names_its_actions)
{
    unsigned actions = ZPEER_ACTION_BIT (ZPEER_REGISTER) |
                       ZPEER_ACTION_BIT (ZPEER_STATUS_UPDATE);
    zpeer_outcome_delivered (&s_out, s_peer, s_state, actions, 4);
    cr_expect_str_eq (s_text (),
                      "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                      "\"app\"=>\"ORDERS\", \"id\"=>\"host:1\", "
                      "\"actions\"=>[\"Register\", \"StatusUpdate\"], "
                      "\"lastDirtyTimestamp\"=>7, \"batch\"=>4}");
}

Test (outcome, an_asg_has_a_name_and_no_app)
{
    zpeer_state_t *asg = s_new_state (s_none, ZPEER_SLICE ("group"));
    zpeer_outcome_delivered (&s_out, s_none, asg,
                             ZPEER_ACTION_BIT (ZPEER_ASG_STATUS_UPDATE), 0);
    cr_expect_str_eq (s_text (), "{\"asg\"=>\"group\", "
                                 "\"actions\"=>[\"AsgStatusUpdate\"]}");
    zpeer_state_unref (&asg);
}

Test (outcome, a_peers_state_comes_with_its_counter)
{
    zpeer_peer_change_t change = {.peer = s_peer,
                                  .state = ZPEER_PEER_ESCALATED,
                                  .count = 10,
                                  .max = 10,
                                  .tasks = 250,
                                  .end = ZPEER_SLICE ("read timeout")};
    zpeer_outcome_peer (&s_out, &change);
    cr_expect_str_eq (s_text (),
                      "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                      "\"state\"=>\"escalated\", \"count\"=>10, \"max\"=>10, "
                      "\"tasks\"=>250, \"end\"=>\"read timeout\"}");
    change = (zpeer_peer_change_t){.peer = s_peer, .state = ZPEER_PEER_ADDED};
    zpeer_outcome_peer (&s_out, &change);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"state\"=>\"added\"}");
}

Test (outcome, a_peer_that_answers_again_tells_what_it_missed)
{
    zpeer_absence_t absence = {.ms = 61000, .owed = 12};
    absence.kinds[ZPEER_REGISTER] = 3;
    absence.kinds[ZPEER_HEARTBEAT] = 247;
    zpeer_peer_change_t change = {.peer = s_peer,
                                  .state = ZPEER_PEER_RECOVERED,
                                  .count = 10,
                                  .max = 10,
                                  .absence = &absence};
    zpeer_outcome_peer (&s_out, &change);
    cr_expect_str_eq (s_text (),
                      "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                      "\"state\"=>\"recovered\", \"count\"=>10, \"max\"=>10, "
                      "\"away-ms\"=>61000, "
                      "\"dropped\"=>{\"Register\"=>3, \"Heartbeat\"=>247}, "
                      "\"owed\"=>12}");
}

Test (outcome, an_absence_that_cost_nothing_says_so)
{
    zpeer_absence_t absence = {0};
    zpeer_peer_change_t change = {
        .peer = s_peer, .state = ZPEER_PEER_HEALTHY, .absence = &absence};
    zpeer_outcome_peer (&s_out, &change);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"state\"=>\"healthy\", \"away-ms\"=>0, "
                                 "\"dropped\"=>{}, \"owed\"=>0}");
}

Test (outcome, a_whole_peer_tells_how_long_it_was_not)
{
    zpeer_peer_change_t change = {.peer = s_peer, .state = ZPEER_PEER_WHOLE};
    zpeer_outcome_peer (&s_out, &change);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"state\"=>\"whole\", \"ms\"=>0}");
}

Test (outcome, a_resync_begins_without_numbers)
{
    zpeer_resync_t resync = {.peer = s_peer};
    zpeer_outcome_resync (&s_out, &resync);
    cr_expect_str_eq (s_text (), "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                                 "\"kind\"=>\"resync\", \"state\"=>\"begun\"}");
}

Test (outcome, a_resync_that_goes_on_has_all_its_numbers)
{
    zpeer_resync_t resync = {.peer = s_peer,
                             .verify = true,
                             .state = ZPEER_RESYNC_ENDED,
                             .instances = 250,
                             .repaired = 2,
                             .ms = 40};
    zpeer_outcome_resync (&s_out, &resync);
    cr_expect_str_eq (s_text (),
                      "{\"peer\"=>\"http://peer1:8761/eureka/\", "
                      "\"kind\"=>\"verify\", \"state\"=>\"ended\", "
                      "\"instances\"=>250, \"left\"=>0, \"repaired\"=>2, "
                      "\"refused\"=>0, \"ms\"=>40}");
}

Test (outcome, what_was_dropped_is_counted_by_kind)
{
    zpeer_dropped_t dropped = {0};
    zpeer_state_t *other = s_new_state (ZPEER_SLICE ("A"), ZPEER_SLICE ("b"));
    zpeer_dropped_add (&dropped, s_state,
                       ZPEER_ACTION_BIT (ZPEER_REGISTER) |
                           ZPEER_ACTION_BIT (ZPEER_CANCEL));
    zpeer_dropped_add (&dropped, other, ZPEER_ACTION_BIT (ZPEER_CANCEL));
    zpeer_outcome_dropped (&s_out, s_peer, ZPEER_SLICE ("escalated"), 12,
                           &dropped);
    cr_expect_str_eq (
        s_text (),
        "{\"peer\"=>\"http://peer1:8761/eureka/\", \"reason\"=>\"escalated\", "
        "\"batch\"=>12, \"tasks\"=>3, \"instances\"=>2, "
        "\"kinds\"=>{\"Register\"=>1, \"Cancel\"=>2}, "
        "\"keys\"=>[[\"ORDERS\", \"host:1\"], [\"A\", \"b\"]]}");

    //  It is empty again
    zpeer_dropped_add (&dropped, other, ZPEER_ACTION_BIT (ZPEER_HEARTBEAT));
    zpeer_outcome_dropped (&s_out, s_peer, ZPEER_SLICE ("failed"), 0, &dropped);
    cr_expect_str_eq (
        s_text (),
        "{\"peer\"=>\"http://peer1:8761/eureka/\", \"reason\"=>\"failed\", "
        "\"tasks\"=>1, \"instances\"=>1, \"kinds\"=>{\"Heartbeat\"=>1}, "
        "\"keys\"=>[[\"A\", \"b\"]]}");
    zpeer_dropped_free (&dropped);
    zpeer_state_unref (&other);
}

Test (outcome, a_hundred_dropped_instances_are_listed_and_all_are_counted)
{
    zpeer_dropped_t dropped = {0};
    for (int i = 0; i < 250; i++)
        zpeer_dropped_add (&dropped, s_state,
                           ZPEER_ACTION_BIT (ZPEER_HEARTBEAT));
    cr_expect_eq (dropped.listed, ZPEER_DROPPED_LISTED_MAX);
    zpeer_outcome_dropped (&s_out, s_peer, ZPEER_SLICE ("failed"), 1, &dropped);
    const char *text = s_text ();
    cr_expect (strstr (text, "\"tasks\"=>250, \"instances\"=>250"));
    int listed = 0;
    while ((text = strstr (text, "[\"ORDERS\""))) {
        listed++;
        text++;
    }
    cr_expect_eq (listed, 100);
    zpeer_dropped_free (&dropped);
}

Test (outcome, figures_of_any_number_make_one_map)
{
    zpeer_outcome_t stats;
    zpeer_outcome_stats (&stats, &s_out, ZPEER_SLICE ("peer"), s_peer);
    zpeer_outcome_uint (&stats, "delivered", UINT64_MAX);
    char key[16];
    for (int i = 0; i < 300; i++) {
        snprintf (key, sizeof key, "figure%d", i);
        zpeer_outcome_uint (&stats, key, 1);
    }
    zpeer_outcome_end (&stats);
    const char *text = s_text ();
    cr_expect (strstr (text, "{\"source\"=>\"peer\", \"peer\"=>\"http:"));
    cr_expect (strstr (text, "\"delivered\"=>18446744073709551615"));
    cr_expect (strstr (text, "\"figure299\"=>1}"));
}

Test (outcome, topics_and_states_have_their_texts)
{
    cr_expect_str_eq (zpeer_topic_text (ZPEER_TOPIC_CONFLICT), "conflict");
    cr_expect_str_eq (zpeer_topic_text (ZPEER_TOPIC_STATS), "stats");
    cr_expect_str_eq (zpeer_topic_text (ZPEER_TOPIC_COUNT), "?");
    cr_expect_str_eq (zpeer_peer_state_text (ZPEER_PEER_RECOVERED),
                      "recovered");
    cr_expect_str_eq (zpeer_peer_state_text (ZPEER_PEER_STATE_COUNT), "?");
    cr_expect_str_eq (zpeer_resync_state_text (ZPEER_RESYNC_REPLACED),
                      "replaced");
    cr_expect_str_eq (zpeer_resync_state_text (ZPEER_RESYNC_STATE_COUNT), "?");
}
