//  Endpoints over which pointers go take nobody from outside

#include <criterion/criterion.h>
#include <zpeer/acceptor.h>
#include <zpeer/batcher.h>
#include "command.h"
#include "banned.h"

#define WAIT_MS 5000

static zpeer_options_t *s_options;
static zactor_t *s_actor;

static void
s_begin (zactor_fn *function)
{
    zpeer_socket_init ();
    s_options = zpeer_options_new ();
    zpeer_actor_args_t args = {.options = s_options};
    s_actor = zpeer_command_actor (function, &args);
    cr_assert (s_actor);
}

static void
s_end (void)
{
    zactor_destroy (&s_actor);
    zpeer_options_destroy (&s_options);
}

TestSuite (pointers, .fini = s_end);

static void
s_refused (const char *command, const char *one, const char *two)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    int rc =
        zpeer_command_call (s_actor, WAIT_MS, answer, command, one, two, NULL);
    cr_expect_eq (rc, ZPEER_E_INVALID, "%s", command);
    cr_expect_not_null (strstr (answer, " is not inproc"), "%s: %s", command,
                        answer);
}

Test (pointers, a_batcher_has_its_own_process_only)
{
    s_begin (zpeer_batcher);
    s_refused ("INBOX", "tcp://127.0.0.1:*", NULL);
    s_refused ("INBOX", "ipc:///tmp/zpeer-pointers", NULL);
    s_refused ("INBOX", "inproc:/", NULL);
    s_refused ("UPLINK", "tcp://127.0.0.1:7", NULL);
}

Test (pointers, an_acceptor_has_its_own_process_only)
{
    s_begin (zpeer_acceptor);
    s_refused ("UPLINK", "tcp://127.0.0.1:*", NULL);
    s_refused ("ADDLANE", "0", "tcp://127.0.0.1:7");
}
