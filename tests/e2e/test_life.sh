#!/usr/bin/env bash
#  How zpeerd starts and ends, as a service manager and a system see it.
#
#  test_life.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

test_a_missing_ipc_directory_is_created () {
    "$zpeerd" --control none --events "ipc://$work/new/events" \
        --outcomes "ipc://$work/new/outcomes" 2>"$work/log" &
    zpeerd_pid=$!
    pids="$pids $zpeerd_pid"
    wait_text "$work/log" ZPD001 && end_zpeerd TERM 0
}

test_an_ipc_directory_that_cannot_be_is_explained () {
    touch "$work/file"
    expect_status 69 "$zpeerd" --control none --events "ipc://$work/file/events" &&
        expect_text "$work/err" "cannot create directory $work/file" &&
        expect_text "$work/err" RuntimeDirectory
}

test_a_second_one_at_the_same_endpoint_ends () {
    start_zpeerd &&
        expect_status 69 "$zpeerd" --control none --events "$events" \
            --outcomes "ipc://$work/other" &&
        expect_text "$work/err" "$events: Address already in use" || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" && end_zpeerd TERM 0
}

test_what_a_killed_one_left_does_not_matter () {
    start_zpeerd || return 1
    kill -KILL "$zpeerd_pid"
    expect_end 137 && start_zpeerd && end_zpeerd TERM 0
}

test_a_file_at_an_endpoint_is_left_alone () {
    echo precious >"$work/file"
    expect_status 69 "$zpeerd" --control none --events "ipc://$work/file" \
        --outcomes "ipc://$work/o" &&
        expect_text "$work/err" "$work/file: File exists" &&
        expect_text "$work/file" precious
}

test_what_waits_is_delivered_before_it_ends () {
    start_peer && start_zpeerd --peer "$peer_url" \
        --set zpeer.batch.linger-ms=1000 || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" && end_zpeerd TERM 0 &&
        expect_text "$work/log" ZPD003 &&
        curl_instance SHOP i1
}

curl_instance () {
    python3 -c "import sys, urllib.request
urllib.request.urlopen(sys.argv[1]).read()" "${peer_url}apps/$1/$2" ||
        fail "the peer does not hold $1/$2"
}

#  A peer that nothing answers for: the port is bound and nobody listens
test_with_nobody_to_tell_nothing_is_said_to_be_delivered () {
    start_zpeerd || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" && end_zpeerd TERM 0 &&
        expect_text "$work/log" "ZPD003 stopped, nothing was left to tell"
}

test_a_second_signal_ends_it_at_once () {
    start_zpeerd --peer http://127.0.0.1:1/eureka/ \
        --set zpeer.stop.deadline-ms=600000 || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" || return 1
    kill -TERM "$zpeerd_pid"
    wait_text "$work/log" ZPD002 || return 1
    kill -TERM "$zpeerd_pid"
    expect_end 143
}

#  Other daemons read their configuration anew, or open their logs
test_a_signal_to_reload_is_ignored_and_logged () {
    start_peer && start_zpeerd --peer "$peer_url" \
        --set zpeer.batch.linger-ms=1000 || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" || return 1
    local signal
    for signal in HUP USR1 USR2; do
        kill "-$signal" "$zpeerd_pid"
        wait_text "$work/log" "ZPD010 SIG$signal is ignored" || return 1
    done
    end_zpeerd TERM 0 && expect_text "$work/log" ZPD003 &&
        curl_instance SHOP i1 && expect_status 0 "$zpeerd" --messages &&
        expect_text "$work/out" ZPD010
}

test_while_it_drains_a_signal_to_reload_does_not_end_it () {
    start_zpeerd --peer http://127.0.0.1:1/eureka/ \
        --set zpeer.stop.deadline-ms=1000 || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" || return 1
    kill -TERM "$zpeerd_pid"
    wait_text "$work/log" ZPD002 || return 1
    kill -HUP "$zpeerd_pid"
    expect_end 0 && expect_text "$work/log" ZPD004
}

test_undelivered_tasks_are_counted_at_the_end () {
    start_zpeerd --peer http://127.0.0.1:1/eureka/ \
        --set zpeer.stop.deadline-ms=100 || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" && end_zpeerd TERM 0 &&
        expect_text "$work/log" "ZPD004 stopped, 1 tasks or owed instances not told"
}

#  Longer than the deadline and all that is added to it
test_they_are_counted_though_the_machine_stood_still () {
    start_zpeerd --peer http://127.0.0.1:1/eureka/ \
        --set zpeer.stop.deadline-ms=500 || return 1
    echo "$info" >"$work/events.jsonl"
    feed "$work/events.jsonl" && kill -TERM "$zpeerd_pid" &&
        wait_text "$work/log" ZPD002 && kill -STOP "$zpeerd_pid" || return 1
    timeout 2 tail -f /dev/null
    kill -CONT "$zpeerd_pid" && expect_end 0 &&
        expect_text "$work/log" "ZPD004 stopped, 1 tasks or owed instances not told"
}

#  Prints the first datagram that comes to a socket of this name
listen_once () {
    timeout "$limit" python3 -c 'import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
    listener.bind(sys.argv[1])
    print("listening", flush=True)
    print(listener.recv(100).decode())' "$1"
}

test_it_tells_systemd_when_it_is_ready () {
    listen_once "$work/notify" >"$work/heard" &
    pids="$pids $!"
    wait_text "$work/heard" listening || return 1
    NOTIFY_SOCKET=$work/notify start_zpeerd &&
        wait_text "$work/heard" READY=1
}

test_it_takes_all_descriptors_it_may_have () {
    local before
    before=$(ulimit -Sn)
    ulimit -Sn 100
    start_zpeerd || return 1
    ulimit -Sn "$before"
    read -r soft hard <<<"$(sed -n 's/^Max open files *\([^ ]* *[^ ]*\).*/\1/p' \
        "/proc/$zpeerd_pid/limits")"
    [ "$soft" = "$hard" ] || fail "$soft of $hard"
}

test_nothing_is_left_of_its_sockets () {
    start_zpeerd && end_zpeerd TERM 0 || return 1
    [ -z "$(find "$work" -type s)" ] || fail "$(find "$work" -type s)"
}

run_cases
