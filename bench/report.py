#!/usr/bin/env python3
"""Writes the part "engine" of RESULTS.md from what the benchmarks said.

    report.py FOLDER        "machine" and "figures" in it, by run.sh
"""

import pathlib
import statistics
import sys

from figures import (
    Figures, busy_warning, judged, machine_rows, number, read_facts, table
)
from report_recovery import beside_one_that_returns, recovery

#  Targets, from small C programs, ns: parsing, JSON writing, one lane
#  and body building of a heartbeat; a further lane; HTTP and answer of an item
ALONE_NS = 290
FURTHER_LANE_NS = 50
HTTP_NS = 110
ANSWER_NS = 380


def beside_a_sick_one(figures):
    """What two notice of a third that is sick. One that is well would take its
    share of the cores: so the comparison is to none."""
    well = figures.find("sick", third="absent")
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
            "two peers beside a black-holed third: rate, of that without it",
            f"{rate:.0f} %",
            "≥ 95 %",
            "yes" if rate >= 95 else "**no**",
        ],
        [
            "the same: p99 at 1,000/s, more than without it",
            f"{later:+.2f} ms",
            "≤ 2 ms",
            "yes" if later <= 2 else "**no**",
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
    print("### Targets\n")
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
    print("### CPU time of an event, stage by stage, ns\n")
    table(["stage", "heartbeat", "register", "target, and how far"], rows)
    end = figures.find("end_to_end", kind="heartbeats", peers=1, transport="inproc")
    print(
        "In a running engine with one peer a heartbeat costs "
        f"{end.text('cpu_ns_per_task')} ns, feeder\nincluded, and the counting "
        f"peer {end.text('peer_cpu_ns_per_task')} ns. What is more than the sum "
        "above is the\nfeeder, messages between threads, and caches that two "
        "threads share.\n"
    )


def rates(figures):
    print("### Rates\n")
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
    print("### Latency, from the feeder's send to the peer's receipt, ms\n")
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
    print("### One black-holed peer of three: the other two\n")
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


def memory(figures):
    runs = figures.find("memory")
    if not runs.lines:
        return
    lanes = int(runs.lines[0]["lanes"])
    view, text = runs.median("view_bytes"), runs.median("text_bytes")
    further = runs.median("further_lanes_bytes") / (lanes - 1)
    print(f"### Memory, bytes an instance ({int(runs.lines[0]['instances']):,} of them)\n")
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
    print("### Nothing to do\n")
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


def machine(facts):
    print("## The engine and its parts: `bench/run.sh`\n")
    print(f"Median of {facts['runs']} run(s), in brackets lowest and highest.\n")
    busy_warning(facts)
    table(["", ""], machine_rows(facts))


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = Figures(folder / "figures")
    machine(read_facts(folder / "machine"))
    targets(figures)
    stages(figures)
    rates(figures)
    sick(figures)
    recovery(figures)
    memory(figures)
    idle(figures)


if __name__ == "__main__":
    main()
