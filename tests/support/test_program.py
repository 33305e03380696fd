#!/usr/bin/env python3
"""Proves that the scripted peer works as a program.

    test_program.py PROGRAM

It prints one line when it listens, does what its options and its control port
say, ends on SIGTERM with status 0, and nobody listens afterwards.
"""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request


def call(url, body=None):
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
    request = urllib.request.Request(url, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def main():
    program = sys.argv[1]
    assert b"--slow-ms" in subprocess.check_output([program, "--help"])
    script = json.dumps({"rules": [{"status": 503, "count": 1}]})
    with subprocess.Popen(
        [program, "--port", "0", "--count", "--keep=0", "--script", script],
        stdout=subprocess.PIPE,
        text=True,
    ) as peer:
        url, _, control = peer.stdout.readline().split()
        assert call(url + "apps")[0] == 503
        batch = {"replicationList": [{"appName": "A", "action": "Cancel"}] * 3}
        status, body = call(url + "peerreplication/batch/", batch)
        assert status == 200 and len(json.loads(body)["responseList"]) == 3
        assert call(control + "script", {"mode": "refuse"})[0] == 204
        counters = json.loads(call(control + "counters")[1])
        assert counters["requests"] == 2 and counters["items"] == 4, counters
        peer.send_signal(signal.SIGTERM)
        rest, _ = peer.communicate(timeout=10)
        assert rest == "" and peer.returncode == 0, (rest, peer.returncode)
    port = int(control.rsplit(":", 1)[1].strip("/"))
    with socket.socket() as knock:
        assert knock.connect_ex(("127.0.0.1", port)) != 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
