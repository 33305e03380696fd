//  The engine's endpoints over tcp and ipc: whom they cut off, and what is left of
//  them

#include <criterion/criterion.h>
#include "socket.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

#define FEEDER_CUT "ZPR024"

#define FRAME_BYTES 100000

Test (endpoints, a_feeder_that_is_cut_off_is_told_in_the_log)
{
    static const char *const set[] = {"zpeer.events.endpoint=tcp://127.0.0.1:*",
                                      "zpeer.events.max-frame-bytes=20000",
                                      NULL};
    static char bytes[FRAME_BYTES];
    zpeer_slice_t frame = {bytes, sizeof bytes};
    witness_t *witness = witness_new ();
    zpeer_engine_t *engine = stage_engine_new (set);
    zpeer_engine_set_log (engine, witness_log, witness);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK);
    zpeer_feed_t *good = stage_feed (engine);
    stage_register (good, "1");
    zsock_t *feeder = zpeer_socket_new (ZPEER_ROLE_FEED, 10, -1);
    cr_assert_eq (zpeer_socket_connect (feeder, zpeer_engine_events (engine)),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (feeder, ZMQ_POLLOUT, STAGE_WAIT_MS),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (feeder, &frame, 1), ZPEER_OK);
    cr_assert (witness_wait (witness, FEEDER_CUT, 1, STAGE_WAIT_MS));
    cr_expect (witness_says (witness, FEEDER_CUT, "more than 40000 bytes"));
    stage_register (good, "2");
    zsock_destroy (&feeder);
    zpeer_feed_destroy (&good);
    zpeer_engine_destroy (&engine);
    cr_expect_eq (witness_count (witness, FEEDER_CUT), 1);
    witness_destroy (&witness);
}
