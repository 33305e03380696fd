#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps.h"
#include "batch.h"
#include "banned.h"

//  One item as read; zeroed is empty
typedef struct {
    bool null;   //  null in place of an object
    int action;  //  SPEER_ACTIONS: missing
    char *app;   //  Owned, as the texts below; NULL: missing
    char *id;
    char *status;
    char *overridden;
    int64_t dirty;
    speer_info_t *info;  //  Owned
    int answer;          //  Its statusCode
    json_t *entity;      //  Owned; NULL: none
    speer_info_t *copy;  //  Held; what the entity shows, if it is of a lease
} s_item_t;

//  All of them, and whether the codec got through
typedef struct {
    s_item_t *items;  //  Owned
    size_t count;
    bool fits;
    int64_t now;
} s_list_t;

static const char *const s_actions[SPEER_ACTIONS] = {
    "Heartbeat", "Register", "Cancel", "StatusUpdate", "DeleteStatusOverride"};

static const struct {
    const char *name;
    size_t at;
} s_texts[] = {
    {"appName", offsetof (s_item_t, app)},
    {"id", offsetof (s_item_t, id)},
    {"status", offsetof (s_item_t, status)},
    {"overriddenStatus", offsetof (s_item_t, overridden)},
};

//  ---- Reading

static s_item_t *
s_list_add (s_list_t *self)
{
    self->items = (s_item_t *) realloc (self->items, (self->count + 1) *
                                                         sizeof *self->items);
    assert (self->items);
    s_item_t *item = &self->items[self->count++];
    *item = (s_item_t){.action = SPEER_ACTIONS, .dirty = SPEER_NONE};
    return item;
}

static void
s_list_free (s_list_t *self)
{
    for (size_t i = 0; i < self->count; i++) {
        s_item_t *item = &self->items[i];
        free (item->app);
        free (item->id);
        free (item->status);
        free (item->overridden);
        speer_info_destroy (&item->info);
        speer_info_destroy (&item->copy);
        json_decref (item->entity);
    }
    free (self->items);
}

//  An exact name, or the ordinal as number or text
static int
s_read_action (const json_t *value, bool *fits)
{
    int action = 0;
    if (json_is_null (value))
        return SPEER_ACTIONS;
    char *text = speer_trim (speer_scalar_text (value, fits));
    if (text && isdigit ((unsigned char) text[0]) && !text[1])
        action = text[0] - '0';
    else
        while (action < SPEER_ACTIONS && text &&
               strcmp (s_actions[action], text) != 0)
            action++;
    if (action >= SPEER_ACTIONS)
        *fits = false;
    free (text);
    return action;
}

static bool
s_read_text (s_item_t *item, const char *name, const json_t *value, bool *fits)
{
    for (size_t i = 0; i < sizeof s_texts / sizeof *s_texts; i++)
        if (!strcmp (s_texts[i].name, name)) {
            char **text = (char **) ((char *) item + s_texts[i].at);
            free (*text);
            *text = speer_scalar_text (value, fits);
            return true;
        }
    return false;
}

//  Reads instanceInfo. One that is wrapped in "instance" parses, but its brace
//  too many ends the item: returns true, and what follows is another item.
static bool
s_read_info (s_list_t *self, s_item_t *item, json_t *value)
{
    json_t *inner = json_object_get (value, "instance");
    bool wrapped = json_is_object (inner);
    speer_info_destroy (&item->info);
    if (!json_is_null (value)) {
        item->info = speer_info_new (wrapped ? inner : value, self->now);
        self->fits = self->fits && item->info;
    }
    return wrapped;
}

static void
s_read_item (s_list_t *self, json_t *value)
{
    const char *name;
    json_t *member;
    s_item_t *item = s_list_add (self);
    item->null = json_is_null (value);
    self->fits = self->fits && (item->null || json_is_object (value));
    json_object_foreach (value, name, member)
    {
        if (!strcmp (name, "action"))
            item->action = s_read_action (member, &self->fits);
        else if (!strcmp (name, "lastDirtyTimestamp"))
            item->dirty = speer_scalar_number (member, &self->fits);
        else if (!strcmp (name, "instanceInfo")) {
            if (s_read_info (self, item, member))
                item = s_list_add (self);
        }
        else if (!s_read_text (item, name, member, &self->fits))
            self->fits = false;
    }
}

//  Returns 200, 400 or 500
static int
s_read (s_list_t *self, const char *body, size_t size)
{
    json_t *root =
        json_loadb (body, size, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, NULL);
    json_t *list = json_object_get (root, "replicationList");
    bool none = !list || json_is_null (list);
    size_t i;
    json_t *value;
    self->fits = json_is_null (root) ||
                 (json_is_object (root) && (none || json_is_array (list)) &&
                  json_object_size (root) == (list != NULL));
    json_array_foreach (list, i, value) s_read_item (self, value);
    for (i = 0; i < self->count; i++)
        speer_upper (self->items[i].app);
    json_decref (root);
    return !self->fits ? 400 : none ? 500 : 200;
}

//  ---- Applying

//  Returns the item's status. What the batch does otherwise than a call of its
//  own: a Register that is not valid is 200, and DeleteStatusOverride needs a
//  timestamp.
static int
s_apply (speer_core_t *core, int64_t now, s_item_t *item)
{
    if (item->action == SPEER_ACTIONS || !item->app)
        return 500;
    if (item->action == SPEER_DELETE_OVERRIDE && item->dirty == SPEER_NONE)
        return 500;
    if (item->action == SPEER_REGISTER && item->info &&
        speer_info_invalid (item->info, item->app))
        return 200;
    speer_change_t change = {.action = (speer_action_t) item->action,
                             .replication = true,
                             .app = item->app,
                             .id = item->id,
                             .status = item->status,
                             .overridden = item->overridden,
                             .dirty = item->dirty,
                             .info = item->info};
    int status = speer_registry_apply (core->registry, now, &change);
    item->info = change.info;
    return status;
}

static void
s_write_entry (FILE *out, bool first, int status, const json_t *entity)
{
    fprintf (out, "%s{\"statusCode\":%d", first ? "" : ",", status);
    if (entity) {
        fputs (",\"responseEntity\":", out);
        json_dumpf (entity, out, JSON_COMPACT);
    }
    fputs ("}", out);
}

//  The copy that a heartbeat lost against
static void
s_take_copy (const speer_core_t *core, s_item_t *item)
{
    const speer_entry_t *entry =
        speer_registry_find (core->registry, item->app, item->id);
    if (entry && core->settings[SPEER_SET_ENTITY]) {
        item->entity = speer_apps_info (entry);
        item->copy = speer_info_hold (entry->info);
    }
}

//  What the rules say of an item, or of the whole batch because of it
static const speer_item_rule_t *
s_item_rule (const speer_core_t *core, const s_item_t *item, size_t position,
             bool whole)
{
    const char *action =
        item->action < SPEER_ACTIONS ? s_actions[item->action] : NULL;
    return speer_rules_item (core->rules, action, item->app, item->id,
                             (int) position + 1, whole);
}

static void
s_answer_item (speer_core_t *core, int64_t now, s_item_t *item,
               speer_batch_way_t way, size_t position)
{
    const speer_item_rule_t *rule =
        way.rules ? s_item_rule (core, item, position, false) : NULL;
    item->answer = 200;
    if (way.apply && (!rule || rule->apply))
        item->answer = s_apply (core, now, item);
    if (rule && rule->status)
        item->answer = rule->status;
    if (rule && rule->entity)
        item->entity = json_loads (rule->entity, JSON_DECODE_ANY, NULL);
    else if (item->answer == 409 && item->app && item->id)
        s_take_copy (core, item);
}

//  The answer is written when all items are done: a copy in it shows what later
//  items made of the instance
static char *
s_write (const s_list_t *list, int extra)
{
    char *text = NULL;
    size_t size;
    size_t count = list->count - (extra < 0 && list->count);
    FILE *out = open_memstream (&text, &size);
    assert (out);
    fputs ("{\"responseList\":[", out);
    for (size_t i = 0; i < count; i++) {
        const s_item_t *item = &list->items[i];
        if (item->copy)
            speer_apps_refresh (item->entity, item->copy);
        s_write_entry (out, !i, item->answer, item->entity);
    }
    if (extra > 0)
        s_write_entry (out, !count, 200, NULL);
    fputs ("]}", out);
    fclose (out);
    return text;
}

//  The status of all, if one item spoils it; else as it was
static int
s_spoil (const speer_core_t *core, const s_list_t *list, int status)
{
    for (size_t i = 0; i < list->count && status == 200; i++) {
        const speer_item_rule_t *rule =
            s_item_rule (core, &list->items[i], i, true);
        if (rule)
            status = rule->status;
    }
    return status;
}

int
speer_batch_apply (speer_core_t *core, const char *body, size_t size,
                   speer_batch_way_t way, char **answer)
{
    s_list_t list = {.now = speer_core_now (core)};
    int status = s_read (&list, body, size);
    if (way.rules)
        status = s_spoil (core, &list, status);
    //  A null fails the whole, but not before what stands in front of it
    for (size_t i = 0; i < list.count && status == 200; i++) {
        if (list.items[i].null)
            status = 500;
        else
            s_answer_item (core, list.now, &list.items[i], way, i);
    }
    *answer = status == 200 ? s_write (&list, way.extra) : NULL;
    s_list_free (&list);
    return status;
}

char *
speer_batch_all_ok (size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream (&text, &size);
    assert (out);
    fputs ("{\"responseList\":[", out);
    for (size_t i = 0; i < count; i++)
        s_write_entry (out, !i, 200, NULL);
    fputs ("]}", out);
    fclose (out);
    return text;
}
