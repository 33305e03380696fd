#include <criterion/criterion.h>
#include <zpeer/health.h>
#include "command.h"
#include "options.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

#define LIMIT_MS 5000

typedef struct {
    zactor_t *health;
    zsock_t *dealer;
    char endpoint[ZPEER_COMMAND_ANSWER_MAX];
} fixture_t;

static fixture_t
s_setup (const char *retries)
{
    fixture_t self;
    char name[ZPEER_ENDPOINT_MAX];
    zpeer_options_t *options = zpeer_options_new ();
    zpeer_options_set (options, "apiml.discovery.maxPeerRetries", retries);
    zpeer_actor_args_t args = {.options = options};
    self.health = zpeer_command_actor (zpeer_health, &args);
    zpeer_options_destroy (&options);
    zpeer_socket_unique (name, "health");
    cr_assert_eq (zpeer_command_call (self.health, LIMIT_MS, self.endpoint,
                                      "BIND", name, NULL),
                  ZPEER_OK);
    cr_assert_eq (
        zpeer_command_call (self.health, LIMIT_MS, NULL, "START", NULL),
        ZPEER_OK);
    self.dealer = zpeer_socket_new (ZPEER_ROLE_CLIENT, 100, -1);
    cr_assert_eq (zpeer_socket_connect (self.dealer, self.endpoint), ZPEER_OK);
    return self;
}

static void
s_teardown (fixture_t *self)
{
    zsock_destroy (&self->dealer);
    zactor_destroy (&self->health);
}

static void
s_send (zsock_t *dealer, const char *command, const void *fixed, size_t size)
{
    zpeer_slice_t frames[] = {zpeer_slice_str (command),
                              {(const char *) fixed, size}};
    cr_assert_eq (zpeer_socket_send (dealer, frames, 2), ZPEER_OK);
}

static zpeer_wire_failed_t
s_answer (zsock_t *dealer)
{
    zpeer_wire_failed_t failed = {0};
    zpeer_frames_t frames = {0};
    cr_assert_eq (zpeer_socket_wait (dealer, ZMQ_POLLIN, LIMIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_recv (dealer, &frames), ZPEER_OK);
    cr_assert_eq (frames.count, 2);
    zpeer_slice_t command = zpeer_frames_at (&frames, 0);
    zpeer_slice_t fixed = zpeer_frames_at (&frames, 1);
    cr_assert (zpeer_slice_eq (command, ZPEER_SLICE ("FAILED")));
    cr_assert_eq (zpeer_wire_get_failed (fixed.data, fixed.size, &failed),
                  ZPEER_OK);
    zpeer_frames_close (&frames);
    return failed;
}

static zpeer_wire_failed_t
s_ask (zsock_t *dealer, const char *command, uint32_t peer, bool gated)
{
    static uint64_t token = 0;
    uint8_t fixed[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_fail (fixed, ++token, peer, gated);
    s_send (dealer, command, fixed, size);
    zpeer_wire_failed_t failed = s_answer (dealer);
    cr_assert_eq (failed.token, token);
    return failed;
}

static void
s_ok (zsock_t *dealer, uint32_t peer)
{
    uint8_t fixed[ZPEER_WIRE_MAX];
    s_send (dealer, "OK", fixed, zpeer_wire_put_peer (fixed, peer));
}

Test (health, reaches_the_maximum_with_the_nth_failure_and_stays_there)
{
    fixture_t self = s_setup ("3");
    for (uint32_t i = 1; i <= 5; i++) {
        zpeer_wire_failed_t failed = s_ask (self.dealer, "FAIL", 7, true);
        cr_assert_eq (failed.count, i < 3 ? i : 3);
        cr_assert_eq (failed.max, 3);
        cr_assert_eq (failed.reached, i >= 3);
        cr_assert_eq (failed.announce, i == 3, "once a cycle");
    }
    s_teardown (&self);
}

Test (health, announces_the_first_gated_failure_at_the_maximum)
{
    fixture_t self = s_setup ("1");
    zpeer_wire_failed_t busy = s_ask (self.dealer, "FAIL", 0, false);
    cr_assert (busy.reached);
    cr_assert_not (busy.announce);
    cr_assert (s_ask (self.dealer, "FAIL", 0, true).announce);
    cr_assert_not (s_ask (self.dealer, "FAIL", 0, true).announce);
    s_teardown (&self);
}

Test (health, a_success_starts_the_counter_again)
{
    fixture_t self = s_setup ("2");
    s_ask (self.dealer, "FAIL", 1, true);
    s_ask (self.dealer, "FAIL", 1, true);
    s_ok (self.dealer, 1);
    zpeer_wire_failed_t failed = s_ask (self.dealer, "FAIL", 1, true);
    cr_assert_eq (failed.count, 1);
    cr_assert_not (failed.reached);
    s_teardown (&self);
}

Test (health, asking_counts_nothing)
{
    fixture_t self = s_setup ("2");
    for (uint32_t i = 0; i < 3; i++) {
        zpeer_wire_failed_t asked =
            s_ask (self.dealer, "HASREACHEDMAX", 1, false);
        cr_assert_eq (asked.count, 0);
        cr_assert_not (asked.reached || asked.announce);
    }
    s_ask (self.dealer, "FAIL", 1, true);
    s_ask (self.dealer, "FAIL", 1, true);
    cr_assert (s_ask (self.dealer, "HASREACHEDMAX", 1, false).reached);
    s_teardown (&self);
}

Test (health, every_peer_has_a_counter_of_its_own)
{
    fixture_t self = s_setup ("2");
    s_ask (self.dealer, "FAIL", 0, true);
    s_ask (self.dealer, "FAIL", 0, true);
    cr_assert_eq (s_ask (self.dealer, "FAIL", 1, true).count, 1);
    cr_assert (s_ask (self.dealer, "HASREACHEDMAX", 0, false).reached);
    s_teardown (&self);
}

Test (health, a_peer_that_is_forgotten_starts_again)
{
    fixture_t self = s_setup ("1");
    s_ask (self.dealer, "FAIL", 5, true);
    cr_assert_eq (
        zpeer_command_call (self.health, LIMIT_MS, NULL, "FORGET", "5", NULL),
        ZPEER_OK);
    cr_assert_eq (s_ask (self.dealer, "HASREACHEDMAX", 5, false).count, 0);
    cr_assert (s_ask (self.dealer, "FAIL", 5, true).announce);
    s_teardown (&self);
}

Test (health, all_dispatchers_of_a_peer_share_its_counter)
{
    fixture_t self = s_setup ("2");
    char endpoint[ZPEER_COMMAND_ANSWER_MAX];
    cr_assert_eq (zpeer_command_call (self.health, LIMIT_MS, endpoint, "BIND",
                                      "tcp://127.0.0.1:*", NULL),
                  ZPEER_OK, "%s", endpoint);
    zsock_t *other = zpeer_socket_new (ZPEER_ROLE_CLIENT, 100, -1);
    cr_assert_eq (zpeer_socket_connect (other, endpoint), ZPEER_OK);
    s_ask (self.dealer, "FAIL", 1, true);
    cr_assert (s_ask (other, "FAIL", 1, true).reached);
    zsock_destroy (&other);
    s_teardown (&self);
}

Test (health, messages_that_make_no_sense_are_counted_and_ignored)
{
    fixture_t self = s_setup ("2");
    uint8_t fixed[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_fail (fixed, 1, UINT32_MAX, true);
    s_send (self.dealer, "FAIL", fixed, size);
    size = zpeer_wire_put_fail (fixed, 1, 0, true);
    s_send (self.dealer, "FAIL", fixed, size - 1);
    s_send (self.dealer, "fail", fixed, size);
    s_send (self.dealer, "OK", fixed, size);
    s_send (self.dealer, "", NULL, 0);
    zpeer_slice_t one = ZPEER_SLICE ("FAIL");
    cr_assert_eq (zpeer_socket_send (self.dealer, &one, 1), ZPEER_OK);

    cr_assert_eq (s_ask (self.dealer, "FAIL", 0, true).count, 1);
    char ignored[ZPEER_COMMAND_ANSWER_MAX];
    cr_assert_eq (
        zpeer_command_call (self.health, LIMIT_MS, ignored, "IGNORED", NULL),
        ZPEER_OK);
    cr_assert_str_eq (ignored, "6");
    s_teardown (&self);
}

Test (health, a_peer_that_is_no_number_is_refused)
{
    fixture_t self = s_setup ("2");
    static const char *const wrong[] = {"", "x", "1x", "-1", "1024"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_eq (zpeer_command_call (self.health, LIMIT_MS, NULL, "FORGET",
                                          wrong[i], NULL),
                      ZPEER_E_RANGE, "%s", wrong[i]);
    s_teardown (&self);
}
