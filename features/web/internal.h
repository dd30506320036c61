/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations shared by the files of features/web. */
#ifndef ORCH_FEATURES_WEB_INTERNAL_H
#define ORCH_FEATURES_WEB_INTERNAL_H

#include "features/web/access.h"
#include "features/web/web.h"

#include "store/read/listing.h"
#include "store/store.h"

#include <gio/gio.h>
#include <libsoup/soup.h>

enum {
    WEB_CONNECTIONS_MANY = 256, /* with more, those that are silent are soon closed */
    WEB_CONNECTIONS_MAX = 512,  /* further ones wait in the queue of the system */
    WEB_QUEUE = 4096,
    WEB_FOLLOWERS_MAX = 32, /* connections that receive events of running trials */
    WEB_JOBS_MAX = 256,     /* requests waiting for a worker */
    WEB_WORKERS = 4,
    WEB_QUERY_S = 15,  /* maximum time for a response, in s */
    WEB_SILENT_S = 2,  /* the same when there are many connections */
    WEB_IDLE_S = 60,   /* a connection without a complete request is closed after this many s */
    WEB_LISTINGS = 16, /* cached orders of runs */
};

struct web_folded;
struct web_live;

struct orch_web {
    struct orch_web_options options;
    struct web_guard guard;
    char *url;
    SoupServer *soup;
    GSocketService *service;
    GHashTable *connections; /* GSocketConnection * -> its remote address, which holds a struct
                                connection */
    GHashTable *files;       /* from orch_web_files_read */
    GThreadPool *workers;
    GAsyncQueue *stores; /* store handles that no worker is using */
    GMainLoop *loop;
    struct web_live *live;
    guint reaper;

    GMutex lock; /* protects listings and folded */
    GQueue *listings;
    struct web_folded *folded; /* api_lines.c; or NULL */
    GMutex callback_lock; /* serialises `forecast`, `reports`, `report` and `page` of options */
};

/** A request to the interface, as a handler sees it. */
struct web_call {
    struct orch_web *web;
    struct orch_store *store;
    const char *run;   /* RUN in /api/v1/runs/RUN/..., else NULL */
    GHashTable *query; /* char * -> char * */
    GBytes *body;      /* of a change; else NULL */
    bool may_change;   /* the request is trusted (access.h), and the store may be changed */
    /* the response */
    const char *type;  /* NULL: JSON */
    bool stands_alone; /* the response is a report page with its own style and no external resources
                        */
    GBytes *bytes;
    char *attachment; /* file name of a download, or NULL */
};

/** Returns a query parameter, or `fallback` when it is absent. */
const char *orch_web_query_text(const struct web_call *call, const char *name,
                                const char *fallback);
/** Parses an integer parameter from `least` to `most`; `*inout` is unchanged when it is absent.
 * False with ORCH_ERROR_USAGE. */
bool orch_web_query_int(const struct web_call *call, const char *name, int64_t least, int64_t most,
                        int64_t *inout, GError **error);
/** Returns whether a text looks like a run's key: no condition, not "@last". */
bool orch_web_is_key(const char *text);
/** Splits a comma-separated parameter; NULL-terminated. Free with g_strfreev. */
char **orch_web_query_list(const struct web_call *call, const char *name, const char *fallback);

/** Sets a JSON response; takes ownership of `json`. `digits` is the precision of reals (15; 9 for
 * drawing). */
void orch_web_answer_json(struct web_call *call, json_t *json, int digits);
/** Formats {"error": {"message", "hint", "code"}}. */
GBytes *orch_web_error_bytes(const char *message, const char *hint, const char *code);
/** Splits a GError into its message and its hint. The caller frees both. */
void orch_web_error_split(const GError *error, char **out_message, char **out_hint);

/** A handler of the interface; false with an error. Called by a worker thread. */
typedef bool (*web_handler)(struct web_call *call, GError **error);
/** Finds the handler of a path "/api/v1/..."; NULL when there is none. `*out_run` (caller frees)
 * becomes RUN. */
web_handler orch_web_route_find(const char *path, char **out_run);
/** An address of the interface that reads. */
struct web_route {
    const char *path; /* after /api/v1/; of a run after runs/RUN; NULL ends a table */
    web_handler handler;
    const char *about;
    const char *parameters; /* of the query, between blanks; one that is needed ends with '!' */
};
extern const struct web_route ORCH_WEB_ROUTES[], ORCH_WEB_RUN_ROUTES[];
bool orch_web_api_openapi(struct web_call *call, GError **error);

bool orch_web_api_runs(struct web_call *call, GError **error);
bool orch_web_api_groups(struct web_call *call, GError **error);
bool orch_web_api_importance(struct web_call *call, GError **error);
bool orch_web_api_surface(struct web_call *call, GError **error);
bool orch_web_api_lines(struct web_call *call, GError **error);
bool orch_web_api_sparks(struct web_call *call, GError **error);
bool orch_web_api_names(struct web_call *call, GError **error);
bool orch_web_api_fields(struct web_call *call, GError **error);
bool orch_web_api_values(struct web_call *call, GError **error);
bool orch_web_api_change(struct web_call *call, GError **error);
bool orch_web_api_views(struct web_call *call, GError **error);
bool orch_web_api_reruns(struct web_call *call, GError **error);
bool orch_web_api_run(struct web_call *call, GError **error);
bool orch_web_api_changes(struct web_call *call, GError **error);
bool orch_web_api_metrics(struct web_call *call, GError **error);
bool orch_web_api_curves(struct web_call *call, GError **error);
bool orch_web_api_series(struct web_call *call, GError **error);
bool orch_web_api_band(struct web_call *call, GError **error);
bool orch_web_api_log(struct web_call *call, GError **error);
bool orch_web_api_artifact(struct web_call *call, GError **error);

/** Returns the ids of the runs in the order that a request asks for (where, sort, order); results
 * are cached. The caller unrefs. `*out_version` (caller frees; may be NULL) becomes the store's
 * version. */
GArray *orch_web_listing(struct web_call *call, char **out_version, GError **error);
/** Returns the ids of the runs that a request names: `runs` (keys, in their order; those that the
 * store has not are left out), else its listing. The caller unrefs. */
GArray *orch_web_requested(struct web_call *call, GError **error);
void orch_web_listings_free(GQueue *listings);
/** Returns a text that is equal for requests with the same listing. The caller frees. */
char *orch_web_listing_key(struct web_call *call, const char *version);

/** Returns whether a change is one of a view, and carries it out (api_views.c). */
bool orch_web_is_view_change(const json_t *change);
bool orch_web_change_view(struct web_call *call, const json_t *change, GError **error);

/** Formats a cell. New reference. */
json_t *orch_web_cell_json(const struct orch_row_cell *cell);
/** Returns the number in a cell; NaN for anything else. */
double orch_web_cell_number(const struct orch_row_cell *cell);
/** Returns a column's name without its scope: "metric.loss" is "loss". Borrowed. */
const char *orch_web_plain_name(const char *name);

/** Frees the lines that were folded last (api_lines.c). */
void orch_web_folded_free(struct web_folded *folded);

/** Ranks the names that the reports of the store's newest recipes use (importance.c). NULL with an
 * error; the caller unrefs. */
GHashTable *orch_web_importance_new(struct orch_store *store, GError **error);
/** The same by the recipes of some runs alone. */
GHashTable *orch_web_importance_of(struct orch_store *store, const int64_t *ids, size_t count,
                                   GError **error);
/** Returns a name's rank: the lower, the earlier it is shown. */
int orch_web_importance_rank(GHashTable *ranks, const struct orch_known_name *name);
/** Returns [{"kind", "name", "unit", "better", "rank"}] for struct orch_known_name *. New
 * reference; NULL with an error. */
json_t *orch_web_names_json(struct orch_store *store, const GPtrArray *names, GError **error);
/** Returns {"step":[],"t_ms":[],"value":[],"count":n,"width":w}. New reference. */
json_t *orch_web_thin_json(const struct orch_thin *thin);
/** Returns the newest forecast made for a run; JSON null when there is none. New reference. */
json_t *orch_web_forecast_json(struct orch_store *store, const char *key);
/** Describes a running trial from its active row. New reference. */
json_t *orch_web_active_json(const struct orch_active_row *row);

/* ---- connections.c: the main thread ------------------------------------------------------------
 */

GHashTable *orch_web_connections_new(void);
void orch_web_connections_free(struct orch_web *web);
/** Accepts a new connection (signal "incoming"). */
gboolean orch_web_connections_take(GSocketService *service, GSocketConnection *stream,
                                   GObject *source, gpointer web);
/** Closes connections that have sent no complete request for too long (a timer's callback). */
gboolean orch_web_connections_reap(gpointer web);
/** Call with true when the request header is complete, and with false when the response has been
 * sent. */
void orch_web_connection_busy(SoupServerMessage *message, bool is_busy);

/* ---- live.c: the main thread -------------------------------------------------------------------
 */

struct web_live *orch_web_live_new(struct orch_web *web, GError **error);
void orch_web_live_free(struct web_live *live);
/** Answers with a stream of events; false when there are too many followers. `key`: also send the
 * points of that trial; "*": of all trials; NULL: of none. */
bool orch_web_live_follow(struct web_live *live, SoupServerMessage *message, const char *key);

#endif
