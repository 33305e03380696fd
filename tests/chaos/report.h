/*  report.h - reads outcomes and figures, and checks what can be checked at once

    Each peer's figures must add up; nothing may be rejected that the peer did
    not refuse, nothing be a conflict that nobody else registered.
*/
#ifndef CHAOS_REPORT_H_INCLUDED
#define CHAOS_REPORT_H_INCLUDED

#include "run.h"

//  Reads what comes until so many ms are over
void report_read (run_t *run, int limit_ms);

#endif
