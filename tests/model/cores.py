"""The cores in C at the other end of a pipe, and the comparison: every call is made of both."""
import os
import subprocess
from typing import NamedTuple, Optional
from words import ASG, GIVE_UP, Item, Report, Wrong
import verdict as V
from lane import ENDINGS

FIGURES = ["accepted", "waiting", "in flight", "instances", "queued", "owed", "renew", "unsure", "rejected",
           "resting", "batches", "walk active", "walk complete", "walk instances", "walk left", "walk repaired",
           "walk refused"]
NEVER = 2**64 - 1
EXPIRED = len(FIGURES) + ENDINGS.index("expired")


class Batch(NamedTuple):
    id: int
    bytes: int
    items: list


class Got(NamedTuple):
    """What a lane in C did in one call of next."""
    batch: Optional[Batch]
    wake: int
    pause: int
    free: bool
    gave_up: list
    expired: int
    woke: list


class Result(NamedTuple):
    """The end of an attempt, as a lane is told."""
    id: int
    end: str
    verdict: str
    reached: bool
    ambiguous: bool
    escalated: bool
    status: int
    retry_after: int
    codes: Optional[list]
    copies: dict
    repeated: bool


class Program:
    """Runs cores, gives it commands, reads its answers."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.to, self.back = self.process.stdin.fileno(), self.process.stdout.fileno()

    def ask(self, *words):
        """Gives a command, returns the lines of the answer, each a list of words."""
        line = " ".join(["-" if w is None else str(int(w) if isinstance(w, bool) else w) for w in words])
        answer = b""
        try:
            os.write(self.to, line.encode() + b"\n")
            while answer != b".\n" and not answer.endswith(b"\n.\n"):
                more = os.read(self.back, 65536)
                if not more:
                    raise Wrong(f"the cores ended at: {line}")
                answer += more
        except BrokenPipeError:
            raise Wrong(f"the cores ended before: {line}") from None
        return [got.split() for got in answer.decode().splitlines()[:-1]]

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Row:
    """One lane, in both: the model's, and what is known of the one in C."""

    def __init__(self, number, lane):
        self.number, self.lane = number, lane
        self.figures = [0] * len(FIGURES + ENDINGS)
        self.entries, self.said, self.released, self.heard = {}, [], [], []
        self.behind, self.noted = False, set()

    def read(self, words):
        """One line of an answer about this lane."""
        kind, rest = words[0], words[2:]
        if kind == "report":
            self.said.append(Report(rest[0], rest[1], int(rest[2]), rest[3], *map(int, rest[4:])))
        elif kind == "released":
            self.released.append((int(rest[0]), int(rest[1]), self.said[-1].key))
        elif kind == "lane":
            self.figures = list(map(int, rest))
        elif kind == "entry":
            self.entries[rest[0]] = tuple(map(int, rest[1:]))
        elif kind == "ended":
            self.entries.pop(rest[0], None)
        elif kind == "broken":
            raise Wrong("zpeer_lane_check does not hold")

    def compare(self):
        """Reports of one call, figures, endings, and what waits or is owed of each instance."""
        lane = self.lane
        if sorted(lane.said) != sorted(self.said):
            raise Wrong(f"reports: {self.said}; the model: {lane.said}")
        self.heard += self.said
        lane.said, self.said = [], []
        mine = lane.figures()
        if mine != self.figures:
            raise Wrong("figures: " + ", ".join(f"{name} {c}, the model {m}" for name, c, m in
                                                zip(FIGURES + ENDINGS, self.figures, mine) if c != m))
        for e in lane.entries.values():
            mine = (e.wait, e.flight, e.owed, e.renew, e.unsure is not None, e.refused, e.held, e.resting,
                    e.hung)
            if mine != self.entries.get(e.key):
                raise Wrong(f"{e.key}: {self.entries.get(e.key)}; the model: {tuple(map(int, mine))} "
                            "(wait, flight, owed, renew, unsure, rejected, held, resting, hung)")


class Cores:
    """View and lanes, in both. rows: by the number of the lane."""

    def __init__(self, program, view, rows):
        self.program, self.view, self.rows = program, view, rows

    def _ask(self, *words):
        """Gives a command; returns what the answer says beside what it says of lanes."""
        rest = []
        for words in self.program.ask(*words):
            if words[0] in ("report", "released", "lane", "entry", "ended", "broken"):
                self.rows[int(words[1])].read(words)
            else:
                rest.append(words)
        return rest

    def _compare(self, *rows):
        for row in rows or self.rows.values():
            row.compare()

    def _spread(self, now, change):
        """Every lane is told, but those that are behind: of these it is noted."""
        for row in self.rows.values():
            if bool(row.lane.o.asg_life) != (change.action == ASG):
                continue
            if row.behind:
                row.noted.add(change.key)
            else:
                row.lane.change(now, change)

    # ---- the source

    def event(self, now, ev):
        """Returns (what the lanes are told, need_register, when to look for what is old)."""
        told, state, wake = self._ask("event", now, ev.action, ev.key, ev.ts, ev.st, ev.ov, ev.v, ev.replicated,
                                      ev.renewal, ev.duration, ev.snapshot, ev.as_of, ev.origin)
        before = self.view.state(ev.key)
        change, need = self.view.apply(now, ev)
        mine = [change.action, change.given, change.flags, int(need), change.origin] if change else \
            ["-", 0, 0, int(need), 0]
        if told[1:] != list(map(str, mine)):
            raise Wrong(f"told: {told[1:]}; the view's model: {mine}")
        self._check_state(ev, state[1:], before)
        if change:
            self._spread(now, change)
            self._compare()
        return change, need, int(wake[1])

    def _check_state(self, ev, theirs, before):
        s = self.view.state(ev.key)
        mine = [str(x) for x in (ev.key, s.v, s.st, s.ov, s.ts, s.top, s.seq)] if s else ["-"]
        if theirs != mine:
            raise Wrong(f"state: {theirs}; the view's model: {mine}")

    def expire(self, now):
        """Lets go of what is old, or too much. Returns the keys that were forgotten, those that were given up, and
        when to look again."""
        *gone, wake = self._ask("expire", now)
        forgotten, given_up, due = set(), set(), self.view.due(now)
        for _, key, _, flags in gone:
            if int(flags) & GIVE_UP:
                given_up.add(key)
                self._spread(now, self.view.give_up(now, key))
            elif key not in due:
                raise Wrong(f"expire: {key} is not due")
            else:
                due.remove(key)
                change = self.view.expire(now, key)
                self._spread(now, change)
                if not change.flags:
                    forgotten.add(key)
        if due and self.view.lanes:
            raise Wrong(f"expire: the view's model lets go of {sorted(due)}, too")
        for key in due:         # without lanes nobody is told of a tombstone that goes
            self.view.expire(now, key)
        self.view.check_bound()
        self._compare()
        return forgotten, given_up, int(wake[1])

    def answer_released(self, row, released):
        """A lane has said that it holds nothing of an instance; the view is told now."""
        handle, seq, key = released
        self._ask("released", row.number, handle, seq)
        self.view.released(row.number, key, seq)

    def drop(self, rows):
        """A peer is removed, with its lanes. Returns whether attempts are unsettled."""
        unsettled = bool(int(self._ask("drop", rows[0].number)[0][1]))
        if unsettled != rows[0].lane.unsettled:
            raise Wrong(f"unsettled: {unsettled}")
        self.view.remove_lane(rows[0].number)
        for row in rows:
            del self.rows[row.number]
        return unsettled

    # ---- lanes

    def next(self, now, row, credit, ident):
        """One call of next, of both. Returns what the lane in C did."""
        before = row.figures[EXPIRED]
        answer = self._ask("next", row.number, now, credit, ident)
        gave_up = [r.key for r in row.said if (r.kind, r.ending) == ("dropped", "dropped")
                   or r.kind == "need-register"]
        expired = row.figures[EXPIRED] - before
        woke = [e.key for e in row.lane.entries.values() if e.resting and not row.entries.get(e.key, (0, 0))[-2]]
        if answer[0][0] == "batch":
            items = [Item(w[1], w[2], int(w[3]), w[4], w[5], int(w[6])) for w in answer[1:]]
            got = Got(Batch(int(answer[0][2]), int(answer[0][3]), items), now, 0, True, gave_up, expired, woke)
        else:
            wake, pause, free = map(int, answer[0][1:])
            got = Got(None, wake, pause, bool(free), gave_up, expired, woke)
        row.lane.next(now, got)
        self._compare(row)
        return got

    def done(self, now, row, counter, ident, end, status=0, retry_after=0, codes=None, copies=None, half=False,
             repeated=False):
        """The end of an attempt, of both; counter is the model's of this peer. Returns the verdict."""
        copies = copies or {}
        answer = self._ask("done", row.number, now, ident, end, status, retry_after,
                           ",".join(map(str, codes)) if codes else "-",
                           ",".join(f"{i},{ts},{0 if age is None else age + 1}" for i, (ts, age) in sorted(copies.items()))
                           or "-", half, repeated)
        v = V.judge(counter, end)
        theirs = answer[0][1:]
        if theirs != [v.verdict] + [str(int(x)) for x in v[1:]]:
            raise Wrong(f"verdict: {theirs}; the model: {v}")
        known = row.lane.done(now, Result(ident, end, v.verdict, v.reached, v.ambiguous or half, v.escalated,
                                          status, retry_after, codes, copies, repeated))
        theirs = tuple(map(int, answer[1][1:]))
        if known and theirs != tuple(map(int, row.lane.evidence)):
            raise Wrong(f"evidence: {theirs}; the model: {row.lane.evidence}")
        if known == (len(answer) > 2):
            raise Wrong(f"batch {ident} is known to one of both")
        self._compare(row)
        return v

    def hold(self, row, until):
        self._ask("hold", row.number, until)
        row.lane.quiet_until = max(row.lane.quiet_until, until)

    def retry(self, row):
        self._ask("retry", row.number)
        row.lane.quiet_until = 0

    def walk(self, now, row, resync):
        self._ask("walk", row.number, now, "resync" if resync else "verify")
        row.lane.walk_begin()
        for change in self.view.walk(resync):
            row.lane.change(now, change, more=True)
        row.lane.walk_done()
        asgs = self.rows[row.number + 1]
        for key in self.view.asgs if resync else ():
            asgs.lane.change(now, self.view.catch_up(key)[0])
        self._compare()

    def over(self, row):
        self._ask("over", row.number)
        row.lane.walk_active = False
        self._compare()

    def missing(self, row):
        self._ask("missing", row.number)
        row.behind = True

    def catch_up(self, now, row):
        self._ask("catch-up", row.number, now)
        row.behind = False
        for key in [*self.view.asgs, *row.noted - self.view.asgs.keys()]:
            for change in self.view.catch_up(key) if key in row.noted else ():
                row.lane.change(now, change, more=True)
        row.noted = set()
        self._compare()

    def shut(self, row):
        """Stopping: every task ends."""
        left = self._ask("shut", row.number)[0][1]
        if int(left) != row.lane.close("shutdown"):
            raise Wrong(f"shut: {left}")
        self._compare()
