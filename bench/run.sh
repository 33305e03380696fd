#!/usr/bin/env bash
#  Measures the engine and its parts, as bench/README.md describes, on a Debian 12
#  machine with nothing installed, and writes its part of bench/RESULTS.md.
#
#      bench/run.sh [--quick] [--busy] [--no-install] [--output FILE]
#
#  --quick         one run of each instead of five, and shorter ones
#  --busy          measures although others use the machine
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
install=yes
output=bench/RESULTS.md
while [ $# -gt 0 ]; do
    case $1 in
    --quick) runs=1 seconds=2 recoveries=1 instances=20000 delays=20 ;;
    --busy) busy=yes ;;
    --no-install) install=no ;;
    --output) output=${2:?--output needs a file} && shift ;;
    --help) sed -n '2,/^set/s/^#  \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "bench: unknown argument $1, see --help" >&2; exit 2 ;;
    esac
    shift
done

title=bench
build=build/bench
logs=$build/runs
programs="acceptor end_to_end http idle latency memory recovery sick stages"
#  shellcheck source=bench/common.sh
. bench/common.sh

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
    quietly "$logs/run" 5 "$build/bench/bench_$program" "$@" ||
        fail "$program failed" "$logs/run.errors"
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
}

count () { total=$((total + 1)); }

mkdir -p "$logs"
echo "bench: $(nproc) processors, $runs run(s) of each"
install_for_c
#  shellcheck disable=SC2046,SC2086  # A list of words
build_c zpeer-scripted-peer $(printf 'bench_%s ' $programs)
wait_for_calm
{ describe && echo "runs=$runs"; } >"$logs/machine"
: >"$logs/figures"
done=0
total=0
for round in $(seq "$runs"); do
    plan count "$round"
done
for round in $(seq "$runs"); do
    plan measure "$round"
done
python3 -B bench/report.py "$logs" >"$logs/report" || fail "no report"
python3 -B bench/parts.py "$output" engine <"$logs/report" || fail "no results"
echo
sed -n '/^### Targets/,/^### /p' "$logs/report" | grep '^|'
echo
echo "bench: OK, in $((SECONDS - started)) s; all of it is in $output"
