//  A forwarder for HTTP refuses what it is told to, and passes on everything else
#include "forwarder.h"
#include "scripted_case.h"
#include "banned.h"

static speer_forwarder_t *s_forwarder;

static void
s_begin (void)
{
    s_setup ();
    s_forwarder = speer_forwarder_new_http (speer_port (s_peer));
}

static void
s_end (void)
{
    speer_forwarder_destroy (&s_forwarder);
    s_teardown ();
}

TestSuite (scripted_firewall, .init = s_begin, .fini = s_end, .timeout = 60);

//  Two requests over one connection
static int s_fd;

static int
s_say (const char *body)
{
    char *quoted = s_quoted (body);
    speer_response_free (&s_response);
    speer_client_send (s_fd, "POST", BATCH, MARKED, quoted);
    speer_client_read (s_fd, LIMIT_MS, &s_response);
    free (quoted);
    return s_response.status;
}

#define ONE(item) "{'replicationList':[" item "]}"

Test (scripted_firewall, what_holds_the_text_is_refused_and_not_passed_on)
{
    s_fd = speer_client_connect (speer_forwarder_port (s_forwarder));
    speer_forwarder_deny (s_forwarder, "jndi");
    cr_assert_eq (s_say (ONE (REGISTER ("'sid':'jndi'"))), 403);
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 0);
    cr_assert_eq (s_say (ONE (REGISTER ("'sid':'x'"))), 200);
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    speer_forwarder_deny (s_forwarder, "");
    cr_assert_eq (s_say (ONE (CANCEL)), 403);
    speer_forwarder_deny (s_forwarder, NULL);
    cr_assert_eq (s_say (ONE (CANCEL)), 200);
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 2);
    close (s_fd);
}

//  A request that comes in two pieces, and is found all the same
Test (scripted_firewall, a_text_may_come_in_pieces)
{
    const char *parts[] = {
        "POST " BATCH " HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n'jn",
        "di'"};
    s_fd = speer_client_connect (speer_forwarder_port (s_forwarder));
    speer_forwarder_deny (s_forwarder, "jndi");
    for (int i = 0; i < 2; i++) {
        cr_assert_eq (write (s_fd, parts[i], strlen (parts[i])),
                      (ssize_t) strlen (parts[i]));
        speer_client_read (s_fd, i ? LIMIT_MS : QUIET_MS, &s_response);
        cr_assert_eq (s_response.status, i ? 403 : 0);
        speer_response_free (&s_response);
    }
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 0);
    close (s_fd);
}
