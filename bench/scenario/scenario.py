#!/usr/bin/env python3
"""The original fault, once, with one system.

    scenario.py SYSTEM --build FOLDER --java FOLDER --seed N
                [--timeline FILE] [--keep FOLDER]

SYSTEM is reference, gate, zpeer or zpeer-500. Nodes A and B replicate to each
other, and each to C, which is healthy all the time. A sending side is the
system; a receiving side is a scripted peer with a registry. Prints a line of
key=value pairs for each of the two directions (case=applies is A to B,
case=ignores is B to A), and one with case=healthy for C; inf is never. With
--timeline, writes what was seen over time. With --keep, logs of the processes
stay there.

The parts of a run, in seconds: BEFORE, all is well; OUTAGE, both A and B answer
after SLOW_MS, which is longer than the senders wait; recovery, and silence: no
event of any kind, until all is equal, or nothing has been sent for QUIET, or
for LIMIT; HEARTBEATS, which go on, and nothing else does.
"""

import argparse
import bisect
import contextlib
import math
import pathlib
import signal
import statistics
import sys
import tempfile
import threading
import time

from story import TASK_LIFE_MS, Feeder, Story
from world import RETRIES, WINDOW, Peer, Reference, Zpeer, wait_until

SYSTEMS = {
    "reference": lambda o, *a: Reference(o.java, *a, life_ms=TASK_LIFE_MS),
    "gate": lambda o, *a: Reference(o.java, *a, RETRIES, TASK_LIFE_MS),
    "zpeer": lambda o, *a: Zpeer(o.build, *a),
    "zpeer-500": lambda o, *a: Zpeer(o.build, *a, linger_ms=500),
}

INSTANCES = 4000  # Of each node

SLOW_MS = 400
BEFORE = 3
OUTAGE = 15
QUIET = 11  # zpeer's longest pause between two attempts is 10
LIMIT = 60
HEARTBEATS = 4

#  Whoever fails waits 1 s for the next attempt: the time of two of them
FREE_SECONDS = 3

COUNT_SECONDS = 0.02
LOOK_SECONDS = 0.5
TURN_SECONDS = 0.005
LOOK_CLOSELY_SECONDS = 0.2  # After the recovery


class Watch(threading.Thread):
    """Does something again and again, until asked to stop."""

    def __init__(self, seconds, look):
        super().__init__(daemon=True)
        self.seconds = seconds
        self.look = look
        self.over = threading.Event()
        self.error = None

    def run(self):
        try:
            while not self.over.wait(self.seconds):
                self.look()
        except (OSError, ValueError, KeyError) as error:
            self.error = error

    def stop(self):
        self.over.set()
        self.join()
        if self.error:
            raise RuntimeError(f"a peer cannot be asked: {self.error}")


def differences(source, held):
    """What is not equal, by kind"""
    both = [key for key in source if key in held]
    wrong = [key for key in both if source[key] != held[key]]
    override = [key for key in wrong if source[key][1] != held[key][1]]
    return {
        "missing": len(source) - len(both),
        "ghosts": len(held) - len(both),
        "override": len(override),
        "older": len(wrong) - len(override),
    }


class Direction:
    """From one node to the slow receiving side of another."""

    def __init__(self, case, story, peer):
        self.case = case
        self.story = story
        self.peer = peer
        self.counts = []  # (time, counters)
        self.looks = []  # (time, differences)
        self.watches = [Watch(COUNT_SECONDS, self.count)]
        self.watches += [Watch(LOOK_SECONDS, self.compare)]

    def count(self):
        self.counts.append((time.monotonic(), self.peer.counters()))

    def compare(self):
        source = self.story.state()
        now = time.monotonic()
        found = differences(source, self.peer.registry())
        self.looks.append((now, found))
        return found

    def between(self, begin, end):
        return [count for count in self.counts if begin <= count[0] < end]

    def equal_since(self, begin, end=math.inf):
        """When it was found equal and stayed so, seconds after begin; None"""
        equal = None
        for at, found in self.looks:
            if at >= end:
                break
            if at < begin or any(found.values()):
                equal = None
            elif equal is None:
                equal = at - begin
        return equal

    def held(self, begin, end):
        """Slot seconds in which a request was under way"""
        counts = self.between(begin, end)
        return sum(
            (after[0] - before[0]) * before[1]["in-flight"]
            for before, after in zip(counts, counts[1:])
        )

    def free_after(self, begin, end):
        """When for the last time more than one request was under way; None if
        that went on until the end"""
        busy = [
            at
            for at, counters in self.between(begin, end)
            if counters["in-flight"] > 1
        ]
        last = busy[-1] if busy else begin
        return None if end - last < FREE_SECONDS else last - begin

    def quiet(self):
        """Seconds since something was received or under way"""
        at, latest = self.counts[-1]
        if latest["in-flight"]:
            return 0
        for then, counters in reversed(self.counts):
            if counters["requests"] != latest["requests"]:
                return at - then
        return at - self.counts[0][0]


class Healthy:
    """The receiving side of C: when did it get what?"""

    def __init__(self, stories, peer):
        self.stories = stories
        self.peer = peer
        self.got = {}  # timestamp: when it came first
        self.watches = [Watch(LOOK_SECONDS, self.take)]

    def take(self):
        for received, timestamp in self.peer.samples():
            self.got.setdefault(timestamp, received)

    def source(self):
        both = {}
        for story in self.stories:
            both.update(story.state())
        return both

    def different(self):
        found = differences(self.source(), self.peer.registry())
        return sum(found.values())

    def latencies(self, begin, end):
        """Of the changes of a while, ms"""
        sent = sorted(sum((story.sent for story in self.stories), []))
        first = bisect.bisect_left(sent, begin * 1e9)
        last = bisect.bisect_left(sent, end * 1e9)
        some = sent[first:last]
        return [
            (self.got[stamp] - stamp) / 1e6 for stamp in some
            if stamp in self.got
        ]


class Scenario:
    def __init__(self, options, folder, stack):
        self.system = options.system

        def keep(thing):
            stack.callback(thing.end)
            return thing

        peers = {}
        for name in "ABC":
            peers[name] = Peer(options.build, f"{folder}/{name}.peer")
            keep(peers[name].program)
        stories = {
            name: Story(2 * options.seed + number, INSTANCES)
            for number, name in enumerate("AB")
        }
        start = SYSTEMS[options.system]
        self.feeders = []
        for name, other in ("AB", "BA"):
            urls = [peers[other].url, peers["C"].url]
            node = keep(start(options, folder, name, urls))
            self.feeders.append(Feeder(stories[name], node.pipe))
        self.directions = [
            Direction("applies", stories["A"], peers["B"]),
            Direction("ignores", stories["B"], peers["A"]),
        ]
        self.healthy = Healthy(list(stories.values()), peers["C"])
        self.at = {}

    def watches(self):
        for thing in self.directions + [self.healthy]:
            yield from thing.watches

    def mark(self, name):
        self.at[name] = time.monotonic()

    def feed(self, seconds, changes=True):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for feeder in self.feeders:
                feeder.turn(changes)
            time.sleep(TURN_SECONDS)

    def begin(self):
        """All instances are registered, and everybody knows them."""
        for feeder in self.feeders:
            feeder.write()
            feeder.begin()
        wait_until("all instances registered", self.whole)
        self.healthy.peer.script(settings={"sample": 1})
        for feeder in self.feeders:
            feeder.begin()
        for watch in self.watches():
            watch.start()

    def whole(self):
        self.feed(LOOK_SECONDS, changes=False)
        found = [direction.compare() for direction in self.directions]
        return not any(sum(kinds.values()) for kinds in found) and (
            self.healthy.different() == 0
        )

    def outage(self):
        for direction in self.directions:
            apply = "auto" if direction.case == "applies" else "never"
            rule = {"path": "batch", "delay_ms": SLOW_MS, "apply": apply}
            direction.peer.script(rules=[rule])

    def recover(self):
        """Nothing is fed from here on, so leases must not run out any more."""
        for direction in self.directions:
            direction.peer.script(clear=True, settings={"expire": 0})
            direction.watches[1].seconds = LOOK_CLOSELY_SECONDS
        self.healthy.peer.script(settings={"expire": 0})

    def silence(self):
        """Until nothing more is to be expected"""
        end = time.monotonic() + LIMIT
        equal = False
        while time.monotonic() < end and not equal:
            time.sleep(LOOK_CLOSELY_SECONDS)
            equal = all(
                d.equal_since(self.at["recovery"]) is not None
                for d in self.directions
            )
            if all(d.quiet() > QUIET for d in self.directions):
                break

    def run(self):
        self.begin()
        self.mark("begin")
        self.feed(BEFORE)
        self.mark("outage")
        self.outage()
        self.feed(OUTAGE)
        self.mark("recovery")
        self.recover()
        self.silence()
        self.mark("heartbeats")
        self.left = [d.compare() for d in self.directions]
        self.healthy_left = self.healthy.different()
        for feeder in self.feeders:
            feeder.begin()
        self.feed(HEARTBEATS, changes=False)
        self.mark("end")
        for watch in self.watches():
            watch.stop()

    def direction_figures(self, direction, left):
        at = self.at
        counts = direction.between(at["outage"], at["recovery"])
        first = direction.between(at["begin"], at["outage"])[-1][1]
        last = counts[-1][1]
        burnt = direction.held(at["outage"], at["recovery"])
        gone = [f for t, f in direction.looks if t < at["recovery"]][-1]
        answered = [
            now
            for now, later in direction.between(at["recovery"], at["end"])
            if later["answered"] > last["answered"]
        ]
        end = direction.looks[-1][1]
        figures = {
            "requests": last["requests"] - first["requests"],
            "items": last["items"] - first["items"],
            "burnt_seconds": burnt,
            "burnt_percent": 100 * burnt / WINDOW / OUTAGE,
            "free_after": direction.free_after(at["outage"], at["recovery"]),
            "gone": gone["missing"],
            "answer_after": answered[0] - at["recovery"] if answered else None,
            "equal_after": direction.equal_since(
                at["recovery"], at["heartbeats"]
            ),
            "heartbeats_equal_after": direction.equal_since(at["heartbeats"]),
        }
        for kind in end:
            figures["silent_" + kind] = left[kind]
            figures["end_" + kind] = end[kind]
        return figures

    def healthy_figures(self):
        at = self.at
        figures = {"different": self.healthy_left}
        for name, begin, end in (
            ("before", "begin", "outage"),
            ("outage", "outage", "recovery"),
        ):
            found = self.healthy.latencies(at[begin], at[end])
            cuts = statistics.quantiles(found, n=100)
            figures[name + "_changes"] = len(found)
            figures[name + "_p50_ms"] = cuts[49]
            figures[name + "_p99_ms"] = cuts[98]
        figures["late_seconds"] = max(f.latest for f in self.feeders)
        return figures

    def tell(self):
        lines = [
            (d.case, self.direction_figures(d, left))
            for d, left in zip(self.directions, self.left)
        ]
        for case, figures in lines + [("healthy", self.healthy_figures())]:
            text = " ".join(f"{k}={shown(v)}" for k, v in figures.items())
            print(f"scenario system={self.system} case={case} {text}")

    def write_timeline(self, path):
        zero = self.at["outage"]
        with path.open("w") as out:
            for name, at in self.at.items():
                print(f"#  {name} {at - zero:.3f}", file=out)
            for d in self.directions:
                print(f"#  {d.case}, requests under way", file=out)
                for at, counters in d.counts:
                    print(f"{at - zero:.3f} {counters['in-flight']}", file=out)
                print(f"\n\n#  {d.case}, instances that differ", file=out)
                for at, found in d.looks:
                    print(f"{at - zero:.3f} {sum(found.values())}", file=out)
                print("\n", file=out)


def shown(value):
    if value is None:
        return "inf"  # Never
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("--build", required=True)
    parser.add_argument("--java")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeline", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = options.keep
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
        scenario = Scenario(options, folder, stack)
        scenario.run()
    scenario.tell()
    if options.timeline:
        scenario.write_timeline(options.timeline)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(f"scenario: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
