/*  race_reporter.c - the reporter alone: several actors that report, watches
    that come and go
*/
#include "command.h"
#include "race.h"
#include "report.h"
#include "socket.h"
#include "banned.h"

#define SENDERS 4
#define WATCHES 15

static char s_outcomes[ZPEER_COMMAND_ANSWER_MAX];

static void
s_report (void *arg)
{
    zpeer_report_t *report = (zpeer_report_t *) arg;
    zpeer_peer_change_t change = {
        .peer = ZPEER_SLICE ("http://peer/eureka/"),
        .state = ZPEER_PEER_ADDED,
    };
    for (unsigned i = 0; i < 20; i++) {
        zpeer_outcome_peer (zpeer_report_map (report), &change);
        zpeer_report_send (report, ZPEER_TOPIC_PEER);
    }
    zpeer_socket_wait (report->socket, ZMQ_POLLOUT, 10);
}

//  A watch that reads a few outcomes and goes
static void
s_visit (void)
{
    zpeer_watch_t *watch = zpeer_watch_new (s_outcomes, "peer");
    RACE_CHECK (watch);
    for (unsigned i = 0; i < 10; i++) {
        const char *topic;
        const void *data;
        size_t size;
        RACE_CHECK (zpeer_watch_recv (watch, RACE_WAIT_MS, &topic, &data,
                                      &size) == ZPEER_OK);
        char *json = zpeer_watch_json (data, size);
        RACE_CHECK (json && streq (topic, "peer"));
        free (json);
    }
    zpeer_watch_destroy (&watch);
}

int
main (void)
{
    char inbox[ZPEER_ENDPOINT_MAX];
    zpeer_report_t reports[SENDERS] = {0};
    zpeer_socket_unique (inbox, "inbox");
    zpeer_socket_init ();
    zactor_t *reporter = zpeer_command_actor (zpeer_reporter, NULL);
    RACE_CALL (reporter, NULL, "INBOX", inbox);
    RACE_CALL (reporter, s_outcomes, "PUB", "tcp://127.0.0.1:*");
    RACE_CALL (reporter, NULL, "START");

    race_t *race = race_new ();
    for (unsigned i = 0; i < SENDERS; i++) {
        RACE_CHECK (zpeer_report_connect (&reports[i], inbox) == ZPEER_OK);
        race_repeat (race, s_report, &reports[i]);
    }
    race_watch (race, s_outcomes);
    for (unsigned i = 0; i < WATCHES; i++)
        s_visit ();
    RACE_CALL (reporter, NULL, "DRAIN");
    race_destroy (&race);
    for (unsigned i = 0; i < SENDERS; i++)
        zpeer_report_close (&reports[i]);
    zactor_destroy (&reporter);
    return 0;
}
