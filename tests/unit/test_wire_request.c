#include <criterion/criterion.h>
#include "wire.h"
#include "banned.h"

static zpeer_state_t *
s_state (void)
{
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("SHOP"), ZPEER_SLICE ("host:shop:8080"));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    return state;
}

//  What zpeer_item_request says is what comes back
static void
s_assert_same (const zpeer_wire_request_t *request, const zpeer_item_t *item)
{
    zpeer_buffer_t path = {0};
    zpeer_buffer_t body = {0};
    cr_assert_str_eq (request->method, zpeer_item_request (item, &path, &body));
    cr_assert (
        zpeer_slice_eq (request->path, (zpeer_slice_t){path.data, path.size}));
    cr_assert (
        zpeer_slice_eq (request->body, (zpeer_slice_t){body.data, body.size}));
    zpeer_buffer_free (&path);
    zpeer_buffer_free (&body);
}

Test (wire_request, requests_come_back_in_order)
{
    zpeer_state_t *state = s_state ();
    const zpeer_item_t items[] = {
        {.state = state, .action = ZPEER_CANCEL},
        {.state = state, .action = ZPEER_HEARTBEAT, .timestamp = 7},
        {.state = state, .action = ZPEER_ITEM_FETCH},
    };
    zpeer_buffer_t out = {0};
    for (size_t i = 0; i < 3; i++)
        zpeer_wire_put_request (&out, &items[i]);

    size_t offset = 0;
    for (size_t i = 0; i < 3; i++) {
        zpeer_wire_request_t request;
        cr_assert_eq (
            zpeer_wire_get_request (out.data, out.size, &offset, &request),
            ZPEER_OK);
        s_assert_same (&request, &items[i]);
    }
    zpeer_wire_request_t none;
    cr_assert_eq (zpeer_wire_get_request (out.data, out.size, &offset, &none),
                  ZPEER_E_AGAIN);
    zpeer_buffer_free (&out);
    zpeer_state_unref (&state);
}

Test (wire_request, a_request_cut_anywhere_is_refused)
{
    zpeer_state_t *state = s_state ();
    zpeer_item_t item = {.state = state, .action = ZPEER_CANCEL};
    zpeer_buffer_t out = {0};
    zpeer_wire_put_request (&out, &item);
    for (size_t size = 1; size < out.size; size++) {
        size_t offset = 0;
        zpeer_wire_request_t request;
        cr_assert_eq (
            zpeer_wire_get_request (out.data, size, &offset, &request),
            ZPEER_E_PARSE, "%zu bytes", size);
        cr_assert_eq (offset, 0);
    }
    zpeer_buffer_free (&out);
    zpeer_state_unref (&state);
}

static int
s_read (const char *data, size_t size, zpeer_wire_request_t *request)
{
    size_t offset = 0;
    return zpeer_wire_get_request (data, size, &offset, request);
}

Test (wire_request, what_could_add_to_the_request_line_is_refused)
{
    zpeer_wire_request_t request;
    cr_assert_eq (s_read ("\1\0\1\0\0\0\1xB", 9, &request), ZPEER_OK);
    cr_assert_str_eq (request.method, "POST");
    cr_assert (zpeer_slice_eq (request.path, ZPEER_SLICE ("x")));
    cr_assert (zpeer_slice_eq (request.body, ZPEER_SLICE ("B")));

    cr_assert_eq (s_read ("\4\0\1\0\0\0\0x", 8, &request), ZPEER_E_PARSE);
    cr_assert_eq (s_read ("\1\0\1\0\0\0\0\r", 8, &request), ZPEER_E_PARSE);
    cr_assert_eq (s_read ("\1\0\1\0\0\0\0 ", 8, &request), ZPEER_E_PARSE);
    cr_assert_eq (s_read ("\1\0\1\0\0\0\0\xff", 8, &request), ZPEER_E_PARSE);
    cr_assert_eq (s_read ("\1\0\0\0\0\0\0", 7, &request), ZPEER_E_PARSE);
}
