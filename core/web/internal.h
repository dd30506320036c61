/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of core/web share. */
#ifndef ORCH_CORE_WEB_INTERNAL_H
#define ORCH_CORE_WEB_INTERNAL_H

#include "core/web/guard.h"
#include "core/web/web.h"

#include "store/listing.h"
#include "store/store.h"

#include <gio/gio.h>
#include <libsoup/soup.h>

enum {
    WEB_CONNECTIONS_MAX = 128,
    WEB_FOLLOWERS_MAX = 32, /* connections that follow running trials */
    WEB_JOBS_MAX = 256,     /* requests that wait for a worker */
    WEB_WORKERS = 4,
    WEB_QUERY_S = 15,  /* an answer takes no longer */
    WEB_IDLE_S = 60,   /* a connection without a whole request is closed */
    WEB_LISTINGS = 16, /* orders of runs that are remembered */
};

struct web_live;

struct orch_web {
    struct orch_web_options options;
    struct web_guard guard;
    char *url;
    SoupServer *soup;
    GSocketService *service;
    GHashTable *connections; /* GSocketConnection * to its remote address, which holds a struct
                                connection */
    GHashTable *files;       /* of web_files_read */
    GThreadPool *workers;
    GAsyncQueue *stores; /* handles that no worker uses */
    GMainLoop *loop;
    struct web_live *live;
    guint reaper;

    GMutex lock; /* of all below */
    GQueue *listings;
    GMutex callback_lock; /* options' callbacks: one at a time */
};

/** A request to the interface, as a worker sees it. */
struct web_call {
    struct orch_web *web;
    struct orch_store *store;
    const char *run;   /* of /api/v1/runs/RUN/...: RUN, else NULL */
    GHashTable *query; /* char * to char * */
    /* the answer */
    const char *type;  /* NULL: JSON */
    bool stands_alone; /* a page of a report: its style is in it, and it fetches nothing */
    GBytes *bytes;
    char *attachment; /* a file's name to be saved under, or NULL */
};

/** Parameter of a request, or `fallback`. */
const char *web_query_text(const struct web_call *call, const char *name, const char *fallback);
/** A whole number from `least` to `most`; ORCH_ERROR_USAGE. */
bool web_query_int(const struct web_call *call, const char *name, int64_t least, int64_t most,
                   int64_t *inout, GError **error);
/** Texts joined by commas; NULL-terminated. g_strfreev. */
char **web_query_list(const struct web_call *call, const char *name, const char *fallback);

/** Answers with JSON; steals `json`. `digits` of reals (15; 9 where they are drawn). */
void web_answer_json(struct web_call *call, json_t *json, int digits);
/** {"error": {"message", "hint", "code"}} as bytes. */
GBytes *web_error_bytes(const char *message, const char *hint, const char *code);
/** A GError's message without its hint, and the hint. Owned. */
void web_error_split(const GError *error, char **out_message, char **out_hint);

/** A part of the interface; false with an error. Called by a worker. */
typedef bool (*web_handler)(struct web_call *call, GError **error);
/** For "/api/v1/...": NULL when there is none. `*out_run` (caller frees) gets RUN. */
web_handler web_route_find(const char *path, char **out_run);

bool web_api_runs(struct web_call *call, GError **error);
bool web_api_groups(struct web_call *call, GError **error);
bool web_api_names(struct web_call *call, GError **error);
bool web_api_coverage(struct web_call *call, GError **error);
bool web_api_run(struct web_call *call, GError **error);
bool web_api_metrics(struct web_call *call, GError **error);
bool web_api_series(struct web_call *call, GError **error);
bool web_api_band(struct web_call *call, GError **error);
bool web_api_log(struct web_call *call, GError **error);
bool web_api_artifact(struct web_call *call, GError **error);

/** The order of runs that a request asks for (where, sort, order), remembered. The caller unrefs.
 * `*out_version` (caller frees, may be NULL). */
GArray *web_listing(struct web_call *call, char **out_version, GError **error);
void web_listings_free(GQueue *listings);

/** Ranks of the names that the reports of the store's newest recipes ask for (importance.c). NULL
 * with an error; the caller unrefs. */
GHashTable *web_importance_new(struct orch_store *store, GError **error);
/** How early a name is shown: the lower, the more it matters. */
int web_importance_rank(GHashTable *ranks, const struct orch_known_name *name);
/** [{"kind", "name", "unit", "better", "rank"}] of struct orch_known_name *. New reference; NULL
 * with an error. */
json_t *web_names_json(struct orch_store *store, const GPtrArray *names, GError **error);
/** {"step":[],"t_ms":[],"value":[],"count":n,"width":w}. New reference. */
json_t *web_thin_json(const struct orch_thin *thin);
/** Of a running trial: NULL without error when there is none of that key. The caller frees. */
struct orch_active_row *web_active_find(struct orch_store *store, const char *key, GError **error);
/** The newest forecast that was made for a run; null when there is none. New reference. */
json_t *web_forecast_json(struct orch_store *store, const char *key);
/** What is known of a running trial's identity, from its active row. New reference. */
json_t *web_active_json(const struct orch_active_row *row);

/* ---- connections.c: the main thread ------------------------------------------------------------
 */

GHashTable *web_connections_new(void);
void web_connections_free(struct orch_web *web);
/** A new connection (signal "incoming"). */
gboolean web_connections_take(GSocketService *service, GSocketConnection *stream, GObject *source,
                              gpointer web);
/** Closes those that have sent no whole request for too long (a timer's callback). */
gboolean web_connections_reap(gpointer web);
/** Its head came whole, or its answer is out. */
void web_connection_busy(SoupServerMessage *message, bool is_busy);

/* ---- live.c: the main thread -------------------------------------------------------------------
 */

struct web_live *web_live_new(struct orch_web *web, GError **error);
void web_live_free(struct web_live *live);
/** Answers with a stream of events; false: there are too many followers. `key`: send the points of
 * that trial, too; "*": of all; NULL: of none. */
bool web_live_follow(struct web_live *live, SoupServerMessage *message, const char *key);

#endif
