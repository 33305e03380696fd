"""What lies between a lane and its peer in a history: the network with its faults, and the peer."""
import random
from collections import Counter
import verdict as V
from cores import NEVER, Row
from lane import Lane
from registry import Registry
from words import ASG, CANCEL, FETCH, HEARTBEAT, REGISTER, UNKNOWN, Wrong

CHANCES = 3         # what fails alone so often, and not in between, looks like a bad item
FAULTS = ["refused", "connect timeout", "reset before", "reset after", "timeout", "timeout applied", "timeout late",
          "503", "429", "403", "500", "502", "unusable", "tls", "internal", "taken back", "sent twice"]
ONCE = [f for f in FAULTS if f != "sent twice"]
PHASES = ["ok"] * 5 + ["item 500", "item 403", "404 to registers", "400 all", "413 all", "mix"] + FAULTS


class Peer:
    """One peer: its registry, what the network does with it, and its two lanes. What is marked of its keys
    is what its lanes cannot be blamed for."""

    def __init__(self, world, number, rng):
        self.number, self.rng, self.registry, self.life = number, rng, Registry(world), 0
        self.counter = V.Counter(world.maximum)
        self.rows = []
        self.latency = rng.choice([1, 5, 40])
        o = world.options[0]
        slow = [o.read_timeout / 8, o.read_timeout / 3] if len(world.keys) < 10 else []
        self.per_item = rng.choice([0, 0, 0.2, 5] + slow)
        self.serial, self.busy = rng.random() < 0.5, 0
        self.max_bytes = rng.choice([10**9, 10**9, 5000, 2500])
        self.rate = rng.choice([0, 0.02, 0.1, 0.3])     # single faults
        self.copies = rng.choice([0, 1, 2, 2, 2])       # without, and with all that is in them
        self.phase, self.spells = "ok", 0
        self.touched, self.silent, self.toxic, self.said, self.wiped = set(), set(), set(), set(), set()
        self.asg_lost, self.asg_late = set(), set()     # updates that were given up; that may arrive after newer ones
        self.chances = Counter()    # how often a fault has hit an instance that was alone in its batch
        self.ahead = set()  # it knew of these before its lane did
        self.left = set()   # the view knew nothing of these any more when it was added
        self.lanes = 0      # grows when they are made anew
        self.unsettled, self.dropped_at = False, 0      # when they were dropped

    def join(self, world):
        self.lanes += 1
        self.rows = [Row(2 * self.number + i, Lane(world.options[i], self.number + 1, self.unsettled and not i))
                     for i in range(2)]
        self.flying = 0
        self.wake = [None, None]


class Network:
    """The half of a history that is about attempts; world.py has the other."""

    def send(self, p, row, b):
        """A batch is on its way: decides what comes of it."""
        end = self.fault(p)
        self.say(f"P{p.number} #{b.id} send [{', '.join(map(str, b.items))}] {end if end != 'ok' else ''}")
        self.features["fault " + end] += end != "ok"
        if end != "ok" and len({i.key for i in b.items}) == 1:
            p.chances[b.items[0].key] += 1
        p.flying += 1
        if end == "sent twice":
            self.send_twice((p, row, b, p.lanes, True))
        else:
            self.suffer((p, row, b, p.lanes, False), end)

    def send_twice(self, flight):
        """The connection is lost, and the request goes out once more. The first may be applied before, after, or
        never; the second may end in any way."""
        p, row, b, *_ = flight
        lost, life = p.rng.uniform(0, 900), p.life
        if p.rng.random() < 0.7:
            late = p.rng.random() < 0.7
            self.at(lost + p.rng.uniform(0, row.lane.o.read_timeout - 20) if late else 0, self.apply, flight, life)
            if row.lane.o.asg_life:
                p.asg_late |= {i.key for i in b.items}
        self.at(lost, self.suffer, flight, p.rng.choice(ONCE) if p.rng.random() < 0.3 and self.calm_at is None else "ok")

    def suffer(self, flight, end):
        p, row, b, lanes, _ = flight
        if lanes != p.lanes or not p.rows:      # it is aborted before it goes out again
            return
        asg = bool(row.lane.o.asg_life)
        rt, lat, life = row.lane.o.read_timeout, p.latency, p.life
        half = row.lane.o.single and len(b.items) > 1 and p.rng.random() < 0.5
        n = 1 if half else None

        def apply(n=n):
            return self.apply(flight, life, n)
        if end == "refused":
            self.at(1, self.done, flight, V.UNSENT)
        elif end == "connect timeout":
            self.at(1000, self.done, flight, V.UNSENT)
        elif end in ("tls", "internal"):
            self.at(lat, self.done, flight, {"tls": V.TLS, "internal": V.INTERNAL}[end])
        elif end in ("reset before", "reset after", "unusable", "500"):
            how = {"unusable": V.UNUSABLE, "500": V.STATUS_5XX}.get(end, V.RESET)
            if end in ("reset after", "unusable"):
                self.at(lat, apply)
            elif end == "500" and p.rng.random() < 0.5:
                self.at(lat, lambda: self.apply(flight, life, p.rng.randint(0, len(b.items))))
            self.at(lat, self.done, flight, how, 500 if end == "500" else 200 if end == "unusable" else 0)
        elif end in ("timeout", "timeout applied", "timeout late", "taken back", "502"):
            wait = {"taken back": 6000, "502": lat}.get(end, rt)
            how = {"taken back": V.TAKEN_BACK, "502": V.STATUS_5XX}.get(end, V.READ_TIMEOUT)
            late = end == "timeout late" or end in ("taken back", "502") and p.rng.random() < 0.7
            if end == "timeout applied":
                self.at(p.rng.uniform(0, wait - 1), apply)
            elif late:
                self.at(wait + p.rng.uniform(0, rt - 10), apply)
                if asg:
                    p.asg_late |= {i.key for i in b.items}
            self.at(wait, self.done, flight, how, 502 if end == "502" else 0, half=half and how != V.TAKEN_BACK)
        elif end == "503":
            self.at(lat, self.done, flight, V.BUSY, 503, p.rng.choice([0, 0, 2000, 60000]))
        elif end in ("429", "403"):
            self.at(lat, self.done, flight, V.STATUS, int(end), p.rng.choice([0, 0, 2000]))
        else:
            self.answer(flight, end, apply)

    def fault(self, p):
        if self.calm_at is not None:
            return "ok"
        end = p.phase
        if end in ("item 500", "item 403", "404 to registers"):
            end = "ok"
        if end == "mix" or end == "ok" and p.rng.random() < p.rate:
            end = p.rng.choice(FAULTS)
        return end

    def answer(self, flight, end, apply):
        """The peer itself answers: 400, 413, or it works through the items."""
        p, row, b, *_ = flight
        o = row.lane.o
        bad = [i for i in b.items if (i.key, i.v) in self.poison]
        if o.asg_life and "asg 400" in self.use:
            self.at(p.latency, self.done, flight, V.STATUS, 400)
        elif b.bytes > p.max_bytes or end == "413 all":
            self.at(p.latency, self.done, flight, V.STATUS, 413)
        elif bad or end == "400 all":
            self.features["400"] += 1
            self.at(p.latency, self.done, flight, V.STATUS, 400)
        else:
            start = max(self.now, p.busy) if p.serial else self.now
            finish = start + p.latency + p.per_item * len(b.items)
            p.busy = finish
            wait = finish - self.now
            if wait >= o.read_timeout:
                self.features["slow timeout"] += 1
                if wait < 2 * o.read_timeout - 10:
                    self.at(wait, apply)
                if o.asg_life:
                    p.asg_late |= {i.key for i in b.items}
                self.at(o.read_timeout, self.done, flight, V.READ_TIMEOUT)
            else:
                self.at(wait, lambda: self.done(flight, V.OK, 200, 0, self.apply(flight, p.life)))

    def apply(self, flight, life, n=None):
        """The peer does what the batch says, or the first n items of it; None: it restarted meanwhile."""
        p, row, b, lanes, _ = flight
        gone = lanes != p.lanes or not p.rows
        if p.life != life or gone and self.now >= p.dropped_at + row.lane.o.read_timeout - 10:
            return None         # or it is later than is promised
        codes = []
        for i in b.items[:n]:
            if i.action == ASG:
                p.registry.asgs[i.key] = i.st
                codes.append(200)
            else:
                codes.append(self.apply_item(p, i))
                refused = codes[-1] in (403, 500) or codes[-1] == 404 and i.action == REGISTER
                if refused and b.id not in row.lane.flights:    # it comes late, and nobody hears of that
                    p.silent.add(i.key)
        self.say(f"P{p.number} #{b.id} applied {codes}")
        return codes

    def apply_item(self, p, i):
        if i.action == REGISTER and (i.key, i.v) in self.refused:
            p.silent.add(i.key)
            return 200
        phase = p.phase if self.calm_at is None else "ok"
        broken = phase in ("item 500", "item 403") and p.rng.random() < 0.5
        if broken or (i.key, i.v) in self.toxic:
            p.toxic.add(i.key)
            return 403 if phase == "item 403" else 500
        if phase == "404 to registers" and i.action == REGISTER:
            p.toxic.add(i.key)
            return 404
        return p.registry.apply(i)

    def done(self, flight, end, status=0, retry_after=0, codes=(), half=False):
        p, row, b, lanes, repeated = flight
        if lanes != p.lanes or not p.rows:      # the lane is gone
            return
        if codes is None:                       # it restarted before it could answer
            end, status, codes = V.RESET, 0, ()
        p.flying -= 1
        single = row.lane.o.single or b.items[0].action == FETCH
        if codes and single and any(c in (404, 409, 500) for c in codes):
            end = V.ITEM
        copies = {}
        for n, (i, code) in enumerate(zip(b.items, codes)):
            if i.action == FETCH and code == 200:
                r = p.registry.records[i.key]
                copies[n] = r.ts, self.now - r.since
            elif code == 409 and p.copies and i.key in p.registry.records:
                r = p.registry.records[i.key]
                copies[n] = r.ts, self.now - r.since if p.copies > 1 else None
        v = self.cores.done(self.now, row, p.counter, b.id, end, status, retry_after, list(codes) or None, copies,
                            half, repeated)
        self.say(f"P{p.number} #{b.id} {end} {status or ''} -> {v.verdict}{' escalated' if v.escalated else ''}")
        self.features["verdict " + v.verdict + (" escalated" if v.escalated else "")] += 1
        self.hear(p)
        self.poll(p)

    # ---- lanes

    def hear(self, p):
        """What the lanes have reported since they were last heard."""
        for row in p.rows:
            for r in row.heard:
                self.outcomes[r.kind] += 1
                p.said.add((r.kind, r.key))
                s = self.view.state(r.key)
                if r.kind == "conflict" and p.copies == 1 and s and not s.v and not s.top:   # nor since when it has it
                    p.left.add(r.key)
                if row.lane.o.asg_life and r.kind in ("dropped", "rejected"):
                    p.asg_lost.add(r.key)
                if r.kind != "delivered":
                    self.say(f"P{p.number} reports {r.kind} {r.key} {r.ending if r.ending != '-' else ''}")
            row.heard = []
            while row.released:
                self.at(self.rng.choice([0, 0, 30, 2000, 20000]), self.answer_released, p, row, p.lanes, row.released.pop(0))

    def poll(self, p):
        """Sends what may go, and remembers when to look again."""
        for n, row in enumerate(p.rows):
            while row.lane.entries:
                credit = max(0, self.credit - p.flying)
                self.batch_id += 1
                got = self.cores.next(self.now, row, credit, self.batch_id)
                self.hear(p)
                if not got.batch:
                    self.look_again(p, n, got)
                    break
                self.send(p, row, got.batch)

    def look_again(self, p, n, got):
        if got.wake <= self.now:
            raise Wrong(f"spin: wake {got.wake} at {self.now}")
        if got.wake < NEVER and got.wake != p.wake[n]:
            p.wake[n] = got.wake
            self.at(got.wake - self.now, self.wake, p, n, got.wake, p.lanes)

    def wake(self, p, n, when, lanes):
        if p.lanes == lanes and p.rows and p.wake[n] == when:
            p.wake[n] = None
            self.poll(p)
