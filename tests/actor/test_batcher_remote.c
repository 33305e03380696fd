//  Whoever connects from outside is not believed

#include <criterion/criterion.h>
#include "batcher_fixture.h"
#include "banned.h"

TestSuite (batcher_remote, .init = fixture_setup, .fini = fixture_teardown);

//  It says that it is local: such are never lost, and get no ACK
Test (batcher_remote, one_that_says_it_is_local_is_remote_all_the_same)
{
    fixture_start (true);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    fixture_done ((zpeer_result_t){.id = fixture_batch ().id});
    cr_assert (fixture_receive (fixture.dispatcher, LIMIT_MS));
    cr_expect (zpeer_slice_eq (zpeer_frames_at (&fixture.frames, 0),
                               ZPEER_SLICE ("ACK")));
}

//  A DONE that is as good as any other, of a batch that it was not given
Test (batcher_remote, what_another_has_it_cannot_report)
{
    fixture_start (true);
    fixture_ready (6, true);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    zpeer_result_t failed = {.id = fixture_batch ().id,
                             .end = ZPEER_END_UNSENT,
                             .verdict = ZPEER_TRANSIENT_ERROR};
    zsock_t *holder = fixture.dispatcher;
    zsock_t *other = zpeer_socket_new (ZPEER_ROLE_CLIENT, 10, -1);
    zpeer_socket_identify (other, ZPEER_SLICE ("other"));
    cr_assert_eq (zpeer_socket_connect (other, fixture.server), ZPEER_OK);
    fixture.dispatcher = other;
    fixture_ready (6, true);
    fixture_done (failed);
    cr_assert (fixture_receive (other, LIMIT_MS), "it is answered");
    cr_expect_not (fixture_receive (other, 500), "nothing came back");
    fixture.dispatcher = holder;
    cr_expect_not (fixture_receive (holder, 0), "nothing came back");
    fixture_done (failed);
    cr_expect (fixture_receive (holder, LIMIT_MS), "it is answered");
    cr_expect_neq (fixture_batch ().id, failed.id, "it goes again");
    zsock_destroy (&other);
}
