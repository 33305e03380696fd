#!/usr/bin/env python3
"""write_view_trace.py > tests/unit/view_trace.h: a history of the view, and what each event comes to, as the
model has it. tests/unit/test_view_trace.c replays it, and says how to read a line."""
import random
from view import View
from words import (CANCEL, DELETE, DOWN, FORGET, HEARTBEAT, OUT, REGISTER, STARTING, STATUS, UNKNOWN, UP, FRESH,
                   VERIFY, Event)

LINES = 600
LETTER = {REGISTER: "R", HEARTBEAT: "H", CANCEL: "C", STATUS: "S", DELETE: "D", FORGET: "F",
          UP: "U", DOWN: "D", OUT: "O", STARTING: "S", UNKNOWN: "?", None: "-"}
HEAD = """/*  view_trace.h - a history, and what each event comes to

    Written by tests/model/write_view_trace.py; test_view_trace.c says how to
    read a line.
*/
#ifndef VIEW_TRACE_H_INCLUDED
#define VIEW_TRACE_H_INCLUDED

static const char *const s_lines[] = {"""
TAIL = """};

#endif"""


def event(rng):
    """Small numbers, so that they meet often."""
    action = rng.choice([REGISTER, REGISTER, HEARTBEAT, HEARTBEAT, CANCEL, STATUS, DELETE, FORGET])
    key, ts, replicated = str(rng.randint(0, 3)), rng.randint(1, 11), rng.random() < 0.15
    st = rng.choice([UP, UP, UP, OUT, DOWN, STARTING])
    if action == REGISTER:
        return Event(action, key, ts, rng.choice([st, st, st, UNKNOWN]), rng.choice([UNKNOWN] * 3 + [OUT, DOWN]),
                     rng.randint(1, 3), replicated)
    if action == CANCEL:
        return Event(action, key, rng.choice([None, ts, ts]), None, UNKNOWN, 0, replicated)
    if action == DELETE:
        st = rng.choice([st, None])
    if action in (HEARTBEAT, FORGET):
        st = None
    return Event(action, key, None if action == FORGET else ts, st, UNKNOWN, 0, replicated)


def none(status):
    """An override that is none has no letter of its own."""
    return "-" if status == UNKNOWN else LETTER[status]


def line(view, ev):
    before = view.state(ev.key)
    change, need = view.apply(0, ev)
    told = [LETTER[change.action], change.given, int(bool(change.flags & FRESH))] if change and not change.flags & VERIFY else ["-", 0, 0]
    s = view.state(ev.key)
    left = [LETTER[ev.action], ev.key, ev.ts or 0, LETTER[ev.st], none(ev.ov), ev.v, int(ev.replicated)]
    state = [int(s is not before), s.v, LETTER[s.st] if s.v else "-", none(s.ov), s.ts, s.top] if s else \
        [0, 0, "-", "-", 0, 0]
    return " : ".join(" ".join(map(str, part)) for part in (left, told + [int(need)], state))


def main():
    rng, view = random.Random(7), View()
    view.lanes.add(0)
    print(HEAD)
    for _ in range(LINES):
        print(f'    "{line(view, event(rng))}",')
    print(TAIL)


if __name__ == "__main__":
    main()
