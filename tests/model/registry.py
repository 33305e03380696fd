"""A receiving registry (EUREKA.md 3.1, 3.4; a replicated call, so without status rule 4): the peer."""
from words import CANCEL, FETCH, HEARTBEAT, OUT, REGISTER, STATUS, UNKNOWN, UP


class Record:
    """One lease. A held override never outlives its lease, so it can live in it."""
    __slots__ = ("v", "st", "ts", "ov", "by", "since")

    def __init__(self, v, st, ts, ov, by, since):
        self.v, self.st, self.ts, self.ov, self.by = v, st, ts, ov, by
        self.since = since      # when the newest Register came

    def __str__(self):
        return f"v{self.v} {self.st} override {self.ov} @{self.ts}"


def effective(status, held):
    """Status rules 1, 2 and 5."""
    return held if status in (UP, OUT) and held != UNKNOWN else status


class Registry:
    def __init__(self, world):
        self.world, self.records, self.asgs = world, {}, {}

    def apply(self, item, by="us"):
        """Applies one item, returns its status code."""
        r = self.records.get(item.key)
        if item.action == REGISTER:
            return self._register(r, item, by)
        if item.action == CANCEL:
            return 200 if self.records.pop(item.key, None) else 404
        if r is None:
            return 404
        if item.action == FETCH:
            return 200
        if item.action == HEARTBEAT:
            return self._heartbeat(r, item)
        if item.action == STATUS:
            if r.st != item.st:
                r.st = r.ov = item.st
                r.ts = max(r.ts, item.ts)
        elif r.ov != UNKNOWN:
            r.st, r.ov = item.st if item.st and item.st != "-" else UNKNOWN, UNKNOWN
            r.ts = max(r.ts, item.ts or 0)
        return 200

    def _register(self, r, item, by):
        if r and r.ts > item.ts:
            r.st, r.since = effective(r.st, r.ov), self.world.now
            return 200
        held = r.ov if r and r.ov != UNKNOWN else item.ov
        self.records[item.key] = Record(item.v, effective(item.st, held), item.ts, held, by, self.world.now)
        return 200

    def _heartbeat(self, r, item):
        status = effective(r.st, r.ov)
        if status == UNKNOWN:
            return 404
        r.st = status
        if not item.ts or item.ts == r.ts:
            return 200
        return 409 if item.ts < r.ts else 404
