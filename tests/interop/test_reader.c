//  What zpeer told a server, as Eureka's own client reads it there

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "lines.h"
#include "pair.h"
#include "banned.h"

#define LENGTH(array)  (sizeof (array) / sizeof *(array))
#define LINE_MAX_BYTES 256

//  The client's lines at most
#define LINES_MAX 16

static pair_t s_pair;

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (reader, .fini = s_stop, .timeout = 120);

static const struct {
    const char *id;
    const char *address;
    unsigned port;
    zpeer_status_t status;
} s_instances[] = {
    {"a:8080", "192.0.2.41", 8080, ZPEER_UP},
    {"b:80", "192.0.2.42", 80, ZPEER_DOWN},
    {"c:65535", "2001:db8::43", 65535, ZPEER_STARTING},
    {"d:9001", "192.0.2.44", 9001, ZPEER_UP},
    {"e:9001", "192.0.2.45", 9001, ZPEER_UP},
};

static void
s_register (size_t i)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_app (event, s_pair.app);
    zpeer_event_set_id (event, pair_id (&s_pair, s_instances[i].id));
    zpeer_event_set_timestamp (event, 1000);
    zpeer_event_set_status (event, s_instances[i].status);
    zpeer_event_put_str (event, "hostName", "shop02.example.net");
    zpeer_event_put_str (event, "ipAddr", s_instances[i].address);
    zpeer_event_put_port (event, s_instances[i].port, true);
    stage_send (s_pair.feed, event);
    zpeer_event_destroy (&event);
}

//  The client fetches the whole registry. Its lines about the application; returns
//  how many.
static size_t
s_fetch (char lines[LINES_MAX][LINE_MAX_BYTES])
{
    char arguments[LINE_MAX_BYTES];
    size_t count = 0;
    snprintf (arguments, sizeof arguments, "%s %s", s_pair.peers[0].url,
              s_pair.app);
    lines_program_t reader;
    lines_start (&reader, "ZPEER_READER", arguments, "r");
    while (count < LINES_MAX &&
           fgets (lines[count], LINE_MAX_BYTES, reader.file)) {
        lines[count][strcspn (lines[count], "\n")] = 0;
        count++;
    }
    cr_expect_eq (lines_end (&reader), 0, "the client failed");
    return count;
}

//  Whether one of the lines is about this instance, and just so
static bool
s_has (char lines[LINES_MAX][LINE_MAX_BYTES], size_t count, size_t i,
       const char *status)
{
    char wanted[LINE_MAX_BYTES];
    snprintf (wanted, sizeof wanted, "%s %s %s %u",
              pair_id (&s_pair, s_instances[i].id), status,
              s_instances[i].address, s_instances[i].port);
    for (size_t k = 0; k < count; k++)
        if (!strcmp (lines[k], wanted))
            return true;
    return false;
}

Test (reader, eurekas_client_finds_the_instances_as_they_are)
{
    static const char *const statuses[] = {"UP", "DOWN", "STARTING",
                                           "OUT_OF_SERVICE"};
    char lines[LINES_MAX][LINE_MAX_BYTES];
    pair_open (&s_pair, NULL);
    for (size_t i = 0; i < LENGTH (s_instances); i++)
        s_register (i);
    pair_await_count (&s_pair, s_pair.app, LENGTH (s_instances));
    pair_send (
        &s_pair, "d:9001",
        &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0}, 1);
    pair_send (&s_pair, "e:9001", &(pair_event_t){ZPEER_CANCEL, 0, 0, 0}, 1);
    pair_await (&s_pair, "d:9001", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    pair_await_gone (&s_pair, "e:9001");

    size_t count = s_fetch (lines);
    cr_expect_eq (count, LENGTH (statuses), "%zu lines", count);
    for (size_t i = 0; i < LENGTH (statuses); i++)
        cr_expect (s_has (lines, count, i, statuses[i]), "no %s as it is",
                   s_instances[i].id);
}
