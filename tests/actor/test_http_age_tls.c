/*  test_http_age_tls.c - certificates that are renewed while a client runs

    The server is GnuTLS, with session tickets, a thread for each connection; it
    notes whose certificate each one showed. All certificates are made here.
*/
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "play.h"
#include "banned.h"

#define AGE_MS 60000

//  Most connections in a test
#define SEEN_MAX 8

//  A certificate and its key, in two files
typedef struct {
    char certificate[64];
    char key[64];
} pair_t;

//  What the server saw of a connection
typedef struct {
    char name[32];  //  In the client's certificate
    bool resumed;
    pthread_t thread;
    int fd;
} seen_t;

static zpeer_http_result_t s_result;
static pair_t s_server;
static pair_t s_client;
static gnutls_certificate_credentials_t s_credentials;
static gnutls_datum_t s_tickets;
static int s_listener;
static pthread_t s_thread;
static seen_t s_seen[SEEN_MAX];
static unsigned s_seen_count;

static void
s_write (const char *path, const gnutls_datum_t *text)
{
    FILE *file = fopen (path, "w");
    cr_assert_not_null (file);
    cr_assert_eq (fwrite (text->data, 1, text->size, file), text->size);
    fclose (file);
}

//  Makes a certificate that signs itself, and writes it and its key, if wanted
static void
s_issue (const pair_t *pair, const char *name, bool key_too)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t self;
    gnutls_datum_t text;
    char dn[64];
    gnutls_x509_privkey_init (&key);
    gnutls_x509_privkey_generate (
        key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS (GNUTLS_ECC_CURVE_SECP256R1),
        0);
    gnutls_x509_crt_init (&self);
    gnutls_x509_crt_set_version (self, 3);
    gnutls_x509_crt_set_key (self, key);
    snprintf (dn, sizeof dn, "CN=%s", name);
    gnutls_x509_crt_set_dn (self, dn, NULL);
    gnutls_x509_crt_set_serial (self, name, 4);
    gnutls_x509_crt_set_activation_time (self, time (NULL) - 60);
    gnutls_x509_crt_set_expiration_time (self, time (NULL) + 3600);
    gnutls_x509_crt_set_basic_constraints (self, 1, -1);
    gnutls_x509_crt_set_subject_alt_name (self, GNUTLS_SAN_DNSNAME, "localhost",
                                          9, GNUTLS_FSAN_SET);
    cr_assert_eq (gnutls_x509_crt_sign2 (self, self, key, GNUTLS_DIG_SHA256, 0),
                  0);
    gnutls_x509_crt_export2 (self, GNUTLS_X509_FMT_PEM, &text);
    s_write (pair->certificate, &text);
    gnutls_free (text.data);
    gnutls_x509_privkey_export2 (key, GNUTLS_X509_FMT_PEM, &text);
    if (key_too)
        s_write (pair->key, &text);
    gnutls_free (text.data);
    gnutls_x509_crt_deinit (self);
    gnutls_x509_privkey_deinit (key);
}

static void
s_note (seen_t *seen, gnutls_session_t session)
{
    unsigned count = 0;
    size_t size = sizeof seen->name;
    gnutls_x509_crt_t shown;
    const gnutls_datum_t *chain =
        gnutls_certificate_get_peers (session, &count);
    seen->resumed = gnutls_session_is_resumed (session);
    if (!chain)
        return;
    gnutls_x509_crt_init (&shown);
    gnutls_x509_crt_import (shown, chain, GNUTLS_X509_FMT_DER);
    gnutls_x509_crt_get_dn_by_oid (shown, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
                                   seen->name, &size);
    gnutls_x509_crt_deinit (shown);
}

//  Answers every request, "{}" long, with the same
static void
s_answer_all (gnutls_session_t session)
{
    char text[4096];
    size_t size = 0;
    ssize_t got;
    while ((got = gnutls_record_recv (session, text + size,
                                      sizeof text - size - 1)) > 0) {
        size += (size_t) got;
        text[size] = 0;
        if (!strstr (text, "\r\n\r\n{}"))
            continue;
        size = 0;
        gnutls_record_send (session, PLAY_OK, strlen (PLAY_OK));
    }
}

static void *
s_serve (void *arg)
{
    seen_t *seen = (seen_t *) arg;
    gnutls_session_t session;
    gnutls_init (&session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL);
    gnutls_set_default_priority (session);
    gnutls_credentials_set (session, GNUTLS_CRD_CERTIFICATE, s_credentials);
    gnutls_session_ticket_enable_server (session, &s_tickets);
    gnutls_certificate_server_set_request (session, GNUTLS_CERT_REQUEST);
    gnutls_transport_set_int (session, seen->fd);
    int rc;
    do
        rc = gnutls_handshake (session);
    while (rc < 0 && !gnutls_error_is_fatal (rc));
    if (rc == 0) {
        s_note (seen, session);
        s_answer_all (session);
    }
    gnutls_deinit (session);
    close (seen->fd);
    return NULL;
}

static void *
s_accept (void *arg)
{
    (void) arg;
    int fd;
    while ((fd = accept (s_listener, NULL, NULL)) >= 0) {
        cr_assert_lt (s_seen_count, SEEN_MAX);
        seen_t *seen = &s_seen[s_seen_count++];
        seen->fd = fd;
        pthread_create (&seen->thread, NULL, s_serve, seen);
    }
    return NULL;
}

static void
s_name_pair (pair_t *pair, const char *word)
{
    snprintf (pair->certificate, sizeof pair->certificate,
              "/tmp/zpeer-test-%s-%d.pem", word, (int) getpid ());
    snprintf (pair->key, sizeof pair->key, "/tmp/zpeer-test-%s-%d.key", word,
              (int) getpid ());
}

static unsigned
s_listen (void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    s_listener = socket (AF_INET, SOCK_STREAM, 0);
    cr_assert_eq (bind (s_listener, (struct sockaddr *) &address, size), 0);
    listen (s_listener, SEEN_MAX);
    getsockname (s_listener, (struct sockaddr *) &address, &size);
    return ntohs (address.sin_port);
}

static void
s_setup (void)
{
    char url[64];
    s_name_pair (&s_server, "server");
    s_name_pair (&s_client, "client");
    s_issue (&s_server, "server", true);
    s_issue (&s_client, "first", true);
    gnutls_certificate_allocate_credentials (&s_credentials);
    cr_assert_eq (gnutls_certificate_set_x509_key_file (
                      s_credentials, s_server.certificate, s_server.key,
                      GNUTLS_X509_FMT_PEM),
                  0);
    gnutls_session_ticket_key_generate (&s_tickets);
    snprintf (url, sizeof url, "https://localhost:%u/eureka/", s_listen ());
    pthread_create (&s_thread, NULL, s_accept, NULL);
    play_options.max_age_ms = AGE_MS;
    play_options.ca_file = s_server.certificate;
    play_options.cert_file = s_client.certificate;
    play_options.key_file = s_client.key;
    play_begin (url);
}

static void
s_teardown (void)
{
    play_end ();
    shutdown (s_listener, SHUT_RDWR);
    pthread_join (s_thread, NULL);
    close (s_listener);
    for (unsigned i = 0; i < s_seen_count; i++)
        pthread_join (s_seen[i].thread, NULL);
    gnutls_free (s_tickets.data);
    gnutls_certificate_free_credentials (s_credentials);
    unlink (s_server.certificate);
    unlink (s_server.key);
    unlink (s_client.certificate);
    unlink (s_client.key);
}

TestSuite (http_age_tls, .init = s_setup, .fini = s_teardown);

//  A request, answered as it should be
static void
s_ask (void)
{
    play_post ("{}");
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_STATUS, "%s", s_result.detail);
    cr_assert_eq (s_result.status, 200);
}

Test (http_age_tls, a_certificate_that_is_renewed_is_shown_within_the_age)
{
    s_ask ();
    s_issue (&s_client, "second", true);
    s_ask ();
    cr_assert_eq (s_seen_count, 1);
    cr_assert_str_eq (s_seen[0].name, "first");
    play_now += AGE_MS;
    s_ask ();
    cr_assert_str_empty (s_result.renewal);
    cr_assert_eq (s_seen_count, 2);
    cr_assert_str_eq (s_seen[1].name, "second");
    cr_assert_not (s_seen[1].resumed);
}

//  The certificate is there, its key is not yet
Test (http_age_tls, files_that_do_not_fit_yet_harm_nobody)
{
    s_ask ();
    s_issue (&s_client, "second", false);
    play_now += AGE_MS;
    s_ask ();
    cr_assert_str_not_empty (s_result.renewal);
    s_ask ();
    s_issue (&s_client, "third", true);
    play_now += AGE_MS / 4;
    s_ask ();
    cr_assert_str_empty (s_result.renewal);
    cr_assert_str_eq (s_seen[s_seen_count - 1].name, "third");
}

Test (http_age_tls, what_is_trusted_is_read_anew_too)
{
    s_ask ();
    s_issue (&s_server, "another", false);
    play_now += AGE_MS;
    s_ask ();
    cr_assert (strstr (s_result.renewal, "certificate"), "%s",
               s_result.renewal);
}
