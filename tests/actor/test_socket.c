#include <criterion/criterion.h>
#include <pthread.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "reserve.h"
#include "socket.h"
#include "banned.h"

#define WAIT_MS 5000
#define HWM     4
#define MANY    ((size_t) 3 * ZPEER_FRAMES_MAX)

typedef struct {
    zsock_t *left;
    zsock_t *right;
    char endpoint[ZPEER_ENDPOINT_MAX];
} s_pair_t;

//  Two connected sockets; the left one is bound
static s_pair_t
s_pair (zpeer_role_t left, zpeer_role_t right, const char *endpoint)
{
    s_pair_t pair = {zpeer_socket_new (left, HWM, -1),
                     zpeer_socket_new (right, HWM, -1),
                     {0}};
    cr_assert (pair.left && pair.right);
    cr_assert_eq (zpeer_socket_bind (pair.left, endpoint, pair.endpoint, NULL),
                  0);
    cr_assert_eq (zpeer_socket_connect (pair.right, pair.endpoint), 0);
    return pair;
}

static void
s_close (s_pair_t *pair)
{
    zsock_destroy (&pair->left);
    zsock_destroy (&pair->right);
}

static int
s_send (zsock_t *sock, const char *text)
{
    zpeer_slice_t frame = zpeer_slice_str (text);
    return zpeer_socket_send (sock, &frame, 1);
}

static void
s_limit_descriptors (rlim_t limit)
{
    struct rlimit value = {limit, limit};
    cr_assert_eq (setrlimit (RLIMIT_NOFILE, &value), 0);
}

//  Opens what is left of the descriptors but for spare
static void
s_use_up_descriptors (unsigned spare)
{
    int fds[256];
    size_t count = 0;
    while (count < 256 && (fds[count] = open ("/dev/null", O_RDONLY)) >= 0)
        count++;
    cr_assert_geq (count, spare);
    while (spare--)
        close (fds[--count]);
}

static void
s_free (void *data, void *hint)
{
    free (data);
    ++*(int *) hint;
}

static void
s_handler (int number)
{
    (void) number;
}

Test (socket, options_do_not_depend_on_what_the_host_told_czmq)
{
    zsys_set_linger (-1);
    zsys_set_sndhwm (1);
    zsys_set_rcvhwm (0);
    zsys_set_ipv6 (0);
    for (int role = 0; role < ZPEER_ROLE_COUNT; role++) {
        zsock_t *sock = zpeer_socket_new ((zpeer_role_t) role, 7, 1000);
        cr_expect_eq (zsock_sndhwm (sock), 7);
        cr_expect_eq (zsock_rcvhwm (sock), 7);
        cr_expect_geq (zsock_linger (sock), 0);
        cr_expect_eq (zsock_sndtimeo (sock), 0);
        cr_expect_eq (zsock_rcvtimeo (sock), 0);
        cr_expect_eq (zsock_ipv6 (sock), 1);
        cr_expect_eq (zsock_maxmsgsize (sock), 1000);
        bool beats = role == ZPEER_ROLE_FEED || role == ZPEER_ROLE_SUB;
        cr_expect_eq (zsock_heartbeat_ivl (sock) > 0, beats);
        zsock_destroy (&sock);
    }
    zsock_t *plain = zsock_new (ZMQ_PUSH);
    cr_expect_eq (zsock_sndhwm (plain), 1, "the host's settings stay");
    zsock_destroy (&plain);
}

Test (socket, the_hosts_signal_handlers_stay)
{
    signal (SIGINT, s_handler);
    signal (SIGTERM, SIG_IGN);
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_PUSH, HWM, -1);
    zactor_t *actor = zactor_new (zproxy, NULL);

    struct sigaction now;
    sigaction (SIGINT, NULL, &now);
    cr_expect (now.sa_handler == s_handler);
    sigaction (SIGTERM, NULL, &now);
    cr_expect (now.sa_handler == SIG_IGN);
    zactor_destroy (&actor);
    zsock_destroy (&sock);
}

Test (socket, a_full_queue_refuses_the_whole_message)
{
    s_pair_t pair = s_pair (ZPEER_ROLE_PULL, ZPEER_ROLE_PUSH, "inproc://full");
    zpeer_slice_t frames[] = {ZPEER_SLICE ("a"), ZPEER_SLICE ("b")};
    int sent = 0;
    while (zpeer_socket_send (pair.right, frames, 2) == ZPEER_OK)
        sent++;
    cr_expect_eq (sent, 2 * HWM);

    zpeer_frames_t in = {0};
    int received = 0;
    while (zpeer_socket_recv (pair.left, &in) == ZPEER_OK) {
        cr_expect_eq (in.count, 2);
        received++;
    }
    cr_expect_eq (received, sent);
    s_close (&pair);
}

Test (socket, a_refused_buffer_is_still_the_callers)
{
    s_pair_t pair = s_pair (ZPEER_ROLE_PULL, ZPEER_ROLE_PUSH, "inproc://own");
    while (s_send (pair.right, "x") == ZPEER_OK)
        continue;

    int freed = 0;
    zmq_msg_t last;
    zmq_msg_init_data (&last, strdup ("hello"), 5, s_free, &freed);
    zpeer_slice_t head = ZPEER_SLICE ("head");
    cr_expect_eq (zpeer_socket_send_msg (pair.right, &head, 1, &last),
                  ZPEER_E_AGAIN);
    cr_expect_eq (freed, 0);
    cr_expect_eq (zmq_msg_size (&last), 5);

    zpeer_frames_t in = {0};
    while (zpeer_socket_recv (pair.left, &in) == ZPEER_OK)
        continue;
    cr_assert_eq (zpeer_socket_wait (pair.right, ZMQ_POLLOUT, WAIT_MS), 0);
    cr_expect_eq (zpeer_socket_send_msg (pair.right, &head, 1, &last), 0);
    cr_expect_eq (zpeer_socket_recv (pair.left, &in), 0);
    cr_expect (zpeer_slice_eq (zpeer_frames_at (&in, 0), head));
    cr_expect (
        zpeer_slice_eq (zpeer_frames_at (&in, 1), zpeer_slice_str ("hello")));
    zpeer_frames_close (&in);
    cr_expect_eq (freed, 1);
    s_close (&pair);
}

Test (socket, frames_beyond_the_maximum_are_drained)
{
    s_pair_t pair = s_pair (ZPEER_ROLE_PULL, ZPEER_ROLE_PUSH, "inproc://cut");
    zpeer_slice_t frames[MANY];
    for (size_t i = 0; i < MANY; i++)
        frames[i] = ZPEER_SLICE ("x");
    cr_assert_eq (zpeer_socket_send (pair.right, frames, MANY), 0);
    s_send (pair.right, "next");

    zpeer_frames_t in = {0};
    cr_assert_eq (zpeer_socket_recv (pair.left, &in), 0);
    cr_expect_eq (in.count, ZPEER_FRAMES_MAX);
    cr_expect (in.cut);
    cr_assert_eq (zpeer_socket_recv (pair.left, &in), 0);
    cr_expect_eq (in.count, 1);
    cr_expect (!in.cut);
    cr_expect (zpeer_slice_eq (zpeer_frames_at (&in, 0), ZPEER_SLICE ("next")));
    cr_expect_null (zpeer_frames_at (&in, 1).data);
    zpeer_frames_close (&in);
    s_close (&pair);
}

Test (socket, a_server_says_when_a_client_is_not_there)
{
    s_pair_t pair =
        s_pair (ZPEER_ROLE_SERVER, ZPEER_ROLE_CLIENT, "inproc://server");
    zpeer_slice_t frames[] = {ZPEER_SLICE ("nobody"), ZPEER_SLICE ("x")};
    cr_expect_eq (zpeer_socket_send (pair.left, frames, 2), ZPEER_E_UNKNOWN);
    s_close (&pair);
}

Test (socket, a_named_client_that_comes_back_takes_its_name_over)
{
    zsock_t *server = zpeer_socket_new (ZPEER_ROLE_SERVER, HWM, -1);
    char endpoint[ZPEER_ENDPOINT_MAX];
    cr_assert_eq (
        zpeer_socket_bind (server, "tcp://127.0.0.1:*", endpoint, NULL), 0);
    zsock_t *client[2];
    zpeer_frames_t in = {0};
    for (int i = 0; i < 2; i++) {
        client[i] = zpeer_socket_new (ZPEER_ROLE_CLIENT, HWM, -1);
        zpeer_socket_identify (client[i], ZPEER_SLICE ("me"));
        cr_assert_eq (zpeer_socket_connect (client[i], endpoint), 0);
        cr_assert_eq (s_send (client[i], "here"), 0);
        cr_assert_eq (zpeer_socket_wait (server, ZMQ_POLLIN, WAIT_MS), 0);
        cr_assert_eq (zpeer_socket_recv (server, &in), 0);
        cr_expect (
            zpeer_slice_eq (zpeer_frames_at (&in, 0), ZPEER_SLICE ("me")));
    }
    zpeer_slice_t frames[] = {ZPEER_SLICE ("me"), ZPEER_SLICE ("x")};
    cr_assert_eq (zpeer_socket_send (server, frames, 2), 0);
    cr_expect_eq (zpeer_socket_wait (client[1], ZMQ_POLLIN, WAIT_MS), 0);
    zpeer_frames_close (&in);
    zsock_destroy (&client[0]);
    zsock_destroy (&client[1]);
    zsock_destroy (&server);
}

Test (socket, bind_says_what_it_bound_and_refuses_what_it_cannot)
{
    s_pair_t pair =
        s_pair (ZPEER_ROLE_FEEDERS, ZPEER_ROLE_FEED, "tcp://127.0.0.1:*");
    cr_expect (strchr (pair.endpoint, '*') == NULL);
    zsock_t *other = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_expect_eq (zpeer_socket_bind (other, pair.endpoint, NULL, NULL),
                  ZPEER_E_BIND);
    cr_expect_eq (errno, EADDRINUSE);
    cr_expect_eq (zpeer_socket_bind (other, "nonsense", NULL, NULL),
                  ZPEER_E_BIND);
    cr_expect_eq (zpeer_socket_connect (other, "x://y"), ZPEER_E_BIND);
    //  libzmq would bind 34463, and 0 for one of 30 digits
    cr_expect_eq (
        zpeer_socket_bind (other, "tcp://127.0.0.1:99999", NULL, NULL),
        ZPEER_E_BIND);
    cr_expect_eq (errno, EINVAL);
    cr_expect_eq (zpeer_socket_connect (other, "tcp://127.0.0.1:65536"),
                  ZPEER_E_BIND);
    cr_expect_eq (
        zpeer_socket_bind (other, "tcp://127.0.0.1:000000065535", NULL, NULL),
        ZPEER_E_BIND);
    cr_expect_eq (zpeer_socket_disconnect (other, pair.endpoint),
                  ZPEER_E_UNKNOWN);
    zsock_destroy (&other);
    s_close (&pair);
}

Test (socket, an_address_is_bound_as_it_is_written)
{
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    char actual[ZPEER_ENDPOINT_MAX];
    cr_assert_eq (zpeer_socket_bind (sock, "tcp://127.0.0.1:*", actual, NULL),
                  0);
    cr_expect_eq (strncmp (actual, "tcp://127.0.0.1:", 16), 0, "%s", actual);
    cr_assert_eq (zpeer_socket_unbind (sock, actual), 0);
    cr_expect_eq (zpeer_socket_unbind (sock, actual), ZPEER_E_UNKNOWN);
    zsock_destroy (&sock);
}

Test (socket, a_connection_can_be_taken_back)
{
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_CLIENT, HWM, -1);
    static const char *const endpoints[] = {
        "tcp://localhost:1", "tcp://127.0.0.1:1", "tcp://[::1]:1"};
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        cr_assert_eq (zpeer_socket_connect (sock, endpoints[i]), ZPEER_OK);
        cr_expect_eq (zpeer_socket_disconnect (sock, endpoints[i]), ZPEER_OK);
    }
    cr_expect_eq (zpeer_socket_disconnect (sock, endpoints[0]),
                  ZPEER_E_UNKNOWN);
    zsock_destroy (&sock);
}

Test (socket, a_feed_does_not_queue_for_an_engine_that_is_away)
{
    zsock_t *feed = zpeer_socket_new (ZPEER_ROLE_FEED, HWM, -1);
    cr_assert_eq (zpeer_socket_connect (feed, "tcp://127.0.0.1:1"), 0);
    cr_expect_eq (s_send (feed, "x"), ZPEER_E_AGAIN);
    zsock_destroy (&feed);
}

Test (socket, unique_names_are_unique)
{
    char one[ZPEER_ENDPOINT_MAX], two[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (one, "lane");
    zpeer_socket_unique (two, "lane");
    cr_expect (strcmp (one, two) != 0);
    cr_expect_eq (strncmp (one, "inproc://zpeer-lane-", 20), 0);
}

Test (reserve, a_socket_too_many_is_refused_and_nothing_aborts)
{
    s_limit_descriptors (64);
    zsock_t *socks[64];
    size_t count = 0;
    while (count < 64 &&
           (socks[count] = zpeer_socket_new (ZPEER_ROLE_PUSH, HWM, -1)))
        count++;
    cr_assert (count > 16 && count < 64);
    cr_expect_eq (zpeer_reserve (0, 1), ZPEER_E_RESOURCES);
    cr_expect_eq (zpeer_reserve (1, 0), ZPEER_E_RESOURCES);

    //  What is given back can be had again, once libzmq has put it away
    zsock_destroy (&socks[--count]);
    zsock_destroy (&socks[--count]);
    zsock_t *again = NULL;
    int64_t deadline = zpeer_socket_deadline (WAIT_MS);
    while (!again && zclock_mono () < deadline)
        again = zpeer_socket_new (ZPEER_ROLE_PUSH, HWM, -1);
    cr_expect_not_null (again);
    zsock_destroy (&again);
    while (count)
        zsock_destroy (&socks[--count]);
}

Test (reserve, a_context_that_cannot_start_is_refused)
{
    s_limit_descriptors (64);
    for (unsigned spare = 0; spare < ZPEER_RESERVE_MARGIN + 5; spare++)
        if (fork () == 0) {
            s_use_up_descriptors (spare);
            _exit (zpeer_socket_init () == ZPEER_E_RESOURCES ? 0 : 1);
        }
    int status;
    while (wait (&status) > 0)
        cr_expect_eq (status, 0);
    cr_expect_eq (zpeer_socket_init (), ZPEER_OK, "with enough it starts");
}

Test (reserve, binding_without_descriptors_is_refused)
{
    s_limit_descriptors (64);
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    s_use_up_descriptors (0);
    cr_expect_eq (zpeer_socket_bind (sock, "tcp://127.0.0.1:*", NULL, NULL),
                  ZPEER_E_RESOURCES);
    cr_expect_eq (zpeer_socket_connect (sock, "tcp://127.0.0.1:1"),
                  ZPEER_E_RESOURCES);
    zsock_destroy (&sock);
}

Test (reserve, the_contexts_limit_of_sockets_is_respected)
{
    zsys_set_max_sockets (40);
    zsock_t *socks[64];
    size_t count = 0;
    while (count < 64 &&
           (socks[count] = zpeer_socket_new (ZPEER_ROLE_PUSH, HWM, -1)))
        count++;
    cr_expect (count > 16 && count <= 40);
    while (count)
        zsock_destroy (&socks[--count]);
}

//  Creates sockets, as many as it can, and gives them back
static void *
s_create (void *arg)
{
    (void) arg;
    for (unsigned i = 0; i < 200; i++) {
        zsock_t *socks[8];
        for (unsigned k = 0; k < 8; k++)
            socks[k] = zpeer_socket_new (ZPEER_ROLE_PUSH, HWM, -1);
        for (unsigned k = 0; k < 8; k++)
            zsock_destroy (&socks[k]);
    }
    return NULL;
}

Test (reserve, threads_that_ask_at_the_limit_do_not_take_it_from_each_other)
{
    zsys_set_max_sockets (20);
    cr_assert_eq (zpeer_socket_init (), ZPEER_OK);
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq (pthread_create (&threads[i], NULL, s_create, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join (threads[i], NULL);
}
