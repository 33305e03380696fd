"""The view: what the source says. DESIGN.md, "The view", is this file in words.

It applies every event by the rules of a receiving registry (registry.py, without status rule 4), keeps
tombstones, and says what the lanes must be told."""
from registry import effective
from words import (ASG, CANCEL, DELETE, EXACT, FORGET, FRESH, HEARTBEAT, OWE, REGISTER, RELEASE, RENEWAL_NONE_MS,
                   REPLICATED, SNAPSHOT, STATUS, UNKNOWN, VERIFY, Change, State)

PRESENT, TOMBSTONE, RELEASING = "present", "tombstone", "releasing"


class Instance:
    def __init__(self):
        self.state, self.standing, self.due, self.lease = None, None, None, 0
        self.top = 0                # highest timestamp of any life; the state of what was forgotten has none
        self.fresh = False          # its source forgot it: peers may still hold it
        self.cancelled = False      # when last it went, by Cancel
        self.changed = 0            # second of the newest change that was accepted; 0: none
        self.pictured = False       # there was a snapshot: peers are told whatever they need to hold just that
        self.unanswered = set()     # lanes that were told RELEASE and have not answered


class View:
    def __init__(self, tombstone_ms=900000, age_out=False):
        self.tombstone_ms, self.age_out = tombstone_ms, age_out
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
        """The view says of the instance what the event says, no less and no more."""
        ev = self.ev
        if ev.action == CANCEL:
            return not s.v
        if not s.v or s.ts != ev.ts:
            return False
        return {REGISTER: (s.st, s.ov) == (ev.st, ev.ov), STATUS: (s.st, s.ov) == (ev.st, ev.st),
                DELETE: (s.st, s.ov) == (ev.st or UNKNOWN, UNKNOWN)}.get(ev.action, True)

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
        return self._become(i, self._registered(i))

    def _registered(self, i):
        """What the instance is after a Register that counts: it never replaces an override that is held."""
        ev, old = self.ev, i.state
        held = old.ov if old and old.ov != UNKNOWN else ev.ov
        return ev.v, effective(ev.st, held), held, ev.ts, max(ev.ts, i.top), ev.renewal

    def _become(self, i, facts, flags=0):
        self._publish(i, *facts)
        i.lease = self.ev.duration
        self._stand(i, PRESENT)
        told = self._tell(i, REGISTER, flags | (FRESH if i.fresh else 0))
        i.fresh = False
        return told

    def _snapshot(self, i, present):
        """All that the source has. One that is late, for a change was accepted since, does nothing unless it
        says what the view says: then there is nothing else that a peer should hold."""
        ev, old = self.ev, i.state
        shown = ev.v, effective(ev.st, ev.ov), ev.ov, ev.ts, max(ev.ts, i.top), ev.renewal
        if ev.as_of and i.changed and (ev.as_of > self.now or i.changed >= ev.as_of // 1000):
            if not present or self._like(old[1:]) != self._like(shown):
                return None
            shown = old[1:]
        else:
            i.changed = (ev.as_of if 0 < ev.as_of <= self.now else self.now) // 1000
        # a Register like others, if that comes to the same, and no peer holds what the view has not
        plain = i.pictured and not (present and ev.ts < old.ts) and self._like(shown) == self._like(self._registered(i))
        i.pictured = True
        return self._become(i, shown, 0 if plain else SNAPSHOT)

    @staticmethod
    def _like(facts):
        """Status, override, timestamp: the text of a document has times in it that are always others."""
        return facts[1:4]

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
            # but peers guard it by nothing: those that were told by others are asked
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
        return self.instances.setdefault(key, Instance())

    def _publish(self, i, *facts):
        """A new state, unless it says the same. One that comes back while it is released always gets one."""
        if i.state is None or i.standing == RELEASING or i.state[1:] != facts:
            self.seq += 1
            i.state = State(self.seq, *facts)
            i.top = max(i.top, i.state.top)

    def _stand(self, i, standing):
        i.standing = standing
        if standing == TOMBSTONE:
            i.due = self.now + self.tombstone_ms
        else:
            i.due = self.now + 2 * i.lease if self.age_out else None

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
        i.standing, i.unanswered = RELEASING, set(self.lanes)
        return Change(key, i.state, FORGET, RELEASE)

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
        told = [Change(key, i.state, FORGET, OWE if owed else 0, i.top)]
        return told + [Change(key, i.state, FORGET, RELEASE)] * (i.standing == RELEASING)

    def walk(self, resync):
        """What a walk tells of instances."""
        told = [c for key in self.instances for c in [self.catch_up(key)] if len(c) == 1 and c[0].flags & OWE]
        return [c[0]._replace(flags=WALK_FLAGS[resync]) for c in told]


WALK_FLAGS = {True: 32 | 8, False: 32 | 16}
