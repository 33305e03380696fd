/*  view_impl.h - what the parts of the view share

    view.c        instances: their states, how they stand, lanes, letting go
    view_rules.c  events in: one rule per action
*/
#ifndef ZPEER_VIEW_IMPL_H_INCLUDED
#define ZPEER_VIEW_IMPL_H_INCLUDED

#include "directory.h"
#include "heap.h"
#include "view.h"

//  How an instance stands
typedef enum {
    PRESENT,
    TOMBSTONE,  //  Absent at the source, and remembered
    RELEASING,  //  The view lets go of it; lanes have to answer
    UNUSED      //  The handle is free
} standing_t;

//  What a Heartbeat looks at stands together: most often that is one line of the cache
typedef struct {
    zpeer_state_t *state;  //  Owned reference; NULL: there is none yet
    uint64_t due_at;       //  When it ages out, or its tombstone does
    uint32_t lease_ms;     //  Duration of its lease
    uint32_t told;     //  Epoch in which every lane was told the state; 0: they
                       //  were not
    uint8_t standing;  //  standing_t
    bool fresh;        //  Its source forgot it: peers may still hold it
    bool cancelled;    //  When last it went, by Cancel
    bool unknown;      //  A Heartbeat came since, and no Register
    bool pictured;     //  There was a snapshot of it: peers are told whatever
                       //  they need to hold that and nothing else
    uint32_t changed;  //  When the newest change was accepted, as
                       //  zpeer_view_second has it; 0: none was
    uint64_t top;      //  Highest timestamp of any of its lives. The state of
                       //  what was forgotten has none: peers are not asked.
    uint64_t unanswered;  //  Bit per lane that was told RELEASE and has not
                          //  answered
    uint32_t cost;  //  Bytes, while it is RELEASING and not given up; else 0
} entry_t;

typedef struct {
    zpeer_state_t *state;  //  Owned reference
    uint32_t told;         //  As above
} asg_t;

struct zpeer_view {
    zpeer_view_options_t options;
    zpeer_directory_t names;  //  Of the instances: name to handle
    entry_t *entries;         //  Owned; by handle
    uint32_t capacity;
    zpeer_directory_t asg_names;
    asg_t *asgs;  //  Owned; by handle
    uint32_t asg_capacity;
    zpeer_heap_t due[2];  //  By standing: all PRESENT, all TOMBSTONE. The time
                          //  in it is too early for one renewed since
    zpeer_heap_t releasing;    //  All RELEASING that are not given up, by order
    uint64_t releases;         //  How many there ever were
    uint64_t releasing_bytes;  //  What they cost
    uint64_t given_up;
    uint64_t ghosts_until;  //  Peers may hold what was given up
    uint32_t epoch;         //  Of zpeer_view_tell_all; never 0
    uint64_t lanes;         //  Bit per lane
    uint64_t seq;           //  Of the newest state
    uint32_t unknown;       //  Entries that are
    uint64_t outdated;
    uint64_t aged_out;
};

//  What a state says, without its name; info is borrowed
typedef struct {
    zpeer_text_t *info;
    uint64_t timestamp;
    uint64_t top;
    uint32_t renewal_ms;
    uint8_t status;
    uint8_t override;
} zpeer_facts_t;

//  A point in time as entries keep it
static inline uint32_t
zpeer_view_second (uint64_t now)
{
    return (uint32_t) (now / 1000);
}

zpeer_facts_t zpeer_facts (const zpeer_state_t *state);

//  Gives a name a handle, and an entry without a state
uint32_t zpeer_view_enter (zpeer_view_t *self, zpeer_slice_t app,
                           zpeer_slice_t id, uint64_t now);

//  Whether a state says just that
bool zpeer_facts_hold (const zpeer_facts_t *self, const zpeer_state_t *state);

//  Puts a new state that says facts in the place of *state_p, which may be NULL
void zpeer_view_replace (zpeer_view_t *self, zpeer_state_t **state_p,
                         zpeer_name_t *name, uint32_t handle,
                         const zpeer_facts_t *facts);

//  Gives an instance a new state that says facts, unless it is in such a state.
//  One that is being released always gets one: its seq says that it came back.
void zpeer_view_publish (zpeer_view_t *self, uint32_t handle,
                         const zpeer_facts_t *facts);

//  Notes whether an instance is unknown
void zpeer_view_mark_unknown (zpeer_view_t *self, entry_t *entry, bool unknown);

//  An event has come: the instance is not unknown unless it is marked again. It
//  stands like this, for another while
void zpeer_view_stand (zpeer_view_t *self, uint32_t handle, standing_t standing,
                       uint64_t now);

//  Absent from now on. top: the highest timestamp that peers may be asked with;
//  0: nobody is to ask them
void zpeer_view_bury (zpeer_view_t *self, uint32_t handle, uint64_t top,
                      uint64_t now);

//  The source has dropped it without a Cancel
void zpeer_view_forget (zpeer_view_t *self, uint32_t handle, uint64_t now);

//  Fills the change that tells every lane
void
zpeer_view_tell (zpeer_view_t *self, uint32_t handle, zpeer_action_t action,
                 unsigned flags, zpeer_change_t *change);

#endif
