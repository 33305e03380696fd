#!/usr/bin/env bash
#  What zpeerctl feed makes of documents: they are all that a registry has, and they
#  are old.
#
#  test_documents.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

#  document ID STATUS OVERRIDE TIMESTAMP: what GET apps answers
document () {
    printf '{"applications":{"application":[{"name":"SHOP","instance":[%s]}]}}' \
        "$(echo "$info" | sed "s/\"status\":\"UP\"/\"status\":\"$2\",\
\"overriddenStatus\":\"$3\"/; s/\"77\"/\"$4\"/; s/\"i1\"/\"$1\"/")"
}

#  feed_line JSON: an event
feed_line () {
    echo "$1" >"$work/line"
    feed "$work/line" || { cat "$work/err"; fail "feed: $1"; }
}

#  feed_document OPTION… : what is in $work/apps
feed_document () {
    feed "$@" "$work/apps" || { cat "$work/err"; fail "feed: $*"; } || return 1
    expect_text "$work/out" "1 events sent, 1 accepted, 0 rejected"
}

#  expect_peer ID STATUS OVERRIDE TIMESTAMP: all that the peer holds is this
expect_peer () {
    document "$@" >"$work/source.json"
    python3 "$deploy/compare_registries.py" "$work/source.json" \
        "peer=$peer_url" --wait "$limit"
}

#  held: how many instances the peer holds
held () {
    python3 -c "import sys, urllib.request
print (urllib.request.urlopen (sys.argv[1] + 'apps').read ().decode ().count (
    '\"instanceId\"'))" "$peer_url"
}

#  expect_told…: the same, and zpeerd would say nothing else
expect_told () {
    expect_status 0 "$zpeerctl" resync --endpoint "$control" \
        --outcomes "$outcomes" --wait "$limit" all && expect_peer "$@"
}

set_out='{"action":"StatusUpdate","app":"SHOP","id":"i1",
"lastDirtyTimestamp":78,"status":"OUT_OF_SERVICE"}'
set_out=$(echo "$set_out" | tr -d '\n')
cancel='{"action":"Cancel","app":"SHOP","id":"i1","lastDirtyTimestamp":80}'
register="{\"instance\":$info}"

#  The peer holds an override that was set before zpeerd was started again
start_with_override () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    feed_line "$register" && feed_line "$set_out" &&
        expect_peer i1 OUT_OF_SERVICE OUT_OF_SERVICE 78 &&
        end_zpeerd TERM 0 && start_zpeerd --peer "$peer_url"
}

#  A client's Register must not do it: by the receiving rules it removes none
test_an_override_that_was_removed_meanwhile_outlives_a_register () {
    start_with_override || return 1
    feed_line "${register/77/79}" &&
        expect_peer i1 OUT_OF_SERVICE OUT_OF_SERVICE 79
}

test_only_a_snapshot_removes_an_override_that_zpeerd_knows () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    local out="${register/'"UP"'/'"UP","overriddenStatus":"OUT_OF_SERVICE"'}"
    feed_line "$out" && feed_line "$register" &&
        expect_status 0 "$zpeerctl" verify --endpoint "$control" \
            --outcomes "$outcomes" --wait "$limit" all &&
        expect_told i1 OUT_OF_SERVICE OUT_OF_SERVICE 77 || return 1
    feed_line '{"action":"Register","snapshot":true,"info":'"$info"'}' &&
        expect_peer i1 UP UNKNOWN 77
}

test_an_override_that_was_removed_meanwhile_goes_with_a_snapshot () {
    start_with_override || return 1
    document i1 UP UNKNOWN 79 >"$work/apps"
    feed_document && expect_peer i1 UP UNKNOWN 79
}

#  The engine has a Register of the same already, and the document is older
test_it_goes_though_the_engine_knows_nothing_else () {
    start_with_override || return 1
    document i1 UP UNKNOWN 79 >"$work/apps"
    feed_line "${register/77/79}" && feed_document &&
        expect_peer i1 UP UNKNOWN 79
}

test_a_snapshot_brings_back_a_lower_timestamp () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    document i1 UP UNKNOWN 80 >"$work/apps"
    feed_document && expect_peer i1 UP UNKNOWN 80 || return 1
    document i1 DOWN UNKNOWN 70 >"$work/apps"
    feed_document --age 0 || return 1
    echo '{"action":"Register","snapshot":true,"info":'"$info"'}' \
        >"$work/line"
    feed "$work/line" && expect_peer i1 UP UNKNOWN 77
}

test_a_document_does_not_bring_back_what_was_cancelled_since () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    document i1 UP UNKNOWN 79 >"$work/apps"
    feed_document && feed_line "$cancel" && feed_document &&
        feed_line "${register//i1/i2}" && expect_told i2 UP UNKNOWN 77
}

#  As soon as a document can know of the change, it counts
test_a_document_of_later_does () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    document i1 UP UNKNOWN 79 >"$work/apps"
    feed_line "$cancel" || return 1
    local until=$((SECONDS + limit))
    while [ "$SECONDS" -lt "$until" ]; do
        touch "$work/apps"
        feed_document --age 0 || return 1
        expect_status 0 "$zpeerctl" resync --endpoint "$control" \
            --outcomes "$outcomes" --wait "$limit" all || return 1
        [ "$(held)" -eq 1 ] && return 0
    done
    fail "the document did not count within $limit s"
}

test_the_age_of_a_file_counts () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    document i1 UP UNKNOWN 79 >"$work/apps"
    touch -d '-1 hour' "$work/apps"
    feed_line "${register//i1/i2}" || return 1
    document i2 DOWN UNKNOWN 79 >"$work/apps"
    touch -d '-1 hour' "$work/apps"
    feed_document --age 0 && expect_told i2 UP UNKNOWN 77
}

run_cases
