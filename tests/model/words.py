"""The words of the protocol, and what a lane is told: shared by all parts of the model."""
from typing import NamedTuple, Optional

REGISTER, HEARTBEAT, CANCEL = "Register", "Heartbeat", "Cancel"
STATUS, DELETE, FORGET = "StatusUpdate", "DeleteStatusOverride", "Forget"
ASG = "AsgStatusUpdate"
FETCH = "Fetch"         # no action: the peer is asked for what it has
UP, DOWN, STARTING, OUT, UNKNOWN = "UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN"

# flags of a change, as proto/chunk.h has them
REPLICATED, FRESH, RELEASE, OWE, VERIFY, WALK, EXACT, SNAPSHOT, GIVE_UP = 1, 2, 4, 8, 16, 32, 64, 128, 256

# kinds of change, as bits; FULL is no task, it only widens the rendering
C, R, S, D, H, FULL = 1, 2, 4, 8, 16, 32
TASKS = C | R | S | D | H
BIT = {CANCEL: C, REGISTER: R, STATUS: S, DELETE: D, HEARTBEAT: H, ASG: H}

RENEWAL_NONE_MS = DURATION_NONE_MS = 90000     # of an instance without leaseInfo


class Wrong(Exception):
    """The cores and the model differ, or the cores break a rule that holds for every history."""


class Event(NamedTuple):
    """One registry event. Without a timestamp, a status: None. v: version of the info text."""
    action: str
    key: str
    ts: Optional[int] = None
    st: Optional[str] = None
    ov: str = UNKNOWN
    v: int = 0
    replicated: bool = False
    renewal: int = 30000
    duration: int = 10**7
    snapshot: bool = False
    as_of: int = 0      # of a snapshot: the time it is of; 0: the present
    origin: int = 0     # number of the peer it came from, and 1; 0: from none

    def __str__(self):
        words = [self.action, self.key] + [f"{n}{x}" for n, x in
                 (("@", self.ts), ("", self.st), ("override ", self.ov if self.ov != UNKNOWN else None),
                  ("v", self.v or None)) if x is not None]
        marks = (" replicated" if self.replicated else "") + (" snapshot" if self.snapshot else "")
        return " ".join(words) + marks + (f" of {self.as_of}" if self.as_of else "") \
            + (f" from P{self.origin - 1}" if self.origin else "")


class State(NamedTuple):
    """What the view says of one instance; immutable. v 0: it is absent. ov UNKNOWN: no override is held.
    top: the highest timestamp of any of its lives; 0: none is known. seq: another in every other state."""
    seq: int
    v: int
    st: str
    ov: str
    ts: int
    top: int
    renewal: int


class Change(NamedTuple):
    """What a lane is told of one instance."""
    key: str
    state: State
    action: str = FORGET
    flags: int = 0
    given: int = 0      # timestamp of a Heartbeat that the view cannot vouch for
    origin: int = 0     # as of the event


class Item(NamedTuple):
    """One entry of a batch, as it goes over the wire."""
    action: str
    key: str
    ts: int = 0
    st: str = "-"
    ov: str = "-"
    v: int = 0

    def __str__(self):
        words = [self.action, self.key] + [f"{n}{x}" for n, x in
                 (("@", self.ts or None), ("", self.st), ("override ", self.ov), ("v", self.v or None))
                 if x not in (None, "-", UNKNOWN)]
        return " ".join(words)


class Report(NamedTuple):
    """What a lane says: kind as in lane.h; ending only of what is dropped."""
    kind: str
    key: str
    bits: int = 0
    ending: str = "-"
    code: int = 0
    copy: int = 0
    batch: int = 0
