#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <criterion/criterion.h>
#include "buffer.h"
#include "pair.h"
#include "banned.h"

//  Of the InstanceInfo of a Register, and of a peer's URL
#define TEXT_MAX 16384
#define URL_MAX  512

//  Of a server's name, as s_add_all reads it
#define NAME_MAX_BYTES 32

#define TOPICS                                                                 \
    "delivered,conflict,need-register,rejected,dropped,peer,resync,stats"
#define SETS_MAX 16

void
pair_start (pair_t *self, const char *const *set)
{
    //  Statistics come often: what waits looks again by then
    const char *all[SETS_MAX] = {"zpeer.outcomes.delivered=true",
                                 "zpeer.stats.interval-ms=50"};
    const char *topic;
    const void *data;
    size_t size;
    for (size_t i = 2; set && *set && i < SETS_MAX - 1; i++)
        all[i] = *set++;
    *self = (pair_t){.engine = stage_engine (all),
                     .limit_ms = STAGE_WAIT_MS,
                     .heard = json_array ()};
    snprintf (self->app, sizeof self->app, "PAIR%d", getpid ());
    self->feed = stage_feed (self->engine);
    self->watch =
        zpeer_watch_new (zpeer_engine_outcomes (self->engine), TOPICS);
    //  From the first outcome on none is missed
    cr_assert_eq (
        zpeer_watch_recv (self->watch, STAGE_WAIT_MS, &topic, &data, &size),
        ZPEER_OK);
}

void
pair_add (pair_t *self, remote_t *remote, const char *url)
{
    cr_assert_lt (self->count, PAIR_PEERS_MAX);
    pair_peer_t *peer = &self->peers[self->count++];
    peer->remote = remote;
    peer->url = strdup (url ? url : remote_base (remote));
    cr_assert_eq (zpeer_engine_add_peer (self->engine, peer->url), ZPEER_OK,
                  "%s", zpeer_engine_error (self->engine));
}

//  Behind a forwarder of its own
static void
s_add_apart (pair_t *self, remote_t *remote)
{
    char url[URL_MAX];
    char *path;
    const char *host = strstr (remote_base (remote), "://") + 3;
    const char *port = strchr (host, ':');
    cr_assert (port, "%s has no port", host);
    speer_forwarder_t *forwarder =
        speer_forwarder_new_http ((int) strtol (port + 1, &path, 10));
    snprintf (url, sizeof url, "http://127.0.0.1:%d%s",
              speer_forwarder_port (forwarder), path);
    self->peers[self->count].forwarder = forwarder;
    pair_add (self, remote, url);
}

static void
s_add_all (pair_t *self, bool apart)
{
    const char *names = getenv ("ZPEER_PEERS");
    char name[NAME_MAX_BYTES];
    int used;
    for (names = names ? names : "spring";
         sscanf (names, "%31s%n", name, &used) == 1; names += used) {
        if (apart)
            s_add_apart (self, remote_named (name));
        else
            pair_add (self, remote_named (name), NULL);
    }
    cr_assert_gt (self->count, 0, "ZPEER_PEERS is empty");
}

void
pair_add_all (pair_t *self)
{
    s_add_all (self, false);
}

void
pair_add_apart (pair_t *self)
{
    s_add_all (self, true);
}

void
pair_open (pair_t *self, const char *const *set)
{
    pair_start (self, set);
    pair_add_all (self);
}

void
pair_open_url (pair_t *self, const char *const *set, const char *url)
{
    pair_start (self, set);
    pair_add (self, remote_named ("spring"), url);
}

void
pair_set_passage (pair_t *self, speer_passage_t passage)
{
    for (size_t i = 0; i < self->count; i++)
        speer_forwarder_set (self->peers[i].forwarder, passage);
}

void
pair_deny (pair_t *self, const char *text)
{
    for (size_t i = 0; i < self->count; i++)
        speer_forwarder_deny (self->peers[i].forwarder, text);
}

void
pair_retry (pair_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        zpeer_engine_retry_peer (self->engine, self->peers[i].url);
}

void
pair_verify (pair_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        cr_assert_eq (
            zpeer_engine_verify_peer (self->engine, self->peers[i].url),
            ZPEER_OK);
}

void
pair_close (pair_t *self)
{
    json_decref (self->outcome);
    json_decref (self->heard);
    zpeer_watch_destroy (&self->watch);
    zpeer_feed_destroy (&self->feed);
    zpeer_engine_destroy (&self->engine);
    for (size_t i = 0; i < self->count; i++) {
        remote_destroy (&self->peers[i].remote);
        speer_forwarder_destroy (&self->peers[i].forwarder);
        free (self->peers[i].url);
    }
    *self = (pair_t){0};
}

//  --------------------------------------------------------------------------

const char *
pair_id (pair_t *self, const char *id)
{
    snprintf (self->id, sizeof self->id, "%s:%s", self->app, id);
    return self->id;
}

zpeer_event_t *
pair_event (pair_t *self, const char *id, const pair_event_t *from)
{
    zpeer_event_t *event = zpeer_event_new (from->action);
    cr_assert_eq (zpeer_event_set_app (event, self->app), ZPEER_OK);
    cr_assert_eq (zpeer_event_set_id (event, pair_id (self, id)), ZPEER_OK);
    if (from->at)
        zpeer_event_set_timestamp (event, from->at);
    if (from->status)
        zpeer_event_set_status (event, from->status);
    if (from->overridden)
        zpeer_event_set_overridden_status (event, from->overridden);
    if (from->action == ZPEER_REGISTER) {
        zpeer_event_put_str (event, "hostName", "shop02.example.net");
        zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    }
    return event;
}

void
pair_send (pair_t *self, const char *id, const pair_event_t *events,
           size_t count)
{
    zpeer_buffer_t frame = {0};
    zpeer_reply_t reply;
    for (size_t i = 0; i < count; i++) {
        zpeer_event_t *event = pair_event (self, id, &events[i]);
        zpeer_buffer_reserve (&frame, zpeer_event_size (event));
        zpeer_event_encode (event, frame.data, frame.capacity, &frame.size);
        zpeer_event_destroy (&event);
    }
    cr_assert_eq (zpeer_feed_send_frame (self->feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    cr_assert_eq (zpeer_feed_recv (self->feed, &reply, STAGE_WAIT_MS),
                  ZPEER_OK);
    cr_assert_eq (reply.accepted, count, "%s",
                  reply.listed ? reply.reasons[0] : "");
    zpeer_buffer_free (&frame);
}

void
pair_register (pair_t *self, const char *id, uint64_t at, const char *members)
{
    char text[TEXT_MAX];
    char reason[256] = "";
    int size = snprintf (
        text, sizeof text,
        "{\"hostName\":\"shop02.example.net\",\"ipAddr\":\"192.0.2.52\","
        "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
        "MyDataCenterInfo\",\"name\":\"MyOwn\"}%s}",
        members);
    cr_assert (size > 0 && (size_t) size < sizeof text);
    zpeer_event_t *event =
        pair_event (self, id, &(pair_event_t){ZPEER_REGISTER, at, 0, 0});
    cr_assert_eq (zpeer_event_set_info_json (event, text, (size_t) size, reason,
                                             sizeof reason),
                  ZPEER_OK, "%s", reason);
    zpeer_event_set_timestamp (event, at);
    stage_send (self->feed, event);
    zpeer_event_destroy (&event);
}

//  --------------------------------------------------------------------------

void
pair_other_sends (pair_t *self, const char *id, const char *members)
{
    char *body = NULL;
    int size = asprintf (&body,
                         "{\"replicationList\":[{\"appName\":\"%s\","
                         "\"id\":\"%s\",%s}]}",
                         self->app, pair_id (self, id), members);
    cr_assert_gt (size, 0);
    for (size_t i = 0; i < self->count; i++)
        cr_assert_eq (remote_batch (self->peers[i].remote, body, NULL), 200);
    free (body);
}

void
pair_other_registers (pair_t *self, const char *id, uint64_t at)
{
    char *members = NULL;
    int size = asprintf (
        &members,
        "\"action\":\"Register\",\"instanceInfo\":{\"instanceId\":\"%s\","
        "\"app\":\"%s\",\"hostName\":\"other\",\"ipAddr\":\"192.0.2.9\","
        "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
        "MyDataCenterInfo\",\"name\":\"MyOwn\"},\"status\":\"DOWN\","
        "\"lastDirtyTimestamp\":\"%llu\"}",
        pair_id (self, id), self->app, (unsigned long long) at);
    cr_assert_gt (size, 0);
    pair_other_sends (self, id, members);
    free (members);
}
