/*  zpeerctl_follow.h - waits for the end of resyncs, and prints what came of them

    Create it before asking for them: what it waits for may be over soon.

    Blocking: new, up to three seconds; run, as long as is said, and up to three
    seconds more for the figures that prove what it says.
*/
#ifndef ZPEERCTL_FOLLOW_H_INCLUDED
#define ZPEERCTL_FOLLOW_H_INCLUDED

#include "zpeerctl.h"

typedef struct zpeerctl_follow zpeerctl_follow_t;

//  Listens to the outcomes at endpoint, for walks of this kind ("resync",
//  "verify"; both borrowed); says on standard error if nothing comes. NULL: that
//  is no endpoint.
zpeerctl_follow_t *zpeerctl_follow_new (const char *kind, const char *endpoint);

void zpeerctl_follow_destroy (zpeerctl_follow_t **self_p);

//  Waits until a walk that began since then has ended at each of the peers, at
//  most so many seconds. Prints a line for each. Returns OK; REJECTED: something
//  was refused, or a peer was removed; LACKING: nothing was walked, or not all
//  that lives; or SILENT: not all have ended, or nothing was heard of them.
zpeerctl_exit_t zpeerctl_follow_run (zpeerctl_follow_t *self, char *const *urls,
                                     size_t count, uint32_t seconds);

#endif
