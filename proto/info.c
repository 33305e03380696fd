#include "info.h"
#include "json.h"
#include "metadata.h"
#include "utf8.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

#define PORT_MAX     65535
#define CENTER_SCOPE "info.dataCenterInfo."
#define EMPTY_MAP    "{\"@class\":\"java.util.Collections$EmptyMap\"}"
#define CLASS_MINE   "com.netflix.appinfo.MyDataCenterInfo"

static const zpeer_slice_t s_members[] = {
#define X(name, text, kind) ZPEER_NAME (text),
    ZPEER_INFO_MEMBERS (X)
#undef X
        ZPEER_NAME ("overriddenstatus"),
};

//  An old spelling of overriddenStatus
#define ALIAS ZPEER_INFO_COUNT

//  What stands before a member's value in the JSON
static const zpeer_slice_t s_heads[] = {
#define X(name, text, kind) ZPEER_NAME (",\"" text "\":"),
    ZPEER_INFO_MEMBERS (X)
#undef X
};

static const uint8_t s_kinds[] = {
#define X(name, text, kind) ZPEER_KIND_##kind,
    ZPEER_INFO_MEMBERS (X)
#undef X
};

static const zpeer_slice_t s_center_members[] = {
    ZPEER_NAME ("@class"), ZPEER_NAME ("name"), ZPEER_NAME ("metadata")};

enum { CENTER_CLASS, CENTER_NAME };

enum { PORT_NUMBER, PORT_ENABLED };

static const zpeer_slice_t s_center_names[] = {
    ZPEER_NAME ("MyOwn"), ZPEER_NAME ("Netflix"), ZPEER_NAME ("Amazon")};

static const zpeer_slice_t s_action_types[] = {
    ZPEER_NAME ("ADDED"), ZPEER_NAME ("MODIFIED"), ZPEER_NAME ("DELETED")};

static const zpeer_slice_t s_port_members[] = {ZPEER_NAME ("$"),
                                               ZPEER_NAME ("@enabled")};

#define LEASE_MEMBERS(X)                                                       \
    X ("{", RENEWAL_SECS, "renewalIntervalInSecs")                             \
    X (",", DURATION_SECS, "durationInSecs")                                   \
    X (",", REGISTRATION, "registrationTimestamp")                             \
    X (",", LAST_RENEWAL, "lastRenewalTimestamp")                              \
    X (",", EVICTION, "evictionTimestamp")                                     \
    X (",", SERVICE_UP, "serviceUpTimestamp")

static const zpeer_slice_t s_lease_members[] = {
#define X(before, name, text) [ZPEER_LEASE_##name] = ZPEER_NAME (text),
    LEASE_MEMBERS (X)
#undef X
};

static const zpeer_slice_t s_lease_heads[] = {
#define X(before, name, text)                                                  \
    [ZPEER_LEASE_##name] = ZPEER_NAME (before "\"" text "\":"),
    LEASE_MEMBERS (X)
#undef X
};

void
zpeer_info_free (zpeer_info_t *self)
{
    zpeer_buffer_free (&self->scratch);
}

zpeer_info_kind_t
zpeer_info_kind (const char *name)
{
    for (size_t i = 0; i < ZPEER_INFO_COUNT; i++)
        if (!strcmp (s_members[i].data, name))
            return (zpeer_info_kind_t) s_kinds[i];
    return ZPEER_KINDS;
}

//  In upper case. A text with escapes stays: their letters must not change, and
//  peers make it upper case themselves.
static void
s_put_upper (zpeer_buffer_t *out, const zpeer_piece_t *piece)
{
    size_t from = out->size;
    zpeer_json_text (out, piece);
    if (piece->plain)
        for (size_t i = from; i < out->size; i++)
            out->data[i] = zpeer_upper (out->data[i]);
}

static int
s_one_of (const zpeer_field_t *field, const zpeer_token_t *token,
          const zpeer_slice_t *names, size_t count, const char *list,
          zpeer_slice_t *name)
{
    if (token->kind != ZPEER_TOKEN_STR)
        return zpeer_field_reject (field, "is not a string");
    for (size_t i = 0; i < count; i++)
        if (zpeer_slice_eq (names[i], token->bytes)) {
            *name = names[i];
            return ZPEER_OK;
        }
    char quote[ZPEER_QUOTE_MAX];
    return zpeer_field_reject (field, "\"%s\" is none of %s",
                               zpeer_quote (quote, token->bytes), list);
}

static void
s_put_range (const zpeer_info_t *self, zpeer_range_t range, zpeer_buffer_t *out)
{
    zpeer_buffer_lit (out, "{");
    if (range.size)
        zpeer_buffer_add (out, self->scratch.data + range.from, range.size);
    zpeer_buffer_lit (out, "}");
}

//  Ports, lease and data centre

static int
s_port_member (void *arg, zpeer_reader_t *reader, size_t index,
               const zpeer_field_t *field, const zpeer_token_t *token)
{
    (void) reader;
    zpeer_info_value_t *value = (zpeer_info_value_t *) arg;
    if (index == PORT_ENABLED)
        return zpeer_field_flag (field, token, &value->port.enabled);
    return zpeer_field_number (field, token, 0, PORT_MAX, &value->port.number);
}

static void
s_put_port (zpeer_buffer_t *out, const zpeer_info_value_t *value)
{
    zpeer_buffer_lit (out, "{\"$\":");
    zpeer_json_int (out, value->port.number);
    zpeer_buffer_lit (out, ",\"@enabled\":");
    zpeer_json_flag_text (out, value->port.enabled);
    zpeer_buffer_lit (out, "}");
}

static int
s_lease_member (void *arg, zpeer_reader_t *reader, size_t index,
                const zpeer_field_t *field, const zpeer_token_t *token)
{
    (void) reader;
    int64_t *lease = ((zpeer_info_value_t *) arg)->lease;
    if (index > ZPEER_LEASE_DURATION_SECS)
        return zpeer_field_number (field, token, 0, INT64_MAX, &lease[index]);
    int64_t seconds;
    int rc = zpeer_field_number (field, token, INT32_MIN, INT32_MAX, &seconds);
    //  Peers take zero and less for the default, which stands here already
    if (!rc && seconds > 0)
        lease[index] = seconds;
    return rc;
}

static void
s_put_lease (zpeer_buffer_t *out, const int64_t *lease)
{
    for (size_t i = 0; i < ZPEER_LEASE_COUNT; i++) {
        zpeer_buffer_slice (out, s_lease_heads[i]);
        zpeer_json_int (out, lease[i]);
    }
    zpeer_buffer_lit (out, "}");
}

static int
s_center_class (const zpeer_field_t *field, const zpeer_token_t *token,
                bool *amazon)
{
    char quote[ZPEER_QUOTE_MAX];
    if (token->kind != ZPEER_TOKEN_STR)
        return zpeer_field_reject (field, "is not a string");
    *amazon = zpeer_slice_eq (token->bytes, ZPEER_SLICE (ZPEER_CLASS_AMAZON));
    if (!*amazon &&
        !zpeer_slice_eq (token->bytes, ZPEER_SLICE (ZPEER_CLASS_PLAIN)) &&
        !zpeer_slice_eq (token->bytes, ZPEER_SLICE (CLASS_MINE)))
        return zpeer_field_reject (field, "\"%s\" is no class peers know",
                                   zpeer_quote (quote, token->bytes));
    return ZPEER_OK;
}

static int
s_center_member (void *arg, zpeer_reader_t *reader, size_t index,
                 const zpeer_field_t *field, const zpeer_token_t *token)
{
    zpeer_info_t *self = (zpeer_info_t *) arg;
    zpeer_info_value_t *value = &self->values[ZPEER_INFO_DATA_CENTER];
    value->center.given |= 1u << index;
    switch (index) {
    case CENTER_CLASS:
        return s_center_class (field, token, &value->center.amazon);
    case CENTER_NAME:
        return s_one_of (field, token, s_center_names, LENGTH (s_center_names),
                         "MyOwn, Netflix, Amazon", &value->center.name);
    default:
        return zpeer_metadata_read (reader, field, token,
                                    "info.dataCenterInfo.metadata.",
                                    &self->scratch, &value->center.metadata);
    }
}

//  All members have been read: they must fit each other
static int
s_check_center (zpeer_info_t *self, char *reason)
{
    const zpeer_info_value_t *value = &self->values[ZPEER_INFO_DATA_CENTER];
    for (size_t i = CENTER_CLASS; i <= CENTER_NAME; i++) {
        zpeer_field_t field = {CENTER_SCOPE, s_center_members[i], reason};
        if (!(value->center.given & 1u << i))
            return zpeer_field_reject (&field, "is missing");
    }
    zpeer_field_t name = {CENTER_SCOPE, s_center_members[CENTER_NAME], reason};
    bool amazon = zpeer_slice_eq (value->center.name, ZPEER_SLICE ("Amazon"));
    if (value->center.amazon && !amazon)
        return zpeer_field_reject (&name, "is not Amazon, as @class says");
    //  Peers store such a one and then fail on every GET apps
    if (amazon && !value->center.amazon)
        return zpeer_field_reject (&name, "is Amazon, but @class is not");
    return ZPEER_OK;
}

//  @class first, Amazon's metadata last and always there: a peer would swallow
//  the member behind dataCenterInfo without it
static void
s_put_center (const zpeer_info_t *self, zpeer_buffer_t *out)
{
    const zpeer_info_value_t *value = &self->values[ZPEER_INFO_DATA_CENTER];
    if (value->center.amazon)
        zpeer_buffer_lit (out,
                          "{\"@class\":\"" ZPEER_CLASS_AMAZON "\",\"name\":\"");
    else
        zpeer_buffer_lit (out,
                          "{\"@class\":\"" ZPEER_CLASS_PLAIN "\",\"name\":\"");
    zpeer_buffer_slice (out, value->center.name);
    zpeer_buffer_lit (out, "\"");
    if (value->center.amazon) {
        zpeer_buffer_lit (out, ",\"metadata\":");
        s_put_range (self, value->center.metadata, out);
    }
    zpeer_buffer_lit (out, "}");
}

//  Reading

static int
s_member_map (zpeer_info_t *self, zpeer_reader_t *reader, size_t index,
              const zpeer_field_t *field, const zpeer_token_t *token)
{
    zpeer_info_value_t *value = &self->values[index];
    int rc = zpeer_field_map (field, token);
    if (rc)
        return rc;
    switch (index) {
    case ZPEER_INFO_PORT:
    case ZPEER_INFO_SECURE_PORT:
        return zpeer_reader_map (reader, token,
                                 index == ZPEER_INFO_PORT ? "info.port."
                                                          : "info.securePort.",
                                 s_port_members, LENGTH (s_port_members), NULL,
                                 s_port_member, value);
    case ZPEER_INFO_LEASE:
        return zpeer_reader_map (reader, token, "info.leaseInfo.",
                                 s_lease_members, LENGTH (s_lease_members),
                                 NULL, s_lease_member, value);
    case ZPEER_INFO_METADATA:
        return zpeer_metadata_read (reader, field, token, "info.metadata.",
                                    &self->scratch, &value->metadata);
    default:
        rc = zpeer_reader_map (reader, token, CENTER_SCOPE, s_center_members,
                               LENGTH (s_center_members), NULL, s_center_member,
                               self);
        return rc ? rc : s_check_center (self, reader->reason);
    }
}

static int
s_member (void *arg, zpeer_reader_t *reader, size_t index,
          const zpeer_field_t *field, const zpeer_token_t *token)
{
    zpeer_info_t *self = (zpeer_info_t *) arg;
    if (index == ALIAS)
        index = ZPEER_INFO_OVERRIDE;
    if (zpeer_info_has (self, (zpeer_info_member_t) index))
        return zpeer_field_reject (field, "is given twice");
    zpeer_info_value_t *value = &self->values[index];
    self->given |= UINT32_C (1) << index;
    switch (s_kinds[index]) {
    case ZPEER_KIND_TEXT:
    case ZPEER_KIND_UPPER: return zpeer_field_text (field, token, &value->text);
    case ZPEER_KIND_NUMBER:
        return zpeer_field_number (field, token, INT32_MIN, INT32_MAX,
                                   &value->number);
    case ZPEER_KIND_TIME:
        return zpeer_field_number (field, token, 0, INT64_MAX, &value->number);
    case ZPEER_KIND_STAMP:
        return zpeer_field_timestamp (field, token, &value->number);
    case ZPEER_KIND_FLAG: return zpeer_field_flag (field, token, &value->flag);
    case ZPEER_KIND_STATUS:
        return zpeer_field_status (field, token, &value->status);
    case ZPEER_KIND_ACTION_TYPE:
        value->text.plain = true;
        return s_one_of (field, token, s_action_types, LENGTH (s_action_types),
                         "ADDED, MODIFIED, DELETED", &value->text.text);
    default: return s_member_map (self, reader, index, field, token);
    }
}

//  What a peer takes for granted when a member is not given
static void
s_defaults (zpeer_info_t *self)
{
    self->given = 0;
    self->scratch.size = 0;
    zpeer_info_value_t *values = self->values;
    values[ZPEER_INFO_PORT].port.number = 7001;
    values[ZPEER_INFO_PORT].port.enabled = true;
    values[ZPEER_INFO_SECURE_PORT].port.number = 7002;
    values[ZPEER_INFO_SECURE_PORT].port.enabled = false;
    values[ZPEER_INFO_COUNTRY_ID].number = 1;
    values[ZPEER_INFO_COORDINATING].flag = false;
    values[ZPEER_INFO_STATUS].status = ZPEER_UP;
    values[ZPEER_INFO_OVERRIDE].status = ZPEER_UNKNOWN;
    values[ZPEER_INFO_METADATA].metadata = (zpeer_range_t){0};
    values[ZPEER_INFO_ACTION_TYPE].text =
        (zpeer_piece_t){ZPEER_SLICE ("ADDED"), true, true};
    memset (&values[ZPEER_INFO_DATA_CENTER], 0, sizeof *values);
    memset (&values[ZPEER_INFO_LEASE], 0, sizeof *values);
    values[ZPEER_INFO_LEASE].lease[ZPEER_LEASE_RENEWAL_SECS] =
        ZPEER_RENEWAL_MS / 1000;
    values[ZPEER_INFO_LEASE].lease[ZPEER_LEASE_DURATION_SECS] =
        ZPEER_DURATION_MS / 1000;
}

int
zpeer_info_read (zpeer_info_t *self, zpeer_reader_t *reader,
                 const zpeer_token_t *token)
{
    s_defaults (self);
    return zpeer_reader_map (reader, token, "info.", s_members,
                             LENGTH (s_members), self->order, s_member, self);
}

//  Checking

static int
s_check_text (const zpeer_info_t *self, zpeer_info_member_t member,
              char *reason)
{
    zpeer_field_t field = {"info.", s_members[member], reason};
    if (!zpeer_info_has (self, member))
        return zpeer_field_reject (&field, "is missing");
    if (zpeer_utf8_blank (self->values[member].text.text))
        return zpeer_field_reject (&field, "is blank");
    return ZPEER_OK;
}

static bool
s_same_upper (zpeer_slice_t text, zpeer_slice_t upper)
{
    if (text.size != upper.size)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (zpeer_upper (text.data[i]) != upper.data[i])
            return false;
    return true;
}

static int
s_other_name (zpeer_info_member_t member, const char *key, zpeer_slice_t given,
              zpeer_slice_t wanted, char *reason)
{
    zpeer_field_t field = {"info.", s_members[member], reason};
    char one[ZPEER_QUOTE_MAX];
    char other[ZPEER_QUOTE_MAX];
    return zpeer_field_reject (&field, "is \"%s\", but %s is \"%s\"",
                               zpeer_quote (one, given), key,
                               zpeer_quote (other, wanted));
}

int
zpeer_info_check (const zpeer_info_t *self, zpeer_slice_t app, zpeer_slice_t id,
                  char reason[ZPEER_REASON_MAX])
{
    zpeer_slice_t own_app = self->values[ZPEER_INFO_APP].text.text;
    zpeer_slice_t own_id = self->values[ZPEER_INFO_INSTANCE_ID].text.text;
    if (s_check_text (self, ZPEER_INFO_HOST_NAME, reason) ||
        s_check_text (self, ZPEER_INFO_IP_ADDR, reason))
        return ZPEER_E_REJECTED;
    if (zpeer_info_has (self, ZPEER_INFO_APP) && !s_same_upper (own_app, app))
        return s_other_name (ZPEER_INFO_APP, "app", own_app, app, reason);
    if (zpeer_info_has (self, ZPEER_INFO_INSTANCE_ID) &&
        !zpeer_slice_eq (own_id, id))
        return s_other_name (ZPEER_INFO_INSTANCE_ID, "id", own_id, id, reason);
    if (zpeer_info_has (self, ZPEER_INFO_DATA_CENTER))
        return ZPEER_OK;
    zpeer_field_t field = {"info.", s_members[ZPEER_INFO_DATA_CENTER], reason};
    return zpeer_field_reject (&field, "is missing");
}

//  Writing

//  Left out when the instance does not say. Of the others the default is
//  written, as the reference does.
static bool
s_omitted (const zpeer_info_t *self, size_t index)
{
    const zpeer_info_value_t *value = &self->values[index];
    bool given = zpeer_info_has (self, (zpeer_info_member_t) index);
    switch (s_kinds[index]) {
    case ZPEER_KIND_STATUS:
    case ZPEER_KIND_STAMP: return true;
    case ZPEER_KIND_TEXT:
    case ZPEER_KIND_UPPER:
        return !given ||
               (index == ZPEER_INFO_SID &&
                (zpeer_slice_eq (value->text.text, ZPEER_SLICE ("na")) ||
                 zpeer_slice_eq (value->text.text, ZPEER_SLICE ("unknown"))));
    case ZPEER_KIND_TIME:
    case ZPEER_KIND_LEASE: return !given;
    default: return false;
    }
}

static void
s_put_member (const zpeer_info_t *self, size_t index, zpeer_buffer_t *out)
{
    const zpeer_info_value_t *value = &self->values[index];
    switch (s_kinds[index]) {
    case ZPEER_KIND_UPPER: s_put_upper (out, &value->text); break;
    case ZPEER_KIND_PORT: s_put_port (out, value); break;
    case ZPEER_KIND_NUMBER: zpeer_json_int (out, value->number); break;
    case ZPEER_KIND_DATA_CENTER: s_put_center (self, out); break;
    case ZPEER_KIND_LEASE: s_put_lease (out, value->lease); break;
    case ZPEER_KIND_FLAG: zpeer_json_flag_text (out, value->flag); break;
    case ZPEER_KIND_TIME: zpeer_json_int_text (out, value->number); break;
    case ZPEER_KIND_METADATA:
        //  A map without members has a form of its own
        if (value->metadata.size)
            s_put_range (self, value->metadata, out);
        else
            zpeer_buffer_lit (out, EMPTY_MAP);
        break;
    default: zpeer_json_text (out, &value->text); break;
    }
}

static void
s_put_slice (zpeer_buffer_t *out, zpeer_slice_t text)
{
    zpeer_piece_t piece = {text, false,
                           zpeer_utf8_look (text) <= ZPEER_UTF8_PLAIN};
    zpeer_json_text (out, &piece);
}

void
zpeer_info_write (const zpeer_info_t *self, zpeer_slice_t app, zpeer_slice_t id,
                  zpeer_buffer_t *out)
{
    zpeer_buffer_lit (out, "{\"instanceId\":");
    s_put_slice (out, id);
    for (size_t i = ZPEER_INFO_HOST_NAME; i < ZPEER_INFO_COUNT; i++) {
        if (i == ZPEER_INFO_APP) {
            zpeer_buffer_slice (out, s_heads[i]);
            s_put_slice (out, app);
        }
        else if (!s_omitted (self, i)) {
            zpeer_buffer_slice (out, s_heads[i]);
            s_put_member (self, i, out);
        }
    }
}

static uint32_t
s_lease_ms (const zpeer_info_t *self, size_t index, uint32_t none)
{
    if (!zpeer_info_has (self, ZPEER_INFO_LEASE))
        return none;
    int64_t ms = self->values[ZPEER_INFO_LEASE].lease[index] * 1000;
    return ms < UINT32_MAX ? (uint32_t) ms : UINT32_MAX;
}

uint32_t
zpeer_info_renewal_ms (const zpeer_info_t *self)
{
    return s_lease_ms (self, ZPEER_LEASE_RENEWAL_SECS, ZPEER_RENEWAL_NONE_MS);
}

uint32_t
zpeer_info_duration_ms (const zpeer_info_t *self)
{
    return s_lease_ms (self, ZPEER_LEASE_DURATION_SECS, ZPEER_DURATION_MS);
}
