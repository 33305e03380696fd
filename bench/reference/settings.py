"""How each of the two is set up, and its command line."""

import dataclasses
import math

#  Both have the read timeout that Zowe has since the fix, and zpeer by default.
#  Otherwise the reference would give up requests that only wait for a core.
TIMEOUTS = ("--read-timeout-ms", "30000", "--connect-timeout-ms", "1000")

POOL = "eureka.server.max-elements-in-peer-replication-pool"
WINDOW = "eureka.server.max-threads-for-peer-replication"
LINGER = "zpeer.batch.linger-ms"
BATCH = "zpeer.batch.max-items"

#  Events in a frame of zpeer's feeder, unless told (bench_sender --frame)
FRAME = 64

#  What both have as the most that waits for a peer, and a frame of zpeer's feeder
#  less: it looks at frames
BUFFER = 10000
AHEAD = BUFFER - FRAME

#  More than ever waits
LARGE_BUFFER = 1000000

#  Constants of the reference, and what zpeer's best is looked for from
ITEMS = 250
LINGER_SECONDS = 0.5

#  Events of a flood come in multiples of it: whole batches and whole frames, so
#  that no rest waits for its linger time. Batches of 1,000 fit, too
MULTIPLE = math.lcm(1000, FRAME)


@dataclasses.dataclass(frozen=True)
class Setting:
    """One of the two, set up in some way."""

    system: str  #  "reference" or "zpeer"
    name: str
    options: tuple = ()
    flags: tuple = ()  #  Of the JVM
    multiple: int = MULTIPLE  #  Of events, in a flood
    head_seconds: float = 0  #  Of a flood, before anything of it is sent

    @property
    def title(self):
        return f"{self.system} {self.name}"

    @property
    def is_java(self):
        return self.system == "reference"

    def text(self):
        """Options and flags as one would type them; "–": none."""
        return " ".join(self.flags + self.options) or "–"


@dataclasses.dataclass(frozen=True)
class Tools:
    """Where the programs are."""

    sender: str
    peer: str
    java: str  #  Folder of reference.jar and lib
    logs: object  #  Folder of what they say on stderr

    def command(self, setting, peers, instances):
        common = ["--instances", str(instances)]
        if setting.is_java:
            jars = f"{self.java}/reference.jar:{self.java}/lib/*"
            head = ["java", *setting.flags, "-cp", jars, "zpeer.bench.Sender"]
            urls = [peer.url for peer in peers]
        else:
            head = [self.sender]
            urls = [f"{peer.url},{peer.control}" for peer in peers]
        for url in urls:
            common += ["--peer", url]
        return head + common + list(setting.options)


def usual(workers):
    """The reference's defaults: its public constructor, with so many workers.

    It sends what its buffer holds every 500 ms, so a flood is so many buffers.
    """
    return Setting(
        "reference", f"default-{workers}",
        ("--workers", str(workers), *TIMEOUTS), multiple=BUFFER - 1,
    )


def same(workers):
    """zpeer with the reference's defaults."""
    return Setting(
        "zpeer", f"same-{workers}",
        (
            "--ahead", str(AHEAD), f"{WINDOW}={workers}", f"{LINGER}=500",
            f"{POOL}={BUFFER}", f"{BATCH}={ITEMS}",
        ),
    )


#  zpeer as it comes; its pool is BUFFER, too
OWN = Setting("zpeer", "default", ("--ahead", str(AHEAD)))

#  The events come from another process's socket, as it were; else over inproc, as
#  in a program that embeds it. The reference is called in its own process.
APART = Setting(
    "zpeer", "default-ipc", ("--transport", "ipc", "--ahead", str(AHEAD))
)


def configured(instances, workers=20, flags=()):
    """The reference as far as properties and options of the JVM go.

    Threads, buffer, timeouts; a batch of 250 and 500 ms are constants. As much
    waits as may: nine tenths of the instances, for what waits 500 ms must be of
    another instance each. The first of a flood waits for that long, too.
    """
    return Setting(
        "reference", "configured",
        (
            "--workers", str(workers), "--buffer", str(LARGE_BUFFER),
            "--pending", str(instances * 9 // 10), *TIMEOUTS,
        ),
        flags, head_seconds=LINGER_SECONDS,
    )


def built(workers=20, batch=ITEMS, linger=10, flags=(), name="built"):
    """The reference by its package-private constructor: nobody can configure it."""
    return Setting(
        "reference", name,
        (
            "--workers", str(workers), "--buffer", str(LARGE_BUFFER), "--batch",
            str(batch), "--linger-ms", str(linger), *TIMEOUTS,
        ),
        flags,
    )


def tuned(frame=FRAME, batch=ITEMS, window=6, linger=10, name="best"):
    """zpeer by its options, all of which anybody can configure.

    The frame is its feeder's.
    """
    return Setting(
        "zpeer", name,
        (
            "--frame", str(frame), f"{BATCH}={batch}", f"{WINDOW}={window}",
            f"{LINGER}={linger}", f"{POOL}={LARGE_BUFFER}",
        ),
        multiple=math.lcm(MULTIPLE, batch, frame),
    )


#  For latency, the shortest linger time there is
QUICK_REFERENCE = built(linger=1, name="quick")
QUICK_ZPEER = Setting("zpeer", "quick", ("--ahead", str(AHEAD), f"{LINGER}=1"))
