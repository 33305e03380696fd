#!/usr/bin/env python3
"""Replaces one part of RESULTS.md, and nothing else.

    parts.py RESULTS NAME < text

A part lies between <!-- part:NAME --> and <!-- end:NAME -->. One that is not
there yet is put where ORDER has it; a file that is not there is begun.
"""

import pathlib
import sys

ORDER = ("engine", "reference", "scenario")

HEAD = """# Results

[README.md](README.md) says what each figure is, how to read it, and when not to
trust it. Each part tells its own machine and commit.
"""


def marks(name):
    return f"<!-- part:{name} -->", f"<!-- end:{name} -->"


def without(text, name):
    """The text before the part and behind it; None: there is no such part."""
    begin, end = marks(name)
    if begin not in text:
        return None
    before, rest = text.split(begin, 1)
    return before, rest.split(end, 1)[1]


def place(text, name):
    """As without, for a part that is not there."""
    for later in ORDER[ORDER.index(name) + 1 :]:
        begin = marks(later)[0]
        if begin in text:
            before, behind = text.split(begin, 1)
            return before, "\n\n" + begin + behind
    return text.rstrip("\n") + "\n\n", "\n"


def replaced(text, name, part):
    before, behind = without(text, name) or place(text, name)
    begin, end = marks(name)
    return f"{before}{begin}\n{part.strip()}\n\n{end}{behind}"


def main():
    path, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    if name not in ORDER:
        sys.exit(f"parts: no part is called {name}")
    text = path.read_text() if path.exists() else HEAD
    path.write_text(replaced(text, name, sys.stdin.read()))


if __name__ == "__main__":
    main()
