//  The lane that the URL of an event's origin stands for

#include <criterion/criterion.h>
#include "origins.h"
#include "banned.h"

static zpeer_origins_t s_origins;

static void
s_teardown (void)
{
    zpeer_origins_free (&s_origins);
}

TestSuite (origins, .fini = s_teardown);

static void
s_set (unsigned lane, const char *url)
{
    char error[ZPEER_URL_ERROR_MAX];
    cr_assert_eq (zpeer_origins_set (&s_origins, lane, url, error), ZPEER_OK);
}

static void
s_expect (const char *url, unsigned found)
{
    //  Also when it was looked for before
    for (int i = 0; i < 2; i++)
        cr_assert_eq (zpeer_origins_find (&s_origins, zpeer_slice_str (url)),
                      found, "%s", url);
}

Test (origins, a_lane_is_found_by_any_spelling_of_its_peer)
{
    s_set (0, "http://a:8761/eureka/");
    s_set (63, "http://b/eureka/");
    s_expect ("http://a:8761/eureka/", 1);
    s_expect ("http://A:8761/eureka", 1);
    s_expect ("http://user:secret@b:80/eureka/", 64);
    s_expect ("https://b/eureka/", 0);
    s_expect ("http://b/", 0);
    s_expect ("nonsense", 0);
}

Test (origins, what_was_found_before_is_not_found_when_its_lane_is_gone)
{
    s_expect ("http://a/", 0);
    s_set (3, "http://a/");
    s_expect ("http://a/", 4);
    zpeer_origins_remove (&s_origins, 3);
    s_expect ("http://a/", 0);
    s_set (3, "http://b/");
    s_set (3, "http://c/");
    s_expect ("http://b/", 0);
    s_expect ("http://c/", 4);
}

Test (origins, a_url_that_is_none_changes_nothing)
{
    char error[ZPEER_URL_ERROR_MAX] = "";
    s_set (3, "http://a/");
    cr_assert_eq (zpeer_origins_set (&s_origins, 3, "nonsense", error),
                  ZPEER_E_PARSE);
    cr_assert (strstr (error, "nonsense"));
    s_expect ("http://a/", 4);
}
