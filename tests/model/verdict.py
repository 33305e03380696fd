"""From the end of an attempt to a verdict. Pure. The counter is the health actor's."""
from typing import NamedTuple

SUCCESS, CONGESTION, TRANSIENT, PERMANENT = "Success", "Congestion", "TransientError", "PermanentError"

# how an attempt ended, as proto/result.h has it; STATUS is any other HTTP status
OK, UNUSABLE, BUSY, STATUS, STATUS_5XX, ITEM = "OK", "UNUSABLE", "BUSY", "STATUS", "STATUS_5XX", "ITEM"
READ_TIMEOUT, UNSENT, RESET, TLS, INTERNAL, TAKEN_BACK = \
    "READ_TIMEOUT", "UNSENT", "RESET", "TLS", "INTERNAL", "TAKEN_BACK"


class Row(NamedTuple):
    resets: bool     # the peer works
    counts: bool     # one more failure in a row
    gated: bool      # permanent once the maximum is reached
    ambiguous: bool  # the peer may have applied it, or may yet
    below: str       # the verdict below the maximum, or when not gated


TABLE = {
    OK: Row(True, False, False, False, SUCCESS),
    UNUSABLE: Row(False, True, True, True, TRANSIENT),
    BUSY: Row(False, True, False, False, CONGESTION),
    STATUS: Row(False, False, False, False, PERMANENT),
    # a proxy's 502 or 504 says nothing of what the peer does with the request; a 500 may be half done
    STATUS_5XX: Row(False, False, False, True, PERMANENT),
    # a single request's status is its item's
    ITEM: Row(False, False, False, False, SUCCESS),
    READ_TIMEOUT: Row(False, True, True, True, CONGESTION),
    UNSENT: Row(False, True, True, False, TRANSIENT),
    RESET: Row(False, True, True, True, TRANSIENT),
    TLS: Row(False, True, False, False, PERMANENT),
    INTERNAL: Row(False, True, False, False, PERMANENT),
    TAKEN_BACK: Row(False, False, False, True, TRANSIENT),
}


class Counter:
    """Consecutive failures of one peer; stops at its maximum."""

    def __init__(self, maximum=10):
        self.maximum, self.count, self.announced = maximum, 0, False

    @property
    def reached(self):
        return self.count >= self.maximum

    def fail(self, gated):
        """Counts first, then compares. The second value: announce the escalation, once a cycle."""
        self.count = min(self.count + 1, self.maximum)
        announce = gated and self.reached and not self.announced
        self.announced |= announce
        return self.reached, announce

    def reset(self):
        self.count, self.announced = 0, False


class Verdict(NamedTuple):
    verdict: str
    reached: bool
    ambiguous: bool
    announce: bool
    escalated: bool
    count: int


def judge(counter, end):
    row = TABLE[end]
    reached, announce = counter.reached, False
    if row.resets:
        counter.reset()
    if row.counts:
        reached, announce = counter.fail(row.gated)
    escalated = row.gated and reached
    return Verdict(PERMANENT if escalated else row.below, row.below != SUCCESS and reached, row.ambiguous,
                   row.gated and announce, escalated, counter.count)
