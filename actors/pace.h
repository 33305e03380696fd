/*  pace.h - how often the acceptor looks at its feeders

    Events that come one by one wake the acceptor for each, which costs more than
    handling them. Of feeders that do not wait for replies it may as well take
    several at a time: it dozes, which is to leave them alone for a moment.

      1. After so many events it tries: it dozes once.
      2. If a feeder has sent more than one request meanwhile, it dozes again. A
         feeder that waits for each reply never does.
      3. Many events at a time, or none, end it.
      4. So does dozing that makes them slower, for a feeder may wait when a few
         requests are unanswered: then it is not tried again for long.
      5. Events that are far apart are none to try with.

    A core: no socket, thread, clock or log. now: monotonic, ms. A plain struct;
    zeroed it has not begun.
*/
#ifndef ZPEER_PACE_H_INCLUDED
#define ZPEER_PACE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

//  Events before a trial, and of which the time is taken
#define ZPEER_PACE_STRETCH 256

//  Stretches until the next trial after one that made feeders slower
#define ZPEER_PACE_WAIT 64

//  Longest time between two turns of a stretch that is not dozed through
#define ZPEER_PACE_GAP_MS 2

//  Events of one turn that end dozing
#define ZPEER_PACE_MANY 16

typedef struct {
    bool dozes;
    uint32_t wait;      //  Stretches until the next trial
    uint32_t events;    //  Of this stretch, in one state
    uint64_t begun;     //  When it began
    uint64_t last;      //  When its last events came
    uint64_t awake_ms;  //  What the last one took without dozing
} zpeer_pace_t;

//  A turn has read so many events, and requests that their feeder sent without
//  waiting for the reply to the one before
void zpeer_pace_turn (zpeer_pace_t *self, uint64_t now, uint32_t events,
                      uint32_t pipelined);

//  Feeders are not left alone any more
void zpeer_pace_wake (zpeer_pace_t *self, uint64_t now);

#endif
