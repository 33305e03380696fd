/*  rules.h - the rules that are in force, and which one a request meets */
#ifndef SPEER_RULES_H_INCLUDED
#define SPEER_RULES_H_INCLUDED

#include <stddef.h>
#include "http.h"
#include "rule.h"

typedef struct speer_rules speer_rules_t;

speer_rules_t *speer_rules_new (void);
void speer_rules_destroy (speer_rules_t **self_p);

//  Copies the rule with its texts
void speer_rules_add (speer_rules_t *self, const speer_rule_t *rule);
void speer_rules_add_item (speer_rules_t *self, const speer_item_rule_t *rule);

void speer_rules_clear (speer_rules_t *self);

//  The newest rule that matches, counted as used; NULL: none. Give it back with
//  speer_rules_release; it outlives a clear, not the destroy.
const speer_rule_t *
speer_rules_take (speer_rules_t *self, const speer_http_t *request);
void speer_rules_release (const speer_rule_t *rule);

//  The same for an item, of the rules that are for the whole batch or of the
//  others; valid until the rules change. Texts may be NULL.
const speer_item_rule_t *
speer_rules_item (speer_rules_t *self, const char *action, const char *app,
                  const char *id, int nth, bool whole);

#endif
