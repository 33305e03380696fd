#!/usr/bin/env bash
#  Measures zpeer beside the reference, Netflix Eureka's own replication as
#  released, at the same peers, in turns, on a Debian 12 machine with nothing
#  installed. Writes its part of bench/RESULTS.md, and bench/plots.
#
#      bench/reference/run.sh [--quick] [--rounds N] [--busy] [--no-install]
#                             [--output FILE]
#
#  --quick         one short round of each, and fewer cases
#  --rounds N      so many rounds of each, not five
#  --busy          measures although others use the machine
#  --no-install    installs no packages, and fails where one is missing
#  --output FILE   writes there instead, plots into the folder "plots" beside it
#
#  Takes some 24 minutes, --quick 5. Builds in build/bench; what was measured is
#  kept in build/bench/beside, and what the programs said. Ends with "beside:
#  OK …" or "beside: FAILED …", and an exit status to match; a target that is
#  missed is no failure.
set -u
cd "$(dirname "$0")/../.." || exit 2

quick=
rounds=
busy=no
install=yes
output=bench/RESULTS.md
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --rounds) rounds=${2:-0} && shift ;;
    --busy) busy=yes ;;
    --no-install) install=no ;;
    --output) output=${2:-/} && shift ;;
    --help) sed -n '2,/^set/s/^#  \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "beside: unknown argument $1, see --help" >&2; exit 2 ;;
    esac
    shift
done

title=beside
build=build/bench
java=$build/reference
logs=$build/beside
#  shellcheck source=bench/common.sh
. bench/common.sh
check_arguments --rounds "$rounds"

draw () {
    local plots
    plots=$(dirname "$output")/plots
    mkdir -p "$plots"
    python3 -B bench/reference/plots.py "$logs" || fail "no data for the plots"
    quietly "$logs/gnuplot" 2 gnuplot -e "data='$logs/data'; plots='$plots'" \
        bench/reference/plots.gp || fail "cannot draw" "$logs/gnuplot.errors"
}

#  A dispatcher has a connection for each request in flight, and peers are many
ulimit -Sn "$(ulimit -Hn)"
mkdir -p "$logs"
install_for_c
install_for_java
install_packages gnuplot-nox
build_c zpeer-scripted-peer bench_sender
build_java
wait_for_calm
{ describe && describe_java; } >"$logs/machine"
#  shellcheck disable=SC2086  # Empty, or one word
run python3 -B bench/reference/beside.py --build "$build" --java "$java" \
    --output "$logs" --rounds "${rounds:-0}" $quick || fail "nothing is written"
python3 -B bench/reference/report.py "$logs" >"$logs/report" ||
    fail "no report"
draw
python3 -B bench/parts.py "$output" reference <"$logs/report" ||
    fail "no results"
echo
sed -n '/^### Targets/,/^### /p' "$logs/report" | grep '^|'
echo
echo "beside: OK, in $((SECONDS - started)) s; all of it is in $output"
