//  Each row of EUREKA.md 3.1, and the rules of 3.4
#include "scripted_case.h"
#include "banned.h"

TestSuite (scripted_registry, .init = s_setup, .fini = s_teardown,
           .timeout = 60);

//  ---- Register

Test (scripted_registry, register_stores_and_is_200)
{
    cr_assert_eq (s_item (REGISTER_AT ("5")), 200);
    cr_assert_eq (s_lease ().dirty, 5);
    cr_assert_str_eq (s_lease ().status, "UP");
    cr_assert_eq (s_lease ().duration_ms, 90000);
}

Test (scripted_registry,
      register_that_is_older_is_200_and_changes_only_the_lease)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (REGISTER ("'status':'DOWN','lastDirtyTimestamp':'4',"
                                    "'leaseInfo':{'durationInSecs':7}")),
                  200);
    cr_assert_eq (s_lease ().dirty, 5);
    cr_assert_str_eq (s_lease ().status, "UP");
    cr_assert_eq (s_lease ().duration_ms, 7000);
}

Test (scripted_registry, register_with_an_equal_timestamp_wins)
{
    s_item (REGISTER_AT ("5"));
    s_item (REGISTER ("'status':'DOWN','lastDirtyTimestamp':'5'"));
    cr_assert_str_eq (s_lease ().status, "DOWN");
}

Test (scripted_registry, register_that_is_not_valid_is_200_and_not_stored)
{
    cr_assert_eq (s_item (ITEM ("Register", "'instanceInfo':{'app':'A'},")),
                  200);
    cr_assert_not (speer_lease (s_peer, "A", "a1", NULL));
}

Test (scripted_registry, register_without_info_is_500)
{
    cr_assert_eq (s_item (ITEM ("Register", "")), 500);
}

Test (scripted_registry, register_is_keyed_by_the_id_inside)
{
    s_item (
        "{'appName':'A','id':'other','action':'Register','instanceInfo':" INFO (
            "'sid':'na'") "}");
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    cr_assert_not (speer_lease (s_peer, "A", "other", NULL));
}

Test (scripted_registry, register_keeps_a_held_override)
{
    s_item (REGISTER_AT ("5"));
    s_item (STATUS ("OUT_OF_SERVICE", "5"));
    s_item (REGISTER ("'overriddenStatus':'DOWN','lastDirtyTimestamp':'6'"));
    cr_assert_str_eq (s_lease ().status, "OUT_OF_SERVICE");
    cr_assert_str_eq (s_lease ().overridden, "OUT_OF_SERVICE");
    cr_assert_str_eq (s_lease ().held, "OUT_OF_SERVICE");
}

Test (scripted_registry, register_brings_an_override_where_none_is_held)
{
    s_item (REGISTER ("'overriddenStatus':'OUT_OF_SERVICE'"));
    cr_assert_str_eq (s_lease ().held, "OUT_OF_SERVICE");
    cr_assert_str_eq (s_lease ().status, "OUT_OF_SERVICE");
}

Test (scripted_registry, status_down_or_starting_stands_above_an_override)
{
    s_item (REGISTER ("'status':'STARTING','overriddenStatus':'UP'"));
    cr_assert_str_eq (s_lease ().status, "STARTING");
    cr_assert_str_eq (s_lease ().held, "UP");
}

//  ---- Heartbeat

Test (scripted_registry, heartbeat_without_lease_is_404)
{
    cr_assert_eq (s_item (HEARTBEAT ("5")), 404);
}

Test (scripted_registry,
      heartbeat_of_an_unknown_status_is_404_and_does_not_renew)
{
    s_item (REGISTER_AT ("5"));
    s_item (STATUS ("DOWN", "5"));
    s_item (DELETE (""));
    int64_t renewed = s_lease ().renewed;
    speer_advance (s_peer, 1000);
    cr_assert_eq (s_item (HEARTBEAT ("6")), 404);
    cr_assert_eq (s_lease ().renewed, renewed);
}

Test (scripted_registry, heartbeat_without_timestamp_is_200_and_renews)
{
    s_item (REGISTER_AT ("5"));
    speer_advance (s_peer, 1000);
    cr_assert_eq (s_item (ITEM ("Heartbeat", "")), 200);
    cr_assert_geq (s_lease ().renewed,
                   s_lease ().registered + 1000 + s_lease ().duration_ms);
}

Test (scripted_registry, heartbeat_without_sync_is_200_whatever_its_timestamp)
{
    speer_set (s_peer, SPEER_SET_SYNC, 0);
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (HEARTBEAT ("4")), 200);
    cr_assert_eq (s_item (HEARTBEAT ("6")), 200);
}

Test (scripted_registry, heartbeat_with_the_same_timestamp_is_200)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (HEARTBEAT ("5")), 200);
    cr_assert_not (strstr (s_response.body, "responseEntity"));
}

Test (scripted_registry,
      heartbeat_that_is_newer_is_404_renews_and_brings_its_override)
{
    s_item (REGISTER_AT ("5"));
    int64_t renewed = s_lease ().renewed;
    cr_assert_eq (s_item (ITEM ("Heartbeat", "'lastDirtyTimestamp':6,"
                                             "'overriddenStatus':'DOWN',")),
                  404);
    cr_assert_gt (s_lease ().renewed, renewed);
    cr_assert_str_eq (s_lease ().held, "DOWN");
    cr_assert_str_eq (s_lease ().overridden, "DOWN");
    cr_assert_str_eq (s_lease ().status, "UP");
    //  The rules are asked again by the next one
    s_item (HEARTBEAT ("5"));
    cr_assert_str_eq (s_lease ().status, "DOWN");
}

Test (scripted_registry, heartbeat_that_is_newer_does_not_bring_unknown)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (ITEM ("Heartbeat", "'lastDirtyTimestamp':6,"
                                             "'overriddenStatus':'UNKNOWN',")),
                  404);
    cr_assert_str_eq (s_lease ().held, "");
}

Test (scripted_registry,
      heartbeat_that_is_older_is_409_with_the_copy_and_renews)
{
    s_item (REGISTER_AT ("5"));
    int64_t renewed = s_lease ().renewed;
    cr_assert_eq (s_item (ITEM ("Heartbeat", "'lastDirtyTimestamp':4,"
                                             "'overriddenStatus':'DOWN',")),
                  409);
    cr_assert (
        strstr (s_response.body, "\"responseEntity\":{\"instanceId\":\"a1\""));
    cr_assert (strstr (s_response.body, "\"lastDirtyTimestamp\":\"5\""));
    cr_assert_gt (s_lease ().renewed, renewed);
    cr_assert_str_eq (s_lease ().held, "");
}

Test (scripted_registry, heartbeat_409_comes_without_copy_from_an_old_peer)
{
    speer_set (s_peer, SPEER_SET_ENTITY, 0);
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (HEARTBEAT ("4")), 409);
    cr_assert_not (strstr (s_response.body, "responseEntity"));
}

Test (scripted_registry, heartbeat_that_is_newer_with_a_wrong_override_is_500)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (ITEM ("Heartbeat", "'lastDirtyTimestamp':6,"
                                             "'overriddenStatus':'up',")),
                  500);
}

//  ---- Cancel

Test (scripted_registry,
      cancel_removes_lease_and_override_whatever_the_timestamp)
{
    s_item (REGISTER_AT ("5"));
    s_item (STATUS ("DOWN", "5"));
    cr_assert_eq (s_item (ITEM ("Cancel", "'lastDirtyTimestamp':1,")), 200);
    cr_assert_not (speer_lease (s_peer, "A", "a1", NULL));
    s_item (REGISTER_AT ("5"));
    cr_assert_str_eq (s_lease ().held, "");
}

Test (scripted_registry,
      cancel_without_lease_is_404_and_removes_the_override_of_the_id)
{
    s_item (REGISTER ("'overriddenStatus':'DOWN'"));
    //  Overrides are held by id, whatever the application
    cr_assert_eq (s_item ("{'appName':'B','id':'a1','action':'Cancel'}"), 404);
    cr_assert_str_eq (s_lease ().held, "");
}

//  ---- StatusUpdate

Test (scripted_registry, status_update_without_lease_is_404)
{
    cr_assert_eq (s_item (STATUS ("DOWN", "5")), 404);
    cr_assert_eq (s_item (STATUS ("down", "5")), 404);
}

Test (scripted_registry, status_update_without_a_name_is_500)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (ITEM ("StatusUpdate", "")), 500);
    cr_assert_eq (s_item (STATUS ("down", "5")), 500);
}

Test (scripted_registry, status_update_overrides_and_raises_the_timestamp)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (STATUS ("OUT_OF_SERVICE", "7")), 200);
    cr_assert_str_eq (s_lease ().status, "OUT_OF_SERVICE");
    cr_assert_str_eq (s_lease ().overridden, "OUT_OF_SERVICE");
    cr_assert_str_eq (s_lease ().held, "OUT_OF_SERVICE");
    cr_assert_eq (s_lease ().dirty, 7);
    s_item (STATUS ("DOWN", "3"));
    cr_assert_eq (s_lease ().dirty, 7);
    char *text = speer_instance (s_peer, "A", "a1");
    cr_assert (strstr (text, "\"actionType\":\"MODIFIED\""));
    free (text);
}

Test (scripted_registry, status_update_to_the_same_status_only_renews)
{
    s_item (REGISTER_AT ("5"));
    int64_t renewed = s_lease ().renewed;
    cr_assert_eq (s_item (STATUS ("UP", "7")), 200);
    cr_assert_eq (s_lease ().dirty, 5);
    cr_assert_str_eq (s_lease ().held, "");
    cr_assert_gt (s_lease ().renewed, renewed);
}

//  ---- DeleteStatusOverride

Test (scripted_registry, delete_override_without_timestamp_is_500)
{
    cr_assert_eq (s_item (ITEM ("DeleteStatusOverride", "")), 500);
}

Test (scripted_registry, delete_override_without_lease_is_404)
{
    cr_assert_eq (s_item (DELETE ("")), 404);
}

Test (scripted_registry, delete_override_with_a_wrong_status_is_500)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (DELETE ("'status':'up',")), 500);
}

Test (scripted_registry, delete_override_falls_back_to_the_status_it_brings)
{
    s_item (REGISTER_AT ("5"));
    s_item (STATUS ("OUT_OF_SERVICE", "5"));
    cr_assert_eq (s_item (DELETE ("'status':'UP',")), 200);
    cr_assert_str_eq (s_lease ().status, "UP");
    cr_assert_str_eq (s_lease ().overridden, "UNKNOWN");
    cr_assert_str_eq (s_lease ().held, "");
    cr_assert_eq (s_lease ().dirty, 6);
}

Test (scripted_registry, delete_override_without_status_leaves_unknown)
{
    s_item (REGISTER_AT ("5"));
    s_item (STATUS ("OUT_OF_SERVICE", "5"));
    cr_assert_eq (s_item (DELETE ("")), 200);
    cr_assert_str_eq (s_lease ().status, "UNKNOWN");
}

Test (scripted_registry, delete_override_where_none_is_held_only_renews)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (DELETE ("'status':'DOWN',")), 200);
    cr_assert_str_eq (s_lease ().status, "UP");
    cr_assert_eq (s_lease ().dirty, 5);
}

//  ---- Any

Test (scripted_registry, an_item_without_action_or_app_is_500)
{
    cr_assert_eq (s_item ("{'appName':'A','id':'a1'}"), 500);
    cr_assert_eq (s_item ("{'id':'a1','action':'Cancel'}"), 500);
}

Test (scripted_registry, the_app_is_taken_in_upper_case)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item ("{'appName':'a','id':'a1','action':'Cancel'}"), 200);
}

Test (scripted_registry,
      leases_expire_only_when_told_and_after_twice_the_duration)
{
    s_item (REGISTER_AT ("5"));
    s_item (HEARTBEAT ("5"));
    speer_advance (s_peer, 1000000);
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    s_item (HEARTBEAT ("5"));
    speer_set (s_peer, SPEER_SET_EXPIRE, 1);
    speer_advance (s_peer, 175000);
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    speer_advance (s_peer, 10000);
    cr_assert_not (speer_lease (s_peer, "A", "a1", NULL));
    cr_assert_eq (s_item (STATUS ("DOWN", "5")), 404);
}

Test (scripted_registry, an_override_is_forgotten_after_an_hour_without_access)
{
    s_item (REGISTER_AT ("5"));
    s_item (STATUS ("OUT_OF_SERVICE", "5"));
    speer_advance (s_peer, 3599000);
    s_item (HEARTBEAT ("5"));
    cr_assert_str_eq (s_lease ().status, "OUT_OF_SERVICE");
    speer_advance (s_peer, 3601000);
    s_item (REGISTER_AT ("6"));
    cr_assert_str_eq (s_lease ().status, "UP");
}
