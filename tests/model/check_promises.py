#!/usr/bin/env python3
"""check_promises.py [--list]: README.md's guarantees against the table of actors/DESIGN.md and the tests there
are. Every sentence of the section has a row, every row a sentence; every check a row names exists. --list prints
the sentences as rows without checks.

A check is `FILE:NAME`: a test program or script without its ending, and the test's name; or `sim:KIND`,
`chaos:KIND`, `model:KIND`: the kind of fault that they report. A row that begins with "limit:" is of a sentence
that promises nothing, or is no sentence; with "none:", of one that has no check."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = "## What is guaranteed, and what is not"
TABLE = "## What README promises, and what holds it"
END = re.compile(r"(?<=[.!?])[*)]*\s+(?=[A-Z*`(\"])")


def section(text, head):
    """The lines of a section, to the next head of its level."""
    lines = text.split(head + "\n", 1)[1].splitlines()
    ends = [n for n, line in enumerate(lines) if line.startswith("## ")]
    return lines[:ends[0]] if ends else lines


def plain(text):
    return re.sub(r"\s+", " ", re.sub(r"[*`\\]", "", text)).strip()


def sentences(lines):
    """Of paragraphs and lists; in order."""
    blocks = re.split(r"\n(?=- )|\n\s*\n", "\n".join(lines))
    for block in blocks:
        text = re.sub(r"\s+", " ", block.strip())
        text = text[2:] if text.startswith("- ") else text
        at = 0
        for end in END.finditer(text):
            yield text[at:end.end()].strip()
            at = end.end()
        if text[at:]:
            yield text[at:].strip()


def rows(lines):
    for line in lines:
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) == 4 and not set(cells[1]) <= set("- "):
            yield cells[1].strip(), cells[2].strip()


def known_names():
    """Which names there are in which file, of tests, scripts and the checks of what plays histories."""
    names = {}
    for path in ROOT.glob("tests/*/*"):
        if path.suffix not in (".c", ".py", ".sh"):
            continue
        text = path.read_text()
        if path.name.startswith("test_"):
            found = re.findall(r"\b(?:Test|[A-Z_]+)\s*\(\s*\w+\s*,\s*(\w+)|^(?:def )?(\w+) \(\)|^def (\w+)", text, re.M)
            names.setdefault(path.stem, set()).update(n for f in found for n in f if n)
        elif path.parent.name in ("sim", "chaos"):
            names.setdefault(path.parent.name, set()).update(
                re.findall(r"\b(?:world_fail|run_fail) \([^,;]*,\s*\"([^\"%]+)\"", text)
                + (re.findall(r"(?:return|\?) \"([a-z' ]+)\"", text) if path.name == "compare.c" else []))
        elif path.parent.name == "model":
            names.setdefault("model", set()).update(re.findall(r"Wrong\(f?\"([a-z ]+):", text)
                                                    + re.findall(r"(?:return|append\(f?|else) ?\"([a-z ]+)", text))
    return names


def checks(cell):
    return re.findall(r"`([^`]+)`", cell)


def other_checks(names):
    """Checks that the rest of DESIGN.md names, and that do not exist."""
    text = (ROOT / "actors/DESIGN.md").read_text().split(TABLE)[0]
    mutants = (pathlib.Path(__file__).parent / "mutants.py").read_text()
    yield from (m for m in re.findall(r'mutant\s+"([^"]+)"', text) if f'("{re.sub(chr(10), " ", m)}"' not in mutants)
    for file, name in re.findall(r"`(test_\w+|sim|chaos|model):([^`]+)`", text):
        if name not in names.get(file, ()) and name not in ("KIND", "NAME"):
            yield f"{file}:{name}"


def main():
    readme = [s for s in sentences(section((ROOT / "README.md").read_text(), SECTION))]
    if "--list" in sys.argv:
        print("\n".join(f"| {s} | |" for s in readme))
        return 0
    table = list(rows(section((ROOT / "actors/DESIGN.md").read_text(), TABLE)))[1:]
    names, faults = known_names(), []
    promised, listed = {plain(s) for s in readme}, {plain(s) for s, _ in table}
    faults += [f"README.md, no row: {s}" for s in readme if plain(s) not in listed]
    faults += [f"DESIGN.md, not in README.md: {s}" for s, _ in table if plain(s) not in promised]
    none = [s for s, cell in table if cell.startswith("none:")]
    for sentence, cell in table:
        if not checks(cell) and not cell.startswith(("none:", "limit:")):
            faults.append(f"DESIGN.md, no check: {sentence}")
        for check in checks(cell):
            file, _, name = check.partition(":")
            if name not in names.get(file, ()):
                faults.append(f"DESIGN.md, there is no {check}: {sentence}")
    faults += [f"DESIGN.md, there is no {c}" for c in other_checks(names)]
    print("\n".join(faults + [f"promises: {len(readme)} sentences, {len(none)} without a check, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
