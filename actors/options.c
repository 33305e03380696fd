#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "option_value.h"
#include "url.h"
#include "banned.h"

//  Longest name, and longest piece of a wrong value that an error repeats
#define NAME_MAX_BYTES 128

//  Name of a zone that a single peer is; one or more digits follow
#define PEER_ZONE "peer-"

typedef struct {
    zpeer_option_t info;
    size_t offset;  //  Of the field in zpeer_options_t
} entry_t;

static const entry_t s_table[] = {
#define X(type, field, name, unit, min, max, fallback, help)                   \
    {{ZPEER_OPTION_##type, name, unit, min, max, fallback, help},              \
     offsetof (zpeer_options_t, field)},
    ZPEER_OPTIONS (X)
#undef X
};

static const char *const s_ignored[] = {
#define X(name) name,
    ZPEER_OPTIONS_IGNORED (X)
#undef X
};

#define ENTRIES (sizeof s_table / sizeof *s_table)
#define IGNORED (sizeof s_ignored / sizeof *s_ignored)

_Static_assert(ZPEER_OPTIONS_ERROR_MAX >=
                   ZPEER_URL_ERROR_MAX + 2 * NAME_MAX_BYTES,
               "it holds an option's name and a sentence about a URL");
_Static_assert(IGNORED <= 64, "zpeer_options_t.unused has a bit for each");

static void *
s_field (const zpeer_options_t *self, const entry_t *entry)
{
    return (char *) self + entry->offset;
}

//  Names

static const char *
s_skip (const char *text)
{
    return text + strspn (text, "-_.");
}

static int
s_lower (char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

//  What follows name in key, both read loosely; NULL when key does not start
//  with name
static const char *
s_rest (const char *key, const char *name)
{
    for (;;) {
        key = s_skip (key);
        name = s_skip (name);
        if (!*name)
            return key;
        if (s_lower (*key++) != s_lower (*name++))
            return NULL;
    }
}

static bool
s_same (const char *key, const char *name)
{
    const char *rest = s_rest (key, name);
    return rest && !*rest;
}

//  The entry key names, NULL when there is none. For a family of names rest is
//  the part behind the family's.
static const entry_t *
s_find (const char *key, const char **rest_p)
{
    for (const entry_t *entry = s_table; entry < s_table + ENTRIES; entry++) {
        const char *rest = s_rest (key, entry->info.name);
        bool family = entry->info.type == ZPEER_OPTION_ZONES;
        if (rest && !*rest == !family) {
            *rest_p = rest;
            return entry;
        }
    }
    return NULL;
}

static void
s_put (zpeer_buffer_t *out, const char *text)
{
    zpeer_buffer_slice (out, zpeer_slice_str (text));
}

//  Zones

static char *
s_copy (const char *text)
{
    return zpeer_option_copy (zpeer_slice_str (text));
}

static zpeer_zone_t *
s_find_zone (const zpeer_zones_t *zones, const char *name)
{
    for (size_t i = 0; i < zones->count; i++)
        if (s_same (name, zones->items[i].name))
            return &zones->items[i];
    return NULL;
}

static void
s_set_zone (zpeer_zones_t *zones, const char *name, zpeer_slice_t urls)
{
    zpeer_zone_t *zone = s_find_zone (zones, name);
    if (!zone) {
        size_t size = (zones->count + 1) * sizeof *zone;
        zones->items = (zpeer_zone_t *) realloc (zones->items, size);
        assert (zones->items);
        zone = &zones->items[zones->count++];
        *zone = (zpeer_zone_t){.name = s_copy (name)};
    }
    free (zone->urls);
    zone->urls = zpeer_option_copy (urls);
}

//  A name PEER_ZONE that no zone has yet
static void
s_name_zone (const zpeer_zones_t *zones, char name[NAME_MAX_BYTES])
{
    size_t number = 0;
    do
        snprintf (name, NAME_MAX_BYTES, PEER_ZONE "%zu", ++number);
    while (s_find_zone (zones, name));
}

static void
s_print_zones (zpeer_buffer_t *out, const char *family,
               const zpeer_zones_t *zones)
{
    for (size_t i = 0; i < zones->count; i++) {
        s_put (out, family);
        zpeer_buffer_lit (out, ".");
        s_put (out, zones->items[i].name);
        zpeer_buffer_lit (out, "=");
        zpeer_option_redact (zones->items[i].urls, out);
        zpeer_buffer_lit (out, "\n");
    }
}

static void
s_free_zones (zpeer_zones_t *zones)
{
    for (size_t i = 0; i < zones->count; i++) {
        free (zones->items[i].name);
        free (zones->items[i].urls);
    }
    free (zones->items);
}

//  Setting

//  Sets the entry's field; rest names the zone
static bool
s_set (zpeer_options_t *self, const entry_t *entry, const char *rest,
       zpeer_slice_t text)
{
    void *field = s_field (self, entry);
    if (entry->info.type != ZPEER_OPTION_ZONES)
        return zpeer_option_read (&entry->info, field, text);
    s_set_zone (field, rest, text);
    return true;
}

//  Says what would have been right. Only types that can be wrong come here, and
//  none of those holds a secret.
static int
s_range_error (zpeer_options_t *self, const zpeer_option_t *info,
               zpeer_slice_t text)
{
    char wanted[64] = "true or false";
    if (info->type != ZPEER_OPTION_FLAG)
        snprintf (wanted, sizeof wanted, "%s from %u to %u%s%s",
                  info->type == ZPEER_OPTION_NUMBER ? "a number"
                                                    : "HTTP statuses",
                  info->min, info->max, *info->unit ? " " : "", info->unit);
    int size =
        text.size < NAME_MAX_BYTES / 2 ? (int) text.size : NAME_MAX_BYTES / 2;
    snprintf (self->error, sizeof self->error, "%s: \"%.*s\" is not %s",
              info->name, size, text.data, wanted);
    return ZPEER_E_RANGE;
}

//  Whether a part of a list of URLs cannot begin one: a comma in a password has
//  cut it off
static bool
s_is_cut_off (zpeer_slice_t part)
{
    const char *at = (const char *) memchr (part.data, '@', part.size);
    return at && !memmem (part.data, (size_t) (at - part.data), "://", 3);
}

//  What is wrong with a list of URLs, as a sentence in why; NULL: nothing. Of a
//  password that is cut in two no half is shown.
static const char *
s_wrong_urls (zpeer_slice_t list, char why[ZPEER_URL_ERROR_MAX])
{
    zpeer_slice_t rest = list;
    zpeer_slice_t part;
    while (zpeer_option_part (&rest, &part))
        if (s_is_cut_off (part))
            return "a comma within a URL is written %2C";
    int rc = ZPEER_OK;
    while (rc == ZPEER_OK && zpeer_option_part (&list, &part)) {
        char *url = zpeer_option_copy (part);
        zpeer_url_t parsed;
        rc = zpeer_url_parse (&parsed, url, why);
        zpeer_url_free (&parsed);
        free (url);
    }
    return rc ? why : NULL;
}

//  Refuses a list with a URL that is none
static int
s_check_urls (zpeer_options_t *self, const entry_t *entry, const char *zone,
              zpeer_slice_t list)
{
    bool zones = entry->info.type == ZPEER_OPTION_ZONES;
    char why[ZPEER_URL_ERROR_MAX];
    if (!zones && entry->info.type != ZPEER_OPTION_URLS)
        return ZPEER_OK;
    const char *wrong = s_wrong_urls (list, why);
    if (!wrong)
        return ZPEER_OK;
    snprintf (self->error, sizeof self->error, "%s%s%.*s: %s", entry->info.name,
              zones ? "." : "", NAME_MAX_BYTES, zones ? s_skip (zone) : "",
              wrong);
    return ZPEER_E_RANGE;
}

static bool
s_set_ignored (zpeer_options_t *self, const char *key)
{
    for (size_t i = 0; i < IGNORED; i++)
        if (s_same (key, s_ignored[i])) {
            self->unused |= UINT64_C (1) << i;
            return true;
        }
    return false;
}

static char *
s_finish (zpeer_buffer_t *out)
{
    zpeer_buffer_add (out, "", 1);
    return zpeer_buffer_take (out);
}

//  Appends every URL of the list, with a comma before all but the first
static void
s_put_urls (zpeer_buffer_t *out, const char *urls)
{
    zpeer_slice_t rest = zpeer_slice_str (urls);
    zpeer_slice_t url;
    while (zpeer_option_part (&rest, &url)) {
        if (out->size)
            zpeer_buffer_lit (out, ",");
        zpeer_buffer_slice (out, url);
    }
}

//  Public

zpeer_options_t *
zpeer_options_new (void)
{
    zpeer_options_t *self = (zpeer_options_t *) calloc (1, sizeof *self);
    assert (self);
    for (const entry_t *entry = s_table; entry < s_table + ENTRIES; entry++) {
        if (entry->info.type == ZPEER_OPTION_ZONES)
            continue;
        bool ok =
            s_set (self, entry, NULL, zpeer_slice_str (entry->info.fallback));
        assert (ok);
    }
    return self;
}

void
zpeer_options_destroy (zpeer_options_t **self_p)
{
    zpeer_options_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (const entry_t *entry = s_table; entry < s_table + ENTRIES; entry++) {
        void *field = s_field (self, entry);
        if (entry->info.type == ZPEER_OPTION_ZONES)
            s_free_zones (field);
        else if (entry->info.type == ZPEER_OPTION_TEXT ||
                 entry->info.type == ZPEER_OPTION_URLS)
            free (*(char **) field);
    }
    zpeer_buffer_free (&self->strays);
    free (self);
}

zpeer_options_t *
zpeer_options_dup (const zpeer_options_t *self)
{
    zpeer_options_t *copy = zpeer_options_new ();
    for (const entry_t *entry = s_table; entry < s_table + ENTRIES; entry++) {
        zpeer_buffer_t text = {0};
        zpeer_option_write (&entry->info, s_field (self, entry), false, &text);
        zpeer_option_read (&entry->info, s_field (copy, entry),
                           (zpeer_slice_t){text.data, text.size});
        zpeer_buffer_free (&text);
    }
    for (size_t i = 0; i < self->service_url.count; i++)
        s_set_zone (&copy->service_url, self->service_url.items[i].name,
                    zpeer_slice_str (self->service_url.items[i].urls));
    copy->unused = self->unused;
    zpeer_buffer_add (&copy->strays, self->strays.data, self->strays.size);
    return copy;
}

int
zpeer_options_set (zpeer_options_t *self, const char *key, const char *value)
{
    const char *rest;
    const entry_t *entry = s_find (key, &rest);
    if (!entry) {
        if (s_set_ignored (self, key))
            return ZPEER_OK;
        snprintf (self->error, sizeof self->error, "no such option: \"%.*s\"",
                  NAME_MAX_BYTES, key);
        return ZPEER_E_UNKNOWN;
    }
    zpeer_slice_t text = zpeer_option_trim (zpeer_slice_str (value));
    if (s_check_urls (self, entry, rest, text))
        return ZPEER_E_RANGE;
    if (!s_set (self, entry, rest, text))
        return s_range_error (self, &entry->info, text);
    return ZPEER_OK;
}

int
zpeer_options_add_peer (zpeer_options_t *self, const char *url)
{
    zpeer_url_t parsed;
    if (zpeer_url_parse (&parsed, url, self->error))
        return ZPEER_E_INVALID;
    zpeer_url_free (&parsed);

    //  A comma is part of this one, and in a zone would end it
    zpeer_buffer_t text = {0};
    for (; *url; url++)
        if (*url == ',')
            zpeer_buffer_lit (&text, "%2C");
        else
            zpeer_buffer_add (&text, url, 1);
    char name[NAME_MAX_BYTES];
    s_name_zone (&self->service_url, name);
    s_set_zone (&self->service_url, name,
                zpeer_option_trim ((zpeer_slice_t){text.data, text.size}));
    zpeer_buffer_free (&text);
    return ZPEER_OK;
}

//  Whether the names of options can start like this: most of an environment is
//  about something else
static bool
s_is_ours (const char *name)
{
    return s_rest (name, "eureka.") || s_rest (name, "apiml.") ||
           s_rest (name, "zpeer.");
}

//  A variable that names no option: if it looks like one of ours, somebody may
//  wonder why it changes nothing
static void
s_note_stray (zpeer_options_t *self, const char *name)
{
    if (!strncmp (name, "ZPEER_", 6) && strncmp (name, "ZPEER_TEST_", 11) != 0)
        zpeer_buffer_add (&self->strays, name, strlen (name) + 1);
}

int
zpeer_options_env (zpeer_options_t *self, const char *const *env)
{
    if (!env)
        env = (const char *const *) environ;
    for (; env && *env; env++) {
        const char *value = strchr (*env, '=');
        size_t size = value ? (size_t) (value - *env) : NAME_MAX_BYTES;
        if (size >= NAME_MAX_BYTES || !value[1] || !s_is_ours (*env))
            continue;
        char name[NAME_MAX_BYTES];
        memcpy (name, *env, size);
        name[size] = 0;
        int rc = zpeer_options_set (self, name, value + 1);
        if (rc == ZPEER_E_RANGE)
            return rc;
        if (rc == ZPEER_E_UNKNOWN)
            s_note_stray (self, name);
    }
    //  A name that is no option was no error
    *self->error = 0;
    return ZPEER_OK;
}

const char *
zpeer_options_error (const zpeer_options_t *self)
{
    return self->error;
}

char *
zpeer_options_get (const zpeer_options_t *self, const char *key)
{
    const char *rest;
    const entry_t *entry = s_find (key, &rest);
    if (!entry)
        return NULL;
    if (entry->info.type == ZPEER_OPTION_ZONES) {
        const zpeer_zone_t *zone = s_find_zone (s_field (self, entry), rest);
        return zone ? s_copy (zone->urls) : NULL;
    }
    zpeer_buffer_t out = {0};
    zpeer_option_write (&entry->info, s_field (self, entry), false, &out);
    return s_finish (&out);
}

char *
zpeer_options_peers (const zpeer_options_t *self)
{
    zpeer_buffer_t out = {0};
    for (size_t i = 0; i < self->service_url.count; i++)
        s_put_urls (&out, self->service_url.items[i].urls);
    s_put_urls (&out, self->all_peers_urls);
    return s_finish (&out);
}

char *
zpeer_options_print (const zpeer_options_t *self)
{
    zpeer_buffer_t out = {0};
    for (const entry_t *entry = s_table; entry < s_table + ENTRIES; entry++) {
        if (entry->info.type == ZPEER_OPTION_ZONES) {
            s_print_zones (&out, entry->info.name, s_field (self, entry));
            continue;
        }
        s_put (&out, entry->info.name);
        zpeer_buffer_lit (&out, "=");
        zpeer_option_write (&entry->info, s_field (self, entry), true, &out);
        zpeer_buffer_lit (&out, "\n");
    }
    return s_finish (&out);
}

const char *
zpeer_options_unused (const zpeer_options_t *self, size_t index)
{
    for (size_t i = 0; i < IGNORED; i++)
        if (self->unused >> i & 1 && !index--)
            return s_ignored[i];
    for (size_t at = 0; at < self->strays.size;
         at += strlen (self->strays.data + at) + 1)
        if (!index--)
            return self->strays.data + at;
    return NULL;
}

const zpeer_option_t *
zpeer_options_info (size_t index)
{
    return index < ENTRIES ? &s_table[index].info : NULL;
}

const char *
zpeer_options_ignored (size_t index)
{
    return index < IGNORED ? s_ignored[index] : NULL;
}

bool
zpeer_options_congestion (const zpeer_options_t *self, unsigned status)
{
    const zpeer_statuses_t *statuses = &self->congestion_statuses;
    for (uint32_t i = 0; i < statuses->count; i++)
        if (statuses->codes[i] == status)
            return true;
    return false;
}
