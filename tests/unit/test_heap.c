#include <criterion/criterion.h>
#include "heap.h"
#include "banned.h"

static zpeer_heap_t s_heap;

static void
s_teardown (void)
{
    zpeer_heap_free (&s_heap);
}

TestSuite (heap, .fini = s_teardown);

static void
s_expect_first (uint32_t handle, uint64_t at)
{
    const zpeer_heap_item_t *first = zpeer_heap_first (&s_heap);
    cr_assert_not_null (first);
    cr_assert_eq (first->handle, handle);
    cr_assert_eq (first->at, at);
}

Test (heap, an_empty_heap_has_no_first)
{
    cr_assert_null (zpeer_heap_first (&s_heap));
    zpeer_heap_remove (&s_heap, 5);
    zpeer_heap_put (&s_heap, 5, 10);
    zpeer_heap_remove (&s_heap, 5);
    cr_assert_null (zpeer_heap_first (&s_heap));
}

Test (heap, the_earliest_is_first)
{
    zpeer_heap_put (&s_heap, 1, 30);
    zpeer_heap_put (&s_heap, 2, 10);
    zpeer_heap_put (&s_heap, 3, 20);
    s_expect_first (2, 10);
}

Test (heap, a_handle_can_move_both_ways)
{
    zpeer_heap_put (&s_heap, 1, 30);
    zpeer_heap_put (&s_heap, 2, 10);
    zpeer_heap_put (&s_heap, 2, 40);
    s_expect_first (1, 30);
    zpeer_heap_put (&s_heap, 2, 20);
    s_expect_first (2, 20);
    cr_assert_eq (s_heap.count, 2);
}

Test (heap, removing_one_that_is_not_in_it_does_nothing)
{
    zpeer_heap_put (&s_heap, 1, 30);
    zpeer_heap_remove (&s_heap, 2);
    zpeer_heap_remove (&s_heap, 1000);
    s_expect_first (1, 30);
}

Test (heap, what_comes_out_ascends_whatever_went_in)
{
    enum { COUNT = 1000 };
    uint64_t times[COUNT];
    uint64_t random = 1;
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            random = random * UINT64_C (6364136223846793005) + 1;
            times[i] = random >> 54;
            zpeer_heap_put (&s_heap, i, times[i]);
        }
    //  Every third leaves from the middle
    for (uint32_t i = 0; i < COUNT; i += 3)
        zpeer_heap_remove (&s_heap, i);
    uint64_t last = 0;
    uint32_t count = 0;
    const zpeer_heap_item_t *first;
    for (; (first = zpeer_heap_first (&s_heap)) != NULL; count++) {
        cr_assert_geq (first->at, last);
        cr_assert_eq (first->at, times[first->handle]);
        cr_assert_neq (first->handle % 3, 0);
        last = first->at;
        zpeer_heap_remove (&s_heap, first->handle);
    }
    cr_assert_eq (count, COUNT - (COUNT + 2) / 3);
}
