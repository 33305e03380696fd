/*  options.h - the table of options, and their values as fields

    One entry of the table makes a field, a default, a range check, a line of
    the printed configuration and a row of CONFIGURATION.md. Cores and actors
    read the fields: self->peer_node_read_timeout_ms.
*/
#ifndef ZPEER_OPTIONS_IMPL_H_INCLUDED
#define ZPEER_OPTIONS_IMPL_H_INCLUDED

#include <zpeer/options.h>
#include "buffer.h"

//  Longest list of statuses
#define ZPEER_OPTIONS_STATUSES_MAX 16

//  Room for the sentence about an error
#define ZPEER_OPTIONS_ERROR_MAX 512

#define ZPEER_MIB    1048576
#define ZPEER_HOUR   3600000
#define ZPEER_DAY    86400000
#define ZPEER_PLENTY 100000000

//  type, field, name, unit, min, max, default, sentence
#define ZPEER_OPTIONS(X)                                                       \
    X (NUMBER, peer_node_connect_timeout_ms,                                   \
       "eureka.server.peer-node-connect-timeout-ms", "ms", 1, ZPEER_HOUR,      \
       "1000", "How long connecting to a peer may take.")                      \
    X (NUMBER, peer_node_read_timeout_ms,                                      \
       "eureka.server.peer-node-read-timeout-ms", "ms", 1, ZPEER_HOUR,         \
       "30000",                                                                \
       "How long a connected peer may stay silent before its "                 \
       "request counts as timed out.")                                         \
    X (NUMBER, peer_node_connection_idle_timeout_seconds,                      \
       "eureka.server.peer-node-connection-idle-timeout-seconds", "s", 1,      \
       86400, "30",                                                            \
       "Connections to a peer are closed when none has been used for so "      \
       "long.")                                                                \
    X (NUMBER, max_threads_for_peer_replication,                               \
       "eureka.server.max-threads-for-peer-replication", "batches", 1, 256,    \
       "6", "Batches one dispatcher has in flight at most.")                   \
    X (NUMBER, max_threads_for_status_replication,                             \
       "eureka.server.max-threads-for-status-replication", "requests", 1, 256, \
       "1", "ASG status updates in flight at most, per peer.")                 \
    X (NUMBER, max_elements_in_peer_replication_pool,                          \
       "eureka.server.max-elements-in-peer-replication-pool", "instances", 1,  \
       ZPEER_PLENTY, "10000",                                                  \
       "Instances that may wait for a peer before the "                        \
       "oldest heartbeats are given up; changes of state never are.")          \
    X (NUMBER, max_elements_in_status_replication_pool,                        \
       "eureka.server.max-elements-in-status-replication-pool", "ASGs", 1,     \
       ZPEER_PLENTY, "10000", "ASG status updates that may wait for a peer.")  \
    X (NUMBER, max_time_for_replication_ms,                                    \
       "eureka.server.max-time-for-replication", "ms", 1, ZPEER_DAY, "30000",  \
       "How long an ASG status update is worth sending.")                      \
    X (FLAG, sync_when_timestamp_differs,                                      \
       "eureka.server.sync-when-timestamp-differs", "", 0, 1, "true",          \
       "Report a peer's newer copy of an instance as a conflict.")             \
    X (FLAG, enable_replicated_request_compression,                            \
       "eureka.server.enable-replicated-request-compression", "", 0, 1,        \
       "false",                                                                \
       "Compress requests with gzip; peers built with Spring cannot "          \
       "read it.")                                                             \
    X (URLS, my_url, "eureka.server.my-url", "", 0, 0, "",                     \
       "This node's own URL: never a peer.")                                   \
    X (ZONES, service_url, "eureka.client.service-url", "", 0, 0, "",          \
       "Peer URLs of a zone, comma-separated; the peers of all zones count.")  \
    X (NUMBER, max_peer_retries, "apiml.discovery.maxPeerRetries", "failures", \
       0, ZPEER_PLENTY, "10",                                                  \
       "Failures in a row after which a "                                      \
       "peer's read timeouts and network failures are permanent; 0 is 1.")     \
    X (URLS, all_peers_urls, "apiml.discovery.allPeersUrls", "", 0, 0, "",     \
       "Peer URLs, comma-separated, the way Zowe names them.")                 \
    X (TEXT, events_endpoint, "zpeer.events.endpoint", "", 0, 0,               \
       "ipc:///run/zpeer/events", "Where feeders connect.")                    \
    X (NUMBER, events_max_frame_bytes, "zpeer.events.max-frame-bytes",         \
       "bytes", 1024, 64 * ZPEER_MIB, "1048576",                               \
       "Largest frame of events that is read.")                                \
    X (NUMBER, events_max_connections, "zpeer.events.max-connections",         \
       "feeders", 1, ZPEER_PLENTY, "1000",                                     \
       "Feeders connected over ipc and tcp; never more than half of the "      \
       "descriptors the process may open.")                                    \
    X (TEXT, outcomes_endpoint, "zpeer.outcomes.endpoint", "", 0, 0,           \
       "ipc:///run/zpeer/outcomes", "Where outcomes and figures come out.")    \
    X (FLAG, outcomes_delivered, "zpeer.outcomes.delivered", "", 0, 1,         \
       "false", "Report every delivery as an outcome.")                        \
    X (FLAG, batch_enabled, "zpeer.batch.enabled", "", 0, 1, "true",           \
       "Send batches; otherwise one request per change.")                      \
    X (NUMBER, batch_linger_ms, "zpeer.batch.linger-ms", "ms", 0, 60000, "10", \
       "How long the oldest change waits for company in its batch.")           \
    X (NUMBER, batch_max_items, "zpeer.batch.max-items", "items", 1, 4096,     \
       "250",                                                                  \
       "Items in a batch at most; `zpeer.batch.max-bytes` may end it "         \
       "sooner.")                                                              \
    X (NUMBER, batch_max_bytes, "zpeer.batch.max-bytes", "bytes", 1024,        \
       64 * ZPEER_MIB, "1048576",                                              \
       "Bytes in a batch at most; an event that could not be sent in one "     \
       "is rejected.")                                                         \
    X (NUMBER, request_deadline_ms, "zpeer.request.deadline-ms", "ms", 1,      \
       ZPEER_DAY, "120000",                                                    \
       "How long a whole request may take, even if "                           \
       "bytes keep moving.")                                                   \
    X (NUMBER, connection_max_age_ms, "zpeer.connection.max-age-ms", "ms",     \
       1000, ZPEER_DAY, "60000",                                               \
       "How old a connection to a peer may grow before a new one takes its "   \
       "place, to where the name leads then, with the certificates as they "   \
       "are then.")                                                            \
    X (NUMBER, reply_max_bytes, "zpeer.reply.max-bytes", "bytes", 1024,        \
       1024 * ZPEER_MIB, "16777216",                                           \
       "Largest reply that is read, decoded; each item of a batch may bring "  \
       "a copy of its instance.")                                              \
    X (STATUSES, congestion_statuses, "zpeer.congestion-statuses", "", 300,    \
       599, "503", "HTTP statuses that mean: the peer is busy, try later.")    \
    X (NUMBER, tombstone_ms, "zpeer.tombstone-ms", "ms", 0, ZPEER_DAY,         \
       "900000",                                                               \
       "How long a cancelled or forgotten instance is remembered; at least "   \
       "two of its lease durations and a minute, for a peer may hold it that " \
       "long. 0: not at all.")                                                 \
    X (NUMBER, cancels_max_bytes, "zpeer.cancels.max-bytes", "bytes",          \
       ZPEER_MIB, 2000 * ZPEER_MIB, "67108864",                                \
       "Most memory for cancelled instances that are only kept until a peer "  \
       "that is away is told; some 500 bytes each. Beyond it the oldest are "  \
       "given up: outcome `dropped`.")                                         \
    X (FLAG, view_age_out, "zpeer.view.age-out", "", 0, 1, "true",             \
       "Let go of instances without an event for two lease durations.")        \
    X (NUMBER, stop_deadline_ms, "zpeer.stop.deadline-ms", "ms", 0, 600000,    \
       "5000", "How long stopping waits for peers, all together.")             \
    X (NUMBER, stats_interval_ms, "zpeer.stats.interval-ms", "ms", 10,         \
       ZPEER_HOUR, "1000", "How often figures are published.")                 \
    X (TEXT, tls_ca_file, "zpeer.tls.ca-file", "", 0, 0, "",                   \
       "CA certificates for https peers, PEM; empty: the system's.")           \
    X (TEXT, tls_cert_file, "zpeer.tls.cert-file", "", 0, 0, "",               \
       "This node's certificate for peers that ask for one, PEM.")             \
    X (TEXT, tls_key_file, "zpeer.tls.key-file", "", 0, 0, "",                 \
       "Its private key, PEM, without a passphrase; empty: it is in "          \
       "the certificate's file.")

//  Names of the reference (EUREKA.md 7) that have no effect, there or here
#define ZPEER_OPTIONS_IGNORED(X)                                               \
    X ("apiml.discovery.password")                                             \
    X ("apiml.discovery.serviceIdPrefixReplacer")                              \
    X ("apiml.discovery.userid")                                               \
    X ("eureka.client.fetch-registry")                                         \
    X ("eureka.client.prefer-same-zone-eureka")                                \
    X ("eureka.client.region")                                                 \
    X ("eureka.client.register-with-eureka")                                   \
    X ("eureka.client.use-dns-for-fetching-service-urls")                      \
    X ("eureka.server.batch-replication")                                      \
    X ("eureka.server.json-codec-name")                                        \
    X ("eureka.server.log-identity-headers")                                   \
    X ("eureka.server.max-idle-thread-age-in-minutes-for-peer-replication")    \
    X ("eureka.server.max-idle-thread-in-minutes-age-for-status-replication")  \
    X ("eureka.server.min-available-instances-for-peer-replication")           \
    X ("eureka.server.min-threads-for-peer-replication")                       \
    X ("eureka.server.min-threads-for-status-replication")                     \
    X ("eureka.server.number-of-replication-retries")                          \
    X ("eureka.server.peer-eureka-nodes-update-interval-ms")                   \
    X ("eureka.server.peer-eureka-status-refresh-time-interval-ms")            \
    X ("eureka.server.peer-node-total-connections")                            \
    X ("eureka.server.peer-node-total-connections-per-host")                   \
    X ("eureka.server.prime-aws-replica-connections")                          \
    X ("eureka.server.registry-sync-retries")                                  \
    X ("eureka.server.registry-sync-retry-wait-ms")                            \
    X ("eureka.server.use-read-only-response-cache")                           \
    X ("eureka.server.wait-time-in-ms-when-sync-empty")

typedef struct {
    uint16_t codes[ZPEER_OPTIONS_STATUSES_MAX];
    uint32_t count;
} zpeer_statuses_t;

typedef struct {
    char *name;  //  Owned; as it was first given
    char *urls;  //  Owned
} zpeer_zone_t;

typedef struct {
    zpeer_zone_t *items;  //  Owned array
    size_t count;
} zpeer_zones_t;

//  What each type of option is as a field. Texts are owned, and never NULL.
typedef uint32_t zpeer_option_NUMBER_t;
typedef bool zpeer_option_FLAG_t;
typedef char *zpeer_option_TEXT_t;
typedef char *zpeer_option_URLS_t;
typedef zpeer_statuses_t zpeer_option_STATUSES_t;
typedef zpeer_zones_t zpeer_option_ZONES_t;

struct zpeer_options {
#define X(type, field, name, unit, min, max, fallback, help)                   \
    zpeer_option_##type##_t field;
    ZPEER_OPTIONS (X)
#undef X
    uint64_t unused;        //  Bit per ignored name that was set
    zpeer_buffer_t strays;  //  Owned; variables that name no option, each with
                            //  NUL
    char error[ZPEER_OPTIONS_ERROR_MAX];
};

//  Whether an HTTP status means congestion
bool zpeer_options_congestion (const zpeer_options_t *self, unsigned status);

#endif
