#!/usr/bin/env bash
#  Peers of a running zpeerd are resynced and verified, and what is said of it.
#
#  test_walk.sh ZPEERD ZPEERCTL SCRIPTED_PEER
#  shellcheck source=service.sh
. "$(dirname "$0")/service.sh"

test_verify_fills_a_peer_that_came_back_empty () {
    start_peer && start_zpeerd --peer "$peer_url" && feed_registry &&
        expect_whole && script '{"reset":true}' && wait_all 0 &&
        ctl verify "$peer_url" --wait "$patience" --outcomes "$outcomes" &&
        expect_text "$work/out" "$peer_url: verify ended: " &&
        expect_text "$work/out" " 0 refused, in " && expect_whole &&
        wait_text "$work/log" "verify of peer $peer_url ended"
}

#  Verify does not see it: the timestamp is the same
test_resync_repairs_an_override_that_alone_differs () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    echo "$info" >"$work/one"
    feed "$work/one" && wait_all 1 &&
        script '{"apply":{"replicationList":[{"appName":"SHOP","id":"i1",
            "lastDirtyTimestamp":77,"status":"DOWN","action":"StatusUpdate"}]}}' &&
        expect_status_of_i1 DOWN &&
        ctl verify all --wait "$patience" --outcomes "$outcomes" &&
        expect_status_of_i1 DOWN &&
        ctl resync all --wait "$patience" --outcomes "$outcomes" &&
        expect_text "$work/out" "$peer_url: resync ended: 1 instances" &&
        expect_status_of_i1 UP
}

expect_status_of_i1 () {
    python3 -c 'import json, sys, urllib.request
ask = urllib.request.Request(sys.argv[1] + "apps/SHOP/i1",
                             headers={"Accept": "application/json"})
held = json.load(urllib.request.urlopen(ask))["instance"]["status"]
sys.exit(held != sys.argv[2])' "$peer_url" "$1" || fail "the status is not $1"
}

#  Somebody else registered the instance there later
test_what_a_peer_refuses_is_told () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    echo "$info" >"$work/one"
    feed "$work/one" && wait_all 1 &&
        script "{\"apply\":{\"replicationList\":[{\"appName\":\"SHOP\",
            \"id\":\"i1\",\"lastDirtyTimestamp\":99,\"action\":\"Register\",
            \"instanceInfo\":${info//77/99}}]}}" &&
        expect_status 1 "$zpeerctl" resync all --endpoint "$control" \
            --wait "$patience" --outcomes "$outcomes" &&
        expect_text "$work/out" "1 instances, 0 repaired, 1 refused, in "
}

test_all_is_every_peer_one_after_the_other () {
    start_peer && local first=$peer_url && start_peer &&
        start_zpeerd --peer "$first" --peer "$peer_url" && feed_registry &&
        ctl resync all --wait "$patience" --outcomes "$outcomes" &&
        expect_text "$work/out" "$first: resync ended: " &&
        expect_text "$work/out" "$peer_url: resync ended: " && expect_whole
}

test_how_to_see_the_progress_is_said () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    "$zpeerctl" watch --endpoint "$outcomes" --topics resync,stats > >(
        grep --line-buffered -oE '"topic":"[a-z]*"|"state":"[a-z]*"' \
            >"$work/watched") &
    pids="$pids $!"
    wait_text "$work/watched" stats && ctl resync all &&
        expect_text "$work/out" "$peer_url: a resync is queued, peers take turns" &&
        expect_text "$work/out" "zpeerctl watch --topics resync" &&
        wait_text "$work/watched" '"topic":"resync"' &&
        wait_text "$work/watched" '"state":"ended"'
}

test_waiting_for_a_peer_that_is_down_ends () {
    start_zpeerd --peer http://127.0.0.1:1/eureka/ || return 1
    echo "$info" >"$work/one"
    feed "$work/one" &&
        expect_status 3 "$zpeerctl" verify --endpoint "$control" --wait 1 \
            --outcomes "$outcomes" all &&
        expect_text "$work/err" "not ended within 1 s at 1 of 1 peers"
}

#  Another zpeerd's outcomes say nothing of these peers
test_waiting_at_the_wrong_outcomes_is_said () {
    local others=ipc://$work/others
    "$zpeerd" --control none --events "ipc://$work/e" --outcomes "$others" \
        --peer http://127.0.0.1:1/other/ 2>"$work/other" &
    pids="$pids $!"
    wait_text "$work/other" ZPD001 && start_peer &&
        start_zpeerd --peer "$peer_url" || return 1
    echo "$info" >"$work/one"
    feed "$work/one" && wait_all 1 &&
        expect_status 3 "$zpeerctl" verify --endpoint "$control" --wait 1 \
            --outcomes "ipc://$work/none" all &&
        expect_text "$work/err" "nothing comes from ipc://$work/none yet" &&
        expect_text "$work/err" "whether it has ended is not known" &&
        expect_status 3 "$zpeerctl" verify --endpoint "$control" --wait 1 \
            --outcomes "$others" all &&
        expect_text "$work/err" "$others says nothing of these peers" &&
        expect_text "$work/err" "whether it has ended is not known"
}

test_a_walk_that_leaves_unknown_instances_out_says_so () {
    start_peer && start_zpeerd --peer "$peer_url" || return 1
    local name number
    for number in 1 2 3; do
        echo '{"action":"Heartbeat","app":"SHOP","id":"'"$number"'",' \
            '"lastDirtyTimestamp":7}'
    done >"$work/beats"
    feed "$work/beats" && wait_text "$work/log" "ZPR023 a Register of SHOP/" ||
        return 1
    for name in verify resync; do
        expect_status 4 "$zpeerctl" "$name" --endpoint "$control" \
            --wait "$patience" --outcomes "$outcomes" all &&
            expect_text "$work/out" "$name ended: 0 instances" &&
            expect_text "$work/err" "3 instances are known from heartbeats" &&
            expect_text "$work/err" "then $name again" || return 1
    done
    echo "${info//i1/1}" >"$work/one"
    feed "$work/one" && wait_all 1 &&
        expect_status 4 "$zpeerctl" verify --endpoint "$control" \
            --wait "$patience" --outcomes "$outcomes" all &&
        expect_text "$work/out" "verify ended: 1 instances" &&
        expect_text "$work/err" "2 instances are known from heartbeats" &&
        expect_status 0 "$zpeerctl" verify --help &&
        expect_text "$work/out" "  4  nothing was verified"
}

test_a_walk_about_nothing_says_so () {
    start_peer && start_zpeerd --peer "$peer_url" &&
        expect_status 4 "$zpeerctl" verify --endpoint "$control" \
            --wait "$patience" --outcomes "$outcomes" all &&
        expect_text "$work/err" "it was about nothing"
}

#  The one that is down holds up the other
test_waiting_for_a_walk_that_has_not_begun_is_said () {
    start_peer && start_zpeerd --peer http://127.0.0.1:1/ --peer "$peer_url" ||
        return 1
    echo "$info" >"$work/one"
    feed "$work/one" && wait_all 1 &&
        expect_status 3 "$zpeerctl" verify --endpoint "$control" --wait 1 \
            --outcomes "$outcomes" all && expect_text "$work/err" \
        "not ended within 1 s at 2 of 2 peers, not begun at 1; it goes on"
}

test_waiting_for_a_peer_that_is_removed_ends () {
    local url=http://127.0.0.1:1/eureka/
    start_zpeerd --peer "$url" || return 1
    echo "$info" >"$work/one"
    feed "$work/one" || return 1
    "$zpeerctl" verify --endpoint "$control" --wait "$limit" \
        --outcomes "$outcomes" all >"$work/said" 2>&1 &
    local waiting=$!
    pids="$pids $waiting"
    wait_text "$work/log" "verify of peer $url begins" &&
        ctl remove-peer "$url" || return 1
    wait "$waiting"
    [ $? -eq 1 ] || fail "it did not notice" || return 1
    expect_text "$work/said" "$url: it was removed"
}

run_cases
