//  Requests as they come in, what is recorded of them, and the control port
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include "scripted_case.h"
#include "banned.h"

TestSuite (scripted_control, .init = s_setup, .fini = s_teardown,
           .timeout = 60);

//  A call on the control port; returns the status
static int
s_control (const char *method, const char *path, const char *body)
{
    char *quoted = body ? s_quoted (body) : NULL;
    const char *colon = strrchr (speer_control_url (s_peer), ':');
    int port = (int) strtol (colon + 1, NULL, 10);
    speer_response_free (&s_response);
    int status = speer_call (port, method, path, NULL, quoted, &s_response);
    free (quoted);
    return status;
}

static struct sockaddr_in
s_address (void)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port =
                                    htons ((uint16_t) speer_port (s_peer)),
                                .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
}

//  ---- Requests

Test (scripted_control, a_connection_serves_one_request_after_the_other)
{
    int fd = speer_client_connect (speer_port (s_peer));
    for (int i = 0; i < 3; i++) {
        s_send (fd, HEARTBEAT ("5"));
        speer_client_read (fd, LIMIT_MS, &s_response);
        cr_assert_eq (s_code (0), 404);
        speer_response_free (&s_response);
    }
    close (fd);
    cr_assert_eq (speer_get (s_peer, SPEER_CONNECTIONS), 1);
    cr_assert_eq (speer_get (s_peer, SPEER_ANSWERED), 3);
    cr_assert_eq (speer_get (s_peer, SPEER_MAX_IN_FLIGHT), 1);
}

Test (scripted_control, requests_may_come_before_the_answer_and_in_pieces)
{
    static const char text[] = "GET /eureka/apps HTTP/1.1\r\n\r\n"
                               "GET /eureka/apps/A HTTP/1.1\r\n\r\n";
    int fd = speer_client_connect (speer_port (s_peer));
    speer_rule (s_peer, &(speer_rule_t){.delay_ms = SPEER_HELD, .count = 1});
    for (size_t i = 0; i < sizeof text - 1; i++)
        cr_assert_eq (send (fd, text + i, 1, 0), 1);
    cr_assert (speer_wait (s_peer, SPEER_PENDING, 1, LIMIT_MS));
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 1);
    speer_release (s_peer);
    cr_assert (speer_wait (s_peer, SPEER_ANSWERED, 2, LIMIT_MS));
    close (fd);
}

Test (scripted_control, chunked_requests_are_joined)
{
    static const char text[] =
        "POST " BATCH " HTTP/1.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        "A\r\n{\"replicat\r\nc\r\nionList\":[]}\r\n0\r\n\r\n";
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert_eq (send (fd, text, sizeof text - 1, 0), sizeof text - 1);
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_response.status, 200);
    close (fd);
}

Test (scripted_control, who_expects_100_is_told_to_continue)
{
    char told[64] = "";
    static const char head[] =
        "POST " BATCH " HTTP/1.1\r\nContent-Length: 2\r\n"
        "Expect: 100-continue\r\n\r\n";
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert_eq (send (fd, head, sizeof head - 1, 0), sizeof head - 1);
    cr_assert_gt (recv (fd, told, sizeof told - 1, 0), 0);
    cr_assert_str_eq (told, "HTTP/1.1 100 Continue\r\n\r\n");
    cr_assert_eq (send (fd, "{}", 2, 0), 2);
    cr_assert (speer_wait (s_peer, SPEER_REQUESTS, 1, LIMIT_MS));
    close (fd);
}

Test (scripted_control, what_is_no_http_is_400_and_closed)
{
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert_eq (send (fd, "hello\r\n\r\n", 9, 0), 9);
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_response.status, 400);
    close (fd);
    cr_assert (speer_wait_at_most (s_peer, SPEER_OPEN, 0, LIMIT_MS));
}

Test (scripted_control, connecting_to_a_deaf_peer_times_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port =
                                      htons ((uint16_t) speer_port (s_peer)),
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    speer_mode (s_peer, SPEER_DEAF);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct pollfd connected = {.fd = fd, .events = POLLOUT};
    int rc = connect (fd, (struct sockaddr *) &address, sizeof address);
    cr_assert (rc < 0 && errno == EINPROGRESS);
    cr_assert_eq (poll (&connected, 1, QUIET_MS), 0);
    close (fd);
    speer_mode (s_peer, SPEER_LISTEN);
    cr_assert_eq (s_post (CANCEL), 200);
    cr_assert_eq (speer_get (s_peer, SPEER_CONNECTIONS), 1);
}

Test (scripted_control, out_of_descriptors_it_waits_for_one)
{
    struct rlimit limit, low;
    getrlimit (RLIMIT_NOFILE, &limit);
    int fd = speer_client_connect (speer_port (s_peer));
    int next = speer_client_connect (speer_port (s_peer));
    cr_assert (speer_wait (s_peer, SPEER_OPEN, 2, LIMIT_MS));
    //  Connects with a descriptor made before; the peer finds none for it
    int late = socket (AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = s_address ();
    low = (struct rlimit){.rlim_cur = (rlim_t) late + 1,
                          .rlim_max = limit.rlim_max};
    setrlimit (RLIMIT_NOFILE, &low);
    cr_assert_eq (connect (late, (struct sockaddr *) &address, sizeof address),
                  0);
    cr_assert_not (speer_wait (s_peer, SPEER_OPEN, 3, QUIET_MS));
    close (fd);
    cr_assert (speer_wait (s_peer, SPEER_CONNECTIONS, 3, LIMIT_MS));
    setrlimit (RLIMIT_NOFILE, &limit);
    close (next);
    close (late);
}

//  ---- Records

Test (scripted_control, requests_are_recorded_with_head_and_body)
{
    speer_record_t record;
    s_post (CANCEL "," CANCEL);
    s_call ("PUT", "/eureka/apps/A/a1?status=UP", MARKED, NULL);
    cr_assert (speer_request (s_peer, 0, &record));
    cr_assert_eq (record.items, 2);
    cr_assert_eq (record.status, 200);
    cr_assert_geq (record.done_ms, record.at_ms);
    cr_assert_str_eq (record.method, "POST");
    cr_assert_str_eq (record.path, BATCH);
    cr_assert (strstr (record.head, "\r\nContent-Type: application/json\r\n"));
    cr_assert (strstr (record.body, "\"action\":\"Cancel\"}]}"));
    speer_record_free (&record);
    cr_assert (speer_request (s_peer, 1, &record));
    cr_assert_eq (record.status, 404);
    cr_assert_str_eq (record.path, "/eureka/apps/A/a1?status=UP");
    speer_record_free (&record);
    cr_assert_not (speer_request (s_peer, 2, &record));
}

Test (scripted_control, only_the_latest_bodies_are_kept)
{
    speer_record_t record;
    speer_set (s_peer, SPEER_SET_KEEP, 1);
    s_post (CANCEL);
    s_post (CANCEL);
    cr_assert (speer_request (s_peer, 0, &record));
    cr_assert_str_eq (record.body, "");
    cr_assert_gt (record.body_bytes, 0);
    speer_record_free (&record);
    cr_assert (speer_request (s_peer, 1, &record));
    cr_assert_eq (strlen (record.body), record.body_bytes);
    speer_record_free (&record);
}

Test (scripted_control, waiting_ends_with_its_limit)
{
    cr_assert_not (speer_wait (s_peer, SPEER_REQUESTS, 1, QUIET_MS));
    s_post (CANCEL);
    cr_assert (speer_wait (s_peer, SPEER_REQUESTS, 1, 0));
    cr_assert_not (speer_wait_at_most (s_peer, SPEER_REQUESTS, 0, QUIET_MS));
}

static bool
s_is_up (speer_t *peer, void *arg)
{
    speer_lease_t lease;
    return speer_lease (peer, "A", (const char *) arg, &lease) &&
           !strcmp (lease.status, "UP");
}

Test (scripted_control, waiting_for_a_condition_sees_changes_at_once)
{
    char id[] = "a1";
    int fd = speer_client_connect (speer_port (s_peer));
    s_send (fd, REGISTER_AT ("5"));
    cr_assert (speer_wait_until (s_peer, s_is_up, id, LIMIT_MS));
    close (fd);
}

Test (scripted_control, a_reset_peer_is_as_new)
{
    speer_set (s_peer, SPEER_SET_SYNC, 0);
    speer_rule (s_peer, &(speer_rule_t){.delay_ms = SPEER_HELD, .skip = 1});
    s_post (REGISTER_AT ("5"));
    int fd = speer_client_connect (speer_port (s_peer));
    s_send (fd, CANCEL);
    cr_assert (speer_wait (s_peer, SPEER_PENDING, 1, LIMIT_MS));
    speer_mode (s_peer, SPEER_BLACK_HOLE);
    speer_reset (s_peer);
    for (int i = 0; i < SPEER_COUNTERS_MAX; i++)
        cr_assert_eq (speer_get (s_peer, (speer_counter_t) i), 0, "%d", i);
    s_post (REGISTER_AT ("5"));
    cr_assert_eq (s_item (HEARTBEAT ("4")), 409);
    close (fd);
}

Test (scripted_control, peers_in_one_process_know_nothing_of_each_other)
{
    speer_t *peers[20];
    for (int i = 0; i < 20; i++)
        cr_assert (peers[i] = speer_new (0, -1));
    s_post (REGISTER_AT ("5"));
    for (int i = 0; i < 20; i++) {
        cr_assert_null (speer_control_url (peers[i]));
        cr_assert_eq (speer_get (peers[i], SPEER_INSTANCES), 0);
        speer_destroy (&peers[i]);
        speer_destroy (&peers[i]);
    }
}

Test (scripted_control, a_taken_port_is_no_peer)
{
    cr_assert_null (speer_new (speer_port (s_peer), -1));
}

//  ---- The control port

Test (scripted_control, a_script_over_http_does_what_the_functions_do)
{
    cr_assert_eq (s_control ("POST", "/script",
                             "{'settings':{'expire':1,'sync':false},"
                             "'rules':[{'path':'batch','status':503,'count':1,"
                             "'delay_ms':1,'answer':'proper','apply':'first',"
                             "'headers':'Retry-After: 1\\r\\n','close':true}],"
                             "'items':[{'action':'Cancel','status':500}]}"),
                  204);
    cr_assert_eq (s_post (REGISTER_AT ("5")), 503);
    cr_assert_eq (s_item (HEARTBEAT ("4")), 200);
    cr_assert_eq (s_item (CANCEL), 500);
    cr_assert_eq (s_control ("POST", "/script", "{'advance':200000}"), 204);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    s_control (
        "POST", "/script",
        "{'clear':true,'apply':{'replicationList':[" REGISTER_AT ("5") "]}}");
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 1);
    s_control ("POST", "/script", "{'reset':true}");
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
}

Test (scripted_control, a_peer_that_refuses_can_still_be_told)
{
    cr_assert_eq (s_control ("POST", "/script", "{'mode':'refuse'}"), 204);
    cr_assert_eq (s_post (CANCEL), 0);
    cr_assert_eq (s_control ("POST", "/script", "{'mode':'listen'}"), 204);
    cr_assert_eq (s_post (CANCEL), 200);
}

Test (scripted_control, held_requests_are_released_over_http)
{
    int fd = speer_client_connect (speer_port (s_peer));
    s_control ("POST", "/script", "{'rules':[{'delay_ms':'held'}]}");
    s_send (fd, CANCEL);
    cr_assert (speer_wait (s_peer, SPEER_PENDING, 1, LIMIT_MS));
    s_control ("POST", "/script", "{'release':true}");
    cr_assert (speer_wait (s_peer, SPEER_ANSWERED, 1, LIMIT_MS));
    close (fd);
}

Test (scripted_control, a_wrong_script_is_400_and_says_why)
{
    static const struct {
        const char *script;
        const char *wrong;
    } cases[] = {
        {"{", "line 1: "},
        {"[]", "the script is no object"},
        {"{'rule':[]}", "rule is no member of a script"},
        {"{'rules':{}}", "rules is no array"},
        {"{'rules':[1]}", "a rule is no object"},
        {"{'rules':[{'delay':1}]}", "delay is no member of a rule"},
        {"{'rules':[{'delay_ms':-2}]}", "delay_ms has a value it cannot have"},
        {"{'rules':[{'answer':'no'}]}", "answer has a value it cannot have"},
        {"{'mode':'off'}", "there is no such mode"},
        {"{'settings':{'x':1}}", "x is no setting"},
        {"{'apply':{}}", "apply: answered 500"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq (s_control ("POST", "/script", cases[i].script), 400);
        cr_assert (
            !strncmp (s_response.body, cases[i].wrong, strlen (cases[i].wrong)),
            "%s: %s", cases[i].script, s_response.body);
    }
}

Test (scripted_control, counters_requests_samples_and_apps_are_read_over_http)
{
    speer_set (s_peer, SPEER_SET_SAMPLE, 1);
    s_post (HEARTBEAT ("77"));
    cr_assert_eq (s_control ("GET", "/counters", NULL), 200);
    cr_assert (strstr (s_response.body, "\"requests\":1,"));
    s_control ("GET", "/requests?from=0", NULL);
    cr_assert (strstr (s_response.body, "\"path\":\"" BATCH "\""));
    s_control ("GET", "/requests?from=1", NULL);
    cr_assert_str_eq (s_response.body, "[]");
    s_control ("GET", "/samples", NULL);
    cr_assert (strstr (s_response.body, ",77]]"));
    s_control ("GET", "/apps", NULL);
    cr_assert (strstr (s_response.body, "\"application\":[]"));
    cr_assert_eq (s_control ("GET", "/other", NULL), 404);
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 1);
}
