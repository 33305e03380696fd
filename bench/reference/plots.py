#!/usr/bin/env python3
"""Writes what plots.gp draws.

    plots.py FOLDER        "figures" in it; the files go to its folder "data"

A line is a case: its number, then median, lowest and highest of rate and of CPU.
"""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import tables
from figures import Figures

#  In order of the bars
LATENCIES = (
    ("reference", "default-20"), ("reference", "quick"), ("zpeer", "same-20"),
    ("zpeer", "default"), ("zpeer", "quick"),
)


def spread(runs, key):
    values = runs.values(key)
    return f"{statistics.median(values):g} {min(values):g} {max(values):g}"


def curve(figures, key, system, where):
    """Rate and CPU over peers or instances."""
    found = tables.cases(figures, "flood", key, system=system, **where)
    found.sort(key=lambda case: int(case[0][key]))
    return [
        f"{own[key]} {spread(runs, 'tasks_per_second')} {spread(runs, 'cpu_us')}"
        for own, runs in found
    ]


def percentiles(figures, per_second):
    lines = []
    for system, setting in LATENCIES:
        runs = figures.find(
            "latency", set="latency", system=system, setting=setting,
            per_second=per_second,
        )
        if runs.lines:
            text = " ".join(
                f"{runs.median(key):g}" for key in ("p50_ms", "p99_ms", "max_ms")
            )
            label = tables.TITLES[system, setting].replace(", ", ",\\n")
            lines.append(f'"{label}" {text}')
    return lines


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = Figures(folder / "figures")
    data = folder / "data"
    data.mkdir(exist_ok=True)
    files = {
        f"latency-{rate}": percentiles(figures, rate) for rate in (100, 1000, 10000)
    }
    for system in ("reference", "zpeer"):
        files[f"peers-{system}"] = curve(
            figures, "peers", system, {"set": "best", "kind": "heartbeats"}
        )
        files[f"instances-{system}"] = curve(
            figures, "instances", system, {"set": "instances"}
        )
    for name, lines in files.items():
        (data / name).write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
