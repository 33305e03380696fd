#!/usr/bin/env bash
#  Peers of a running zpeerd come and go, as an operator does it.
#
#  test_control.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

#  ctl_refused TEXT COMMAND…: zpeerd refuses it, and says TEXT
ctl_refused () {
    local text=$1 command=$2
    shift 2
    expect_status 1 "$zpeerctl" "$command" --endpoint "$control" "$@" &&
        expect_text "$work/err" "$text"
}

#  expect_peers URL…: these, and no others
expect_peers () {
    ctl peers || return 1
    [ "$(cat "$work/out")" = "$(printf '%s\n' "$@")" ] ||
        fail "peers: $(cat "$work/out")"
}

#  cancelled: the last Register of an instance that is cancelled at the end, as an
#  item of a batch
cancelled () {
    python3 -c 'import json, sys
left = json.load(open(sys.argv[1] + "/source.json"))
held = {(a["name"], i["instanceId"]) for a in
        left["applications"]["application"] for i in a["instance"]}
for name in "start", "traffic":
    for line in open(f"{sys.argv[1]}/{name}.jsonl"):
        item = json.loads(line)
        key = item["appName"], item["id"]
        if item["action"] == "Register" and key not in held:
            last = line
print(last)' "$work/reg"
}

test_every_command_helps () {
    local command
    for command in peers add-peer remove-peer resync verify retry-now; do
        expect_status 0 "$zpeerctl" "$command" --help &&
            expect_text "$work/out" "usage: zpeerctl $command [option]..." &&
            expect_text "$work/out" "exit status:" || return 1
    done
    expect_text "$work/out" "URL|all" &&
        expect_status 0 "$zpeerctl" remove-peer --help &&
        expect_text "$work/out" "is back when zpeerd starts again" &&
        expect_status 0 "$zpeerctl" --help &&
        expect_text "$work/out" "  retry-now " &&
        expect_status 0 "$zpeerd" --help &&
        expect_text "$work/out" "--control EP"
}

test_wrong_command_lines_are_refused () {
    expect_status 2 "$zpeerctl" peers http://host/ &&
        expect_text "$work/err" '"http://host/" is too much' &&
        expect_status 2 "$zpeerctl" add-peer &&
        expect_text "$work/err" "URL is missing" &&
        expect_status 2 "$zpeerctl" resync &&
        expect_text "$work/err" "URL|all is missing" &&
        expect_status 2 "$zpeerctl" add-peer --wait 3 http://host/ &&
        expect_text "$work/err" "--wait is for resync and verify" &&
        expect_status 2 "$zpeerctl" resync --wait 0 all &&
        expect_status 2 "$zpeerctl" peers --endpoint nonsense &&
        expect_text "$work/err" '"nonsense" is no endpoint' &&
        expect_status 2 "$zpeerctl" resync --wait 1 --outcomes nonsense all &&
        expect_status 2 "$zpeerctl" add-peer "$(printf 'a%.0s' {1..5000})" &&
        expect_text "$work/err" "the URL is too long" &&
        expect_status 2 "$zpeerctl" add-peer - &&
        expect_text "$work/err" "the URL is empty"
}

test_asking_nobody_ends_with_a_message () {
    expect_status 3 "$zpeerctl" peers --timeout 1 \
        --endpoint "ipc://$work/nobody" &&
        expect_text "$work/err" "is zpeerd running?"
}

test_peers_come_and_go () {
    start_zpeerd --peer http://127.0.0.1:1/a/ && ctl peers &&
        expect_peers http://127.0.0.1:1/a/ &&
        ctl add-peer http://127.0.0.1:1/b &&
        expect_text "$work/out" "http://127.0.0.1:1/b/ is a peer now" &&
        expect_peers http://127.0.0.1:1/a/ http://127.0.0.1:1/b/ &&
        ctl remove-peer http://127.0.0.1:1/a/ &&
        expect_text "$work/out" "http://127.0.0.1:1/a/ is no peer any more" &&
        expect_peers http://127.0.0.1:1/b/ && end_zpeerd TERM 0
}

test_what_is_wrong_is_said_and_changes_nothing () {
    start_zpeerd --peer http://127.0.0.1:1/a/ \
        --set eureka.server.my-url=http://me:8761/eureka/ || return 1
    ctl_refused "is a peer already" add-peer http://127.0.0.1:1/a &&
        ctl_refused "is this node's own URL" add-peer \
            http://me:8761/eureka/ &&
        ctl_refused "must begin with http" add-peer ftp://u:secret@host/ &&
        ! grep -q secret "$work/err" &&
        ctl_refused "there is no peer http://b/" remove-peer http://b/ &&
        ctl_refused "there is no peer http://b/" resync http://b/ &&
        ctl_refused "there is no peer http://b/" verify http://b/ &&
        ctl_refused "there is no peer http://b/" retry-now http://b/ &&
        ctl_refused 'URL "all"' remove-peer all &&
        expect_peers http://127.0.0.1:1/a/
}

test_a_password_is_seen_nowhere () {
    start_zpeerd --log-level debug || return 1
    echo http://user:secret@127.0.0.1:1/eureka/ |
        "$zpeerctl" add-peer --endpoint "$control" - >"$work/added" || return 1
    expect_text "$work/added" "http://127.0.0.1:1/eureka/ is a peer now" &&
        expect_peers http://127.0.0.1:1/eureka/ &&
        ctl_refused "already" add-peer http://u:secret@127.0.0.1:1/eureka/ &&
        end_zpeerd TERM 0 &&
        ! grep -l secret "$work"/log "$work"/out "$work"/err "$work"/added
}

test_a_peer_added_later_gets_everything_without_an_event () {
    start_peer && start_zpeerd --peer "$peer_url" && feed_registry &&
        expect_whole && start_peer || return 1
    script "{\"apply\":{\"replicationList\":[$(cancelled)]}}" &&
        ctl add-peer "$peer_url" && expect_whole && end_zpeerd TERM 0
}

test_a_peer_that_is_removed_is_told_nothing_more () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    echo "$info" >"$work/one"
    echo "${info//i1/i2}" >"$work/two"
    feed "$work/one" && wait_all 1 && ctl remove-peer "$peer_url" || return 1
    local removed_url=$peer_url
    start_peer && ctl add-peer "$peer_url" && wait_all 1 &&
        feed "$work/two" && wait_all 2 || return 1
    peer_url=$removed_url wait_all 1
}

#  The peer asks for half a minute, longer than any wait here
test_retry_now_ends_a_long_pause () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    echo "$info" >"$work/one"
    script '{"rules":[{"status":503,"count":1,
        "headers":"Retry-After: 30\r\n"}]}' && feed "$work/one" &&
        wait_text "$work/log" ZPR030 && ctl retry-now all &&
        expect_text "$work/out" \
            "$peer_url: its pause is over, if there was one" && wait_all 1
}

test_without_a_control_socket_it_runs () {
    start_zpeerd --control none && [ ! -e "$work/control" ] &&
        expect_status 3 "$zpeerctl" peers --timeout 1 --endpoint "$control" &&
        end_zpeerd TERM 0
}

test_a_control_socket_in_use_is_left_alone () {
    start_zpeerd || return 1
    expect_status 69 "$zpeerd" --events "ipc://$work/e" \
        --outcomes "ipc://$work/o" --control "$control" &&
        expect_text "$work/err" "$control: Address already in use" &&
        ctl peers && end_zpeerd TERM 0
}

test_what_a_killed_one_left_does_not_matter () {
    start_zpeerd || return 1
    kill -KILL "$zpeerd_pid"
    expect_end 137 && [ -S "$work/control" ] && start_zpeerd && ctl peers &&
        end_zpeerd TERM 0 && [ ! -e "$work/control" ]
}

test_a_file_at_the_endpoint_is_left_alone () {
    echo precious >"$work/file"
    expect_status 69 "$zpeerd" --events "ipc://$work/e" \
        --outcomes "ipc://$work/o" --control "ipc://$work/file" &&
        expect_text "$work/err" "$work/file: File exists" &&
        expect_text "$work/file" precious
}

#  garbage PATH: connections that say something else, or nothing, and stay
garbage () {
    exec python3 -c 'import os, socket, sys
held = []
for said in b"", b"\xff", os.urandom(64), b"GET / HTTP/1.1\r\n\r\n" * 99, \
        bytes(100000):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    try:
        client.sendall(said)
    except OSError:
        pass
    held.append(client)
print("sent", flush=True)
sys.stdin.read()' "$1"
}

test_garbage_disturbs_nobody () {
    start_zpeerd --peer http://127.0.0.1:1/a/ || return 1
    mkfifo "$work/hold"
    garbage "$work/control" <"$work/hold" >"$work/said" &
    pids="$pids $!"
    exec 9>"$work/hold"
    wait_text "$work/said" sent && expect_peers http://127.0.0.1:1/a/ &&
        end_zpeerd TERM 0 && exec 9>&-
}

#  flood PATH: a ZMTP client that asks as fast as it can, for what takes a while,
#  and never reads
flood () {
    exec timeout "$limit" python3 -c 'import socket, sys
ready = b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48))
client.sendall(bytes((4, len(ready))) + ready)
while True:
    client.sendall(b"\x01\x09retry-now\x00\x03all" * 1000)
    print("sent", flush=True)' "$1" 2>/dev/null
}

test_a_flood_of_requests_does_not_delay_the_end () {
    start_zpeerd --peer http://127.0.0.1:1/a/ --peer http://127.0.0.1:1/b/ ||
        return 1
    for number in 1 2; do
        flood "$work/control" >"$work/said$number" &
        pids="$pids $!"
        wait_text "$work/said$number" sent || return 1
    done
    ctl peers || return 1
    local begun=$SECONDS
    end_zpeerd TERM 0 || return 1
    [ $((SECONDS - begun)) -le 5 ] || fail "it took $((SECONDS - begun)) s"
}

run_cases
