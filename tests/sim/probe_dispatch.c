#include "dispatch_impl.h"
#include "probe.h"
#include "banned.h"

size_t
probe_held (const zpeer_dispatch_t *dispatch)
{
    return dispatch->job_count;
}
