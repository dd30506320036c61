/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serves a web page for a store: static files from share/web, and a JSON interface under /api/v1/
 * (docs/serve-api.md). GET and HEAD never write to the store. One address takes POST: it has
 * changes carried out by the program orch, for requests that have the token and come from the page
 * itself.
 *
 * One thread handles connections and follows running trials; a few others query the store, each
 * with its own handle. libsoup implements HTTP. Rejected: our own HTTP parser (security holes), a
 * framework in the page (a build step), web sockets (the page sends nothing back). */
#ifndef ORCH_FEATURES_WEB_WEB_H
#define ORCH_FEATURES_WEB_WEB_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct orch_web;

/** What is to become of a view. */
struct orch_web_view {
    const char *verb; /* view-save, view-share, view-pin, view-unpin, view-remove */
    const char *name;
    const char *address;    /* only with view-save */
    const char *of;         /* whose view it is; NULL: one's own */
    const char *instead_of; /* with view-save and view-remove: the address that the page knows of it
                               ("": there is none); NULL: any */
};

struct orch_web_options {
    const char *store_path;
    const char *who;     /* the user whose runs are "mine"; or NULL */
    const char *version; /* the program's version */
    const char *address; /* NULL: 127.0.0.1; an address other than loopback requires a token */
    unsigned port;       /* 0: any free port */
    bool with_token;     /* require a token on a loopback address, too */
    bool is_read_only;   /* no change of the store */
    /** Returns a forecast. Called from worker threads, one call at a time. `query` (char * -> char
     * *) is the query of the page's URL. New reference; NULL with an error. The callback is NULL
     * when there are no forecasts. */
    json_t *(*forecast)(void *ctx, GHashTable *query, GError **error);
    /** Lists the reports as an array of objects with name and path; `report` returns one report's
     * document. Called like `forecast`; NULL: there are no reports. */
    json_t *(*reports)(void *ctx, GHashTable *query, GError **error);
    json_t *(*report)(void *ctx, GHashTable *query, GError **error);
    /** Returns one report as a self-contained HTML page without scripts; freed with g_free. Called
     * like `forecast`. */
    char *(*page)(void *ctx, GHashTable *query, GError **error);
    /** Carries out a change (`verb`: one of ORCH_WEB_VERBS) of a run. `text` is NULL where the verb
     * needs none. Called from worker threads. NULL: nothing can be changed. */
    bool (*change)(void *ctx, const char *verb, const char *run, const char *text, GError **error);
    /** Changes a view of the page, as 'orch view' does. As `change`. */
    bool (*view)(void *ctx, const struct orch_web_view *view, GError **error);
    /** How two runs differ, as 'orch diff --json --source' says it. Called from worker threads. New
     * reference; NULL with an error. The callback is NULL when it is not known. */
    json_t *(*difference)(void *ctx, const char *a, const char *b, GError **error);
    /** The numbers of two sides, as 'orch compare --json' says it of two conditions. As
     * `difference`. */
    json_t *(*comparison)(void *ctx, const char *a, const char *b, GError **error);
    /** The commands that make runs (keys, NULL-terminated) again, as 'orch show --rerun --json'
     * says it. As `difference`. */
    json_t *(*reruns)(void *ctx, char *const *runs, GError **error);
    /** How the store and the group's remote stand (group_remote.h). Called from worker threads.
     * NULL: this page is of one person's store. Otherwise a change of another person's run is
     * refused. */
    json_t *(*group)(void *group_ctx, GError **error);
    void *ctx, *group_ctx;
};

/** What can be done with a run: tag, untag, note, name, hide, show, cancel; ends with NULL. */
extern const char *const ORCH_WEB_VERBS[];

/** Opens the store and listens. NULL with ORCH_ERROR_STORE, ORCH_ERROR_USAGE for an invalid
 * address, ORCH_ERROR_IO when the port is in use. Options and their texts are copied. */
struct orch_web *orch_web_new(const struct orch_web_options *options, GError **error);
/** Returns why the page does not change the store; NULL: it may. Borrowed. */
const char *orch_web_why_unchanged(const struct orch_web *web);
/** Returns the URL to open, with the token when there is one. Borrowed. */
const char *orch_web_url(const struct orch_web *web);
/** Serves until SIGINT or SIGTERM. */
void orch_web_run(struct orch_web *web);
void orch_web_free(struct orch_web *web);

#endif
