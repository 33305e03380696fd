"""One seeded history in virtual time: a source, 1 to 3 peers with two lanes each, a bad network, another
writer. Every call is made of the model and of the cores in C (cores.py). Then calm, and every peer must
equal the view.

What happens is a plan: a list of steps, each of which draws what it needs from a seed of its own. So a step
can be left out and the others remain what they were; that is how a history is made short."""
import heapq
import random
from collections import Counter as Count
from cores import NEVER, Cores
from lane import Options
from network import CHANCES, PHASES, Network, Peer
from registry import Registry
from view import View
from words import (ASG, CANCEL, DELETE, DOWN, FORGET, HEARTBEAT, OUT, REGISTER, STARTING, STATUS, UNKNOWN, UP,
                   Event, Wrong)

CALM_MS = 150000        # and 15 read timeouts, in which everything must be settled
PATIENCE_MS = 6 * 3600 * 1000   # and so long what a peer refused and would take now must be tried again
FEATURES = {"poison": 40, "toxic": 40, "refuse": 40, "other": 40, "replicated": 40, "restart": 40, "older": 40,
            "forget": 40, "hot": 40, "resync": 40, "verify": 40, "retry": 20, "age": 20, "tombstone": 30,
            "asg": 30, "asg 400": 20, "single": 15, "miss": 25, "leave": 15, "hold": 15, "shut": 10, "renewal": 20,
            "beats": 30, "back": 25, "snapshot": 30, "origin": 30, "anew": 25}


class World(Network):
    def __init__(self, program, seed, leave_out=()):
        self.rng = rng = random.Random(seed)
        self.seed, self.now, self.heap, self.n, self.batch_id = seed, 0, [], 0, 0
        self.log, self.outcomes, self.features = [], Count(), Count()
        self.calm_at, self.version, self.restarted = None, 0, False
        self.use = {f for f, percent in FEATURES.items() if rng.random() * 100 < percent}
        self.maximum, self.credit = rng.choice([3, 10]), rng.choice([1, 2, 6])
        self.options = [self._options(Options()), self._options(Options())]
        self.options[1].items, self.options[1].linger, self.options[1].asg_life = 1, 0, 30000
        self.keys = [f"I{i}" for i in range(rng.choice([1, 1, 2, 4, 9] if rng.random() < 0.95 else [40]))]
        self.poison, self.refused, self.toxic = set(), set(), set()     # (key, version)
        self.orphans, self.forgotten = set(), set()
        self.cancelled = {}     # of these, the newest version when a Cancel was accepted last
        self.tops = Count()     # the highest timestamp ever, Forget or not
        self._open(program)
        steps = self._plan()
        self.steps = len(steps)
        for n, (at, name, args, seed) in enumerate(steps):
            if n not in leave_out:
                self.at(at, self._step, name, args, seed)
        self.end = max(at for at, *_ in steps)
        self.at(self.end, self.calm)

    def _options(self, o):
        rng = random.Random(self.seed)      # the same for both lanes
        o.read_timeout = rng.choice([1000, 5000, 30000])
        o.pool = rng.choice([3, 10000, 10000])
        o.items = rng.choice([4, 250, 250])
        o.first = rng.choice([0, 0, 16])
        o.delivered = rng.random() < 0.5
        if "single" in self.use:
            o.single, o.items, o.linger = True, 1, 0
        return o

    def _open(self, program):
        rng, o = self.rng, self.options[0]
        tombstone = rng.choice([300, 3000, 20000, 60000]) if "tombstone" in self.use else 900000
        outlive = rng.choice([0, 3000, 60000])
        most = rng.choice([0, 600, 600, 1300]) if "tombstone" in self.use else 0
        self.view = View(tombstone, "age" in self.use, outlive, most)
        count = rng.choice([1, 1, 2, 3])
        program.ask("new", count, o.items, o.first, o.bytes, o.linger, o.read_timeout, o.pool,
                    self.options[1].asg_life, o.single, o.delivered, self.seed + 1, self.maximum, tombstone,
                    "age" in self.use, outlive, most)
        self.cores = Cores(program, self.view, {})
        self.peers = [Peer(self, i, random.Random(rng.random())) for i in range(count)]
        for p in self.peers:
            self._join(p)
        if "anew" in self.use:
            self._remember()
        self.view_wake = None

    def _remember(self):
        """Peers hold what an engine told them that was there before."""
        for key in self.keys:
            if self.rng.random() < 0.5:
                self.version += 1
                ev = Event(REGISTER, key, self.rng.choice([1, 500, 1500]), UP, v=self.version)
                self.tops[key] = ev.ts
                for p in self.peers:
                    p.registry.apply(ev)
                    p.registry.records[key].since = -10**6
                    p.left.add(key)     # of what is forgotten nothing is known

    def _join(self, p):
        p.join(self)
        self.view.lanes.add(2 * p.number)
        for row in p.rows:
            self.cores.rows[row.number] = row

    # ---- the plan

    def _plan(self):
        rng, plan, t = self.rng, [], 0
        many = len(self.keys) > 9

        def add(at, name, *args):
            plan.append((at, name, args, rng.random()))
        for _ in range(rng.randint(2, 40) + 3 * len(self.keys) * many):
            t += rng.choice([0, 0, 0, 0, 0, 1, 5, 2000] if many else [0, 1, 5, 30, 200, 1500, 8000])
            add(t, "source", None)
        if "hot" in self.use:       # one instance that changes all the time
            u = rng.uniform(0, t)
            for _ in range(rng.randint(5, 40)):
                u += rng.choice([1, 2, 4])
                add(min(u, t), "source", self.keys[0])
        if "beats" in self.use:     # one that is renewed again and again
            u, key, gap = rng.uniform(0, t), rng.choice(self.keys), rng.choice([100, 1000, 5000])
            for _ in range(rng.randint(4, 16)):
                u += gap
                add(u, "beat", key)
        if "asg" in self.use:
            for _ in range(rng.randint(1, 12)):
                add(rng.uniform(0, t), "asg")
        for _ in range(rng.randint(1, 12) if "origin" in self.use else 0):
            add(rng.uniform(0, t), "origin", rng.choice(self.peers))
        for p in self.peers:
            u = 0
            while u < t:
                u += rng.choice([20, 500, 5000, 20000])
                add(u, "phase", p, rng.choice(PHASES))
            for name in ("restart", "resync", "verify", "retry", "hold"):
                if name in self.use:
                    add(rng.uniform(0, t), name, p)
            for name, back in (("miss", "catch_up"), ("leave", "rejoin")):
                if name in self.use:
                    u = rng.uniform(0, t)
                    add(u, name, p)
                    add(u + rng.choice([0, 20, 3000, 20000]), back, p)
            for _ in range(rng.randint(1, 3) if "other" in self.use else 0):
                add(rng.uniform(0, t), "other", p)
        return plan

    def _step(self, name, args, seed):
        getattr(self, "do_" + name)(random.Random(seed), *args)

    # ---- the clock

    def at(self, delay, fn, *args, **more):
        self.n += 1
        heapq.heappush(self.heap, (self.now + max(0, int(delay)), self.n, fn, args, more))

    def say(self, text):
        self.log.append(f"{self.now:>7} {text}")

    def run(self):
        """Returns what is wrong in the end; raises Wrong at the first difference."""
        if "shut" in self.use:
            self._run_until(self.end)
            return self.shut()
        last = self.end + CALM_MS + 15 * self.options[0].read_timeout
        self._run_until(last)
        while self.now < last + PATIENCE_MS and any(self.to_be_tried(p, key) for p in self.peers for key in self.keys):
            self._run_until(self.now + 1000000)
        return self.compare()

    def _run_until(self, last):
        while self.heap and self.heap[0][0] <= last:
            self.now, _, fn, args, more = heapq.heappop(self.heap)
            fn(*args, **more)
        self.now = last

    def flawed(self, key):
        """What the source says of it now is something that peers do not take, or not store."""
        s = self.view.state(key)
        return bool(s) and (key, s.v) in self.poison | self.toxic | self.refused

    def to_be_tried(self, p, key):
        """The peer refused it, and would take it now."""
        e = p.rows[0].lane.entries.get(key) if p.rows else None
        return bool(e) and e.refused and not self.flawed(key)

    def calm(self):
        self.calm_at = self.now
        self.say("calm: no more faults, no more changes")
        for p in self.peers:
            p.phase = "ok"
            self.do_catch_up(self.rng, p)
        if self.restarted:
            self.at(6000, self.renewals)

    def renewals(self):
        """After a restart clients go on renewing, and register when they are told to."""
        for key in self.keys:
            s = self.view.state(key)
            if not self.view.present(key):
                continue
            if s.st == UNKNOWN:
                self.feed(self.register(self.rng, key, s.ts + 1, UP))
            else:
                self.feed(Event(HEARTBEAT, key, s.ts))

    def shut(self):
        for p in self.peers:
            for row in p.rows:
                self.cores.shut(row)
        return []

    # ---- the source

    def register(self, rng, key, ts, st, ov=UNKNOWN, replicated=False):
        s = self.view.state(key)
        if s and s.v and rng.random() < 0.2:
            v = s.v             # the same info once more
        else:
            self.version += 1
            v = self.version
            for name, versions in (("poison", self.poison), ("toxic", self.toxic), ("refuse", self.refused)):
                if name in self.use and not replicated and rng.random() < 0.2 and self.calm_at is None \
                        and not (name == "refuse" and "replicated" in self.use):
                    versions.add((key, v))
        renewal = rng.choice([2000, 30000]) if "renewal" in self.use else 30000
        return Event(REGISTER, key, ts, st, ov, v, replicated, renewal,
                     rng.choice([4000, 20000, 90000]) if "age" in self.use else 10**7)

    def do_source(self, rng, key):
        key = key or rng.choice(self.keys)
        s = self.view.state(key) if self.view.present(key) else None
        top = self.tops[key]
        replicated = "replicated" in self.use and rng.random() < 0.3
        base = s.ts if s else top or self.now + 1000
        ts = max(1, base + rng.choice([0, 0, 1, 50, -7 if "older" in self.use else 0]))
        if s is None and "back" in self.use:    # a clock that was set back
            ts = max(1, ts - rng.choice([0, 10, 300]))
        kind = rng.choice([REGISTER] * 3 + [HEARTBEAT] * 2 + [CANCEL, STATUS, STATUS, DELETE, DELETE]
                          + [FORGET] * ("forget" in self.use))
        if kind == REGISTER:
            st = rng.choice([UP, UP, UP, UP, DOWN, OUT, STARTING, UNKNOWN])
            held = s.ov if s and s.ov != UNKNOWN else None
            ov = held if replicated and held else rng.choice([UNKNOWN] * 9 + [OUT])
            ev = self.register(rng, key, ts, st, ov, replicated)
            if "snapshot" in self.use and not replicated and rng.random() < 0.5:
                as_of = rng.choice([0, 0, 1, 2000, 30000, -5000])
                ev = ev._replace(snapshot=True, as_of=max(1, self.now - as_of) if as_of else 0)
        elif kind == FORGET:
            if s is None and rng.random() < 0.5:
                return
            ev = Event(FORGET, key)
        elif s is None:
            if rng.random() < (0.4 if "anew" in self.use else 0.8):
                return
            ev = Event(CANCEL, key) if kind == CANCEL else Event(HEARTBEAT, key, ts)
        elif kind == HEARTBEAT:
            ev = Event(HEARTBEAT, key, ts if rng.random() < 0.1 else s.ts, replicated=replicated)
        elif kind == CANCEL:
            ev = Event(CANCEL, key, rng.choice([None, s.ts, ts]), replicated=replicated)
        else:
            value = rng.choice([UP, DOWN, OUT, OUT, STARTING] if kind == STATUS else [None, UNKNOWN, UP, OUT])
            # one that does nothing here may do something at a peer that is behind, which is newer then
            ev = Event(kind, key, s.ts if replicated else ts, value, replicated=replicated)
        self.feed(ev)

    def do_origin(self, rng, p):
        """A client of the peer: it tells the source, and nobody else."""
        key = rng.choice(self.keys)
        r, base = p.registry.records.get(key), self.tops[key] or self.now + 1000
        ts = max(1, (r.ts if r else base) + rng.choice([0, 0, 1, 50]))
        kind = rng.choice([REGISTER] * 3 + [HEARTBEAT] * 2 + [CANCEL, STATUS, STATUS, DELETE])
        if kind == REGISTER:
            self.version += 1
            ev = Event(kind, key, ts, rng.choice([UP, UP, DOWN, OUT, STARTING]), rng.choice([UNKNOWN] * 4 + [OUT]),
                       self.version)
        elif r is None:
            return
        elif kind == HEARTBEAT:
            ev = Event(kind, key, r.ts)
        elif kind == CANCEL:
            ev = Event(kind, key, rng.choice([None, r.ts, max(1, r.ts - 9)]))
        else:
            ev = Event(kind, key, ts, rng.choice([UP, DOWN, OUT] if kind == STATUS else [None, UP]))
        if p.registry.apply(ev, "W") != 200:
            return
        self.knows_first(p, key)
        if kind == REGISTER:        # as it has it now
            r = p.registry.records[key]
            ev = ev._replace(st=r.st, ov=r.ov)
        self.feed(ev._replace(origin=p.number + 1))
        s, r = self.view.state(key), p.registry.records.get(key)
        if r and r.ts > (s.top if s else 0):
            p.touched.add(key)      # as above

    def do_beat(self, rng, key):
        if self.view.present(key):
            self.feed(Event(HEARTBEAT, key, self.view.state(key).ts))

    def do_asg(self, rng):
        replicated = "replicated" in self.use and rng.random() < 0.3
        self.feed(Event(ASG, rng.choice(["A0", "A1"]), None, rng.choice([UP, OUT]), replicated=replicated))

    def feed(self, ev):
        before = self.view.state(ev.key)
        change, need, wake = self.cores.event(self.now, ev)
        s = self.view.state(ev.key)
        self.say(f"event {ev}  -> {s if s and (s.v or ev.action == ASG) else 'absent'}")
        self.features["event " + ev.action + (" replicated" if ev.replicated else "")] += 1
        if s and ev.action != ASG:
            self.tops[ev.key] = max(self.tops[ev.key], s.top, before.top if before else 0)
        if ev.action == HEARTBEAT and change and not s.v and ev.ts < self.tops[ev.key]:
            for p in self.peers:        # it is sent as given, though they may have more of what was forgotten
                p.ahead.add(ev.key)
        for p in self.peers:            # what a peer that is, or was, away holds of it is not known any more
            if before is None and (not p.rows or ev.key in p.left):
                p.touched.add(ev.key)
        if ev.action == FORGET and change:
            self.forgotten.add(ev.key)
        elif s and s.v and ev.action == REGISTER:
            if ev.key in self.forgotten and not before:
                self.orphans.add(ev.key)    # what peers hold of it is not known any more: their leases have run out
            self.forgotten.discard(ev.key)
        elif ev.action == CANCEL and change and not s.v:
            self.cancelled[ev.key] = self.version
            self.forgotten.discard(ev.key)
            for p in self.peers:
                if p.rows and not p.rows[0].behind:
                    p.left.discard(ev.key)
        self._everywhere(ev, change, need)
        self._expire_at(wake)

    def _everywhere(self, ev, change, need):
        for p in self.peers:
            if ev.replicated:       # whoever sent it tells every peer at the same moment
                if ev.action == ASG:
                    p.registry.asgs[ev.key] = ev.st
                else:
                    p.registry.apply(ev, "W")
                    self.knows_first(p, ev.key)
            if ev.replicated and ev.key in p.wiped:
                p.silent.add(ev.key)    # it took what is older, for it had nothing
            p.wiped.discard(ev.key)
            if ev.action == ASG and change and not ev.replicated:
                p.asg_lost.discard(ev.key)
            self.hear(p)
        if need and not ev.replicated and self.calm_at is None and self.rng.random() < 0.7:
            self.at(50, self.answer_need_register, ev.key, ev.ts or 0)
        for p in self.peers:
            self.poll(p)

    def answer_need_register(self, key, ts):
        if self.calm_at is None:
            self.feed(self.register(self.rng, key, max(ts, self.tops[key] + 1, self.now + 1000), UP))

    @staticmethod
    def knows_first(p, key):
        """The peer knows what its lane does not, while that is told nothing: a conflict for the time being."""
        if p.rows and p.rows[0].behind:
            p.ahead.add(key)

    # ---- what else happens to the view

    def expire(self):
        forgotten, given_up, wake = self.cores.expire(self.now)
        self.forgotten |= forgotten | given_up
        for key in given_up:
            self.say(f"{key} is given up")
            self.features["given up"] += 1
            for p in self.peers:
                p.left.add(key)
        for key in forgotten:
            self.say(f"{key} ages out")
        for p in self.peers:
            self.hear(p)
        self._expire_at(wake)

    def _expire_at(self, wake):
        if wake < NEVER and wake != self.view_wake:
            self.view_wake = wake
            self.at(wake - self.now, self.expire_again, wake)

    def expire_again(self, wake):
        if wake == self.view_wake:
            self.view_wake = None
            self.expire()
            for p in self.peers:
                self.poll(p)

    def answer_released(self, p, row, lanes, released):
        if p.lanes == lanes and p.rows:
            self.cores.answer_released(row, released)

    # ---- what else happens to peers

    def do_phase(self, rng, p, phase):
        if phase != p.phase:
            p.phase = phase
            p.spells += phase in ("400 all", "413 all")     # alone twice in two such spells looks like a bad item
            self.say(f"P{p.number} network: {phase}")

    def do_restart(self, rng, p):
        p.registry, self.restarted, p.busy = Registry(self), True, 0
        p.life += 1
        p.wiped |= set(self.keys)
        p.asg_lost |= {"A0", "A1"}
        self.say(f"P{p.number} restarts empty")

    def _walk(self, p, resync):
        if not p.rows or p.rows[0].behind or p.rows[1].behind:
            return
        self.say(f"P{p.number} {'resync' if resync else 'verify'}")
        self.cores.walk(self.now, p.rows[0], resync)
        self.hear(p)
        self.poll(p)

    def do_resync(self, rng, p):
        self._walk(p, True)

    def do_verify(self, rng, p):
        self._walk(p, False)

    def do_retry(self, rng, p):
        for row in p.rows:
            self.cores.retry(row)
        if p.rows:
            self.say(f"P{p.number} retry now")
            self.poll(p)

    def do_hold(self, rng, p):
        """The other lane of the peer pauses."""
        if p.rows:
            ms = rng.choice([500, 5000, 30000])
            self.say(f"P{p.number} pauses for {ms} ms")
            for row in p.rows:
                self.cores.hold(row, self.now + ms)
            self.poll(p)

    def do_miss(self, rng, p):
        if p.rows:
            self.say(f"P{p.number} is told nothing")
            for row in p.rows:
                self.cores.missing(row)

    def do_catch_up(self, rng, p):
        if p.rows and p.rows[0].behind:
            self.say(f"P{p.number} catches up")
            for row in p.rows:
                self.cores.catch_up(self.now, row)
            self.hear(p)
            self.poll(p)

    def do_leave(self, rng, p):
        """The peer is removed. What was on its way may still arrive."""
        if not p.rows:
            return
        self.say(f"P{p.number} is removed")
        p.asg_late |= {"A0", "A1"}
        p.unsettled, p.dropped_at = self.cores.drop(p.rows), self.now
        p.rows = []

    def do_rejoin(self, rng, p):
        if p.rows:
            return
        self.say(f"P{p.number} is added again")
        self.cores.program.ask("join", 2 * p.number, p.unsettled)
        self._join(p)
        # their tombstones are gone, or nothing was ever to be told of them
        p.left |= {key for key in self.keys if not self.view.remembers(key)
                   or not self.view.state(key).top and not self.view.instances[key].cancelled}
        self._walk(p, True)

    def do_other(self, rng, p):
        key = rng.choice(self.keys)
        self.version += 1
        ts = max(1, (self.tops[key] or self.now) + rng.choice([1, 20, 2000, -3, -3, 0]))
        ev = Event(REGISTER, key, ts, rng.choice([UP, UP, DOWN]), rng.choice([UNKNOWN] * 4 + [OUT]), self.version)
        p.registry.apply(ev, "other")
        p.touched.add(key)
        self.say(f"P{p.number} another writer: {ev}")

    # ---- the end

    def compare(self):
        bad = []
        for p in self.peers:
            for row in p.rows:
                for e in row.lane.entries.values():
                    doubt = e.unsure is not None and e.state.top and e.unsure != e.state.seq and not e.refused
                    if (e.wants or e.phase or doubt) and not e.tries and not e.refused:
                        bad.append(f"not settled: P{p.number} {e.key}")
            for kind, key in p.said:
                flawed = key in p.toxic or any(k == key for k, _ in self.poison | self.refused)
                if kind == "conflict" and key not in p.touched | p.ahead | p.left | self.orphans:
                    bad.append(f"false conflict: P{p.number} {key}")
                # another's at UNKNOWN, which is newer, is as good as none, and stays
                unlucky = p.spells >= 2 or p.chances[key] >= CHANCES or key in p.touched
                if kind == "rejected" and not unlucky and not flawed and key in self.keys:
                    bad.append(f"false rejection: P{p.number} {key}")
            for key in self.keys:
                kind = self.differs(p, key)
                if kind:
                    bad.append(f"{kind}: P{p.number} {key}: view {self.view.state(key)}, "
                               f"peer {p.registry.records.get(key)}")
            for key, s in self.view.asgs.items():
                if p.rows and key not in p.asg_lost | p.asg_late and p.registry.asgs.get(key) != s.st:
                    bad.append(f"ASG: P{p.number} {key}")
        return bad

    def differs(self, p, key):
        s = self.view.state(key) if self.view.present(key) else None
        r = p.registry.records.get(key)
        if not p.rows or key in self.orphans or s is None and key in p.left or key in self.forgotten and s is None:
            return None
        if self.flawed(key) or key in p.silent or key in p.wiped:
            return None
        if key in p.touched and (("conflict", key) in p.said or r and r.by == "other"):
            return None
        if (s is None) != (r is None):
            return "absent at the peer" if s else "present at the peer"
        for name in ("v", "st", "ts", "ov") if s else ():
            if getattr(s, name) != getattr(r, name):
                return None if key in p.touched else {"v": "info", "st": "status", "ts": "timestamp",
                                                      "ov": "override"}[name]
        return None
