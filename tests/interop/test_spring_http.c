//  The ways to a Spring server: base URLs, credentials, sizes, what it refuses

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pair.h"
#include "banned.h"

static pair_t s_pair;

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (spring_http, .fini = s_stop, .timeout = 120);

//  "http://{credentials}127.0.0.1:port{path}"; the caller's to free
static char *
s_url (const char *credentials, const char *path)
{
    remote_t *spring = remote_named ("spring");
    const char *host = strstr (remote_base (spring), "://") + 3;
    char *url = NULL;
    cr_assert (asprintf (&url, "http://%s%.*s%s", credentials,
                         (int) strcspn (host, "/"), host, path) > 0);
    remote_destroy (&spring);
    return url;
}

//  An instance arrives at the server under this URL
static void
s_expect_way (const char *credentials, const char *path, const char *const *set)
{
    char *url = s_url (credentials, path);
    pair_open_url (&s_pair, set, url);
    pair_register (&s_pair, "a", 1000, "");
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1000);
    pair_send (&s_pair, "a", &(pair_event_t){ZPEER_CANCEL, 0, 0, 0}, 1);
    pair_await_gone (&s_pair, "a");
    pair_close (&s_pair);
    free (url);
}

static void
s_expect_ways (const char *const *set)
{
    static const char *const paths[] = {"/eureka/", "/eureka", "/eureka/v2/",
                                        "/eureka/v2"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        s_expect_way ("", paths[i], set);
    s_expect_way ("user:secret@", "/eureka/", set);
}

Test (spring_http, every_form_of_its_base_url_leads_to_it)
{
    s_expect_ways (NULL);
}

Test (spring_http, every_form_leads_to_it_for_calls)
{
    const char *const set[] = {"zpeer.batch.enabled=false", NULL};
    s_expect_ways (set);
}

//  ---- Sizes

//  Registers of so many instances with this much metadata each
static void
s_register_large (unsigned count, size_t bytes)
{
    char *members = NULL;
    char *value = (char *) malloc (bytes + 1);
    memset (value, 'x', bytes);
    value[bytes] = 0;
    cr_assert (asprintf (&members, ",\"metadata\":{\"large\":\"%s\"}", value) >
               0);
    for (unsigned i = 0; i < count; i++) {
        char id[16];
        snprintf (id, sizeof id, "%u", i);
        pair_register (&s_pair, id, 1000, members);
    }
    free (members);
    free (value);
}

Test (spring_http, bodies_of_a_mebibyte_arrive_whole)
{
    //  Long enough for all of them to be sent together
    const char *const set[] = {"zpeer.batch.linger-ms=2000", NULL};
    pair_open (&s_pair, set);
    s_register_large (200, 8000);
    pair_await_count (&s_pair, s_pair.app, 200);
    json_t *info = pair_listed (&s_pair, 0, "199");
    const char *value = json_string_value (
        json_object_get (json_object_get (info, "metadata"), "large"));
    cr_expect_eq (strlen (value), 8000);
    json_decref (info);
}

//  When the lease of one of stage_registers' instances was renewed
static json_int_t
s_renewed (const char *id)
{
    json_t *info = remote_instance (s_pair.peers[0].remote, STAGE_APP, id);
    json_int_t renewed = json_integer_value (json_object_get (
        json_object_get (info, "leaseInfo"), "lastRenewalTimestamp"));
    json_decref (info);
    return renewed;
}

//  Its answers to 250 items come as gzip
Test (spring_http, thousands_of_instances_arrive_in_full_batches)
{
    enum { COUNT = 2000 };
    char last[16];
    snprintf (last, sizeof last, "%d", COUNT - 1);
    pair_open (&s_pair, NULL);
    stage_registers (s_pair.feed, COUNT);
    pair_await_count (&s_pair, STAGE_APP, COUNT);
    json_int_t registered = s_renewed (last);
    stage_heartbeats (s_pair.feed, COUNT);
    pair_delivered (&s_pair, last, "Heartbeat");
    cr_expect_gt (s_renewed (last), registered);
}

//  ---- What it refuses

Test (spring_http, a_gzipped_batch_is_400)
{
    //  Any body at all, if it is said to be gzip
    static const char body[] = "\x1f\x8b\x08\x00";
    remote_t *spring = remote_named ("spring");
    cr_expect_eq (remote_call (spring, "POST", "peerreplication/batch/",
                               "Content-Encoding: gzip", body, sizeof body - 1,
                               NULL),
                  400);
    remote_destroy (&spring);
}
