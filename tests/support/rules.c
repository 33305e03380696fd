#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "rules.h"
#include "banned.h"

//  How often a rule matched, and how often it may
typedef struct {
    int seen;
    int skip;
    int count;
} s_use_t;

typedef struct s_slot {
    speer_rule_t rule;  //  First, so that a rule leads to its slot
    s_use_t use;
    int refs;  //  The list, and each request under work
    struct s_slot *next;
} s_slot_t;

typedef struct s_item_slot {
    speer_item_rule_t rule;
    s_use_t use;
    struct s_item_slot *next;
} s_item_slot_t;

struct speer_rules {
    s_slot_t *slots;       //  Owned; newest first
    s_item_slot_t *items;  //  Owned; newest first
};

speer_rules_t *
speer_rules_new (void)
{
    speer_rules_t *self = (speer_rules_t *) calloc (1, sizeof *self);
    assert (self);
    return self;
}

void
speer_rules_destroy (speer_rules_t **self_p)
{
    speer_rules_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    speer_rules_clear (self);
    free (self);
}

static const char *
s_copy (const char *text)
{
    return text ? strdup (text) : NULL;
}

void
speer_rules_add (speer_rules_t *self, const speer_rule_t *rule)
{
    s_slot_t *slot = (s_slot_t *) calloc (1, sizeof *slot);
    assert (slot);
    slot->rule = *rule;
    slot->rule.method = s_copy (rule->method);
    slot->rule.path = s_copy (rule->path);
    slot->rule.headers = s_copy (rule->headers);
    slot->rule.body = s_copy (rule->body);
    slot->use = (s_use_t){.skip = rule->skip, .count = rule->count};
    slot->refs = 1;
    LL_PREPEND (self->slots, slot);
}

void
speer_rules_add_item (speer_rules_t *self, const speer_item_rule_t *rule)
{
    s_item_slot_t *slot = (s_item_slot_t *) calloc (1, sizeof *slot);
    assert (slot);
    slot->rule = *rule;
    slot->rule.action = s_copy (rule->action);
    slot->rule.app = s_copy (rule->app);
    slot->rule.id = s_copy (rule->id);
    slot->rule.entity = s_copy (rule->entity);
    slot->use = (s_use_t){.skip = rule->skip, .count = rule->count};
    LL_PREPEND (self->items, slot);
}

void
speer_rules_release (const speer_rule_t *rule)
{
    s_slot_t *slot = (s_slot_t *) rule;
    if (!slot || --slot->refs)
        return;
    free ((char *) slot->rule.method);
    free ((char *) slot->rule.path);
    free ((char *) slot->rule.headers);
    free ((char *) slot->rule.body);
    free (slot);
}

static void
s_item_slot_free (s_item_slot_t *slot)
{
    free ((char *) slot->rule.action);
    free ((char *) slot->rule.app);
    free ((char *) slot->rule.id);
    free ((char *) slot->rule.entity);
    free (slot);
}

void
speer_rules_clear (speer_rules_t *self)
{
    while (self->slots) {
        s_slot_t *slot = self->slots;
        LL_DELETE (self->slots, slot);
        speer_rules_release (&slot->rule);
    }
    while (self->items) {
        s_item_slot_t *slot = self->items;
        LL_DELETE (self->items, slot);
        s_item_slot_free (slot);
    }
}

//  Counts a match; true if it is one of those the rule is meant for
static bool
s_use (s_use_t *use)
{
    if (use->count && use->seen >= use->skip + use->count)
        return false;
    return use->seen++ >= use->skip;
}

static bool
s_matches (const speer_rule_t *rule, const speer_http_t *request)
{
    return (!rule->method ||
            (strlen (rule->method) == request->method_size &&
             !memcmp (rule->method, request->method, request->method_size))) &&
           (!rule->path || memmem (request->target, request->target_size,
                                   rule->path, strlen (rule->path)));
}

const speer_rule_t *
speer_rules_take (speer_rules_t *self, const speer_http_t *request)
{
    s_slot_t *slot;
    LL_FOREACH (self->slots, slot)
    if (s_matches (&slot->rule, request) && s_use (&slot->use)) {
        slot->refs++;
        return &slot->rule;
    }
    return NULL;
}

static bool
s_same (const char *wanted, const char *text)
{
    return !wanted || (text && !strcmp (wanted, text));
}

const speer_item_rule_t *
speer_rules_item (speer_rules_t *self, const char *action, const char *app,
                  const char *id, int nth, bool whole)
{
    s_item_slot_t *slot;
    LL_FOREACH (self->items, slot)
    if (slot->rule.whole == whole && s_same (slot->rule.action, action) &&
        s_same (slot->rule.app, app) && s_same (slot->rule.id, id) &&
        (!slot->rule.nth || slot->rule.nth == nth) && s_use (&slot->use))
        return &slot->rule;
    return NULL;
}
