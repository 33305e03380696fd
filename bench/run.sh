#!/usr/bin/env bash
#  Measures everything that bench/README.md describes, on a Debian 12 machine
#  with nothing installed, and writes bench/RESULTS.md.
#
#      bench/run.sh [--quick] [--busy] [--no-reference] [--no-install]
#                   [--output FILE]
#
#  --quick         one run of each instead of five, and shorter ones
#  --busy          measures although others use the machine
#  --no-reference  leaves Netflix's batcher out: needs neither Java nor Maven
#  --no-install    installs no packages, and fails where one is missing
#  --output FILE   writes there instead
#
#  Takes some 20 minutes, --quick 3. Builds in build/bench; what the programs
#  said is kept in build/bench/runs. Ends with "bench: OK …" or "bench: FAILED
#  …", and an exit status to match; a target that is missed is no failure.
set -u
cd "$(dirname "$0")/.." || exit 2

runs=5
seconds=5
recoveries=3  #  They take long: not in every round
instances=100000
delays="0 20"
busy=no
reference=yes
install=yes
output=bench/RESULTS.md
while [ $# -gt 0 ]; do
    case $1 in
    --quick) runs=1 seconds=2 recoveries=1 instances=20000 delays=20 ;;
    --busy) busy=yes ;;
    --no-reference) reference=no ;;
    --no-install) install=no ;;
    --output) output=${2:?--output needs a file} && shift ;;
    --help) sed -n '2,/^set/s/^#  \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "bench: unknown argument $1, see --help" >&2; exit 2 ;;
    esac
    shift
done

build=build/bench
logs=$build/runs
programs="acceptor end_to_end http idle latency memory recovery sick stages"
started=$SECONDS
child=

#  Programs end their peers when they end
end_child () {
    [ -z "$child" ] && return 0
    kill -TERM "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    child=
}
trap end_child EXIT
trap 'echo; echo "bench: FAILED: interrupted"; exit 130' INT TERM

fail () {
    echo
    [ $# -gt 1 ] && tail -n 20 "$2" | sed 's/^/    /'
    echo "bench: FAILED: $1"
    exit 1
}

#  quietly LOG MINUTES COMMAND…: so that a signal ends it, too
quietly () {
    local log=$1 minutes=$2 status
    shift 2
    timeout "$((minutes * 60))" "$@" >"$log" 2>"$log.errors" </dev/null &
    child=$!
    wait "$child"
    status=$?
    child=
    return "$status"
}

install_packages () {
    local missing="" package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    echo "bench: installing$missing"
    [ "$install" = yes ] || fail "missing packages:$missing"
    export DEBIAN_FRONTEND=noninteractive
    #  shellcheck disable=SC2086  # A list of words
    { apt-get update && apt-get install -y --no-install-recommends $missing; } \
        >"$logs/packages" 2>&1 ||
        fail "cannot install (needs root and a Debian mirror)" "$logs/packages"
}

build_programs () {
    local targets="zpeer-scripted-peer" name
    for name in $programs; do targets="$targets bench_$name"; done
    echo "bench: building in $build"
    quietly "$logs/configure" 5 cmake --preset release -B "$build" ||
        fail "cannot configure" "$logs/configure.errors"
    #  shellcheck disable=SC2086
    quietly "$logs/build" 15 cmake --build "$build" --target $targets ||
        fail "cannot build" "$logs/build"
    [ "$reference" = no ] && return 0
    echo "bench: building the reference, Netflix's batcher"
    quietly "$logs/maven" 15 mvn -B -q -f bench/reference/pom.xml \
        "-Doutput=$PWD/$build/reference" package ||
        fail "cannot build the reference (see --no-reference)" "$logs/maven"
}

#  Figures of a machine that others use say nothing. The build of a moment ago
#  counts, too, for a minute or two.
wait_for_calm () {
    local load limit tries
    limit=$(nproc | awk '{ print 0.25 * $1 }')
    for tries in $(seq 18); do
        load=$(cut -d ' ' -f 1 /proc/loadavg)
        awk "BEGIN { exit !($load <= $limit) }" && return 0
        if [ "$busy" = yes ]; then
            echo "bench: WARNING: the load average is $load;" \
                "the figures will be worse than they should"
            return 0
        fi
        [ "$tries" = 1 ] && echo "bench: the load average is $load;" \
            "waiting up to 3 minutes until it is below $limit"
        sleep 10
    done
    fail "the machine is busy, load average $load (--busy measures anyway)"
}

#  What differs from one machine to another
describe () {
    local dirty
    dirty=$(git status --porcelain -- proto bus actors bench/*.[ch] 2>/dev/null)
    {
        echo "commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(
            [ -n "$dirty" ] && echo ' and uncommitted changes')"
        echo "date=$(date -u '+%Y-%m-%d %H:%M UTC')"
        echo "cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo |
            head -n 1)"
        echo "cores=$(nproc)"
        echo "memory=$(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' \
            /proc/meminfo)"
        echo "kernel=$(uname -sr)"
        echo "system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
        echo "load=$(cut -d ' ' -f 1-3 /proc/loadavg)"
        echo "compiler=$(cc --version | head -n 1)"
        for name in libzmq libczmq libcurl msgpack jansson libxxhash; do
            echo "$name=$(pkg-config --modversion "$name")"
        done
        [ "$reference" = yes ] &&
            echo "java=$(java --version 2>/dev/null | head -n 1)"
        echo "runs=$runs"
    } >"$logs/machine"
}

#  The figure that says most
tell () {
    awk '{
        for (i = 2; i <= NF; i++) { split ($i, pair, "="); own[pair[1]] = pair[2] }
    } END {
        keys = "tasks_per_second events_per_second posts_per_second p99_ms "
        keys = keys "cpu_percent lane_says_bytes whole_ms parse"
        count = split (keys, key, " ")
        for (i = 1; i <= count; i++)
            if (key[i] in own) { print key[i] "=" own[key[i]]; exit }
    }' "$1"
}

#  measure PROGRAM ARGUMENT…: one run; its lines join the others
measure () {
    local program=$1
    shift
    done=$((done + 1))
    printf '%s %3d/%d %s %s ' "$(date +%H:%M:%S)" "$done" "$total" \
        "$program" "$*"
    if [ "$program" = reference ]; then
        set -- java -cp "$build/reference/reference.jar:$build/reference/lib/*" \
            zpeer.bench.ReferenceBatcher "$@"
    else
        set -- "$build/bench/bench_$program" "$@"
    fi
    quietly "$logs/run" 5 "$@" || fail "$program failed" "$logs/run.errors"
    cat "$logs/run" >>"$logs/figures"
    tell "$logs/run"
}

#  plan DO ROUND. Everything once: so what changes on the machine meanwhile meets
#  all alike
plan () {
    local kind peers transport delay
    local events=$((400000 * seconds))
    for kind in heartbeats registers; do
        "$1" stages "$kind" 16000 "$((3 * seconds))"
        "$1" http "$kind" "$((1000 * seconds))"
    done
    "$1" acceptor heartbeats 10000 "$((events / 10000))" 1
    "$1" acceptor heartbeats 10000 "$((events / 10000))" 4
    "$1" acceptor scattered 100000 "$((events / 100000))" 1
    "$1" acceptor registers 10000 "$((events / 40000))" 1
    for transport in inproc ipc tcp; do
        for peers in 1 4; do
            "$1" end_to_end heartbeats "$peers" 10000 \
                "$((events / 10000))" "$transport"
        done
    done
    for peers in 1 4; do
        "$1" end_to_end registers "$peers" 10000 "$((events / 80000))" ipc
    done
    "$1" latency 1000 "$seconds"
    "$1" latency 20000 "$seconds"
    "$1" sick 10000 "$((events / 10000))" 1000 "$seconds"
    if [ "$2" -le "$recoveries" ]; then
        for delay in $delays; do
            "$1" recovery "$instances" "$delay" 1000 2
        done
    fi
    "$1" memory 100000 4
    "$1" idle well 10000 "$((seconds + 3))"
    "$1" idle well 10000 "$((seconds + 3))" off
    "$1" idle refuse 10000 "$((seconds + 3))"
    "$1" idle black-hole 10000 "$((seconds + 3))"
    [ "$reference" = yes ] && "$1" reference "$((seconds / 2))"
    return 0
}

count () { total=$((total + 1)); }

mkdir -p "$logs"
echo "bench: $(nproc) processors, $runs run(s) of each"
install_packages build-essential cmake ninja-build pkg-config libzmq3-dev \
    libczmq-dev libcurl4-openssl-dev libmsgpack-dev libjansson-dev uthash-dev \
    libxxhash-dev zlib1g-dev libmicrohttpd-dev libcriterion-dev python3
[ "$reference" = no ] || install_packages maven openjdk-17-jdk-headless
build_programs
wait_for_calm
describe
: >"$logs/figures"
done=0
total=0
for round in $(seq "$runs"); do
    plan count "$round"
done
for round in $(seq "$runs"); do
    plan measure "$round"
done
python3 bench/report.py "$logs" >"$logs/report" || fail "no report"
mv "$logs/report" "$output"
echo
sed -n '/^## Targets/,/^## /p' "$output" | grep '^|'
echo
echo "bench: OK, in $((SECONDS - started)) s; all of it is in $output"
