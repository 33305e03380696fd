"""What the benchmarks said, and tables of it.

A line of figures is the benchmark's name and key=value pairs. Lines that differ
only in what was measured are runs of the same; the median is shown, and in
brackets the lowest and the highest.
"""

import statistics

#  What tells runs of one benchmark from those of another
SETTINGS = """kind peers transport instances lanes per_second third peer items
delay_ms""".split()

LIBRARIES = ("libzmq", "libczmq", "libcurl", "msgpack", "jansson")


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


def read_facts(path):
    """What describe () of common.sh found."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def busy_warning(facts):
    if float(facts["load"].split()[0]) > 0.25 * int(facts["cores"]):
        print(
            f"**Others used the machine (load average {facts['load']}): these "
            "figures are worse than\nthey should be, and prove little.**\n"
        )


def machine_rows(facts):
    libraries = [f"{name} {facts[name]}" for name in LIBRARIES]
    libraries.append(f"xxhash {facts['libxxhash']}")
    return [
        ["commit", f"{facts['commit']}, {facts['date']}"],
        ["processor", f"{facts['cpu']}, {facts['cores']} cores, {facts['memory']}"],
        ["system", f"{facts['system']}, {facts['kernel']}"],
        ["load average before", facts["load"]],
        ["compiler", f"{facts['compiler']}, RelWithDebInfo"],
        ["libraries", ", ".join(libraries)],
    ]


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
