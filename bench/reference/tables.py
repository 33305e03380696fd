"""The tables behind the targets, and how to read them."""

import statistics

from figures import number, table

TITLES = {
    ("reference", "default-6"): "reference, 6 workers",
    ("reference", "default-20"): "reference, 20 workers",
    ("reference", "configured"): "reference, best configured",
    ("reference", "built"): "reference, best built",
    ("reference", "built-small"): "reference, best built, batches of 250",
    ("reference", "built-large"): "reference, best built, 4 GB heap",
    ("reference", "quick"): "reference, linger 1 ms",
    ("zpeer", "same-6"): "zpeer, as 6 workers",
    ("zpeer", "same-20"): "zpeer, as 20 workers",
    ("zpeer", "default"): "zpeer, default",
    ("zpeer", "default-ipc"): "zpeer, default, fed over ipc",
    ("zpeer", "best"): "zpeer, best",
    ("zpeer", "best-small"): "zpeer, best, batches of 250",
    ("zpeer", "quick"): "zpeer, linger 1 ms",
}


def title(own):
    return TITLES[own["system"], own["setting"]]


def cases(figures, name, *keys, **where):
    """Every case that was measured, in order: its keys, and its runs."""
    seen = []
    for found, pairs in figures.lines:
        own = {key: pairs[key] for key in (*keys, "system", "setting")
               if key in pairs}
        matches = all(pairs.get(key) == str(where[key]) for key in where)
        if found == name and matches and own not in seen:
            seen.append(own)
    return [(own, figures.find(name, **{**where, **own})) for own in seen]


def lost(runs):
    """Tasks of all rounds that never arrived."""
    count = sum(runs.values("missing"))
    return f"**{number(count)}**" if count else "0"


def image(name, text):
    print(f"![{text}](plots/{name}.svg)\n")


#  Rates -----------------------------------------------------------------------

RATE_HEAD = [
    "tasks/s, all peers", "CPU of a million tasks, s", "of the peers, s",
    "peak memory, MB", "lost",
]


def rate_cells(runs):
    return [
        runs.text("tasks_per_second"),
        runs.text("cpu_us", 2),
        runs.text("peer_cpu_us", 2),
        runs.text("peak_mb"),
        lost(runs),
    ]


def rates(figures):
    print("### Highest rate without loss\n")
    print(
        "At the reference's settings, batches of 250, 500 ms, a buffer of 10,000; "
        "and zpeer as\nit comes:\n"
    )
    found = cases(figures, "flood", "peers", set="default")
    table(
        ["peers", "", *RATE_HEAD],
        [[own["peers"], title(own)] + rate_cells(runs) for own, runs in found],
    )
    print("At each one's best configured:\n")
    best_rates(figures, "configured")
    print("zpeer's best and the reference's best built:\n")
    best_rates(figures, "best")


def best_rates(figures, name):
    found = cases(figures, "flood", "kind", "peers", "instances", set=name)
    found.sort(key=lambda case: (case[0]["kind"], int(case[0]["peers"])))
    table(
        ["peers", "instances", "", "events", *RATE_HEAD],
        [
            [own["peers"], number(float(own["instances"])), title(own),
             own["kind"]] + rate_cells(runs)
            for own, runs in found
        ],
    )


def growth(figures):
    print("### How cost grows\n")
    image("rate-peers", "Tasks a second over the number of peers")
    image("cpu-peers", "CPU of a task over the number of peers")
    print(
        "With the number of instances, one peer, zpeer's best and the reference's "
        "best built:\n"
    )
    found = cases(figures, "flood", "instances", set="instances")
    table(
        ["instances", "", *RATE_HEAD],
        [
            [number(float(own["instances"])), title(own)] + rate_cells(runs)
            for own, runs in found
        ],
    )
    image("cpu-instances", "CPU of a task over the number of instances")


#  Time ------------------------------------------------------------------------


def latency(figures):
    print("### Latency, from the event to the peer's receipt, ms\n")
    found = cases(figures, "latency", "per_second", set="latency")
    table(
        ["events/s", "", "p50", "p99", "highest", "of a core, %", "lost"],
        [
            [number(float(own["per_second"])), title(own)]
            + [runs.text(key, 1) for key in ("p50_ms", "p99_ms", "max_ms")]
            + [runs.text("cpu_percent"), lost(runs)]
            for own, runs in found
        ],
    )
    image("latency", "Latency at three rates")


def ratio(pairs, digits=2):
    if not pairs:
        return "–"
    text = number(statistics.median(pairs), digits)
    if len(pairs) > 1:
        text += f" ({min(pairs):.{digits}f} – {max(pairs):.{digits}f})"
    return text


def sick_row(figures, name, key, digits, own, what):
    runs = [
        figures.find(name, set="sick", peers=peers, system=own["system"],
                     setting=own["setting"])
        for peers in (3, 4)
    ]
    pairs = [
        beside / alone
        for alone, beside in zip(runs[0].values(key), runs[1].values(key))
    ]
    return [title(own), what, runs[0].text(key, digits),
            runs[1].text(key, digits), ratio(pairs), lost(runs[1])]


def sick(figures):
    print("### One of four peers black-holed: the other three\n")
    rows = []
    for own, _ in cases(figures, "flood", set="sick", peers=3):
        rows += [
            sick_row(figures, "flood", "tasks_per_second", 0, own, "tasks/s"),
            sick_row(figures, "latency", "p50_ms", 1, own, "p50 at 1,000/s, ms"),
            sick_row(figures, "latency", "p99_ms", 1, own, "p99, ms"),
        ]
    table(["", "", "without the fourth", "beside it", "ratio", "lost"], rows)
    print(
        "The ratio is taken round by round. *Without the fourth* is another process "
        "with\nthree peers, in turns: a fourth that is well would take its share of "
        "the cores.\n"
    )


def startup(figures):
    print("### From the start of the process to the first event at a peer, ms\n")
    table(
        ["", "ms"],
        [[title(own), runs.text("ms")] for own, runs in cases(figures, "startup")],
    )


def memory(figures):
    found = cases(figures, "memory", "instances")
    if not found:
        return
    known = number(float(found[0][0]["instances"]))
    print(f"### Memory: {known} instances known, 8 peers, MB\n")
    keys = "known_rss_mb known_heap_mb rss_mb heap_mb peak_mb".split()
    table(
        ["", "resident", "heap", "with 10,000 pending for each peer: resident",
         "heap", "peak since the start"],
        [[title(own)] + [runs.text(key) for key in keys] for own, runs in found],
    )
    print(
        "Each after it gave back what it could: `System.gc ()`, `malloc_trim`. "
        "The heap is\nwhat is in use; the reference's instances are the registry's, "
        "zpeer's its view's. A JVM\ngives back what it does not need when it collects: with "
        "tasks pending it may have\nless than before.\n"
    )


#  How it was measured ---------------------------------------------------------


def setups(figures, used):
    print("### Settings\n")
    rows = []
    for name, text in used.items():
        own = dict(zip(("system", "setting"), name.split(" ", 1)))
        rows.append([title(own), f"`{text}`"])
    table(["", "options of the sender, and of the JVM"], rows)
    found = [pairs for name, pairs in figures.lines if name == "search"]
    if not found:
        return
    print(
        "Tried for each one's best, one peer, one thing at a time; the same short "
        "floods for\nall:\n"
    )
    table(
        ["", "tried", "tasks/s"],
        [
            [title(pairs), f"`{pairs['candidate'].replace('_', ' ')}`",
             number(float(pairs["tasks_per_second"]))]
            for pairs in found
        ],
    )


READING = """### How to read it, and when not to trust it

- **Peers have a share of the cores.** They run on the same machine. What they took is
  beside each rate. At default settings the requests of either are as large; at its best
  zpeer sends 1,000 or 2,000 items in one, the reference 250 as configured. Small requests
  cost the peer more CPU, and the sender, too.
- **CPU of a task is the figure to compare first.** The rate depends on who else had a
  core, and on more: the reference's default on its buffer, and with one peer either on how
  much of the work is one thread's.
- **Closed loop.** The feeder of either keeps as much waiting as can neither overflow nor
  be replaced by a newer event of the same instance: the buffer, or half of the
  instances. At its default settings the reference sends a buffer of 10,000 every
  500 ms, at most 20,000 tasks a second to a peer: a batch waits for 500 ms, or
  until the buffer is full to the last place, and the next task would push one out. Held
  full, at the brink of loss, it was 20,400 to 22,100; its 10 ms sleep makes 25,000 the
  most. At its best configured the buffer is no limit, but what waits 500 ms must be of
  another instance each: with the 20,000 instances of the other floods it could send
  40,000 tasks a second to a peer. So it has more of them there, and zpeer, too, whose view
  then costs more; nine tenths of them may wait; and the first 500 ms of a flood, when
  nothing is due yet, are not in its rate. With 1,000 instances the loop is 500 events
  long, and the rate is how often it goes round: the reference's batcher sleeps for 10 ms
  each time, zpeer needs less than half a millisecond.
- **The JVM was warm.** Before the first round it had registered all instances and had
  floods for {warm} seconds. {drift}
- **One at a time.** All processes of a case live through it, idle but for the one whose
  turn it is. What the idle ones took meanwhile was {others} % of a core (median; at most
  {most}): most of it is the JVM, which compiles and collects while it is zpeer's turn.
- **The senders pay for their pace, and for the events.** zpeer is fed msgpack over a socket
  (inproc, but where it says ipc), reads and checks each event and keeps its view; its
  sender asks the peers' counters, some hundred times a second. The reference's sender
  calls the node with an object that it has, and counts in its own process, 2 to 5 % of
  its CPU. That is to the reference's advantage, most of all with one peer: the more
  peers there are, the less an event's way in matters. Both have what they send ready
  before the clock runs: zpeer's feeder its frames, the reference's its InstanceInfos. To
  encode an event is the host's work; the reference encodes each for each peer.
- **Best** was looked for with one peer and short floods, one setting after the other. With
  32 peers fewer workers may be better for the reference. All of zpeer's are options, but
  for the frame, which is its feeder's. The reference's *best configured* is its public
  constructor with what properties can change: workers, buffer, and the collector, of the
  JVM's options. Its *best built* has a batch size and a linger time that only a
  package-private constructor takes: who wants them builds a Eureka of their own. No
  released Eureka sends more than 250 items a batch: before zpeer is told to, try what its
  peers, and proxies before them, make of larger requests.
- **One event a request** is dear for zpeer: feeder and acceptor wake for it, and their
  sockets look again and again whether there is more. At 10,000 a second that is more
  than the reference's call costs: see *of a core* in the table of latency. In frames of 64
  a heartbeat costs less than 1 µs. Feeders that have many events send them together.
- **Batches of 500 ms at high rates.** zpeer sends a full batch at once, the reference does
  not: so with the same settings zpeer's latency falls as the rate grows.
- **Peak memory** is resident memory in that round. A JVM takes what heap it is given
  before it collects; `heap` in the table of memory is what it needs. zpeer's heap may be
  more than what is resident: a request has room for its longest form, and what is not
  written is not there.
- **Latency** has the linger time in it. 500 ms is the reference's constant; 1 ms needs
  its package-private constructor, and its thread then still looks every 10 ms.
- **Start-up** of the reference has its 500 ms linger time in it, zpeer's 10 ms.
- A load average, of a minute, above a quarter of the cores before the run, or steal in
  `top`, makes rates and p99 worthless; CPU of a task suffers least.
"""


def drift(figures):
    """A sentence on the reference's last round to its first, of each case."""
    values = [
        runs.values("tasks_per_second")
        for own, runs in cases(figures, "flood", "set", "kind", "peers",
                               "instances")
        if own["system"] == "reference"
    ]
    if max(len(rates_) for rates_ in values) < 2:
        return "With one round nothing tells whether that was enough."
    times = statistics.median(rates_[-1] / rates_[0] for rates_ in values)
    return (
        f"Its last round was\n  {times:.2f} times as fast as its first (median of "
        "all cases): near 1 means warm."
    )


def reading(figures):
    floods = [pairs for name, pairs in figures.lines if name == "flood"]
    others = [float(pairs["others_percent"]) for pairs in floods]
    warm = [pairs["seconds"] for name, pairs in figures.lines if name == "warm"]
    print(READING.format(
        warm=warm[0],
        drift=drift(figures),
        others=f"{statistics.median(others):.0f}",
        most=f"{max(others):.0f}",
    ), end="")
