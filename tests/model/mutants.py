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
    ("waiting is counted from the newest change", "lane.py", "        if idle:\n            e.since", "        if True:\n            e.since"),
    ("a live change waits with what is owed", "lane.py", 'if e.queue == "owed" and not snapshot:', "if False:"),
    ("what changed while it was held is not owed", "lane.py", "if bit & (R | C) and held and e.state.top or lower or snapshot:", "if lower or snapshot:"),
    # what is rendered
    ("a Heartbeat goes with the state's timestamp only", "lane.py", "e.given or s.ts)]", "s.ts)]"),
    ("a Cancel is never late", "lane.py", "self.now - e.since > LATE_MS", "False"),
    ("a retried Cancel does not ask", "answers.py", "            e.ask |= bool(bits & C)\n", ""),
    ("a refresh does not ask", "lane.py", "        if not self.answered(e):\n", "        if False:\n"),
    ("an answer counts for ever", "lane.py", "e.asked is not None and self.now - e.asked <= ANSWER_MS", "e.asked is not None"),
    ("an answer from before a failure counts", "answers.py", "            e.asked = None              # an", "            pass              # an"),
    ("the question uses the present timestamp", "lane.py", "[Item(HEARTBEAT, k, e.held_ts)]", "[Item(HEARTBEAT, k, s.ts or s.top)]"),
    ("no Cancel before a life that began lower", "lane.py", "[Item(CANCEL, k) if e.began_lower else", "[Item(CANCEL, k) if False else"),
    ("what has no timestamp is sent", "lane.py", "            if not s.top:               # nothing to ask with, so", "            if False:               # nothing to ask with, so"),
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
    ("each try is reported", "lane.py", "if e.wait & TASKS & ~H or not known:", "if True:"),
    ("no Heartbeat goes of what is held", "lane.py", "if e.held and not (bit == H and e.refused_act):", "if e.held:"),
    ("Heartbeats go though one was refused", "lane.py", "if e.held and not (bit == H and e.refused_act):", "if e.held and bit != H:"),
    ("a pause does not grow", "lane.py", "REST_FIRST_MS << min(e.tries, REST_TIMES)", "REST_FIRST_MS"),
    ("what takes others along is tried with them", "lane.py", "(first, last), e.poison", "(first, last), False"),
    ("a Register of what takes others along is tried with them", "lane.py", "        if bit == R and e.poison and (e.refused or e.tries):", "        if False:"),
    ("what it misses is owed all when it has rested", "lane.py", "        if e.misses:\n            self.renew(e)\n        elif e.state.top:", "        if e.state.top:"),
    ("a resync waits for the pause", "lane.py", "        self.try_now(e)\n        self.owe(e)\n", "        self.owe(e)\n"),
    ("a refused Cancel is let go of", "lane.py", "and not e.queue and not e.held:", "and not e.queue:"),
    ("renew acts on 200", "answers.py", "elif is_2xx(code) and e.renew and not e.wait & ~H:", "elif False:"),
    ("an item answered 500 is rejected at once", "answers.py", "(not is_trouble(code) or self", "(True or self"),
    ("an item answered 500 is never rejected", "answers.py", "(not is_trouble(code) or self._confirms(part, True, well))", "not is_trouble(code)"),
    ("404 to a Register is as good as 500", "answers.py", "self.good_before if code == 404 else self.ok_before", "self.ok_before"),
    # ambiguous attempts
    ("ambiguous attempts are not settled", "answers.py", "if result.ambiguous and (part.phase == ACT or part.bits & ~H):", "if False:"),
    ("a refresh is never ambiguous", "answers.py", "(part.phase == ACT or part.bits & ~H)", "(part.phase != ACT and part.bits & ~H)"),
    ("settled at the next success", "answers.py", "e.settle = now + self.o.read_timeout", "e.settle = now + 1"),
    ("a further doubt does not put the settling off", "answers.py", "            e.unsure = seq\n        e.settle = None", "            e.unsure = seq\n            e.settle = None"),
    ("a doubt counts from the last state", "answers.py", "if e.unsure is None or seq == HALF:", "if True:"),
    ("half an attempt leaves the whole state", "answers.py", "return HALF if", "return part.seq if"),
    ("a forgotten attempt leaves no doubt", "answers.py", "if part.phase == FORGOTTEN and result.ambiguous:", "if False:"),
    ("settling ignores what is in flight", "lane.py", "                self.owe(e)\n                e.again = bool(e.phase)\n            e.unsure", "                self.owe(e)\n            e.unsure"),
    # replicated events
    ("a replicated event of any kind settles", "lane.py", "        return bit == R and not e.wait & ~(R | H) and not e.owed and not override", "        return True"),
    ("a replicated Register settles an override", "lane.py", " and not override", ""),
    ("a replicated event ignores what is in flight", "lane.py", "        e.again = bool(e.phase)         # that may arrive after it\n", ""),
    ("a replicated event ignores what is ambiguous", "lane.py", "            if e.unsure is not None:    # nobody", "            if False:    # nobody"),
    ("a replicated ASG update ignores what is in flight", "lane.py", "self._replicated_asg(e, changed and e.phase)", "self._replicated_asg(e, False)"),
    ("a replicated event settles what the view says otherwise", "lane.py", "if c.flags & EXACT and self._settles(e, bit):", "if self._settles(e, bit):"),
    ("a replicated event is trusted whatever was sent lately", "lane.py", "if (self._acted_lately(e) or untold) and not e.held:", "if untold and not e.held:"),
    ("a replicated event ends a conflict untold", "lane.py", "if (self._acted_lately(e) or untold) and not e.held:", "if self._acted_lately(e) and not e.held:"),
    ("a replicated event that changes nothing here changes nothing there", "lane.py", "or e.phase or vague):", "or e.phase):"),
    ("a replicated Cancel ends our own", "lane.py", "~C if bit == C else ~0", "~0"),
    ("a replicated Register is trusted to have reached the peer", "lane.py", "elif bit == R and ours:", "elif False:"),
    # snapshots, and what has an origin
    ("a snapshot is told as a Register", "lane.py", "e.state.top or lower or snapshot:", "e.state.top or lower:"),
    ("a snapshot counts though it is late", "view.py", "if ev.as_of and i.changed and (", "if False and ("),
    ("a late snapshot that agrees is nothing", "view.py", "if not present or self._like(old[1:]) != self._like(shown):", "if True:"),
    ("the first snapshot is a Register, too", "view.py", "plain = i.pictured and not", "plain = not"),
    ("every snapshot is told as the first", "view.py", "plain = i.pictured and not", "plain = False and not"),
    ("the origin is told its own word", "lane.py", "elif c.origin and c.origin == self.o.origin:", "elif False:"),
    ("the origin has whatever it said", "lane.py", "if not exact or e.phase or self._acted_lately(e):", "if e.phase or self._acted_lately(e):"),
    ("an origin is trusted whatever was sent lately", "lane.py", "if not exact or e.phase or self._acted_lately(e):", "if not exact or e.phase:"),
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
    ("what is undecided waits on", "answers.py", "                self._fail(e, e.wait)               # undecided", "                self.stand(e, front=True)"),
    ("a peer that answers 400 to all is bisected for again", "answers.py", "            self.splittable = False\n            self._pace", "            self._pace"),
    ("no status but 400 and 413 is bisected", "answers.py", "        return word and not", "        return False and not"),
    ("429 is bisected", "answers.py", " and result.status != 429 and", " and"),
    ("Retry-After is bisected", "answers.py", "and not result.retry_after\n", "\n"),
    ("a peer whose last attempt failed is searched", "answers.py", "return word and not self.failed and", "return word and"),
    ("one that never answered is searched", "answers.py", " and self.last_ok > 0", ""),
    ("three refused parts mean nothing", "answers.py", "if self.barren >= BARREN_MAX:", "if False:"),
    ("the other half of what is refused is not next", "entry.py", "if self.wary and self.ranges", "if False and self.ranges"),
    ("what ran into a timeout waits in front", "answers.py", "in (READ_TIMEOUT, RESET, UNUSABLE) and", "in () and"),
    ("what fails alone by chance is rejected at once", "answers.py", "        if e.chance and not e.", "        if False and not e."),
    ("400 alone may be chance", "answers.py", "e.chance = not word or e.chance and e.poison", "e.chance = True"),
    ("alone counts at a peer that answers nothing", "answers.py", "others = self.failures < LATELY or", "others = True or"),
    ("a question confirms the suspicion of an act", "answers.py", "if known and e.refused_act and not part.acts:", "if False:"),
    ("what has changed since is rejected", "answers.py", "sure = part.seq == e.state.seq ", "sure = True "),
    ("one that was taken lets no other be tried", "answers.py", "            self.alone_from = 0\n", "            pass\n"),
    ("413 is bisected", "answers.py", "        elif result.status == 413:", "        elif False:"),
    # walks, and those that leave
    ("verify owes what is present", "lane.py", "        if e.state.v and not held:\n            self.renew(e)\n        else:\n            self._owe_all(e)", "        self._owe_all(e)"),
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
    ("a Cancel that waits leaves nothing unknown", "lane.py", "e.wait, e.cancelled, e.clean = C, True, False", "e.wait, e.cancelled = C, True"),
    ("a Register below an earlier life is sent as it is", "lane.py", "lower = bit == R and e.began_lower and not", "lower = False and not"),
    ("an earlier life at the peer is a conflict", "answers.py", "if copy > e.state.top or not copy and part.ts >= e.state.top:", "if True:"),
    ("after a 409 without a copy it is asked the same", "answers.py", "        e.clean = False\n        if copy", "        if copy"),
    ("a doubt does not hold back the release", "lane.py", "and not e.phase and e.unsure is None and", "and not e.phase and"),
    # the view
    ("a Register replaces an override that is held", "view.py", 'held = old.ov if old and old.ov != UNKNOWN else ev.ov', "held = ev.ov"),
    ("an older Register counts", "view.py", "if present and ev.ts < i.state.ts:\n            return", "if False:\n            return"),
    ("a Cancel of an earlier life counts", "view.py", "if present and ts is not None and ts < i.state.ts:", "if False:"),
    ("top is the present timestamp", "view.py", "max(ev.ts, i.top)", "ev.ts"),
    ("an override is outdated", "view.py", "ts = max(s.ts, ev.ts or 0)", "ts = ev.ts or s.ts"),
    ("a Heartbeat at UNKNOWN is told", "view.py", "if i.state.st == UNKNOWN:       # an", "if False:       # an"),
    ("a Forget drops the highest timestamp", "view.py", "i.top = max(i.top, i.state.top)", "i.top = i.state.top"),
    ("a Forget takes a Cancel back", "view.py", "or i.standing != PRESENT and i.cancelled", ""),
    ("a Forget leaves no mark", "view.py", "i.fresh |= i.standing == PRESENT", "pass"),
    ("tombstones go at once", "view.py", "self.now + self.tombstone_ms", "self.now"),
    # verdict and counter
    ("503 is gated", "verdict.py", "BUSY: Row(False, True, False,", "BUSY: Row(False, True, True,"),
    ("5xx is not ambiguous", "verdict.py", "STATUS_5XX: Row(False, False, False, True,", "STATUS_5XX: Row(False, False, False, False,"),
    ("an item's status resets the counter", "verdict.py", "ITEM: Row(False,", "ITEM: Row(True,"),
    ("compared before it is counted", "verdict.py", "        return self.reached, announce", "        return self.count > self.maximum, announce"),
    ("announced each time", "verdict.py", "        self.announced |= announce\n", ""),
    # the input of the cores, in place of the model
    ("the cores do not hear of replication", "cores.py", "ev.v, ev.replicated,", "ev.v, False,"),
    ("the cores hear no copies", "cores.py", 'for i, ts in sorted(copies.items())) or "-"', 'for i, ts in []) or "-"'),
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
    n, word = sys.argv[2] if len(sys.argv) > 2 else "2000", "".join(sys.argv[3:])
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
