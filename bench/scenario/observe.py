"""What the peers of the scenario say, again and again, while it goes on."""

import bisect
import math
import threading
import time

#  Whoever fails waits 1 s for the next attempt: the time of two of them
FREE_SECONDS = 3

COUNT_SECONDS = 0.02
LOOK_SECONDS = 0.5


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

    def last_look(self, end):
        return [look for look in self.looks if look[0] < end][-1]

    def between(self, begin, end):
        return [count for count in self.counts if begin <= count[0] < end]

    def equal_since(self, begin, end=math.inf):
        """When it became equal and stayed so, seconds after begin; None"""
        equal = None
        for at, found in self.looks:
            if at >= end:
                break
            if at < begin or any(found.values()):
                equal = None
            elif equal is None:
                equal = at
        return equal and max(0, self.settled(equal) - begin)

    def settled(self, end):
        """When the registry changed for the last time before that"""
        counts = self.between(0, end)
        for before, after in zip(reversed(counts[:-1]), reversed(counts)):
            if before[1]["applied"] != after[1]["applied"]:
                return after[0]
        return end

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
        first = bisect.bisect_left(sent, begin * 1e6)
        last = bisect.bisect_left(sent, end * 1e6)
        some = sent[first:last]
        return [
            self.got[stamp] / 1e6 - stamp / 1e3 for stamp in some
            if stamp in self.got
        ]
