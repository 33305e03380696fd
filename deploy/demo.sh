#!/usr/bin/env bash
#  Shows zpeer at work: three Eureka servers, one of which becomes too slow.
#
#      deploy/demo.sh [--help]
#
#  On Debian 12, as root, it installs what it needs. It builds in build/demo,
#  works in a temporary folder, and leaves no process and no file behind. Ends
#  with "demo: OK …" or "demo: FAILED …", and an exit status to match.
set -u
cd "$(dirname "$0")/.." || exit 2

for argument in "$@"; do
    case $argument in
    --help) sed -n '2,/^set/s/^#  \{0,1\}//p' deploy/demo.sh; exit 0 ;;
    *) echo "demo: unknown argument $argument, see --help" >&2; exit 2 ;;
    esac
done

jobs=$(nproc)
build=build/demo
work=
pids=
asked_to_stop=no

#  What makes one peer too slow, and the demo short: ms, failures
slow_ms=1500
read_timeout_ms=300
retries=4

end_all () {
    trap - EXIT
    #  shellcheck disable=SC2086  # A list of words
    [ -n "$pids" ] && kill -TERM $pids 2>/dev/null
    #  shellcheck disable=SC2086
    [ -n "$pids" ] && wait $pids 2>/dev/null
    [ -n "$work" ] && rm -rf "$work"
}
trap end_all EXIT
trap 'asked_to_stop=yes; fail "interrupted"' INT TERM

fail () {
    if [ "$asked_to_stop" = no ] && [ -n "$work" ] && [ -s "$work/log" ]; then
        echo "  the end of zpeerd's log:"
        tail -n 15 "$work/log" | sed 's/^/    /'
    fi
    echo "demo: FAILED: $*"
    exit 1
}

chapter () { printf '\n%s\n' "$*"; }
say () { printf '  %s\n' "$*"; }

install_packages () {
    local missing="" package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    say "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    #  shellcheck disable=SC2086
    { apt-get update && apt-get install -y --no-install-recommends $missing; } \
        >"$work/apt" 2>&1 && return 0
    tail -n 5 "$work/apt"
    fail "could not install the packages (needs root and a Debian mirror)"
}

build_programs () {
    {
        cmake --preset release -B "$build" -DZPEER_BUILD_BENCH=OFF &&
            cmake --build "$build" -j "$jobs" \
                --target zpeerd zpeerctl zpeer-scripted-peer
    } >"$work/build" 2>&1 && return 0
    tail -n 30 "$work/build"
    fail "the build failed"
}

#  wait_text FILE TEXT
wait_text () {
    timeout 20 tail -n +1 -F "$1" 2>/dev/null | grep -qm1 -F -- "$2" ||
        fail "no \"$2\" in $(basename "$1")"
}

#  start_peer NAME: its URL in $work/NAME.url, its control port's in NAME.ctl
start_peer () {
    "$build/tests/support/zpeer-scripted-peer" >"$work/$1.out" 2>&1 &
    pids="$pids $!"
    wait_text "$work/$1.out" "/eureka/"
    grep -o 'http://[^ ]*/eureka/' "$work/$1.out" | head -n 1 >"$work/$1.url"
    grep -o 'http://[^ ]*' "$work/$1.out" | grep -v eureka | head -n 1 \
        >"$work/$1.ctl"
}

url () { cat "$work/$1.url"; }

#  script NAME JSON: tells a scripted peer how to behave
script () {
    python3 -c 'import sys, urllib.request
urllib.request.urlopen(sys.argv[1] + "script", sys.argv[2].encode()).read()' \
        "$(cat "$work/$1.ctl")" "$2" || fail "cannot script $1"
}

feed () {
    "$build/deploy/zpeerctl" feed --endpoint "ipc://$work/events" "$@" |
        sed 's/^/  /'
    [ "${PIPESTATUS[0]}" -eq 0 ] || fail "zpeerctl feed: something was rejected"
}

#  compare SECONDS NAME…: a table; false if one of them differs after so long
compare () {
    local seconds=$1 name
    shift
    local peers=()
    for name in "$@"; do peers+=("$name=$(url "$name")"); done
    python3 deploy/compare_registries.py "$source" "${peers[@]}" \
        --wait "$seconds" --stats "$work/stats"
}

stats () {
    timeout 10 "$build/deploy/zpeerctl" watch --topics stats --count 12 \
        --timeout 3 --endpoint "ipc://$work/outcomes" >"$work/stats"
}

#  probe NAME…: how long a change takes to these peers, right now
probe () {
    local peers=() name
    for name in "$@"; do peers+=("$name=$(cat "$work/$name.ctl")"); done
    python3 deploy/probe_latency.py "$build/deploy/zpeerctl" \
        "ipc://$work/events" "${peers[@]}" || fail "the probe failed"
}

work=$(mktemp -d)
chapter "1. Getting ready"
install_packages build-essential cmake ninja-build pkg-config libzmq3-dev \
    libczmq-dev libcurl4-openssl-dev libmsgpack-dev libjansson-dev uthash-dev \
    libxxhash-dev zlib1g-dev libmicrohttpd-dev libcriterion-dev python3
say "building with $jobs processors, in $build"
build_programs
started=$SECONDS
python3 deploy/generate_registry.py --instances 3000 --traffic 6000 --seed 7 \
    "$work/registry" || fail "no registry"
source=$work/registry/source.json
say "a made-up registry: $(wc -l <"$work/registry/start.jsonl") instances," \
    "then $(wc -l <"$work/registry/traffic.jsonl") events of a busy while"
for name in north south east; do
    start_peer "$name"
    say "Eureka server $name (scripted, in memory): $(url "$name")"
done
"$build/deploy/zpeerd" --peer "$(url north)" --peer "$(url south)" \
    --peer "$(url east)" \
    --events "ipc://$work/events" --outcomes "ipc://$work/outcomes" \
    --set eureka.server.peer-node-read-timeout-ms=$read_timeout_ms \
    --set apiml.discovery.maxPeerRetries=$retries 2>"$work/log" &
zpeerd_pid=$!
pids="$pids $zpeerd_pid"
wait_text "$work/log" ZPD001
say "zpeerd tells these three about every change. So that this demo is short, it"
say "takes a server for too slow after $read_timeout_ms ms without an answer, and for"
say "failed after $retries such failures in a row (30000 ms and 10 by default)."

chapter "2. All is well: every instance registers"
feed "$work/registry/start.jsonl"
say "How long a change takes from the registry to each server, now:"
probe north south east

chapter "3. The server east becomes too slow: it answers after $slow_ms ms"
script east "{\"rules\": [{\"path\": \"peerreplication\", \"delay_ms\": $slow_ms}]}"
say "The busy while: heartbeats, deployments, maintenance, 600 events a second."
"$build/deploy/zpeerctl" feed --quiet --rate 600 \
    --endpoint "ipc://$work/events" "$work/registry/traffic.jsonl" \
    >"$work/feed" &
feeder=$!
pids="$pids $feeder"
say "How long a change takes to the other two, while east does not answer:"
probe north south
wait "$feeder" || fail "the busy while ended badly"
say "$(cat "$work/feed")"
wait_text "$work/log" ZPR036
say "zpeerd says, once, that it has given up on east, until it answers again:"
grep -m1 ZPR036 "$work/log" | fold -s -w 74 | sed 's/^/    /'
say "The registries compared with the source. North and south must be equal to"
say "it. What east has missed waits for it, or is owed to it: tried, and kept."
stats
compare 5 north south || fail "north or south noticed that east is slow"
compare 0 east && fail "east was not slow after all"

chapter "4. East is healed"
"$build/deploy/zpeerctl" watch --quiet --topics peer \
    --endpoint "ipc://$work/outcomes" >"$work/peer" &
watcher=$!
pids="$pids $watcher"
script east '{"clear": true}'
say "No heartbeat is sent, and no event of any kind: zpeerd tries east by itself,"
say "within ten seconds, sends what waits, asks about what it owes, and repairs what"
say "east has missed: cancellations and overrides, too."
compare 30 north south east >"$work/table"
equal=$?
wait_text "$work/peer" '"whole"'
say "It told its host (zpeerctl watch --topics peer):"
for state in recovered whole; do
    grep -m1 "\"$state\"" "$work/peer" | fold -s -w 72 | sed 's/^/    /'
done
stats

chapter "5. The result: all three registries compared with the source"
compare 0 north south east || equal=1
say "\"owed\" is what zpeerd has yet to repair; it would be named in the table."

kill -TERM "$zpeerd_pid"
wait "$zpeerd_pid" || fail "zpeerd ended with $?"
grep -qE 'ZPD003|ZPD004' "$work/log" || fail "zpeerd did not stop cleanly"
say "zpeerd was asked to stop: $(tail -n 1 "$work/log" | cut -d ' ' -f 4-)."
[ "$equal" -eq 0 ] || fail "the registries differ from the source"
echo
echo "demo: OK, three servers equal to the source, in $((SECONDS - started)) s"
