#!/usr/bin/env bash
#  What zpeerd is told by its environment and command line, and what it says to that.
#
#  test_options.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

test_help_and_version_need_nothing () {
    expect_status 0 "$zpeerd" --help &&
        expect_text "$work/out" "--peer URL" &&
        expect_text "$work/out" "78  an option" &&
        expect_status 0 "$zpeerd" --version &&
        expect_status 0 "$zpeerd" --messages &&
        expect_text "$work/out" ZPD001 &&
        expect_status 0 "$zpeerctl" --help &&
        expect_text "$work/out" feed &&
        expect_status 0 "$zpeerctl" feed --help &&
        expect_status 0 "$zpeerctl" watch --help &&
        expect_status 0 "$zpeerctl" --version
}

#  Whoever set something wrong may need it
test_help_is_given_with_a_wrong_environment () {
    local mode
    export EUREKA_SERVER_PEERNODEREADTIMEOUTMS=soon
    for mode in help version messages; do
        expect_status 0 "$zpeerd" "--$mode" && [ -s "$work/out" ] &&
            [ ! -s "$work/err" ] || return 1
    done
    expect_status 78 "$zpeerd" --print-config && expect_text "$work/err" soon &&
        unset EUREKA_SERVER_PEERNODEREADTIMEOUTMS
}

test_wrong_command_lines_are_refused () {
    expect_status 64 "$zpeerd" --nonsense &&
        expect_status 64 "$zpeerd" --set novalue &&
        expect_status 64 "$zpeerd" http://localhost/ &&
        expect_status 64 "$zpeerd" --log-level loud &&
        expect_status 2 "$zpeerctl" &&
        expect_status 2 "$zpeerctl" nonsense &&
        expect_status 2 "$zpeerctl" feed &&
        expect_status 2 "$zpeerctl" feed --batch 0 - &&
        expect_text "$work/err" '--batch: "0" is not a number from 1 to 100' &&
        expect_status 2 "$zpeerctl" feed /nonexistent/file &&
        expect_status 2 "$zpeerctl" watch --count x &&
        expect_text "$work/err" '--count: "x"' &&
        expect_status 2 "$zpeerctl" watch --topics peer,dropedd &&
        expect_text "$work/err" '"dropedd" is none of conflict rejected'
}

test_a_wrong_option_is_named_with_its_range () {
    expect_status 78 "$zpeerd" \
        --set eureka.server.peer-node-read-timeout-ms=never &&
        expect_text "$work/err" eureka.server.peer-node-read-timeout-ms &&
        expect_text "$work/err" never &&
        expect_status 78 "$zpeerd" --set zpeer.no-such-thing=1 &&
        EUREKA_SERVER_PEERNODEREADTIMEOUTMS=soon expect_status 78 "$zpeerd" &&
        expect_text "$work/err" soon
}

test_the_command_line_overrides_the_environment () {
    APIML_DISCOVERY_MAXPEERRETRIES=3 \
        EUREKA_SERVER_PEERNODEREADTIMEOUTMS=111 \
        expect_status 0 "$zpeerd" --print-config \
        --set eureka.server.peer-node-read-timeout-ms=222 &&
        expect_text "$work/out" apiml.discovery.maxPeerRetries=3 &&
        expect_text "$work/out" eureka.server.peer-node-read-timeout-ms=222
}

test_a_misspelt_variable_is_named () {
    ZPEER_BACH_LINGERMS=5 start_zpeerd &&
        expect_text "$work/log" "ZPEER_BACH_LINGERMS has no effect"
}

test_the_printed_configuration_has_no_secrets () {
    expect_status 0 "$zpeerd" --print-config \
        --peer http://user:secret@host:8761/eureka/ --peer http://b/eureka/ &&
        expect_text "$work/out" host:8761 &&
        expect_text "$work/out" http://b/eureka/ &&
        ! grep -q secret "$work/out"
}

#  Everybody may read a command line
test_a_command_line_has_no_secrets () {
    start_zpeerd --peer http://u:secret@127.0.0.1:1/a/ \
        --set apiml.discovery.allPeersUrls=http://v:secret@127.0.0.1:1/b/ ||
        return 1
    tr '\0' ' ' <"/proc/$zpeerd_pid/cmdline" >"$work/line"
    expect_text "$work/line" '@127.0.0.1:1/a/' &&
        expect_text "$work/line" '@127.0.0.1:1/b/' &&
        ! grep -q secret "$work/line" &&
        ctl peers && expect_text "$work/out" http://127.0.0.1:1/b/
}

test_a_wrong_peer_url_ends_it () {
    expect_status 78 "$zpeerd" --events "ipc://$work/e" \
        --outcomes "ipc://$work/o" --peer http://good/ --peer nonsense &&
        expect_text "$work/err" 'URL "nonsense"' &&
        expect_status 78 "$zpeerd" --peer http://user:secret@ &&
        expect_text "$work/err" "host is missing" &&
        ! grep -q secret "$work/err"
}

#  ends_with_78 TEXT OPTION…: at endpoints of its own, and says TEXT
ends_with_78 () {
    local text=$1
    shift
    expect_status 78 "$zpeerd" --control none --events "ipc://$work/e" \
        --outcomes "ipc://$work/o" "$@" && expect_text "$work/err" "$text" &&
        ! grep -q secret "$work/err"
}

test_a_wrong_peer_url_ends_it_wherever_it_is_listed () {
    local zone=eureka.client.service-url.defaultZone
    ends_with_78 "$zone: URL \"b:8761\": it must begin with http" \
        --set "$zone=http://good/,b:8761" &&
        ends_with_78 "apiml.discovery.allPeersUrls: URL \"***@b/\"" \
            --set apiml.discovery.allPeersUrls=ftp://u:secret@b/ &&
        EUREKA_CLIENT_SERVICEURL_DEFAULTZONE=b:8761 ends_with_78 \
            "eureka.client.service-url.DEFAULTZONE: URL \"b:8761\"" &&
        APIML_DISCOVERY_ALLPEERSURLS=http://b:port/ ends_with_78 \
            "apiml.discovery.allPeersUrls: URL \"http://b:port/\""
}

test_an_endpoint_that_is_none_ends_it () {
    ends_with_78 '"tcp://127.0.0.1:99999" is no endpoint' \
        --outcomes tcp://127.0.0.1:99999 &&
        ends_with_78 '"tcp://127.0.0.1:" is no endpoint' \
            --events tcp://127.0.0.1: &&
        ends_with_78 "ipc://$work/e is for both events and control" \
            --control "ipc://$work/e" &&
        ends_with_78 "ipc://$work/e is for both events and outcomes" \
            --outcomes "ipc://$work/e"
}

#  By another name it is seen when the engine has bound its own
test_an_endpoint_is_bound_once () {
    mkdir "$work/dir"
    expect_status 69 "$zpeerd" --events "ipc://$work/e" \
        --outcomes "ipc://$work/o" --control "ipc://$work/dir/../e" &&
        expect_text "$work/err" "Address already in use"
}

#  Files are needed only by peers that speak TLS
test_a_tls_file_that_cannot_be_read_ends_it_wherever_a_peer_is_listed () {
    local file
    touch "$work/empty"
    for file in ca cert key; do
        ends_with_78 "https://b/: zpeer.tls.$file-file /nowhere: No such file" \
            --peer http://a/ --peer https://u:secret@b/ \
            --set "zpeer.tls.$file-file=/nowhere" || return 1
    done
    APIML_DISCOVERY_ALLPEERSURLS=https://b/ ZPEER_TLS_CAFILE=/nowhere \
        ends_with_78 "zpeer.tls.ca-file /nowhere: No such file" &&
        ends_with_78 "zpeer.tls.ca-file $work: it is no file" \
            --set eureka.client.service-url.z=https://b/ \
            --set "zpeer.tls.ca-file=$work" &&
        ends_with_78 "zpeer.tls.ca-file $work/empty: nothing in it is PEM" \
            --peer https://b/ --set "zpeer.tls.ca-file=$work/empty" &&
        start_zpeerd --peer http://a/ --set zpeer.tls.ca-file=/nowhere &&
        end_zpeerd TERM 0
}

#  It stays wrong however often it is tried
test_what_is_no_endpoint_is_a_wrong_option () {
    local wrong
    for wrong in nonsense foo://x tcp://127.0.0.1 ipc://; do
        ends_with_78 "\"$wrong\" is no endpoint" --events "$wrong" &&
            ends_with_78 "\"$wrong\" is no endpoint" --outcomes "$wrong" &&
            ends_with_78 "\"$wrong\" is no endpoint" --control "$wrong" ||
            return 1
    done
    start_zpeerd --set zpeer.events.endpoint=tcp://127.0.0.1:* &&
        end_zpeerd TERM 0
}

test_a_wrong_url_of_its_own_ends_it () {
    expect_status 78 "$zpeerd" --control none --events "ipc://$work/e" \
        --outcomes "ipc://$work/o" --set eureka.server.my-url=nonsense &&
        expect_text "$work/err" "eureka.server.my-url: URL \"nonsense\""
}

test_a_node_that_only_lists_itself_has_no_peers_and_says_so () {
    start_zpeerd --peer http://me:8761/eureka \
        --set eureka.server.my-url=http://me:8761/eureka/ &&
        expect_text "$work/log" "ZPD005 no peers"
}

test_a_peer_named_twice_or_ones_own_url_does_not_end_it () {
    start_peer &&
        start_zpeerd --peer "$peer_url" --peer "$peer_url" \
            --peer http://me:8761/eureka/ \
            --set eureka.server.my-url=http://me:8761/eureka/ &&
        end_zpeerd INT 0
}

run_cases
