#!/usr/bin/env python3
"""Checks what the compilers and clang-format do not.

    check_style.py [FILE...]      without files: all that git knows

Limits: 600 lines a .c, 400 a test, 150 lines of a public header that are not
comments, 60 lines a function. banned.h is the last include of every .c. No
reminder without an issue number, no path of somebody's machine, no tabs, no
blanks at line ends, no binary files but the fuzzers' corpora.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SELF = pathlib.Path(__file__).resolve()

FILE_LIMIT = 600
TEST_LIMIT = 400
HEADER_LIMIT = 150
FUNCTION_LIMIT = 60

REMINDER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!.*#\d)|\bfor now[.:,)]")
MACHINE = re.compile(r"(?<![\w.])/(work|home|root|Users)/\w")
INCLUDE = re.compile(r"^\s*#\s*include\s+[<\"]([^>\"]+)[>\"]", re.M)
COMMENT = re.compile(r"/\*[\s\S]*?\*/|//.*")


def all_files():
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    return [ROOT / name.decode() for name in names.split(b"\0") if name]


def function_faults(lines):
    """A function begins with { in column 0 and ends with } in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > FUNCTION_LIMIT:
                yield start, f"function of {number - start - 1} lines"
            start = None


def c_faults(path, text, lines):
    relative = path.relative_to(ROOT)
    limit = TEST_LIMIT if path.name.startswith("test_") else FILE_LIMIT
    if path.suffix == ".c":
        if len(lines) > limit:
            yield len(lines), f"file of {len(lines)} lines, limit {limit}"
        includes = INCLUDE.findall(text)
        outside = "outside" in relative.parts or path.name == "example.c"
        if not outside and includes and includes[-1] != "banned.h":
            yield 1, "banned.h is not the last include"
        yield from function_faults(lines)
    elif "include" in relative.parts:
        code = COMMENT.sub("", text).splitlines()
        size = sum(1 for line in code if line.strip())
        if size > HEADER_LIMIT:
            yield 1, f"public header of {size} lines without comments"


def faults(path):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        yield 1, "a binary file, which has no place here"
        return
    lines = text.splitlines()
    if path.suffix in (".c", ".h"):
        yield from c_faults(path, text, lines)
    for number, line in enumerate(lines, 1):
        if path != SELF and REMINDER.search(line):
            yield number, "reminder without an issue number"
        if path != SELF and MACHINE.search(line):
            yield number, "path of somebody's machine"
        if line != line.rstrip():
            yield number, "blanks at the line's end"
        if "\t" in line and path.name != "Makefile":
            yield number, "tab"


def main():
    count = 0
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    for path in files or all_files():
        if "corpus" in path.parts or not path.is_file():
            continue
        if path.suffix == ".svg":  #  As gnuplot writes it
            continue
        for number, fault in faults(path):
            print(f"{path.relative_to(ROOT)}:{number}: {fault}")
            count += 1
    print(f"style: {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
