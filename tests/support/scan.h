/*  scan.h - what a benchmark wants to know of a batch, without parsing it */
#ifndef SPEER_SCAN_H_INCLUDED
#define SPEER_SCAN_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

//  The number of "action": in a body, which is the number of its items unless
//  metadata has a key of that name
size_t speer_scan_items (const char *body, size_t size);

//  Gives fn the lastDirtyTimestamp of every n-th item that has a number there.
//  *phase counts on from body to body.
typedef void (speer_scan_fn) (void *arg, int64_t timestamp);
void speer_scan_timestamps (const char *body, size_t size, uint64_t every,
                            uint64_t *phase, speer_scan_fn *fn, void *arg);

#endif
