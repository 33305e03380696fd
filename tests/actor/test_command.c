#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include "command.h"
#include "socket.h"
#include "banned.h"

#define WAIT_MS         5000
#define STACK_TOO_LARGE ((size_t) 1 << 46)

//  An actor with one command of every sort
typedef struct {
    zpeer_commands_t commands;
    unsigned calls;
} s_self_t;

static int
s_echo (void *self, char *const *args, char *answer)
{
    ((s_self_t *) self)->calls++;
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s-%s", args[0], args[1]);
    return ZPEER_OK;
}

static int
s_fail (void *self, char *const *args, char *answer)
{
    (void) self;
    (void) args;
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "port is taken");
    return ZPEER_E_BIND;
}

static int
s_fail_silently (void *self, char *const *args, char *answer)
{
    (void) self;
    (void) args;
    (void) answer;
    return ZPEER_E_RANGE;
}

static int
s_ok (void *self, char *const *args, char *answer)
{
    (void) self;
    (void) args;
    (void) answer;
    return ZPEER_OK;
}

static int
s_later (void *self, char *const *args, char *answer)
{
    (void) self;
    (void) args;
    (void) answer;
    return ZPEER_COMMAND_LATER;
}

//  Ends what s_later began; has an answer of its own then
static int
s_calls (void *self, char *const *args, char *answer)
{
    (void) args;
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%u",
              ((s_self_t *) self)->calls);
    return ZPEER_OK;
}

//  How its thread takes signals
static int
s_mask (void *self, char *const *args, char *answer)
{
    (void) self;
    (void) args;
    sigset_t mask;
    pthread_sigmask (SIG_BLOCK, NULL, &mask);
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "INT %d PIPE %d SEGV %d",
              sigismember (&mask, SIGINT), sigismember (&mask, SIGPIPE),
              sigismember (&mask, SIGSEGV));
    return ZPEER_OK;
}

static const zpeer_command_t s_table[] = {
    {"ECHO", 2, ZPEER_WHEN_ANY, s_echo},
    {"FAIL", 0, ZPEER_WHEN_ANY, s_fail},
    {"SILENT", 0, ZPEER_WHEN_ANY, s_fail_silently},
    {"EARLY", 0, ZPEER_WHEN_BEFORE_START, s_ok},
    {"START", 0, ZPEER_WHEN_START, s_ok},
    {"LATE", 0, ZPEER_WHEN_STARTED, s_ok},
    {"DRAIN", 0, ZPEER_WHEN_ANY, s_later},
    {"CALLS", 0, ZPEER_WHEN_ANY, s_calls},
    {"MASK", 0, ZPEER_WHEN_ANY, s_mask},
    {NULL, 0, ZPEER_WHEN_ANY, NULL},
};

//  Ends a pending command once its endpoint gets a message
static void
s_actor (zsock_t *pipe, void *args)
{
    s_self_t self = {0};
    zpeer_commands_init (&self.commands, pipe, &self, s_table);
    zsock_t *inbox = zpeer_socket_new (ZPEER_ROLE_PULL, 10, -1);
    zpeer_socket_bind (inbox, (const char *) args, NULL, NULL);
    zpoller_t *poller = zpoller_new (pipe, inbox, NULL);
    zpoller_set_nonstop (poller, true);
    zsock_signal (pipe, 0);

    bool go_on = true;
    zpeer_frames_t frames = {0};
    while (go_on)
        if (zpoller_wait (poller, -1) == pipe)
            go_on = zpeer_commands_handle (&self.commands);
        else if (zpeer_socket_recv (inbox, &frames) == ZPEER_OK)
            zpeer_commands_ok (&self.commands, "done");
    zpeer_frames_close (&frames);
    zpoller_destroy (&poller);
    zsock_destroy (&inbox);
}

//  Never reads its pipe
static void
s_deaf_actor (zsock_t *pipe, void *args)
{
    zsock_signal (pipe, 0);
    //  Not zsock_wait: our sockets do not wait, and an actor that has ended is
    //  not deaf
    zpeer_socket_wait ((zsock_t *) args, ZMQ_POLLIN, -1);
}

static char s_endpoint[ZPEER_ENDPOINT_MAX];
static zactor_t *s_tested;

static void
s_setup (void)
{
    zpeer_socket_unique (s_endpoint, "command");
    s_tested = zpeer_command_actor (s_actor, s_endpoint);
    cr_assert (s_tested);
}

static void
s_teardown (void)
{
    zactor_destroy (&s_tested);
}

#define CALL(answer, ...)                                                      \
    zpeer_command_call (s_tested, WAIT_MS, answer, __VA_ARGS__, NULL)

TestSuite (command, .init = s_setup, .fini = s_teardown);

Test (command, a_value_comes_back)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "ECHO", "one", ""), ZPEER_OK);
    cr_expect_str_eq (answer, "one-");
    cr_expect_eq (CALL (answer, "START"), ZPEER_OK);
    cr_expect_str_eq (answer, "");
    cr_expect_eq (CALL (NULL, "ECHO", "a", "b"), ZPEER_OK);
}

Test (command, an_error_comes_with_its_code_and_a_sentence)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "FAIL"), ZPEER_E_BIND);
    cr_expect_str_eq (answer, "port is taken");
    cr_expect_eq (CALL (answer, "SILENT"), ZPEER_E_RANGE);
    cr_expect_str_eq (answer, zpeer_strerror (ZPEER_E_RANGE));
}

Test (command, what_is_not_in_the_table_is_refused)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "NONSENSE"), ZPEER_E_UNKNOWN);
    cr_expect_str_eq (answer, "unknown command");
    cr_expect_eq (CALL (answer, "ECHO", "one"), ZPEER_E_INVALID);
    cr_expect_str_eq (answer, "ECHO takes 2 arguments, not 1");
    cr_expect_eq (CALL (answer, "FAIL", "1", "2", "3", "4"), ZPEER_E_INVALID);
    cr_expect_eq (CALL (answer, "CALLS"), ZPEER_OK);
    cr_expect_str_eq (answer, "0");
}

Test (command, start_divides_what_may_come_before_from_what_may_after)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "LATE"), ZPEER_E_STATE);
    cr_expect_str_eq (answer, "LATE is not possible before START");
    cr_expect_eq (CALL (NULL, "EARLY"), ZPEER_OK);
    cr_expect_eq (CALL (NULL, "START"), ZPEER_OK);
    cr_expect_eq (CALL (answer, "EARLY"), ZPEER_E_STATE);
    cr_expect_str_eq (answer, "EARLY is not possible after START");
    cr_expect_eq (CALL (NULL, "START"), ZPEER_E_STATE);
    cr_expect_eq (CALL (NULL, "LATE"), ZPEER_OK);
}

Test (command, an_answer_may_come_later_and_nothing_overtakes_it)
{
    cr_assert_eq (zpeer_command_send (s_tested, "DRAIN", NULL), ZPEER_OK);
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "CALLS"), ZPEER_E_AGAIN);
    cr_expect_str_eq (answer, "DRAIN is not done yet");

    zsock_t *push = zpeer_socket_new (ZPEER_ROLE_PUSH, 10, -1);
    zpeer_socket_connect (push, s_endpoint);
    zpeer_slice_t go = ZPEER_SLICE ("go");
    cr_assert_eq (zpeer_socket_send (push, &go, 1), ZPEER_OK);
    cr_expect_eq (zpeer_command_await (s_tested, WAIT_MS, answer), ZPEER_OK);
    cr_expect_str_eq (answer, "done");
    cr_expect_eq (CALL (NULL, "CALLS"), ZPEER_OK);
    zsock_destroy (&push);
}

Test (command, an_actor_takes_none_of_the_hosts_signals)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "MASK"), ZPEER_OK);
    cr_expect_str_eq (answer, "INT 1 PIPE 1 SEGV 0");
}

Test (command, waiting_for_an_answer_has_a_limit)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (zpeer_command_call (s_tested, 10, answer, "DRAIN", NULL),
                  ZPEER_E_TIMEOUT);
    cr_expect_str_eq (answer, zpeer_strerror (ZPEER_E_TIMEOUT));
}

Test (command, an_answer_nobody_waited_for_is_not_taken_for_the_next)
{
    cr_assert_eq (zpeer_command_call (s_tested, 0, NULL, "DRAIN", NULL),
                  ZPEER_E_TIMEOUT);
    zsock_t *push = zpeer_socket_new (ZPEER_ROLE_PUSH, 10, -1);
    zpeer_socket_connect (push, s_endpoint);
    zpeer_slice_t go = ZPEER_SLICE ("go");
    cr_assert_eq (zpeer_socket_send (push, &go, 1), ZPEER_OK);
    cr_assert_eq (
        zpeer_socket_wait (zactor_sock (s_tested), ZMQ_POLLIN, WAIT_MS),
        ZPEER_OK);

    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "ECHO", "a", "b"), ZPEER_OK);
    cr_expect_str_eq (answer, "a-b");
    zsock_destroy (&push);
}

Test (command, plain_czmq_calls_speak_the_same_protocol)
{
    char *word, *value;
    zstr_sendx (s_tested, "ECHO", "a", "b", NULL);
    zstr_recvx (s_tested, &word, &value, NULL);
    cr_expect_str_eq (word, "OK");
    cr_expect_str_eq (value, "a-b");
    zstr_free (&word);
    zstr_free (&value);
    zstr_sendx (s_tested, "NONSENSE", NULL);
    zstr_recvx (s_tested, &word, &value, NULL);
    cr_expect_str_eq (word, "ERROR");
    cr_expect_str_eq (value, "unknown command");
    zstr_free (&word);
    zstr_free (&value);
}

Test (command, an_actor_that_reads_nothing_blocks_nobody)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "deaf");
    zsock_t *wake = zpeer_socket_new (ZPEER_ROLE_PULL, 10, -1);
    zpeer_socket_bind (wake, endpoint, NULL, NULL);
    zactor_t *deaf = zpeer_command_actor (s_deaf_actor, wake);
    int rc = ZPEER_OK;
    for (int i = 0; i < 100000 && rc == ZPEER_OK; i++)
        rc = zpeer_command_send (deaf, "ECHO", "a", "b", NULL);
    cr_expect_eq (rc, ZPEER_E_AGAIN);

    zsock_t *push = zpeer_socket_new (ZPEER_ROLE_PUSH, 10, -1);
    zpeer_socket_connect (push, endpoint);
    zsock_signal (push, 0);
    zactor_destroy (&deaf);
    zsock_destroy (&push);
    zsock_destroy (&wake);
}

Test (command, an_actor_too_many_is_refused)
{
    struct rlimit limit = {64, 64};
    setrlimit (RLIMIT_NOFILE, &limit);
    zactor_t *actors[64];
    size_t count = 0;
    char endpoint[64][ZPEER_ENDPOINT_MAX];
    for (; count < 64; count++) {
        zpeer_socket_unique (endpoint[count], "many");
        actors[count] = zpeer_command_actor (s_actor, endpoint[count]);
        if (!actors[count])
            break;
    }
    cr_expect (count > 4 && count < 32);
    while (count)
        zactor_destroy (&actors[--count]);
}

Test (command, a_number_is_decimal_and_within_its_range)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX] = "";
    uint32_t number = 7;
    cr_assert_eq (zpeer_command_number ("63", 63, &number, answer), ZPEER_OK);
    cr_assert_eq (number, 63);
    static const char *const wrong[] = {
        "", "64", "-1", "+1", " 1", "1x", "0x1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_eq (zpeer_command_number (wrong[i], 63, &number, answer),
                      ZPEER_E_RANGE, "'%s'", wrong[i]);
    cr_assert_eq (number, 63);
    cr_assert_str_eq (answer,
                      "'99999999999999999999' is not a number from 0 to 63");
}

Test (command, an_actor_without_a_thread_is_refused)
{
    pthread_attr_t before, huge;
    cr_assert_eq (pthread_getattr_default_np (&before), 0);
    cr_assert_eq (pthread_attr_init (&huge), 0);
    cr_assert_eq (pthread_attr_setstacksize (&huge, STACK_TOO_LARGE), 0);
    cr_assert_eq (pthread_setattr_default_np (&huge), 0);
    zactor_t *actor = zpeer_command_actor (s_actor, s_endpoint);
    cr_expect_null (actor);
    cr_assert_eq (pthread_setattr_default_np (&before), 0);
    pthread_attr_destroy (&huge);
    pthread_attr_destroy (&before);
}
