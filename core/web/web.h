/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page over a store, for a browser: static files from share/web, and a JSON interface under
 * /api/v1/ (docs/serve.md). It reads and never writes; it answers GET and HEAD alone.
 *
 * One thread talks to browsers and follows running trials, a few others ask the store, each with a
 * handle of its own. libsoup speaks HTTP. Rejected: a server of our own (parsing HTTP is where the
 * holes are), a framework in the page (a build step), web sockets (nothing is sent back).
 */
#ifndef ORCH_CORE_WEB_WEB_H
#define ORCH_CORE_WEB_WEB_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct orch_web;

struct orch_web_options {
    const char *store_path;
    const char *who;     /* who asks: whose runs are "mine"; or NULL */
    const char *version; /* of the program */
    const char *address; /* NULL: 127.0.0.1; any other than a loopback address needs a token */
    unsigned port;       /* 0: one that is free */
    bool with_token;     /* on a loopback address, too */
    /** Answers a forecast; called by one thread at a time, by another than the caller's. `query`:
     * char * to char *, as in the address of the page. New reference; NULL with an error. NULL:
     * there are no forecasts. */
    json_t *(*forecast)(void *ctx, GHashTable *query, GError **error);
    /** The reports that there are: an array of objects with name and path; and one report's
     * document. As above; NULL: there are none. */
    json_t *(*reports)(void *ctx, GHashTable *query, GError **error);
    json_t *(*report)(void *ctx, GHashTable *query, GError **error);
    /** One report as a page of HTML that stands alone, without scripts; g_free. As above. */
    char *(*page)(void *ctx, GHashTable *query, GError **error);
    void *ctx;
};

/** Opens the store and listens. NULL with ORCH_ERROR_STORE, ORCH_ERROR_USAGE for an address that
 * is none, ORCH_ERROR_IO when the port is taken. Options are copied, the texts too. */
struct orch_web *orch_web_new(const struct orch_web_options *options, GError **error);
/** Where to open it, with the token when there is one. Borrowed. */
const char *orch_web_url(const struct orch_web *web);
/** Serves until SIGINT or SIGTERM. */
void orch_web_run(struct orch_web *web);
void orch_web_free(struct orch_web *web);

#endif
