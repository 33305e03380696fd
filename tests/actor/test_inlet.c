#include <criterion/criterion.h>
#include "inlet.h"
#include "banned.h"

#define WAIT_MS 10000

static zsock_t *s_router;
static zsock_t *s_dealer;
static zpeer_inlet_t s_inlet;  //  Of the router
static zpeer_frames_t s_frames;

//  Two sockets, of which the inlet's is known to be empty
static void
s_open (void)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "test");
    cr_assert_eq (zpeer_socket_init (), ZPEER_OK);
    s_router = zpeer_socket_new (ZPEER_ROLE_SERVER, 10, -1);
    s_dealer = zpeer_socket_new (ZPEER_ROLE_CLIENT, 10, -1);
    cr_assert_eq (zpeer_socket_bind (s_router, endpoint, NULL, NULL), ZPEER_OK);
    cr_assert_eq (zpeer_socket_connect (s_dealer, endpoint), ZPEER_OK);
    zpeer_inlet_open (&s_inlet, s_router);
    cr_assert (s_inlet.ready);
    cr_assert_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_E_AGAIN);
    cr_assert_not (s_inlet.ready);
}

static void
s_close (void)
{
    zpeer_frames_close (&s_frames);
    zsock_destroy (&s_dealer);
    zsock_destroy (&s_router);
}

TestSuite (inlet, .init = s_open, .fini = s_close);

static void
s_say (void)
{
    zpeer_slice_t frame = ZPEER_SLICE ("hello");
    cr_assert_eq (zpeer_socket_send (s_dealer, &frame, 1), ZPEER_OK);
}

static bool
s_ready_within (int timeout_ms)
{
    zpeer_inlet_t *inlet = &s_inlet;
    zpeer_inlet_wait (&inlet, 1, NULL, 0, timeout_ms);
    return s_inlet.ready;
}

Test (inlet, is_ready_when_something_comes_in)
{
    cr_expect_not (s_ready_within (0));
    s_say ();
    cr_expect (s_ready_within (WAIT_MS));
    cr_expect_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_OK);
}

Test (inlet, stays_ready_until_it_was_found_empty)
{
    s_say ();
    s_say ();
    cr_assert (s_ready_within (WAIT_MS));
    for (int i = 0; i < 2; i++) {
        cr_expect_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_OK);
        cr_expect (s_ready_within (0));
    }
    cr_expect_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_E_AGAIN);
    cr_expect_not (s_ready_within (0));
}

Test (inlet, asks_libzmq_when_the_socket_was_used)
{
    s_say ();
    //  As sending does once in a while: the descriptor says nothing any more
    zpeer_socket_events (s_router);
    cr_assert_not (s_ready_within (0));
    s_inlet.used = true;
    cr_expect (s_ready_within (WAIT_MS));
    cr_expect_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_OK);
}

Test (inlet, does_not_read_what_is_not_ready_unless_in_doubt)
{
    s_say ();
    cr_expect_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_E_AGAIN);
    zpeer_inlet_doubt (&s_inlet);
    cr_expect_eq (zpeer_inlet_recv (&s_inlet, &s_frames), ZPEER_OK);
}

Test (inlet, without_a_socket_is_never_ready)
{
    zpeer_inlet_t none = {0};
    zpeer_inlet_t *both[] = {&none, &s_inlet};
    zpeer_inlet_doubt (&none);
    s_say ();
    zpeer_inlet_wait (both, 2, NULL, 0, WAIT_MS);
    cr_expect_not (none.ready);
    cr_expect (s_inlet.ready);
}

//  Fills the way from the dealer to the router
static void
s_fill (void)
{
    zpeer_slice_t frame = ZPEER_SLICE ("full");
    int rc = ZPEER_OK;
    for (int i = 0; i < 100 && rc == ZPEER_OK; i++)
        rc = zpeer_socket_send (s_dealer, &frame, 1);
    cr_assert_eq (rc, ZPEER_E_AGAIN);
}

static void
s_read_all (void)
{
    zpeer_inlet_doubt (&s_inlet);
    while (zpeer_inlet_recv (&s_inlet, &s_frames) == ZPEER_OK)
        continue;
}

static void *
s_read_later (void *arg)
{
    (void) arg;
    cr_assert (s_ready_within (WAIT_MS));
    s_read_all ();
    return NULL;
}

Test (inlet, a_wait_ends_when_a_full_socket_has_room)
{
    s_fill ();
    zpeer_inlet_wait (NULL, 0, &s_dealer, 1, 0);
    pthread_t reader;
    cr_assert_eq (pthread_create (&reader, NULL, s_read_later, NULL), 0);
    int64_t begun = zclock_mono ();
    while (!(zpeer_socket_events (s_dealer) & ZMQ_POLLOUT))
        zpeer_inlet_wait (NULL, 0, &s_dealer, 1, WAIT_MS);
    cr_expect_lt (zclock_mono () - begun, WAIT_MS);
    pthread_join (reader, NULL);
}

Test (inlet, what_was_read_makes_room_for_a_send_at_once)
{
    zpeer_slice_t frame = ZPEER_SLICE ("more");
    s_fill ();
    s_read_all ();
    cr_expect_eq (zpeer_socket_send (s_dealer, &frame, 1), ZPEER_OK);
    s_fill ();
    s_read_all ();
    zmq_msg_t message;
    zmq_msg_init (&message);
    cr_expect_eq (zpeer_socket_send_msg (s_dealer, NULL, 0, &message),
                  ZPEER_OK);
}
