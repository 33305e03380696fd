"""The part of the report about a peer that comes back."""

import statistics

from figures import judged, number, table

CASES = {
    "owed": "owed: asked, then told",
    "waiting": "most wait, the rest is owed",
    "renew": "heartbeats lost: asked",
    "added": "added at run time: resync",
    "verify": "verified: asked",
}

#  Fewer changes than that have no p99
SAMPLES_MIN = 100


def most_owed(figures):
    """The case of most instances at a peer that takes its time."""
    owed = [
        own for own in figures.settings("recovery")
        if own["kind"] == "owed" and int(own["delay_ms"])
    ]
    return max(owed, key=lambda own: int(own["instances"]), default=None)


def beside_one_that_returns(figures):
    """What a peer that comes back takes, and what others notice."""
    own = most_owed(figures)
    if not own:
        return []
    runs = figures.find("recovery", **own)
    delay = int(own["delay_ms"])
    #  Run by run, as above
    beside = statistics.median(
        line / before
        for line, before in zip(
            runs.values("healthy_p99_ms"), runs.values("healthy_before_p99_ms")
        )
    )
    later = statistics.median(
        line - before
        for line, before in zip(
            runs.values("live_p99_ms"), runs.values("live_before_p99_ms")
        )
    )
    return [
        judged(
            f"a peer comes back, {int(own['instances']):,} owed, {delay} ms an "
            "answer: time until whole, of the least possible",
            runs, "ratio", 2, "×", 2, False,
        ),
        [
            "the same: the other peer's p99 at 1,000/s, of that before",
            f"{beside:.2f} ×",
            "≤ 1.2 ×",
            "yes" if beside <= 1.2 else "**no**",
        ],
        [
            "the same: p99 of changes for itself, more than before",
            f"{later:+.2f} ms",
            f"≤ {delay} ms, one answer",
            "yes" if later <= delay else "**no**",
        ],
    ]


def recovery_time(own, runs):
    slow = own["delay_ms"] != "0"
    return [
        CASES[own["kind"]],
        number(float(own["instances"])),
        own["delay_ms"],
        runs.text("first_ms"),
        runs.text("whole_ms"),
        number(runs.median("minimum_ms")) if slow else "–",
        runs.text("ratio", 2) if slow else "–",
        number(runs.median("needed_requests")),
        runs.text("requests"),
    ]


def recovery_notice(own, runs):
    def cell(key):
        if min(runs.values(key.split("_")[0] + "_samples")) < SAMPLES_MIN:
            return "–"
        return runs.text(key, 1)

    keys = "healthy_p50_ms healthy_p99_ms live_p50_ms live_p99_ms".split()
    return [
        CASES[own["kind"]], number(float(own["instances"])), own["delay_ms"]
    ] + [cell(key) for key in keys]


def recovery(figures):
    settings = figures.settings("recovery")
    if not settings:
        return
    print("### A peer that comes back\n")
    #  Not in every round
    print(f"Median of {len(figures.find('recovery', **settings[0]).lines)} run(s).\n")
    cases = [(own, figures.find("recovery", **own)) for own in settings]
    table(
        ["the peer is", "instances", "answers after, ms", "first answer, ms",
         "then whole, ms", "least, ms", "ratio", "requests needed", "got"],
        [recovery_time(own, runs) for own, runs in cases],
    )
    print(
        "*First answer*: how long it listened before it was tried again. *Whole* "
        "counts from\nthere. *Got* has the requests with changes that came "
        "meanwhile, 1,000 a second, in it.\n"
    )
    print("What these changes took from the feeder to the peers, ms:\n")
    before = [
        ["*before, all well*", "", delay]
        + [
            figures.find("recovery", delay_ms=delay).text(key, 1)
            for key in (
                "healthy_before_p50_ms healthy_before_p99_ms "
                "live_before_p50_ms live_before_p99_ms"
            ).split()
        ]
        for delay in dict.fromkeys(own["delay_ms"] for own in settings)
    ]
    table(
        ["the peer is", "instances", "answers after, ms", "the other peer, p50",
         "p99", "the peer itself, p50", "p99"],
        before + [recovery_notice(own, runs) for own, runs in cases],
    )
    extra = sum(
        abs(int(pairs["extra"]))
        for name, pairs in figures.lines if name == "recovery"
    )
    print(f"Items more or fewer than needed, in all of these runs: {extra}.\n")
