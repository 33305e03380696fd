#include <criterion/criterion.h>
#include <jansson.h>
#include <zpeer/event.h>
#include "banned.h"

#define APP "CATALOG"
#define ID  "shop02.example.net:catalog:9001"
#define AT  UINT64_C (1718271499871)

static zpeer_event_t *
s_register (void)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    cr_assert_not (zpeer_event_set_app (event, APP));
    cr_assert_not (zpeer_event_set_id (event, ID));
    cr_assert_not (zpeer_event_set_timestamp (event, AT));
    cr_assert_not (zpeer_event_put_str (event, "hostName", "shop02"));
    cr_assert_not (zpeer_event_put_str (event, "ipAddr", "192.0.2.52"));
    return event;
}

static void
s_assert_accepted (const zpeer_event_t *event)
{
    char reason[256] = "";
    int rc = zpeer_event_check (event, reason, sizeof reason);
    cr_assert_eq (rc, ZPEER_OK, "%s", reason);
}

Test (event, a_register_of_name_host_address_and_time_is_enough)
{
    zpeer_event_t *event = s_register ();
    s_assert_accepted (event);
    zpeer_event_destroy (&event);
    cr_assert_null (event);
    zpeer_event_destroy (&event);
}
