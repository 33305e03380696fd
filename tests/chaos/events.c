#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "events.h"
#include "banned.h"

#define RENEWAL_SECS 30
#define LEASE_SECS   3600  //  Longer than a run
#define EVENT_ROOM   2048  //  Bytes; more than any event here
#define ASGS         3
#define PORT         8000

bool
events_fit (const frame_t *frame)
{
    return frame->size + EVENT_ROOM < sizeof frame->data;
}

static zpeer_event_t *
s_new (const instance_t *instance, zpeer_action_t action, uint64_t timestamp)
{
    zpeer_event_t *event = zpeer_event_new (action);
    zpeer_event_set_app (event, instance->app);
    zpeer_event_set_id (event, instance->id);
    if (timestamp)
        zpeer_event_set_timestamp (event, timestamp);
    return event;
}

static void
s_add (frame_t *frame, zpeer_event_t *event)
{
    int rc = zpeer_event_encode (event, frame->data, sizeof frame->data,
                                 &frame->size);
    assert (rc == ZPEER_OK);
    frame->events++;
    zpeer_event_destroy (&event);
}

static zpeer_status_t
s_status (rng_t *rng)
{
    return RNG_PICK (rng, zpeer_status_t, ZPEER_UP, ZPEER_UP, ZPEER_UP,
                     ZPEER_DOWN, ZPEER_STARTING, ZPEER_OUT_OF_SERVICE);
}

//  An info that tells its version
static zpeer_event_t *
s_new_register (instance_t *instance, uint64_t timestamp, uint32_t version)
{
    char text[32];
    zpeer_event_t *event = s_new (instance, ZPEER_REGISTER, timestamp);
    snprintf (text, sizeof text, "host-%s", instance->id);
    zpeer_event_put_str (event, "hostName", text);
    zpeer_event_put_str (event, "ipAddr", "192.0.2.7");
    zpeer_event_put_str (event, "vipAddress", instance->app);
    zpeer_event_put_port (event, PORT + version % 1000, version % 3 > 0);
    zpeer_event_put_lease (event, RENEWAL_SECS, LEASE_SECS);
    snprintf (text, sizeof text, "%" PRIu32, version);
    zpeer_event_put_metadata (event, "version", text);
    return event;
}

static void
s_said (const drawer_t *drawer, instance_t *instance, bool present)
{
    instance->present = present;
    instance->said_at = drawer->now;
    if (present)
        instance->forgotten = false;
}

//  Of a version the source may have had before
static void
s_register (const drawer_t *drawer, instance_t *instance, frame_t *frame,
            uint64_t timestamp, bool same)
{
    if (!same)
        instance->version++;
    zpeer_event_t *event =
        s_new_register (instance, timestamp, instance->version);
    zpeer_event_set_status (event, s_status (drawer->rng));
    if (rng_chance (drawer->rng, 100))
        zpeer_event_set_overridden_status (event, ZPEER_OUT_OF_SERVICE);
    s_add (frame, event);
    s_said (drawer, instance, true);
}

void
events_register (const drawer_t *drawer, instance_t *instance, frame_t *frame)
{
    instance->timestamp = ++*drawer->clock;
    s_register (drawer, instance, frame, instance->timestamp, false);
}

void
events_heartbeat (frame_t *frame, const instance_t *instance,
                  uint64_t timestamp)
{
    s_add (frame, s_new (instance, ZPEER_HEARTBEAT, timestamp));
}

static void
s_override (const drawer_t *drawer, const instance_t *instance, frame_t *frame,
            zpeer_action_t action)
{
    zpeer_event_t *event = s_new (instance, action, instance->timestamp);
    if (action == ZPEER_STATUS_UPDATE)
        zpeer_event_set_status (
            event, RNG_PICK (drawer->rng, zpeer_status_t, ZPEER_UP, ZPEER_DOWN,
                             ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE));
    else if (rng_chance (drawer->rng, 700))
        zpeer_event_set_status (event, s_status (drawer->rng));
    s_add (frame, event);
}

static void
s_cancel (const drawer_t *drawer, instance_t *instance, frame_t *frame)
{
    uint64_t timestamp =
        rng_chance (drawer->rng, 500) ? instance->timestamp : 0;
    s_add (frame, s_new (instance, ZPEER_CANCEL, timestamp));
    s_said (drawer, instance, false);
}

//  Of an instance that is not there: mostly it comes
static void
s_absent (const drawer_t *drawer, instance_t *instance, frame_t *frame)
{
    unsigned pick = (unsigned) rng_below (drawer->rng, 100);
    if (pick < 75 || !instance->timestamp)
        events_register (drawer, instance, frame);
    else if (pick < 85 && !instance->forgotten)
        s_register (drawer, instance, frame, instance->timestamp - 1, false);
    else if (pick < 93)
        events_heartbeat (frame, instance, instance->timestamp);
    else
        s_add (frame, s_new (instance, ZPEER_CANCEL, 0));
}

static void
s_present (const drawer_t *drawer, instance_t *instance, frame_t *frame)
{
    unsigned pick = (unsigned) rng_below (drawer->rng, 100);
    if (pick < 30)
        events_heartbeat (frame, instance, instance->timestamp);
    else if (pick < 33)
        events_heartbeat (frame, instance, ++*drawer->clock);
    else if (pick < 38)
        s_register (drawer, instance, frame, instance->timestamp, true);
    else if (pick < 43)
        s_register (drawer, instance, frame, instance->timestamp, false);
    else if (pick < 58)
        events_register (drawer, instance, frame);
    else if (pick < 61)
        s_register (drawer, instance, frame, instance->timestamp - 1, false);
    else if (pick < 76)
        s_override (drawer, instance, frame, ZPEER_STATUS_UPDATE);
    else if (pick < 87)
        s_override (drawer, instance, frame, ZPEER_DELETE_STATUS_OVERRIDE);
    else if (pick < 97 || !drawer->forget)
        s_cancel (drawer, instance, frame);
    else {
        s_add (frame, s_new (instance, ZPEER_FORGET, 0));
        s_said (drawer, instance, false);
        instance->forgotten = true;
    }
}

void
events_any (const drawer_t *drawer, instance_t *instance, frame_t *frame)
{
    if (instance->present)
        s_present (drawer, instance, frame);
    else
        s_absent (drawer, instance, frame);
}

void
events_plain (const drawer_t *drawer, instance_t *instance, frame_t *frame)
{
    unsigned pick = (unsigned) rng_below (drawer->rng, 100);
    if (!instance->present || pick < 30)
        events_register (drawer, instance, frame);
    else if (pick < 60)
        events_heartbeat (frame, instance, instance->timestamp);
    else
        s_cancel (drawer, instance, frame);
}

//  The item of a batch for the last event of the frame
static char *
s_item (const instance_t *instance, const frame_t *frame, size_t offset)
{
    zpeer_event_t *event;
    char *text = NULL;
    int rc =
        zpeer_event_decode (frame->data, frame->size, &offset, &event, NULL, 0);
    assert (rc == ZPEER_OK);
    char *info = zpeer_event_info_json (event);
    const char *action = zpeer_action_name (zpeer_event_action (event));
    uint64_t timestamp = zpeer_event_timestamp (event);
    const char *status = zpeer_status_name (zpeer_event_status (event));
    if (info)
        rc =
            asprintf (&text,
                      "{\"appName\":\"%s\",\"id\":\"%s\",\"action\":\"%s\","
                      "\"lastDirtyTimestamp\":%" PRIu64 ",\"instanceInfo\":%s}",
                      instance->app, instance->id, action, timestamp, info);
    else if (zpeer_event_action (event) == ZPEER_CANCEL)
        rc = asprintf (&text,
                       "{\"appName\":\"%s\",\"id\":\"%s\",\"action\":\"%s\"}",
                       instance->app, instance->id, action);
    else
        rc = asprintf (&text,
                       "{\"appName\":\"%s\",\"id\":\"%s\",\"action\":\"%s\","
                       "\"lastDirtyTimestamp\":%" PRIu64 ",\"status\":\"%s\"}",
                       instance->app, instance->id, action, timestamp, status);
    assert (rc > 0);
    free (info);
    zpeer_event_destroy (&event);
    return text;
}

//  The other server has what we have: override and timestamp are the view's
char *
events_replicated (const drawer_t *drawer, instance_t *instance,
                   const zpeer_state_t *state, frame_t *frame)
{
    bool present = zpeer_state_present (state);
    size_t offset = frame->size;
    unsigned pick = (unsigned) rng_below (drawer->rng, 100);
    zpeer_event_t *event;
    if (!present || pick < 40) {
        instance->timestamp = ++*drawer->clock;
        event =
            s_new_register (instance, instance->timestamp, ++instance->version);
        zpeer_event_set_status (event, s_status (drawer->rng));
        if (present && state->override != ZPEER_UNKNOWN)
            zpeer_event_set_overridden_status (
                event, (zpeer_status_t) state->override);
        s_said (drawer, instance, true);
    }
    else if (pick < 65) {
        event = s_new (instance, ZPEER_STATUS_UPDATE, state->timestamp);
        zpeer_event_set_status (event, s_status (drawer->rng));
    }
    else if (pick < 80) {
        event =
            s_new (instance, ZPEER_DELETE_STATUS_OVERRIDE, state->timestamp);
        zpeer_event_set_status (event, s_status (drawer->rng));
    }
    else {
        event = s_new (instance, ZPEER_CANCEL, 0);
        s_said (drawer, instance, false);
    }
    zpeer_event_set_replicated (event, true);
    s_add (frame, event);
    return s_item (instance, frame, offset);
}

void
events_asg (const drawer_t *drawer, frame_t *frame)
{
    char name[16];
    zpeer_event_t *event = zpeer_event_new (ZPEER_ASG_STATUS_UPDATE);
    snprintf (name, sizeof name, "group-%u",
              (unsigned) rng_below (drawer->rng, ASGS));
    zpeer_event_set_asg (event, name);
    zpeer_event_set_status (event, RNG_PICK (drawer->rng, zpeer_status_t,
                                             ZPEER_UP, ZPEER_OUT_OF_SERVICE));
    s_add (frame, event);
}

void
events_bad (const instance_t *instance, frame_t *frame)
{
    s_add (frame, s_new (instance, ZPEER_REGISTER, 0));
}
