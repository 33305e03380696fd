#include <assert.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "answer.h"
#include "banned.h"

//  Longest value that is loaded as a tree: a tree takes some twenty times the
//  text's size. No InstanceInfo comes near.
#define VALUE_MAX 1048576

//  How much of a reply that makes no sense is shown
#define SHOWN_MAX 40

#define CODE_OK 200

//  A reply while it is read
typedef struct {
    const char *data;  //  Borrowed
    size_t size;
    size_t at;
    char *error;  //  Borrowed
    size_t error_size;
} s_reader_t;

static int s_fail (s_reader_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static int
s_fail (s_reader_t *self, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    vsnprintf (self->error, self->error_size, format, args);
    va_end (args);
    return ZPEER_E_PARSE;
}

static void
s_skip_blanks (s_reader_t *self)
{
    while (self->at < self->size) {
        char byte = self->data[self->at];
        if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')
            break;
        self->at++;
    }
}

//  Takes the text if it comes next, after blanks
static bool
s_take (s_reader_t *self, zpeer_slice_t text)
{
    s_skip_blanks (self);
    if (self->size - self->at < text.size ||
        memcmp (self->data + self->at, text.data, text.size) != 0)
        return false;
    self->at += text.size;
    return true;
}

static int
s_fail_expected (s_reader_t *self, const char *what)
{
    s_skip_blanks (self);
    if (self->at == self->size)
        return s_fail (self, "cut off after %zu bytes, %s expected", self->size,
                       what);
    char shown[SHOWN_MAX + 1];
    size_t length = self->size - self->at;
    if (length > SHOWN_MAX)
        length = SHOWN_MAX;
    for (size_t i = 0; i < length; i++) {
        char byte = self->data[self->at + i];
        if (byte < 0x20 || byte >= 0x7f)
            byte = '?';
        shown[i] = byte;
    }
    shown[length] = 0;
    return s_fail (self, "%s expected at byte %zu, found: %s", what, self->at,
                   shown);
}

//  Loads the value that comes next; NULL, and the error is told, if it is none
static json_t *
s_load (s_reader_t *self)
{
    json_error_t error;
    size_t limit = self->size - self->at;
    if (limit > VALUE_MAX)
        limit = VALUE_MAX;
    json_t *value = json_loadb (
        self->data + self->at, limit,
        JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &error);
    if (value)
        self->at += (size_t) error.position;
    else
        s_fail (self, "bad JSON near byte %zu: %s",
                self->at + (size_t) error.position, error.text);
    return value;
}

//  A number, or a string of digits as Java's readers take it; -1: neither
static json_int_t
s_number (const json_t *value)
{
    if (json_is_integer (value))
        return json_integer_value (value);
    const char *digits = json_string_value (value);
    if (!digits || !*digits || strspn (digits, "0123456789") != strlen (digits))
        return -1;
    return strlen (digits) > 18 ? -1 : (json_int_t) strtoll (digits, NULL, 10);
}

static int
s_append (const char *data, size_t size, void *arg)
{
    zpeer_buffer_add ((zpeer_buffer_t *) arg, data, size);
    return 0;
}

//  Keeps a copy of the InstanceInfo of the next entry. Its slice begins at an
//  offset until s_place_copies: the text moves while it grows.
static void
s_add_copy (zpeer_answer_t *self, size_t expected, const json_t *entity)
{
    if (!self->copies) {
        self->copies =
            (zpeer_copy_t *) malloc (expected * sizeof *self->copies);
        assert (self->copies);
    }
    json_int_t stamp =
        s_number (json_object_get (entity, "lastDirtyTimestamp"));
    size_t start = self->text.size;
    json_dump_callback (entity, s_append, &self->text, JSON_COMPACT);
    self->copies[self->copy_count++] = (zpeer_copy_t){
        .index = (uint32_t) self->count,
        .timestamp = stamp > 0 ? (uint64_t) stamp : 0,
        .json = {NULL, self->text.size - start},
    };
}

static void
s_place_copies (zpeer_answer_t *self)
{
    const char *at = self->text.data;
    for (size_t i = 0; i < self->copy_count; i++) {
        self->copies[i].json.data = at;
        at += self->copies[i].json.size;
    }
}

//  Notes the code of the next entry. Codes are kept from the first that is not
//  200 on.
static void
s_add_code (zpeer_answer_t *self, size_t expected, uint16_t code)
{
    if (code != CODE_OK && !self->codes) {
        self->codes = (uint16_t *) malloc (expected * sizeof *self->codes);
        assert (self->codes);
        for (size_t i = 0; i < self->count; i++)
            self->codes[i] = CODE_OK;
    }
    if (self->codes)
        self->codes[self->count] = code;
    self->count++;
}

//  The entry nearly all answers are made of, {"statusCode":200} with any three
//  digits, without a tree. Returns the code, or 0 and has not moved.
static uint16_t
s_plain_entry (s_reader_t *self)
{
    size_t start = self->at;
    if (s_take (self, ZPEER_SLICE ("{\"statusCode\":")) ||
        (s_take (self, ZPEER_SLICE ("{")) &&
         s_take (self, ZPEER_SLICE ("\"statusCode\"")) &&
         s_take (self, ZPEER_SLICE (":")))) {
        s_skip_blanks (self);
        unsigned code = 0;
        size_t digits = self->at;
        while (self->at < self->size && self->at - digits < 4 &&
               (unsigned char) (self->data[self->at] - '0') < 10)
            code = code * 10 + (unsigned) (self->data[self->at++] - '0');
        if (self->at - digits == 3 && code >= 100 &&
            s_take (self, ZPEER_SLICE ("}")))
            return (uint16_t) code;
    }
    self->at = start;
    return 0;
}

static int
s_full_entry (zpeer_answer_t *self, s_reader_t *reader, size_t expected)
{
    json_t *entry = s_load (reader);
    if (!entry)
        return ZPEER_E_PARSE;
    int rc = ZPEER_OK;
    const json_t *status = json_object_get (entry, "statusCode");
    json_int_t code = json_is_null (status) || !status ? 0 : s_number (status);
    if (!json_is_object (entry))
        rc = s_fail (reader, "entry %zu is not an object", self->count);
    else if (code < 0 || code > UINT16_MAX)
        rc = s_fail (reader, "statusCode of entry %zu is no code", self->count);
    else {
        const json_t *entity = json_object_get (entry, "responseEntity");
        //  What comes with a success means nothing (EUREKA.md 3.2)
        if (json_is_object (entity) && code / 100 != 2)
            s_add_copy (self, expected, entity);
        s_add_code (self, expected, (uint16_t) code);
    }
    json_decref (entry);
    return rc;
}

//  The array of entries. As many as there are items, and never more are kept.
static int
s_entries (zpeer_answer_t *self, s_reader_t *reader, size_t expected)
{
    if (!s_take (reader, ZPEER_SLICE ("[")))
        return s_fail_expected (reader, "the array responseList");
    bool more = !s_take (reader, ZPEER_SLICE ("]"));
    while (more) {
        if (self->count == expected)
            return s_fail (reader, "more than %zu entries for %zu items",
                           expected, expected);
        uint16_t code = s_plain_entry (reader);
        if (code)
            s_add_code (self, expected, code);
        else if (s_full_entry (self, reader, expected) != ZPEER_OK)
            return ZPEER_E_PARSE;
        more = s_take (reader, ZPEER_SLICE (","));
        if (!more && !s_take (reader, ZPEER_SLICE ("]")))
            return s_fail_expected (reader, "\",\" or \"]\"");
    }
    if (self->count != expected)
        return s_fail (reader, "%zu entries for %zu items", self->count,
                       expected);
    return ZPEER_OK;
}

//  Reads past a member that is not ours: name, colon and value
static int
s_other_member (s_reader_t *self)
{
    json_t *name = s_load (self);
    bool is_name = json_is_string (name);
    json_decref (name);
    if (!is_name || !s_take (self, ZPEER_SLICE (":")))
        return s_fail_expected (self, "a member");
    json_t *value = s_load (self);
    json_decref (value);
    return value ? ZPEER_OK : ZPEER_E_PARSE;
}

static int
s_read (zpeer_answer_t *self, s_reader_t *reader, size_t expected)
{
    bool found = false;
    if (!s_take (reader, ZPEER_SLICE ("{")))
        return s_fail_expected (reader, "a JSON object");
    bool more = !s_take (reader, ZPEER_SLICE ("}"));
    while (more) {
        int rc;
        if (s_take (reader, ZPEER_SLICE ("\"responseList\""))) {
            if (found || !s_take (reader, ZPEER_SLICE (":")))
                return s_fail_expected (reader, "one responseList");
            found = true;
            rc = s_entries (self, reader, expected);
        }
        else
            rc = s_other_member (reader);
        if (rc != ZPEER_OK)
            return rc;
        more = s_take (reader, ZPEER_SLICE (","));
        if (!more && !s_take (reader, ZPEER_SLICE ("}")))
            return s_fail_expected (reader, "\",\" or \"}\"");
    }
    s_skip_blanks (reader);
    if (reader->at != reader->size)
        return s_fail_expected (reader, "the end");
    return found ? ZPEER_OK : s_fail (reader, "there is no responseList");
}

int
zpeer_answer_parse (zpeer_answer_t *self, const char *data, size_t size,
                    size_t expected, char *error, size_t error_size)
{
    *self = (zpeer_answer_t){0};
    s_reader_t reader = {data, size, 0, error, error_size};
    int rc = s_read (self, &reader, expected);
    if (rc != ZPEER_OK) {
        zpeer_answer_free (self);
        return rc;
    }
    self->all_ok = !self->codes;
    s_place_copies (self);
    return ZPEER_OK;
}

int
zpeer_answer_entity (zpeer_answer_t *self, const char *data, size_t size)
{
    *self = (zpeer_answer_t){0};
    if (!size)
        return ZPEER_E_PARSE;
    char error[JSON_ERROR_TEXT_LENGTH];
    s_reader_t reader = {data, size, 0, error, sizeof error};
    json_t *root = s_load (&reader);
    const json_t *entity = json_object_get (root, "instance");
    bool found = json_is_object (entity);
    if (found) {
        s_add_copy (self, 1, entity);
        s_place_copies (self);
    }
    json_decref (root);
    return found ? ZPEER_OK : ZPEER_E_PARSE;
}

void
zpeer_answer_free (zpeer_answer_t *self)
{
    free (self->codes);
    free (self->copies);
    zpeer_buffer_free (&self->text);
    *self = (zpeer_answer_t){0};
}

int64_t
zpeer_copy_age_ms (const zpeer_copy_t *copy)
{
    json_t *instance =
        json_loadb (copy->json.data, copy->json.size, JSON_ALLOW_NUL, NULL);
    const json_t *lease = json_object_get (instance, "leaseInfo");
    json_int_t begun =
        s_number (json_object_get (lease, "registrationTimestamp"));
    json_int_t renewed =
        s_number (json_object_get (lease, "lastRenewalTimestamp"));
    json_int_t lasts = s_number (json_object_get (lease, "durationInSecs"));
    json_decref (instance);
    if (begun <= 0 || renewed <= 0 || lasts < 0 || lasts > INT32_MAX)
        return -1;
    json_int_t age = renewed - lasts * 1000 - begun;
    return age > 0 ? age : 0;
}
