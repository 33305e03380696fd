/*  zpeerctl_reach.c - why nobody answers at an endpoint
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "ipc_path.h"
#include "zpeerctl_reach.h"
#include "banned.h"

//  What ipc_path_reach says, whether waiting may help, what that means
#define CAUSES(X)                                                              \
    X (ENOENT, true, "no socket is there; is zpeerd running?")                 \
    X (ECONNREFUSED, true,                                                     \
       "nobody listens there any more; is zpeerd running?")                    \
    X (EACCES, false,                                                          \
       "permission denied; the modes of the socket and its directory say who " \
       "may use it")                                                           \
    X (ENOTSOCK, false, "it is no socket")                                     \
    X (EPROTOTYPE, false, "it is a socket of another kind")

static const struct {
    int cause;
    bool waits;
    const char *text;
} s_causes[] = {
#define X(cause, waits, text) {cause, waits, text},
    CAUSES (X)
#undef X
};

#define CAUSE_COUNT (sizeof s_causes / sizeof *s_causes)

//  Room for a sentence
#define WHY_MAX 256

//  What a cause means. Returns whether waiting may help.
static bool
s_explain (int cause, const char *what, char why[WHY_MAX])
{
    for (size_t i = 0; i < CAUSE_COUNT; i++)
        if (s_causes[i].cause == cause) {
            snprintf (why, WHY_MAX, "%s", s_causes[i].text);
            return s_causes[i].waits;
        }
    if (cause == 0)
        snprintf (why, WHY_MAX,
                  "somebody listens there; zpeerd is busy, or that is not its "
                  "endpoint for %s",
                  what);
    else if (cause < 0)
        snprintf (why, WHY_MAX,
                  "is zpeerd running, and is that its endpoint for %s?", what);
    else
        snprintf (why, WHY_MAX, "%s", strerror (cause));
    return true;
}

zpeerctl_exit_t
zpeerctl_reach_check (const char *command, const char *endpoint,
                      const char *what)
{
    char why[WHY_MAX];
    if (s_explain (ipc_path_reach (endpoint), what, why))
        return ZPEERCTL_EXIT_OK;
    fprintf (stderr, "zpeerctl %s: %s: %s\n", command, endpoint, why);
    return ZPEERCTL_EXIT_SILENT;
}

zpeerctl_exit_t
zpeerctl_reach_silent (const char *command, const char *endpoint,
                       const char *what, uint32_t seconds)
{
    char why[WHY_MAX];
    s_explain (ipc_path_reach (endpoint), what, why);
    fprintf (stderr, "zpeerctl %s: no answer from %s for %" PRIu32 " s: %s\n",
             command, endpoint, seconds, why);
    return ZPEERCTL_EXIT_SILENT;
}

zpeerctl_exit_t
zpeerctl_reach_quiet (const char *command, const char *endpoint)
{
    char why[WHY_MAX];
    s_explain (ipc_path_reach (endpoint), "outcomes", why);
    fprintf (stderr, "zpeerctl %s: nothing comes from %s yet: %s\n", command,
             endpoint, why);
    return ZPEERCTL_EXIT_SILENT;
}

zpeerctl_exit_t
zpeerctl_reach_wrong (const char *command, const char *endpoint,
                      const char *what)
{
    fprintf (stderr,
             "zpeerctl %s: %s: somebody listens there, and does not answer as "
             "zpeerd's endpoint for %s does\n",
             command, endpoint, what);
    return ZPEERCTL_EXIT_SILENT;
}
