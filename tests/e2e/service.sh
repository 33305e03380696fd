#  shellcheck shell=bash disable=SC2034  # What is set here, cases use
#  Starts and ends zpeerd and scripted peers for the tests that source it, with
#  the arguments ZPEERD ZPEERCTL SCRIPTED_PEER.
#
#  Each function whose name begins with test_ is a case; its name is what it
#  proves.
set -u
zpeerd=$(realpath "$1")
zpeerctl=$(realpath "$2")
scripted_peer=$(realpath "$3")
deploy=$(realpath "$(dirname "$0")/../../deploy")

#  How long anything may take, s
limit=20

top=$(mktemp -d)
pids=
end_all () {
    #  shellcheck disable=SC2086
    [ -n "$pids" ] && kill -KILL $pids 2>/dev/null
    #  shellcheck disable=SC2086
    [ -n "$pids" ] && wait $pids 2>/dev/null
    pids=
}
trap 'end_all; rm -rf "$top"' EXIT

fail () { echo "    $*"; return 1; }

#  expect_status WANTED COMMAND…: output in $work/out, errors in $work/err
expect_status () {
    local wanted=$1 got
    shift
    timeout "$limit" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ "$got" -eq "$wanted" ] && return 0
    cat "$work/out" "$work/err"
    fail "status $got, not $wanted: $*"
}

#  expect_text FILE TEXT
expect_text () {
    grep -qF -- "$2" "$1" && return 0
    cat "$1"
    fail "no \"$2\" in $(basename "$1")"
}

#  wait_text FILE TEXT: until the text is in the file
wait_text () {
    timeout "$limit" tail -n +1 -F "$1" 2>/dev/null | grep -qm1 -F -- "$2" &&
        return 0
    cat "$1"
    fail "no \"$2\" in $(basename "$1") within $limit s"
}

#  start_peer: a scripted peer at $peer_url, its control port at $peer_control
start_peer () {
    local said
    said=$(mktemp -p "$work" peer.XXXXXX)
    "$scripted_peer" >"$said" 2>&1 &
    pids="$pids $!"
    wait_text "$said" " control http://" || return 1
    read -r peer_url _ peer_control <"$said"
}

#  start_zpeerd OPTION…: at endpoints of its own, log in $work/log
start_zpeerd () {
    events=ipc://$work/events
    outcomes=ipc://$work/outcomes
    control=ipc://$work/control
    : >"$work/log"  #  What one before it said is not this one's
    "$zpeerd" --events "$events" --outcomes "$outcomes" \
        --control "$control" "$@" >"$work/stdout" 2>"$work/log" &
    zpeerd_pid=$!
    pids="$pids $zpeerd_pid"
    wait_text "$work/log" ZPD001
}

#  end_zpeerd SIGNAL WANTED: sends a signal and expects an exit status
end_zpeerd () {
    kill "-$1" "$zpeerd_pid"
    expect_end "$2"
}

expect_end () {
    local got
    wait "$zpeerd_pid"
    got=$?
    [ "$got" -eq "$1" ] && return 0
    cat "$work/log"
    fail "zpeerd ended with $got, not $1"
}

feed () {
    timeout "$limit" "$zpeerctl" feed --endpoint "$events" "$@" \
        >"$work/out" 2>"$work/err"
}

#  shellcheck disable=SC2016  # A name of Java's, not a variable
info='{"instanceId":"i1","app":"SHOP","hostName":"h1","ipAddr":"10.0.0.1",
"status":"UP","lastDirtyTimestamp":"77","port":{"$":80,"@enabled":"true"},
"securePort":{"$":443,"@enabled":"false"},"dataCenterInfo":{"@class":
"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}'
info=$(echo "$info" | tr -d '\n')

#  wait_all COUNT: until the peer holds so many instances
wait_all () {
    timeout "$limit" python3 -c "import sys, urllib.request
while True:
    text = urllib.request.urlopen(sys.argv[1] + 'apps').read().decode()
    if text.count('\"instanceId\"') == int(sys.argv[2]):
        break" "$peer_url" "$1" || fail "the peer does not hold $1"
}

#  How long resyncs may take, s
patience=$((limit / 2))

#  ctl COMMAND…: zpeerctl, at zpeerd's endpoints
ctl () {
    local command=$1
    shift
    expect_status 0 "$zpeerctl" "$command" --endpoint "$control" "$@"
}

#  script JSON: at the peer started last
script () {
    python3 -c 'import sys, urllib.request
urllib.request.urlopen(sys.argv[1] + "script", sys.argv[2].encode())' \
        "$peer_control" "$1"
}

#  feed_registry: 300 instances, with overrides set and deleted, some cancelled;
#  what becomes of them is in $work/reg/source.json
feed_registry () {
    python3 "$deploy/generate_registry.py" "$work/reg" --instances 300 \
        --traffic 600
    cat "$work/reg/start.jsonl" "$work/reg/traffic.jsonl" >"$work/all"
    feed "$work/all" || { cat "$work/err"; fail "feed"; }
}

#  expect_whole: soon the peer started last holds what the source says
expect_whole () {
    python3 "$deploy/compare_registries.py" "$work/reg/source.json" \
        "peer=$peer_url" --wait "$limit"
}

#  Runs all cases, each in a folder of its own, $work
run_cases () {
    local case count=0 failed=0
    for case in $(compgen -A function test_); do
        count=$((count + 1))
        work=$top/$count  #  Short: the path of a socket has 107 bytes at most
        mkdir "$work"
        if "$case"; then
            echo "ok ${case#test_}"
        else
            echo "FAILED ${case#test_}"
            failed=$((failed + 1))
        fi
        end_all
    done
    echo "$count cases, $failed failed"
    [ "$failed" -eq 0 ]
}
