#!/usr/bin/env python3
"""The shared library exports what the public headers declare, and no more.

    test_symbols.py LIBRARY HEADER...
"""

import re
import subprocess
import sys

DECLARATION = re.compile(r"ZPEER_EXPORT\s[^;(]*?\b(\w+)\s*[(;\[]")
NOISE = re.compile(r"/\*[\s\S]*?\*/|//.*|^#(?:.*\\\n)*.*$", re.MULTILINE)


def exported(library):
    text = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", library],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {line.split()[0] for line in text.splitlines() if line.strip()}


def declared(headers):
    names = set()
    for path in headers:
        with open(path, encoding="utf-8") as file:
            text = NOISE.sub("", file.read())
            names.update(DECLARATION.findall(text))
    return names


def main():
    library, headers = sys.argv[1], sys.argv[2:]
    public = declared(headers)
    symbols = exported(library)
    faults = [f"exported, but in no public header: {s}" for s in symbols - public]
    faults += [f"declared, but not exported: {s}" for s in public - symbols]
    faults += [
        f"public, but without the prefix: {s}"
        for s in symbols | public
        if not s.startswith("zpeer_")
    ]
    for fault in sorted(faults):
        print(fault)
    print(f"{len(symbols)} symbols, {len(faults)} faults")
    return 1 if faults or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
