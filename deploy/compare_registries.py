#!/usr/bin/env python3
"""Compares what Eureka servers hold with what the source says.

    compare_registries.py SOURCE.json NAME=URL... [--wait SECONDS]
                          [--stats FILE]

SOURCE.json is the registry as GET /eureka/apps shows it; URL is a server's base
URL. With --wait the servers are asked again and again until all of them are
equal to the source, or the time is over; when each became equal is in the
table. With --stats, the file holds "stats" lines of zpeerctl watch, from which
comes how many instances wait to be sent to each peer, and how many it is owed.

An instance is equal if status, overridden status, timestamp, addresses, ports
and metadata are. Exit status: 0 all servers are equal, 1 some are not, 2 one
could not be read.
"""

import argparse
import concurrent.futures
import gzip
import json
import sys
import time
import urllib.request

MEMBERS = """status overriddenStatus lastDirtyTimestamp hostName ipAddr
vipAddress secureVipAddress homePageUrl""".split()
POLL_SECONDS = 0.05


def as_list(value):
    """A list of one is sometimes written without the list."""
    return value if isinstance(value, list) else [value]


def read_registry(document):
    """{(app, id): what is compared} of an answer to GET apps."""
    registry = {}
    apps = document["applications"].get("application") or []
    for app in as_list(apps):
        for info in as_list(app.get("instance") or []):
            seen = {name: info.get(name) for name in MEMBERS}
            seen["lastDirtyTimestamp"] = str(seen["lastDirtyTimestamp"])
            for name in ("port", "securePort"):
                port = info.get(name) or {}
                seen[name] = (
                    str(port.get("$")),
                    str(port.get("@enabled")).lower(),
                )
            metadata = dict(info.get("metadata") or {})
            metadata.pop("@class", None)
            seen["metadata"] = metadata
            instance_id = info.get("instanceId") or info.get("hostName")
            registry[(info["app"].upper(), instance_id)] = seen
    return registry


def fetch(url):
    """Netflix's server refuses with 406 what does not accept gzip."""
    request = urllib.request.Request(
        url.rstrip("/") + "/apps",
        headers={"Accept": "application/json", "Accept-Encoding": "gzip"},
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        answer = reply.read()
        if reply.headers.get("Content-Encoding") == "gzip":
            answer = gzip.decompress(answer)
        return answer


class Peer:
    """One server, and how it compares."""

    def __init__(self, text):
        self.name, _, self.url = text.partition("=")
        if not self.url:
            raise argparse.ArgumentTypeError(f"{text}: not NAME=URL")
        self.held = {}
        self.missing = self.extra = self.different = ()
        self.equal_after = None

    def compare(self, source, answer, seconds):
        self.held = read_registry(json.loads(answer))
        self.missing = [key for key in source if key not in self.held]
        self.extra = [key for key in self.held if key not in source]
        self.different = [
            key
            for key in source
            if key in self.held and self.held[key] != source[key]
        ]
        if self.missing or self.extra or self.different:
            self.equal_after = None
        elif self.equal_after is None:
            self.equal_after = seconds

    def row(self, source, figures):
        equal = len(source) - len(self.missing) - len(self.different)
        verdict = "NOT the same"
        if self.equal_after is not None:
            verdict = "the same"
            if self.equal_after >= POLL_SECONDS:
                verdict += f", after {self.equal_after:.1f} s"
        counts = [len(self.held), equal]
        counts += [len(self.missing), len(self.extra), len(self.different)]
        counts += [figures.get("queued"), figures.get("owed")]
        return [self.name] + [shown(count) for count in counts] + [verdict]

    def examples(self, source):
        """A sentence about each way in which something is not equal."""
        for key in self.missing[:1]:
            yield f"{key[1]} is missing"
        for key in self.extra[:1]:
            yield f"{key[1]} should be gone"
        for key in self.different[:1]:
            for name, value in source[key].items():
                held = self.held[key][name]
                if held != value:
                    yield f"{key[1]}: {name} is {held}, not {value}"
                    break


def shown(count):
    return "-" if count is None else f"{count:,}"


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row, widths)][1:-1]
        cells.append(row[-1])
        print("    " + "  ".join(cells).rstrip())


def read_stats(path):
    """{base URL: figures}, the newest of each peer."""
    stats = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            figures = json.loads(line)["data"]
            if "owed" in figures:
                stats[figures["peer"].rstrip("/")] = figures
    return stats


def look(peers, source, started):
    """Asks all at the same moment, and then compares."""
    seconds = time.monotonic() - started
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(fetch, [peer.url for peer in peers]))
    for peer, answer in zip(peers, answers):
        peer.compare(source, answer, seconds)
    return all(peer.equal_after is not None for peer in peers)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("source")
    parser.add_argument("peers", nargs="+", type=Peer, metavar="NAME=URL")
    parser.add_argument("--wait", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--stats", metavar="FILE")
    options = parser.parse_args()
    with open(options.source, encoding="utf-8") as file:
        source = read_registry(json.load(file))

    started = time.monotonic()
    equal = look(options.peers, source, started)
    while not equal and time.monotonic() - started < options.wait:
        time.sleep(POLL_SECONDS)
        equal = look(options.peers, source, started)

    stats = read_stats(options.stats) if options.stats else {}
    rows = ["registry holds equal missing extra different waiting owed".split()]
    rows[0].append("")
    rows.append(["source", shown(len(source))] + ["-"] * 6 + [""])
    for peer in options.peers:
        rows.append(peer.row(source, stats.get(peer.url.rstrip("/"), {})))
    print_table(rows)
    for peer in options.peers:
        for line in peer.examples(source):
            print(f"      {peer.name}: {line}")
    return 0 if equal else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        print(f"compare_registries: {error}", file=sys.stderr)
        sys.exit(2)
