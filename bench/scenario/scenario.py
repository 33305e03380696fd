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
import contextlib
import pathlib
import signal
import statistics
import sys
import tempfile
import time

from observe import LOOK_SECONDS, Direction, Healthy
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

TURN_SECONDS = 0.005


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
        self.expire(1)
        for feeder in self.feeders:
            feeder.begin()
            feeder.latest = 0
        for watch in self.watches():
            watch.start()

    def expire(self, expire):
        """Whether instances go when their leases have run out"""
        for thing in self.directions + [self.healthy]:
            thing.peer.script(settings={"expire": expire})

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
        self.expire(0)
        for direction in self.directions:
            direction.peer.script(clear=True)

    def silence(self):
        """Until nothing more is to be expected"""
        end = time.monotonic() + LIMIT
        equal = False
        while time.monotonic() < end and not equal:
            time.sleep(LOOK_SECONDS)
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
        gone = direction.last_look(at["recovery"])[1]
        answered = [
            when
            for when, later in direction.between(at["recovery"], at["end"])
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
                print(f"\n\n#  {d.case}, when heartbeats go on", file=out)
                at, found = d.last_look(self.at["heartbeats"])
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
