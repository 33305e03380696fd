"""One lane: what one peer still has to be told. DESIGN.md, "The lane", is this file and answers.py in words.

The model decides everything about an instance: what waits, what is rendered, what an answer does, what is
reported, how each task ends. What is only tuning (which instances share a batch, how large it is, how many
are on their way, how long a pause is) it takes from the lane in C, and checks by rules that hold for every
choice. So a call that builds batches is given what the lane in C did (got), and raises Wrong where the
model would have done something else.

Here: changes in, batches out. What an answer does is in answers.py."""
from answers import BARREN_MANY, HALF, NEVER, Answers
from entry import (ACT, ASK, FORGOTTEN, LIVE, OTHERWISE, REFUSED, REPAIRED, Entry, Flight, GONE, Part)
from words import (ASG, BIT, C, CANCEL, D, DELETE, EXACT, FETCH, FORGET, FRESH, FULL, GIVE_UP, H, HEARTBEAT, OWE, R, REGISTER,
                   RELEASE, REPLICATED, S, SNAPSHOT, STATUS, TASKS, UNKNOWN, VERIFY, WALK, Item, Report, Wrong)

ANSWER_MS = 1000    # so long the answer to a question counts
LATE_MS = 1000      # a Cancel that has waited for so long asks first
REST_FIRST_MS, REST_TIMES = 60000, 5        # a pause, and how often it is doubled
REST_SOON_MS = 30000        # ... and the first, when it may have been chance
ALONE_EVERY, ALONE_EVERY_MS, ALONE_NEWS_MS = 200, 300000, 30000
ACTED_S = 60        # so long a peer may not yet have what others say of an instance that it was told of from here
QUESTION_EVERY = 4  # one in so many probes goes by the order of the queue alone
SWEEP_MS = 1000     # a Heartbeat may expire so much too late


ENDINGS = ["delivered", "superseded", "expired", "overflowed", "escalated", "failed", "dropped", "rejected",
           "missing", "conflict", "settled", "forgotten", "shutdown", "peer-removed"]


class Options:
    """Of one lane. asg_life 0: a lane of instances."""
    items, first, bytes, linger, read_timeout, pool = 250, 0, 1 << 20, 10, 30000, 10000
    asg_life, single, delivered = 0, False, False


class Lane(Answers):
    def __init__(self, options, origin=0, inherits=False):
        """origin: of changes that this peer told the source. inherits: an earlier lane of the peer left attempts
        that may yet be applied: what is told is in doubt, until two read timeouts after the first answer."""
        self.o, self.origin = options, origin
        self.now, self.inherits_until = 0, NEVER if inherits else 0
        self.entries, self.flights, self.splits = {}, {}, []
        self.said, self.ended, self.accepted = [], dict.fromkeys(ENDINGS, 0), 0
        self.tick, self.fronted, self.batch = 0, 0, 0
        self.last_id = self.last_ok = self.last_good = self.ok_before = self.good_before = 0
        self.splittable, self.failed, self.quiet_until = True, False, 0
        self.walk_active = self.walk_complete = False
        self.walk_instances = self.repaired = self.refused = 0
        self.launched = self.alone_from = self.alone_at = 0
        self.was_refused = False            # the last attempt was answered, and failed
        self.failures = self.barren = self.barren_id = 0    # in a row: failed attempts; refused requests
        self.hung_size, self.hung_until, self.hung_quick = 0, 0, False
        self.probe_at = NEVER       # when a peer that has not answered may be told of all it can be

    # ---- accounting

    def end(self, how, bits):
        self.ended[how] += (bits & TASKS).bit_count()

    def report(self, kind, e, bits=0, ending="-", code=0, copy=0):
        self.said.append(Report(kind, e.key, bits & TASKS, ending, code, copy, self.batch))

    def figures(self):
        """What must be equal in both, whatever was sent when, in the order of cores.FIGURES and ENDINGS."""
        waiting = flying = queued = owed = renew = unsure = refused = resting = left = 0
        for e in self.entries.values():
            waiting += (e.wait & TASKS).bit_count()
            flying += (e.flight & TASKS).bit_count()
            queued += e.queue == "live"
            owed += e.owed
            renew += e.renew
            unsure += e.unsure is not None
            refused += e.refused
            resting += e.resting
            left += e.walked
        if self.accepted != waiting + flying + sum(self.ended.values()):
            raise Wrong(f"accounting: {self.accepted} {waiting} {flying} {dict(self.ended)}")
        return [self.accepted, waiting, flying, len(self.entries), queued, owed, renew, unsure, refused,
                resting, len(self.flights), self.walk_active, self.walk_complete, self.walk_instances, left, self.repaired,
                self.refused, *self.ended.values()]

    # ---- queues: an entry stands in one, or is in flight, or wants nothing

    @staticmethod
    def leave(e):
        e.queue = None

    def put(self, e, queue, front=False):
        """Front: before all that stand there. What one call puts at the end has the same place: its order is
        tuning."""
        if e.phase or e.queue == "part":
            return
        if not e.wants:
            self.leave(e)
        elif e.queue != queue:
            self.fronted += front
            e.queue, e.place = queue, (-self.tick, -self.fronted) if front else (self.tick, 0)

    def stand(self, e, front=False):
        """Where it belongs now. Front: it was there before, or an answer waits for it."""
        self.put(e, "owed" if e.owed and not self.answered(e) and not front else "live", front)

    def answered(self, e):
        """The question was answered, and not too long ago: what the peer has may have changed since."""
        return e.asked is not None and self.now - e.asked <= ANSWER_MS

    def release(self, e):
        """The view has let go of it, and nothing holds it here."""
        if e.leaving and not e.phase and e.unsure is None and not e.wants and not e.queue and not e.held:
            self.report("released", e)
            del self.entries[e.key]

    # ---- owed

    def owe(self, e):
        if e.held:                      # it will be owed when it has rested
            self.pay(e, REFUSED)
        else:
            e.owed, e.renew = True, False

    @staticmethod
    def renew(e):
        """Only a Heartbeat. Without a timestamp there is nothing to ask with."""
        if not e.owed and not e.held and e.top:
            e.owed = e.renew = True

    def pay(self, e, how):
        e.owed = e.renew = False
        if e.walked and not e.again:
            e.walked = False
            self.repaired += how == REPAIRED
            self.refused += how == REFUSED

    def lose_beat(self, e, how):
        if self.o.asg_life:
            self.report("dropped", e, H, how)
        self.end(how, H)
        e.wait = 0
        self.renew(e)
        self.stand(e)
        self.release(e)

    def give_up(self, e, kind, how, code=0, copy=0):
        """Ends what waits for an instance that the peer cannot be told of now: what it refuses, or has newer
        from elsewhere, rests. What was reported before, and not well since, is no news; but of what was to be
        cancelled a conflict is the end."""
        known = e.refused if kind == "rejected" else kind == "conflict" and e.tries and e.state.v
        if e.wait & TASKS & ~H or not known:
            self.report(kind, e, e.wait, how if kind == "dropped" else "-", code, copy)
        self.end(how, e.wait)
        e.wait, e.asked, e.ask = 0, None, False
        self.pay(e, REFUSED)
        self.leave(e)
        if kind == "conflict" or kind == how == "dropped":      # another's registration ends what was to be cancelled
            e.cancelled = False
            if not e.state.v:
                self.try_now(e)
        if kind == "rejected":
            e.misses, e.refused, e.held = 0, True, True
            self.rest(e)
        elif kind == "conflict" and e.state.v:
            self.rest(e)

    # ---- resting: nothing is final while the source says that the instance lives

    def rest(self, e):
        """After a pause, longer each time; a part of it is by chance."""
        ms = REST_FIRST_MS << min(e.tries, REST_TIMES)
        e.tries = min(e.tries, REST_TIMES) + 1
        self.rest_until(e, self.now + ms, self.now + ms + ms // 4)

    @staticmethod
    def rest_until(e, first, last):
        """first 0: before all others, as soon as may be."""
        e.resting, e.rest, e.goes_alone = True, (first, last), e.poison

    def rest_soon(self, e):
        """It may have been chance: once before its lease runs out, beside others."""
        e.held, e.tries = True, e.tries or 1
        self.rest_until(e, self.now + REST_SOON_MS, self.now + REST_SOON_MS)
        e.goes_alone = False

    @staticmethod
    def rest_end(e):
        e.tries, e.resting, e.held, e.lonely = 0, False, False, False

    def try_now(self, e):
        e.misses, e.refused = 0, False
        self.rest_end(e)

    def _rested(self, now, woke):
        """What the lane in C tries again. What takes others along goes alone, and not often: one try is two
        requests, and they make at most one in a hundred."""
        alone = [e for e in self.entries.values() if e.resting and e.goes_alone]
        for e in self.entries.values():
            if e.resting and not e.goes_alone and e.key not in woke and now >= e.rest[1]:
                raise Wrong(f"rest: {e.key} is not tried again")
        often = self.launched >= self.alone_from
        news = any(not e.rest[1] for e in alone)
        may = often or now >= self.alone_at + (ALONE_NEWS_MS if news else ALONE_EVERY_MS)
        due = [e.key for e in alone if now >= e.rest[1]]
        if may and due and not any(e.key in woke for e in alone):
            raise Wrong(f"rest: none of {due} is tried again")
        for e in [self.entries[key] for key in woke if key in self.entries]:    # else it is released
            if now < e.rest[0]:
                raise Wrong(f"rest: {e.key} is tried {e.rest[0] - now} ms too early")
            if e.goes_alone:
                if not may:
                    raise Wrong(f"rest: {e.key} is tried too often")
                may, self.alone_from, self.alone_at = False, self.launched + ALONE_EVERY, now
            self._wake(e)

    def _wake(self, e):
        """It is owed: what the peer has is asked first, as always. One that it only misses need not be told
        more than that it is there."""
        held = e.held
        e.resting = e.held = False
        if e.misses and not held:
            self.renew(e)
        elif e.askable:
            self.owe(e)
        e.again = bool(e.phase)
        if e.queue != "live":
            self.stand(e)
        self.release(e)

    # ---- changes in

    def change(self, now, c, more=False):
        """more: one of several that come in an order that means nothing."""
        self.now = now
        self.tick += not more
        e = self.entries.get(c.key)
        if e is None:
            e = self.entries[c.key] = Entry(c.key)
        changed = not e.state or e.state.seq != c.state.seq
        top = e.top if e.state else 0
        own = c.origin and c.origin == self.origin
        if e.state and c.state.v and c.state.ts < e.state.ts:
            e.clean = False             # the peer may hold what came before in this very life
        e.state = c.state
        e.leaving = bool(c.flags & RELEASE)
        if now < self.inherits_until and e.unsure != HALF:      # in what state a late attempt leaves it nobody knows
            self._doubt(e, HALF)
        if c.flags & (OWE | VERIFY) and not e.state.v and not e.askable and c.given:
            e.cancelled, e.since = True, c.given    # which of the peer's registrations it is about is told by their age
            e.given = 0                             # a Heartbeat's says nothing of what was cancelled
        if c.flags & OWE:
            self._owe_all(e)
        elif c.flags & VERIFY:
            self._ask(e, c, own)
        elif e.leaving:
            if c.flags & GIVE_UP:
                self._give_up(e)
            self.release(e)
        elif c.action == FORGET:
            self._forget(e, max(c.given, top))
        elif c.flags & REPLICATED:
            self._replicated(e, c, changed)
        elif own:
            self._origin(e, c)
        else:
            self._event(e, c)
        if c.flags & WALK:
            self.walk_instances += 1
            e.walked |= e.owed
        self._overflow()

    def _event(self, e, c):
        bit, held = BIT[c.action], e.held
        self.accepted += 1
        if bit & (R | C):
            self._try_anew(e, bit)
        if e.held and not (bit == H and e.refused_act):
            self.ended["rejected"] += 1
            return
        idle = not e.wait
        if bit != H or e.state.top or not e.cancelled:  # while a Cancel is to be told, what was known stays known
            e.given = c.given
        self._gather(e, bit)
        if bit == R and c.flags & FRESH:
            e.wait |= FULL
        # what changed while it was held was never sent, nor what it was held for; or the peer may keep an
        # earlier life; or all is told
        lower = bit == R and e.began_lower and not e.wait & C
        snapshot = c.flags & SNAPSHOT
        if bit & (R | C) and held and e.askable or lower or snapshot:
            self.owe(e)
            e.again = bool(e.phase)
        if idle and not (bit == H and e.by_age):    # what is told by its age does not become younger
            e.since = self.now
        # a live change does not wait with what is owed; the snapshots of a whole registry do
        if e.queue == "owed" and not snapshot:
            self.put(e, "live")
        else:
            self.stand(e)

    def _try_anew(self, e, bit):
        """A Register or Cancel of what the peer did not take. What takes others along goes on going alone."""
        if bit == R and e.poison and (e.refused or e.tries):
            if e.held:
                e.tries = 1
                self.rest_until(e, 0, 0)
            return
        e.suspect = 0
        self.try_now(e)

    def _gather(self, e, bit):
        if bit == H:
            e.beat, e.worth = self.now, self._life(e)
            if e.wait:                  # whatever waits renews the lease too
                self.ended["superseded"] += 1
            else:
                e.wait = H
        elif bit == C:                  # it stands first, and clears everything else
            self.end("superseded", e.wait)
            e.wait, e.cancelled, e.clean = C, True, False
        else:
            self.end("superseded", e.wait & (H | bit))
            if bit != R and e.wait & (S | D):
                e.wait |= FULL          # two changes of the override: only the pair gives their sum
            e.wait = (e.wait & ~H) | bit

    # ---- what others told

    def acted_lately(self, e):
        return e.acted is not None and self.now // 1000 - e.acted <= ACTED_S

    @staticmethod
    def _settles(e, bit):
        if bit == C:
            return True
        override = e.wait & R and e.state.ov != UNKNOWN     # the Register that waits may have brought it
        return bit == R and not e.wait & ~(R | H) and not e.owed and not override

    def settle(self, e, bits):
        """Ends these kinds, which wait, for somebody else has told the peer."""
        self.end("settled", e.wait & bits)
        e.wait &= ~bits
        if not e.wait:
            e.asked, e.ask = None, False

    def _replicated_asg(self, e, again):
        if again and not e.wait:        # what is on its way may arrive after it
            self.accepted += 1
            e.wait, e.beat, e.since, e.worth = H, self.now, self.now, self._life(e)

    def _widen(self, e):
        """The peer has not only what it had from here: what waits is told in full."""
        if e.wait & ~H or e.owed:
            self.settle(e, H)
            e.wait |= FULL

    def _trust(self, e, bit):
        """Whether the peer got the other's in place of our Register nobody knows here: it is asked. A Cancel of
        ours is told."""
        ours = e.wait & R
        self.settle(e, ~C if bit == C else ~0)
        if e.unsure is not None:        # nobody else knows of an attempt of ours that may come late
            self.owe(e)
        elif bit == R and ours:
            self.renew(e)

    def _replicated(self, e, c, changed):
        """Another has told all peers. What is still owed to them cannot always be settled by that: what it
        does at a peer depends on what the peer did not yet get from here."""
        bit = BIT[c.action]
        if self.o.asg_life:
            self._replicated_asg(e, changed and e.phase)
            return
        lately, exact = self.acted_lately(e), c.flags & EXACT
        # it changes nothing here, and says something else: the peer had it in its turn, and took an override behind
        # it for none if it was in that status already
        late = bit == R and not changed and not exact
        # what changes nothing here may have changed the peer before it got what was sent from here
        if bit == H or not (changed or e.wants or e.phase or lately and not exact or late):
            return
        # what was sent may have come after it; or the peer may hold what was forgotten here, or had it newer
        unknown = lately or late or c.flags & FRESH or e.tries
        if unknown and not e.held:
            e.clean = e.clean and bit != C      # it may have been there before what was sent from here
            self._owe_all(e)
            return
        if exact and self._settles(e, bit):
            self._trust(e, bit)
        else:
            self._widen(e)
        e.again = bool(e.phase)         # that may arrive after it
        self.stand(e)

    def _origin(self, e, c):
        """The peer has told the source, and nobody else has. It has what the view says if that is exactly what
        it told; else it is owed the difference."""
        bit, exact = BIT[c.action], c.flags & EXACT
        if self.o.asg_life:
            self._replicated_asg(e, e.phase)
            return
        if c.given or not exact and e.held:     # it is newer there; or it is told when it has rested
            return
        if bit == H and exact:
            if e.wait == H:
                self.settle(e, H)
            if e.renew and not e.phase:
                self.pay(e, OTHERWISE)
            self.stand(e)
            return
        if not exact or e.phase or self.acted_lately(e):
            self._owe_all(e)
            return
        # an override says nothing of the data; nor was it set or deleted if the peer was in that status already
        if bit & (S | D) and (e.wait & ~H or e.owed):
            self._widen(e)
        else:
            self.settle(e, ~0)
            self.try_now(e)
            e.suspect, e.cancelled, e.clean = 0, False, True
            self.pay(e, OTHERWISE)
            if e.unsure is not None:
                self.owe(e)
        self.stand(e)

    def _forget(self, e, top):
        """Only the mark of an ambiguous attempt stays, for what is late may hit a later life; and a Cancel
        that the peer was not told of, for that was accepted."""
        kept = C if e.cancelled else 0
        e.given = top if e.cancelled else 0
        self.end("forgotten", e.wait & ~kept)
        e.wait &= kept
        e.misses, e.asked, e.again, e.stored, e.clean = 0, None, False, False, False
        if not e.cancelled:
            self._clear(e, OTHERWISE)
        elif e.owed:
            self.owe(e)                 # the Cancel, and not only a Heartbeat
        if e.phase:
            self.end("forgotten", e.flight & ~kept)
            e.flight &= kept
            if not e.flight and not (kept and e.phase == ASK):
                e.phase = FORGOTTEN
        self.stand(e)

    def _clear(self, e, how):
        """Nothing of it that waits is to be told."""
        self.leave(e)
        e.suspect = 0
        self.pay(e, how)
        self.rest_end(e)
        e.refused = e.ask = e.refused_act = e.troubled = e.chance = e.hung = e.walked = False
        e.cancelled = e.clean = e.stored = False

    def _give_up(self, e):
        """The view cannot remember it any longer: what was not told is not told any more, and what comes late
        nobody minds."""
        untold = (e.wait | e.flight) & TASKS or (H if e.renew else C if e.owed or e.held else 0)
        if untold:
            self.report("dropped", e, untold, "dropped")
        self.end("dropped", e.wait)
        self.end("dropped", e.flight)
        e.wait = e.flight = 0
        e.again = False
        self._clear(e, REFUSED)
        e.unsure = e.settle = None
        if e.phase:
            e.phase = GONE

    def _owe_all(self, e):
        """The peer may not have been told of something: it is owed all there is."""
        if not e.askable:               # nothing to ask with; what waits is of the past, but a Cancel
            self.end("superseded", e.wait & ~C)
            e.wait &= C
            self.stand(e)
            return
        self.try_now(e)
        self.owe(e)
        e.again = bool(e.phase)
        if e.queue != "live":
            self.stand(e)

    def _ask(self, e, c, own):
        """A walk; or the view holds what others did not know when they cancelled it. What is held is asked about
        when it has rested, then."""
        if c.flags & WALK or (own or not c.origin) and not e.held:
            self._verify(e)

    def _verify(self, e):
        """The peer is asked whether it has it. A 404 does not tell an instance that is absent from one that
        is older, so that one that must be absent is owed."""
        held = e.held
        self.try_now(e)
        if e.state.v and not held:
            self.renew(e)
            # what is on its way for what was owed may have been applied before it was asked for
            e.again |= e.phase in (ASK, ACT)
        else:
            self._owe_all(e)
        if e.queue != "live":
            self.stand(e)

    def _overflow(self):
        """The oldest that wait with a Heartbeat only give way; state never does."""
        live = sum(e.queue == "live" for e in self.entries.values())
        if live <= self.o.pool:
            return
        beats = [e for e in self.entries.values() if e.queue == "live" and e.wait == H and not e.owed]
        for e in sorted(beats, key=lambda e: e.place):
            if live <= self.o.pool:
                return
            self.lose_beat(e, "overflowed")
            live -= e.queue != "live"

    # ---- walks

    def walk_begin(self):
        for e in self.entries.values():
            e.walked = False
        self.walk_active, self.walk_complete = True, False
        self.walk_instances = self.repaired = self.refused = 0

    def walk_done(self):
        self.walk_complete = True

    @property
    def unsettled(self):
        """Attempts may yet be applied."""
        doubt = any(e.unsure is not None for e in self.entries.values())
        return bool(self.flights) or doubt or self.now < self.inherits_until

    # ---- batches out

    def _life(self, e):
        return self.o.asg_life or e.state.renewal

    def _settle(self, now):
        """One read timeout after the peer's next success an ambiguous attempt has been applied or never will
        be. If the state has changed since, what the peer has now is anybody's guess."""
        for e in list(self.entries.values()):
            if e.settle is None or now < e.settle:
                continue
            if e.state.seq != e.unsure and e.askable:
                e.clean = False         # what it has may be an earlier life
                self.owe(e)
                e.again = bool(e.phase)
            e.unsure = e.settle = None
            self.stand(e)
            self.release(e)

    def _expire(self, now, count):
        """A Heartbeat older than its lease's renewal interval says nothing any more. Those that are old are
        swept together, now and then."""
        beats = [e for e in self.entries.values() if e.queue == "live" and e.wait == H]
        old = [e for e in beats if now - e.beat >= self._life(e)]
        if count not in (0, len(old)):
            raise Wrong(f"expiry: {count} of {len(old)} that are too old")
        if not count:
            for e in beats:
                if now - e.beat >= max(self._life(e), e.worth) + SWEEP_MS:
                    raise Wrong(f"expiry: {e.key} waits since {e.beat}")
            return
        for e in old:
            self.lose_beat(e, "expired")

    def render(self, e):
        """Why it is sent, and the items: all of an instance together, from its newest state. (None, []):
        there is nothing to send, and what waited has ended."""
        s, k = e.state, e.key
        register = Item(REGISTER, k, s.ts, s.st, s.ov, s.v)
        delete = Item(DELETE, k, s.ts, s.st)
        if not e.wants:
            return None, []
        if self.o.asg_life:
            return LIVE, [Item(ASG, k, 0, s.st)]
        if e.wait & C and self.now - e.since > LATE_MS:
            e.ask = True
        if e.owed or e.ask and e.askable:
            if not e.askable:           # nothing to ask with, so nothing may be sent
                self.give_up(e, "dropped", "dropped")
                return None, []
            return self._refresh(e, s, k, register, delete)
        if e.wait & C:
            return LIVE, [Item(CANCEL, k)] + ([register] if s.v else [])
        if e.wait == H and (s.v or e.given):
            # without the override: a late one could be adopted by a later life
            return LIVE, [Item(HEARTBEAT, k, e.given or s.ts)]
        if not s.v:
            self.give_up(e, "need-register", "dropped")
            return None, []
        if e.wait & FULL or (e.wait & (R | S | D)).bit_count() > 1:
            return LIVE, [delete, register]
        if e.wait & S:
            return LIVE, [Item(STATUS, k, s.ts, s.st)]
        return LIVE, [register if e.wait & R else delete]

    def _refresh(self, e, s, k, register, delete):
        """It acts late, and neither Cancel nor DeleteStatusOverride is guarded by a timestamp at the peer:
        it asks first, with the highest timestamp that the peer may hold of it."""
        if not self.answered(e) and e.fetches:
            return ASK, [Item(FETCH, k)]
        if not self.answered(e):
            return ASK, [Item(HEARTBEAT, k, e.held_ts)]
        if not s.v:
            return ACT, [Item(CANCEL, k)]
        return ACT, [Item(CANCEL, k) if e.began_lower else delete, register]

    def next(self, now, got):
        """got: what the lane in C did: batch (id, items, bytes) or None; free: it may send; gave_up: keys of
        which it said that there is nothing to send; expired: how many; woke: keys that do not rest any more."""
        self.now, self.tick = now, self.tick + 1
        self._settle(now)
        self._rested(now, got.woke)
        self._expire(now, got.expired)
        gave_up = list(got.gave_up)
        if got.batch and now < self.quiet_until:
            raise Wrong(f"pause: sent {self.quiet_until - now} ms too early")
        if got.batch or got.free:
            while self.splits and not self.splits[0].flying:
                if self._part(now, got, gave_up):
                    return
        for key in gave_up:
            e = self.entries.get(key)
            if not e or e.queue not in ("live", "owed") or self.render(e)[0]:
                raise Wrong(f"given up: {key}")
            self.release(e)
        if got.batch:
            self._launch(now, got, self._take(now, got, None))
        elif got.free:
            self._check_linger(now)

    def _check_linger(self, now):
        """Nothing waits for longer while the lane may send."""
        for e in self.entries.values():
            suspect = e.poison and self.flights     # it may wait for what others are answered
            if e.by_age:                            # since is when it was cancelled, which may be long ago
                continue
            if e.queue == "live" and now - e.since >= self.o.linger and not suspect:
                raise Wrong(f"linger: {e.key} waits since {e.since}")

    def _part(self, now, got, gave_up):
        """The next part of the bisection. Returns whether something of it was sent."""
        split = self.splits[0]
        if not split.ranges or split.left <= 0:
            raise Wrong("bisection: nothing left to send")
        start, keys = split.ranges.pop()
        split.left, split.flying = split.left - 1, True
        there = [self.entries[k] for k in keys if k in self.entries and self.entries[k].queue == "part"]
        sent = {i.key for i in got.batch.items} if got.batch else set()
        for e in there:
            if not self.render(e)[0]:
                if e.key in gave_up:
                    gave_up.remove(e.key)
                self.leave(e)
                self.release(e)
        there = [e for e in there if e.queue == "part"]
        if not there:
            self._split_empty(split)
            return False
        if not sent or sent - {e.key for e in there}:
            raise Wrong(f"bisection: sent {sorted(sent)}, the part is {[e.key for e in there]}")
        flight = self._take(now, got, split)
        flight.start = start
        for e in there:
            if e.key not in sent:       # it has grown, or goes alone
                e.queue = None
                self.stand(e, front=True)
        self._launch(now, got, flight)
        return True

    def _take(self, now, got, split):
        """Each instance of the batch is one that waits, and its items are what the model renders."""
        flight, at = Flight(got.batch.id, now, split), 0
        items = flight.items = got.batch.items
        while at < len(items):
            e = self.entries.get(items[at].key)
            if not e or e.phase or not e.queue or (e.queue == "part") != bool(split):
                raise Wrong(f"sent: {items[at]}, which does not wait")
            phase, mine = self.render(e)
            theirs = items[at:at + len(mine)] if mine else items[at:at + 1]
            if mine != theirs:
                raise Wrong(f"sent: {', '.join(map(str, theirs))}; the model: {', '.join(map(str, mine))}")
            self._check_place(e, flight, items, split)
            flight.parts.append(Part(e, at, tuple(i.action for i in mine), mine[0].ts, e.state.seq,
                                     e.queue == "live"))
            if e.alone and len(items) > len(mine):
                raise Wrong(f"sent: {e.key} is a suspect, and not alone")
            self.leave(e)
            e.phase = phase
            if phase != ASK:
                e.flight, e.wait = e.wait, 0
            at += len(mine)
        return flight

    def _check_place(self, e, flight, items, split):
        """What came first goes first: a hot instance is not overtaken for ever, nor stops the others. What is
        hung, or is not, is passed over where it must not join; and so it is at first, if it is the others' turn."""
        sent, first = {i.key for i in items}, not flight.parts
        others = not self.failed or self.launched % QUESTION_EVERY
        turn = self.now < self.hung_until or others and self.barren > 0
        doubtful = self.was_refused                     # then it begins anywhere in its queue

        def waits(o):
            """It is passed over, as long as there are others."""
            vain = o.poison and o.alone and others and not self.last_ok > o.suspect
            return vain or o.hung and turn and not self.answered(o)

        for o in self.entries.values():
            if split or o is e or o.queue != e.queue or o.key in sent or o.alone and not first or o.phase:
                continue
            if first and waits(e) and not waits(o) and not self._probes():
                raise Wrong(f"turn: {e.key} goes before {o.key}, and it is the others'")
            if o.place < e.place and not doubtful and not (waits(o) or (o.alone if first else o.hung != e.hung)):
                raise Wrong(f"order: {e.key} goes before {o.key}")

    def _probes(self):
        """This batch may be one that has all it can be; but when exactly is tuning."""
        return self.failed and self.now >= self.probe_at

    def _launch(self, now, got, flight):
        batch, most = got.batch, max(self.o.items, 2)
        asked = sum(1 if p.entry.renew or not p.entry.state.v else 2 for p in flight.parts if p.entry.phase == ASK)
        if len(flight.parts) > 1 and asked > self.o.items:
            raise Wrong(f"questions: the next batch has no room for {asked} items")
        if len(flight.parts) > 1 and (len(batch.items) > self.o.items or batch.bytes > self.o.bytes):
            raise Wrong(f"size: {len(batch.items)} items, {batch.bytes} bytes")
        hung = [p.entry.hung for p in flight.parts]
        if len(hung) > 1 and not flight.split and not self._probes():
            if len(set(hung)) > 1:
                raise Wrong("hung: not apart from the others")
            if hung[0] and max(len(batch.items), asked) > self.hung_most:
                raise Wrong(f"hung: {len(batch.items)} items, and not {self.hung_most}")
        if not flight.parts or len(batch.items) > most:
            raise Wrong(f"size: {len(batch.items)} items")
        if self.barren >= BARREN_MANY and self.flights:
            raise Wrong("window: many were refused, and another is on its way")
        if self.failed and self.flights:
            raise Wrong("window: the last attempt failed, and another is on its way")
        self.flights[flight.id] = flight
        self.last_id = flight.id
        self.launched += 1
        flight.last_ok, flight.last_good = self.last_ok, self.last_good

    # ---- the end

    def close(self, how):
        """Ends every task. Returns how many those were, and instances that are owed and have no task."""
        before, owed = self.ended[how], 0
        for e in self.entries.values():
            owed += e.owed and not e.wait & TASKS and not e.flight & TASKS
            self.end(how, e.wait | 0)
            self.end(how, e.flight)
            e.wait = e.flight = 0
            e.ask = e.again = False
            e.queue = e.phase = None
            self.pay(e, OTHERWISE)
            self.rest_end(e)
        self.flights, self.splits = {}, []
        return self.ended[how] - before + owed
