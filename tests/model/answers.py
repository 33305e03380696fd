"""What the end of an attempt does to a lane. The other half of lane.py."""
from entry import ACT, ASK, FORGOTTEN, GONE, LIVE, OTHERWISE, REPAIRED, Split
from verdict import CONGESTION, PERMANENT, READ_TIMEOUT, RESET, STATUS as STATUS_END, STATUS_5XX, SUCCESS, UNUSABLE
from words import C, CANCEL, D, FETCH, FULL, H, HEARTBEAT, REGISTER, S, TASKS

MISSES_MAX = 3                  # 404 to a Heartbeat, each after a Register the peer confirmed
BARREN_MANY = 4                 # refused in a row: there are many bad items
BARREN_ALL = 7                  # and the peer refuses everything
LATELY = 3                      # attempts within which it must have answered something to answer others
SHRINK = 4                      # so much smaller is the next batch of what is hung
PROBE_ALL_MS = 90000            # from an answer, or the first time that none came, to a probe with all
CLOCKS_MS = 2000                # so far two points in time may be apart that were measured for the same
NEVER = float("inf")             # a time
HALF = -1                       # no state has this seq: an attempt applied by half leaves none
RETRY_AFTER_MAX_MS = 30000
PAUSE_MS = {CONGESTION: 1000, PERMANENT: 1000}      # at least; TransientError 100


def is_2xx(code):
    return 200 <= code < 300


def is_trouble(code):
    """A status that no rule expects, and that may be the peer's and not the item's."""
    return code >= 500 or code == 404


def is_wrong(code, action):
    """No rule below expects it."""
    if code == 404:
        return action == REGISTER
    return not is_2xx(code) and not (code == 409 and action == HEARTBEAT)


class Answers:
    # ---- answers in

    def done(self, now, result):
        """result: id, verdict, end, status, retry_after, codes (None: all 200), copies (index: timestamp, and for
        how long the peer has had it, or None), ambiguous. Returns False when the batch is not known."""
        flight = self.flights.pop(result.id, None)
        if flight is None:
            return False
        self.now, self.batch, self.evidence = now, result.id, (False, 0)
        self.tick += 1
        self.ok_before, self.good_before = flight.last_ok, flight.last_good
        parts = [self._unload(part, result) for part in flight.parts]
        kept = [part for part in parts if part.phase not in (FORGOTTEN, GONE)]
        refused = self._is_refusal(result)
        self.was_refused = result.end in (STATUS_END, STATUS_5XX)
        if result.verdict == SUCCESS:
            self._success(now, flight, kept, result)
        elif self.o.asg_life and result.end == STATUS_END and 400 <= result.status < 500:
            for part in kept:
                self._asg_refused(part, result.status)
        elif refused:
            self._refused(now, flight, kept, result)
        else:
            self._failed(now, flight, kept, result)
        if flight.split:
            self._split_step(now, flight, result, refused)
        for part in parts:
            self._landed(part.entry, result)
        self.batch = 0
        return True

    def _unload(self, part, result):
        e = part.entry
        part = part._replace(bits=e.flight, phase=e.phase)
        e.flight, e.phase = 0, None
        if part.acts:
            e.acted = self.now // 1000
        # however it ended: it was sent twice, or nobody waited for it
        late = result.repeated and part.acts or part.phase in (FORGOTTEN, GONE) and result.ambiguous
        if late and not (part.phase == GONE and e.leaving):
            self._doubt(e, self._late_seq(part))
        return part

    def _landed(self, e, result):
        if self.entries.get(e.key) is not e:        # released already
            return
        if e.again:
            e.again = False
            self.owe(e)
        if e.queue == "owed":
            return
        if e.wait and result.verdict == SUCCESS:    # it has come meanwhile
            self.put(e, "live")
        else:
            self.stand(e)
        self.release(e)

    # ---- ambiguous attempts

    def _late_seq(self, part):
        """The state that an ambiguous attempt leaves the peer in, if it comes late."""
        return HALF if self.o.single and len(part.actions) > 1 else part.seq

    @staticmethod
    def _doubt(e, seq):
        """The peer may yet apply this attempt. What counts is the first state it may fall back to, and the
        last attempt that may do it."""
        if e.unsure is None or seq == HALF:
            e.unsure = seq
        e.settle = None

    # ---- success, item by item

    def _success(self, now, flight, parts, result):
        codes = result.codes or [200] * len(flight.items)
        took = any(is_2xx(c) or c == 409 for c in codes)
        taken = self.o.asg_life or took
        if taken or any(c < 500 for c in codes):
            self.last_ok = max(self.last_ok, flight.id)
        if taken:
            self.last_good = max(self.last_good, flight.id)
        wrong = [next((c for c, a in zip(codes[p.first:], p.actions) if is_wrong(c, a)), 0) for p in parts]
        trouble = 0 if taken else next((c for c in wrong if c and is_trouble(c)), 0)
        self.evidence = took, trouble
        if trouble:
            self._pace(now, result, PERMANENT)      # as good as a failure
        else:
            self.failed, self.splittable, self.failures, self.barren = False, True, 0, 0
            self.probe_at = now + PROBE_ALL_MS
            if self.inherits_until == NEVER:    # an attempt of an earlier lane may still be under way
                self.inherits_until = now + 2 * self.o.read_timeout
            for e in self.entries.values():
                if e.unsure is not None and e.settle is None:
                    e.settle = max(now + self.o.read_timeout, self.inherits_until)
        healed = False
        for part in parts:
            answers, copy = codes[part.first:part.first + len(part.actions)], result.copies.get(part.first, (0, None))
            if self.o.asg_life:
                if is_2xx(answers[0]):
                    self._delivered(part)
                else:
                    self._asg_refused(part, answers[0])
            elif part.phase == ASK:
                self._answered(part, answers[0], copy)
            else:
                self._confirmed(part, answers, copy)
            if part.phase != ASK or not part.entry.wants:   # a question says nothing of the act that follows
                healed |= part.entry.hung
                part.entry.hung = False
        if healed and self.hung_quick:
            self.hung_size = max(self.hung_most, min(self.o.items, len(flight.items) * 3 // 2 + 1))
        self._stand_answered(flight, parts)

    def _stand_answered(self, flight, parts):
        """What was asked about goes in the very next batch: in front of the queue it came from, or as the
        part of the bisection that it was."""
        asked = [p for p in parts if p.phase == ASK and self.answered(p.entry)]
        for p in asked if flight.split else reversed(asked):
            if flight.split:
                p.entry.queue = "part"
            else:
                self.put(p.entry, "live" if p.live or p.seq != p.entry.state.seq else "owed", front=True)
        if flight.split and asked:
            flight.split.ranges.append((flight.start, [p.entry.key for p in asked]))
            flight.split.left += 1

    def _asg_refused(self, part, code):
        self.end("rejected", part.bits)
        self.report("rejected", part.entry, part.bits, code=code)

    def _answered(self, part, code, copy):
        """The question before a refresh was answered."""
        e = part.entry
        if part.actions[0] == FETCH:
            self._fetched(part, code, copy)
        elif code == 409:
            self._answered_newer(part, copy)
        elif is_2xx(code) and e.renew and not e.wait & ~H:
            self.end("delivered", e.wait)
            e.wait = 0
            self._take_it(e)
            self.pay(e, OTHERWISE)
        elif is_2xx(code) or code == 404:
            e.asked = self.now
            if not e.refused_act:
                e.suspect = 0
        else:
            self._bad_item(part, code)

    def _answered_newer(self, part, copy):
        """The peer has something newer than it was asked about: another's, or an earlier life's, which is
        nobody else's. If the state has changed since, it is asked again."""
        e = part.entry
        if part.seq != e.state.seq:
            return
        e.clean = False
        ts, age = copy
        if not e.top and ts:
            self._told_unknown(e, ts, age)
        elif not e.top:
            e.untold = True
        elif ts > e.top or not ts and part.ts >= e.top:
            self.give_up(e, "conflict", "conflict", copy=ts)
        elif ts:
            e.asked = self.now

    def _told_unknown(self, e, ts, age):
        """No timestamp is known of what was cancelled, and the peer tells its own. What it had before the Cancel
        was accepted, by its own clock, is what that was about."""
        if age is not None and age > self.now - e.since + CLOCKS_MS:
            e.given, e.asked = ts, self.now
        else:
            self.give_up(e, "conflict", "conflict", copy=ts)

    def _fetched(self, part, code, copy):
        """A peer that does not say what it has cannot be told the Cancel now."""
        e, (ts, age) = part.entry, copy
        e.untold = False
        if part.seq != e.state.seq or not e.by_age:
            return
        if code == 404:
            e.asked = self.now
        elif not is_2xx(code):
            self._bad_item(part, code)
        elif ts:
            self._told_unknown(e, ts, age)
        else:
            e.refused_act = part.acts
            self.give_up(e, "rejected", "rejected", code)

    def _confirmed(self, part, codes, copy):
        e, first = part.entry, part.actions[0]
        wrong = [c for c, a in zip(codes, part.actions) if is_wrong(c, a)]
        if wrong:
            self._merge(e, part.bits)
            self._bad_item(part, wrong[0])
            return
        single = len(part.actions) == 1
        if codes[0] == 404 and single and first != CANCEL:
            self.end("missing", part.bits)
            self._missing(part)
        elif codes[0] == 409:
            self.end("conflict", part.bits)
            self._newer(part, copy[0])
        else:
            self._delivered(part, absent=single and first == CANCEL and codes[0] == 404)
            # what the peer did not take is tried: it was held, or is, when the Heartbeat went
            if first == HEARTBEAT and not e.held and not (e.tries and e.again):
                self._take_it(e)

    def _take_it(self, e):
        """The peer has what it was told: nothing is to be tried again."""
        e.stored = False
        self.try_now(e)

    def _delivered(self, part, absent=False):
        """absent: the peer did not have what was cancelled."""
        e = part.entry
        if part.phase == ACT:
            self.pay(e, OTHERWISE if absent else REPAIRED)
            e.ask, e.asked = False, None
        elif part.bits & C:
            e.ask = False
        self.end("delivered", part.bits)
        if part.acts:
            self._told(part)
        if self.o.delivered:
            self.report("delivered", e, part.bits)

    def _told(self, part):
        """What the peer was told is not to be tried again; but of what it keeps missing its word is not
        enough: that is told once each renewal interval."""
        e, registers = part.entry, REGISTER in part.actions
        cancels = part.actions[0] == CANCEL
        # what went with the Cancel may be newer than what has come since; and another may have come since
        e.clean |= cancels and (len(part.actions) == 1 or part.seq == e.state.seq)
        e.cancelled &= bool(e.wait & C) or not (cancels or registers)
        if e.poison:                # so the next that was refused may be taken, too
            self.alone_from = 0
        e.suspect = 0
        e.stored |= registers
        if e.misses < MISSES_MAX:
            e.refused = False
            self.rest_end(e)
        elif registers:
            self.rest_until(e, self.now + e.state.renewal, self.now + e.state.renewal)

    def _newer(self, part, copy):
        """A newer copy at the peer; or one of an earlier life of the instance, which is nobody else's. A
        peer that sends no copy says only that it is newer than what it was sent."""
        e = part.entry
        if (copy or part.ts + 1) > e.state.top and part.seq == e.state.seq:
            self.report("conflict", e, copy=copy)
            if not e.resting:
                self.rest(e)
        elif e.state.top:
            e.clean = False
            self.owe(e)

    def _missing(self, part):
        """404: the peer does not have it, or has it older, or at UNKNOWN."""
        e, beat = part.entry, part.actions[0] == HEARTBEAT
        if e.wait & C:
            return
        if beat and part.ts > e.state.ts:       # the view itself would say 404
            self.report("need-register", e)
        elif beat and e.stored and e.misses < MISSES_MAX:
            e.misses += 1
        if not e.state.v or e.held:
            return
        if e.misses >= MISSES_MAX:      # it has confirmed the Register each time
            if not e.refused:
                self.report("rejected", e, code=404)
            e.refused = True
            if e.resting:
                return
        self.end("superseded", e.wait & H)
        e.wait = (e.wait & ~H) | FULL
        self.stand(e, front=True)

    def _bad_item(self, part, code):
        """A status that no rule expects. Of a peer that may be in trouble it is believed the second time, if
        there was another answer in between: for 404 an item must have been taken."""
        e = part.entry
        well = self.good_before if code == 404 else self.ok_before
        sure = part.seq == e.state.seq      # else what was refused is not what it is now
        if sure and (not is_trouble(code) or self._confirms(part, True, well)):
            e.refused_act = part.acts
            self.give_up(e, "rejected", "rejected", code)
            return
        e.asked = None
        self._fail(e, part.bits)

    def _confirms(self, part, troubled, well):
        """The peer has refused an instance. The first time it becomes a suspect; whether this confirms it:
        the newest batch by which the peer was well, when this one was sent, is a later one."""
        e = part.entry
        if part.seq != e.state.seq:
            return False
        known = e.suspect and e.troubled == troubled
        # a question that fails says nothing of what it was asked for, but of itself
        if known and (part.acts or not e.refused_act):
            return well > e.suspect
        e.suspect, e.troubled, e.refused_act = self.last_id, troubled, part.acts
        return False

    def _fail(self, e, bits):
        """What was sent of it was not taken: it is owed."""
        self.report("dropped", e, bits, "failed")
        self.end("failed", e.wait & H)
        if e.wait == H:
            self.renew(e)
        elif e.wait:
            self.owe(e)
        e.wait &= ~H
        self.stand(e)

    # ---- failures

    def _merge(self, e, sent):
        """What comes back and what gathered meanwhile, as one."""
        if e.wait & C:
            self.end("superseded", sent)
            return
        self.end("superseded", sent & e.wait)
        both = sent | e.wait
        if sent & (S | D) and e.wait & (S | D):
            both |= FULL
        if both & ~H:
            self.end("superseded", both & H)
            both &= ~H
        e.wait = both

    def _pace(self, now, result, verdict):
        """One attempt at a time, after a pause."""
        pause = PAUSE_MS.get(PERMANENT if result.reached else verdict, 100)
        self.quiet_until = max(self.quiet_until, now + max(pause, min(result.retry_after, RETRY_AFTER_MAX_MS)))
        self.failed = True

    def _doubt_part(self, part, result):
        if result.ambiguous and (part.phase == ACT or part.bits & ~H):
            self._doubt(part.entry, self._late_seq(part))

    def _failed(self, now, flight, parts, result):
        """What may have been the reason itself waits behind the others: what they are answered tells."""
        behind = self._may_be_bad(result)
        alone = behind and len(parts) == len(flight.parts) == 1
        others = self.failures < LATELY or alone and parts[0].entry.poison      # are answered
        self.failures += 1
        slow = now - flight.sent >= self.o.read_timeout or result.end == UNUSABLE
        if slow and self.probe_at == NEVER:
            self.probe_at = now + PROBE_ALL_MS
        self._pace(now, result, result.verdict)
        word = result.end in (STATUS_END, STATUS_5XX)
        if behind and (others or word):
            self._hang(now, flight, parts, word)
        for part in parts:
            e, bits = part.entry, part.bits
            self._doubt_part(part, result)
            e.ask |= bool(bits & C)
            e.asked = None              # an answer from before a failure is no answer
            if result.verdict == PERMANENT:
                bits = self._lost(part, "escalated" if result.escalated else "failed")
            self._merge(e, bits)
        if alone and others and self._lonely(parts[0], result):
            return
        for part in parts if behind else reversed(parts):
            if behind:
                self._stand_behind(part.entry)
            else:
                self.tick += 1                  # in the order in which they were sent
                self.stand(part.entry, front=not part.entry.owed)

    def _stand_behind(self, e):
        self.tick += 1
        if e.owed:
            self.stand(e)
        else:
            self.put(e, "live")

    def _may_be_bad(self, result):
        """Whether the peer got it, and there may be something in it that it cannot take."""
        about_time = result.status == 429 or result.retry_after or result.verdict == CONGESTION
        word = result.end in (STATUS_END, STATUS_5XX) and not about_time
        return not self.o.asg_life and (word or result.end in (READ_TIMEOUT, RESET, UNUSABLE))

    def _hang(self, now, flight, parts, quick):
        """No answer tells which of them it is: they go apart from the others, in batches that become smaller. It
        took this long, and nothing else went meanwhile: for as long it is the others' turn."""
        self._hang_all([part.entry for part in parts])
        self._hang_smaller(flight, quick)
        self.hung_until = now + now - flight.sent

    def _hang_all(self, entries):
        self.hung_size = self.hung_most
        for e in entries:
            e.hung = True

    def _hang_smaller(self, flight, quick):
        """quick: it was answered, so that others of the kind cost little."""
        self.hung_size = min(self.hung_most, len(flight.items) // SHRINK + 1)
        self.hung_quick = quick

    @property
    def hung_most(self):
        """Items that a batch of what is hung may have."""
        return self.hung_size if any(e.hung for e in self.entries.values()) else self.o.items

    def _lost(self, part, how):
        e = part.entry
        vain = part.phase == ASK and e.owed         # leaves what is owed as it is
        asked = part.phase == ASK and not e.owed    # is lost with what it was asked for
        self.report("dropped", e, e.wait & ~H if asked else part.bits, how)
        if part.bits & H:
            self.end(how, H)
            if not e.wait:
                self.renew(e)
        elif not vain:
            self.owe(e)
        return part.bits & ~H

    # ---- refused: there is something in it that the peer does not take

    def _is_refusal(self, result):
        """A status while the peer takes others; but who says that it is too much speaks of time."""
        if self.o.asg_life or result.status in (400, 413):
            return not self.o.asg_life
        word = result.end in (STATUS_END, STATUS_5XX) and result.status != 429 and not result.retry_after
        return word and not self.failed and self.splittable and self.last_ok > 0

    def _refused(self, now, flight, parts, result):
        if not parts:
            return
        hung = parts[0].entry.hung
        for part in reversed(parts):
            self._doubt_part(part, result)
            if result.ambiguous:
                part.entry.asked = None
                part.entry.ask |= bool(part.bits & C)
            self._merge(part.entry, part.bits)
        if len(flight.parts) > 1 and result.status != 413:
            self._count(flight)
        many = self.splittable and not flight.split and (hung or self.barren >= BARREN_MANY)
        if len(flight.parts) == 1:                  # else a forgotten one may be the bad one
            self._alone(now, flight, parts[0], result)
        elif result.status == 413:
            for part in reversed(parts):
                self.stand(part.entry, front=True)
        elif many:
            if not hung:
                self._end_all(flight)
            self._hang(now, flight, parts, True)
            for part in parts:
                self._stand_behind(part.entry)
            self._slow_down(now, flight, result)
        elif flight.split or self.splittable:
            keys = [part.entry.key for part in parts]
            for part in parts:
                part.entry.queue = "part"
            if flight.split:
                flight.split.halve(flight.start, keys)
            else:
                self.splits.append(Split(keys))
        else:
            self._pace(now, result, result.verdict)
            for part in parts:
                self._fail(part.entry, part.bits)

    def _alone(self, now, flight, part, result):
        e = part.entry
        vain = e.poison and not self.ok_before > e.suspect
        last = not (any(o.queue in ("live", "owed") for o in self.entries.values()) or self.splits or self.flights)
        if self._lonely(part, result):
            return
        self._count(flight)
        if vain or last:        # what the others are answered tells; there are none, or none that may go
            self.barren = BARREN_ALL
        self._fail(e, part.bits)
        if not flight.split:
            self._slow_down(now, flight, result)

    def _count(self, flight):
        """A request was refused. Of several that were on their way together one counts."""
        if flight.id > self.barren_id:
            self.barren += 1
            self.barren_id = self.last_id

    def _slow_down(self, now, flight, result):
        """So many were refused in a row that the peer takes nothing at present."""
        if self.barren >= BARREN_ALL:
            self._end_all(flight)
            self.splittable = False
            self._pace(now, result, result.verdict)

    def _end_all(self, flight):
        """There are many bad items: what is bisected is hung, but for the part that is on its way."""
        for split in [split for split in self.splits if not split.flying]:
            self._split_end(split, False)
        self._hang_smaller(flight, True)

    def _lonely(self, part, result):
        """An instance failed alone. The second time, with a success between, it is given up for a while: 400
        and 413 are words on it; anything else may have been chance, so that it rests first, unreported."""
        e, chance = part.entry, result.status not in (400, 413)
        same, e.chance = not e.poison or chance == e.chance, chance
        if not same:                # neither confirms the other
            e.suspect, e.refused_act = self.last_id, part.acts
            return False
        if not self._confirms(part, False, self.ok_before):
            return False
        tried, e.lonely = e.lonely or e.refused and e.tries, True
        if e.chance and not tried:
            self.give_up(e, "dropped", "failed")
            self.rest_soon(e)
            e.suspect = self.last_id        # before it is rejected others must be answered again
        else:
            self.give_up(e, "rejected", "rejected", result.status)
        e.hung = False                      # it goes alone anyway
        return True

    def _split_step(self, now, flight, result, refused):
        """A part of the bisection was answered."""
        split, success = flight.split, result.verdict == SUCCESS
        broken = not success and not refused
        split.flying = False
        split.ok |= success
        if refused and self.barren >= BARREN_MANY:
            self._end_all(flight)
            self._slow_down(now, flight, result)
            return
        if split.ranges and split.left and not broken:
            return
        if not split.ok and not broken:
            self.splittable = False
            self._pace(now, result, result.verdict)
        self._split_end(split, broken)
        if not broken:
            self._hang_smaller(flight, True)

    def _split_empty(self, split):
        """There was nothing left to send of its part."""
        split.flying = False
        if split.ranges and split.left:
            return
        self.splittable &= split.ok
        self._split_end(split, False)

    def _split_end(self, split, broken):
        """What of it was not sent waits as before, if another failure has stopped it; else it is hung."""
        for _, keys in reversed(split.ranges):
            for key in reversed(keys) if broken else keys:
                e = self.entries.get(key)
                if not e or e.queue != "part":
                    continue
                e.queue = None
                if broken:
                    self.stand(e, front=True)
                else:
                    self._hang_all([e])
                    self._stand_behind(e)
                self.release(e)
        self.splits.remove(split)
