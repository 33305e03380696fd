#!/usr/bin/env bash
#  What zpeerctl says when it reaches nobody, or somebody else.
#
#  test_reach.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

#  reach STATUS TEXT ENDPOINT [PREFIX…]: each kind of command ends with STATUS
#  there, and says TEXT of the endpoint
reach () {
    local status=$1 text=$2 endpoint=$3
    shift 3
    echo '{"action":"Cancel","app":"a","id":"i"}' >"$work/event"
    chmod a+r "$work/event"
    says "$text" "$status" "$@" "$zpeerctl" peers --timeout 1 \
        --endpoint "$endpoint" && expect_text "$work/err" "$endpoint" &&
        says "$text" "$status" "$@" "$zpeerctl" feed --timeout 1 \
            --endpoint "$endpoint" "$work/event" &&
        says "$text" "$status" "$@" "$zpeerctl" watch --timeout 1 \
            --endpoint "$endpoint" &&
        says "$text" "$status" "$@" "$zpeerctl" verify --timeout 1 --wait 1 \
            --outcomes "$endpoint" --endpoint "$endpoint" all
}

#  says TEXT STATUS COMMAND…: on standard error
says () {
    local text=$1
    shift
    expect_status "$@" && expect_text "$work/err" "$text"
}

#  listen TYPE PATH: a socket that takes connections and says nothing
listen () {
    exec python3 -c 'import socket, sys, time
listener = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[1]))
listener.bind(sys.argv[2])
if sys.argv[1] == "SOCK_STREAM":
    listener.listen(100)
print("bound", flush=True)
sys.stdin.read()' "$1" "$2"
}

#  start_listener TYPE PATH: in the background
start_listener () {
    sleep infinity | listen "$1" "$2" >"$work/bound" &
    pids="$pids $! $(pgrep -P $$ -x sleep)"
    wait_text "$work/bound" bound
}

#  $stranger COMMAND…: as a user who owns nothing here. Commands are in a place
#  that everybody may use.
stranger="setpriv --reuid 65534 --regid 65534 --clear-groups"

#  may_be_stranger: root is asked for nothing, and only root can be another user
may_be_stranger () {
    [ "$(id -u)" -eq 0 ] || { echo "    not run: needs root"; return 1; }
    chmod a+rx "$top" "$work"
    [ "$zpeerctl" = "$top/zpeerctl" ] || cp "$zpeerctl" "$top/zpeerctl"
    zpeerctl=$top/zpeerctl
}

test_no_socket_is_there () {
    reach 3 "no socket is there; is zpeerd running?" \
        "ipc://$work/none" && reach 3 "no socket is there" \
        "ipc://$work/no/none"
}

test_nobody_listens_any_more () {
    start_zpeerd || return 1
    kill -KILL "$zpeerd_pid"
    expect_end 137 && [ -S "$work/control" ] &&
        reach 3 "nobody listens there any more" "$control"
}

test_what_lies_there_is_no_socket () {
    : >"$work/file"
    local begun=$SECONDS
    reach 3 "$work/file: it is no socket" "ipc://$work/file" &&
        reach 3 "$work: it is no socket" "ipc://$work" &&
        [ $((SECONDS - begun)) -le 3 ] || fail "took $((SECONDS - begun)) s"
}

test_what_lies_there_is_another_kind_of_socket () {
    start_listener SOCK_DGRAM "$work/gram" &&
        reach 3 "$work/gram: it is a socket of another kind" "ipc://$work/gram"
}

test_who_listens_there_is_not_zpeerd () {
    start_listener SOCK_STREAM "$work/mute" &&
        reach 3 "somebody listens there; zpeerd is busy, or that is not" "ipc://$work/mute"
}

test_who_must_not_use_the_socket_is_told () {
    may_be_stranger || return 0
    start_zpeerd || return 1
    chmod 0660 "$work/events" "$work/outcomes" "$work/control"
    local begun=$SECONDS
    #  shellcheck disable=SC2086  # A command and its options
    reach 3 "$control: permission denied" "$control" $stranger &&
        [ $((SECONDS - begun)) -le 3 ] || fail "took $((SECONDS - begun)) s"
}

test_who_must_not_look_into_the_directory_is_told () {
    may_be_stranger || return 0
    mkdir -m 0750 "$work/run"
    start_listener SOCK_STREAM "$work/run/socket" || return 1
    chmod a+w "$work/run/socket"
    #  shellcheck disable=SC2086
    reach 3 "/socket: permission denied" "ipc://$work/run/socket" $stranger
}

test_another_of_zpeerds_endpoints_is_told () {
    start_zpeerd &&
        says "$events: somebody listens there, and does not answer as" 3 \
            "$zpeerctl" peers --timeout 1 --endpoint "$events" &&
        says "$outcomes for 1 s: somebody listens there; " 3 \
            "$zpeerctl" peers --timeout 1 --endpoint "$outcomes" &&
        echo '{"action":"Cancel","app":"a","id":"i"}' >"$work/event" &&
        says "$control: somebody listens there, and does not answer as" 3 \
            "$zpeerctl" feed --timeout 1 --endpoint "$control" "$work/event" &&
        says "$outcomes for 1 s: somebody listens there; " 3 \
            "$zpeerctl" feed --timeout 1 --endpoint "$outcomes" "$work/event"
}

#  quit_at PATH: a ROUTER that hangs up when a request has come, and ends
quit_at () {
    exec python3 -c 'import socket, sys
def read(size):
    got = b""
    while len(got) < size:
        got += client.recv(size - len(got))
    return got
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(1)
client, _ = listener.accept()
client.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48))
ready = b"\x05READY\x0bSocket-Type\x00\x00\x00\x06ROUTER"
client.sendall(bytes((4, len(ready))) + ready)
read(64)
flags = 4
while flags & 4:  # A command, such as READY
    flags, size = read(2)
    read(size)' "$1"
}

test_a_zpeerd_that_goes_while_it_is_fed_is_told () {
    quit_at "$work/events" 2>"$work/quit" &
    pids="$pids $!"
    echo '{"action":"Cancel","app":"a","id":"i"}' >"$work/event"
    says "the connection to ipc://$work/events broke" 3 "$zpeerctl" feed \
        --endpoint "ipc://$work/events" "$work/event" && expect_text "$work/out" \
        "1 events sent, 0 accepted, 0 rejected, 1 without a reply"
}

#  Nothing is printed, and nothing is said to be
test_output_that_cannot_be_written_is_an_error () {
    start_zpeerd --peer http://127.0.0.1:1/ || return 1
    fills () {
        "$@" >/dev/full 2>"$work/err"
        echo $?
    }
    [ "$(fills "$zpeerctl" peers --endpoint "$control")" = 2 ] &&
        expect_text "$work/err" "standard output: No space left" &&
        [ "$(fills "$zpeerctl" --help)" = 2 ] &&
        [ "$(fills timeout "$limit" "$zpeerctl" watch --endpoint "$outcomes")" \
            = 2 ] && expect_text "$work/err" "standard output: No space left" &&
        [ "$(fills "$zpeerd" --print-config)" = 74 ] &&
        expect_text "$work/err" "standard output: No space left" &&
        [ "$(fills "$zpeerd" --help)" = 74 ]
}

run_cases
