#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zpeer/event.h>
#include "banned.h"

#define HEAD                                                                   \
    "{\"instanceId\":\"h:1\",\"app\":\"SHOP\",\"hostName\":\"h\","             \
    "\"ipAddr\":\"1.2.3.4\",\"lastDirtyTimestamp\":\"1718272205117\","         \
    "\"status\":\"DOWN\",\"overriddenStatus\":\"UP\",\"dataCenterInfo\":{"     \
    "\"name\":\"MyOwn\",\"@class\":\"com.netflix.appinfo.MyDataCenterInfo\"}"

static int
s_set (zpeer_event_t *event, const char *json, char error[256])
{
    return zpeer_event_set_info_json (event, json, strlen (json), error, 256);
}

Test (event_json, eurekas_own_json_is_a_register_of_itself)
{
    static const char *const texts[] = {
        HEAD ",\"metadata\":{\"a\":1,\"b\":[]}}",
        HEAD ",\"metadata\":{\"a\":1}}",
        "{\"instance\":" HEAD ",\"metadata\":{\"a\":1}}}",
    };
    for (size_t i = 0; i < 3; i++) {
        char error[256];
        zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
        cr_assert_eq (s_set (event, texts[i], error), ZPEER_OK);
        cr_assert_str_eq (zpeer_event_app (event), "SHOP");
        cr_assert_str_eq (zpeer_event_id (event), "h:1");
        cr_assert_eq (zpeer_event_timestamp (event), UINT64_C (1718272205117));
        cr_assert_eq (zpeer_event_status (event), ZPEER_DOWN);
        cr_assert_eq (zpeer_event_overridden_status (event), ZPEER_UP);
        cr_assert_eq (zpeer_event_check (event, error, sizeof error),
                      i ? ZPEER_OK : ZPEER_E_REJECTED);
        if (i == 0)
            cr_assert_str_eq (
                error, "info.metadata.b is nested; metadata must be flat");
        zpeer_event_destroy (&event);
    }
}

Test (event_json, names_that_were_set_stay)
{
    char error[256];
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_id (event, "mine");
    cr_assert_eq (s_set (event, HEAD "}", error), ZPEER_OK);
    cr_assert_str_eq (zpeer_event_id (event), "mine");
    cr_assert_eq (zpeer_event_check (event, error, sizeof error),
                  ZPEER_E_REJECTED);
    cr_assert_str_eq (error, "info.instanceId is \"h:1\", but id is \"mine\"");
    zpeer_event_destroy (&event);
}

Test (event_json, what_is_no_object_leaves_the_event_as_it_was)
{
    static const char *const texts[] = {"",
                                        "[]",
                                        "7",
                                        "\"instance\"",
                                        "{\"a\":1,\"a\":2}",
                                        "{\"a\":",
                                        "{} x",
                                        "{\"a\":\"\xff\"}",
                                        "{\"a\":99999999999999999999}"};
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_put_str (event, "hostName", "h");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char error[256] = "";
        cr_expect_eq (s_set (event, texts[i], error), ZPEER_E_PARSE, "%s",
                      texts[i]);
        cr_expect_str_not_empty (error);
        cr_expect_eq (zpeer_event_set_info_json (event, texts[i],
                                                 strlen (texts[i]), NULL, 0),
                      ZPEER_E_PARSE);
    }
    char *json = zpeer_event_info_json (event);
    cr_assert (strstr (json, "\"hostName\":\"h\""));
    free (json);
    zpeer_event_destroy (&event);
}

Test (event_json, members_can_be_put_on_top)
{
    char error[256];
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    cr_assert_eq (s_set (event, HEAD "}", error), ZPEER_OK);
    zpeer_event_set_status (event, ZPEER_STARTING);
    zpeer_event_put_metadata (event, "k", "v");
    zpeer_event_put_amazon (event, "instance-id", "i-1");
    cr_assert_eq (zpeer_event_check (event, error, sizeof error), ZPEER_OK,
                  "%s", error);
    cr_assert_eq (zpeer_event_status (event), ZPEER_STARTING);
    zpeer_event_destroy (&event);
}
