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

TestSuite (options, .init = s_setup, .fini = s_teardown);

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

Test (options, the_default_read_timeout_is_30000)
{
    cr_assert_eq (s_options->peer_node_read_timeout_ms, 30000);
    s_expect_value (s_options, "eureka.server.peer-node-read-timeout-ms",
                    "30000");
}

Test (options, the_defaults_of_the_reference_hold)
{
    cr_assert_eq (s_options->peer_node_connect_timeout_ms, 1000);
    cr_assert_eq (s_options->max_threads_for_peer_replication, 6);
    cr_assert_eq (s_options->max_elements_in_peer_replication_pool, 10000);
    cr_assert_eq (s_options->max_time_for_replication_ms, 30000);
    cr_assert (s_options->sync_when_timestamp_differs);
    cr_assert_not (s_options->enable_replicated_request_compression);
    cr_assert_eq (s_options->max_peer_retries, 10);
    cr_assert_str_eq (s_options->my_url, "");
    cr_assert (s_options->batch_enabled);
    cr_assert_eq (s_options->batch_linger_ms, 10);
    cr_assert_eq (s_options->batch_max_items, 250);
    cr_assert_eq (s_options->service_url.count, 0);
}

Test (options, names_match_loosely)
{
    const char *const names[] = {
        "eureka.server.peer-node-read-timeout-ms",
        "eureka.server.peerNodeReadTimeoutMs",
        "EUREKA_SERVER_PEER_NODE_READ_TIMEOUT_MS",
        "EUREKA_SERVER_PEERNODEREADTIMEOUTMS",
        "-eureka..server_peer_node_read_timeout_ms-",
    };
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char value[] = {(char) ('1' + i), 0};
        s_set (names[i], value);
        cr_assert_eq (s_options->peer_node_read_timeout_ms, i + 1);
    }
}

Test (options, a_name_that_is_only_similar_is_unknown)
{
    const char *const names[] = {
        "",
        ".",
        "eureka.server.peer-node-read-timeout",
        "eureka.server.peer-node-read-timeout-ms2",
        "eureka.client.service-url",
        "eureka.client.service-url.",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert_eq (zpeer_options_set (s_options, names[i], "1"),
                      ZPEER_E_UNKNOWN, "%s", names[i]);
    cr_assert_str_eq (zpeer_options_error (s_options),
                      "no such option: \"eureka.client.service-url.\"");
    cr_assert_null (zpeer_options_get (s_options, "zpeer.nothing"));
}

Test (options, an_error_names_key_value_and_range)
{
    s_expect_range_error (
        "EUREKA_SERVER_PEERNODEREADTIMEOUTMS", "soon",
        "eureka.server.peer-node-read-timeout-ms: \"soon\" is not a number "
        "from 1 to 3600000 ms");
    s_expect_range_error ("zpeer.batch.enabled", "maybe",
                          "zpeer.batch.enabled: \"maybe\" is not true or "
                          "false");
    s_expect_range_error ("zpeer.congestion-statuses", "503, 200",
                          "zpeer.congestion-statuses: \"503, 200\" is not "
                          "HTTP statuses from 300 to 599");
}

Test (options, a_wrong_number_changes_nothing)
{
    const char *const wrong[] = {
        "",     "0",     "3600001", "-1",  "+1",
        "0x10", "1 000", "1.5",     "1ms", "18446744073709551617",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_eq (
            zpeer_options_set (s_options, "zpeer.stats.interval-ms", wrong[i]),
            ZPEER_E_RANGE, "%s", wrong[i]);
    cr_assert_eq (s_options->stats_interval_ms, 1000);
    //  Nothing is not 0
    cr_assert_eq (zpeer_options_set (s_options, "zpeer.batch.linger-ms", ""),
                  ZPEER_E_RANGE);
}

Test (options, the_ends_of_a_range_belong_to_it)
{
    s_set ("zpeer.batch.max-items", "1");
    s_set ("zpeer.batch.max-items", "4096");
    cr_assert_eq (
        zpeer_options_set (s_options, "zpeer.batch.max-items", "4097"),
        ZPEER_E_RANGE);
    s_set ("apiml.discovery.maxPeerRetries", "0");
    cr_assert_eq (s_options->max_peer_retries, 0);
}

Test (options, blanks_around_a_value_do_not_count)
{
    s_set ("zpeer.batch.linger-ms", " 20\n");
    cr_assert_eq (s_options->batch_linger_ms, 20);
    s_set ("zpeer.tls.ca-file", "  /a b/c ");
    cr_assert_str_eq (s_options->tls_ca_file, "/a b/c");
    s_set ("zpeer.tls.ca-file", "   ");
    cr_assert_str_eq (s_options->tls_ca_file, "");
}

Test (options, a_flag_takes_the_words_spring_takes)
{
    const char *const words[] = {"true", "FALSE", "on", "Off",
                                 "yes",  "no",    "1",  "0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        s_set ("zpeer.batch.enabled", words[i]);
        cr_assert_eq (s_options->batch_enabled, i % 2 == 0, "%s", words[i]);
    }
}

Test (options, only_503_is_congestion_by_default)
{
    cr_assert (zpeer_options_congestion (s_options, 503));
    cr_assert_not (zpeer_options_congestion (s_options, 429));
    s_set ("zpeer.congestion-statuses", "429, 503,504");
    cr_assert (zpeer_options_congestion (s_options, 429));
    s_expect_value (s_options, "zpeer.congestion-statuses", "429,503,504");
    s_set ("zpeer.congestion-statuses", "");
    cr_assert_not (zpeer_options_congestion (s_options, 503));
}

Test (options, a_list_of_statuses_has_a_limit)
{
    char text[4 * (ZPEER_OPTIONS_STATUSES_MAX + 1) + 1] = "";
    for (size_t i = 0; i <= ZPEER_OPTIONS_STATUSES_MAX; i++)
        memcpy (text + 4 * i, "503,", 5);
    cr_assert_eq (
        zpeer_options_set (s_options, "zpeer.congestion-statuses", text),
        ZPEER_E_RANGE);
    text[4 * ZPEER_OPTIONS_STATUSES_MAX] = 0;
    s_set ("zpeer.congestion-statuses", text);
}

Test (options, the_environment_sets_what_it_names)
{
    const char *const env[] = {
        "PATH=/bin",
        "EUREKA_SERVER_PEERNODEREADTIMEOUTMS=5000",
        "ZPEER_BATCH_LINGER_MS=",
        "ZPEER_NO_SUCH=1",
        "EUREKA_CLIENT_SERVICEURL_DEFAULTZONE=http://a:1/x=y",
        "without an equals sign",
        "APIML_DISCOVERY_MAXPEERRETRIES=3",
        NULL,
    };
    cr_assert_eq (zpeer_options_env (s_options, env), ZPEER_OK);
    cr_assert_str_eq (zpeer_options_error (s_options), "");
    cr_assert_eq (s_options->peer_node_read_timeout_ms, 5000);
    cr_assert_eq (s_options->batch_linger_ms, 10);
    cr_assert_eq (s_options->max_peer_retries, 3);
    s_expect_value (s_options, "eureka.client.service-url.defaultzone",
                    "http://a:1/x=y");
}

Test (options, a_variable_like_an_option_that_is_none_is_listed)
{
    const char *const env[] = {"ZPEER_BACH_LINGER_MS=20",
                               "ZPEER_TEST_SEED=1",
                               "EUREKA_SERVER_BATCH_REPLICATION=true",
                               "EUREKA_HOME=/eureka",
                               "ZPEER_TLS_CAFILES=/a",
                               NULL};
    cr_assert_eq (zpeer_options_env (s_options, env), ZPEER_OK);
    zpeer_options_t *copy = zpeer_options_dup (s_options);
    cr_assert_str_eq (zpeer_options_unused (copy, 0),
                      "eureka.server.batch-replication");
    cr_assert_str_eq (zpeer_options_unused (copy, 1), "ZPEER_BACH_LINGER_MS");
    cr_assert_str_eq (zpeer_options_unused (copy, 2), "ZPEER_TLS_CAFILES");
    cr_assert_null (zpeer_options_unused (copy, 3));
    zpeer_options_destroy (&copy);
}

Test (options, a_wrong_value_in_the_environment_is_an_error)
{
    const char *const env[] = {"ZPEER_BATCH_LINGER_MS=20",
                               "ZPEER_BATCH_MAX_ITEMS=many",
                               "ZPEER_BATCH_MAX_BYTES=2048", NULL};
    cr_assert_eq (zpeer_options_env (s_options, env), ZPEER_E_RANGE);
    cr_assert_str_eq (zpeer_options_error (s_options),
                      "zpeer.batch.max-items: \"many\" is not a number from 1 "
                      "to 4096 items");
    cr_assert_eq (s_options->batch_linger_ms, 20);
    cr_assert_eq (s_options->batch_max_bytes, 1048576);
}

Test (options, the_processs_environment_is_read_only_when_asked)
{
    setenv ("EUREKA_SERVER_PEERNODEREADTIMEOUTMS", "7", 1);
    zpeer_options_t *options = zpeer_options_new ();
    cr_assert_eq (options->peer_node_read_timeout_ms, 30000);
    cr_assert_eq (zpeer_options_env (options, NULL), ZPEER_OK);
    cr_assert_eq (options->peer_node_read_timeout_ms, 7);
    zpeer_options_destroy (&options);
}

Test (options, a_name_without_effect_is_accepted_and_listed_once)
{
    s_set ("eureka.server.batch-replication", "true");
    s_set ("EUREKA_SERVER_NUMBEROFREPLICATIONRETRIES", "5");
    s_set ("eureka.server.batchReplication", "false");
    cr_assert_str_eq (zpeer_options_unused (s_options, 0),
                      "eureka.server.batch-replication");
    cr_assert_str_eq (zpeer_options_unused (s_options, 1),
                      "eureka.server.number-of-replication-retries");
    cr_assert_null (zpeer_options_unused (s_options, 2));
}

Test (options, a_copy_is_equal_and_its_own)
{
    s_set ("zpeer.batch.linger-ms", "20");
    s_set ("zpeer.batch.enabled", "false");
    s_set ("zpeer.congestion-statuses", "429");
    s_set ("zpeer.tls.ca-file", "/a");
    s_set ("eureka.server.my-url", "http://me:1/");
    s_set ("eureka.client.service-url.z", "http://u:p@a:1/");
    s_set ("eureka.server.batch-replication", "true");
    zpeer_options_t *copy = zpeer_options_dup (s_options);
    s_set ("zpeer.tls.ca-file", "/b");
    s_set ("eureka.client.service-url.z", "");
    cr_assert_eq (copy->batch_linger_ms, 20);
    cr_assert_not (copy->batch_enabled);
    cr_assert (zpeer_options_congestion (copy, 429));
    cr_assert_str_eq (copy->tls_ca_file, "/a");
    cr_assert_str_eq (copy->my_url, "http://me:1/");
    s_expect_value (copy, "eureka.client.service-url.z", "http://u:p@a:1/");
    cr_assert_str_eq (zpeer_options_unused (copy, 0),
                      "eureka.server.batch-replication");
    zpeer_options_destroy (&copy);
}

static void
s_expect_printed (const char *line)
{
    char *text = zpeer_options_print (s_options);
    cr_assert_not_null (strstr (text, line), "%s\nis not in\n%s", line, text);
    free (text);
}

Test (options, the_defaults_are_printed)
{
    s_expect_printed ("eureka.server.peer-node-read-timeout-ms=30000\n");
    s_expect_printed ("zpeer.batch.enabled=true\n");
    s_expect_printed ("zpeer.congestion-statuses=503\n");
    s_expect_printed ("eureka.server.my-url=\n");
}

Test (options, no_password_is_printed)
{
    s_set ("eureka.client.service-url.defaultZone",
           "http://me:p@ss@a:1/x@y, https://b:1/,http://u:secret@c");
    s_set ("apiml.discovery.allPeersUrls", "https://u:secret@d/");
    s_expect_printed ("eureka.client.service-url.defaultZone="
                      "http://***@a:1/x@y, https://b:1/,http://***@c\n");
    s_expect_printed ("apiml.discovery.allPeersUrls=https://***@d/\n");
}

Test (options, every_entry_of_the_table_can_be_set_to_its_default)
{
    const zpeer_option_t *info;
    for (size_t i = 0; (info = zpeer_options_info (i)) != NULL; i++) {
        if (info->type == ZPEER_OPTION_ZONES)
            continue;
        s_set (info->name, info->fallback);
        s_expect_value (s_options, info->name, info->fallback);
        cr_assert_eq (info->help[strlen (info->help) - 1], '.');
    }
}

Test (options, no_two_names_are_the_same_option)
{
    //  Setting each ignored name must leave every option alone, and be listed
    char *before = zpeer_options_print (s_options);
    const char *name;
    size_t count = 0;
    for (; (name = zpeer_options_ignored (count)) != NULL; count++)
        s_set (name, "no number");
    cr_assert_str_eq (zpeer_options_unused (s_options, count - 1),
                      zpeer_options_ignored (count - 1));
    char *after = zpeer_options_print (s_options);
    cr_assert_str_eq (before, after);
    free (before);
    free (after);
}
