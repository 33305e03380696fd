#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "apps.h"
#include "routes.h"
#include "banned.h"

#define SEGMENTS_MAX 6
#define ERROR_JSON   "{\"error\":\"cannot parse request body\"}"
#define ERROR_XML    "<error>cannot parse request body</error>"
#define BATCH_XML                                                              \
    "<com.netflix.eureka.cluster.protocol.ReplicationListResponse/>"

//  The path below the base URL, decoded
typedef struct {
    char *segments[SEGMENTS_MAX];  //  Owned
    size_t count;                  //  SEGMENTS_MAX + 1: too many
} s_path_t;

//  One call under work
typedef struct {
    speer_core_t *core;
    const speer_http_t *request;
    speer_batch_way_t way;
    s_path_t path;
    speer_reply_t *reply;
} s_call_t;

typedef void (s_handle_fn) (s_call_t *self);

typedef struct {
    const char *method;
    const char *path;  //  "*" stands for one segment
    s_handle_fn *handle;
} s_route_t;

//  ---- Paths

static void
s_path_free (s_path_t *self)
{
    for (size_t i = 0; i < SEGMENTS_MAX; i++)
        free (self->segments[i]);
    *self = (s_path_t){0};
}

static void
s_path_shift (s_path_t *self)
{
    free (self->segments[0]);
    memmove (self->segments, self->segments + 1,
             (SEGMENTS_MAX - 1) * sizeof *self->segments);
    self->segments[SEGMENTS_MAX - 1] = NULL;
    self->count--;
}

//  Splits and decodes; "eureka" and "v2" in front are the base, a slash at the
//  end is no segment
static void
s_path_parse (s_path_t *self, const speer_http_t *request)
{
    const char *at = request->target;
    const char *end = at + request->target_size;
    const char *query = (const char *) memchr (at, '?', request->target_size);
    end = query ? query : end;
    while (at < end && ++at < end) {
        const char *slash =
            (const char *) memchr (at, '/', (size_t) (end - at));
        const char *stop = slash ? slash : end;
        if (self->count < SEGMENTS_MAX)
            self->segments[self->count] =
                speer_http_decode (at, (size_t) (stop - at), false);
        self->count++;
        at = stop;
    }
    if (self->count && !strcmp (self->segments[0], "eureka"))
        s_path_shift (self);
    if (self->count && self->segments[0][0] == 'v' &&
        isdigit ((unsigned char) self->segments[0][1]))
        s_path_shift (self);
}

static bool
s_path_fits (const s_path_t *self, const char *pattern)
{
    size_t i = 0;
    while (*pattern) {
        size_t size = strcspn (pattern, "/");
        const char *segment = i < self->count ? self->segments[i] : NULL;
        if (!segment ||
            (*pattern != '*' && (strlen (segment) != size ||
                                 memcmp (segment, pattern, size) != 0)))
            return false;
        pattern += size + (pattern[size] == '/');
        i++;
    }
    return i == self->count;
}

//  ---- Answers

static void
s_answer_json (s_call_t *self, int status, json_t *json)
{
    speer_reply_set (self->reply, status, SPEER_JSON,
                     json_dumps (json, JSON_COMPACT));
    json_decref (json);
}

static void
s_answer_empty (s_call_t *self, int status)
{
    speer_reply_set (self->reply, status, NULL, NULL);
}

static bool
s_sent_as_json (const speer_http_t *request)
{
    return speer_http_header_has (request, "Content-Type", SPEER_JSON);
}

static void
s_answer_unparsable (s_call_t *self)
{
    bool json = s_sent_as_json (self->request);
    speer_reply_set (self->reply, 400, json ? SPEER_JSON : SPEER_XML,
                     strdup (json ? ERROR_JSON : ERROR_XML));
}

//  Refuses what the codec cannot read: 415, and 400 for XML
static bool
s_media_type_fits (s_call_t *self)
{
    const speer_http_t *request = self->request;
    bool charset =
        !speer_http_header_has (request, "Content-Type", "charset") ||
        speer_http_header_has (request, "Content-Type", "utf-8") ||
        speer_http_header_has (request, "Content-Type", "iso-8859-1");
    bool xml = speer_http_header_has (request, "Content-Type", SPEER_XML) ||
               speer_http_header_has (request, "Content-Type", "*");
    bool json = s_sent_as_json (request);
    if (!charset || (!xml && !json))
        s_answer_empty (self, 415);
    else if (!json)
        s_answer_unparsable (self);
    return charset && json;
}

//  ---- Calls

static void
s_handle_batch (s_call_t *self)
{
    char *answer;
    if (!s_media_type_fits (self))
        return;
    int status =
        speer_batch_apply (self->core, self->request->body,
                           self->request->body_size, self->way, &answer);
    if (status == 400)
        s_answer_unparsable (self);
    else if (speer_http_header_has (self->request, "Accept", SPEER_JSON))
        speer_reply_set (self->reply, status, answer ? SPEER_JSON : NULL,
                         answer);
    else {
        //  XML comes first unless it is told otherwise
        free (answer);
        speer_reply_set (self->reply, status, SPEER_XML, strdup (BATCH_XML));
    }
}

//  A timestamp of a query: digits, or none at all
static int64_t
s_stamp (const char *text, bool *fits)
{
    char *end;
    if (!text)
        return SPEER_NONE;
    int64_t stamp = strtoll (text, &end, 10);
    *fits = *text && !isspace ((unsigned char) *text) && !*end;
    return stamp;
}

//  Makes one change; the texts of the query are named by the caller
static void
s_change (s_call_t *self, speer_action_t action, const char *status_name)
{
    bool fits = true;
    char *status = speer_http_query (self->request, status_name);
    char *dirty = speer_http_query (self->request, "lastDirtyTimestamp");
    char *overridden = speer_http_query (self->request, "overriddenstatus");
    speer_change_t change = {.action = action,
                             .replication =
                                 speer_routes_is_replication (self->request),
                             .app = speer_upper (self->path.segments[1]),
                             .id = self->path.segments[2],
                             .status = status,
                             .overridden = overridden,
                             .dirty = s_stamp (dirty, &fits)};
    int code = 200;
    if (self->way.apply)
        code = fits
                   ? speer_registry_apply (self->core->registry,
                                           speer_core_now (self->core), &change)
                   : 500;
    if (code == 409)
        s_answer_json (
            self, code,
            speer_apps_instance (self->core->registry, change.app, change.id));
    else
        s_answer_empty (self, code);
    free (overridden);
    free (dirty);
    free (status);
}

static void
s_handle_heartbeat (s_call_t *self)
{
    s_change (self, SPEER_HEARTBEAT, "status");
}

static void
s_handle_cancel (s_call_t *self)
{
    s_change (self, SPEER_CANCEL, "status");
}

static void
s_handle_status (s_call_t *self)
{
    s_change (self, SPEER_STATUS_UPDATE, "value");
}

static void
s_handle_delete_override (s_call_t *self)
{
    s_change (self, SPEER_DELETE_OVERRIDE, "value");
}

static void
s_handle_register (s_call_t *self)
{
    if (!s_media_type_fits (self))
        return;
    int64_t now = speer_core_now (self->core);
    json_t *root = json_loadb (self->request->body, self->request->body_size,
                               JSON_DISABLE_EOF_CHECK, NULL);
    json_t *instance = json_object_get (root, "instance");
    speer_info_t *info =
        json_object_size (root) == 1 ? speer_info_new (instance, now) : NULL;
    json_decref (root);
    if (!info) {
        s_answer_unparsable (self);
        return;
    }
    const char *app = speer_upper (self->path.segments[1]);
    const char *invalid = speer_info_invalid (info, app);
    if (invalid)
        speer_reply_set (self->reply, 400, SPEER_JSON, strdup (invalid));
    else {
        speer_change_t change = {
            .action = SPEER_REGISTER,
            .replication = speer_routes_is_replication (self->request),
            .info = info};
        if (self->way.apply)
            speer_registry_apply (self->core->registry, now, &change);
        info = self->way.apply ? change.info : info;
        s_answer_empty (self, 204);
    }
    speer_info_destroy (&info);
}

static void
s_handle_asg (s_call_t *self)
{
    char *value = speer_http_query (self->request, "value");
    bool fits = value && (!strcmp (speer_upper (value), "ENABLED") ||
                          !strcmp (value, "DISABLED"));
    if (fits && self->way.apply)
        json_object_set_new (self->core->asgs, self->path.segments[1],
                             json_string (value));
    s_answer_empty (self, fits ? 200 : 500);
    free (value);
}

static void
s_answer_found (s_call_t *self, json_t *json)
{
    if (json)
        s_answer_json (self, 200, json);
    else
        s_answer_empty (self, 404);
}

static void
s_handle_apps (s_call_t *self)
{
    speer_core_now (self->core);
    s_answer_found (self, speer_apps_all (self->core->registry));
}

static void
s_handle_app (s_call_t *self)
{
    speer_core_now (self->core);
    s_answer_found (self,
                    speer_apps_one (self->core->registry,
                                    speer_upper (self->path.segments[1])));
}

static void
s_handle_instance (s_call_t *self)
{
    speer_core_now (self->core);
    s_answer_found (self,
                    speer_apps_instance (self->core->registry,
                                         speer_upper (self->path.segments[1]),
                                         self->path.segments[2]));
}

static const s_route_t s_routes[] = {
    {"POST", "peerreplication/batch", s_handle_batch},
    {"POST", "apps/*", s_handle_register},
    {"PUT", "apps/*/*", s_handle_heartbeat},
    {"DELETE", "apps/*/*", s_handle_cancel},
    {"PUT", "apps/*/*/status", s_handle_status},
    {"DELETE", "apps/*/*/status", s_handle_delete_override},
    {"PUT", "asg/*/status", s_handle_asg},
    {"GET", "apps", s_handle_apps},
    {"GET", "apps/*", s_handle_app},
    {"GET", "apps/*/*", s_handle_instance},
};

static const s_route_t *
s_route (const speer_http_t *request, const s_path_t *path)
{
    for (size_t i = 0; i < sizeof s_routes / sizeof *s_routes; i++)
        if (strlen (s_routes[i].method) == request->method_size &&
            !memcmp (s_routes[i].method, request->method,
                     request->method_size) &&
            s_path_fits (path, s_routes[i].path))
            return &s_routes[i];
    return NULL;
}

void
speer_routes_handle (speer_core_t *core, const speer_http_t *request,
                     speer_batch_way_t way, speer_reply_t *reply)
{
    s_call_t call = {
        .core = core, .request = request, .way = way, .reply = reply};
    s_path_parse (&call.path, request);
    const s_route_t *route = s_route (request, &call.path);
    if (route)
        route->handle (&call);
    else
        s_answer_empty (&call, 404);
    s_path_free (&call.path);
}

bool
speer_routes_is_batch (const speer_http_t *request)
{
    return request->method_size == 4 && !memcmp (request->method, "POST", 4) &&
           memmem (request->target, request->target_size,
                   "/peerreplication/batch",
                   sizeof "/peerreplication/batch" - 1);
}

bool
speer_routes_is_replication (const speer_http_t *request)
{
    size_t size;
    const char *value =
        speer_http_header (request, "x-netflix-discovery-replication", &size);
    return value && size == 4 && !memcmp (value, "true", 4);
}
