#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "info.h"
#include "utf8.h"
#include "banned.h"

static const zpeer_slice_t s_members[] = {
#define X(name, text) ZPEER_NAME (text),
    ZPEER_EVENT_MEMBERS (X)
#undef X
};

#define MEMBER(name) (UINT32_C (1) << ZPEER_EVENT_##name)

#define NAME (MEMBER (APP) | MEMBER (ID))

//  Every event may say whose word it is. Whether marks go together is looked at later.
#define MARKS                                                                  \
    (MEMBER (REPLICATED) | MEMBER (SNAPSHOT) | MEMBER (AS_OF) | MEMBER (ORIGIN))

typedef struct {
    uint32_t required;
    uint32_t optional;
} rules_t;

//  What each action wants of the members. A Register has its timestamp here or in
//  info.
static const rules_t s_rules[ZPEER_ACTIONS] = {
    [ZPEER_REGISTER] = {NAME | MEMBER (INFO), MEMBER (TIMESTAMP) |
                                                  MEMBER (STATUS) |
                                                  MEMBER (OVERRIDE) | MARKS},
    [ZPEER_HEARTBEAT] = {NAME | MEMBER (TIMESTAMP),
                         MEMBER (STATUS) | MEMBER (OVERRIDE) | MARKS},
    [ZPEER_CANCEL] = {NAME, MEMBER (TIMESTAMP) | MARKS},
    [ZPEER_STATUS_UPDATE] = {NAME | MEMBER (TIMESTAMP) | MEMBER (STATUS),
                             MARKS},
    [ZPEER_DELETE_STATUS_OVERRIDE] = {NAME | MEMBER (TIMESTAMP),
                                      MEMBER (STATUS) | MARKS},
    [ZPEER_ASG_STATUS_UPDATE] = {MEMBER (STATUS) | MEMBER (ASG), MARKS},
    [ZPEER_FORGET] = {NAME, MARKS},
};

struct zpeer_parser {
    uint32_t given;  //  Bits: zpeer_event_member_t
    zpeer_token_t values[ZPEER_EVENT_COUNT];
    int info_rc;          //  How reading info ended; it counts only if the
                          //  action turns out to want it
    zpeer_info_t info;    //  Owned
    zpeer_keys_t keys;    //  Owned
    zpeer_buffer_t json;  //  Owned; of the info
    char app[ZPEER_APP_MAX];
    char info_reason[ZPEER_REASON_MAX];
};

zpeer_parser_t *
zpeer_parser_new (void)
{
    zpeer_parser_t *self = (zpeer_parser_t *) calloc (1, sizeof *self);
    assert (self);
    return self;
}

void
zpeer_parser_destroy (zpeer_parser_t **self_p)
{
    zpeer_parser_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    zpeer_info_free (&self->info);
    zpeer_keys_free (&self->keys);
    zpeer_buffer_free (&self->json);
    free (self);
}

zpeer_slice_t
zpeer_event_key (zpeer_event_member_t member)
{
    return s_members[member];
}

static bool
s_given (const zpeer_parser_t *self, zpeer_event_member_t member)
{
    return self->given & UINT32_C (1) << member;
}

//  Reads info before it is known whether the action wants it: a second time
//  over its bytes would cost as much as all the rest. If it is not well and the
//  action does not want it, it has only to be stepped over.
static int
s_read_info (zpeer_parser_t *self, zpeer_reader_t *reader,
             const zpeer_token_t *token)
{
    zpeer_walk_t start = reader->walk;
    char *reason = reader->reason;
    zpeer_field_t field = {"", s_members[ZPEER_EVENT_INFO], self->info_reason};
    self->info_rc = zpeer_field_map (&field, token);
    reader->reason = self->info_reason;
    if (!self->info_rc)
        self->info_rc = zpeer_info_read (&self->info, reader, token);
    reader->reason = reason;
    if (self->info_rc != ZPEER_E_REJECTED)
        return self->info_rc;
    reader->walk = start;
    return zpeer_reader_skip (reader, token);
}

//  Only keeps the value: what it must be depends on the action
static int
s_member (void *arg, zpeer_reader_t *reader, size_t index,
          const zpeer_field_t *field, const zpeer_token_t *token)
{
    (void) field;
    zpeer_parser_t *self = (zpeer_parser_t *) arg;
    self->given |= UINT32_C (1) << index;
    self->values[index] = *token;
    if (index == ZPEER_EVENT_INFO)
        return s_read_info (self, reader, token);
    return zpeer_reader_skip (reader, token);
}

static int
s_action (const zpeer_parser_t *self, zpeer_action_t *action, char *reason)
{
    zpeer_field_t field = {"", s_members[ZPEER_EVENT_ACTION], reason};
    const zpeer_token_t *token = &self->values[ZPEER_EVENT_ACTION];
    char quote[ZPEER_QUOTE_MAX];
    if (!s_given (self, ZPEER_EVENT_ACTION))
        return zpeer_field_reject (&field, "is missing");
    if (token->kind != ZPEER_TOKEN_STR)
        return zpeer_field_reject (&field, "is not a string");
    if (zpeer_action_parse (token->bytes.data, token->bytes.size, action))
        return zpeer_field_reject (
            &field,
            "\"%s\" is none of Register, Heartbeat, Cancel, StatusUpdate, "
            "DeleteStatusOverride, AsgStatusUpdate, Forget",
            zpeer_quote (quote, token->bytes));
    return ZPEER_OK;
}

//  The application's name, in upper case
static int
s_app (zpeer_parser_t *self, const zpeer_field_t *field,
       const zpeer_token_t *token, zpeer_slice_t *app)
{
    zpeer_slice_t name;
    int rc = zpeer_field_name (field, token, ZPEER_APP_MAX, &name);
    if (rc)
        return rc;
    for (size_t i = 0; i < name.size; i++)
        self->app[i] = zpeer_upper (name.data[i]);
    *app = (zpeer_slice_t){self->app, name.size};
    return ZPEER_OK;
}

//  ENABLED and DISABLED of an ASG
static int
s_asg_status (const zpeer_field_t *field, const zpeer_token_t *token,
              zpeer_status_t *status)
{
    char quote[ZPEER_QUOTE_MAX];
    if (token->kind != ZPEER_TOKEN_STR)
        return zpeer_field_reject (field, "is not a string");
    if (zpeer_slice_eq (token->bytes, ZPEER_SLICE ("ENABLED")))
        *status = ZPEER_UP;
    else if (zpeer_slice_eq (token->bytes, ZPEER_SLICE ("DISABLED")))
        *status = ZPEER_OUT_OF_SERVICE;
    else
        return zpeer_field_reject (field,
                                   "\"%s\" is neither ENABLED nor DISABLED",
                                   zpeer_quote (quote, token->bytes));
    return ZPEER_OK;
}

static int
s_status (zpeer_parsed_t *event, const zpeer_field_t *field,
          const zpeer_token_t *token)
{
    event->has_status = true;
    if (event->action == ZPEER_ASG_STATUS_UPDATE)
        return s_asg_status (field, token, &event->status);
    int rc = zpeer_field_status (field, token, &event->status);
    if (!rc && event->action == ZPEER_STATUS_UPDATE &&
        event->status == ZPEER_UNKNOWN)
        return zpeer_field_reject (field,
                                   "UNKNOWN cannot be set: no Register could "
                                   "carry it; use DeleteStatusOverride");
    return rc;
}

static int
s_timestamp (zpeer_parsed_t *event, const zpeer_field_t *field,
             const zpeer_token_t *token)
{
    int64_t number = 0;
    int rc = zpeer_field_timestamp (field, token, &number);
    event->has_timestamp = true;
    event->timestamp = (uint64_t) number;
    return rc;
}

static int
s_mark (bool *mark, const zpeer_field_t *field, const zpeer_token_t *token)
{
    if (token->kind != ZPEER_TOKEN_BOOL)
        return zpeer_field_reject (field, "is neither true nor false");
    *mark = token->as.flag;
    return ZPEER_OK;
}

static int
s_as_of (zpeer_parsed_t *event, const zpeer_field_t *field,
         const zpeer_token_t *token)
{
    int64_t number = 0;
    int rc = zpeer_field_number (field, token, 1, INT64_MAX, &number);
    event->as_of = (uint64_t) number;
    return rc;
}

//  One member that the action knows and the event has
static int
s_take (zpeer_parser_t *self, zpeer_event_member_t member,
        zpeer_parsed_t *event, const zpeer_field_t *field)
{
    const zpeer_token_t *token = &self->values[member];
    switch (member) {
    case ZPEER_EVENT_APP: return s_app (self, field, token, &event->app);
    case ZPEER_EVENT_ID:
        return zpeer_field_name (field, token, ZPEER_ID_MAX, &event->id);
    case ZPEER_EVENT_ASG:
        return zpeer_field_name (field, token, ZPEER_ASG_MAX, &event->id);
    case ZPEER_EVENT_TIMESTAMP: return s_timestamp (event, field, token);
    case ZPEER_EVENT_STATUS: return s_status (event, field, token);
    case ZPEER_EVENT_OVERRIDE:
        return zpeer_field_status (field, token, &event->override);
    case ZPEER_EVENT_REPLICATED:
        return s_mark (&event->replicated, field, token);
    case ZPEER_EVENT_SNAPSHOT: return s_mark (&event->snapshot, field, token);
    case ZPEER_EVENT_AS_OF: return s_as_of (event, field, token);
    case ZPEER_EVENT_ORIGIN:
        return zpeer_field_name (field, token, ZPEER_ORIGIN_MAX,
                                 &event->origin);
    default: return ZPEER_OK;
    }
}

static int
s_members_of (zpeer_parser_t *self, zpeer_parsed_t *event, char *reason)
{
    rules_t rules = s_rules[event->action];
    uint32_t left = rules.required | (rules.optional & self->given);
    for (; left; left &= left - 1) {  //  In their order
        zpeer_event_member_t member =
            (zpeer_event_member_t) __builtin_ctz (left);
        zpeer_field_t field = {"", s_members[member], reason};
        int rc = s_given (self, member)
                     ? s_take (self, member, event, &field)
                     : zpeer_field_reject (&field, "is missing");
        if (rc)
            return rc;
    }
    return ZPEER_OK;
}

static int
s_refuse_mark (zpeer_event_member_t member, const char *why, char *reason)
{
    zpeer_field_t field = {"", s_members[member], reason};
    return zpeer_field_reject (&field, "%s", why);
}

//  Marks that contradict each other, or the action
static int
s_check_marks (const zpeer_parsed_t *event, char *reason)
{
    if (event->snapshot && event->action != ZPEER_REGISTER)
        return s_refuse_mark (ZPEER_EVENT_SNAPSHOT,
                              "is for a Register and nothing else", reason);
    if (event->snapshot && event->replicated)
        return s_refuse_mark (ZPEER_EVENT_SNAPSHOT,
                              "contradicts replicated: peers are made to have "
                              "it, and are said to have it",
                              reason);
    if (event->origin.size && event->replicated)
        return s_refuse_mark (ZPEER_EVENT_ORIGIN,
                              "contradicts replicated: one peer has it, and "
                              "all are said to have it",
                              reason);
    if (event->as_of && !event->snapshot)
        return s_refuse_mark (ZPEER_EVENT_AS_OF,
                              "is for a snapshot and nothing else", reason);
    return ZPEER_OK;
}

//  The event and its info speak of the same thing: what both have must agree
static int
s_disagree (zpeer_event_member_t member, char *reason)
{
    zpeer_field_t field = {"", s_members[member], reason};
    return zpeer_field_reject (&field, "differs from info.%s",
                               s_members[member].data);
}

static int
s_merge_status (const zpeer_parser_t *self, zpeer_event_member_t member,
                zpeer_info_member_t info_member, zpeer_status_t *status,
                char *reason)
{
    zpeer_status_t own = self->info.values[info_member].status;
    if (!s_given (self, member))
        *status = own;
    else if (zpeer_info_has (&self->info, info_member) && *status != own)
        return s_disagree (member, reason);
    return ZPEER_OK;
}

static int
s_merge_timestamp (const zpeer_parser_t *self, zpeer_parsed_t *event,
                   char *reason)
{
    bool has = zpeer_info_has (&self->info, ZPEER_INFO_LAST_DIRTY);
    uint64_t own =
        has ? (uint64_t) self->info.values[ZPEER_INFO_LAST_DIRTY].number : 0;
    if (has && event->has_timestamp && own != event->timestamp)
        return s_disagree (ZPEER_EVENT_TIMESTAMP, reason);
    zpeer_field_t field = {"", s_members[ZPEER_EVENT_TIMESTAMP], reason};
    if (!has && !event->has_timestamp)
        return zpeer_field_reject (&field, "is missing, here and in info");
    if (has)
        event->timestamp = own;
    event->has_timestamp = true;
    return ZPEER_OK;
}

static int
s_write_info (zpeer_parser_t *self, zpeer_parsed_t *event, char *reason)
{
    zpeer_buffer_reset (&self->json);
    zpeer_info_write (&self->info, event->app, event->id, &self->json);
    zpeer_field_t field = {"", s_members[ZPEER_EVENT_INFO], reason};
    if (self->json.size > ZPEER_INFO_MAX)
        return zpeer_field_reject (&field, "is longer than %zu bytes as JSON",
                                   ZPEER_INFO_MAX);
    event->info = (zpeer_slice_t){self->json.data, self->json.size};
    event->renewal_ms = zpeer_info_renewal_ms (&self->info);
    event->duration_ms = zpeer_info_duration_ms (&self->info);
    return ZPEER_OK;
}

static int
s_register (zpeer_parser_t *self, zpeer_parsed_t *event, char *reason)
{
    if (self->info_rc) {
        memcpy (reason, self->info_reason, ZPEER_REASON_MAX);
        return self->info_rc;
    }
    int rc = zpeer_info_check (&self->info, event->app, event->id, reason);
    if (!rc)
        rc = s_merge_status (self, ZPEER_EVENT_STATUS, ZPEER_INFO_STATUS,
                             &event->status, reason);
    if (!rc)
        rc = s_merge_status (self, ZPEER_EVENT_OVERRIDE, ZPEER_INFO_OVERRIDE,
                             &event->override, reason);
    if (!rc)
        rc = s_merge_timestamp (self, event, reason);
    if (!rc)
        rc = s_write_info (self, event, reason);
    event->has_status = true;
    return rc;
}

//  Fills event as far as it goes
static int
s_parse (zpeer_parser_t *self, zpeer_reader_t *reader, const zpeer_token_t *map,
         zpeer_parsed_t *event)
{
    char *reason = reader->reason;
    self->given = 0;
    int rc = zpeer_reader_map (reader, map, "", s_members, ZPEER_EVENT_COUNT,
                               NULL, s_member, self);
    if (!rc)
        rc = s_action (self, &event->action, reason);
    if (!rc)
        rc = s_members_of (self, event, reason);
    if (!rc)
        rc = s_check_marks (event, reason);
    if (!rc && event->action == ZPEER_REGISTER)
        rc = s_register (self, event, reason);
    return rc;
}

//  How long the event is is known when it was read, or stepped over
static int
s_check_size (size_t size, char *reason)
{
    if (size <= ZPEER_EVENT_MAX)
        return ZPEER_OK;
    snprintf (reason, ZPEER_REASON_MAX, "the event is longer than %zu bytes",
              ZPEER_EVENT_MAX);
    return ZPEER_E_REJECTED;
}

static int
s_unusable (char *reason, const char *why)
{
    snprintf (reason, ZPEER_REASON_MAX,
              "not a msgpack map as an event is one: %s", why);
    return ZPEER_E_PARSE;
}

int
zpeer_parser_next (zpeer_parser_t *self, const char *frame, size_t size,
                   size_t *offset, zpeer_parsed_t *event,
                   char reason[ZPEER_REASON_MAX])
{
    assert (*offset <= size);
    const char *start = frame + *offset;
    zpeer_walk_t walk = {start, frame + size, ZPEER_ELEMENTS_MAX, NULL};
    zpeer_reader_t reader = {walk, 0, &self->keys, reason};
    zpeer_token_t map;
    int rc = zpeer_reader_next (&reader, &map);
    if (!rc && map.kind != ZPEER_TOKEN_MAP)
        return s_unusable (reason, "something else is there");
    //  Of what is too long only so much is read, and kept
    if (size - *offset > ZPEER_EVENT_MAX)
        reader.walk.end = start + ZPEER_EVENT_MAX;
    zpeer_parsed_t parsed = {0};
    zpeer_keys_reset (&self->keys);
    if (!rc)
        rc = s_parse (self, &reader, &map, &parsed);
    //  It is refused if all of its bytes are well, else nothing behind is found
    if (rc) {
        reader.walk = walk;
        int whole = zpeer_walk_skip (&reader.walk, 0);
        rc = whole ? whole : ZPEER_E_REJECTED;
    }
    if (rc == ZPEER_E_PARSE)
        return s_unusable (reason, reader.walk.error);
    *offset = (size_t) (reader.walk.at - frame);
    int fits = s_check_size ((size_t) (reader.walk.at - start), reason);
    rc = fits ? fits : rc;
    if (!rc)
        *event = parsed;
    return rc;
}
