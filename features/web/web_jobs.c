/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/web_jobs.h"

#include "features/web/web_response.h"

#include "lib/base/error.h"

#include <string.h>

/* ---- the head ---------------------------------------------------------------------------------
 */

static int64_t body_bytes(SoupMessageHeaders *headers)
{
    SoupEncoding encoding = soup_message_headers_get_encoding(headers);
    if (encoding == SOUP_ENCODING_CONTENT_LENGTH)
        return (int64_t)soup_message_headers_get_content_length(headers);
    return encoding == SOUP_ENCODING_NONE || encoding == SOUP_ENCODING_EOF ? 0 : -1;
}

struct web_head orch_web_head_read(SoupServerMessage *message, const char *path, GHashTable *query,
                                   const char *url)
{
    SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
    return (struct web_head){
        .method = soup_server_message_get_method(message),
        .host = soup_message_headers_get_one(headers, "Host"),
        .cookie = soup_message_headers_get_one(headers, "Cookie"),
        .authorization = soup_message_headers_get_one(headers, "Authorization"),
        .site = soup_message_headers_get_one(headers, "Sec-Fetch-Site"),
        .origin = soup_message_headers_get_one(headers, "Origin"),
        .type = soup_message_headers_get_one(headers, "Content-Type"),
        .key = soup_message_headers_get_one(headers, "X-Orch-Key"),
        .path = path,
        .query_token = query ? g_hash_table_lookup(query, "token") : NULL,
        .url_bytes = strlen(url),
        .body_bytes = body_bytes(headers),
    };
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

struct job {
    struct orch_web *web;
    SoupServerMessage *message;
    web_handler handler;
    char *run;
    GHashTable *query;
    GBytes *body;    /* of a change; else NULL */
    bool may_change; /* the request has the key of changes, or the token */
    bool is_gone;    /* the browser has disconnected; main thread only */
    gulong gone_handler;
    /* the response */
    unsigned status;
    const char *type;
    GBytes *bytes;
    char *attachment;
    bool stands_alone;
};

static void job_free(struct job *job)
{
    g_signal_handler_disconnect(job->message, job->gone_handler);
    g_object_unref(job->message);
    g_hash_table_unref(job->query);
    g_bytes_unref(job->bytes);
    g_bytes_unref(job->body);
    g_free(job->attachment);
    g_free(job->run);
    g_free(job);
}

static unsigned status_of(const GError *error)
{
    if (error->domain != ORCH_ERROR)
        return 500;
    switch (error->code) {
    case ORCH_ERROR_USAGE:
    case ORCH_ERROR_RECIPE:
        return 400;
    case ORCH_ERROR_NOT_FOUND:
        return 404;
    default:
        return 500;
    }
}

static gboolean on_answer(gpointer data)
{
    struct job *job = data;
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(job->message);
    if (!job->is_gone) {
        if (job->attachment)
            soup_message_headers_replace(headers, "Content-Disposition", job->attachment);
        soup_message_headers_replace(headers, "Cache-Control", "no-store");
        orch_web_put_bytes(job->message, job->status, job->type, job->bytes);
        if (job->stands_alone)
            soup_message_headers_replace(headers, "Content-Security-Policy", WEB_ALONE_POLICY);
        soup_server_message_unpause(job->message);
    }
    job_free(job);
    return G_SOURCE_REMOVE;
}

static struct orch_store *take_store(struct orch_web *web, GError **error)
{
    struct orch_store *store = g_async_queue_try_pop(web->stores);
    return store ? store : orch_store_open(web->options.store_path, ORCH_STORE_READ, error);
}

void orch_web_job_answer(gpointer data, gpointer pool_data)
{
    (void)pool_data;
    struct job *job = data;
    g_autoptr(GError) error = NULL;
    struct web_call call = {.web = job->web,
                            .run = job->run,
                            .query = job->query,
                            .body = job->body,
                            .may_change = job->may_change};
    call.store = take_store(job->web, &error);
    if (call.store)
        orch_store_limit_time(call.store, WEB_QUERY_S);
    if (call.store && job->handler(&call, &error)) {
        job->status = 200;
        job->type = call.type ? call.type : "application/json";
        job->bytes = call.bytes;
        job->attachment = call.attachment;
        job->stands_alone = call.stands_alone;
    } else {
        g_autofree char *message = NULL, *hint = NULL;
        orch_web_error_split(error, &message, &hint);
        job->status = status_of(error);
        job->type = "application/json";
        job->bytes = orch_web_error_bytes(message, hint, job->status == 500 ? "server" : "request");
    }
    if (call.store)
        g_async_queue_push(job->web->stores, call.store);
    g_idle_add_full(G_PRIORITY_DEFAULT, on_answer, job, NULL);
}

static void on_job_gone(SoupServerMessage *message, gpointer data)
{
    (void)message;
    ((struct job *)data)->is_gone = true;
}

static void copy_query(GHashTable *query, GHashTable *out)
{
    GHashTableIter iter;
    gpointer name, value;
    if (query)
        g_hash_table_iter_init(&iter, query);
    while (query && g_hash_table_iter_next(&iter, &name, &value))
        if (g_utf8_validate(name, -1, NULL) && g_utf8_validate(value, -1, NULL))
            g_hash_table_insert(out, g_strdup(name), g_strdup(value));
}

void orch_web_job_start(struct orch_web *web, SoupServerMessage *message, web_handler handler,
                        char *run, GHashTable *query, GBytes *body)
{
    if (g_thread_pool_unprocessed(web->workers) >= WEB_JOBS_MAX) {
        g_free(run);
        g_bytes_unref(body);
        orch_web_put_error(message, 503, "too many requests at once", "try again in a moment");
        return;
    }
    const struct web_head head = orch_web_head_read(message, "", NULL, "");
    struct job *job = g_new0(struct job, 1);
    job->web = web;
    job->message = g_object_ref(message);
    job->handler = handler;
    job->run = run;
    job->body = body;
    job->may_change = !web->guard.no_change && orch_web_guard_trusts(&web->guard, &head);
    job->query = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    copy_query(query, job->query);
    job->gone_handler = g_signal_connect(message, "disconnected", G_CALLBACK(on_job_gone), job);
    soup_server_message_pause(message);
    g_thread_pool_push(web->workers, job, NULL);
}
