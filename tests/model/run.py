#!/usr/bin/env python3
"""run.py CORES N [OPTION...]: N histories, of the model and the cores in C side by side.
CORES is the program (build/dev/tests/model/cores). Prints what differed, with the shortest history of each
kind; exit status 1 if anything did."""
import argparse
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from cores import Program
from words import Wrong
from world import World


def play(program, seed, leave_out=()):
    """One history. Returns (what is wrong or "", the world)."""
    world = None
    try:
        world = World(program, seed, leave_out)
        bad = world.run()
        return (bad[0] if bad else ""), world
    except Wrong as x:
        return str(x), world
    except Exception:           # a fault of the model itself
        return "model: " + traceback.format_exc(), world


def kind_of(text):
    return text.split(":")[0]


def shorten(path, seed, text):
    """Leaves out whatever can be left out, and it is still wrong in the same way. Returns the steps left out."""
    world = play(Program(path), seed)[1]
    out, size = set(), max(1, world.steps // 2)
    while size:
        at = 0
        while at < world.steps:
            more = out | set(range(at, min(at + size, world.steps)))
            if more != out and kind_of(play(Program(path), seed, more)[0]) == kind_of(text):
                out = more
            at += size
        size //= 2
    return out


def show(path, seed, text):
    out = shorten(path, seed, text)
    program = Program(path)
    text, world = play(program, seed, out)
    print(f"--- seed {seed}, {world.steps - len(out)} of {world.steps} steps: {text}")
    print("\n".join(world.log))


def part(path, seeds, ends_at, verbose, first):
    """Some of the histories, in a process of their own. Returns what came of each."""
    program, results = Program(path), []
    for seed in seeds:
        if time.time() > ends_at:
            break
        text, world = play(program, seed)
        if text:
            program = Program(path)     # the old one may have ended
        results.append((seed, text, len(world.log), world.features, world.outcomes))
        if verbose:
            print("\n".join(world.log))
        if text and first:
            break
    return results, program.close()


def main():
    args = argparse.ArgumentParser()
    args.add_argument("cores")
    args.add_argument("n", type=int)
    args.add_argument("--seed", default="0", help="the first; \"clock\": another each time")
    args.add_argument("--seconds", type=float, default=10**6, help="stop after so long")
    args.add_argument("--jobs", type=int, default=1, help="processes")
    args.add_argument("--first", action="store_true", help="stop at the first difference, and print one line")
    args.add_argument("--verbose", action="store_true", help="print the whole history of every seed")
    args = args.parse_args()
    began = time.time()
    seed = int(began) * 1000 if args.seed == "clock" else int(args.seed)
    jobs = [(args.cores, range(seed + j, seed + args.n, args.jobs), began + args.seconds, args.verbose, args.first)
            for j in range(args.jobs)]
    if args.jobs > 1:
        with multiprocessing.Pool(args.jobs) as pool:
            parts = pool.starmap(part, jobs, 1)
    else:
        parts = [part(*jobs[0])]
    results = sorted(r for p in parts for r in p[0])
    return tell(args, seed, results, time.time() - began) or max(p[1] for p in parts)


def tell(args, seed, results, seconds):
    """Prints what came of all; the exit status."""
    bad = [(length, seed, text) for seed, text, length, *_ in results if text]
    if args.first and bad:
        print(f"seed {bad[0][1]}: {bad[0][2]}")
        return 1
    kinds = Counter(kind_of(text) for _, _, text in bad)
    for kind in kinds:
        _, of, text = min(b for b in bad if kind_of(b[2]) == kind)
        show(args.cores, of, text)
    for name, column in (("features", 3), ("outcomes", 4)):
        c = sum((r[column] for r in results), Counter())
        print(f"{name}: " + ", ".join(f"{k} {v}" for k, v in sorted(c.items())))
    print(f"{len(results)} histories from seed {seed} in {seconds:.0f} s: {len(bad)} differ "
          f"{dict(kinds) if kinds else ''}".rstrip())
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
