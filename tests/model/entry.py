"""What a lane keeps: an entry per instance, a batch in flight, a bisection. No behaviour to speak of."""
from typing import NamedTuple, Tuple
from words import FETCH, HEARTBEAT

# why an instance is in a batch
LIVE, ASK, ACT, FORGOTTEN, GONE = "live", "ask", "act", "forgotten", "gone"

TS_LOWEST = 1       # a Heartbeat with this timestamp has the peer name its own

# how something ceases to be owed
REPAIRED, REFUSED, OTHERWISE = "repaired", "refused", "otherwise"


class Entry:
    """One instance in one lane. Its tasks are the bits of wait and of flight, nothing else."""
    __slots__ = ("key", "state", "wait", "since", "beat", "given", "queue", "place", "flight", "phase", "owed",
                 "renew", "ask", "asked", "again", "stored", "misses", "unsure", "settle", "suspect", "troubled",
                 "refused_act", "refused", "leaving", "walked", "worth", "resting", "held", "tries", "rest",
                 "goes_alone", "chance", "cancelled", "clean", "lonely", "hung", "acted", "untold")

    def __init__(self, key):
        self.key, self.state = key, None
        self.wait = 0          # kinds the peer has not confirmed and that are not on their way
        self.since = 0         # when the first of them came; never moved by later ones
        self.beat = 0          # when the newest waiting Heartbeat came
        self.worth = 0         # how long that was worth sending, at most
        self.given = 0         # timestamp of a Heartbeat the view cannot vouch for; or the highest known, of what
        #                        was cancelled and forgotten
        self.queue = None      # where it waits: "live", "owed", "part" of a bisection
        self.place = (0, 0)    # in its queue
        self.flight = 0        # kinds on their way
        self.phase = None      # why it is on its way; None: it is not
        self.owed = False      # told in vain: needs a refresh
        self.renew = False     # owed, but what was lost is only a Heartbeat
        self.ask = False       # no refresh, but an unguarded retry: ask before it acts
        self.asked = None      # when the question was answered 200 or 404
        self.again = False     # something happened during the flight that its result cannot know
        self.stored = False    # a Register was confirmed, and no Heartbeat since
        self.acted = None      # when something was last sent that may change it there, in seconds
        self.misses = 0        # times a Heartbeat was then answered 404
        self.unsure = None     # seq of the state in the first ambiguous attempt not yet settled
        self.settle = None     # when to look whether the state has changed since
        self.suspect = 0       # the newest batch when it was refused alone; 0: it was not
        self.troubled = False  # ... with a status that a peer in trouble gives
        self.chance = False    # ... though what it met may have been chance
        self.refused = False   # rejected: reported, and not taken since
        self.refused_act = False   # what was not taken was more than a Heartbeat
        self.resting = False   # it is tried again at a time of its own:
        self.rest = (0, 0)     # not before, and not after
        self.goes_alone = False    # ... and in a batch of its own
        self.held = False      # until then nothing of it is told, but Heartbeats if only an act was refused
        self.tries = 0         # pauses it rested for, one after the other
        self.lonely = False    # it failed alone, twice, and rested for that
        self.untold = False    # the peer has it newer than it was asked about, and did not tell how new
        self.hung = False      # it failed with others, which the peer answers: it goes apart from them
        self.cancelled = False     # a Cancel was accepted that the peer has not confirmed
        self.clean = False     # it has confirmed one before what it was told of the present life
        self.leaving = False   # the view has let go of it
        self.walked = False    # owed, and part of the walk

    @property
    def wants(self):
        return bool(self.wait or self.owed)

    @property
    def top(self):
        """The highest timestamp known; 0: none. The view says none of what was forgotten; a Cancel that came
        before that is asked about all the same."""
        return self.state.top or (self.given if self.cancelled and not self.state.v else 0)

    @property
    def by_age(self):
        """It was cancelled, and no timestamp of it is known: what the peer has from before then is told by how long
        ago that was."""
        return not self.top and self.cancelled and not self.state.v

    @property
    def askable(self):
        """The peer can be asked about it: with the highest timestamp; or if there is none, and it was cancelled,
        for what the peer has."""
        return self.top or self.by_age

    @property
    def held_ts(self):
        """The highest timestamp that the peer can be expected to hold; one that any registration is above, if
        none is known."""
        if not self.top:
            return TS_LOWEST
        return self.state.ts if self.clean and self.state.v else self.top

    @property
    def began_lower(self):
        """The peer may hold an earlier life that is newer than the present one: it would keep that."""
        return self.state.v and not self.clean and self.state.ts < self.state.top

    @property
    def poison(self):
        """A suspect, but for one whose status was its own: it takes others of its batch along."""
        return bool(self.suspect) and not self.troubled

    @property
    def alone(self):
        """It goes alone. While it is held nothing goes but Heartbeats, which are not suspected."""
        return self.poison and not self.held or self.fetches

    @property
    def fetches(self):
        """What the peer has is to be fetched, to be cancelled."""
        return self.untold and self.by_age


class Part(NamedTuple):
    """One instance in a batch."""
    entry: Entry
    first: int           # index of its first item
    actions: Tuple[str, ...]
    ts: int              # of its first item
    seq: int             # of the state it was rendered from
    live: bool           # it was a live change, not only owed
    bits: int = 0        # when its result is handled: what was on its way,
    phase: str = LIVE    # and why

    @property
    def acts(self):
        """It may change what the peer has."""
        return len(self.actions) > 1 or self.actions[0] not in (HEARTBEAT, FETCH)


class Flight:
    def __init__(self, ident, now, split):
        self.id, self.sent, self.parts, self.items, self.split = ident, now, [], [], split
        self.last_ok = self.last_good = self.start = 0      # start: of its part in the batch that is bisected


class Split:
    """The bisection of a batch that was refused."""

    def __init__(self, keys):
        self.ranges, self.left = [], 2 * (len(keys) - 1).bit_length() + 1
        self.ok = self.flying = False
        self.halve(0, keys)

    def halve(self, start, keys):
        """The first half is the next to go; but for the other half of what this is one of, which tells whether
        the peer takes others."""
        m, other = len(keys) // 2, []
        if self.ranges and self.ranges[-1][0] == start + len(keys):
            other = [self.ranges.pop()]
        self.ranges += [part for part in ((start + m, keys[m:]), (start, keys[:m])) if part[1]] + other
