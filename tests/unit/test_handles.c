#include <criterion/criterion.h>
#include "handles.h"
#include "banned.h"

TestSuite (handles);

Test (handles, what_is_added_is_taken_once)
{
    static const uint32_t added[] = {0, 63, 64, 5000, 63};
    static const uint32_t taken[] = {0, 63, 64, 5000};
    zpeer_handles_t set = {0};
    uint32_t handle;
    cr_assert_not (zpeer_handles_take (&set, &handle));
    for (unsigned i = 0; i < 5; i++)
        zpeer_handles_add (&set, added[i]);
    cr_assert_eq (set.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        cr_assert (zpeer_handles_take (&set, &handle));
        cr_assert_eq (handle, taken[i]);
    }
    cr_assert_not (zpeer_handles_take (&set, &handle));
    zpeer_handles_free (&set);
}

Test (handles, what_is_added_behind_the_cursor_is_taken_too)
{
    zpeer_handles_t set = {0};
    uint32_t handle;
    zpeer_handles_add (&set, 1000);
    cr_assert (zpeer_handles_take (&set, &handle));
    zpeer_handles_add (&set, 7);
    cr_assert (zpeer_handles_take (&set, &handle));
    cr_assert_eq (handle, 7);
    zpeer_handles_free (&set);
    cr_assert_eq (set.count, 0);
}
