/*  zpeerctl_reach.h - why nobody answers at an endpoint

    Of an ipc endpoint the socket's file says much: that it is not there, that
    nobody listens any more, that this user must not use it, that it is none.
    Each sentence goes to standard error, with the endpoint and what is so.

    Blocking: never.
*/
#ifndef ZPEERCTL_REACH_H_INCLUDED
#define ZPEERCTL_REACH_H_INCLUDED

#include "zpeerctl.h"

//  what is in all of them: what the endpoint is for, "commands" for instance.

//  Before an endpoint is used. Returns ZPEERCTL_EXIT_OK if somebody listens
//  there, or may some day; or ZPEERCTL_EXIT_SILENT when waiting is no use, and
//  says why.
zpeerctl_exit_t zpeerctl_reach_check (const char *command, const char *endpoint,
                                      const char *what);

//  After no answer came from an endpoint for so many seconds: says so, and why.
//  Returns ZPEERCTL_EXIT_SILENT, as those that follow.
zpeerctl_exit_t
zpeerctl_reach_silent (const char *command, const char *endpoint,
                       const char *what, uint32_t seconds);

//  After no outcomes came from an endpoint
zpeerctl_exit_t
zpeerctl_reach_quiet (const char *command, const char *endpoint);

//  After something came that is no answer of zpeerd's
zpeerctl_exit_t zpeerctl_reach_wrong (const char *command, const char *endpoint,
                                      const char *what);

#endif
