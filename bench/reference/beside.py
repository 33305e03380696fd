#!/usr/bin/env python3
"""Measures zpeer and the reference, in turns, at the same peers.

    beside.py --build FOLDER --java FOLDER --output FOLDER [--rounds N] [--quick]

Writes "figures" and "settings" to the output folder, for report.py. run.sh
builds what it needs; bench/README.md says what is measured, and how.
"""

import argparse
import pathlib
import shutil
import signal
import sys
import time

import measures
from processes import Failure
from settings import Tools
from stage import Figures


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--java", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names of measurements, with commas")
    given = parser.parse_args()
    given.chosen = given.only.split(",") if given.only else [*measures.ALL]
    unknown = [name for name in given.chosen if name not in measures.ALL]
    if unknown:
        parser.error(
            f"no measurement {', '.join(unknown)}; there are "
            + ", ".join(measures.ALL)
        )
    return given


def tools(given):
    logs = given.output / "said"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    return Tools(
        sender=str(given.build / "bench/bench_sender"),
        peer=str(given.build / "tests/support/zpeer-scripted-peer"),
        java=str(given.java),
        logs=logs,
    )


def end(number, _):
    #  As an exception, so that whoever started processes ends them
    sys.exit(128 + number)


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    scale = measures.scale(given.quick, given.rounds)
    plan = measures.Plan(
        tools(given), Figures(given.output / "figures"), scale
    )
    plan.figures.add("warm", seconds=scale.warm_seconds)
    started = time.monotonic()
    try:
        for name in given.chosen:
            measures.ALL[name](plan)
            plan.say(f"{name} done, {time.monotonic() - started:.0f} s so far")
    except Failure as failure:
        sys.exit(f"beside: {failure}")
    (given.output / "settings").write_text(plan.settings_text())


if __name__ == "__main__":
    main()
