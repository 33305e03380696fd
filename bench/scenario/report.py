#!/usr/bin/env python3
"""Writes the part "scenario" of RESULTS.md from what scenario.py said.

    report.py FOLDER        "machine" and "figures" in it, by run.sh
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from figures import (  # noqa: E402
    Figures, busy_warning, machine_rows, read_facts, table
)

SYSTEMS = {
    "reference": "reference, as it was",
    "gate": "reference, with the gate",
    "zpeer": "zpeer",
    "zpeer-500": "zpeer, 500 ms linger",
}

CASES = {
    "ignores": "The slow peer does not do what it answers too late (B to A)",
    "applies": "The slow peer does it, and answers too late (A to B)",
}

KINDS = ("missing", "ghosts", "override", "older")

#  What, key, digits
DURING = (
    ("requests sent to the slow peer in 15 s", "requests", 0),
    ("changes and heartbeats in them", "items", 0),
    ("request capacity burnt, s of 90", "burnt_seconds", 1),
    ("capacity free again, s after the outage began", "free_after", 1),
    ("instances gone there at its end, of 4,000", "gone", 0),
)
AFTER = (
    ("first request answered, s", "answer_after", 1),
    ("equal to the source, without an event, s", "equal_after", 1),
)
RESUMED = (
    ("equal, s after heartbeats went on", "heartbeats_equal_after", 1),
)
HEALTHY = (
    ("p50 before, ms", "before_p50_ms", 1),
    ("p50 in the outage, ms", "outage_p50_ms", 1),
    ("p99 before, ms", "before_p99_ms", 1),
    ("p99 in the outage, ms", "outage_p99_ms", 1),
    ("changes that came, in the outage", "outage_changes", 0),
    ("instances that differ at the end", "different", 0),
    ("events were at most so late, s", "late_seconds", 2),
)


def runs_of(figures, system, case):
    return figures.find("scenario", system=system, case=case)


def cell(runs, key, digits):
    return runs.text(key, digits).replace("inf", "never")


def rows(figures, case, wanted):
    for text, key, digits in wanted:
        yield [text] + [
            cell(runs_of(figures, system, case), key, digits)
            for system in SYSTEMS
        ]


def different(figures, case, prefix, text):
    """How many instances differ, and in what way."""
    row = [text]
    for system in SYSTEMS:
        runs = runs_of(figures, system, case)
        counts = [(runs.median(prefix + kind) or 0, kind) for kind in KINDS]
        kinds = [f"{count:.0f} {kind}" for count, kind in counts if count]
        row.append(", ".join(kinds) or ("none" if runs.lines else "–"))
    return row


def direction(figures, case):
    print(f"### {CASES[case]}\n")
    table(
        ["in the outage"] + list(SYSTEMS.values()),
        list(rows(figures, case, DURING)),
    )
    after = list(rows(figures, case, AFTER))
    after.append(
        different(figures, case, "silent_", "different when nothing is sent")
    )
    after += rows(figures, case, RESUMED)
    after.append(
        different(figures, case, "end_", "lost: different after two rounds")
    )
    table(["from the recovery on"] + list(SYSTEMS.values()), after)


def main():
    folder = pathlib.Path(sys.argv[1])
    facts = read_facts(folder / "machine")
    figures = Figures(folder / "figures")
    print("## The original fault\n")
    busy_warning(facts)
    print((HERE / "report_head.md").read_text())
    for case in CASES:
        direction(figures, case)
    print("### What the healthy peer noticed: from event to receipt\n")
    table(
        ["changes of both nodes"] + list(SYSTEMS.values()),
        list(rows(figures, "healthy", HEALTHY)),
    )
    print((HERE / "report_tail.md").read_text())
    machine = machine_rows(facts)
    java = f"{facts['java']}, Eureka {facts['eureka']}"
    machine.append(["Java, for the reference", java])
    machine.append(["runs of each", facts["runs"]])
    table(["", ""], machine)


if __name__ == "__main__":
    main()
