/*  test_item.c - items of a batch and the requests that replace them

    Expected texts are those of EUREKA.md 2.3 and 1.9, members in that order.
*/
#include <criterion/criterion.h>
#include "item.h"
#include "banned.h"

#define INFO                                                                   \
    "{\"instanceId\":\"h:reports:7070\",\"hostName\":\"h\",\"app\":"           \
    "\"REPORTS\""

static zpeer_state_t *s_state;
static zpeer_buffer_t s_out;
static zpeer_buffer_t s_path;

static void
s_use (const char *app, const char *id, const char *info)
{
    zpeer_state_unref (&s_state);
    zpeer_name_t *name =
        zpeer_name_new (zpeer_slice_str (app), zpeer_slice_str (id));
    s_state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    if (info)
        s_state->info = zpeer_text_new (info, strlen (info));
}

static void
s_setup (void)
{
    s_use ("REPORTS", "h:reports:7070", INFO);
}

static void
s_teardown (void)
{
    zpeer_state_unref (&s_state);
    zpeer_buffer_free (&s_out);
    zpeer_buffer_free (&s_path);
}

TestSuite (item, .init = s_setup, .fini = s_teardown);

//  Writes the item with s_state; the text stays until the next call
static const char *
s_write (zpeer_item_t item)
{
    item.state = s_state;
    zpeer_buffer_reset (&s_out);
    zpeer_item_write (&item, &s_out);
    cr_assert_leq (s_out.size + 1, zpeer_item_bound (&item));
    zpeer_buffer_add (&s_out, "", 1);
    return s_out.data;
}

//  "METHOD path body"
static const char *
s_request (zpeer_item_t item)
{
    item.state = s_state;
    zpeer_buffer_t body = {0};
    zpeer_buffer_reset (&s_path);
    zpeer_buffer_reset (&s_out);
    const char *method = zpeer_item_request (&item, &s_path, &body);
    zpeer_buffer_add (&s_out, method, strlen (method));
    zpeer_buffer_lit (&s_out, " ");
    zpeer_buffer_add (&s_out, s_path.data, s_path.size);
    zpeer_buffer_lit (&s_out, " ");
    zpeer_buffer_add (&s_out, body.data, body.size);
    zpeer_buffer_add (&s_out, "", 1);
    zpeer_buffer_free (&body);
    return s_out.data;
}

Test (item, a_heartbeat_has_timestamp_as_number_and_status)
{
    zpeer_item_t item = {.action = ZPEER_HEARTBEAT,
                         .timestamp = 1718270911002,
                         .status = ZPEER_OUT_OF_SERVICE};
    cr_assert_str_eq (
        s_write (item),
        "{\"appName\":\"REPORTS\",\"id\":\"h:reports:7070\","
        "\"lastDirtyTimestamp\":1718270911002,"
        "\"status\":\"OUT_OF_SERVICE\",\"action\":\"Heartbeat\"}");
}

Test (item, a_heartbeat_without_timestamp_sends_none)
{
    zpeer_item_t item = {.action = ZPEER_HEARTBEAT, .status = ZPEER_UP};
    cr_assert_str_eq (s_write (item),
                      "{\"appName\":\"REPORTS\",\"id\":\"h:reports:7070\","
                      "\"status\":\"UP\",\"action\":\"Heartbeat\"}");
}

Test (item, a_register_ends_the_instance_with_its_state)
{
    zpeer_item_t item = {.action = ZPEER_REGISTER,
                         .timestamp = 1718272205117,
                         .status = ZPEER_DOWN,
                         .override = ZPEER_OUT_OF_SERVICE};
    cr_assert_str_eq (
        s_write (item),
        "{\"appName\":\"REPORTS\",\"id\":\"h:reports:7070\","
        "\"lastDirtyTimestamp\":1718272205117,\"status\":\"DOWN\","
        "\"instanceInfo\":" INFO ",\"status\":\"DOWN\","
        "\"overriddenStatus\":\"OUT_OF_SERVICE\","
        "\"lastDirtyTimestamp\":\"1718272205117\"},\"action\":\"Register\"}");
}

Test (item, a_cancel_is_app_id_and_action)
{
    zpeer_item_t item = {.action = ZPEER_CANCEL, .timestamp = 5};
    cr_assert_str_eq (s_write (item),
                      "{\"appName\":\"REPORTS\",\"id\":\"h:reports:7070\","
                      "\"action\":\"Cancel\"}");
}

Test (item, a_status_update_carries_the_new_status)
{
    zpeer_item_t item = {.action = ZPEER_STATUS_UPDATE,
                         .timestamp = 7,
                         .status = ZPEER_STARTING};
    cr_assert_str_eq (s_write (item),
                      "{\"appName\":\"REPORTS\",\"id\":\"h:reports:7070\","
                      "\"lastDirtyTimestamp\":7,\"status\":\"STARTING\","
                      "\"action\":\"StatusUpdate\"}");
}

Test (item, a_deleted_override_without_status_falls_back_to_UNKNOWN)
{
    zpeer_item_t item = {.action = ZPEER_DELETE_STATUS_OVERRIDE,
                         .timestamp = UINT64_MAX};
    cr_assert_str_eq (s_write (item),
                      "{\"appName\":\"REPORTS\",\"id\":\"h:reports:7070\","
                      "\"lastDirtyTimestamp\":18446744073709551615,"
                      "\"status\":\"UNKNOWN\","
                      "\"action\":\"DeleteStatusOverride\"}");
}

//  Bytes of the batch with the pair that gives a peer a state, and nothing else
static size_t
s_pair_size (const char *app, const char *id, const char *info)
{
    s_use (app, id, info);
    zpeer_item_t items[] = {
        {.state = s_state,
         .timestamp = UINT64_MAX,
         .action = ZPEER_DELETE_STATUS_OVERRIDE,
         .status = ZPEER_OUT_OF_SERVICE},
        {.state = s_state,
         .timestamp = UINT64_MAX,
         .action = ZPEER_REGISTER,
         .status = ZPEER_OUT_OF_SERVICE,
         .override = ZPEER_OUT_OF_SERVICE},
    };
    //  The lane counts these
    size_t counted =
        zpeer_item_bound (&items[0]) + zpeer_item_bound (&items[1]);
    zpeer_buffer_reset (&s_out);
    zpeer_item_write_all (items, 2, &s_out);
    return counted > s_out.size ? counted : s_out.size;
}

Test (item, a_batch_of_one_instance_stays_within_its_bound)
{
    static const char *const names[][2] = {
        {"A", "1"},
        {"REPORTS", "h:reports:7070"},
        {"\"\"\"\"\"\"\"\"", "\\\\\\\\\\\\\\\\"},
        {"\u00dc", "\u2603"},
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *app = names[i][0];
        const char *id = names[i][1];
        size_t size = s_pair_size (app, id, INFO);
        size_t bound = zpeer_item_batch_bound (
            zpeer_slice_str (app), zpeer_slice_str (id), strlen (INFO));
        cr_assert_leq (size, bound);
        //  And not far from it
        cr_assert_leq (bound, size + 2 * (strlen (app) + strlen (id)) + 64);
    }
}

Test (item, every_action_and_status_stays_within_the_bound)
{
    for (int action = 0; action <= ZPEER_DELETE_STATUS_OVERRIDE; action++)
        for (int status = 0; status < ZPEER_STATUSES; status++)
            s_write ((zpeer_item_t){.action = (uint8_t) action,
                                    .status = (uint8_t) status,
                                    .override = ZPEER_OUT_OF_SERVICE,
                                    .timestamp = UINT64_MAX});
}

Test (item, names_are_escaped_as_json)
{
    s_use ("A\"B", "back\\slash", NULL);
    zpeer_item_t item = {.action = ZPEER_CANCEL};
    cr_assert_str_eq (s_write (item),
                      "{\"appName\":\"A\\\"B\",\"id\":\"back\\\\slash\","
                      "\"action\":\"Cancel\"}");
}

Test (item, a_single_heartbeat_is_a_put_of_the_instance)
{
    zpeer_item_t item = {.action = ZPEER_HEARTBEAT,
                         .timestamp = 1718270911002,
                         .status = ZPEER_UP};
    cr_assert_str_eq (s_request (item),
                      "PUT apps/REPORTS/h:reports:7070"
                      "?status=UP&lastDirtyTimestamp=1718270911002 ");
}

Test (item, a_single_heartbeat_without_timestamp_sends_none)
{
    zpeer_item_t item = {.action = ZPEER_HEARTBEAT, .status = ZPEER_UP};
    cr_assert_str_eq (s_request (item),
                      "PUT apps/REPORTS/h:reports:7070?status=UP ");
}

Test (item, a_single_register_wraps_the_instance)
{
    zpeer_item_t item = {
        .action = ZPEER_REGISTER, .timestamp = 9, .status = ZPEER_UP};
    cr_assert_str_eq (s_request (item),
                      "POST apps/REPORTS {\"instance\":" INFO
                      ",\"status\":\"UP\",\"overriddenStatus\":\"UNKNOWN\","
                      "\"lastDirtyTimestamp\":\"9\"}}");
}

Test (item, a_body_holds_all_items_in_their_order)
{
    enum { COUNT = 11 };
    zpeer_item_t items[COUNT];
    zpeer_buffer_t expected = {0};
    zpeer_buffer_lit (&expected, "{\"replicationList\":[");
    for (unsigned i = 0; i < COUNT; i++) {
        items[i] = (zpeer_item_t){.state = s_state,
                                  .action = ZPEER_HEARTBEAT,
                                  .status = ZPEER_UP,
                                  .timestamp = i + 1};
        if (i)
            zpeer_buffer_lit (&expected, ",");
        zpeer_item_write (&items[i], &expected);
    }
    zpeer_buffer_lit (&expected, "]}");
    zpeer_item_write_all (items, COUNT, &s_out);
    cr_assert_eq (s_out.size, expected.size);
    cr_assert_arr_eq (s_out.data, expected.data, expected.size);
    zpeer_buffer_free (&expected);
}

Test (item, an_empty_body_is_an_empty_list)
{
    zpeer_item_write_all (NULL, 0, &s_out);
    cr_assert_arr_eq (s_out.data, "{\"replicationList\":[]}", s_out.size);
}

Test (item, a_single_cancel_is_a_delete)
{
    cr_assert_str_eq (s_request ((zpeer_item_t){.action = ZPEER_CANCEL}),
                      "DELETE apps/REPORTS/h:reports:7070 ");
}

//  What the peer has of an instance
Test (item, a_fetch_is_a_get)
{
    cr_assert_str_eq (s_request ((zpeer_item_t){.action = ZPEER_ITEM_FETCH}),
                      "GET apps/REPORTS/h:reports:7070 ");
}

Test (item, single_overrides_are_put_and_delete_of_the_status)
{
    zpeer_item_t item = {
        .action = ZPEER_STATUS_UPDATE, .timestamp = 3, .status = ZPEER_DOWN};
    cr_assert_str_eq (s_request (item), "PUT apps/REPORTS/h:reports:7070/status"
                                        "?value=DOWN&lastDirtyTimestamp=3 ");
    item.action = ZPEER_DELETE_STATUS_OVERRIDE;
    item.status = ZPEER_UP;
    cr_assert_str_eq (s_request (item),
                      "DELETE apps/REPORTS/h:reports:7070/status"
                      "?value=UP&lastDirtyTimestamp=3 ");
}

Test (item, an_asg_update_is_enabled_or_disabled)
{
    s_use ("", "catalog-v007", NULL);
    zpeer_item_t item = {.action = ZPEER_ASG_STATUS_UPDATE, .status = ZPEER_UP};
    cr_assert_str_eq (s_request (item),
                      "PUT asg/catalog-v007/status?value=ENABLED ");
    item.status = ZPEER_OUT_OF_SERVICE;
    cr_assert_str_eq (s_request (item),
                      "PUT asg/catalog-v007/status?value=DISABLED ");
}

Test (item, path_segments_are_percent_encoded)
{
    s_use ("A/B", "x y;z%?#+\xc3\xa9~@h", NULL);
    cr_assert_str_eq (s_request ((zpeer_item_t){.action = ZPEER_CANCEL}),
                      "DELETE apps/A%2FB/x%20y%3Bz%25%3F%23%2B%C3%A9~@h ");
}
