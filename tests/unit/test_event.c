#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <zpeer/event.h>
#include "event.h"
#include "banned.h"

#define APP "CATALOG"
#define ID  "shop02.example.net:catalog:9001"
#define AT  UINT64_C (1718271499871)

static zpeer_event_t *
s_register (void)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    cr_assert_not (zpeer_event_set_app (event, APP));
    cr_assert_not (zpeer_event_set_id (event, ID));
    cr_assert_not (zpeer_event_set_timestamp (event, AT));
    cr_assert_not (zpeer_event_put_str (event, "hostName", "shop02"));
    cr_assert_not (zpeer_event_put_str (event, "ipAddr", "192.0.2.52"));
    return event;
}

static void
s_assert_accepted (const zpeer_event_t *event)
{
    char reason[256] = "";
    int rc = zpeer_event_check (event, reason, sizeof reason);
    cr_assert_eq (rc, ZPEER_OK, "%s", reason);
}

Test (event, a_register_of_name_host_address_and_time_is_enough)
{
    zpeer_event_t *event = s_register ();
    s_assert_accepted (event);
    zpeer_event_destroy (&event);
    cr_assert_null (event);
    zpeer_event_destroy (&event);
}

static void
s_assert_refused (const zpeer_event_t *event, const char *expected)
{
    char reason[256] = "";
    cr_assert_eq (zpeer_event_check (event, reason, sizeof reason),
                  ZPEER_E_REJECTED);
    cr_assert_str_eq (reason, expected);
}

//  Encoded and decoded again
static zpeer_event_t *
s_again (const zpeer_event_t *event)
{
    size_t size = zpeer_event_size (event);
    char *frame = malloc (size);
    size_t used = 0;
    size_t offset = 0;
    zpeer_event_t *again = NULL;
    char reason[256] = "";
    cr_assert_eq (zpeer_event_encode (event, frame, size, &used), ZPEER_OK);
    cr_assert_eq (used, size);
    cr_assert_eq (zpeer_event_decode (frame, used, &offset, &again, reason,
                                      sizeof reason),
                  ZPEER_OK, "%s", reason);
    cr_assert_eq (offset, used);
    free (frame);
    return again;
}

Test (event, names_are_checked_when_they_are_set)
{
    char name[600];
    memset (name, 'n', sizeof name);
    name[513] = 0;
    zpeer_event_t *event = zpeer_event_new (ZPEER_CANCEL);
    cr_assert_eq (zpeer_event_set_app (event, ""), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_set_app (event, " "), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_set_id (event, "a\nb"), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_set_id (event, "\xff"), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_set_id (event, name), ZPEER_E_TOO_LARGE);
    cr_assert_eq (zpeer_event_set_app (event, name + 257), ZPEER_E_TOO_LARGE);
    cr_assert_eq (zpeer_event_set_asg (event, name + 257), ZPEER_E_TOO_LARGE);
    cr_assert_str_empty (zpeer_event_app (event));
    cr_assert_str_empty (zpeer_event_id (event));
    cr_assert_eq (zpeer_event_set_id (event, name + 1), ZPEER_OK);
    cr_assert_eq (zpeer_event_set_app (event, name + 258), ZPEER_OK);
    s_assert_accepted (event);
    zpeer_event_destroy (&event);
}

Test (event, times_and_statuses_have_ranges)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_HEARTBEAT);
    cr_assert_eq (zpeer_event_set_id (event, ".."), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_set_id (event, "..."), ZPEER_OK);
    cr_assert_eq (zpeer_event_set_timestamp (event, 0), ZPEER_E_RANGE);
    cr_assert_eq (zpeer_event_set_timestamp (event, UINT64_MAX), ZPEER_E_RANGE);
    cr_assert_eq (zpeer_event_set_timestamp (event, ZPEER_TIMESTAMP_MAX + 1),
                  ZPEER_E_RANGE);
    cr_assert_eq (zpeer_event_set_timestamp (event, ZPEER_TIMESTAMP_MAX),
                  ZPEER_OK);
    cr_assert_eq (zpeer_event_set_status (event, ZPEER_STATUSES),
                  ZPEER_E_RANGE);
    cr_assert_eq (
        zpeer_event_set_overridden_status (event, (zpeer_status_t) -1),
        ZPEER_E_RANGE);
    zpeer_event_destroy (&event);
}

Test (event, members_are_put_by_their_name_and_type)
{
    zpeer_event_t *event = s_register ();
    cr_assert_eq (zpeer_event_put_str (event, "hostname", "h"),
                  ZPEER_E_UNKNOWN);
    cr_assert_eq (zpeer_event_put_str (event, "port", "80"), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_put_str (event, "sid", "\xff"), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_put_int (event, "hostName", 1), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_put_bool (event, "countryId", true),
                  ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_put_port (event, 65536, true), ZPEER_E_RANGE);
    cr_assert_eq (zpeer_event_put_lease (event, 0, 90), ZPEER_E_RANGE);
    cr_assert_eq (zpeer_event_put_data_center (event, "Mine"), ZPEER_E_UNKNOWN);
    cr_assert_eq (zpeer_event_put_metadata (event, "@class", "x"),
                  ZPEER_E_INVALID);
    s_assert_accepted (event);
    zpeer_event_destroy (&event);
}

Test (event, only_a_register_has_an_instance_info)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_HEARTBEAT);
    cr_assert_eq (zpeer_event_put_str (event, "sid", "s"), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_put_int (event, "countryId", 1), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_put_port (event, 1, true), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_put_lease (event, 1, 1), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_put_data_center (event, "MyOwn"), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_put_amazon (event, "a", "b"), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_put_metadata (event, "a", "b"), ZPEER_E_STATE);
    cr_assert_eq (zpeer_event_set_info_json (event, "{}", 2, NULL, 0),
                  ZPEER_E_STATE);
    cr_assert_null (zpeer_event_info_json (event));
    zpeer_event_destroy (&event);
}

Test (event, check_says_what_the_engine_would_say)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    s_assert_refused (event, "app is missing");
    zpeer_event_set_app (event, APP);
    zpeer_event_set_id (event, ID);
    s_assert_refused (event, "info.hostName is missing");
    zpeer_event_destroy (&event);
}

Test (event, a_register_is_the_same_after_encoding_and_decoding)
{
    zpeer_event_t *event = s_register ();
    zpeer_event_put_port (event, 9001, true);
    zpeer_event_put_secure_port (event, 9002, false);
    zpeer_event_put_lease (event, 20, 60);
    zpeer_event_put_amazon (event, "instance-id", "i-1");
    zpeer_event_put_metadata (event, "tier", "\"front\"\n");
    zpeer_event_put_bool (event, "isCoordinatingDiscoveryServer", true);
    zpeer_event_put_int (event, "lastUpdatedTimestamp", 5);
    zpeer_event_set_status (event, ZPEER_STARTING);
    zpeer_event_set_overridden_status (event, ZPEER_DOWN);
    zpeer_event_set_replicated (event, true);

    zpeer_event_t *once = s_again (event);
    zpeer_event_t *twice = s_again (once);
    cr_assert_eq (zpeer_event_action (twice), ZPEER_REGISTER);
    cr_assert_str_eq (zpeer_event_app (twice), APP);
    cr_assert_str_eq (zpeer_event_id (twice), ID);
    cr_assert_eq (zpeer_event_timestamp (twice), AT);
    cr_assert_eq (zpeer_event_status (twice), ZPEER_STARTING);
    cr_assert_eq (zpeer_event_overridden_status (twice), ZPEER_DOWN);
    cr_assert (zpeer_event_replicated (twice));
    char *first = zpeer_event_info_json (once);
    char *second = zpeer_event_info_json (twice);
    cr_assert_str_eq (first, second);
    cr_assert (strstr (first, "\"metadata\":{\"instance-id\":\"i-1\"}"));
    cr_assert (strstr (first, "{\"tier\":\"\\\"front\\\"\\n\"}"));
    free (first);
    free (second);
    zpeer_event_destroy (&event);
    zpeer_event_destroy (&once);
    zpeer_event_destroy (&twice);
}

Test (event, every_action_is_the_same_after_encoding_and_decoding)
{
    for (int action = ZPEER_HEARTBEAT; action < ZPEER_ACTIONS; action++) {
        bool asg = action == ZPEER_ASG_STATUS_UPDATE;
        zpeer_event_t *event = zpeer_event_new ((zpeer_action_t) action);
        if (asg)
            zpeer_event_set_asg (event, ID);
        else {
            zpeer_event_set_app (event, APP);
            zpeer_event_set_id (event, ID);
            zpeer_event_set_timestamp (event, AT);
        }
        zpeer_event_set_status (event, ZPEER_OUT_OF_SERVICE);
        zpeer_event_t *again = s_again (event);
        cr_assert_eq ((int) zpeer_event_action (again), action);
        cr_assert_str_eq (zpeer_event_app (again), asg ? "" : APP);
        cr_assert_str_eq (zpeer_event_id (again), ID);
        bool has_status = action != ZPEER_CANCEL && action != ZPEER_FORGET;
        cr_assert_eq (zpeer_event_status (again),
                      has_status ? ZPEER_OUT_OF_SERVICE : ZPEER_UNKNOWN);
        zpeer_event_destroy (&event);
        zpeer_event_destroy (&again);
    }
}

Test (event, marks_are_the_same_after_encoding_and_decoding)
{
    zpeer_event_t *event = s_register ();
    cr_assert_not (zpeer_event_snapshot (event));
    cr_assert_eq (zpeer_event_as_of (event), 0);
    cr_assert_str_eq (zpeer_event_origin (event), "");
    zpeer_event_set_snapshot (event, true);
    cr_assert_not (zpeer_event_set_as_of (event, AT));
    cr_assert_not (zpeer_event_set_origin (event, "http://a/"));
    cr_assert_not (zpeer_event_set_origin (event, "http://b/"));
    zpeer_event_t *again = s_again (event);
    cr_assert (zpeer_event_snapshot (again));
    cr_assert_eq (zpeer_event_as_of (again), AT);
    cr_assert_str_eq (zpeer_event_origin (again), "http://b/");
    zpeer_event_destroy (&again);
    zpeer_event_set_replicated (event, true);
    zpeer_event_set_snapshot (event, false);
    s_assert_refused (event, "origin contradicts replicated: one peer has it, "
                             "and all are said to have it");
    cr_assert_not (zpeer_event_set_origin (event, ""));
    cr_assert_not (zpeer_event_set_as_of (event, 0));
    s_assert_accepted (event);
    zpeer_event_destroy (&event);
}

Test (event, a_mark_that_cannot_be_leaves_the_event_as_it_was)
{
    char url[ZPEER_ORIGIN_MAX + 2];
    memset (url, 'u', sizeof url);
    url[sizeof url - 1] = 0;
    zpeer_event_t *event = s_register ();
    zpeer_event_set_origin (event, "http://a/");
    cr_assert_eq (zpeer_event_set_origin (event, url), ZPEER_E_TOO_LARGE);
    cr_assert_eq (zpeer_event_set_origin (event, "\xff"), ZPEER_E_INVALID);
    cr_assert_eq (zpeer_event_set_as_of (event, UINT64_MAX), ZPEER_E_RANGE);
    cr_assert_str_eq (zpeer_event_origin (event), "http://a/");
    zpeer_event_destroy (&event);
}

Test (event, several_events_go_into_one_frame)
{
    char frame[512];
    size_t used = 0;
    cr_assert_eq (zpeer_event_encode_simple (frame, sizeof frame, &used,
                                             ZPEER_HEARTBEAT, APP, ID, AT),
                  ZPEER_OK);
    size_t first = used;
    cr_assert_eq (zpeer_event_encode_simple (frame, sizeof frame, &used,
                                             ZPEER_CANCEL, APP, "other", 0),
                  ZPEER_OK);
    zpeer_event_t *event = NULL;
    size_t offset = 0;
    cr_assert_not (zpeer_event_decode (frame, used, &offset, &event, NULL, 0));
    cr_assert_eq (offset, first);
    cr_assert_eq (zpeer_event_timestamp (event), AT);
    zpeer_event_destroy (&event);
    cr_assert_not (zpeer_event_decode (frame, used, &offset, &event, NULL, 0));
    cr_assert_eq (offset, used);
    cr_assert_eq (zpeer_event_action (event), ZPEER_CANCEL);
    zpeer_event_destroy (&event);
}

Test (event, what_does_not_fit_is_not_counted)
{
    char frame[512];
    size_t used = 0;
    zpeer_event_encode_simple (frame, sizeof frame, &used, ZPEER_CANCEL, APP,
                               ID, 0);
    size_t size = used;
    for (size_t capacity = size; capacity < 2 * size; capacity++) {
        cr_assert_eq (zpeer_event_encode_simple (frame, capacity, &used,
                                                 ZPEER_CANCEL, APP, ID, 0),
                      ZPEER_E_TOO_LARGE);
        cr_assert_eq (used, size);
    }
    cr_assert_eq (zpeer_event_encode_simple (frame, 2 * size, &used,
                                             ZPEER_CANCEL, APP, ID, 0),
                  ZPEER_OK);
    cr_assert_eq (zpeer_event_encode_simple (frame, sizeof frame, &used,
                                             ZPEER_REGISTER, APP, ID, AT),
                  ZPEER_E_INVALID);
    cr_assert_eq (used, 2 * size);
}

//  Misuse, which base.h tells of

Test (event, an_action_that_does_not_exist_is_misuse, .signal = SIGABRT)
{
    zpeer_event_new (ZPEER_ACTIONS);
}

Test (event, an_offset_behind_the_end_is_misuse, .signal = SIGABRT)
{
    zpeer_event_t *event;
    size_t offset = 2;
    zpeer_event_decode ("", 1, &offset, &event, NULL, 0);
}
