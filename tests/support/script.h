/*  script.h - the script as a JSON document

    What speer_script and POST /script on the control port take. Every member is
    optional; they are done in this order, whatever order they stand in:

        "reset": true              as speer_reset
        "clear": true              as speer_clear
        "settings": {"expire": 1}  by the names of SPEER_SETTINGS
        "advance": 90000           as speer_advance
        "mode": "refuse"           by the names of SPEER_MODES
        "rules": [{…}]             members as in speer_rule_t; answer and apply
                                   by their names, delays also "held"
        "items": [{…}]             members as in speer_item_rule_t
        "apply": {"replicationList": […]}   as speer_apply
        "release": true            as speer_release

    For example: answer the next three batches with 503, from then on after 2 s:

        {"rules": [{"path": "batch", "delay_ms": 2000},
                   {"path": "batch", "status": 503, "count": 3,
                    "headers": "Retry-After: 1\r\n"}]}
*/
#ifndef SPEER_SCRIPT_H_INCLUDED
#define SPEER_SCRIPT_H_INCLUDED

#include <jansson.h>
#include "scripted_peer.h"

//  As speer_script
char *speer_script_run (speer_t *peer, const char *json, size_t size);

//  The value a setting's name stands for; SPEER_SETTINGS_MAX if unknown
speer_setting_t speer_setting_parse (const char *name);

//  Reads one rule; its texts are borrowed from json. Returns what is wrong (the
//  caller's to free), or NULL.
char *speer_rule_parse (json_t *json, speer_rule_t *rule);

#endif
