/*  event.h - one registry event: build it, encode it, read it back

    An event says what happened to one instance at the source. A host builds
    events and sends them with a feed (<zpeer/feed.h>), or encodes them itself:
    a frame holds any number, one after the other. PROTOCOL.md describes the
    bytes for other languages.

        zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
        zpeer_event_set_app (event, "CATALOG");
        zpeer_event_set_id (event, "shop02.example.net:catalog:9001");
        zpeer_event_set_timestamp (event, 1718271499871);
        zpeer_event_put_str (event, "hostName", "shop02.example.net");
        zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
        zpeer_event_put_port (event, 9001, true);
        zpeer_event_put_metadata (event, "tier", "front");
        zpeer_feed_send (feed, event, 1000, NULL);
        zpeer_event_destroy (&event);

    Setters check their own value and nothing else; zpeer_event_check checks the
    whole event, by the very rules of the engine that will receive it. A setter
    that fails leaves the event as it was.

    Ownership: every text is copied. Getters return borrowed texts, valid until
    the event is changed or destroyed. Threads: one at a time per event; any
    number of events at once. Nothing here blocks.

    Units: timestamps are lastDirtyTimestamp, ms since the epoch, never 0 and
    not beyond the year 2200. Limits, bytes: app 255, id 512, ASG name 255, origin 2,048, an encoded event
    262,144.
*/
#ifndef ZPEER_EVENT_H_INCLUDED
#define ZPEER_EVENT_H_INCLUDED

#include <zpeer/names.h>

#ifdef __cplusplus
extern "C" {
#endif

//  2200-01-01T00:00:00Z, ms. A clock that counts µs or ns shows more: nobody could
//  ever replace what such a timestamp came with, for the newest one wins.
#define ZPEER_TIMESTAMP_MAX 7258118400000

typedef struct zpeer_event zpeer_event_t;

//  An event that says only what happened. A Register starts with
//  dataCenterInfo MyOwn. An action that does not exist is misuse: base.h.
ZPEER_EXPORT zpeer_event_t *zpeer_event_new (zpeer_action_t action);

ZPEER_EXPORT void zpeer_event_destroy (zpeer_event_t **self_p);

//  --- What every event has

//  Texts are UTF-8, neither empty nor blank, without control characters, and not
//  "." or "..", which lead elsewhere in a URL.
//  Return ZPEER_OK, ZPEER_E_INVALID for a text that is not so, or
//  ZPEER_E_TOO_LARGE. An application is known by its name in upper case.
ZPEER_EXPORT int zpeer_event_set_app (zpeer_event_t *self, const char *app);

ZPEER_EXPORT int zpeer_event_set_id (zpeer_event_t *self, const char *id);

//  The auto scaling group of an AsgStatusUpdate, in place of app and id
ZPEER_EXPORT int zpeer_event_set_asg (zpeer_event_t *self, const char *name);

//  Returns ZPEER_OK, or ZPEER_E_RANGE for 0 and beyond ZPEER_TIMESTAMP_MAX
ZPEER_EXPORT int
zpeer_event_set_timestamp (zpeer_event_t *self, uint64_t timestamp_ms);

//  Register: the instance's status, UP if not set. StatusUpdate: the new one.
//  DeleteStatusOverride: the one to fall back to. AsgStatusUpdate: UP for
//  ENABLED, OUT_OF_SERVICE for DISABLED. Returns ZPEER_OK or ZPEER_E_RANGE.
ZPEER_EXPORT int
zpeer_event_set_status (zpeer_event_t *self, zpeer_status_t status);

//  Register and Heartbeat: the override the source holds; UNKNOWN: none
ZPEER_EXPORT int
zpeer_event_set_overridden_status (zpeer_event_t *self, zpeer_status_t status);

//  --- Whose word it is. Without any of these the event is news: it happened at
//  the source, and every peer is told. PROTOCOL.md has a table of what each does.

//  The event came to the source from a peer, and all others know it: it is not
//  sent on. Excludes the two that follow.
ZPEER_EXPORT void
zpeer_event_set_replicated (zpeer_event_t *self, bool replicated);

//  Register: this is all that the source has of the instance. It takes the place
//  of whatever was said before, an override and a higher timestamp included.
ZPEER_EXPORT void zpeer_event_set_snapshot (zpeer_event_t *self, bool snapshot);

//  The time of a snapshot, by the engine's clock (zpeer_feed_ask), less how old it
//  may be. Changes of the instance that the engine took from then on stay. 0,
//  as if not set: the present. Returns ZPEER_OK, or ZPEER_E_RANGE for what is
//  not below 2^63.
ZPEER_EXPORT int zpeer_event_set_as_of (zpeer_event_t *self, uint64_t as_of);

//  The URL of the peer from which the event came to the source, and which nobody
//  else has told; "": none. Spelled in any way that adding the peer would take.
//  Returns ZPEER_OK, ZPEER_E_INVALID for a text that is no name, or
//  ZPEER_E_TOO_LARGE.
ZPEER_EXPORT int zpeer_event_set_origin (zpeer_event_t *self, const char *url);

//  --- What a Register has: InstanceInfo

//  Sets a member by Eureka's name: "hostName", "ipAddr", "vipAddress",
//  "homePageUrl", "countryId", "isCoordinatingDiscoveryServer", …
//  Return ZPEER_OK; ZPEER_E_UNKNOWN if InstanceInfo has no such member;
//  ZPEER_E_INVALID if it takes another type, or the text is not UTF-8;
//  ZPEER_E_STATE if this is no Register.
ZPEER_EXPORT int
zpeer_event_put_str (zpeer_event_t *self, const char *name, const char *value);

ZPEER_EXPORT int
zpeer_event_put_int (zpeer_event_t *self, const char *name, int64_t value);

ZPEER_EXPORT int
zpeer_event_put_bool (zpeer_event_t *self, const char *name, bool value);

//  Ports from 0 to 65535. Not set: 7001, enabled, and 7002, disabled. Return as
//  the above, or ZPEER_E_RANGE.
ZPEER_EXPORT int
zpeer_event_put_port (zpeer_event_t *self, unsigned port, bool enabled);

ZPEER_EXPORT int
zpeer_event_put_secure_port (zpeer_event_t *self, unsigned port, bool enabled);

//  Seconds, both above 0. Without it receivers assume 30 and 90.
ZPEER_EXPORT int
zpeer_event_put_lease (zpeer_event_t *self, unsigned renewal_interval_secs,
                       unsigned duration_secs);

//  "MyOwn", "Netflix" or "Amazon"; ZPEER_E_UNKNOWN for another
ZPEER_EXPORT int
zpeer_event_put_data_center (zpeer_event_t *self, const char *name);

//  Metadata of the data centre ("instance-id", …), which this makes Amazon's
ZPEER_EXPORT int zpeer_event_put_amazon (zpeer_event_t *self, const char *key,
                                         const char *value);

//  Metadata of the instance. The key "@class" is not one: ZPEER_E_INVALID.
ZPEER_EXPORT int zpeer_event_put_metadata (zpeer_event_t *self, const char *key,
                                           const char *value);

//  Takes Eureka's own JSON of an instance, as GET apps or a register call have
//  it, with {"instance": …} around it or not, in place of whatever the event
//  had. app and id are set from it if they are not set yet. Returns ZPEER_OK;
//  ZPEER_E_PARSE if it is not one JSON object, with a sentence in error (at
//  most error_size bytes with NUL; NULL, 0 if not wanted); ZPEER_E_STATE. What
//  the members must be, zpeer_event_check says.
ZPEER_EXPORT int
zpeer_event_set_info_json (zpeer_event_t *self, const char *json, size_t size,
                           char *error, size_t error_size);

//  --- Check and encode

//  Whether an engine would accept the event. Returns ZPEER_OK, or
//  ZPEER_E_REJECTED with the engine's reason in reason (as error above).
ZPEER_EXPORT int
zpeer_event_check (const zpeer_event_t *self, char *reason, size_t reason_size);

//  Appends the event to the *used bytes in data, which has room for capacity,
//  and moves *used on. Returns ZPEER_OK, or ZPEER_E_TOO_LARGE: *used stays,
//  what is behind it is undefined. An unfinished event is encoded as it is.
ZPEER_EXPORT int zpeer_event_encode (const zpeer_event_t *self, void *data,
                                     size_t capacity, size_t *used);

//  Bytes zpeer_event_encode will append
ZPEER_EXPORT size_t zpeer_event_size (const zpeer_event_t *self);

//  The same in one call and without an allocation, for what happens most:
//  Heartbeat, Cancel, Forget. timestamp_ms: 0 for none, which a Heartbeat must
//  not have. Returns ZPEER_OK, ZPEER_E_TOO_LARGE as above, or ZPEER_E_INVALID
//  for another action and for app or id beyond their limits.
ZPEER_EXPORT int
zpeer_event_encode_simple (void *data, size_t capacity, size_t *used,
                           zpeer_action_t action, const char *app,
                           const char *id, uint64_t timestamp_ms);

//  --- Decode and read

//  Makes an event of the map at *offset, which is at most size, by the engine's
//  rules, and moves *offset behind it. Returns ZPEER_OK and a new event, the
//  caller's; ZPEER_E_REJECTED for a map that is no good event (*offset is
//  behind it); ZPEER_E_PARSE when what is there is no map at all. reason as
//  error above.
ZPEER_EXPORT int
zpeer_event_decode (const void *data, size_t size, size_t *offset,
                    zpeer_event_t **event, char *reason, size_t reason_size);

ZPEER_EXPORT zpeer_action_t zpeer_event_action (const zpeer_event_t *self);

//  "" if not set
ZPEER_EXPORT const char *zpeer_event_app (const zpeer_event_t *self);

//  For an AsgStatusUpdate the name of the group
ZPEER_EXPORT const char *zpeer_event_id (const zpeer_event_t *self);

//  0 if not set, in info neither
ZPEER_EXPORT uint64_t zpeer_event_timestamp (const zpeer_event_t *self);

//  UNKNOWN if not set
ZPEER_EXPORT zpeer_status_t zpeer_event_status (const zpeer_event_t *self);

ZPEER_EXPORT zpeer_status_t
zpeer_event_overridden_status (const zpeer_event_t *self);

ZPEER_EXPORT bool zpeer_event_replicated (const zpeer_event_t *self);

ZPEER_EXPORT bool zpeer_event_snapshot (const zpeer_event_t *self);

//  0 if not set
ZPEER_EXPORT uint64_t zpeer_event_as_of (const zpeer_event_t *self);

//  "" if not set
ZPEER_EXPORT const char *zpeer_event_origin (const zpeer_event_t *self);

//  InstanceInfo as JSON: of a decoded event exactly what peers get, of a built
//  one what it holds so far. The caller frees it with free (). NULL if this is
//  no Register.
ZPEER_EXPORT char *zpeer_event_info_json (const zpeer_event_t *self);

#ifdef __cplusplus
}
#endif

#endif
