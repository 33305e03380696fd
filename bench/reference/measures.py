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

#  Batches of more than 250 would never be full with less: the closed loop keeps
#  half of the instances on their way
SMALL = 8000

#  Events a second of a trickle, which ends early when it has enough of them
RATES = (100, 1000, 10000)
SICK_RATE = 1000
ENOUGH = 10000
PENDING = 10000


@dataclasses.dataclass
class Scale:
    """How much of everything."""

    rounds: int
    memory_rounds: int  #  They hardly differ
    seconds: float  #  A flood
    trickle_seconds: float  #  At most
    warm_seconds: float
    default_peers: tuple
    peers: tuple
    register_peers: tuple  #  Where Registers are measured, too
    configured: dict  #  Instances for each number of peers, see settings
    instances: tuple
    known: int  #  Instances, for memory
    tried: dict  #  For each one's best, one thing at a time


PARALLEL = ("-XX:+UseParallelGC",)
SERIAL = ("-XX:+UseSerialGC",)


def scale(quick, rounds):
    if quick:
        return Scale(
            rounds=rounds or 1,
            memory_rounds=rounds or 1,
            seconds=1,
            trickle_seconds=1,
            warm_seconds=2,
            default_peers=(1, 4),
            peers=(1, 8),
            register_peers=(1,),
            configured={1: 100000},
            instances=(1000, 10000),
            known=20000,
            tried={
                "zpeer": {"frame": (64, 256)},
                "built": {"workers": (20, 6)},
                "configured": {"flags": ((),)},
            },
        )
    return Scale(
        rounds=rounds or 5,
        memory_rounds=rounds or 3,
        seconds=1.5,
        trickle_seconds=2,
        warm_seconds=8,
        default_peers=(1, 4, 8),
        peers=(1, 2, 4, 8, 16, 32),
        register_peers=(1, 4),
        configured={1: 300000, 4: 150000, 8: 75000},
        instances=(1000, 10000, 100000, 1000000),
        known=100000,
        tried={
            "zpeer": {
                "batch": (250, 500, 1000, 2000),
                "window": (6, 20),
                "frame": (64, 256, 512),
                "linger": (10, 50),
            },
            "built": {
                "workers": (20, 6, 40),
                "linger": (10, 1),
                "batch": (250, 500, 1000, 2000),
                "flags": ((), PARALLEL, SERIAL),
            },
            #  Workers are those of the best built
            "configured": {"flags": ((), PARALLEL, SERIAL)},
        },
    )


class Plan:
    """What the measurements share: tools, figures, and the best settings.

    found: the best of what was tried, for each name in Scale.tried.
    """

    def __init__(self, tools, figures, scale_):
        self.tools = tools
        self.figures = figures
        self.scale = scale_
        self.found = {"zpeer": {}, "built": {}, "configured": {}}
        self.used = {}

    def built(self, **changed):
        return settings.built(**{**self.found["built"], **changed})

    def tuned(self, **changed):
        return settings.tuned(**{**self.found["zpeer"], **changed})

    def configured(self, instances, **changed):
        return settings.configured(
            instances, **{**self.found["configured"], **changed}
        )

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

    def rounds(self, stage, what, measure):
        """Every sender in turn, again and again.

        measure (sender) gives figures of one round.
        """
        for number in range(1, self.scale.rounds + 1):
            told = []
            for sender in stage.senders:
                result = measure(sender)
                stage.note(what, sender, result, round=number)
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

    def trickles(self, stage, per_second, counted=None):
        seconds = min(self.scale.trickle_seconds, ENOUGH / per_second)
        self.rounds(
            stage, "latency",
            lambda sender: stage.trickle(sender, per_second, seconds, counted),
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
    tried, found = plan.scale.tried, plan.found
    found["zpeer"] = climb(plan, tried["zpeer"], settings.tuned)
    found["built"] = climb(plan, tried["built"], settings.built)
    instances = plan.scale.configured[1]
    workers = {"workers": found["built"]["workers"]}
    found["configured"] = workers | climb(
        plan, tried["configured"],
        lambda **given: settings.configured(instances, **workers, **given),
        instances,
    )


def climb(plan, tried, make, instances=INSTANCES):
    """The best value of each, one after the other; make (**values): a setting."""
    chosen, seen = {}, {}
    for key, values in tried.items():
        def rate(value):
            candidate = make(**{**chosen, key: value})
            if candidate.text() not in seen:
                seen[candidate.text()] = try_out(plan, candidate, instances)
            return seen[candidate.text()]

        chosen[key] = max(values, key=rate)
    return chosen


def try_out(plan, candidate, instances):
    """Its rate to one peer; 0 if it loses anything."""
    with plan.stage("search", instances) as stage:
        stage.add_peers(1)
        sender = stage.start(candidate)
        stage.prepare(plan.scale.warm_seconds * SEARCH_WARM)
        results = [stage.flood(sender, "heartbeats", 1) for _ in range(3)]
        rate = statistics.median(found["tasks_per_second"] for found in results)
        lost = sum(found["missing"] for found in results)
        plan.figures.add(
            "search", system=candidate.system, setting=candidate.name,
            tasks_per_second=rate, missing=lost,
            candidate=candidate.text().replace(" ", "_"),
        )
        plan.say(f"search, {candidate.title}: {rate:,.0f}/s {candidate.text()}")
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


def configured(plan):
    """zpeer's best, and the best that anybody can make of the reference."""
    for count, instances_ in plan.scale.configured.items():
        with plan.stage("configured", instances_) as stage:
            stage.add_peers(count)
            plan.start(stage, plan.configured(instances_))
            plan.start(stage, plan.tuned())
            stage.prepare(plan.scale.warm_seconds)
            plan.floods(stage)
            if count in plan.scale.register_peers:
                plan.floods(stage, "registers")


def best(plan):
    """zpeer's best and the reference's best built, with more and more peers."""
    for count in plan.scale.peers:
        with plan.stage("best") as stage:
            stage.add_peers(count)
            plan.start(stage, plan.built())
            plan.start(stage, plan.tuned())
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
            for chosen in sized(plan, count):
                plan.start(stage, chosen)
            stage.prepare(plan.scale.warm_seconds)
            plan.floods(stage)


def sized(plan, count):
    """Each one's best, as far as it makes sense with so many instances."""
    ours, theirs = plan.tuned(), plan.built()
    if count < SMALL:
        ours = plan.tuned(
            batch=settings.ITEMS, frame=settings.FRAME, name="best-small"
        )
        theirs = plan.built(batch=settings.ITEMS, name="built-small")
    elif count >= 1000000:
        theirs = plan.built(
            flags=theirs.flags + LARGE_HEAP, name="built-large"
        )
    return theirs, ours


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
            plan.trickles(stage, per_second)


def sick(plan):
    """Three peers without a fourth, and beside one that is black-holed.

    Who does not have it is a process of its own: as long as the fourth is well
    it takes its share of the cores, so its loss would look like a gain.
    """
    with plan.stage("sick") as stage:
        stage.add_peers(4)
        for chosen in (settings.usual(20), plan.built(), settings.OWN):
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
        plan.trickles(stage, SICK_RATE, 3)


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
    for number in range(1, plan.scale.memory_rounds + 1):
        told = []
        for chosen in (plan.built(), plan.tuned()):
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
    "configured": configured,
    "best": best,
    "instances": instances,
    "latency": latency,
    "sick": sick,
    "memory": memory,
}
