#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "banned.h"

static zpeer_options_t *s_options;

static void
s_setup (void)
{
    s_options = zpeer_options_new ();
}

static void
s_teardown (void)
{
    zpeer_options_destroy (&s_options);
    cr_assert_null (s_options);
}

TestSuite (option_urls, .init = s_setup, .fini = s_teardown);

static void
s_set (const char *key, const char *value)
{
    int rc = zpeer_options_set (s_options, key, value);
    cr_assert_eq (rc, ZPEER_OK, "%s", zpeer_options_error (s_options));
}

static void
s_expect_value (const zpeer_options_t *options, const char *key,
                const char *expected)
{
    char *value = zpeer_options_get (options, key);
    cr_assert_str_eq (value, expected);
    free (value);
}

static void
s_expect_range_error (const char *key, const char *value, const char *text)
{
    cr_assert_eq (zpeer_options_set (s_options, key, value), ZPEER_E_RANGE,
                  "%s=%s", key, value);
    cr_assert_str_eq (zpeer_options_error (s_options), text);
}

Test (option_urls, the_peers_of_several_zones_gather)
{
    s_set ("eureka.client.service-url.defaultZone",
           "http://a:1/eureka/, http://b:1/eureka/");
    s_set ("eureka.client.serviceUrl.other", "http://c:1/eureka/,");
    s_set ("apiml.discovery.allPeersUrls", "http://d:1/eureka/");
    char *peers = zpeer_options_peers (s_options);
    cr_assert_str_eq (peers, "http://a:1/eureka/,http://b:1/eureka/,"
                             "http://c:1/eureka/,http://d:1/eureka/");
    free (peers);
    s_expect_value (s_options, "EUREKA_CLIENT_SERVICEURL_OTHER",
                    "http://c:1/eureka/,");
    cr_assert_null (
        zpeer_options_get (s_options, "eureka.client.service-url.third"));
}

Test (option_urls, peers_are_added_behind_those_there_are)
{
    s_set ("eureka.client.service-url.peer-1", "http://a:1/");
    cr_assert_eq (
        zpeer_options_add_peer (s_options, " http://me:a,b@c:1/eureka "),
        ZPEER_OK);
    cr_assert_eq (zpeer_options_add_peer (s_options, "http://d:1/"), ZPEER_OK);
    cr_assert_eq (zpeer_options_add_peer (s_options, "http://me:secret@"),
                  ZPEER_E_INVALID);
    cr_assert (strstr (zpeer_options_error (s_options), "host is missing"),
               "%s", zpeer_options_error (s_options));
    cr_assert_null (strstr (zpeer_options_error (s_options), "secret"));
    char *peers = zpeer_options_peers (s_options);
    cr_assert_str_eq (peers,
                      "http://a:1/,http://me:a%2Cb@c:1/eureka,http://d:1/");
    free (peers);
}

#define ZONE   "eureka.client.service-url.defaultZone"
#define NO_URL "it must begin with http:// or https://"

Test (option_urls, a_url_that_is_none_is_an_error_wherever_it_is_listed)
{
    s_set (ZONE, "http://a:1/");
    s_expect_range_error (ZONE, "http://b:1/, b:1",
                          ZONE ": URL \"b:1\": " NO_URL);
    s_expect_range_error (
        "EUREKA_CLIENT_SERVICEURL_DEFAULTZONE", "b",
        "eureka.client.service-url.DEFAULTZONE: URL \"b\": " NO_URL);
    s_expect_range_error (
        "apiml.discovery.allPeersUrls", "ftp://u:secret@b/",
        "apiml.discovery.allPeersUrls: URL \"***@b/\": " NO_URL);
    s_expect_range_error ("eureka.server.my-url", "me",
                          "eureka.server.my-url: URL \"me\": " NO_URL);
    char *peers = zpeer_options_peers (s_options);
    cr_assert_str_eq (peers, "http://a:1/");
    free (peers);
}

Test (option_urls, of_a_password_with_a_comma_nothing_is_shown)
{
    s_expect_range_error (ZONE, "http://a/,http://me:sec,ret@b/",
                          ZONE ": a comma within a URL is written %2C");
}

Test (option_urls, a_zone_set_again_is_replaced)
{
    s_set ("eureka.client.service-url.defaultZone", "http://a:1/");
    s_set ("EUREKA_CLIENT_SERVICEURL_DEFAULTZONE", "http://b:1/");
    char *peers = zpeer_options_peers (s_options);
    cr_assert_str_eq (peers, "http://b:1/");
    free (peers);
}
