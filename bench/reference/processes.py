"""Peers and senders: processes that end with this one, however it ends."""

import ctypes
import json
import os
import select
import signal
import subprocess
import time
import urllib.request

PR_SET_PDEATHSIG = 1

#  How long a peer or a sender may take for anything at all
PATIENCE_SECONDS = 300
CONTROL_SECONDS = 10

LIBC = ctypes.CDLL(None)

#  The proxy of the environment is not for peers of this machine
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Failure(Exception):
    """Something that makes the figures worthless."""


def _with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def spawn(command, log):
    """Starts a process; what it says on stderr goes to a file."""
    with open(log, "wb") as errors:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=errors, preexec_fn=_with_parent, text=True, bufsize=1,
        )


def end(process):
    """Ends a process and takes its status; fine for one that has ended."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            pipe.close()
        except OSError:
            pass


def cpu_seconds(pid):
    """CPU time of another process, all its threads (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


class Peer:
    """A scripted peer that counts items."""

    def __init__(self, program, log):
        self.log = log
        self.process = spawn([program, "--count", "--with-parent"], log)
        words = self.process.stdout.readline().split()
        if len(words) != 3:
            end(self.process)
            raise Failure(f"{program} does not start")
        self.url, _, self.control = words

    def _call(self, path, document=None):
        data = json.dumps(document).encode() if document else None
        try:
            with DIRECT.open(
                self.control + path, data, timeout=CONTROL_SECONDS
            ) as answer:
                return answer.read()
        except OSError as wrong:
            raise Failure(f"peer {self.url} is gone: {wrong}") from wrong

    def script(self, **document):
        """Tells it how to behave (tests/support/script.h)."""
        self._call("script", document)

    def items(self):
        return json.loads(self._call("counters"))["items"]

    def samples(self):
        """Every [received_ns, timestamp] it has noted and not told yet."""
        samples = []
        while more := json.loads(self._call("samples")):
            samples += more
        return samples

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def end(self):
        end(self.process)


class Sender:
    """A process that sends to peers what it is told on its stdin.

    What it prints of a command is a word and key=value pairs.
    """

    def __init__(self, setting, command, peers, log):
        self.setting = setting
        self.peers = peers
        self.rates = {}  #  Tasks a second, of the latest flood of each kind
        self.log = log
        self.rest = b""
        self.process = spawn(command, log)

    def tell(self, words):
        try:
            self.process.stdin.write(words + "\n")
        except OSError:
            self._died()

    def _died(self):
        self.process.wait()
        said = self.log.read_text(errors="replace").splitlines()[-5:]
        raise Failure(
            f"sender {self.setting.title} ended by itself, status "
            f"{self.process.returncode}" + "".join(f"\n    {line}" for line in said)
        )

    def _line(self):
        """The next line of stdout, as it comes: no reader reads ahead."""
        until = time.monotonic() + PATIENCE_SECONDS
        out = self.process.stdout.fileno()
        while b"\n" not in self.rest:
            if not select.select([out], [], [], until - time.monotonic())[0]:
                raise Failure(f"sender {self.setting.title} says nothing")
            more = os.read(out, 4096)
            if not more:
                self._died()
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def answer(self):
        """What it said: key=value pairs, numbers where they are numbers."""
        pairs = (word.split("=", 1) for word in self._line().split()[1:])
        return {key: _number(value) for key, value in pairs}

    def ask(self, words):
        self.tell(words)
        return self.answer()

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def forget_peak(self):
        """The peak of its resident memory counts from now on."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as refs:
            refs.write("5")

    def end(self):
        end(self.process)


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text
