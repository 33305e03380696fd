/*  test_url.c - base URLs of peers, as operators write them
*/
#include <criterion/criterion.h>
#include <stdio.h>
#include <zpeer/base.h>
#include "url.h"
#include "banned.h"

static zpeer_url_t s_url;
static char s_error[ZPEER_URL_ERROR_MAX];

static void
s_parse (const char *text)
{
    zpeer_url_free (&s_url);
    int rc = zpeer_url_parse (&s_url, text, s_error);
    cr_assert_eq (rc, ZPEER_OK, "%s", s_error);
}

static void
s_base_is (const char *text, const char *base)
{
    s_parse (text);
    cr_assert_str_eq (s_url.base, base);
}

static void
s_refused (const char *text, const char *reason)
{
    zpeer_url_free (&s_url);
    cr_assert_eq (zpeer_url_parse (&s_url, text, s_error), ZPEER_E_PARSE,
                  "taken: %s", text);
    cr_assert (strstr (s_error, reason), "\"%s\" lacks \"%s\"", s_error,
               reason);
    cr_assert_null (s_url.base);
    cr_assert_null (s_url.host);
    cr_assert_null (s_url.user);
    cr_assert_null (s_url.password);
}

static void
s_teardown (void)
{
    zpeer_url_free (&s_url);
}

TestSuite (url, .fini = s_teardown);

Test (url, a_base_ends_with_one_slash)
{
    s_base_is ("http://h:8761/eureka", "http://h:8761/eureka/");
    s_base_is ("http://h:8761/eureka/", "http://h:8761/eureka/");
    s_base_is ("http://h:8761/eureka//", "http://h:8761/eureka/");
    s_base_is ("http://h:8080/eureka/v2/", "http://h:8080/eureka/v2/");
    s_base_is ("http://h:8080", "http://h:8080/");
    s_base_is ("https://h/ctx/eureka", "https://h/ctx/eureka/");
}

Test (url, two_spellings_of_a_peer_have_the_same_base)
{
    s_base_is ("HTTP://Peer1.Example:80/eureka",
               "http://peer1.example/eureka/");
    s_base_is ("http://peer1.example:/eureka", "http://peer1.example/eureka/");
    s_base_is ("https://a:b@peer1:443/Eureka", "https://peer1/Eureka/");
    s_base_is ("http://peer1:443/", "http://peer1:443/");
    s_base_is ("http://[0:0::0001]:8761/", "http://[::1]:8761/");
}

Test (url, blanks_around_it_do_not_matter)
{
    s_base_is (" \thttp://h/eureka/ \r\n", "http://h/eureka/");
}

Test (url, the_scheme_says_whether_it_is_tls)
{
    s_parse ("http://h/");
    cr_assert_not (s_url.https);
    s_parse ("hTTps://h/");
    cr_assert (s_url.https);
}

Test (url, hosts_may_be_addresses_or_have_underscores)
{
    s_parse ("http://eureka_peer-1.local:8761/eureka/");
    cr_assert_str_eq (s_url.host, "eureka_peer-1.local");
    s_parse ("http://192.0.2.7:8761/");
    cr_assert_str_eq (s_url.host, "192.0.2.7");
    s_parse ("http://u:p@[2001:DB8::1]:8761/");
    cr_assert_str_eq (s_url.host, "2001:db8::1");
    cr_assert_str_eq (s_url.base, "http://[2001:db8::1]:8761/");
}

static void
s_credentials_are (const char *text, const char *user, const char *password)
{
    s_parse (text);
    cr_assert_not_null (s_url.user);
    cr_assert_str_eq (s_url.user, user);
    cr_assert_str_eq (s_url.password, password);
    cr_assert_str_eq (s_url.base, "http://h/");
}

Test (url, credentials_are_split_at_the_first_colon)
{
    s_credentials_are ("http://eureka:password@h/", "eureka", "password");
    s_credentials_are ("http://eureka:pa:ss@h/", "eureka", "pa:ss");
    s_credentials_are ("http://eureka:p@ss@h/", "eureka", "p@ss");
    s_credentials_are ("http://eureka@h/", "eureka", "");
    s_credentials_are ("http://:secret@h/", "", "secret");
}

Test (url, credentials_are_decoded_once)
{
    s_credentials_are ("http://u:%0A%7e@h/", "u", "\n~");
    s_credentials_are ("http://us%40er:a%3Ab%2Fc%25%32%30+@h/", "us@er",
                       "a:b/c%20+");
}

Test (url, no_user_info_is_no_credentials)
{
    s_parse ("http://h/");
    cr_assert_null (s_url.user);
    s_parse ("http://@h/");
    cr_assert_null (s_url.user);
}

Test (url, separate_credentials_win)
{
    s_parse ("http://a:b@h/");
    cr_assert_eq (zpeer_url_auth (&s_url, "user", "p:w%41"), ZPEER_OK);
    cr_assert_str_eq (s_url.user, "user");
    cr_assert_str_eq (s_url.password, "p:w%41");
    cr_assert_eq (zpeer_url_auth (&s_url, "us:er", "x"), ZPEER_E_INVALID);
    cr_assert_str_eq (s_url.user, "user");
}

Test (url, what_is_no_base_url_is_refused_with_the_reason)
{
    s_refused ("", "must begin with http:// or https://");
    s_refused ("host:8761/eureka", "must begin with http");
    s_refused ("ftp://h/", "must begin with http");
    s_refused ("http:/h/", "must begin with http");
    s_refused ("http://", "the host is missing");
    s_refused ("https://", "the host is missing");
    s_refused ("http:///eureka", "the host is missing");
    s_refused ("http://u:p@/eureka", "the host is missing");
    s_refused ("http://:8761/", "the host is missing");
    s_refused ("http://h/e?x=1", "neither query nor fragment");
    s_refused ("http://h/e?password=geheim", "\"http://h/e?***\"");
    s_refused ("http://h?x", "neither query nor fragment");
    s_refused ("http://h/#top", "neither query nor fragment");
    s_refused ("http://a b/", "must be percent-encoded");
    s_refused ("http://h/\xc3\xa9", "must be percent-encoded");
    s_refused ("http://h/\x01", "must be percent-encoded");
    s_refused ("http://h/\x7f", "must be percent-encoded");
    s_refused ("http://a,b/", "the host name has a character");
    s_refused ("http://a%41/", "the host name has a character");
    s_refused ("http://[::1/", "IPv6");
    s_refused ("http://[::g]/", "IPv6");
    s_refused ("http://[]/", "IPv6");
    s_refused ("http://[::1]8761/", "only a port may follow");
}

Test (url, an_error_shows_what_was_given)
{
    s_refused ("http://a b:8761/", "\"http://a b:8761/\"");
    s_refused ("http://h/\xc3\xa9\n", "\"http://h/\\xc3\\xa9\"");
    s_refused ("http://h/a\nb", "\"http://h/a\\x0ab\"");
    s_refused ("http://u:geheim@a b/?geheim", "\"***@a b/?***\"");
    char text[400];
    memset (text, 1, sizeof text);
    text[sizeof text - 1] = 0;
    s_refused (text, "must be percent-encoded");
}

Test (url, a_wrong_port_is_refused)
{
    s_refused ("http://h:0/", "the port is not");
    s_refused ("http://h:65536/", "the port is not");
    s_refused ("http://h:99999999999999999999/", "the port is not");
    s_refused ("http://h:8o/", "the port is not");
    s_refused ("http://h:-1/", "the port is not");
    s_refused ("http://[::1]:x/", "the port is not");
    s_base_is ("http://h:65535/", "http://h:65535/");
    s_base_is ("http://h:0099/", "http://h:99/");
}

Test (url, wrong_escapes_in_credentials_are_refused)
{
    s_refused ("http://u:%4@h/", "not percent-encoded");
    s_refused ("http://u:%zz@h/", "not percent-encoded");
    s_refused ("http://u%:p@h/", "not percent-encoded");
    s_refused ("http://u:%00@h/", "not percent-encoded");
    s_refused ("http://u%3Aser:p@h/", "must not contain");
}

Test (url, an_overlong_url_is_refused)
{
    char text[ZPEER_URL_MAX + 2] = "http://A/";
    memset (text + 9, 'z', ZPEER_URL_MAX - 9);
    s_parse (text);
    cr_assert_str_eq (s_url.host, "a");
    text[ZPEER_URL_MAX] = 'z';
    s_refused (text, "too long");
}

Test (url, no_error_shows_a_secret)
{
    static const char *const texts[] = {"http://user:sesame@h:x/",
                                        "ftp://user:sesame@h/",
                                        "http:/user:sesame@h/",
                                        "http://user:ses/sesame@h/",
                                        "http://user:sesame@h/?a=1",
                                        "http://user:sesame?x@h/",
                                        "user:sesame@h",
                                        "http://user:sesame%@h/",
                                        "http://user:sesame @h/"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        s_refused (texts[i], "***");
        cr_assert_null (strstr (s_error, "sesame"), "%s", s_error);
        cr_assert_null (strstr (s_error, "user:"), "%s", s_error);
    }
}
