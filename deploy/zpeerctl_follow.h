/*  zpeerctl_follow.h - waits for the end of resyncs, and prints what came of them

    Create it before asking for them: what it waits for may be over soon.

    Blocking: new, up to three seconds; run, as long as is said.
*/
#ifndef ZPEERCTL_FOLLOW_H_INCLUDED
#define ZPEERCTL_FOLLOW_H_INCLUDED

#include <zpeer/watch.h>
#include "zpeerctl.h"

//  Listens to the outcomes at endpoint; NULL: that is no endpoint
zpeer_watch_t *zpeerctl_follow_new (const char *endpoint);

//  Waits until a walk of this kind ("resync", "verify") that began since then has
//  ended at each of the peers, at most so many seconds. Prints a line for each.
//  Returns OK, REJECTED: something was refused, or a peer was removed, or SILENT:
//  not all have ended.
zpeerctl_exit_t
zpeerctl_follow_run (zpeer_watch_t *watch, const char *kind, char *const *urls,
                     size_t count, uint32_t seconds);

#endif
