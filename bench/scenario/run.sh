#!/usr/bin/env bash
#  Plays the original fault with the reference as it was, with the reference and
#  the gate, and with zpeer, on a Debian 12 machine with nothing installed,
#  and writes its part of bench/RESULTS.md and bench/plots/scenario.svg.
#
#      bench/scenario/run.sh [--quick] [--busy] [--no-install] [--runs N]
#                            [--output FILE]
#
#  --quick        one run of each system instead of three
#  --runs N       so many
#  --busy         measures although others use the machine
#  --no-install   installs no packages, and fails where one is missing
#  --output FILE  writes there instead; the plot goes into plots/ beside it
#
#  Takes 8 minutes, --quick 3, after the build. What the programs said is kept
#  in build/bench/scenario. Ends with "scenario: OK …" or "scenario: FAILED …",
#  and an exit status to match.
set -u
cd "$(dirname "$0")/../.." || exit 2
export PYTHONDONTWRITEBYTECODE=1

runs=3
busy=no
install=yes
output=bench/RESULTS.md
while [ $# -gt 0 ]; do
    case $1 in
    --quick) runs=1 ;;
    --runs) runs=${2:-0} && shift ;;
    --busy) busy=yes ;;
    --no-install) install=no ;;
    --output) output=${2:-/} && shift ;;
    --help) sed -n '2,/^set/s/^#  \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "scenario: unknown argument $1, see --help" >&2; exit 2 ;;
    esac
    shift
done

title=scenario
build=build/bench
java=$build/java
logs=$build/scenario
systems="reference gate zpeer zpeer-500"
#  shellcheck source=bench/common.sh
. bench/common.sh
check_arguments --runs "$runs"

#  The figures that say most
tell () {
    awk '$3 != "case=healthy" {
        for (i = 2; i <= NF; i++) { split ($i, pair, "="); own[pair[1]] = pair[2] }
        after = own["equal_after"]
        printf "    %s: %d requests in the outage, then equal to the source %s\n",
            own["case"], own["requests"],
            (after == "inf") ? "never" : "after " after " s"
    }' "$1"
}

#  play SYSTEM ROUND: one run; its lines join the others
play () {
    printf '%s round %d of %d: %s\n' "$(date +%H:%M:%S)" "$2" "$runs" "$1"
    quietly "$logs/run" 4 python3 bench/scenario/scenario.py "$1" \
        --build "$build" --java "$java" --seed "$2" \
        --keep "$logs/$1" --timeline "$logs/$1.timeline" ||
        fail "$1 failed" "$logs/run.errors"
    cat "$logs/run" >>"$logs/figures"
    tell "$logs/run"
}

#  plot NAME: bench/scenario/NAME.gp to NAME.svg
plot () {
    mkdir -p "$(dirname "$output")/plots"
    gnuplot -e "folder='$logs'; output='$(dirname "$output")/plots/$2.svg'" \
        "bench/scenario/$1.gp" 2>"$logs/gnuplot" ||
        fail "no plot" "$logs/gnuplot"
}

mkdir -p "$logs"
echo "scenario: $(nproc) processors, $runs run(s) of each of: $systems"
install_for_c
install_for_java
install_packages gnuplot-nox
build_c zpeerd zpeerctl zpeer-scripted-peer
build_java
wait_for_calm
{ describe; describe_java; echo "runs=$runs"; } >"$logs/machine"
: >"$logs/figures"
for round in $(seq "$runs"); do
    for system in $systems; do
        play "$system" "$round"
    done
done
plot timeline scenario
python3 bench/scenario/report.py "$logs" >"$logs/report" || fail "no report"
python3 bench/parts.py "$output" scenario <"$logs/report" ||
    fail "cannot write $output"
echo
sed -n '/^###/,$p' "$logs/report" | sed -n '/^###\|^|/p' | head -n 40
echo
echo "scenario: OK, in $((SECONDS - started)) s; all of it is in $output"
