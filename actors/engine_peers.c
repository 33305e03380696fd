#include "engine_impl.h"
#include "banned.h"

static zpeer_peer_t *
s_find (const zpeer_engine_t *self, const char *base)
{
    for (unsigned i = 0; i < ZPEER_PEERS_MAX; i++)
        if (self->peers[i] && streq (zpeer_peer_base (self->peers[i]), base))
            return self->peers[i];
    return NULL;
}

//  The peer whose URL that is, whatever its spelling; NULL, and a sentence:
//  none
static zpeer_peer_t *
s_lookup (zpeer_engine_t *self, const char *text)
{
    zpeer_url_t url;
    zpeer_peer_t *peer = NULL;
    char why[ZPEER_URL_ERROR_MAX];
    if (zpeer_url_parse (&url, text, why))
        zpeer_engine_fail (self, ZPEER_E_UNKNOWN, "%s", why);
    else {
        peer = s_find (self, url.base);
        if (!peer)
            zpeer_engine_fail (self, ZPEER_E_UNKNOWN, "there is no peer %s",
                               url.base);
        zpeer_url_free (&url);
    }
    return peer;
}

static void
s_report (zpeer_engine_t *self, const zpeer_peer_t *peer,
          zpeer_peer_state_t state, uint64_t tasks)
{
    zpeer_peer_change_t change = {.peer =
                                      zpeer_slice_str (zpeer_peer_base (peer)),
                                  .state = state,
                                  .tasks = tasks};
    zpeer_outcome_peer (zpeer_report_map (&self->report), &change);
    zpeer_report_send (&self->report, ZPEER_TOPIC_PEER);
}

static int
s_start_peer (zpeer_engine_t *self, zpeer_peer_t *peer)
{
    int rc = zpeer_peer_start (peer, &self->wiring, self->error);
    return rc ? rc
              : zpeer_peer_add_dispatcher (peer, &self->wiring, self->error);
}

//  The acceptor hears of a peer last: then there is somebody to take its chunks,
//  and whoever listens knows of it. Whose lane it is it hears before the lane has
//  its first change, which may have come from there.
static int
s_add_lane (zpeer_engine_t *self, const zpeer_peer_t *peer)
{
    char lane[ZPEER_ENGINE_DIGITS_MAX];
    snprintf (lane, sizeof lane, "%u", zpeer_peer_id (peer));
    int rc = ZPEER_ENGINE_CALL (self, self->acceptor, "ORIGIN", lane,
                                zpeer_peer_base (peer));
    return rc ? rc
              : ZPEER_ENGINE_CALL (self, self->acceptor, "ADDLANE", lane,
                                   zpeer_peer_inbox (peer));
}

//  The smallest number no peer has; ZPEER_PEERS_MAX: all are taken
static uint32_t
s_free_id (const zpeer_engine_t *self)
{
    uint32_t id = 0;
    while (id < ZPEER_PEERS_MAX && self->peers[id])
        id++;
    return id;
}

static int
s_refuse (zpeer_engine_t *self, zpeer_peer_t **peer_p, int rc)
{
    zpeer_log (&self->log, PEER_REFUSED, zpeer_peer_base (*peer_p),
               self->error);
    zpeer_peer_destroy (peer_p);
    return rc;
}

int
zpeer_engine_add_url (zpeer_engine_t *self, zpeer_url_t *url)
{
    uint32_t id = s_free_id (self);
    if (self->own && streq (url->base, self->own))
        return zpeer_engine_fail (self, ZPEER_E_REJECTED,
                                  "%s is this node's own URL", url->base);
    if (s_find (self, url->base))
        return zpeer_engine_fail (self, ZPEER_E_EXISTS, "%s is a peer already",
                                  url->base);
    if (id == ZPEER_PEERS_MAX)
        return zpeer_engine_fail (self, ZPEER_E_RESOURCES,
                                  "there are %d peers, the most",
                                  ZPEER_PEERS_MAX);
    zpeer_peer_t *peer = zpeer_peer_new (id, url);
    if (zlist_exists (self->unsettled, (void *) zpeer_peer_base (peer)))
        zpeer_peer_inherit (peer);
    int rc = s_start_peer (self, peer);
    if (rc)
        return s_refuse (self, &peer, rc);
    s_report (self, peer, ZPEER_PEER_ADDED, 0);
    zpeer_log (&self->log, PEER_ADDED, zpeer_peer_base (peer));
    rc = s_add_lane (self, peer);
    if (rc) {
        s_report (self, peer, ZPEER_PEER_REMOVED, 0);
        return s_refuse (self, &peer, rc);
    }
    self->peers[id] = peer;
    zlist_remove (self->unsettled, (void *) zpeer_peer_base (peer));
    return ZPEER_OK;
}

int
zpeer_engine_add_peer_auth (zpeer_engine_t *self, const char *text,
                            const char *user, const char *password)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc)
        return rc;
    zpeer_url_t url;
    char why[ZPEER_URL_ERROR_MAX];
    if (zpeer_url_parse (&url, text, why))
        return zpeer_engine_fail (self, ZPEER_E_INVALID, "%s", why);
    if (user && zpeer_url_auth (&url, user, password ? password : ""))
        rc = zpeer_engine_fail (self, ZPEER_E_INVALID,
                                "a user name has no \":\"");
    if (rc == ZPEER_OK)
        rc = zpeer_engine_add_url (self, &url);
    zpeer_url_free (&url);
    return rc;
}

int
zpeer_engine_add_peer (zpeer_engine_t *self, const char *url)
{
    return zpeer_engine_add_peer_auth (self, url, NULL, NULL);
}

//  A request may be applied long after its peer was removed. If that is added again,
//  it is told everything; and once more, when what came late must have come.
static void
s_remember (zpeer_engine_t *self, const zpeer_peer_t *peer)
{
    if (zlist_size (self->unsettled) == ZPEER_PEERS_MAX)
        zlist_remove (self->unsettled, zlist_first (self->unsettled));
    zlist_append (self->unsettled, (void *) zpeer_peer_base (peer));
}

int
zpeer_engine_remove_peer (zpeer_engine_t *self, const char *url)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc)
        return rc;
    zpeer_peer_t *peer = s_lookup (self, url);
    if (!peer)
        return ZPEER_E_UNKNOWN;
    uint32_t id = zpeer_peer_id (peer);
    char digits[ZPEER_ENGINE_DIGITS_MAX];
    snprintf (digits, sizeof digits, "%u", id);
    ZPEER_ENGINE_CALL (self, self->acceptor, "DELLANE", digits);
    int deadline_ms = (int) self->options->stop_deadline_ms;
    zpeer_peer_drain (peer, deadline_ms, "peer-removed");
    bool unsettled;
    int64_t left = zpeer_peer_drained (
        peer, deadline_ms + ZPEER_ENGINE_GRACE_MS, &unsettled);
    if (unsettled)
        s_remember (self, peer);
    uint64_t tasks = (uint64_t) left;
    zpeer_log (&self->log, PEER_REMOVED, zpeer_peer_base (peer), tasks);
    s_report (self, peer, ZPEER_PEER_REMOVED, tasks);
    zpeer_peer_destroy (&self->peers[id]);
    ZPEER_ENGINE_CALL (self, self->health, "FORGET", digits);
    return ZPEER_OK;
}

//  Asks the acceptor to walk its view for a peer
static int
s_ask_walk (zpeer_engine_t *self, const char *url, const char *command)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc)
        return rc;
    const zpeer_peer_t *peer = s_lookup (self, url);
    if (!peer)
        return ZPEER_E_UNKNOWN;
    char lane[ZPEER_ENGINE_DIGITS_MAX];
    snprintf (lane, sizeof lane, "%u", zpeer_peer_id (peer));
    return ZPEER_ENGINE_CALL (self, self->acceptor, command, lane);
}

int
zpeer_engine_resync_peer (zpeer_engine_t *self, const char *url)
{
    return s_ask_walk (self, url, "RESYNC");
}

int
zpeer_engine_verify_peer (zpeer_engine_t *self, const char *url)
{
    return s_ask_walk (self, url, "VERIFY");
}

int
zpeer_engine_retry_peer (zpeer_engine_t *self, const char *url)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc)
        return rc;
    zpeer_peer_t *peer = s_lookup (self, url);
    return peer ? zpeer_peer_retry (peer, self->error) : ZPEER_E_UNKNOWN;
}

int
zpeer_engine_add_dispatcher (zpeer_engine_t *self, const char *url)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc)
        return rc;
    zpeer_peer_t *peer = s_lookup (self, url);
    return peer ? zpeer_peer_add_dispatcher (peer, &self->wiring, self->error)
                : ZPEER_E_UNKNOWN;
}

//  Somebody elsewhere connects to it, and has to know where
static int
s_expect_port (zpeer_engine_t *self, const char *endpoint)
{
    size_t size = strlen (endpoint);
    if (size < 2 || strcmp (endpoint + size - 2, ":*") != 0)
        return ZPEER_OK;
    snprintf (self->error, sizeof self->error,
              "%s: a port must be given, for others connect to it", endpoint);
    return ZPEER_E_INVALID;
}

int
zpeer_engine_open_peer (zpeer_engine_t *self, const char *url,
                        const char *endpoint, const char *health_endpoint)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc == ZPEER_OK)
        rc = s_expect_port (self, endpoint);
    if (rc == ZPEER_OK)
        rc = s_expect_port (self, health_endpoint);
    if (rc)
        return rc;
    zpeer_peer_t *peer = s_lookup (self, url);
    if (!peer)
        return ZPEER_E_UNKNOWN;
    rc = zpeer_peer_open (peer, endpoint, self->error);
    if (rc || zlist_exists (self->opened, (void *) health_endpoint))
        return rc;
    rc = ZPEER_ENGINE_CALL (self, self->health, "BIND", health_endpoint);
    if (rc == ZPEER_OK)
        zlist_append (self->opened, (void *) health_endpoint);
    return rc;
}

int
zpeer_engine_peer_id (const zpeer_engine_t *self, const char *text)
{
    zpeer_url_t url;
    char why[ZPEER_URL_ERROR_MAX];
    if (zpeer_url_parse (&url, text, why))
        return -1;
    const zpeer_peer_t *peer = s_find (self, url.base);
    zpeer_url_free (&url);
    return peer ? (int) zpeer_peer_id (peer) : -1;
}

const char *
zpeer_engine_peer (const zpeer_engine_t *self, size_t index)
{
    for (unsigned i = 0; i < ZPEER_PEERS_MAX; i++)
        if (self->peers[i] && index-- == 0)
            return zpeer_peer_base (self->peers[i]);
    return NULL;
}
