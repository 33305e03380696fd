#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "script.h"
#include "banned.h"

typedef enum {
    S_TEXT,
    S_NUMBER,
    S_DELAY,  //  A number, or "held"
    S_FLAG,
    S_ANSWER,
    S_APPLY
} s_kind_t;

typedef struct {
    const char *name;
    s_kind_t kind;
    size_t at;
} s_member_t;

#define RULE(name, kind)                                                       \
    {                                                                          \
#        name, kind, offsetof(speer_rule_t, name)                              \
    }
#define ITEM(name, kind)                                                       \
    {                                                                          \
#        name, kind, offsetof(speer_item_rule_t, name)                         \
    }

static const s_member_t s_rule_members[] = {
    RULE (method, S_TEXT),       RULE (path, S_TEXT),
    RULE (skip, S_NUMBER),       RULE (count, S_NUMBER),
    RULE (delay_ms, S_DELAY),    RULE (item_ms, S_NUMBER),
    RULE (apply, S_APPLY),       RULE (late_ms, S_DELAY),
    RULE (answer, S_ANSWER),     RULE (status, S_NUMBER),
    RULE (headers, S_TEXT),      RULE (body, S_TEXT),
    RULE (body_bytes, S_NUMBER), RULE (gzip, S_FLAG),
    RULE (chunked, S_FLAG),      RULE (close, S_FLAG),
    RULE (drip_ms, S_NUMBER),    {NULL, S_TEXT, 0},
};

static const s_member_t s_item_members[] = {
    ITEM (action, S_TEXT),   ITEM (app, S_TEXT),    ITEM (id, S_TEXT),
    ITEM (nth, S_NUMBER),    ITEM (skip, S_NUMBER), ITEM (count, S_NUMBER),
    ITEM (status, S_NUMBER), ITEM (apply, S_FLAG),  ITEM (entity, S_TEXT),
    ITEM (whole, S_FLAG),    {NULL, S_TEXT, 0},
};

#define X(name, label, meaning) label,
static const char *const s_answers[] = {SPEER_ANSWERS (X) NULL};
static const char *const s_applies[] = {SPEER_APPLIES (X) NULL};
static const char *const s_modes[] = {SPEER_MODES (X) NULL};
#undef X
#define X(name, label, value, meaning) label,
static const char *const s_settings[] = {SPEER_SETTINGS (X) NULL};
#undef X

static char *
s_wrong (const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start (args, format);
    int rc = vasprintf (&text, format, args);
    va_end (args);
    assert (rc >= 0);
    return text;
}

//  The position of a name in a list that ends with NULL, -1 if it is not there
static int
s_find (const char *const *names, const char *name)
{
    for (int i = 0; name && names[i]; i++)
        if (!strcmp (names[i], name))
            return i;
    return -1;
}

speer_setting_t
speer_setting_parse (const char *name)
{
    int setting = s_find (s_settings, name);
    return setting < 0 ? SPEER_SETTINGS_MAX : (speer_setting_t) setting;
}

//  Stores a value at to; false if it is not of that kind
static bool
s_store (s_kind_t kind, json_t *value, void *to)
{
    const char *text = json_string_value (value);
    int found;
    switch (kind) {
    case S_TEXT: *(const char **) to = text; return text != NULL;
    case S_DELAY:
        if (text && !strcmp (text, "held")) {
            *(int *) to = SPEER_HELD;
            return true;
        }
        //  A number otherwise
        //  fallthrough
    case S_NUMBER:
        *(int *) to = (int) json_integer_value (value);
        return json_is_integer (value) && *(int *) to >= 0;
    case S_FLAG:
        *(bool *) to = json_is_true (value);
        return json_is_boolean (value);
    case S_ANSWER:
        found = s_find (s_answers, text);
        *(speer_answer_t *) to = (speer_answer_t) found;
        return found >= 0;
    case S_APPLY:
        found = s_find (s_applies, text);
        *(speer_apply_t *) to = (speer_apply_t) found;
        return found >= 0;
    }
    return false;
}

//  Fills the struct a table describes
static char *
s_read (json_t *json, const s_member_t *members, void *to)
{
    const char *name;
    json_t *value;
    if (!json_is_object (json))
        return s_wrong ("a rule is no object");
    json_object_foreach (json, name, value)
    {
        const s_member_t *member = members;
        while (member->name && strcmp (member->name, name) != 0)
            member++;
        if (!member->name)
            return s_wrong ("%s is no member of a rule", name);
        if (!s_store (member->kind, value, (char *) to + member->at))
            return s_wrong ("%s has a value it cannot have", name);
    }
    return NULL;
}

char *
speer_rule_parse (json_t *json, speer_rule_t *rule)
{
    *rule = (speer_rule_t){0};
    return s_read (json, s_rule_members, rule);
}

//  ---- What a document may hold

typedef char *(s_run_fn) (speer_t *peer, json_t *value);

static char *
s_run_reset (speer_t *peer, json_t *value)
{
    if (json_is_true (value))
        speer_reset (peer);
    return NULL;
}

static char *
s_run_clear (speer_t *peer, json_t *value)
{
    if (json_is_true (value))
        speer_clear (peer);
    return NULL;
}

static char *
s_run_settings (speer_t *peer, json_t *value)
{
    const char *name;
    json_t *member;
    json_object_foreach (value, name, member)
    {
        speer_setting_t setting = speer_setting_parse (name);
        if (setting == SPEER_SETTINGS_MAX)
            return s_wrong ("%s is no setting", name);
        if (!json_is_integer (member) && !json_is_boolean (member))
            return s_wrong ("%s is no number", name);
        speer_set (peer, setting,
                   json_is_true (member) ? 1 : json_integer_value (member));
    }
    return NULL;
}

static char *
s_run_advance (speer_t *peer, json_t *value)
{
    speer_advance (peer, json_integer_value (value));
    return json_is_integer (value) ? NULL : s_wrong ("advance is no number");
}

static char *
s_run_mode (speer_t *peer, json_t *value)
{
    int mode = s_find (s_modes, json_string_value (value));
    if (mode < 0)
        return s_wrong ("there is no such mode");
    return speer_mode (peer, (speer_mode_t) mode)
               ? NULL
               : s_wrong ("the port has been taken");
}

static char *
s_run_rules (speer_t *peer, json_t *value)
{
    size_t i;
    json_t *member;
    json_array_foreach (value, i, member)
    {
        speer_rule_t rule;
        char *wrong = speer_rule_parse (member, &rule);
        if (wrong)
            return wrong;
        speer_rule (peer, &rule);
    }
    return json_is_array (value) ? NULL : s_wrong ("rules is no array");
}

static char *
s_run_items (speer_t *peer, json_t *value)
{
    size_t i;
    json_t *member;
    json_array_foreach (value, i, member)
    {
        speer_item_rule_t rule = {0};
        char *wrong = s_read (member, s_item_members, &rule);
        if (wrong)
            return wrong;
        speer_item_rule (peer, &rule);
    }
    return json_is_array (value) ? NULL : s_wrong ("items is no array");
}

static char *
s_run_apply (speer_t *peer, json_t *value)
{
    char *body = json_dumps (value, JSON_COMPACT);
    int status = body ? speer_apply (peer, body) : 400;
    free (body);
    return status == 200 ? NULL : s_wrong ("apply: answered %d", status);
}

static char *
s_run_release (speer_t *peer, json_t *value)
{
    if (json_is_true (value))
        speer_release (peer);
    return NULL;
}

//  In the order they are done
static const struct {
    const char *name;
    s_run_fn *run;
} s_steps[] = {
    {"reset", s_run_reset},       {"clear", s_run_clear},
    {"settings", s_run_settings}, {"advance", s_run_advance},
    {"mode", s_run_mode},         {"rules", s_run_rules},
    {"items", s_run_items},       {"apply", s_run_apply},
    {"release", s_run_release},
};

#define STEPS (sizeof s_steps / sizeof *s_steps)

//  The first member of a document that means nothing; NULL: none
static const char *
s_unknown (json_t *root)
{
    const char *name;
    json_t *value;
    json_object_foreach (root, name, value)
    {
        size_t step = 0;
        while (step < STEPS && strcmp (s_steps[step].name, name) != 0)
            step++;
        if (step == STEPS)
            return name;
    }
    return NULL;
}

char *
speer_script_run (speer_t *peer, const char *json, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb (json, size, 0, &error);
    const char *unknown = s_unknown (root);
    char *wrong = NULL;
    if (!root)
        wrong = s_wrong ("line %d: %s", error.line, error.text);
    else if (!json_is_object (root))
        wrong = s_wrong ("the script is no object");
    else if (unknown)
        wrong = s_wrong ("%s is no member of a script", unknown);
    for (size_t i = 0; i < STEPS && !wrong; i++) {
        json_t *value = json_object_get (root, s_steps[i].name);
        if (value)
            wrong = s_steps[i].run (peer, value);
    }
    json_decref (root);
    return wrong;
}

char *
speer_script (speer_t *self, const char *json)
{
    return speer_script_run (self, json, strlen (json));
}
