"""Peers, and senders that take turns at them."""

import contextlib
import time

from processes import Failure, Peer, Sender

#  At first one batch alone: a client that many threads use before it has sent
#  anything fails requests
FIRST = 64

#  Behind a trickle, before its samples are read
SETTLE_SECONDS = 0.05

#  Before a round the others come to rest (a JVM compiles and collects behind its
#  own): until they take less of a core, or for so long
REST_PERCENT = 10
REST_LOOK_SECONDS = 0.1
REST_SECONDS = 1.5

#  A round that only finds out how much a sender can do
TRIAL_SECONDS = 1
TRIALS = 3

#  Heartbeats that take as long as a Register; a guess, for the first trial
REGISTER_COST = 6


class Figures:
    """Lines of a name and key=value pairs, in a file."""

    def __init__(self, path):
        self.path = path
        path.write_text("")

    def add(self, name, **pairs):
        line = " ".join([name] + [f"{key}={_text(pairs[key])}" for key in pairs])
        with self.path.open("a") as out:
            out.write(line + "\n")


def _text(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def percentile(values, percent):
    """As stopwatch.c has it; values are sorted."""
    return values[int(percent / 100 * (len(values) - 1) + 0.5)]


def net(sender, answer):
    """Seconds of a flood without those before anything of it is sent.

    These pass once, however long it is: more than the rate would be in it.
    """
    return answer["seconds"] - sender.setting.head_seconds


class Stage:
    """A context: ends all of its processes."""

    def __init__(self, tools, figures, name, instances):
        self.tools = tools
        self.figures = figures
        self.name = name
        self.instances = instances
        self.peers = []
        self.senders = []
        self.ends = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.close()

    def add_peers(self, count):
        for _ in range(count):
            number = len(self.peers) + 1
            peer = Peer(self.tools.peer, self.tools.logs / f"peer-{number}")
            self.ends.callback(peer.end)
            self.peers.append(peer)

    def start(self, setting, peers=None):
        """Spawns a sender to all the peers, or to the first few."""
        peers = self.peers[: peers or len(self.peers)]
        sender = Sender(
            setting, self.tools.command(setting, peers, self.instances), peers,
            self.tools.logs / setting.title.replace(" ", "-"),
        )
        self.ends.callback(sender.end)
        self.senders.append(sender)
        return sender

    def prepare(self, warm_seconds):
        """Senders get ready and register everything; JVMs are warmed up.

        For that they are given floods, all at the same time, as long as told.
        One more, of each alone, finds out how much is enough for a round.
        """
        everybody = self.senders
        for sender in everybody:
            sender.answer()  #  ready
        for words in (f"flood heartbeats {FIRST}", "register"):
            self._together([(sender, words) for sender in everybody])
        virtual = [sender for sender in everybody if sender.setting.is_java]
        until = time.monotonic() + warm_seconds
        while virtual and time.monotonic() < until:
            self._flood_together(virtual)
        for sender in everybody:
            self.try_out(sender, "heartbeats")

    def try_out(self, sender, kind):
        """Floods, until one took about as long as it should."""
        for _ in range(TRIALS):
            result = self.flood(sender, kind, TRIAL_SECONDS)
            if result["seconds"] > TRIAL_SECONDS / 2:
                break

    def _together(self, orders):
        for sender, words in orders:
            sender.tell(words)
        return [sender.answer() for sender, _ in orders]

    def _flood_together(self, senders):
        orders = [
            (sender, f"flood heartbeats {self._events(sender, 'heartbeats', 1)}")
            for sender in senders
        ]
        for sender, answer in zip(senders, self._together(orders)):
            sender.rates["heartbeats"] = answer["confirmed"] / net(sender, answer)

    #  Rounds ------------------------------------------------------------------

    def _events(self, sender, kind, seconds):
        guess = sender.rates.get("heartbeats", 0) / REGISTER_COST
        rate = sender.rates.get(kind, guess)
        multiple = sender.setting.multiple
        wanted = rate / len(sender.peers) * seconds
        return max(1, round(wanted / multiple)) * multiple

    def _others_cpu(self, sender):
        return sum(
            other.cpu_seconds() for other in self.senders if other is not sender
        )

    def _rest(self, sender):
        until = time.monotonic() + REST_SECONDS
        percent = 100
        while percent > REST_PERCENT and time.monotonic() < until:
            before = self._others_cpu(sender)
            time.sleep(REST_LOOK_SECONDS)
            used = self._others_cpu(sender) - before
            percent = 100 * used / REST_LOOK_SECONDS

    def flood(self, sender, kind, seconds, counted=None):
        """As much as took so long the last time.

        counted: how many peers matter. Returns figures of it; the peers' own
        counters say what arrived.
        """
        peers = sender.peers[: counted or len(sender.peers)]
        events = self._events(sender, kind, seconds)
        self._rest(sender)
        before = [peer.items() for peer in peers]
        peer_cpu = sum(peer.cpu_seconds() for peer in peers)
        others = self._others_cpu(sender)
        sender.forget_peak()
        answer = sender.ask(f"flood {kind} {events}")
        others = self._others_cpu(sender) - others
        peer_cpu = sum(peer.cpu_seconds() for peer in peers) - peer_cpu
        got = [peer.items() - had for peer, had in zip(peers, before)]
        sent = int(answer["tasks"]) // len(peers)
        received = sum(min(items, sent) for items in got)
        seconds = net(sender, answer)
        rate = received / seconds
        sender.rates[kind] = rate * len(sender.peers) / len(peers)
        return {
            "kind": kind,
            "tasks": sent * len(peers),
            "missing": sent * len(peers) - received,
            "extra": sum(max(0, items - sent) for items in got),
            "seconds": seconds,
            "tasks_per_second": rate,
            "cpu_us": 1e6 * answer["cpu_seconds"] / max(1, received),
            "peer_cpu_us": 1e6 * peer_cpu / max(1, received),
            "peak_mb": answer["peak_mb"],
            "others_percent": 100 * others / answer["seconds"],
        }

    def trickle(self, sender, per_second, seconds, counted=None):
        """Changes that come evenly; figures of how long they took."""
        peers = sender.peers[: counted or len(sender.peers)]
        for peer in peers:
            peer.samples()
            peer.script(settings={"sample": 1})
        self._rest(sender)
        answer = sender.ask(f"trickle {per_second} {seconds}")
        time.sleep(SETTLE_SECONDS)
        ms = []
        for peer in peers:
            ms += [got / 1e6 - sent / 1e3 for got, sent in peer.samples()]
            peer.script(settings={"sample": 0})
        if not ms:
            raise Failure(f"{sender.setting.title}: nothing of a trickle arrived")
        ms.sort()
        return {
            "per_second": per_second,
            "samples": len(ms),
            "missing": max(0, int(answer["sent"]) * len(peers) - len(ms)),
            "p50_ms": percentile(ms, 50),
            "p99_ms": percentile(ms, 99),
            "max_ms": ms[-1],
            "cpu_percent": 100 * answer["cpu_seconds"] / answer["seconds"],
        }

    def note(self, what, sender, result, **more):
        """Keeps figures of a round."""
        self.figures.add(
            what, set=self.name, system=sender.setting.system,
            setting=sender.setting.name, peers=len(sender.peers),
            instances=self.instances, **more, **result,
        )
