#include "dispatch_fixture.h"
#include "banned.h"

static int
s_offer (fixture_t *self, uint64_t id)
{
    zpeer_wire_batch_t batch = {id, ZPEER_MODE_BATCH, 1};
    return zpeer_dispatch_batch (self->core, self->now, &batch,
                                 ZPEER_SLICE ("{}"), NULL);
}

//  1. The connection is cut: no HEARTBEAT is answered.
//  2. After 3 s the dispatcher gives up, after 6 s the batcher takes back.
//  3. The connection is mended, and brings what was held up: a BATCH that the
//     batcher has sent to another dispatcher meanwhile.
Test (dispatch_lease, a_batch_that_was_held_up_is_not_sent)
{
    fixture_t self = s_setup (true, 6);
    s_assert_trace (&self, "READY");
    self.now += 8000;
    s_assert_trace (&self, "gone HEARTBEAT");
    cr_assert_eq (s_offer (&self, 1), ZPEER_E_STATE);
    s_assert_trace (&self, "");
    zpeer_dispatch_destroy (&self.core);
}

//  Though nobody has looked at the clock since
Test (dispatch_lease, a_batch_is_not_taken_when_the_lease_has_just_ended)
{
    fixture_t self = s_setup (true, 6);
    s_assert_trace (&self, "READY");
    self.now += 3000;
    cr_assert_eq (s_offer (&self, 1), ZPEER_E_STATE);
    zpeer_dispatch_destroy (&self.core);
}

//  The answer to a HEARTBEAT may have been held up, too
Test (dispatch_lease, an_old_answer_does_not_renew_it)
{
    fixture_t self = s_setup (true, 6);
    s_assert_trace (&self, "READY");
    self.now += 1000;
    s_assert_trace (&self, "HEARTBEAT");
    uint64_t sent = self.now;
    self.now += 7000;
    s_assert_trace (&self, "gone HEARTBEAT");
    zpeer_dispatch_heartbeat (self.core, self.now, 1, sent);
    s_assert_trace (&self, "");
    cr_assert_eq (s_offer (&self, 1), ZPEER_E_STATE);

    zpeer_dispatch_heartbeat (self.core, self.now, 1, self.now);
    s_assert_trace (&self, "READY");
    cr_assert_eq (s_offer (&self, 2), ZPEER_OK);
    s_assert_trace (&self, "request");
    zpeer_dispatch_destroy (&self.core);
}

//  What it sends does not arrive, though it still hears its batcher
Test (dispatch_lease, neither_a_batch_nor_an_ack_renews_it)
{
    fixture_t self = s_setup (true, 6);
    cr_assert_eq (s_offer (&self, 1), ZPEER_OK);
    s_assert_trace (&self, "READY request");
    self.now += 2999;
    cr_assert_eq (s_offer (&self, 2), ZPEER_OK);
    zpeer_dispatch_ack (self.core, 77);
    s_assert_trace (&self, "request HEARTBEAT");
    self.now += 1;
    s_assert_trace (&self, "abort release abort release gone");
    zpeer_dispatch_destroy (&self.core);
}

//  It begins when the HEARTBEAT went, not when its answer came
Test (dispatch_lease, it_counts_from_the_heartbeat)
{
    fixture_t self = s_setup (true, 6);
    s_assert_trace (&self, "READY");
    self.now += 1000;
    s_assert_trace (&self, "HEARTBEAT");
    zpeer_dispatch_heartbeat (self.core, self.now + 900, 0, self.now);
    self.now += 2999;
    s_assert_trace (&self, "HEARTBEAT");
    self.now += 1;
    s_assert_trace (&self, "gone");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_lease, an_answer_from_the_future_is_nobodys)
{
    fixture_t self = s_setup (true, 6);
    s_assert_trace (&self, "READY");
    zpeer_dispatch_heartbeat (self.core, self.now, 0, self.now + 60000);
    self.now += 3000;
    s_assert_trace (&self, "gone HEARTBEAT");
    zpeer_dispatch_destroy (&self.core);
}
