#!/usr/bin/env python3
"""Writes RESULTS.md from what the benchmarks said.

    report.py FOLDER        "machine" and "figures" in it, by run.sh

A line of figures is the benchmark's name and key=value pairs. Lines that differ
only in what was measured are runs of the same; the median is shown, and in
brackets the lowest and the highest.
"""

import pathlib
import statistics
import sys

#  What tells runs of one benchmark from those of another
SETTINGS = """kind peers transport instances lanes per_second third peer items
workers buffer pending delay_ms""".split()

#  The figures of small C programs, ns: parsing, JSON writing, one lane
#  and body building of a heartbeat; a further lane; HTTP and answer of an item
ALONE_NS = 290
FURTHER_LANE_NS = 50
HTTP_NS = 110
ANSWER_NS = 380


class Runs:
    """All runs of one benchmark with one setting."""

    def __init__(self, lines):
        self.lines = lines

    def values(self, key):
        return [float(line[key]) for line in self.lines if key in line]

    def median(self, key):
        values = self.values(key)
        return statistics.median(values) if values else None

    def text(self, key, digits=0):
        values = self.values(key)
        if not values:
            return "–"
        text = number(statistics.median(values), digits)
        if len(values) > 1:
            low, high = number(min(values), digits), number(max(values), digits)
            text += f" ({low} – {high})"
        return text


class Figures:
    def __init__(self, path):
        self.lines = []
        for line in path.read_text().splitlines():
            name, *pairs = line.split()
            pairs = dict(pair.split("=", 1) for pair in pairs)
            self.lines.append((name, pairs))

    def find(self, name, **settings):
        wanted = {key: str(value) for key, value in settings.items()}
        return Runs(
            [
                pairs
                for found, pairs in self.lines
                if found == name and wanted.items() <= pairs.items()
            ]
        )

    def settings(self, name):
        """Every combination of settings that was run, in order."""
        seen = []
        for found, pairs in self.lines:
            own = {key: pairs[key] for key in SETTINGS if key in pairs}
            if found == name and own not in seen:
                seen.append(own)
        return seen


def number(value, digits=0):
    return f"{value:,.{digits}f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def machine(path):
    facts = dict(
        line.split("=", 1) for line in path.read_text().splitlines()
    )
    print("# Results\n")
    print(
        "Written by `bench/run.sh`; `bench/README.md` says what each figure is "
        "and how to\nread it. Median of "
        f"{facts['runs']} run(s), in brackets lowest and highest.\n"
    )
    if float(facts["load"].split()[0]) > 0.25 * int(facts["cores"]):
        print(
            f"**Others used the machine (load average {facts['load']}): these "
            "figures are worse than\nthey should be, and prove little.**\n"
        )
    libraries = ("libzmq", "libczmq", "libcurl", "msgpack", "jansson")
    rows = [
        ["commit", f"{facts['commit']}, {facts['date']}"],
        ["processor", f"{facts['cpu']}, {facts['cores']} cores, {facts['memory']}"],
        ["system", f"{facts['system']}, {facts['kernel']}"],
        ["load average before", facts["load"]],
        ["compiler", f"{facts['compiler']}, RelWithDebInfo"],
        [
            "libraries",
            ", ".join(f"{name} {facts[name]}" for name in libraries)
            + f", xxhash {facts['libxxhash']}",
        ],
    ]
    if "java" in facts:
        rows.append(["Java, for the reference", facts["java"]])
    table(["", ""], rows)
    return facts


def judged(what, runs, key, digits, unit, target, at_least):
    """A row of the table of targets; target None: not judged."""
    value = runs.median(key)
    sign = "≥" if at_least else "≤"
    wanted = f"{sign} {number(target, 0 if target >= 10 else 1)} {unit}"
    if value is None:
        return [what, "not measured", wanted, "–"]
    reached = value >= target if at_least else value <= target
    return [
        what,
        f"{runs.text(key, digits)} {unit}",
        wanted,
        "yes" if reached else "**no**",
    ]


def beside_a_sick_one(figures):
    """What the other two notice when the third falls sick."""
    well = figures.find("sick", third="well")
    sick = figures.find("sick", third="black-hole")
    if not well.lines or not sick.lines:
        return []
    #  Run by run, as what disturbs the machine changes from one to the next
    def pairs(key):
        return zip(sick.values(key), well.values(key))

    rate = statistics.median(100 * s / w for s, w in pairs("tasks_per_second"))
    later = statistics.median(s - w for s, w in pairs("p99_ms"))
    return [
        [
            "two peers when the third is black-holed: rate, of that before",
            f"{rate:.0f} %",
            "≥ 95 %",
            "yes" if rate >= 95 else "**no**",
        ],
        [
            "the same: p99 at 1,000/s, more than before",
            f"{later:+.2f} ms",
            "≤ 2 ms",
            "yes" if later <= 2 else "**no**",
        ],
    ]


def most_owed(figures):
    """The case of most instances at a peer that takes its time."""
    owed = [
        own for own in figures.settings("recovery")
        if own["kind"] == "owed" and int(own["delay_ms"])
    ]
    return max(owed, key=lambda own: int(own["instances"]), default=None)


def beside_one_that_returns(figures):
    """What a peer that comes back takes, and what others notice."""
    own = most_owed(figures)
    if not own:
        return []
    runs = figures.find("recovery", **own)
    delay = int(own["delay_ms"])
    #  Run by run, as above
    beside = statistics.median(
        line / before
        for line, before in zip(
            runs.values("healthy_p99_ms"), runs.values("healthy_before_p99_ms")
        )
    )
    later = statistics.median(
        line - before
        for line, before in zip(
            runs.values("live_p99_ms"), runs.values("live_before_p99_ms")
        )
    )
    return [
        judged(
            f"a peer comes back, {int(own['instances']):,} owed, {delay} ms an "
            "answer: time until whole, of the least possible",
            runs, "ratio", 2, "×", 2, False,
        ),
        [
            "the same: the other peer's p99 at 1,000/s, of that before",
            f"{beside:.2f} ×",
            "≤ 1.2 ×",
            "yes" if beside <= 1.2 else "**no**",
        ],
        [
            "the same: p99 of changes for itself, more than before",
            f"{later:+.2f} ms",
            f"≤ {delay} ms, one answer",
            "yes" if later <= delay else "**no**",
        ],
    ]


def targets(figures):
    def acceptor(kind, lanes):
        return figures.find("acceptor", kind=kind, lanes=lanes)

    def end_to_end(kind, peers, transport):
        return figures.find(
            "end_to_end", kind=kind, peers=peers, transport=transport
        )

    rate = "tasks_per_second"
    slow = figures.find("latency", per_second=1000)
    quick = figures.find("latency", per_second=20000)
    memory = figures.find("memory")
    rows = [
        judged(
            f"{kind} through the acceptor's thread",
            acceptor(kind, 1), "events_per_second", 0, "/s", target,
            True,
        )
        for kind, target in (("heartbeats", 1e6), ("registers", 3e5))
    ]
    rows += [
        judged(
            f"end to end, {peers} peer(s), feeder over {transport}",
            end_to_end("heartbeats", peers, transport), rate, 0, "tasks/s",
            target, True,
        )
        for peers, target in ((1, 7e5), (4, 1.2e6))
        for transport in ("inproc", "ipc", "tcp")
    ]
    rows += [
        judged("latency at 1,000/s, p50", slow, "p50_ms", 1, "ms", 15, False),
        judged("latency at 1,000/s, p99", slow, "p99_ms", 1, "ms", 30, False),
        judged("latency at 20,000/s, p99", quick, "p99_ms", 1, "ms", 12, False),
        judged(
            "memory, an instance and lane (what the lane says)", memory,
            "lane_says_bytes", 1, "bytes", 64, False,
        ),
        judged(
            "memory, the same as malloc sees it, first lane", memory,
            "first_lane_bytes", 1, "bytes", 64, False,
        ),
    ]
    idle = figures.find("idle", peer="well", stats="off")
    rows.append(
        judged(
            "idle, without the stats tick: wake-ups", idle,
            "wakeups_per_second", 1, "/s", 1, False,
        )
    )
    for kind in ("refuse", "black-hole"):
        rows.append(
            judged(
                f"dead peer ({kind}), 10,000 instances waiting: of a core",
                figures.find("idle", peer=kind), "cpu_percent", 2, "%", 1, False,
            )
        )
    rows += beside_a_sick_one(figures)
    rows += beside_one_that_returns(figures)
    print("## Targets\n")
    table(["figure", "measured", "target", "reached"], rows)
    lost = sum(
        int(pairs["missing"])
        for name, pairs in figures.lines
        if name in ("end_to_end", "sick")
    )
    print(f"Tasks lost in all the runs below: {lost}.\n")
    return rows


def stages(figures):
    names = "receive parse view encode hand_over lane body".split()
    kinds = ("heartbeats", "registers")
    runs = {kind: figures.find("stages", kind=kind) for kind in kinds}
    http = {kind: figures.find("http", kind=kind) for kind in kinds}

    def cells(key, source, digits=0):
        return [source[kind].text(key, digits) for kind in kinds]

    def distance(value, given):
        if value is None:
            return "–"
        return f"{given} ns: {value - given:+.0f}"

    heartbeats = runs["heartbeats"]
    rows = [[name.replace("_", " ")] + cells(name, runs) + [""] for name in names]
    alone = sum(
        heartbeats.median(name) or 0
        for name in ("parse", "view", "encode", "hand_over", "lane", "body")
    )
    further = (heartbeats.median("lane") or 0) + (heartbeats.median("body") or 0)
    rows.append(
        ["HTTP"]
        + cells("cpu_ns_per_item", http)
        + [distance(http["heartbeats"].median("cpu_ns_per_item"), HTTP_NS)]
    )
    rows.append(
        ["answer, all 200"]
        + cells("answer", runs)
        + [distance(heartbeats.median("answer"), ANSWER_NS)]
    )
    rows.append(
        ["answer, 2 % 404"]
        + cells("answer_mixed", runs)
        + [distance(heartbeats.median("answer_mixed"), ANSWER_NS)]
    )
    rows.append(
        ["*parse to body, together*", f"{alone:.0f}", "", distance(alone, ALONE_NS)]
    )
    rows.append(
        ["*lane: each further peer, before its body*"]
        + [number(heartbeats.median("lane") or 0), ""]
        + [distance(heartbeats.median("lane"), FURTHER_LANE_NS)]
    )
    rows.append(
        ["*lane and body: each further peer*", f"{further:.0f}", "", ""]
    )
    print("## CPU time of an event, stage by stage, ns\n")
    table(["stage", "heartbeat", "register", "the issue's figure, and how far"], rows)
    end = figures.find("end_to_end", kind="heartbeats", peers=1, transport="inproc")
    print(
        "In a running engine with one peer a heartbeat costs "
        f"{end.text('cpu_ns_per_task')} ns, feeder\nincluded, and the counting "
        f"peer {end.text('peer_cpu_ns_per_task')} ns. What is more than the sum "
        "above is the\nfeeder, messages between threads, and caches that two "
        "threads share.\n"
    )


def rates(figures):
    print("## Rates\n")
    rows = [
        [
            f"acceptor, {own['kind']}, {own['lanes']} lane(s), "
            f"{int(own['instances']):,} instances",
            figures.find("acceptor", **own).text("events_per_second"),
            figures.find("acceptor", **own).text("cpu_ns_per_event"),
            "",
        ]
        for own in figures.settings("acceptor")
    ]
    rows += [
        [
            f"end to end, {own['kind']}, {own['peers']} peer(s), "
            f"{own['transport']}",
            figures.find("end_to_end", **own).text("tasks_per_second"),
            figures.find("end_to_end", **own).text("cpu_ns_per_task"),
            figures.find("end_to_end", **own).text("peer_cpu_ns_per_task"),
        ]
        for own in figures.settings("end_to_end")
    ]
    rows += [
        [
            f"HTTP client alone, {own['kind']}, POSTs of {own['items']}",
            figures.find("http", **own).text("posts_per_second"),
            figures.find("http", **own).text("cpu_us_per_post", 1) + " µs a POST",
            "",
        ]
        for own in figures.settings("http")
    ]
    table(["what", "per second", "CPU, ns each", "CPU of the peers, ns each"], rows)
    print("## Latency, from the feeder's send to the peer's receipt, ms\n")
    table(
        ["events per second", "p50", "p90", "p99", "highest"],
        [
            [number(float(own["per_second"]))]
            + [
                figures.find("latency", **own).text(key, 1)
                for key in ("p50_ms", "p90_ms", "p99_ms", "max_ms")
            ]
            for own in figures.settings("latency")
        ],
    )


def sick(figures):
    print("## One black-holed peer of three: the other two\n")
    thirds = (
        ("absent", "there is none"),
        ("well", "well"),
        ("black-hole", "accepts and never reads"),
    )
    table(
        ["the third peer", "tasks/s, both", "p50 at 1,000/s, ms", "p99, ms"],
        [
            [text]
            + [
                figures.find("sick", third=third).text(key, digits)
                for key, digits in (
                    ("tasks_per_second", 0),
                    ("p50_ms", 2),
                    ("p99_ms", 2),
                )
            ]
            for third, text in thirds
        ],
    )


CASES = {
    "owed": "owed: asked, then told",
    "waiting": "most wait, the rest is owed",
    "renew": "heartbeats lost: asked",
    "added": "added at run time: resync",
    "verify": "verified: asked",
}

#  Fewer changes than that have no p99
SAMPLES_MIN = 100


def recovery_time(own, runs):
    slow = own["delay_ms"] != "0"
    return [
        CASES[own["kind"]],
        number(float(own["instances"])),
        own["delay_ms"],
        runs.text("first_ms"),
        runs.text("whole_ms"),
        number(runs.median("minimum_ms")) if slow else "–",
        runs.text("ratio", 2) if slow else "–",
        number(runs.median("needed_requests")),
        runs.text("requests"),
    ]


def recovery_notice(own, runs):
    def cell(key):
        if min(runs.values(key.split("_")[0] + "_samples")) < SAMPLES_MIN:
            return "–"
        return runs.text(key, 1)

    keys = "healthy_p50_ms healthy_p99_ms live_p50_ms live_p99_ms".split()
    return [
        CASES[own["kind"]], number(float(own["instances"])), own["delay_ms"]
    ] + [cell(key) for key in keys]


def recovery(figures):
    settings = figures.settings("recovery")
    if not settings:
        return
    print("## A peer that comes back\n")
    #  Not in every round
    print(f"Median of {len(figures.find('recovery', **settings[0]).lines)} run(s).\n")
    cases = [(own, figures.find("recovery", **own)) for own in settings]
    table(
        ["the peer is", "instances", "answers after, ms", "first answer, ms",
         "then whole, ms", "least, ms", "ratio", "requests needed", "got"],
        [recovery_time(own, runs) for own, runs in cases],
    )
    print(
        "*First answer*: how long it listened before it was tried again. *Whole* "
        "counts from\nthere. *Got* has the requests with changes that came "
        "meanwhile, 1,000 a second, in it.\n"
    )
    print("What these changes took from the feeder to the peers, ms:\n")
    before = [
        ["*before, all well*", "", delay]
        + [
            figures.find("recovery", delay_ms=delay).text(key, 1)
            for key in (
                "healthy_before_p50_ms healthy_before_p99_ms "
                "live_before_p50_ms live_before_p99_ms"
            ).split()
        ]
        for delay in dict.fromkeys(own["delay_ms"] for own in settings)
    ]
    table(
        ["the peer is", "instances", "answers after, ms", "the other peer, p50",
         "p99", "the peer itself, p50", "p99"],
        before + [recovery_notice(own, runs) for own, runs in cases],
    )
    extra = sum(
        abs(int(pairs["extra"]))
        for name, pairs in figures.lines if name == "recovery"
    )
    print(f"Items more or fewer than needed, in all of these runs: {extra}.\n")


def memory(figures):
    runs = figures.find("memory")
    if not runs.lines:
        return
    lanes = int(runs.lines[0]["lanes"])
    view, text = runs.median("view_bytes"), runs.median("text_bytes")
    further = runs.median("further_lanes_bytes") / (lanes - 1)
    print(f"## Memory, bytes an instance ({int(runs.lines[0]['instances']):,} of them)\n")
    table(
        ["what", "heap", "resident"],
        [
            [
                f"view, of which {text:.0f} are the InstanceInfo as JSON",
                f"{view:.0f}",
                f"{runs.median('view_resident_bytes'):.0f}",
            ],
            [
                "first lane",
                f"{runs.median('first_lane_bytes'):.1f}",
                f"{runs.median('first_lane_resident_bytes'):.1f}",
            ],
            [
                f"each of {lanes - 1} further lanes",
                f"{further:.1f}",
                f"{runs.median('further_lanes_resident_bytes') / (lanes - 1):.1f}",
            ],
            [
                f"a change waiting in all {lanes} lanes",
                f"{runs.median('waiting_everywhere_bytes'):.1f}",
                f"{runs.median('waiting_everywhere_resident_bytes'):.1f}",
            ],
        ],
    )
    print(
        "The text is there once: a further lane adds what a lane needs and "
        "nothing of the\ntext. Resident counts what malloc keeps for later, "
        "too.\n"
    )


def idle(figures):
    print("## Nothing to do\n")
    names = {
        ("well", "on"): "all told, stats each second",
        ("well", "off"): "all told, no stats",
        ("refuse", "on"): "peer refuses connections, all instances wait",
        ("black-hole", "on"): "peer never answers, all instances wait",
    }
    table(
        ["engine with one peer", "wake-ups/s, all threads", "% of a core"],
        [
            [
                text,
                figures.find("idle", peer=peer, stats=stats).text(
                    "wakeups_per_second", 1
                ),
                figures.find("idle", peer=peer, stats=stats).text(
                    "cpu_percent", 3
                ),
            ]
            for (peer, stats), text in names.items()
        ],
    )


def reference(figures):
    print("## Beside the reference: Netflix Eureka's batcher, same run\n")
    if not figures.settings("reference_throughput"):
        print("Left out (`--no-reference`).\n")
        return
    rows = []
    ours = figures.find(
        "end_to_end", kind="heartbeats", peers=1, transport="inproc"
    ).text("tasks_per_second")
    for own in figures.settings("reference_throughput"):
        buffer = int(own["buffer"])
        limits = "default" if buffer == 10000 else number(buffer)
        rows.append(
            [
                f"tasks/s to one peer, {own['workers']} worker(s), buffer {limits}",
                figures.find("reference_throughput", **own).text(
                    "tasks_per_second"
                ),
                ours,
            ]
        )
    latency = figures.find("reference_latency")
    own = figures.find("latency", per_second=1000)
    for key in ("p50_ms", "p99_ms"):
        rows.append(
            [
                f"latency at 1,000 tasks/s, {key[:3]}, ms",
                latency.text(key, 1),
                own.text(key, 1),
            ]
        )
    memories = figures.find("memory")
    each = memories.median("lane_says_bytes")
    rows.append(
        [
            "bytes a waiting task",
            figures.find("reference_memory").text("bytes_per_task"),
            f"0, and {each:.0f} for an instance the lane knows, waiting or not"
            if each
            else "–",
        ]
    )
    table(["", "reference", "zpeer"], rows)
    print(
        "Not the same work: the reference here is its batcher alone, whose "
        "processor succeeds\nat once; ours receives msgpack, checks it, keeps the "
        "view, writes JSON, and sends it\nover HTTP to a peer on the same "
        "machine, which takes its part of the two cores.\n"
    )


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = Figures(folder / "figures")
    machine(folder / "machine")
    targets(figures)
    stages(figures)
    rates(figures)
    sick(figures)
    recovery(figures)
    memory(figures)
    idle(figures)
    reference(figures)


if __name__ == "__main__":
    main()
