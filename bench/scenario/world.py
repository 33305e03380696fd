"""The processes of the scenario: receiving sides, and what sends to them."""

import ctypes
import json
import pathlib
import signal
import subprocess
import time
import urllib.request

READ_TIMEOUT_MS = 300
CONNECT_TIMEOUT_MS = 100
WINDOW = 6
BUFFER = 10000
RETRIES = 10
PATIENCE_SECONDS = 60

PR_SET_PDEATHSIG = 1


def end_with_parent():
    """Nothing is left behind, however this process ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(what, condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {PATIENCE_SECONDS} s")
        time.sleep(0.02)


class Program:
    """A process whose output goes to a file."""

    def __init__(self, log, command, **pipes):
        self.log = pathlib.Path(log)
        self.name = self.log.name
        with self.log.open("wb") as out:
            pipes.setdefault("stdin", subprocess.DEVNULL)
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent,
                **pipes,
            )

    def says(self, text):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} has ended, see {self.log}")
        return text in self.log.read_text(errors="replace")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Peer:
    """A receiving side: an in-memory Eureka server that keeps a registry."""

    def __init__(self, build, log):
        program = f"{build}/tests/support/zpeer-scripted-peer"
        self.program = Program(log, [program, "--keep=0"])
        wait_until(self.program.name, lambda: self.program.says("control"))
        words = self.program.log.read_text().split()
        self.url, self.control = words[0], words[2]

    def call(self, path, body=None):
        data = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(self.control + path, data, 10) as reply:
            return reply.read()

    def script(self, **document):
        self.call("script", document)

    def counters(self):
        return json.loads(self.call("counters"))

    def samples(self):
        """[(received, timestamp)] since the last call"""
        taken = []
        while True:
            some = json.loads(self.call("samples"))
            taken += some
            if len(some) < 1000:
                return taken

    def registry(self):
        """As Story.state"""
        apps = json.loads(self.call("apps"))["applications"]["application"]
        return {
            info["instanceId"]: (
                info["status"],
                info["overriddenStatus"],
                int(info["lastDirtyTimestamp"]),
            )
            for app in apps
            for info in app["instance"]
        }


class Zpeer:
    """zpeerd, fed by zpeerctl"""

    def __init__(self, build, folder, name, peers, linger_ms=None):
        endpoint = f"ipc://{folder}/{name}"
        settings = {
            "eureka.server.peer-node-read-timeout-ms": READ_TIMEOUT_MS,
            "eureka.server.peer-node-connect-timeout-ms": CONNECT_TIMEOUT_MS,
            "eureka.server.max-threads-for-peer-replication": WINDOW,
            "eureka.server.max-elements-in-peer-replication-pool": BUFFER,
            "apiml.discovery.maxPeerRetries": RETRIES,
            "zpeer.view.age-out": "false",  # As at the peers, in recover ()
        }
        if linger_ms is not None:
            settings["zpeer.batch.linger-ms"] = linger_ms
        command = [f"{build}/deploy/zpeerd", "--control", "none"]
        command += ["--events", endpoint, "--outcomes", endpoint + ".outcomes"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        for url in peers:
            command += ["--peer", url]
        self.daemon = Program(f"{folder}/{name}.zpeerd", command)
        wait_until("zpeerd", lambda: self.daemon.says("ZPD001"))
        command = [f"{build}/deploy/zpeerctl", "feed", "--quiet"]
        command += ["--endpoint", endpoint, "-"]
        log = f"{folder}/{name}.zpeerctl"
        self.feeder = Program(log, command, stdin=subprocess.PIPE)
        self.pipe = self.feeder.process.stdin

    def end(self):
        self.feeder.end()
        self.daemon.end()


class Reference:
    """eureka-core's PeerEurekaNode, as released, one for each peer"""

    def __init__(self, java, folder, name, peers, gate=None, life_ms=30000):
        command = ["java", "-Xmx256m", "-XX:+UseSerialGC"]
        command += ["-cp", f"{java}/reference.jar:{java}/lib/*"]
        command += ["zpeer.bench.Node"]
        settings = {
            "workers": WINDOW,
            "buffer": BUFFER,
            "read-timeout-ms": READ_TIMEOUT_MS,
            "connect-timeout-ms": CONNECT_TIMEOUT_MS,
            "max-time-ms": life_ms,
        }
        if gate is not None:
            settings["gate"] = gate
        for key, value in settings.items():
            command += [f"--{key}", str(value)]
        for url in peers:
            command += ["--peer", url]
        log = f"{folder}/{name}.java"
        self.node = Program(log, command, stdin=subprocess.PIPE)
        self.pipe = self.node.process.stdin

    def end(self):
        self.node.end()
