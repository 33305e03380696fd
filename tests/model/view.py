"""The view: what the source says. DESIGN.md, "The view", is this file in words.

It applies every event by the rules of a receiving registry (registry.py, without status rule 4), keeps
tombstones, and says what the lanes must be told."""
from registry import effective
from words import (ASG, CANCEL, DELETE, DURATION_NONE_MS, EXACT, FORGET, FRESH, GIVE_UP, HEARTBEAT, OWE, REGISTER, RELEASE,
                   RENEWAL_NONE_MS, REPLICATED, SNAPSHOT, STATUS, UNKNOWN, VERIFY, Change, State, Wrong)

PRESENT, TOMBSTONE, RELEASING = "present", "tombstone", "releasing"

COST_LEAST, COST_MOST = 300, 800        # bytes of an instance that is being released


class Instance:
    def __init__(self):
        self.state, self.standing, self.due, self.lease = None, None, None, 0
        self.top = 0                # highest timestamp of any life; the state of what was forgotten has none
        self.fresh = False          # its source forgot it: peers may still hold it
        self.changed = 0            # when the newest change was accepted, in seconds; 0: never
        self.pictured = False       # there was a snapshot: peers are told all they need to hold just that
        self.cancelled = False      # when last it went, by Cancel
        self.unanswered = set()     # lanes that were told RELEASE and have not answered
        self.counted = 0            # its place among those that are released and not given up; 0: it is none


class View:
    def __init__(self, tombstone_ms=900000, age_out=False, outlive_ms=0, most=0):
        """most: bytes of what is being released; 0: no bound."""
        self.tombstone_ms, self.age_out, self.outlive_ms, self.most = tombstone_ms, age_out, outlive_ms, most
        self.releases = self.ghosts_until = 0       # until then peers may hold what was given up
        self.instances, self.asgs, self.lanes, self.seq = {}, {}, set(), 0

    # ---- what is known

    def state(self, key):
        i = self.instances.get(key)
        return i.state if i else self.asgs.get(key)

    def present(self, key):
        i = self.instances.get(key)
        return bool(i) and i.standing == PRESENT

    def remembers(self, key):
        """It is present, or a tombstone: whoever is told the whole view is told of it."""
        i = self.instances.get(key)
        return bool(i) and i.standing != RELEASING

    # ---- events in. Returns (what the lanes are told or None, need_register)

    def apply(self, now, ev):
        self.now, self.ev, self.need = now, ev, False
        if ev.action == ASG:
            return self._asg(ev), False
        i = self.instances.get(ev.key)
        present = bool(i) and i.standing == PRESENT
        if ev.action == REGISTER:
            told = self._register(i, present)
        elif ev.action == CANCEL:
            told = self._cancel(i, present)
        elif ev.action == FORGET:
            told = self._forget(i)
        elif not present:
            told = self._unknown(i)
        elif ev.action == HEARTBEAT:
            told = self._heartbeat(i)
        else:
            told = self._override(i)
        return told, self.need

    def _tell(self, i, action, flags=0, given=0):
        ev = self.ev
        if ev.replicated:
            flags |= REPLICATED
        if (ev.replicated or ev.origin) and self._exact(i.state):
            flags |= EXACT
        return Change(ev.key, i.state, action, flags, given, ev.origin)

    def _exact(self, s):
        """The view says of it what the event says, no less and no more; of a Heartbeat: that it lives, and since
        when."""
        ev = self.ev
        if ev.action == CANCEL:
            return not s.v
        if not s.v or s.ts != (ev.ts or 0):
            return False
        said = {REGISTER: (ev.st, ev.ov), STATUS: (ev.st, ev.st), DELETE: (ev.st or UNKNOWN, UNKNOWN)}
        return (s.st, s.ov) == said.get(ev.action, (s.st, s.ov))

    def _stamp(self, i):
        """A change is accepted, which a snapshot of before must not undo."""
        i.changed = self.now // 1000

    def _outdated(self, i):
        """Older than what is held: it renews, and changes nothing. Peers refuse a Heartbeat at UNKNOWN; and those
        to which a Register came before what is newer have taken it."""
        self._stand(i, PRESENT)
        beats = i.state.st != UNKNOWN
        if self.ev.action == REGISTER and (self.ev.replicated or self.ev.origin and not beats):
            return self._tell(i, REGISTER)
        return self._tell(i, HEARTBEAT) if beats else None

    def _register(self, i, present):
        ev = self.ev
        if ev.snapshot:
            return self._snapshot(self._enter(ev.key), present)
        if present and ev.ts < i.state.ts:
            return self._outdated(i)
        i = self._enter(ev.key)
        self._stamp(i)
        return self._become(i, self._registered(i), 0)

    def _registered(self, i):
        ev, old = self.ev, i.state
        # a Register never replaces an override that is held
        held = old.ov if old and old.ov != UNKNOWN else ev.ov
        return ev.v, effective(ev.st, held), held, ev.ts, max(ev.ts, i.top), ev.renewal

    def _become(self, i, facts, flags):
        self._publish(i, *facts)
        i.lease = self.ev.duration
        self._stand(i, PRESENT)
        told = self._tell(i, REGISTER, flags | (FRESH if i.fresh else 0))
        i.fresh = False
        return told

    def _snapshot(self, i, present):
        """All that the source has of the instance. One of before a change that was accepted since does nothing,
        unless it says what the view says: then there is nothing else that a peer should hold."""
        ev = self.ev
        facts = ev.v, effective(ev.st, ev.ov), ev.ov, ev.ts, max(ev.ts, i.top), ev.renewal
        future = ev.as_of > self.now        # by another engine's clock
        if ev.as_of and i.changed and (future or i.changed >= ev.as_of // 1000):
            if not present or facts[1:4] != i.state[2:5]:
                return None
            facts = i.state[1:]
            flags = self._snapshot_flags(i, present, facts)
        else:
            flags = self._snapshot_flags(i, present, facts)
            i.changed = (self.now if future or not ev.as_of else ev.as_of) // 1000
        told = self._become(i, facts, flags)
        i.pictured = True
        return told

    def _snapshot_flags(self, i, present, facts):
        """It may be told as a Register like others if that comes to the same."""
        older = present and self.ev.ts < i.state.ts
        plain = i.pictured and not older and self._registered(i)[1:4] == facts[1:4]
        return 0 if plain else SNAPSHOT

    def _unknown(self, i):
        """The host has a Register that the view has not. A Heartbeat is sent as given meanwhile: peers may
        know the instance from elsewhere."""
        self.need = True
        if self.ev.action != HEARTBEAT or self.ev.replicated:
            return None
        i = self._enter(self.ev.key)
        self._bury(i, i.state.top if i.state else 0)
        return self._tell(i, HEARTBEAT, 0, self.ev.ts)

    def _heartbeat(self, i):
        ts = self.ev.ts
        if i.state.st == UNKNOWN:       # an override deleted without a status: peers answer 404 until a Register
            self.need = True
            self._stand(i, PRESENT)
            return None
        if ts < i.state.ts:
            return self._outdated(i)
        self._stand(i, PRESENT)
        self.need = ts > i.state.ts
        return self._tell(i, HEARTBEAT, 0, ts if self.need else 0)

    def _override(self, i):
        """Never outdated: receivers do not guard an override either."""
        ev, s = self.ev, i.state
        update = ev.action == STATUS
        if s.st != ev.st if update else s.ov != UNKNOWN:
            ts = max(s.ts, ev.ts or 0)
            self._publish(i, s.v, ev.st or UNKNOWN, ev.st if update else UNKNOWN, ts, max(s.top, ts), s.renewal)
        self._stamp(i)
        self._stand(i, PRESENT)
        return self._tell(i, ev.action)

    def _cancel(self, i, present):
        ts = self.ev.ts
        if present and ts is not None and ts < i.state.ts:      # of an earlier life: nobody is told
            self._stand(i, PRESENT)
            # but peers guard it by nothing: those that others told are asked whether they have this life
            return self._tell(i, HEARTBEAT, VERIFY) if self.ev.replicated or self.ev.origin else None
        i = self._enter(self.ev.key)
        self._stamp(i)
        self._bury(i, max(ts or 0, i.top))
        i.cancelled = True
        return self._tell(i, CANCEL)

    def _forget(self, i):
        # whom the view does not know no lane knows; and a Cancel that was accepted is told, whatever follows
        if i is None or i.standing != PRESENT and i.cancelled:
            return None
        self._let_go(i)
        return self._tell(i, FORGET, 0, i.top)      # which the state has not: a Cancel of before is asked about

    def _asg(self, ev):
        old = self.asgs.get(ev.key)
        if not old or old.st != ev.st:
            self.seq += 1
            self.asgs[ev.key] = State(self.seq, 0, ev.st, UNKNOWN, 0, 0, 0)
        return Change(ev.key, self.asgs[ev.key], ASG, REPLICATED if ev.replicated else 0, 0, ev.origin)

    # ---- how instances stand

    def _enter(self, key):
        if key not in self.instances:
            self.instances[key] = Instance()
            self.instances[key].fresh = self.now < self.ghosts_until
        return self.instances[key]

    def _publish(self, i, *facts):
        """A new state, unless it says the same. One that comes back while it is released always gets one."""
        if i.state is None or i.standing == RELEASING or i.state[1:] != facts:
            self.seq += 1
            i.state = State(self.seq, *facts)
            i.top = max(i.top, i.state.top)

    def _stand(self, i, standing):
        i.standing, i.counted = standing, 0
        if standing == TOMBSTONE:
            i.due = self.now + self._held_ms(i)
        else:
            i.due = self.now + 2 * i.lease if self.age_out else None

    def _held_ms(self, i):
        """So long a peer may hold it."""
        lease = 2 * (i.lease or DURATION_NONE_MS) + self.outlive_ms
        return max(self.tombstone_ms, lease if self.outlive_ms else 0)

    def _bury(self, i, top):
        self._publish(i, 0, UNKNOWN, UNKNOWN, 0, top, RENEWAL_NONE_MS)
        self._stand(i, TOMBSTONE)

    def _let_go(self, i):
        i.fresh |= i.standing == PRESENT
        i.cancelled = i.pictured = False
        self._stamp(i)
        self._bury(i, 0)

    # ---- letting go

    def due(self, now):
        """Keys that are old enough to be let go of."""
        return {k for k, i in self.instances.items() if i.standing in (PRESENT, TOMBSTONE)
                and i.due is not None and i.due <= now}

    def expire(self, now, key):
        """Lets go of one: aged out, as if it were forgotten; a tombstone, for good. Returns what the lanes
        are told, or None."""
        i = self.instances[key]
        self.now = now
        if i.standing == PRESENT:
            self._let_go(i)
            return Change(key, i.state, FORGET, 0, i.top)
        if not self.lanes:
            del self.instances[key]
            return None
        self.releases += 1
        i.standing, i.unanswered, i.counted = RELEASING, set(self.lanes), self.releases
        return Change(key, i.state, FORGET, RELEASE)

    def give_up(self, now, key):
        """What is being released takes too much memory: of the one that was released first the lanes keep nothing.
        A peer may hold it, with an override, so that until then whoever is new is fresh."""
        counted = {k: i.counted for k, i in self.instances.items() if i.counted}
        if not counted or key != min(counted, key=counted.get) or len(counted) * COST_MOST <= self.most:
            raise Wrong(f"given up: {key}, of {counted}, with room for {self.most} bytes")
        i = self.instances[key]
        i.counted, i.fresh = 0, True
        self.ghosts_until = max(self.ghosts_until, now + self._held_ms(i))
        return Change(key, i.state, FORGET, RELEASE | GIVE_UP)

    def check_bound(self):
        counted = sum(i.counted > 0 for i in self.instances.values())
        if self.most and counted * COST_LEAST > self.most:
            raise Wrong(f"bound: {counted} are being released, with room for {self.most} bytes")

    def released(self, lane, key, seq):
        """A lane holds nothing of it any more. Ignored when it is not what it was told to release."""
        i = self.instances.get(key)
        if i and i.standing == RELEASING and i.state.seq == seq:
            self._answered(key, i, lane)

    def _answered(self, key, i, lane):
        i.unanswered.discard(lane)
        if i.standing == RELEASING and not i.unanswered:
            del self.instances[key]

    def remove_lane(self, lane):
        self.lanes.discard(lane)
        for key, i in list(self.instances.items()):
            self._answered(key, i, lane)

    def catch_up(self, key):
        """What a lane is told that missed changes of an instance: its present state is owed, or it is
        forgotten; and then it is released, if the view is letting go of it."""
        i = self.instances.get(key)
        if i is None:
            return [Change(key, self.asgs[key], ASG)] if key in self.asgs else []
        owed = i.standing == PRESENT or i.cancelled
        told = [Change(key, i.state, FORGET, OWE if owed else 0, 1000 * i.changed if owed else i.top)]
        flags = RELEASE if i.counted else RELEASE | GIVE_UP
        return told + [Change(key, i.state, FORGET, flags)] * (i.standing == RELEASING)

    def walk(self, resync):
        """What a walk tells of instances."""
        told = [c for key in self.instances for c in [self.catch_up(key)] if len(c) == 1 and c[0].flags & OWE]
        return [c[0]._replace(flags=WALK_FLAGS[resync]) for c in told]


WALK_FLAGS = {True: 32 | 8, False: 32 | 16}
