#!/usr/bin/env bash
#  zpeerd and zpeerctl as an operator uses them.
#
#  test_zpeerd.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

#  Forty peers that nobody answers for are added first: that takes a while
test_a_feeder_that_waits_for_it_reaches_the_last_peer () {
    start_peer || return 1
    events=ipc://$work/events
    dead=
    for number in $(seq 40); do
        dead="$dead --peer http://127.0.0.1:1/$number/"
    done
    for number in $(seq 200); do
        echo "${info//i1/$number}"
    done >"$work/events.jsonl"
    feed "$work/events.jsonl" &
    feeder=$!
    pids="$pids $feeder"
    #  shellcheck disable=SC2086  # Each word is an argument
    start_zpeerd $dead --peer "$peer_url" && wait "$feeder" && wait_all 200
}

test_events_of_every_shape_reach_the_peer () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    {
        echo "{\"instance\":$info}"
        echo
        echo "${info/i1/i2}"
        echo '{"action":"Heartbeat","app":"shop","id":"i1",' \
            '"lastDirtyTimestamp":77}'
        echo '{"replicationList":[{"appName":"SHOP","id":"i2",' \
            '"action":"Cancel"}]}'
        echo '{"appName":"SHOP","id":"i1","lastDirtyTimestamp":80,' \
            '"status":"DOWN","action":"StatusUpdate"}'
    } >"$work/events.jsonl"
    feed "$work/events.jsonl" || { cat "$work/err"; fail "feed: $?"; } ||
        return 1
    expect_text "$work/out" "5 events sent, 5 accepted, 0 rejected" &&
        expect_equal SHOP i1 DOWN
}

#  expect_equal APP ID STATUS: all that the peer holds is this
expect_equal () {
    printf '{"applications":{"application":[{"name":"%s","instance":[%s]}]}}' \
        "$1" "$(echo "$info" | sed "s/\"status\":\"UP\"/\"status\":\"$3\",\
\"overriddenStatus\":\"$3\"/; s/\"77\"/\"80\"/; s/\"i1\"/\"$2\"/")" \
        >"$work/source.json"
    python3 "$deploy/compare_registries.py" "$work/source.json" \
        "peer=$peer_url" --wait "$limit"
}

test_a_whole_registry_is_fed_from_a_document () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    python3 "$deploy/generate_registry.py" "$work/reg" --instances 300 \
        --traffic 10
    python3 -m json.tool "$work/reg/source.json" "$work/pretty.json"
    feed - <"$work/pretty.json" || { cat "$work/err"; fail "feed"; } || return 1
    python3 "$deploy/compare_registries.py" "$work/reg/source.json" \
        "peer=$peer_url" --wait "$limit"
}

test_rejects_are_reported_with_line_and_reason () {
    start_zpeerd || return 1
    {
        echo '{"action":"Cancel","app":"a","id":"i"}'
        echo '{"action":"Heartbeat","app":"a","id":"i"}'
        echo '{"action":"Cance'
        echo '{"replicationList":[{"appName":"A","id":"i","action":"Cancel"},'\
            '{"appName":"A","action":"Cancel"}]}'
        echo '{"action":"Cancel","app":"a","id":"j"}'
    } >"$work/events.jsonl"
    feed "$work/events.jsonl"
    [ $? -eq 1 ] || fail "feed did not end with 1" || return 1
    expect_text "$work/err" "events.jsonl:2: lastDirtyTimestamp" &&
        expect_text "$work/err" "events.jsonl:3: " &&
        expect_text "$work/err" "events.jsonl:4 (item 2): id" &&
        expect_text "$work/out" "5 events sent, 3 accepted, 2 rejected, in" &&
        expect_text "$work/out" "; 1 in the input made no event"
}

test_an_empty_input_is_an_error () {
    start_zpeerd || return 1
    printf '\n \n' >"$work/nothing"
    expect_status 1 "$zpeerctl" feed --endpoint "$events" "$work/nothing" &&
        expect_text "$work/err" "nothing: the input was empty" &&
        expect_status 1 "$zpeerctl" feed --endpoint "$events" - &&
        expect_text "$work/err" "-: the input was empty" &&
        expect_text "$work/out" "0 events sent"
}

test_an_empty_registry_is_no_error () {
    start_zpeerd || return 1
    local document
    for document in '{"applications":{}}' \
        '{"applications":{"versions__delta":"1","apps__hashcode":"",
"application":[]}}' '{"application":{"name":"A","instance":[]}}' \
        '{"replicationList":[]}'; do
        echo "$document" >"$work/none"
        expect_status 0 "$zpeerctl" feed --endpoint "$events" "$work/none" &&
            expect_text "$work/err" \
                "none: no instance is in it, nothing was sent" &&
            expect_text "$work/out" "0 events sent" || return 1
    done
    expect_status 0 "$zpeerctl" feed --help &&
        expect_text "$work/out" "names no instance"
}

test_commands_that_are_too_long_are_a_line_in_the_log () {
    start_zpeerd || return 1
    python3 - "${control#ipc://}" <<'END' || return 1
import socket, sys
client = socket.socket (socket.AF_UNIX)
client.connect (sys.argv[1])
client.sendall (b"\xff" + bytes (8) + b"\x7f\3\0NULL" + bytes (48) +
                b"\4\6\5READY" + b"\2" + (4097).to_bytes (8, "big"))
while client.recv (100):
    pass
END
    wait_text "$work/log" "ZPD011 commands: a client was cut off" &&
        expect_text "$work/log" "more than 4096 bytes to $control"
}

test_xml_is_named_and_not_read () {
    start_zpeerd || return 1
    printf ' <applications>\n  <application>\n' >"$work/apps"
    expect_status 1 "$zpeerctl" feed --endpoint "$events" "$work/apps" &&
        expect_text "$work/err" "apps:1: this is XML" &&
        expect_text "$work/err" "Accept: application/json" &&
        [ "$(wc -l <"$work/err")" -eq 1 ]
}

test_gzip_is_named_and_not_read () {
    start_zpeerd || return 1
    echo '{"action":"Cancel","app":"a","id":"i"}' | gzip >"$work/apps.gz"
    expect_status 1 "$zpeerctl" feed --endpoint "$events" "$work/apps.gz" &&
        expect_text "$work/err" "apps.gz:1: this is gzip" &&
        expect_text "$work/err" "curl --compressed" &&
        [ "$(wc -l <"$work/err")" -eq 1 ]
}

test_a_key_given_twice_is_rejected () {
    start_zpeerd || return 1
    echo '{"action":"Cancel","app":"a","app":"b","id":"i"}' >"$work/twice"
    expect_status 1 "$zpeerctl" feed --endpoint "$events" "$work/twice" &&
        expect_text "$work/err" "twice:1: duplicate object key"
}

test_lines_are_right_over_many_requests () {
    start_zpeerd || return 1
    for i in $(seq 1000); do
        if [ $((i % 250)) -eq 0 ]; then
            echo '{"action":"Heartbeat","app":"a","id":"i"}'
        else
            echo "{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"$i\"}"
        fi
    done >"$work/events.jsonl"
    feed --batch 1 --quiet "$work/events.jsonl"
    [ "$(cut -d : -f 2 "$work/err" | tr '\n' ' ')" = "250 500 750 1000 " ] ||
        { cat "$work/err"; fail "wrong lines"; }
}

test_a_broken_first_line_costs_only_itself () {
    start_zpeerd || return 1
    printf '{"action":\n{"action":"Cancel","app":"a","id":"i"}\n' |
        feed -
    expect_text "$work/err" "-:1: " &&
        expect_text "$work/out" "1 events sent, 1 accepted, 0 rejected"
}

test_a_pipe_is_not_held_back_until_a_batch_is_full () {
    start_zpeerd || return 1
    mkfifo "$work/pipe"
    "$zpeerctl" feed --endpoint "$events" - <"$work/pipe" \
        >"$work/out" 2>"$work/err" &
    local feeder=$!
    pids="$pids $feeder"
    exec 9>"$work/pipe"
    echo '{"action":"Heartbeat","app":"a","id":"i"}' >&9
    wait_text "$work/err" "-:1: " || return 1
    exec 9>&-
    wait "$feeder"
    [ $? -eq 1 ]
}

test_feeding_nobody_ends_with_a_message () {
    echo '{"action":"Cancel","app":"a","id":"i"}' >"$work/events.jsonl"
    expect_status 3 "$zpeerctl" feed --timeout 1 \
        --endpoint "ipc://$work/nobody" "$work/events.jsonl" &&
        expect_text "$work/err" "is zpeerd running?"
}

test_a_rate_is_held () {
    start_zpeerd || return 1
    for i in $(seq 50); do
        echo "{\"action\":\"Cancel\",\"app\":\"a\",\"id\":\"$i\"}"
    done >"$work/events.jsonl"
    local begun
    begun=$(date +%s%N)
    feed --rate 100 "$work/events.jsonl" || return 1
    [ $((($(date +%s%N) - begun) / 1000000)) -ge 480 ] || fail "too fast"
}

test_watch_prints_outcomes_as_json () {
    start_zpeerd || return 1
    "$zpeerctl" watch --endpoint "$outcomes" --topics stats --count 1 \
        >"$work/watched" &
    pids="$pids $!"
    wait_text "$work/watched" '{"topic":"stats","data":{' &&
        python3 -m json.tool "$work/watched" >/dev/null
}

test_watching_nobody_is_said () {
    expect_status 3 "$zpeerctl" watch --timeout 1 \
        --endpoint "ipc://$work/nobody" &&
        expect_text "$work/err" "nothing comes from ipc://$work/nobody yet" &&
        expect_status 3 "$zpeerctl" watch --timeout 1 --quiet \
            --endpoint "ipc://$work/nobody" && [ ! -s "$work/err" ]
}

test_a_quiet_engine_is_not_taken_for_nobody () {
    start_zpeerd --set zpeer.stats.interval-ms=10 &&
        expect_status 3 "$zpeerctl" watch --endpoint "$outcomes" \
            --topics conflict,need-register --timeout 2 &&
        [ ! -s "$work/err" ]
}

run_cases
