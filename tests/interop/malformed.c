#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <msgpack.h>
#include "malformed.h"
#include "banned.h"

#define CENTER                                                                 \
    "{\"@class\":\"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo\","  \
    "\"name\":\"MyOwn\"}"
#define USUAL                                                                  \
    "\"instanceId\":\"%i\",\"hostName\":\"h\",\"app\":\"%a\","                 \
    "\"ipAddr\":\"192.0.2.1\",\"dataCenterInfo\":%c,"                          \
    "\"lastDirtyTimestamp\":\"1000\","

//  A key this long is the longest that peers read
#define KEY_BYTES 50000
#define DIGITS    1200

#define ID_MAX 64

//  ---- Texts

//  The byte that ~xx stands for, -1: it is no such thing
static int
s_byte (const char *text)
{
    char digits[3] = "";
    char *end = NULL;
    if (text[0] != '~' || !text[1] || !text[2])
        return -1;
    memcpy (digits, text + 1, 2);
    long byte = strtol (digits, &end, 16);
    return *end ? -1 : (int) byte;
}

//  Replaces each ~xx in place. Returns the size.
static size_t
s_decode (char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        int byte = s_byte (from);
        if (byte < 0)
            *to++ = *from;
        else {
            *to++ = (char) byte;
            from += 2;
        }
    }
    *to = 0;
    return (size_t) (to - text);
}

static void
s_repeat (FILE *out, char byte, unsigned count)
{
    while (count--)
        fputc (byte, out);
}

//  Writes a text of the table with what stands behind each % in it
static void
s_expand (FILE *out, const char *text, const char *app, const char *id)
{
    for (; *text; text++) {
        if (*text != '%') {
            fputc (*text, out);
            continue;
        }
        switch (*++text) {
        case 'a': fputs (app, out); break;
        case 'i': fputs (id, out); break;
        case 'c': fputs (CENTER, out); break;
        case 'd': s_repeat (out, '1', DIGITS); break;
        case 'k': fputc ('k', out); /* fall through */
        case 'l': s_repeat (out, 'k', KEY_BYTES); break;
        default: cr_assert_fail ("%%%c", *text);
        }
    }
}

//  The three texts one after the other, expanded; the caller's to free
static char *
s_text (const char *before, const char *text, const char *after,
        const char *app, const char *id)
{
    char *whole = NULL;
    size_t size = 0;
    FILE *out = open_memstream (&whole, &size);
    assert (out);
    s_expand (out, before, app, id);
    s_expand (out, text, app, id);
    s_expand (out, after, app, id);
    fclose (out);
    return whole;
}

char *
malformed_expand (const char *text, const char *app, const char *id)
{
    return s_text ("", text, "", app, id);
}

//  ---- The table

static json_t *
s_json (const char *text)
{
    json_error_t error;
    json_t *json = json_loads (text, 0, &error);
    cr_assert (json, "%s: %s", error.text, text);
    return json;
}

static void
s_set_item (malformed_t *self, char *text)
{
    self->item = text;
    self->item_size = s_decode (text);
}

//  A Register of this InstanceInfo, which is taken, as item and as event
static void
s_set_info (malformed_t *self, const char *app, char *info)
{
    char *item = NULL;
    self->info = info;
    cr_assert (asprintf (&item,
                         "{\"appName\":\"%s\",\"id\":\"%s\",\"action\":"
                         "\"Register\",\"instanceInfo\":%s}",
                         app, self->id, info) > 0);
    s_set_item (self, item);
    self->event = json_pack ("{s:s,s:s,s:s,s:o}", "action", "Register", "app",
                             app, "id", self->id, "info", s_json (info));
}

static void
s_set_both (malformed_t *self, const char *text)
{
    for (size_t i = 0; i < MALFORMED_KINDS; i++)
        self->does[i] = strdup (text);
}

//  One line: a word and what stands behind it
static void
s_line (malformed_t *self, const char *word, const char *rest, const char *app)
{
    char *text = malformed_expand (rest, app, self->id);
    if (!strcmp (word, "info"))
        s_set_info (self, app, s_text ("{" USUAL, rest, "}", app, self->id));
    else if (!strcmp (word, "bare"))
        s_set_info (self, app, s_text ("{", rest, "}", app, self->id));
    else if (!strcmp (word, "item"))
        s_set_item (self, strdup (text));
    else if (!strcmp (word, "event"))
        self->event = s_json (text);
    else if (!strcmp (word, "says"))
        self->says = strdup (text);
    else if (!strcmp (word, "does"))
        s_set_both (self, text);
    else if (!strcmp (word, "spring"))
        self->does[MALFORMED_SPRING] = strdup (text);
    else if (!strcmp (word, "netflix"))
        self->does[MALFORMED_NETFLIX] = strdup (text);
    else
        cr_assert_fail ("%s", word);
    free (text);
}

//  One more class
static malformed_t *
s_add (malformed_t **table, size_t *count, const char *name, const char *app)
{
    size_t size = (*count + 1) * sizeof **table;
    *table = (malformed_t *) realloc (*table, size);
    assert (*table);
    malformed_t *self = &(*table)[(*count)++];
    *self = (malformed_t){.name = strdup (name)};
    cr_assert (asprintf (&self->id, "%s:bad-%zu", app, *count) > 0);
    return self;
}

malformed_t *
malformed_load (const char *app, size_t *count)
{
    FILE *file = fopen (MALFORMED, "r");
    cr_assert (file, "%s", MALFORMED);
    malformed_t *table = NULL;
    malformed_t *self = NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    *count = 0;
    while ((size = getline (&line, &capacity, file)) > 0) {
        line[size - 1] = 0;
        char *rest = line + strcspn (line, " ");
        if (!*line || *line == '#')
            continue;
        *rest++ = 0;
        if (*line == '=')
            self = s_add (&table, count, rest, app);
        else if (self)
            s_line (self, line, rest, app);
    }
    free (line);
    fclose (file);
    return table;
}

void
malformed_free (malformed_t **self_p, size_t count)
{
    malformed_t *table = *self_p;
    *self_p = NULL;
    for (size_t i = 0; table && i < count; i++) {
        free (table[i].name);
        free (table[i].id);
        free (table[i].item);
        free (table[i].info);
        free (table[i].says);
        json_decref (table[i].event);
        for (size_t k = 0; k < MALFORMED_KINDS; k++)
            free (table[i].does[k]);
    }
    free (table);
}

//  ---- Events as msgpack

static int
s_write (void *arg, const char *data, size_t size)
{
    zpeer_buffer_add ((zpeer_buffer_t *) arg, data, size);
    return 0;
}

//  What a string stands for that begins with "~:"
static void
s_pack_value (msgpack_packer *packer, const char *name)
{
    if (!strcmp (name, "nan"))
        msgpack_pack_double (packer, NAN);
    else if (!strcmp (name, "inf"))
        msgpack_pack_double (packer, INFINITY);
    else if (!strcmp (name, "uint"))
        msgpack_pack_uint64 (packer, (uint64_t) INT64_MAX + 1);
    else if (!strcmp (name, "bin")) {
        msgpack_pack_bin (packer, 1);
        msgpack_pack_bin_body (packer, "x", 1);
    }
    else if (!strcmp (name, "ext")) {
        msgpack_pack_ext (packer, 1, 1);
        msgpack_pack_ext_body (packer, "x", 1);
    }
    else
        cr_assert_fail ("~:%s", name);
}

static void
s_pack_text (msgpack_packer *packer, const char *text)
{
    char *bytes = strdup (text);
    size_t size = s_decode (bytes);
    msgpack_pack_str (packer, size);
    msgpack_pack_str_body (packer, bytes, size);
    free (bytes);
}

static void
s_pack_scalar (msgpack_packer *packer, const json_t *json)
{
    const char *text = json_string_value (json);
    if (json_is_integer (json))
        msgpack_pack_int64 (packer, json_integer_value (json));
    else if (json_is_real (json))
        msgpack_pack_double (packer, json_real_value (json));
    else if (json_is_true (json))
        msgpack_pack_true (packer);
    else if (json_is_false (json))
        msgpack_pack_false (packer);
    else if (!text)
        msgpack_pack_nil (packer);
    else if (!strncmp (text, "~:", 2))
        s_pack_value (packer, text + 2);
    else
        s_pack_text (packer, text);
}

static void
s_pack (msgpack_packer *packer, const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object (json)) {
        msgpack_pack_map (packer, json_object_size (json));
        json_object_foreach ((json_t *) json, key, value)
        {
            s_pack_text (packer, key);
            s_pack (packer, value);
        }
    }
    else if (json_is_array (json)) {
        msgpack_pack_array (packer, json_array_size (json));
        json_array_foreach (json, i, value) s_pack (packer, value);
    }
    else
        s_pack_scalar (packer, json);
}

void
malformed_pack (const json_t *event, zpeer_buffer_t *frame)
{
    msgpack_packer packer;
    msgpack_packer_init (&packer, frame, s_write);
    s_pack (&packer, event);
}
