"""How each of the two is set up, and its command line."""

import dataclasses

#  Both have the read timeout that Zowe has since the fix, and zpeer by default.
#  Otherwise the reference would give up requests that only wait for a core.
TIMEOUTS = ("--read-timeout-ms", "30000", "--connect-timeout-ms", "1000")

POOL = "eureka.server.max-elements-in-peer-replication-pool"
WINDOW = "eureka.server.max-threads-for-peer-replication"
LINGER = "zpeer.batch.linger-ms"

#  What both have as the most that waits for a peer, and a frame of zpeer's feeder
#  less: it looks at frames
BUFFER = 10000
AHEAD = BUFFER - 64

#  Events of a flood come in multiples of it: whole batches of 250 and whole
#  frames of 64, so that no rest waits for its linger time
MULTIPLE = 8000


@dataclasses.dataclass(frozen=True)
class Setting:
    """One of the two, set up in some way."""

    system: str  #  "reference" or "zpeer"
    name: str
    options: tuple = ()
    flags: tuple = ()  #  Of the JVM
    multiple: int = MULTIPLE  #  Of events, in a flood

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
            f"{POOL}={BUFFER}", "zpeer.batch.max-items=250",
        ),
    )


#  zpeer as it comes; its pool is BUFFER, too
OWN = Setting("zpeer", "default", ("--ahead", str(AHEAD)))

#  The events come from another process's socket, as it were; else over inproc, as
#  in a program that embeds it. The reference is called in its own process.
APART = Setting(
    "zpeer", "default-ipc", ("--transport", "ipc", "--ahead", str(AHEAD))
)


def tuned(workers=20, batch=250, linger=10, flags=(), name="best"):
    """The reference by its own package-private constructor."""
    return Setting(
        "reference", name,
        (
            "--workers", str(workers), "--buffer", "1000000", "--batch",
            str(batch), "--linger-ms", str(linger), *TIMEOUTS,
        ),
        flags,
    )


def tuned_zpeer(window=6, linger=10, name="best"):
    return Setting(
        "zpeer", name,
        (f"{WINDOW}={window}", f"{LINGER}={linger}", f"{POOL}=1000000"),
    )


#  For latency, the shortest linger time there is
QUICK_REFERENCE = tuned(linger=1, name="quick")
QUICK_ZPEER = Setting("zpeer", "quick", ("--ahead", str(AHEAD), f"{LINGER}=1"))
