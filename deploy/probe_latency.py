#!/usr/bin/env python3
"""Measures how long a change takes from a feeder to scripted peers.

    probe_latency.py ZPEERCTL EVENTS_ENDPOINT NAME=CONTROL_URL...

Registers an instance again and again through a running "zpeerctl feed", with
the time of sending as its timestamp, in microseconds since this began, and asks
each peer when it received what. Both times are of the machine's monotonic clock.
Each run has an instance of its own: one that was there before may have had
higher timestamps. A probe that the next one has
overtaken on the way is not sent: the engine sends what is newest. Prints a line
for each peer, and cancels the instance at the end.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request

PROBES = 50
INTERVAL_SECONDS = 0.02
PATIENCE_SECONDS = 2
APP, INSTANCE = "ZPEER-PROBE", f"probe.example.net:probe:{os.getpid()}"
BEGUN = time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def stamp(monotonic_ns):
    """What the engine takes for ms has a bound: these are no ns."""
    return (monotonic_ns - BEGUN) // 1000 + 1


def register(timestamp):
    return {
        "instance": {
            "instanceId": INSTANCE,
            "app": APP,
            "hostName": "probe.example.net",
            "ipAddr": "192.0.2.1",
            "status": "UP",
            "dataCenterInfo": {
                "@class": "com.netflix.appinfo."
                "InstanceInfo$DefaultDataCenterInfo",
                "name": "MyOwn",
            },
            "lastDirtyTimestamp": timestamp,
        }
    }


def call(url, body=None):
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(url, data, timeout=10) as reply:
        return reply.read()


def set_sampling(peers, every):
    for url in peers.values():
        call(url + "script", {"settings": {"sample": every}})


def samples(url, wanted):
    """Latencies in ms of the probes that have arrived."""
    return [
        (stamp(received) - sent) / 1e3
        for received, sent in json.loads(call(url + "samples"))
        if sent in wanted
    ]


def send_probes(feeder):
    sent = set()
    for _ in range(PROBES):
        timestamp = stamp(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        sent.add(timestamp)
        feeder.stdin.write(json.dumps(register(timestamp)) + "\n")
        feeder.stdin.flush()
        time.sleep(INTERVAL_SECONDS)
    return sent


def collect(peers, sent):
    """{name: latencies}; waits a little for the last ones."""
    found = {name: [] for name in peers}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        for name, url in peers.items():
            found[name] += samples(url, sent)
        if all(len(latencies) >= PROBES for latencies in found.values()):
            break
        time.sleep(INTERVAL_SECONDS)
    return found


def main():
    zpeerctl, endpoint = sys.argv[1:3]
    peers = dict(text.split("=", 1) for text in sys.argv[3:])
    command = [zpeerctl, "feed", "--quiet", "--endpoint", endpoint, "-"]
    set_sampling(peers, 1)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as feeder:
        sent = send_probes(feeder)
        found = collect(peers, sent)
        cancel = {"action": "Cancel", "app": APP, "id": INSTANCE}
        feeder.stdin.write(json.dumps(cancel) + "\n")
        feeder.stdin.close()
    set_sampling(peers, 0)
    for name, latencies in found.items():
        if latencies:
            print(
                f"    {name}: {statistics.median(latencies):.1f} ms "
                f"(the median of {len(latencies)} probes), "
                f"at most {max(latencies):.1f} ms"
            )
        else:
            print(f"    {name}: none of {PROBES} probes arrived")
    return feeder.returncode


if __name__ == "__main__":
    sys.exit(main())
