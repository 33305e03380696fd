#!/usr/bin/env bash
#  Standard input, output and error that are closed, or a terminal that nobody
#  reads.
#
#  test_files.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

#  expect_null NUMBER: of zpeerd's open files this one is none that it uses
expect_null () {
    local file
    file=$(readlink "/proc/$zpeerd_pid/fd/$1")
    [ "$file" = /dev/null ] || fail "descriptor $1 is $file"
}

#  start_closed REDIRECTION: zpeerd, started so, takes commands
start_closed () {
    events=ipc://$work/events outcomes=ipc://$work/outcomes
    control=ipc://$work/control
    bash -c "exec \"\$@\" $1" - "$zpeerd" --events "$events" \
        --outcomes "$outcomes" --control "$control" &
    zpeerd_pid=$!
    pids="$pids $zpeerd_pid"
    wait_commands
}

#  wait_commands: until commands are answered
wait_commands () {
    local tries=0
    until ctl peers >"$work/peers" 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 20 ] || fail "no command is answered" || return 1
    done
}

test_no_file_that_zpeerd_opens_is_taken_for_standard_error () {
    start_closed '<&- >&- 2>&-' && expect_null 0 && expect_null 1 &&
        expect_null 2 && end_zpeerd TERM 0
}

test_zpeerctl_says_that_there_is_no_input () {
    start_zpeerd || return 1
    timeout "$limit" "$zpeerctl" feed --endpoint "$events" - \
        >"$work/out" 2>"$work/err" <&-
    [ $? -eq 2 ] || fail "not an error" || return 1
    expect_text "$work/err" "Bad file descriptor"
}

test_zpeerctl_says_that_there_is_no_output () {
    timeout "$limit" "$zpeerctl" --help >&- 2>"$work/err"
    [ $? -eq 2 ] || fail "not an error" || return 1
    expect_text "$work/err" "standard output"
}

#  hold: a terminal that nobody reads
hold () {
    exec python3 -c 'import os, pty, sys
reader, writer = pty.openpty()
print("/proc/%d/fd/%d" % (os.getpid(), writer), flush=True)
sys.stdin.read()'
}

test_a_terminal_that_nobody_reads_stops_nothing () {
    local file i
    : >"$work/file"
    sleep infinity | hold >"$work/file" &
    pids="$pids $! $(pgrep -P $$ -x sleep)"
    wait_text "$work/file" /proc || return 1
    file=$(cat "$work/file")
    start_closed "2>$file" || return 1
    #  Two lines each time, in all more than a terminal holds
    for i in $(seq 120); do
        ctl add-peer "http://127.0.0.1:1/eureka$i/" &&
            ctl remove-peer "http://127.0.0.1:1/eureka$i/" || return 1
    done
    timeout "$limit" tail --pid="$zpeerd_pid" -f /dev/null &
    end_zpeerd TERM 0 && wait $!
}

run_cases
