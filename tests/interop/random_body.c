#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "random_body.h"
#include "banned.h"

#define ITEMS_MAX 6
#define ID_MAX    64

//  One in so many items has a member no healthy sender would write
#define ODD_ONE_IN 12

#define PICK(state, table)                                                     \
    table[random_below (state, sizeof (table) / sizeof *(table))]

#define PLAIN                                                                  \
    "{\"@class\":\"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo\","  \
    "\"name\":\"MyOwn\"}"
#define AMAZON                                                                 \
    "{\"@class\":\"com.netflix.appinfo.AmazonInfo\",\"name\":\"Amazon\","      \
    "\"metadata\":{\"instance-id\":\"i-1\"}}"

static const char *const s_actions[] = {
    "\"Register\"",  "\"Register\"",     "\"Heartbeat\"",
    "\"Heartbeat\"", "\"StatusUpdate\"", "\"DeleteStatusOverride\"",
    "\"Cancel\""};
static const char *const s_odd_actions[] = {"0", "3", "null", "\"cancel\"",
                                            "\"4\""};

static const char *const s_stamps[] = {"1000", "1001", "1002", "1003"};
static const char *const s_odd_stamps[] = {"\"1001\"", "1002.5", "\"\"",
                                           "null",     "\"x\"",  "0"};

static const char *const s_statuses[] = {
    "\"UP\"",     "\"UP\"", "\"DOWN\"", "\"STARTING\"", "\"OUT_OF_SERVICE\"",
    "\"UNKNOWN\""};
static const char *const s_odd_statuses[] = {"\"up\"", "\"\"", "null", "5"};

static const char *const s_members[] = {
    "\"vipAddress\":\"v\"",
    "\"metadata\":{\"a\":\"b\"}",
    "\"metadata\":{}",
    "\"leaseInfo\":{\"renewalIntervalInSecs\":5,\"durationInSecs\":15}",
    "\"port\":{\"$\":8080,\"@enabled\":\"true\"}",
    "\"asgName\":\"g\""};

//  What must be there, and how it may be wrong
static const char *const s_hosts[] = {"\"h\"", "\"\"", "null", "5"};
static const char *const s_addresses[] = {"\"192.0.2.1\"", "\"\"", "null"};
static const char *const s_centers[] = {PLAIN, AMAZON, "null",
                                        "{\"name\":\"MyOwn\"}"};

//  splitmix64
static uint64_t
s_next (uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

size_t
random_below (uint64_t *state, size_t bound)
{
    return (size_t) (s_next (state) % bound);
}

static bool
s_odd (uint64_t *state)
{
    return random_below (state, ODD_ONE_IN) == 0;
}

static const char *
s_stamp (uint64_t *state)
{
    return s_odd (state) ? PICK (state, s_odd_stamps) : PICK (state, s_stamps);
}

static const char *
s_status (uint64_t *state)
{
    return s_odd (state) ? PICK (state, s_odd_statuses)
                         : PICK (state, s_statuses);
}

//  The first of a table, or now and then another
#define MOSTLY(state, table) (s_odd (state) ? PICK (state, table) : (table)[0])

//  The instanceInfo of a Register. Its timestamp is never absent: that would be
//  the receiver's clock.
static void
s_write_info (uint64_t *state, FILE *out, const char *app, const char *id)
{
    fprintf (out,
             ",\"instanceInfo\":{\"instanceId\":\"%s\",\"app\":\"%s\","
             "\"hostName\":%s,\"ipAddr\":%s,\"dataCenterInfo\":%s",
             id, app, MOSTLY (state, s_hosts), MOSTLY (state, s_addresses),
             MOSTLY (state, s_centers));
    fprintf (out, ",\"status\":%s,\"lastDirtyTimestamp\":%s", s_status (state),
             PICK (state, s_stamps));
    if (random_below (state, 3) == 0)
        fprintf (out, ",\"overriddenStatus\":%s", s_status (state));
    if (random_below (state, 2) == 0)
        fprintf (out, ",%s", PICK (state, s_members));
    fputc ('}', out);
}

static void
s_write_item (uint64_t *state, FILE *out, const char *app, const char *id)
{
    const char *action = PICK (state, s_actions);
    bool registers = !strcmp (action, s_actions[0]);
    if (s_odd (state))
        action = PICK (state, s_odd_actions);
    fprintf (out, "{\"appName\":\"%s\",\"id\":\"%s\",\"action\":%s", app, id,
             action);
    if (random_below (state, 8))
        fprintf (out, ",\"lastDirtyTimestamp\":%s", s_stamp (state));
    if (random_below (state, 8))
        fprintf (out, ",\"status\":%s", s_status (state));
    if (random_below (state, 4) == 0)
        fprintf (out, ",\"overriddenStatus\":%s", s_status (state));
    if (registers)
        s_write_info (state, out, app, id);
    fputc ('}', out);
}

char *
random_body (uint64_t *state, const char *app)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream (&text, &size);
    assert (out);
    fputs ("{\"replicationList\":[", out);
    size_t items = 1 + random_below (state, ITEMS_MAX);
    for (size_t i = 0; i < items; i++) {
        char id[ID_MAX];
        unsigned number = (unsigned) random_below (state, RANDOM_IDS);
        random_body_id (id, sizeof id, app, number);
        fputs (i ? "," : "", out);
        s_write_item (state, out, app, id);
    }
    fputs ("]}", out);
    fclose (out);
    return text;
}

void
random_body_id (char *id, size_t size, const char *app, unsigned number)
{
    snprintf (id, size, "%s:%u", app, number);
}
