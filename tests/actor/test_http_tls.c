/*  test_http_tls.c - the HTTP client and https

    The server is libmicrohttpd, in a thread of its own. Its certificate is for
    the name localhost, signs itself, and ends in a hundred years.
*/
#include <criterion/criterion.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "play.h"
#include "banned.h"

//  Worth nothing: made for this test
static const char s_key[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzJYO2S+NQjRoqNwv\n"
    "p78U3swy+X5vuWXIas5qpcVPsGyhRANCAARY7BsIirsUS4PaiOba/8DyDPQT3XLG\n"
    "Lc49COZTED2+yn8VfzRCwrCtgTP1Sv63ucwh9Pbwem45Ium7s6l3un3+\n"
    "-----END PRIVATE KEY-----\n";

static const char s_certificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBljCCATugAwIBAgIUIJmXh4Wwq/Ihg4tZo7v0CFikSqMwCgYIKoZIzj0EAwIw\n"
    "FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTIwMDkwNVoYDzIxMjYxMTA1\n"
    "MjAwOTA1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO\n"
    "PQMBBwNCAARY7BsIirsUS4PaiOba/8DyDPQT3XLGLc49COZTED2+yn8VfzRCwrCt\n"
    "gTP1Sv63ucwh9Pbwem45Ium7s6l3un3+o2kwZzAdBgNVHQ4EFgQU8P5gNpOmrjB3\n"
    "DEIyjB3n4boYYJowHwYDVR0jBBgwFoAU8P5gNpOmrjB3DEIyjB3n4boYYJowDwYD\n"
    "VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID\n"
    "SQAwRgIhAPJ6uPbjw7uRAvJq1jA6mt+/6U+2tET/YzOVl8sNQDSKAiEAlgEzOi86\n"
    "vb+ThvSDLl+hzhwz+gEgZvoPZ57v017G8C8=\n"
    "-----END CERTIFICATE-----\n";

static zpeer_http_result_t s_result;
static struct MHD_Daemon *s_server;
static char s_ca_file[] = "/tmp/zpeer-test-ca-XXXXXX";

static char s_key_file[] = "/tmp/zpeer-test-key-XXXXXX";

//  The server asks for a certificate, and takes the one it has itself
static bool s_ask;

static bool
s_has_certificate (struct MHD_Connection *connection)
{
    unsigned count = 0;
    gnutls_session_t session =
        (gnutls_session_t) MHD_get_connection_info (
            connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)
            ->tls_session;
    return gnutls_certificate_get_peers (session, &count) && count;
}

static enum MHD_Result
s_on_request (void *arg, struct MHD_Connection *connection, const char *url,
              const char *method, const char *version, const char *data,
              size_t *size, void **state)
{
    (void) arg;
    (void) url;
    (void) method;
    (void) version;
    (void) data;
    if (!*state) {
        *state = connection;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    unsigned status = s_ask && !s_has_certificate (connection) ? 403 : 200;
    struct MHD_Response *response = MHD_create_response_from_buffer (
        strlen (PLAY_BODY), (void *) PLAY_BODY, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result rc = MHD_queue_response (connection, status, response);
    MHD_destroy_response (response);
    return rc;
}

static void
s_write (char *path, const char *text)
{
    int file = mkstemp (path);
    cr_assert_geq (file, 0);
    cr_assert_eq (write (file, text, strlen (text)), (ssize_t) strlen (text));
    close (file);
}

static void
s_setup (void)
{
    s_write (s_ca_file, s_certificate);
    s_write (s_key_file, s_key);
    s_server = MHD_start_daemon (
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL,
        s_on_request, NULL, MHD_OPTION_HTTPS_MEM_KEY, s_key,
        MHD_OPTION_HTTPS_MEM_CERT, s_certificate, MHD_OPTION_HTTPS_MEM_TRUST,
        s_certificate, MHD_OPTION_END);
    cr_assert_not_null (s_server);
}

static void
s_teardown (void)
{
    play_end ();
    MHD_stop_daemon (s_server);
    unlink (s_ca_file);
    unlink (s_key_file);
}

TestSuite (http_tls, .init = s_setup, .fini = s_teardown);

//  A client of the server under this host name
static void
s_begin (const char *host)
{
    char url[64];
    snprintf (url, sizeof url, "https://%s:%u/eureka/", host,
              MHD_get_daemon_info (s_server, MHD_DAEMON_INFO_BIND_PORT)->port);
    play_begin (url);
}

static void
s_ends (zpeer_end_t end)
{
    play_result (&s_result);
    cr_assert_eq (s_result.end, end, "%s: %s", zpeer_end_text (s_result.end),
                  s_result.detail);
    cr_assert_str_not_empty (s_result.detail);
    cr_assert_eq (s_result.status, 0);
}

Test (http_tls, a_peer_whose_certificate_is_trusted_is_served)
{
    play_options.ca_file = s_ca_file;
    s_begin ("localhost");
    for (int i = 0; i < 3; i++) {
        play_post ("{}");
        play_result (&s_result);
        cr_assert_eq (s_result.end, ZPEER_END_STATUS, "%s", s_result.detail);
        cr_assert_eq (s_result.status, 200);
        cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
    }
}

//  What a Zowe discovery service asks of its peers
Test (http_tls, a_peer_that_asks_gets_this_sides_certificate)
{
    s_ask = true;
    play_options.ca_file = s_ca_file;
    play_options.cert_file = s_ca_file;
    play_options.key_file = s_key_file;
    s_begin ("localhost");
    play_post ("{}");
    play_result (&s_result);
    cr_assert_eq (s_result.status, 200, "%s", s_result.detail);
}

Test (http_tls, without_a_certificate_a_peer_that_asks_gets_none)
{
    s_ask = true;
    play_options.ca_file = s_ca_file;
    s_begin ("localhost");
    play_post ("{}");
    play_result (&s_result);
    cr_assert_eq (s_result.status, 403, "%s", s_result.detail);
}

Test (http_tls, a_certificate_nobody_vouches_for_is_a_tls_failure)
{
    s_begin ("localhost");
    play_post ("{}");
    s_ends (ZPEER_END_TLS);
}

Test (http_tls, a_certificate_of_another_host_is_a_tls_failure)
{
    play_options.ca_file = s_ca_file;
    s_begin ("127.0.0.1");
    play_post ("{}");
    s_ends (ZPEER_END_TLS);
}

Test (http_tls, a_missing_ca_file_is_a_tls_failure)
{
    play_options.ca_file = "/nonexistent/ca.pem";
    s_begin ("localhost");
    play_post ("{}");
    s_ends (ZPEER_END_TLS);
}

Test (http_tls, https_to_a_plain_http_port_is_a_tls_failure)
{
    play_begin ("https://127.0.0.1:%u/eureka/");
    play_post ("{}");
    int peer = play_accept ();
    play_swallow (peer, 100);
    play_send (peer, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    s_ends (ZPEER_END_TLS);
}

Test (http_tls, a_close_in_the_handshake_is_a_tls_failure)
{
    play_begin ("https://127.0.0.1:%u/eureka/");
    play_post ("{}");
    int peer = play_accept ();
    play_swallow (peer, 100);
    play_close (peer);
    s_ends (ZPEER_END_TLS);
}

Test (http_tls, a_handshake_that_stops_is_unsent_after_the_connect_timeout)
{
    play_options.connect_timeout_ms = 100;
    play_begin ("https://127.0.0.1:%u/eureka/");
    play_post ("{}");
    play_swallow (play_accept (), 100);
    s_ends (ZPEER_END_UNSENT);
}
