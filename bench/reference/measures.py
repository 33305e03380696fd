"""What is measured, in order."""

import dataclasses
import pathlib
import statistics
import time

import settings
from processes import Failure
from stage import Stage

#  More than twice the buffer, so that it is the buffer that limits a flood and
#  not instances that would be told of twice
INSTANCES = 20000

#  A JVM that is only tried out: how much less it is warmed up
SEARCH_WARM = 0.5

#  Instances of the JVM for a million of them
LARGE_HEAP = ("-Xmx4g",)
LARGE_NEEDS_GB = 12

RATES = (100, 1000, 10000)
PENDING = 10000


@dataclasses.dataclass
class Scale:
    """How much of everything."""

    rounds: int
    seconds: float  #  A round
    warm_seconds: float
    default_peers: tuple
    peers: tuple
    register_peers: tuple  #  Where Registers are measured, too
    instances: tuple
    known: int  #  Instances, for memory
    tried: dict  #  For the reference's best, one thing at a time


PARALLEL = ("-XX:+UseParallelGC",)
SERIAL = ("-XX:+UseSerialGC",)


def scale(quick, rounds):
    if quick:
        return Scale(
            rounds or 1, 1, 2, (1, 4), (1, 8), (1,), (1000, 10000), 20000,
            {"workers": (20, 6)},
        )
    return Scale(
        rounds or 5, 2, 8, (1, 4, 8), (1, 2, 4, 8, 16, 32), (1, 4),
        (1000, 10000, 100000, 1000000), 100000,
        {
            "workers": (20, 6, 40),
            "batch": (250, 1000),
            "linger": (10, 1),
            "flags": ((), PARALLEL, SERIAL),
        },
    )


class Plan:
    """What the measurements share: tools, figures, and the best settings."""

    def __init__(self, tools, figures, scale_):
        self.tools = tools
        self.figures = figures
        self.scale = scale_
        self.best = [settings.tuned(), settings.tuned_zpeer()]
        self.used = {}

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)

    def stage(self, name, instances=INSTANCES):
        return Stage(self.tools, self.figures, name, instances)

    def start(self, stage, chosen, peers=None):
        self.used[chosen.title] = chosen.text()
        return stage.start(chosen, peers)

    def settings_text(self):
        return "".join(f"{name}={text}\n" for name, text in self.used.items())

    #  Rounds ------------------------------------------------------------------

    def rounds(self, stage, what, measure, **more):
        """Every sender in turn, again and again.

        measure (sender) gives figures of one round.
        """
        for number in range(1, self.scale.rounds + 1):
            told = []
            for sender in stage.senders:
                result = measure(sender)
                stage.note(what, sender, result, round=number, **more)
                told.append(f"{sender.setting.title} {brief(result)}")
            self.say(
                f"{stage.name}, {len(stage.peers)} peer(s), "
                f"{stage.instances:,} instances, round {number}: "
                + "; ".join(told)
            )

    def floods(self, stage, kind="heartbeats"):
        for sender in stage.senders:
            if kind not in sender.rates:
                stage.try_out(sender, kind)
        self.rounds(
            stage, "flood",
            lambda sender: stage.flood(sender, kind, self.scale.seconds),
        )


def brief(result):
    """The figure that says most."""
    if "tasks_per_second" in result:
        text = f"{result['tasks_per_second']:,.0f}/s"
    else:
        text = f"p50 {result['p50_ms']:.1f} ms"
    return text + (f", {result['missing']} LOST" if result["missing"] else "")


#  Measurements ----------------------------------------------------------------


def search(plan):
    """Tries settings on short runs, one thing at a time, and keeps the best."""
    ours = [settings.tuned_zpeer()]
    ours += [settings.tuned_zpeer(window=20), settings.tuned_zpeer(linger=50)]
    ours.append(dataclasses.replace(settings.OWN, name="best"))
    plan.best[1] = best_of(plan, ours)
    chosen, seen = {}, {}
    for key, values in plan.scale.tried.items():
        candidates = [settings.tuned(**{**chosen, key: value}) for value in values]
        found = best_of(plan, candidates, seen)
        chosen[key] = values[candidates.index(found)]
        plan.best[0] = found


def best_of(plan, candidates, seen=None):
    """The candidate of the highest rate to one peer; seen: rates known."""
    seen = {} if seen is None else seen
    for candidate in candidates:
        if candidate.text() not in seen:
            seen[candidate.text()] = try_out(plan, candidate)
    return max(candidates, key=lambda candidate: seen[candidate.text()])


def try_out(plan, candidate):
    with plan.stage("search") as stage:
        stage.add_peers(1)
        sender = stage.start(candidate)
        stage.prepare(plan.scale.warm_seconds * SEARCH_WARM)
        results = [stage.flood(sender, "heartbeats", 1) for _ in range(3)]
        rate = statistics.median(found["tasks_per_second"] for found in results)
        lost = sum(found["missing"] for found in results)
        plan.figures.add(
            "search", system=candidate.system, tasks_per_second=rate, missing=lost,
            candidate=candidate.text().replace(" ", "_"),
        )
        plan.say(f"search, {candidate.system}: {rate:,.0f}/s {candidate.text()}")
        return 0 if lost else rate


def default(plan):
    """Rates at the reference's settings; zpeer at these and at its own."""
    for count in plan.scale.default_peers:
        with plan.stage("default") as stage:
            stage.add_peers(count)
            for chosen in (
                settings.usual(6), settings.usual(20), settings.same(6),
                settings.same(20), settings.OWN, settings.APART,
            ):
                plan.start(stage, chosen)
            stage.prepare(plan.scale.warm_seconds)
            plan.floods(stage)


def best(plan):
    """Rates at each one's best, and how they grow with the number of peers."""
    for count in plan.scale.peers:
        with plan.stage("best") as stage:
            stage.add_peers(count)
            for chosen in plan.best:
                plan.start(stage, chosen)
            stage.prepare(plan.scale.warm_seconds)
            plan.floods(stage)
            if count in plan.scale.register_peers:
                plan.floods(stage, "registers")


def instances(plan):
    """The same with more and more instances, one peer."""
    for count in plan.scale.instances:
        if count >= 1000000 and memory_gb() < LARGE_NEEDS_GB:
            plan.say(f"instances: {count:,} left out for want of memory")
            continue
        with plan.stage("instances", count) as stage:
            stage.add_peers(1)
            for chosen in plan.best:
                if chosen.is_java and count >= 1000000:
                    chosen = dataclasses.replace(
                        chosen, name="best-large", flags=chosen.flags + LARGE_HEAP
                    )
                plan.start(stage, chosen)
            stage.prepare(plan.scale.warm_seconds)
            plan.floods(stage)


def memory_gb():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) / 1048576
    return 0


def latency(plan):
    """From the event to the peer's receipt, at several rates."""
    with plan.stage("latency") as stage:
        stage.add_peers(1)
        for chosen in (
            settings.usual(20), settings.same(20), settings.OWN,
            settings.QUICK_REFERENCE, settings.QUICK_ZPEER,
        ):
            plan.start(stage, chosen)
        stage.prepare(plan.scale.warm_seconds)
        for per_second in RATES:
            plan.rounds(
                stage, "latency",
                lambda sender: stage.trickle(
                    sender, per_second, plan.scale.seconds
                ),
            )


def sick(plan):
    """Three peers without a fourth, and beside one that is black-holed.

    Who does not have it is a process of its own: as long as the fourth is well
    it takes its share of the cores, so its loss would look like a gain.
    """
    with plan.stage("sick") as stage:
        stage.add_peers(4)
        for chosen in (settings.usual(20), plan.best[0], settings.OWN):
            plan.start(stage, chosen, 3)
            plan.start(stage, chosen, 4)
        stage.prepare(plan.scale.warm_seconds)
        stage.peers[3].script(mode="black-hole")
        for sender in stage.senders:
            sender.ask("count 3")
            stage.flood(sender, "heartbeats", 1, 3)
        plan.rounds(
            stage, "flood",
            lambda sender: stage.flood(
                sender, "heartbeats", plan.scale.seconds, 3
            ),
        )
        plan.rounds(
            stage, "latency",
            lambda sender: stage.trickle(sender, 1000, plan.scale.seconds, 3),
        )


def startup(plan):
    """From the start of the process until a peer has its first event."""
    for number in range(1, plan.scale.rounds + 1):
        told = []
        for chosen in (settings.usual(20), settings.QUICK_REFERENCE,
                       settings.OWN, settings.QUICK_ZPEER):
            with plan.stage("startup", 1) as stage:
                stage.add_peers(1)
                stage.peers[0].script(settings={"sample": 1})
                begun = time.monotonic_ns()
                sender = plan.start(stage, chosen)
                sender.tell("trickle 1 1")
                sender.answer()  #  ready
                sender.answer()
                samples = stage.peers[0].samples()
                if not samples:
                    raise Failure(f"{chosen.title}: nothing arrived at the start")
                ms = (samples[0][0] - begun) / 1e6
                stage.note("startup", sender, {"ms": ms}, round=number)
                told.append(f"{chosen.title} {ms:.0f} ms")
        plan.say(f"startup, round {number}: " + "; ".join(told))


def memory(plan):
    """Everything known, and heartbeats that wait for every one of 8 peers."""
    for number in range(1, plan.scale.rounds + 1):
        told = []
        for chosen in plan.best:
            with plan.stage("memory", plan.scale.known) as stage:
                stage.add_peers(8)
                sender = plan.start(stage, chosen)
                result = pending(sender)
                stage.note("memory", sender, result, round=number)
                told.append(f"{chosen.title} {result['rss_mb']:.0f} MB")
        plan.say(f"memory, round {number}: " + "; ".join(told))


def pending(sender):
    sender.answer()  #  ready
    sender.ask("flood heartbeats 64")
    sender.ask("register")
    known = sender.ask("memory")
    for peer in sender.peers:
        peer.script(mode="black-hole")
    sent = sender.ask(f"pending {PENDING}")
    waiting = sender.ask("memory")
    return {
        "pending": int(sent["sent"]),
        "known_rss_mb": known["rss_mb"],
        "known_heap_mb": known["heap_mb"],
        "rss_mb": waiting["rss_mb"],
        "heap_mb": waiting["heap_mb"],
        "peak_mb": waiting["peak_mb"],
    }


ALL = {
    "startup": startup,
    "search": search,
    "default": default,
    "best": best,
    "instances": instances,
    "latency": latency,
    "sick": sick,
    "memory": memory,
}
