#include <stdio.h>
#include <zpeer/engine.h>
#include <zpeer/feed.h>

int
main (int argc, char **argv)
{
    const char *peer = argc > 1 ? argv[1] : "http://localhost:8761/eureka/";
    zpeer_engine_t *engine = zpeer_engine_new ();
    zpeer_engine_set (engine, "zpeer.events.endpoint", "inproc://events");
    zpeer_engine_set (engine, "zpeer.outcomes.endpoint", "inproc://outcomes");
    if (zpeer_engine_start (engine) || zpeer_engine_add_peer (engine, peer)) {
        fprintf (stderr, "%s\n", zpeer_engine_error (engine));
        zpeer_engine_destroy (&engine);
        return 1;
    }

    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_app (event, "CATALOG");
    zpeer_event_set_id (event, "shop02.example.net:catalog:9001");
    zpeer_event_set_timestamp (event, 1718271499871);
    zpeer_event_put_str (event, "hostName", "shop02.example.net");
    zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    zpeer_event_put_port (event, 9001, true);

    zpeer_feed_t *feed = zpeer_feed_new (zpeer_engine_events (engine), 0);
    zpeer_reply_t reply = {0};
    zpeer_feed_send (feed, event, 1000, NULL);
    zpeer_feed_recv (feed, &reply, 1000);
    long long left = zpeer_engine_stop (engine);
    printf ("%u accepted, %lld not delivered\n", reply.accepted, left);

    zpeer_feed_destroy (&feed);
    zpeer_event_destroy (&event);
    zpeer_engine_destroy (&engine);
    return reply.accepted == 1 && left == 0 ? 0 : 1;
}
