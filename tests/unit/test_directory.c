#include <criterion/criterion.h>
#include <stdio.h>
#include "directory.h"
#include "banned.h"

static zpeer_directory_t s_directory = {.seed = 7};

static void
s_teardown (void)
{
    zpeer_directory_free (&s_directory);
}

TestSuite (directory, .fini = s_teardown);

//  With the tag known beforehand or not
static uint32_t
s_find (const char *app, const char *id)
{
    zpeer_slice_t app_slice = zpeer_slice_str (app);
    zpeer_slice_t id_slice = zpeer_slice_str (id);
    uint32_t tag = zpeer_directory_tag (&s_directory, app_slice, id_slice);
    uint32_t handle =
        zpeer_directory_find (&s_directory, app_slice, id_slice, 0);
    cr_assert_eq (zpeer_directory_find (&s_directory, app_slice, id_slice, tag),
                  handle);
    return handle;
}

static uint32_t
s_add (const char *app, const char *id)
{
    return zpeer_directory_add (&s_directory, zpeer_slice_str (app),
                                zpeer_slice_str (id));
}

Test (directory, a_name_that_was_not_added_is_not_found)
{
    cr_assert_eq (s_find ("A", "1"), ZPEER_NO_HANDLE);
    s_add ("A", "1");
    cr_assert_eq (s_find ("A", "2"), ZPEER_NO_HANDLE);
    cr_assert_eq (s_find ("", "1"), ZPEER_NO_HANDLE);
}

Test (directory, handles_are_dense_from_0)
{
    cr_assert_eq (s_add ("A", "1"), 0);
    cr_assert_eq (s_add ("A", "2"), 1);
    cr_assert_eq (s_add ("", "2"), 2);
    cr_assert_eq (s_find ("A", "2"), 1);
    cr_assert (
        zpeer_slice_eq (zpeer_name_id (zpeer_directory_name (&s_directory, 1)),
                        ZPEER_SLICE ("2")));
}

static uint32_t
s_guess (const char *app, const char *id)
{
    uint32_t tag = zpeer_directory_tag (&s_directory, zpeer_slice_str (app),
                                        zpeer_slice_str (id));
    return zpeer_directory_guess (&s_directory, tag);
}

Test (directory, the_handle_of_a_name_is_guessed)
{
    char id[32];
    cr_expect_eq (s_guess ("A", "0"), ZPEER_NO_HANDLE);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf (id, sizeof id, "%u", i);
        s_add ("A", id);
    }
    //  No two of these have the same 32 bits of a hash with this seed
    for (unsigned i = 0; i < 1000; i++) {
        snprintf (id, sizeof id, "%u", i);
        cr_expect_eq (s_guess ("A", id), i);
        cr_expect_eq (s_guess ("B", id), ZPEER_NO_HANDLE);
    }
}

Test (directory, of_a_name_beyond_the_limits_nothing_is_known)
{
    char id[1000];
    memset (id, 'x', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    s_add ("A", "1");
    cr_expect_eq (s_find ("A", id), ZPEER_NO_HANDLE);
    cr_expect_eq (s_guess ("A", id), ZPEER_NO_HANDLE);
}

Test (directory, app_and_id_are_apart)
{
    s_add ("AB", "C");
    cr_assert_eq (s_find ("A", "BC"), ZPEER_NO_HANDLE);
    cr_assert_eq (s_find ("ABC", ""), ZPEER_NO_HANDLE);
}

Test (directory, a_handle_that_was_taken_back_is_given_again)
{
    s_add ("A", "1");
    s_add ("A", "2");
    zpeer_directory_remove (&s_directory, 0);
    cr_assert_eq (s_find ("A", "1"), ZPEER_NO_HANDLE);
    cr_assert_eq (s_find ("A", "2"), 1);
    cr_assert_eq (s_add ("A", "3"), 0);
}

Test (directory, a_name_too_long_is_not_found)
{
    static char text[1024];
    memset (text, 'x', sizeof text - 1);
    s_add ("A", "1");
    cr_assert_eq (s_find (text, "1"), ZPEER_NO_HANDLE);
    cr_assert_eq (s_find ("A", text), ZPEER_NO_HANDLE);
}

//  The id of a name, and whether it is there, in a set that churns
static const char *
s_id (uint32_t i, char id[16])
{
    snprintf (id, 16, "%u", i);
    return id;
}

Test (directory, it_agrees_with_a_plain_list_over_many_changes)
{
    enum { NAMES = 3000, STEPS = 100000 };
    static uint32_t handles[NAMES];
    static uint32_t owners[NAMES];
    char id[16];
    uint64_t random = 1;
    memset (handles, 0xff, sizeof handles);
    memset (owners, 0xff, sizeof owners);
    for (uint32_t step = 0; step < STEPS; step++) {
        random = random * UINT64_C (6364136223846793005) + 1;
        uint32_t i = (uint32_t) (random >> 40) % NAMES;
        cr_assert_eq (s_find ("APP", s_id (i, id)), handles[i]);
        if (handles[i] == ZPEER_NO_HANDLE) {
            handles[i] = s_add ("APP", id);
            cr_assert_lt (handles[i], NAMES);
            cr_assert_eq (owners[handles[i]], UINT32_MAX);
            owners[handles[i]] = i;
        }
        else {
            zpeer_directory_remove (&s_directory, handles[i]);
            owners[handles[i]] = UINT32_MAX;
            handles[i] = ZPEER_NO_HANDLE;
        }
    }
    for (uint32_t i = 0; i < NAMES; i++)
        cr_assert_eq (s_find ("APP", s_id (i, id)), handles[i]);
}
