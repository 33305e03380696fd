/*  dispatcher_fixture.h - a dispatcher between real neighbours, and a batcher
    that is none

    The peer is scripted, health is the real one, the batcher is a ROUTER that
    the test reads and writes itself.
*/
#ifndef DISPATCHER_FIXTURE_H_INCLUDED
#define DISPATCHER_FIXTURE_H_INCLUDED

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zpeer/dispatcher.h>
#include <zpeer/health.h>
#include "command.h"
#include "options.h"
#include "scripted_peer.h"
#include "socket.h"
#include "wire.h"

#define LIMIT_MS 10000
#define PEER_ID  "5"

//  Fails the test if an actor refuses a command
#define COMMAND(actor, answer, ...)                                            \
    cr_assert_eq (                                                             \
        zpeer_command_call (actor, LIMIT_MS, answer, __VA_ARGS__, NULL),       \
        ZPEER_OK)

typedef struct {
    const char *retries;          //  NULL: 3
    const char *read_timeout_ms;  //  NULL: 30000
    const char *batcher;          //  Endpoint to bind; NULL: inproc
    const char *beat_ms;          //  NULL: 1000
    const char *report;           //  Endpoint to connect; NULL: none
    bool https;                   //  Speak TLS, without a CA to trust
    bool deaf;                    //  No health answers
} setup_t;

typedef struct {
    speer_t *peer;
    zactor_t *health;
    zactor_t *dispatcher;
    zsock_t *batcher;
    char endpoint[ZPEER_ENDPOINT_MAX];  //  The batcher's
    zpeer_frames_t frames;              //  The message last read
    zpeer_result_t done;                //  Of the last DONE
    uint16_t codes[8];
    size_t code_count;
    char log[1024];  //  Ids of all lines, each with a blank behind it
} fixture_t;

//  Lines come before the DONE they belong to
static void
s_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) level;
    (void) text;
    char *log = (char *) arg;
    size_t used = strlen (log);
    snprintf (log + used, 1024 - used, "%s ", id);
}

//  Names a file of CAs that holds none: it is open as long as the test runs
static void
s_trust_nobody (zpeer_options_t *options)
{
    static const char text[] = "-----BEGIN CERTIFICATE-----\n";
    char name[32];
    int fd = memfd_create ("ca.pem", 0);
    cr_assert_eq (write (fd, text, strlen (text)), (ssize_t) strlen (text));
    snprintf (name, sizeof name, "/proc/self/fd/%d", fd);
    zpeer_options_set (options, "zpeer.tls.ca-file", name);
}

static zpeer_options_t *
s_options (const setup_t *setup)
{
    zpeer_options_t *options = zpeer_options_new ();
    zpeer_options_set (options, "apiml.discovery.maxPeerRetries",
                       setup->retries ? setup->retries : "3");
    zpeer_options_set (options, "zpeer.stats.interval-ms", "10");
    if (setup->https)
        s_trust_nobody (options);
    if (setup->read_timeout_ms)
        zpeer_options_set (options, "eureka.server.peer-node-read-timeout-ms",
                           setup->read_timeout_ms);
    return options;
}

static void
s_bind_batcher (fixture_t *self, const char *endpoint)
{
    self->batcher = zpeer_socket_new (ZPEER_ROLE_SERVER, 1000, -1);
    cr_assert_eq (
        zpeer_socket_bind (self->batcher, endpoint, self->endpoint, NULL),
        ZPEER_OK);
}

static void
s_start_dispatcher (fixture_t *self, const setup_t *setup,
                    const zpeer_actor_args_t *args, const char *health)
{
    char url[128];
    snprintf (url, sizeof url, "%s://127.0.0.1:%d/eureka",
              setup->https ? "https" : "http", speer_port (self->peer));
    self->dispatcher = zpeer_command_actor (zpeer_dispatcher, (void *) args);
    COMMAND (self->dispatcher, NULL, "PEER", PEER_ID, url);
    COMMAND (self->dispatcher, NULL, "CONNECT", self->endpoint);
    COMMAND (self->dispatcher, NULL, "HEALTH", health);
    if (setup->report)
        COMMAND (self->dispatcher, NULL, "REPORT", setup->report);
    if (setup->beat_ms)
        COMMAND (self->dispatcher, NULL, "BEAT", setup->beat_ms);
    COMMAND (self->dispatcher, NULL, "START");
}

static fixture_t *
s_setup (const setup_t *setup)
{
    fixture_t *self = (fixture_t *) calloc (1, sizeof *self);
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_options_t *options = s_options (setup);
    zpeer_actor_args_t args = {options, s_log, self->log};
    self->peer = speer_new (0, -1);
    speer_set (self->peer, SPEER_SET_COUNT, 1);

    zpeer_socket_unique (endpoint, "batcher");
    s_bind_batcher (self, setup->batcher ? setup->batcher : endpoint);
    zpeer_socket_unique (endpoint, "health");
    self->health = zpeer_command_actor (zpeer_health, &args);
    COMMAND (self->health, NULL, "BIND", endpoint);
    if (!setup->deaf)
        COMMAND (self->health, NULL, "START");
    s_start_dispatcher (self, setup, &args, endpoint);
    zpeer_options_destroy (&options);
    return self;
}

static void
s_teardown (fixture_t *self)
{
    zactor_destroy (&self->dispatcher);
    zactor_destroy (&self->health);
    zpeer_frames_close (&self->frames);
    zsock_destroy (&self->batcher);
    speer_destroy (&self->peer);
    free (self);
}

//  Reads the dispatcher's messages until one is this command
static void
s_expect (fixture_t *self, zpeer_wire_command_t command)
{
    int64_t deadline = zpeer_socket_deadline (LIMIT_MS);
    zpeer_slice_t text = {0};
    do {
        cr_assert_eq (
            zpeer_socket_wait_until (self->batcher, ZMQ_POLLIN, deadline),
            ZPEER_OK, "no %s", zpeer_wire_command_text (command));
        cr_assert_eq (zpeer_socket_recv (self->batcher, &self->frames),
                      ZPEER_OK);
        text = zpeer_frames_at (&self->frames, 1);
    } while (zpeer_wire_command (text.data, text.size) != command);
}

static inline void
s_expect_done (fixture_t *self)
{
    s_expect (self, ZPEER_WIRE_DONE);
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 2);
    zpeer_slice_t codes = zpeer_frames_at (&self->frames, 3);
    cr_assert_eq (self->frames.count, 6);
    cr_assert_eq (zpeer_wire_get_done (fixed.data, fixed.size, &self->done),
                  ZPEER_OK);
    cr_assert_eq (zpeer_wire_get_codes (codes.data, codes.size, self->codes, 8,
                                        &self->code_count),
                  ZPEER_OK);
}

//  Sends frames to the dispatcher that was heard last
static void
s_send (fixture_t *self, const zpeer_slice_t *frames, size_t count)
{
    zpeer_slice_t all[ZPEER_FRAMES_MAX] = {zpeer_frames_at (&self->frames, 0)};
    memcpy (all + 1, frames, count * sizeof *frames);
    cr_assert_eq (zpeer_socket_send (self->batcher, all, count + 1), ZPEER_OK);
}

static inline void
s_send_id (fixture_t *self, const char *command, uint64_t id)
{
    uint8_t fixed[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_id (fixed, id);
    zpeer_slice_t frames[] = {zpeer_slice_str (command),
                              {(const char *) fixed, size}};
    s_send (self, frames, 2);
}

//  Answers the HEARTBEAT that was sent then
static inline void
s_send_last (fixture_t *self, uint64_t last, uint64_t sent)
{
    uint8_t fixed[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_last (fixed, last, sent);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("HEARTBEAT"),
                              {(const char *) fixed, size}};
    s_send (self, frames, 2);
}

//  The body of a batch of heartbeats
static void
s_write_body (zpeer_buffer_t *body, zpeer_mode_t mode, uint32_t items)
{
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("SHOP"), ZPEER_SLICE ("host:shop:8080"));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_item_t item = {
        .state = state,
        .timestamp = 1718270911002,
        .action = ZPEER_HEARTBEAT,
        .status = ZPEER_UP,
    };
    if (mode == ZPEER_MODE_BATCH)
        zpeer_buffer_lit (body, ZPEER_BATCH_HEAD);
    for (uint32_t i = 0; i < items; i++) {
        if (mode == ZPEER_MODE_SINGLE)
            zpeer_wire_put_request (body, &item);
        else {
            zpeer_buffer_add (body, ",", i > 0);
            zpeer_item_write (&item, body);
        }
    }
    if (mode == ZPEER_MODE_BATCH)
        zpeer_buffer_lit (body, ZPEER_BATCH_TAIL);
    zpeer_state_unref (&state);
    zpeer_name_unref (&name);
}

static void
s_send_batch (fixture_t *self, uint64_t id, zpeer_mode_t mode, uint32_t items)
{
    uint8_t fixed[ZPEER_WIRE_MAX];
    zpeer_wire_batch_t batch = {id, mode, items};
    zpeer_buffer_t body = {0};
    s_write_body (&body, mode, items);
    size_t size = zpeer_wire_put_batch (fixed, &batch);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("BATCH"),
                              {(const char *) fixed, size},
                              {body.data, body.size}};
    s_send (self, frames, 3);
    zpeer_buffer_free (&body);
}

//  One batch of one item, to its end
static inline zpeer_verdict_t
s_attempt (fixture_t *self, zpeer_mode_t mode)
{
    static uint64_t id = 0;
    s_send_batch (self, ++id, mode, 1);
    s_expect_done (self);
    cr_assert_eq (self->done.id, id);
    return self->done.verdict;
}

#endif
