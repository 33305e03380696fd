#!/usr/bin/env python3
"""mutants.py CORES [N] [WORD]: breaks one rule of the model at a time (those whose name has WORD) and shows that
the comparison with the cores in C notices it within N histories. Exit status 1 when one is not noticed: then the
rule is not needed, or no history needs it."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MUTANTS = [
    # what waits
    ("two override changes are not 'full'", "lane.py", "                e.wait |= FULL          # two", "                pass  # two"),
    ("two override changes are sent as the later one", "lane.py",
     "if e.wait & FULL or (e.wait & (R | S | D)).bit_count() > 1:", "if False:"),
    ("a first Register after Forget is not 'full'", "lane.py", "if bit == R and c.flags & FRESH:", "if False:"),
    ("Cancel does not clear what gathered", "lane.py", "e.wait, e.cancelled, e.clean = C, True, False", "e.wait, e.cancelled, e.clean = e.wait | C, True, False"),
    ("a Cancel gathered since does not clear what comes back", "answers.py",
     '        if e.wait & C:\n            self.end("superseded", sent)\n            return\n', ""),
    ("a Heartbeat counts beside a change", "lane.py",
     '            if e.wait:                  # whatever', '            if False:                  # whatever'),
    ("waiting is counted from the newest change", "lane.py", "        if idle and not (bit", "        if not (bit"),
    ("a live change waits with what is owed", "lane.py", 'if e.queue == "owed" and not snapshot:', "if False:"),
    ("what changed while it was held is not owed", "lane.py", "if bit & (R | C) and held and e.askable or lower or snapshot:", "if lower or snapshot:"),
    # what is rendered
    ("a Heartbeat goes with the state's timestamp only", "lane.py", "e.given or s.ts)]", "s.ts)]"),
    ("a Cancel is never late", "lane.py", "self.now - e.since > LATE_MS", "False"),
    ("a retried Cancel does not ask", "answers.py", "            e.ask |= bool(bits & C)\n", ""),
    ("a refresh does not ask", "lane.py", "        if not self.answered(e):\n", "        if False:\n"),
    ("an answer counts for ever", "lane.py", "e.asked is not None and self.now - e.asked <= ANSWER_MS", "e.asked is not None"),
    ("an answer from before a failure counts", "answers.py", "            e.asked = None              # an", "            pass              # an"),
    ("the question uses the present timestamp", "lane.py", "[Item(HEARTBEAT, k, e.held_ts)]", "[Item(HEARTBEAT, k, s.ts or s.top)]"),
    ("no Cancel before a life that began lower", "lane.py", "[Item(CANCEL, k) if e.began_lower else", "[Item(CANCEL, k) if False else"),
    ("what has no timestamp is sent", "lane.py", "            if not e.askable:           # nothing to ask with, so", "            if False:           # nothing to ask with, so"),
    # what an answer does
    ("a 409 is always a conflict", "answers.py", "if (copy or part.ts + 1) > e.state.top and", "if"),
    ("without a copy a 409 is none", "answers.py", "(copy or part.ts + 1)", "copy"),
    ("404 is never 'full'", "answers.py", "        e.wait = (e.wait & ~H) | FULL\n        self.stand(e, front=True)", "        e.wait &= ~H"),
    ("404 to a Heartbeat beyond the view is a miss", "answers.py", "if beat and part.ts > e.state.ts:", "if False:"),
    ("404 three times is not reported", "answers.py", "        if e.misses >= MISSES_MAX:", "        if False:"),
    ("404 is a delivery", "answers.py", '            self.end("missing", part.bits)', '            self.end("delivered", part.bits)'),
    ("what it keeps missing is told each time", "answers.py", "            if e.resting:\n                return\n", ""),
    ("what it keeps missing is well after a Register", "answers.py", "        if e.misses < MISSES_MAX:\n            e.refused", "        if True:\n            e.refused"),
    ("it counts as told whatever was told", "answers.py", "e, registers = part.entry, REGISTER in part.actions", "e, registers = part.entry, True"),
    # what rests
    ("what is refused does not rest", "lane.py", 'if kind == "rejected":\n            e.misses, e.refused, e.held = 0, True, True\n            self.rest(e)', 'if kind == "rejected":\n            e.misses, e.refused, e.held = 0, True, True'),
    ("a conflict does not rest", "lane.py", '        elif kind == "conflict" and e.state.v:', "        elif False:"),
    ("a conflict of what is absent rests", "lane.py", '        elif kind == "conflict" and e.state.v:', '        elif kind == "conflict":'),
    ("a conflict that ends a Cancel is no news", "lane.py", "and e.tries and e.state.v\n", "and e.tries\n"),
    ("each try is reported", "lane.py", "if e.wait & TASKS & ~H or not known:", "if True:"),
    ("no Heartbeat goes of what is held", "lane.py", "if e.held and not (bit == H and e.refused_act):", "if e.held:"),
    ("Heartbeats go though one was refused", "lane.py", "if e.held and not (bit == H and e.refused_act):", "if e.held and bit != H:"),
    ("a pause does not grow", "lane.py", "REST_FIRST_MS << min(e.tries, REST_TIMES)", "REST_FIRST_MS"),
    ("what takes others along is tried with them", "lane.py", "(first, last), e.poison", "(first, last), False"),
    ("a Register of what takes others along is tried with them", "lane.py", "        if bit == R and e.poison and (e.refused or e.tries):", "        if False:"),
    ("what it misses is owed all when it has rested", "lane.py", "        if e.misses and not held:\n            self.renew(e)\n        elif e.askable:", "        if e.askable:"),
    ("a resync waits for the pause", "lane.py", "        self.try_now(e)\n        self.owe(e)\n", "        self.owe(e)\n"),
    ("a refused Cancel is let go of", "lane.py", "and not e.queue and not e.held:", "and not e.queue:"),
    ("renew acts on 200", "answers.py", "elif is_2xx(code) and e.renew and not e.wait & ~H:", "elif False:"),
    ("an item answered 500 is rejected at once", "answers.py", "(not is_trouble(code) or self", "(True or self"),
    ("an item answered 500 is never rejected", "answers.py", "(not is_trouble(code) or self._confirms(part, True, well))", "not is_trouble(code)"),
    ("404 to a Register is as good as 500", "answers.py", "self.good_before if code == 404 else self.ok_before", "self.ok_before"),
    # ambiguous attempts
    ("ambiguous attempts are not settled", "answers.py", "if result.ambiguous and (part.phase == ACT or part.bits & ~H):", "if False:"),
    ("a refresh is never ambiguous", "answers.py", "(part.phase == ACT or part.bits & ~H)", "(part.phase != ACT and part.bits & ~H)"),
    ("settled at the next success", "answers.py", "e.settle = max(now + self.o.read_timeout, self.inherits_until)", "e.settle = now + 1"),
    ("a further doubt does not put the settling off", "answers.py", "            e.unsure = seq\n        e.settle = None", "            e.unsure = seq\n            e.settle = None"),
    ("a doubt counts from the last state", "answers.py", "if e.unsure is None or seq == HALF:", "if True:"),
    ("half an attempt leaves the whole state", "answers.py", "return HALF if", "return part.seq if"),
    ("a forgotten attempt leaves no doubt", "answers.py", " or part.phase in (FORGOTTEN, GONE) and result.ambiguous\n", "\n"),
    ("settling ignores what is in flight", "lane.py", "                self.owe(e)\n                e.again = bool(e.phase)\n            e.unsure", "                self.owe(e)\n            e.unsure"),
    # replicated events
    ("a replicated event of any kind settles", "lane.py", "        return bit == R and not e.wait & ~(R | H) and not e.owed and not override", "        return True"),
    ("a replicated Register settles an override", "lane.py", " and not override", ""),
    ("a replicated event ignores what is in flight", "lane.py", "        e.again = bool(e.phase)         # that may arrive after it\n", ""),
    ("a replicated event ignores what is ambiguous", "lane.py", "        if e.unsure is not None:        # nobody", "        if False:        # nobody"),
    ("a replicated ASG update ignores what is in flight", "lane.py", "self._replicated_asg(e, changed and e.phase)", "self._replicated_asg(e, False)"),
    ("a replicated event settles what the view says otherwise", "lane.py", "if exact and self._settles(e, bit):", "if self._settles(e, bit):"),
    ("a replicated event is trusted whatever was sent lately", "lane.py", "unknown = lately or", "unknown ="),
    ("a replicated event ends a conflict untold", "lane.py", " or c.flags & FRESH or e.tries\n", " or c.flags & FRESH\n"),
    ("a Register that comes late from others is taken for what the peer has", "lane.py", "        late = bit == R and not changed and not exact\n", "        late = False\n"),
    ("a replicated event that changes nothing here changes nothing there", "lane.py", " or lately and not exact):", "):"),
    ("a replicated Cancel leaves the peer clean", "lane.py", "e.clean = e.clean and bit != C ", "pass "),
    ("a replicated Cancel ends our own", "lane.py", "~C if bit == C else ~0", "~0"),
    ("a replicated Register is trusted to have reached the peer", "lane.py", "elif bit == R and ours:", "elif False:"),
    # snapshots, and what has an origin
    ("a snapshot is told as a Register", "lane.py", "e.askable or lower or snapshot:", "e.askable or lower:"),
    ("a snapshot counts though it is late", "view.py", "if ev.as_of and i.changed and (", "if False and ("),
    ("a late snapshot that agrees is nothing", "view.py", "if not present or facts[1:4] != i.state[2:5]:", "if True:"),
    ("the first snapshot is a Register, too", "view.py", "plain = i.pictured and not", "plain = not"),
    ("every snapshot is told as the first", "view.py", "plain = i.pictured and not", "plain = False and not"),
    ("the origin is told its own word", "lane.py", "        elif own:\n", "        elif False:\n"),
    ("the origin has whatever it said", "lane.py", "if not exact or e.phase or self.acted_lately(e):", "if e.phase or self.acted_lately(e):"),
    ("an origin is trusted whatever was sent lately", "lane.py", "if not exact or e.phase or self.acted_lately(e):", "if not exact or e.phase:"),
    ("an override of the origin settles the data, too", "lane.py", "if bit & (S | D) and (e.wait & ~H or e.owed):", "if False:"),
    ("an override of the origin settles another that waits", "lane.py", "(e.wait & ~H or e.owed)", "(e.wait & (C | R) or e.owed)"),
    ("after an outdated Cancel nobody is asked", "view.py", "if self.ev.replicated or self.ev.origin else None", "if False else None"),
    ("an older Register that was replicated is a Heartbeat", "view.py", "if self.ev.action == REGISTER and (self.ev.replicated or", "if self.ev.action == REGISTER and ("),
    ("an older Register of an origin is nothing at UNKNOWN", "view.py", "(self.ev.replicated or self.ev.origin and not beats)", "self.ev.replicated"),
    # what is lost
    ("an expired Heartbeat leaves nothing", "lane.py", "        e.wait = 0\n        self.renew(e)\n        self.stand(e)", "        e.wait = 0\n        self.stand(e)"),
    ("lost Heartbeats leave nothing", "answers.py", "            if not e.wait:\n                self.renew(e)\n", ""),
    ("a question in vain owes all", "answers.py", "elif not vain:", "else:"),
    ("Heartbeats do not expire", "lane.py", "now - e.beat >= self._life(e)]", "False]"),
    ("nothing overflows", "lane.py", "        if live <= self.o.pool:\n            return\n        beats", "        return\n        beats"),
    # one bad item
    ("400 alone is rejected at once", "answers.py", "if not self._confirms(part, False, self.ok_before):", "if False:"),
    ("400 alone is believed without a success between", "answers.py", "return well > e.suspect", "return True"),
    ("a suspect may have company", "entry.py", "return bool(self.suspect) and not self.troubled", "return False"),
    ("400 is not bisected", "answers.py", "elif flight.split or self.splittable:", "elif False:"),
    ("another failure hangs what was not sent", "answers.py", "        self._split_end(split, broken)\n        if not broken", "        self._split_end(split, False)\n        if not broken"),
    ("what is undecided is not hung", "answers.py", "                    self._hang_all([e])\n", ""),
    ("a peer that answers 400 to all is bisected for again", "answers.py", "        if not split.ok and not broken:\n            self.splittable = False\n", "        if not split.ok and not broken:\n"),
    ("no status but 400 and 413 is bisected", "answers.py", "        return word and not", "        return False and not"),
    ("429 is bisected", "answers.py", " and result.status != 429 and", " and"),
    ("Retry-After is bisected", "answers.py", "and not result.retry_after\n", "\n"),
    ("a peer whose last attempt failed is searched", "answers.py", "return word and not self.failed and", "return word and"),
    ("one that never answered is searched", "answers.py", " and self.last_ok > 0", ""),
    ("four refused requests mean nothing", "answers.py", "if refused and self.barren >= BARREN_MANY:", "if False:"),
    ("after four refused requests a batch is halved", "answers.py", "(hung or self.barren >= BARREN_MANY)", "hung"),
    ("seven refused requests mean nothing", "answers.py", "        if self.barren >= BARREN_ALL:", "        if False:"),
    ("each that was on its way counts", "answers.py", "if flight.id > self.barren_id:", "if True:"),
    ("what is refused alone does not count", "answers.py", "        self._count(flight)\n        if vain", "        if vain"),
    ("what is refused as the only one needs no pause", "answers.py", "        if vain or last:", "        if vain:"),
    ("a suspect that is refused without an answer between needs no pause", "answers.py", "        if vain or last:", "        if last:"),
    ("what is hung is halved", "answers.py", "(hung or self.barren >= BARREN_MANY)", "self.barren >= BARREN_MANY"),
    ("a suspect is told before others were taken", "lane.py", "            vain = o.alone and others and not self.last_ok > o.suspect\n", "            vain = False\n"),
    ("the other half of what is refused is not next", "entry.py", "if self.ranges and self.ranges", "if False and self.ranges"),
    ("what ran into a timeout waits in front", "answers.py", "            if behind:\n", "            if False:\n"),
    ("what fails alone by chance is rejected at once", "answers.py", "        if e.chance and not tried:", "        if False:"),
    ("400 alone may be chance", "answers.py", "chance = part.entry, result.status not in (400, 413)", "chance = part.entry, True"),
    ("alone counts at a peer that answers nothing", "answers.py", "others = self.failures < LATELY or", "others = True or"),
    ("a question confirms the suspicion of an act", "answers.py", "if known and (part.acts or not e.refused_act):", "if known:"),
    ("a question that fails is no suspicion of its own", "answers.py", "        e.suspect, e.troubled, e.refused_act = self.last_id, troubled, part.acts", "        if not known:\n            e.suspect, e.troubled, e.refused_act = self.last_id, troubled, part.acts"),
    ("chance confirms a word", "answers.py", "        if not same: ", "        if False: "),
    ("what failed alone by chance is rested for again", "answers.py", "tried, e.lonely = e.lonely or", "tried, e.lonely ="),
    ("after a rest no other must be answered", "answers.py", "            e.suspect = self.last_id        # before", "            pass        # before"),
    ("what has changed since is rejected", "answers.py", "sure = part.seq == e.state.seq ", "sure = True "),
    ("one that was taken lets no other be tried", "answers.py", "            self.alone_from = 0\n", "            pass\n"),
    ("413 is bisected", "answers.py", "        elif result.status == 413:", "        elif False:"),
    # what hangs
    ("what hangs goes with others", "answers.py", "        if behind and (others or word):\n", "        if False:\n"),
    ("what hangs goes apart at a peer that answers nothing", "answers.py", "        if behind and (others or word):\n", "        if behind:\n"),
    ("what is hung goes in no larger batches when it is taken", "answers.py", "        if healed and self.hung_quick:\n", "        if False:\n"),
    ("a status is no sign of what hangs", "answers.py", "        return not self.o.asg_life and (word or", "        return not self.o.asg_life and ("),
    ("a status that speaks of time is a sign of what hangs", "answers.py", " and not about_time\n", "\n"),
    ("what hangs goes one by one at once", "answers.py", "min(self.hung_most, len(flight.items) // SHRINK + 1)", "1"),
    ("what hangs is never over", "answers.py", "                part.entry.hung = False\n", "                pass\n"),
    ("a question that is answered is the end of it", "answers.py", "            if part.phase != ASK or not part.entry.wants:   # a", "            if True:   # a"),
    ("what hangs waits for its turn for ever", "answers.py", "self.hung_until = now + now - flight.sent", "self.hung_until = now + 10 ** 9"),
    ("what hangs leaves no turn to the others", "answers.py", "self.hung_until = now + now - flight.sent", "self.hung_until = now"),
    # walks, and those that leave
    ("verify owes what is present", "lane.py", "            self.renew(e)\n            # what", "            self._owe_all(e)\n            # what"),
    ("verify only asks about what is held", "lane.py", "if e.state.v and not held:", "if e.state.v:"),
    ("Forget keeps what waits", "lane.py", 'self.end("forgotten", e.wait & ~kept)\n        e.wait &= kept\n', "\n"),
    ("a Forget ends a Cancel", "lane.py", "kept = C if e.cancelled else 0", "kept = 0"),
    ("a Forget owes only a Heartbeat of what was cancelled", "lane.py", "            self.owe(e)                 # the Cancel, and", "            pass                 # the Cancel, and"),
    ("a question about a Cancel is forgotten", "lane.py", "if not e.flight and not (kept and e.phase == ASK):", "if not e.flight:"),
    ("a Cancel that was told is not done", "answers.py", "        e.cancelled &= bool(e.wait & C) or not (cancels or registers)\n", ""),
    ("a Cancel that waits is done with the one before", "answers.py", "bool(e.wait & C) or not (cancels", "not (cancels"),
    ("what went with a Cancel is not above what came since", "answers.py", "cancels and (len(part.actions) == 1 or part.seq == e.state.seq)", "cancels"),
    # lives
    ("a confirmed Cancel is not known", "answers.py", "        e.clean |= cancels and", "        e.clean |= False and"),
    ("what comes late is no earlier life", "lane.py", "                e.clean = False         # what", "                pass         # what"),
    ("a Cancel that waits leaves nothing unknown", "lane.py", "e.wait, e.cancelled, e.clean = C, True, False", "e.wait, e.cancelled = C, True"),
    ("a Register below an earlier life is sent as it is", "lane.py", "lower = bit == R and e.began_lower and not", "lower = False and not"),
    ("an earlier life at the peer is a conflict", "answers.py", "elif ts > e.top or not ts and part.ts >= e.top:", "elif True:"),
    ("after a 409 without a copy it is asked the same", "answers.py", "        e.clean = False\n        ts, age", "        ts, age"),
    ("a Cancel without a timestamp is not asked about", "entry.py", "return self.top or self.by_age", "return self.top"),
    ("what is unknown is asked about with the Heartbeat's", "lane.py", "if bit != H or e.state.top or not e.cancelled:", "if True:"),
    ("a Forget drops what a Cancel was about", "lane.py", "e.given = top if e.cancelled else 0", "e.given = 0"),
    ("a Forget that was missed tells nothing of what was", "lane.py", "self._forget(e, max(c.given, top))", "self._forget(e, top)"),
    ("whatever the peer has is what was cancelled", "answers.py", "if age is not None and age > self.now - e.since + CLOCKS_MS:", "if age is not None:"),
    ("nothing that the peer has is what was cancelled", "answers.py", "if age is not None and age > self.now - e.since + CLOCKS_MS:", "if False:"),
    ("without a timestamp at the peer it is not fetched", "answers.py", "            e.untold = True\n", "            self.give_up(e, \"dropped\", \"dropped\")\n"),
    ("what is fetched goes with others", "entry.py", "return self.poison and not self.held or self.fetches", "return self.poison and not self.held"),
    ("a lane that was behind hears of no Cancel without a timestamp", "lane.py", "            e.cancelled, e.since = True, c.given", "            pass"),
    ("a timestamp that was asked for is not kept", "answers.py", "e.given, e.asked = ts, self.now", "e.asked = self.now"),
    ("what an earlier lane left is not in doubt", "lane.py", "        if now < self.inherits_until and e.unsure != HALF:", "        if False:"),
    ("what an earlier lane left is settled like an attempt of this one", "answers.py", "max(now + self.o.read_timeout, self.inherits_until)", "now + self.o.read_timeout"),
    ("all that a lane which joined is ever told is in doubt", "answers.py", "self.inherits_until = now + 2 * self.o.read_timeout", "pass"),
    ("what was sent twice leaves no doubt", "answers.py", "late = result.repeated and part.acts or", "late ="),
    ("a Cancel on its way is enough for a life that begins lower", "lane.py", "e.began_lower and not e.wait & C\n", "e.began_lower and not (e.wait | e.flight) & C\n"),
    ("what is given up goes on", "lane.py", "            if c.flags & GIVE_UP:\n", "            if False:\n"),
    ("what is given up is not reported", "lane.py", "        if untold:\n            self.report", "        if False:\n            self.report"),
    ("what is given up is in doubt", "lane.py", "        e.unsure = e.settle = None\n        if e.phase:\n            e.phase = GONE", "        if e.phase:\n            e.phase = GONE"),
    ("what is given up leaves a doubt when it lands", "answers.py", "if late and not (part.phase == GONE and e.leaving):", "if late:"),
    ("a doubt does not hold back the release", "lane.py", "and not e.phase and e.unsure is None and", "and not e.phase and"),
    # the view
    ("a Register replaces an override that is held", "view.py", 'held = old.ov if old and old.ov != UNKNOWN else ev.ov', "held = ev.ov"),
    ("an older Register counts", "view.py", "if present and ev.ts < i.state.ts:\n            return", "if False:\n            return"),
    ("a Cancel of an earlier life counts", "view.py", "if present and ts is not None and ts < i.state.ts:", "if False:"),
    ("top is the present timestamp", "view.py", "held, ev.ts, max(ev.ts, i.top)", "held, ev.ts, ev.ts"),
    ("an override is outdated", "view.py", "ts = max(s.ts, ev.ts or 0)", "ts = ev.ts or s.ts"),
    ("a Heartbeat at UNKNOWN is told", "view.py", "if i.state.st == UNKNOWN:       # an", "if False:       # an"),
    ("a Forget drops the highest timestamp", "view.py", "i.top = max(i.top, i.state.top)", "i.top = i.state.top"),
    ("a Forget takes a Cancel back", "view.py", "or i.standing != PRESENT and i.cancelled", ""),
    ("a Forget leaves no mark", "view.py", "i.fresh |= i.standing == PRESENT", "pass"),
    ("tombstones go at once", "view.py", "return max(self.tombstone_ms, lease if self.outlive_ms else 0)", "return 0"),
    ("what was given up is not fresh", "view.py", "i.counted, i.fresh = 0, True", "i.counted = 0"),
    ("after a giving up whoever is new is known", "view.py", "self.instances[key].fresh = self.now < self.ghosts_until", "pass"),
    ("the newest is given up", "view.py", "key != min(counted, key=counted.get)", "key != max(counted, key=counted.get)"),
    # verdict and counter
    ("503 is gated", "verdict.py", "BUSY: Row(False, True, False,", "BUSY: Row(False, True, True,"),
    ("5xx is not ambiguous", "verdict.py", "STATUS_5XX: Row(False, False, False, True,", "STATUS_5XX: Row(False, False, False, False,"),
    ("an item's status resets the counter", "verdict.py", "ITEM: Row(False,", "ITEM: Row(True,"),
    ("compared before it is counted", "verdict.py", "        return self.reached, announce", "        return self.count > self.maximum, announce"),
    ("announced each time", "verdict.py", "        self.announced |= announce\n", ""),
    # the input of the cores, in place of the model
    ("the cores do not hear of replication", "cores.py", "ev.v, ev.replicated,", "ev.v, False,"),
    ("the cores hear no copies", "cores.py", "in sorted(copies.items()))", "in [])"),
    ("the cores take every 404 for 200", "cores.py", '",".join(map(str, codes)) if codes', '",".join("200" if c == 404 else str(c) for c in codes) if codes'),
]


def run(cores, n, mutant):
    """The difference that was found first; "" if there was none."""
    name, file, old, new = mutant
    with tempfile.TemporaryDirectory() as folder:
        for path in HERE.glob("*.py"):
            text = path.read_text()
            if path.name == file:
                if text.count(old) != 1:
                    sys.exit(f"{name}: found {text.count(old)} times")
                text = text.replace(old, new)
            (pathlib.Path(folder) / path.name).write_text(text)
        try:
            got = subprocess.run([sys.executable, "-B", "run.py", cores, n, "--first"], cwd=folder, capture_output=True,
                                 text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "does not end"
    if not got.returncode:
        return ""
    return (got.stdout or got.stderr).strip().splitlines()[0 if got.stdout else -1]


def main():
    cores = str(pathlib.Path(sys.argv[1]).resolve())
    n, word = sys.argv[2] if len(sys.argv) > 2 else "4000", "".join(sys.argv[3:])
    mutants = [m for m in MUTANTS if word in m[0]]
    unnoticed = []
    for mutant in mutants:
        found = run(cores, n, mutant)
        print(f"{mutant[0]}: {found[:150] or 'NOT NOTICED'}", flush=True)
        if not found:
            unnoticed.append(mutant[0])
    print(f"{len(mutants) - len(unnoticed)} of {len(mutants)} noticed")
    return 1 if unnoticed or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
