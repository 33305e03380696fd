//  The calls for one instance, ASG status and the registry (EUREKA.md 1.2, 1.3)
#include "scripted_case.h"
#include "banned.h"

TestSuite (scripted_calls, .init = s_setup, .fini = s_teardown, .timeout = 60);

#define INSTANCE "/eureka/v2/apps/a/a1"

Test (scripted_calls, a_call_of_its_own_registers_with_204_or_says_why_not)
{
    const char *path = "/eureka/apps/a";
    cr_assert_eq (
        s_call ("POST", path, MARKED, "{'instance':" INFO ("'sid':'na'") "}"),
        204);
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    cr_assert_eq (s_call ("POST", path, MARKED, INFO ("'sid':'na'")), 400);
    cr_assert_eq (s_call ("POST", path, MARKED,
                          "{'instance':" INFO ("'hostName':''") "}"),
                  400);
    cr_assert_eq (s_call ("POST", path, "Content-Type: text/plain\r\n", "{}"),
                  415);
}

Test (scripted_calls, a_call_of_its_own_renews)
{
    cr_assert_eq (s_call ("PUT", INSTANCE, MARKED, NULL), 404);
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (
        s_call ("PUT", INSTANCE "?lastDirtyTimestamp=5", MARKED, NULL), 200);
    cr_assert_eq (
        s_call ("PUT", INSTANCE "?lastDirtyTimestamp=4", MARKED, NULL), 409);
    cr_assert (
        strstr (s_response.body, "{\"instance\":{\"instanceId\":\"a1\""));
    cr_assert_eq (
        s_call ("PUT", INSTANCE "?lastDirtyTimestamp=6&overriddenstatus=DOWN",
                MARKED, "{}"),
        404);
    cr_assert_str_eq (s_lease ().held, "DOWN");
}

Test (scripted_calls, a_call_of_its_own_changes_the_status_and_back)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_call ("PUT",
                          INSTANCE "/status?value=DOWN&lastDirtyTimestamp=6",
                          MARKED, NULL),
                  200);
    cr_assert_str_eq (s_lease ().status, "DOWN");
    cr_assert_eq (s_lease ().dirty, 6);
    cr_assert_eq (s_call ("DELETE", INSTANCE "/status?value=UP", MARKED, NULL),
                  200);
    cr_assert_str_eq (s_lease ().status, "UP");
    cr_assert_eq (s_call ("PUT", INSTANCE "/status", MARKED, NULL), 500);
}

Test (scripted_calls, a_call_of_its_own_cancels)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_call ("DELETE", INSTANCE, MARKED, NULL), 200);
    cr_assert_eq (s_call ("DELETE", INSTANCE, MARKED, NULL), 404);
    cr_assert_eq (speer_get (s_peer, SPEER_UNMARKED), 0);
}

Test (scripted_calls, a_call_without_the_mark_is_a_clients_and_counted)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_call ("PUT", INSTANCE "?lastDirtyTimestamp=4", NULL, NULL),
                  200);
    cr_assert_eq (speer_get (s_peer, SPEER_UNMARKED), 1);
    s_call ("PUT", INSTANCE, "x-netflix-discovery-replication: TRUE\r\n", NULL);
    cr_assert_eq (speer_get (s_peer, SPEER_UNMARKED), 2);
    //  Status rule 4: what the lease has stands
    s_item (STATUS ("OUT_OF_SERVICE", "5"));
    speer_advance (s_peer, 3700000);
    s_call ("POST", "/eureka/apps/A", NULL,
            "{'instance':" INFO ("'lastDirtyTimestamp':6") "}");
    cr_assert_str_eq (s_lease ().status, "OUT_OF_SERVICE");
}

Test (scripted_calls, ids_and_names_come_percent_encoded)
{
    speer_apply (
        s_peer, "{\"replicationList\":[{\"appName\":\"A B\",\"action\":1,"
                "\"instanceInfo\":{\"instanceId\":\"h:a+1\",\"hostName\":\"h\","
                "\"app\":\"A B\",\"ipAddr\":\"i\",\"dataCenterInfo\":{\"@class"
                "\":\"com.netflix.appinfo.MyDataCenterInfo\",\"name\":\"MyOwn"
                "\"}}}]}");
    cr_assert_eq (s_call ("GET", "/v2/apps/a%20b/h%3Aa+1", NULL, NULL), 200);
}

Test (scripted_calls, asg_status_is_kept_by_name)
{
    cr_assert_null (speer_asg (s_peer, "g-v1"));
    cr_assert_eq (
        s_call ("PUT", "/eureka/v2/asg/g-v1/status?value=DISABLED", MARKED, ""),
        200);
    cr_assert_str_eq (speer_asg (s_peer, "g-v1"), "DISABLED");
    cr_assert_eq (s_call ("PUT", "/eureka/asg/g-v1/status", MARKED, NULL), 500);
}

Test (scripted_calls, the_registry_is_read_below_each_base)
{
    s_post (REGISTER_AT ("5"));
    cr_assert_eq (s_call ("GET", "/eureka/apps/", NULL, NULL), 200);
    cr_assert (strstr (s_response.body, "\"versions__delta\":\"1\""));
    cr_assert_eq (s_call ("GET", "/v2/apps/a", NULL, NULL), 200);
    cr_assert (strstr (s_response.body, "{\"application\":{\"name\":\"A\","
                                        "\"instance\":[{\"instanceId\""));
    cr_assert_eq (s_call ("GET", INSTANCE, NULL, NULL), 200);
    cr_assert_eq (s_call ("GET", "/eureka/apps/B", NULL, NULL), 404);
    cr_assert_eq (s_call ("GET", "/eureka/apps/A/a2", NULL, NULL), 404);
    cr_assert_eq (s_call ("GET", "/eureka/elsewhere", NULL, NULL), 404);
}
