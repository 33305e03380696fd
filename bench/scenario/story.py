"""What happens to the registry of one node: the load of the scenario.

Built on deploy/generate_registry.py. The same seed makes the same events in the
same order; each gets its timestamp when it is written, which is the monotonic
clock in µs, so that whoever receives it can say how long it took.
"""

import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))
from generate_registry import Source  # noqa: E402

#  30 s, 90 s and 30 s in life: a fifteenth
RENEWAL_SECONDS = 2
LEASE_SECONDS = 6
TASK_LIFE_MS = 2000

CHANGES_PER_SECOND = 60

#  An instance is left alone so long after a change, in changes: 2 s. What the
#  reference does to two changes within its 500 ms is another story.
APART = 2 * CHANGES_PER_SECOND


class Story(Source):
    """Instances that renew their leases, come, go, and are kept out of use."""

    def __init__(self, seed, instances):
        super().__init__(seed)
        self.clock = 0
        self.serial = seed * 100000
        self.changes = 0
        self.changed = {}  # key: number of its latest change
        self.returning = []  # (number of the change to return at, instance)
        self.round = iter(())  # Of heartbeats
        self.sent = []  # Timestamps of changes, in order
        self.start(instances)

    def tick(self):
        #  Each is another's
        self.clock = max(self.clock + 1, time.monotonic_ns() // 1000)
        return self.clock

    def make_info(self, service, serial):
        info = super().make_info(service, serial)
        info["leaseInfo"]["renewalIntervalInSecs"] = RENEWAL_SECONDS
        info["leaseInfo"]["durationInSecs"] = LEASE_SECONDS
        return info

    def state(self):
        """{id: (status, override, timestamp)}: what each peer should hold."""
        return {
            key[1]: (instance.status, instance.override, instance.timestamp)
            for key, instance in list(self.instances.items())
        }

    def lines(self):
        """Takes the events made since the last call, as JSON lines."""
        events, self.events = self.events, []
        return "".join(
            json.dumps(event, separators=(",", ":")) + "\n" for event in events
        )

    def next_heartbeat(self):
        """Of the next instance that is still there."""
        for _ in range(2):
            for key in self.round:
                if key in self.instances:
                    self.heartbeat(self.instances[key])
                    return
            self.round = iter(list(self.instances))

    def calm(self, instance):
        return self.changes - self.changed.get(instance.key(), -APART) >= APART

    def next_change(self):
        if self.changes % CHANGES_PER_SECOND == 0:
            self.keys = list(self.instances)
        self.changes += 1
        if self.returning and self.returning[0][0] <= self.changes:
            self.note(self.returning.pop(0)[1], self.health, "UP")
            return
        what = self.random.random()
        some = self.pick(self.calm)
        free = self.pick(lambda i: self.calm(i) and i.override == "UNKNOWN")
        held = self.pick(lambda i: self.calm(i) and i.override != "UNKNOWN")
        if what < 0.15:
            self.note(some, self.cancel)
            self.returning.append((self.changes + APART, some))
        elif what < 0.30:
            self.note(some, self.cancel)
            self.new_instance(some.info["vipAddress"])
        elif what < 0.55 or not held:
            self.note(free, self.set_override, "OUT_OF_SERVICE")
        elif what < 0.75:
            self.note(held, self.delete_override, "UP")
        else:
            down = free.status == "DOWN"
            self.note(free, self.health, "UP" if down else "DOWN")

    def note(self, instance, change, *arguments):
        self.changed[instance.key()] = self.changes
        before = self.clock
        change(instance, *arguments)
        if self.clock != before:
            self.sent.append(self.clock)


class Feeder:
    """Writes a story to its node: every instance's heartbeat once a renewal
    interval, and changes, evenly spaced."""

    def __init__(self, story, pipe):
        self.story = story
        self.pipe = pipe
        self.began = None
        self.per_second = None  # Heartbeats
        self.heartbeats = 0
        self.changes = 0
        self.latest = 0  # Most behind its time so far, seconds

    def write(self):
        self.pipe.write(self.story.lines().encode())
        self.pipe.flush()

    def begin(self):
        self.began = time.monotonic()
        self.per_second = len(self.story.instances) / RENEWAL_SECONDS
        self.heartbeats = self.changes = 0

    def turn(self, with_changes):
        """Whatever is due."""
        passed = time.monotonic() - self.began
        behind = passed - self.heartbeats / self.per_second
        self.latest = max(self.latest, behind)
        while self.heartbeats < passed * self.per_second:
            self.story.next_heartbeat()
            self.heartbeats += 1
        while with_changes and self.changes < passed * CHANGES_PER_SECOND:
            self.story.next_change()
            self.changes += 1
        self.write()
