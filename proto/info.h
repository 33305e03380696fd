/*  info.h - InstanceInfo: checks what peers need, writes what they accept

    Facts: EUREKA.md 2.4 to 2.6. Real peers throw away a whole batch for one
    malformed InstanceInfo, and answer 200 for one they did not store; so what
    gets through here is complete, has nothing unknown in it, and stands in one
    order with every number the way the protocol wants it.
*/
#ifndef ZPEER_INFO_H_INCLUDED
#define ZPEER_INFO_H_INCLUDED

#include "metadata.h"

//  Lease without leaseInfo, and in a leaseInfo that does not say, ms
#define ZPEER_RENEWAL_NONE_MS 90000
#define ZPEER_RENEWAL_MS      30000
#define ZPEER_DURATION_MS     90000

//  dataCenterInfo's @class
#define ZPEER_CLASS_PLAIN                                                      \
    "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
#define ZPEER_CLASS_AMAZON "com.netflix.appinfo.AmazonInfo"

//  Members in the order they are written: name here, JSON name, kind
#define ZPEER_INFO_MEMBERS(X)                                                  \
    X (INSTANCE_ID, "instanceId", TEXT)                                        \
    X (HOST_NAME, "hostName", TEXT)                                            \
    X (APP, "app", UPPER)                                                      \
    X (IP_ADDR, "ipAddr", TEXT)                                                \
    X (SID, "sid", TEXT)                                                       \
    X (PORT, "port", PORT)                                                     \
    X (SECURE_PORT, "securePort", PORT)                                        \
    X (COUNTRY_ID, "countryId", NUMBER)                                        \
    X (DATA_CENTER, "dataCenterInfo", DATA_CENTER)                             \
    X (LEASE, "leaseInfo", LEASE)                                              \
    X (METADATA, "metadata", METADATA)                                         \
    X (APP_GROUP_NAME, "appGroupName", UPPER)                                  \
    X (HOME_PAGE_URL, "homePageUrl", TEXT)                                     \
    X (STATUS_PAGE_URL, "statusPageUrl", TEXT)                                 \
    X (HEALTH_CHECK_URL, "healthCheckUrl", TEXT)                               \
    X (SECURE_HEALTH_CHECK_URL, "secureHealthCheckUrl", TEXT)                  \
    X (VIP_ADDRESS, "vipAddress", TEXT)                                        \
    X (SECURE_VIP_ADDRESS, "secureVipAddress", TEXT)                           \
    X (ASG_NAME, "asgName", TEXT)                                              \
    X (COORDINATING, "isCoordinatingDiscoveryServer", FLAG)                    \
    X (LAST_UPDATED, "lastUpdatedTimestamp", TIME)                             \
    X (ACTION_TYPE, "actionType", ACTION_TYPE)                                 \
    X (STATUS, "status", STATUS)                                               \
    X (OVERRIDE, "overriddenStatus", STATUS)                                   \
    X (LAST_DIRTY, "lastDirtyTimestamp", STAMP)

typedef enum {
#define X(name, text, kind) ZPEER_INFO_##name,
    ZPEER_INFO_MEMBERS (X)
#undef X
        ZPEER_INFO_COUNT
} zpeer_info_member_t;

//  What a member holds. STATUS and STAMP are kept, not written: items append
//  them, so that one text serves for any later state of the instance.
typedef enum {
    ZPEER_KIND_TEXT,
    ZPEER_KIND_UPPER,  //  Written in upper case (ASCII)
    ZPEER_KIND_PORT,
    ZPEER_KIND_NUMBER,
    ZPEER_KIND_DATA_CENTER,
    ZPEER_KIND_LEASE,
    ZPEER_KIND_METADATA,
    ZPEER_KIND_FLAG,
    ZPEER_KIND_TIME,  //  ms since the epoch, may be 0
    ZPEER_KIND_ACTION_TYPE,
    ZPEER_KIND_STATUS,
    ZPEER_KIND_STAMP,  //  ms since the epoch, 1 at least
    ZPEER_KINDS
} zpeer_info_kind_t;

typedef enum {
    ZPEER_LEASE_RENEWAL_SECS,
    ZPEER_LEASE_DURATION_SECS,
    ZPEER_LEASE_REGISTRATION,
    ZPEER_LEASE_LAST_RENEWAL,
    ZPEER_LEASE_EVICTION,
    ZPEER_LEASE_SERVICE_UP,
    ZPEER_LEASE_COUNT
} zpeer_lease_member_t;

typedef union {
    zpeer_piece_t text;
    int64_t number;
    bool flag;
    zpeer_status_t status;
    struct {
        int64_t number;
        bool enabled;
    } port;
    struct {
        unsigned given;  //  Bits: @class, name, metadata
        bool amazon;     //  Else a plain one
        zpeer_slice_t name;
        zpeer_range_t metadata;
    } center;
    int64_t lease[ZPEER_LEASE_COUNT];
    zpeer_range_t metadata;
} zpeer_info_value_t;

typedef struct {
    uint32_t given;  //  Bits: zpeer_info_member_t
    zpeer_info_value_t values[ZPEER_INFO_COUNT];
    zpeer_buffer_t scratch;  //  Owned; where the ranges are
    //  In which order the members came last time; the alias is one more
    uint8_t order[ZPEER_INFO_COUNT + 1];
} zpeer_info_t;

void zpeer_info_free (zpeer_info_t *self);

static inline bool
zpeer_info_has (const zpeer_info_t *self, zpeer_info_member_t member)
{
    return self->given & UINT32_C (1) << member;
}

//  Reads an InstanceInfo at the reader; token is its first token. Slices point
//  into the frame. Returns ZPEER_OK, ZPEER_E_PARSE, or ZPEER_E_REJECTED with the
//  reason.
int zpeer_info_read (zpeer_info_t *self, zpeer_reader_t *reader,
                     const zpeer_token_t *token);

//  Checks that the instance is complete, and is the one the event names; app in
//  upper case. Returns ZPEER_OK, or ZPEER_E_REJECTED with the reason.
int zpeer_info_check (const zpeer_info_t *self, zpeer_slice_t app,
                      zpeer_slice_t id, char reason[ZPEER_REASON_MAX]);

//  Appends the JSON up to, not including, the comma before "status"
void zpeer_info_write (const zpeer_info_t *self, zpeer_slice_t app,
                       zpeer_slice_t id, zpeer_buffer_t *out);

//  Lease times, ms
uint32_t zpeer_info_renewal_ms (const zpeer_info_t *self);

uint32_t zpeer_info_duration_ms (const zpeer_info_t *self);

//  What a member of this name holds; ZPEER_KINDS: there is none
zpeer_info_kind_t zpeer_info_kind (const char *name);

#endif
