/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listens and handles requests: access is decided from the header, a file of the page is sent at
 * once, and what needs the store is passed to a worker while the message is paused. */
#include "features/web/internal.h"
#include "features/web/page_files.h"
#include "features/web/web_jobs.h"
#include "features/web/web_response.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_path.h"
#include "store/handle/store_dir.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

/* ---- the head ---------------------------------------------------------------------------------
 */

static void put_closing_error(SoupServerMessage *message, const struct web_verdict *verdict,
                              bool is_change)
{
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
    soup_message_headers_replace(headers, "Connection", "close");
    if (verdict->status == 405)
        soup_message_headers_replace(headers, "Allow", is_change ? "POST" : "GET, HEAD");
    orch_web_put_error(message, verdict->status, verdict->message, verdict->hint);
}

/* Exchanges the token of the address: for a cookie, which lets read, and for the key of changes.
 * The key stands behind '#', which browsers send to no server; the page keeps it (key.js). */
static void exchange_token(const struct web_guard *guard, SoupServerMessage *message)
{
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
    g_autofree char *name = orch_web_cookie_name(guard->port);
    g_autofree char *cookie =
        g_strdup_printf("%s=%s; Path=/; HttpOnly; SameSite=Strict", name, guard->session);
    g_autofree char *place =
        guard->no_change ? g_strdup("/") : g_strdup_printf("/#key=%s", guard->key);
    orch_web_put_headers(message);
    soup_message_headers_replace(headers, "Set-Cookie", cookie);
    soup_message_headers_replace(headers, "Cache-Control", "no-store");
    soup_message_headers_replace(headers, "Location", place);
    soup_server_message_set_status(message, 303, NULL);
}

static void on_head(SoupServer *soup, SoupServerMessage *message, const char *path,
                    GHashTable *query, gpointer data)
{
    (void)soup;
    struct orch_web *web = data;
    g_autofree char *url = g_uri_to_string(soup_server_message_get_uri(message));
    const struct web_head head = orch_web_head_read(message, path, query, url);
    orch_web_connection_busy(message, true);
    struct web_verdict verdict = orch_web_guard_check(&web->guard, &head);
    if (verdict.status == 303)
        exchange_token(&web->guard, message);
    else if (verdict.status)
        put_closing_error(message, &verdict, strcmp(path, WEB_CHANGE_PATH) == 0);
}

/* ---- queries of the store ----------------------------------------------------------------------
 */

static void answer_from_store(struct orch_web *web, SoupServerMessage *message, const char *path,
                              GHashTable *query)
{
    char *run = NULL;
    web_handler handler = orch_web_route_find(path, &run);
    if (handler)
        orch_web_job_start(web, message, handler, run, query, NULL);
    else
        orch_web_put_error(message, 404, "there is nothing at this address",
                           "see 'orch help page'");
}

/* The guard has let only a POST with a short body come here. */
static void change_store(struct orch_web *web, SoupServerMessage *message)
{
    GBytes *body = soup_message_body_flatten(soup_server_message_get_request_body(message));
    orch_web_job_start(web, message, orch_web_api_change, NULL, NULL, body);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void send_file(struct orch_web *web, SoupServerMessage *message, const char *path)
{
    const struct web_file *file =
        g_hash_table_lookup(web->files, strcmp(path, "/") == 0 ? "/index.html" : path);
    if (!file) {
        orch_web_put_error(message, 404, "there is nothing at this address", NULL);
        return;
    }
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
    const char *known = soup_message_headers_get_one(
        soup_server_message_get_request_headers(message), "If-None-Match");
    soup_message_headers_replace(headers, "ETag", file->tag);
    soup_message_headers_replace(headers, "Cache-Control", "no-cache");
    if (known && strcmp(known, file->tag) == 0) {
        orch_web_put_headers(message);
        soup_server_message_set_status(message, 304, NULL);
    } else {
        orch_web_put_bytes(message, 200, file->type, file->bytes);
    }
}

static void on_request(SoupServer *soup, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data)
{
    (void)soup;
    struct orch_web *web = data;
    if (strcmp(path, "/api/v1/live") == 0) {
        const char *key = query ? g_hash_table_lookup(query, "points") : NULL;
        if (!orch_web_live_follow(web->live, message, key))
            orch_web_put_error(message, 503, "too many pages follow the running trials",
                               "close some of them");
    } else if (strcmp(path, WEB_CHANGE_PATH) == 0) {
        change_store(web, message);
    } else if (g_str_has_prefix(path, "/api/")) {
        answer_from_store(web, message, path, query);
    } else {
        send_file(web, message, path);
    }
}

static void on_finished(SoupServer *soup, SoupServerMessage *message, gpointer data)
{
    (void)soup;
    (void)data;
    orch_web_connection_busy(message, false);
}

/* ---- life cycle -------------------------------------------------------------------------------
 */

/* Each is new at each start, and tells nothing of the others. */
static bool make_secrets(struct web_guard *guard)
{
    guard->token = orch_web_token_new();
    guard->session = orch_web_token_new();
    guard->key = orch_web_token_new();
    return guard->token && guard->session && guard->key;
}

static bool choose_address(struct orch_web *web, GInetAddress **out, GError **error)
{
    const char *text = web->options.address ? web->options.address : "127.0.0.1";
    *out = g_inet_address_new_from_string(strcmp(text, "localhost") == 0 ? "127.0.0.1" : text);
    if (!*out) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example 0.0.0.0 for all of this machine's addresses",
                       "option '--bind': '%s' is not a numeric IP address", text);
        return false;
    }
    bool is_loopback = g_inet_address_get_is_loopback(*out);
    g_autofree char *figures = g_inet_address_to_string(*out);
    bool is_v6 = g_inet_address_get_family(*out) == G_SOCKET_FAMILY_IPV6;
    web->guard.address = is_v6 ? g_strdup_printf("[%s]", figures) : g_strdup(figures);
    web->guard.host = g_ascii_strdown(g_get_host_name(), -1);
    web->guard.is_any = g_inet_address_get_is_any(*out);
    web->guard.is_open = is_loopback && !web->options.with_token;
    const bool needs_token = !web->guard.is_open || !web->guard.no_change;
    if (needs_token && !make_secrets(&web->guard)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "cannot get random bytes for a token from the system");
        return false;
    }
    return true;
}

static bool listen_at(struct orch_web *web, GInetAddress *address, GError **error)
{
    g_autoptr(GSocketAddress) wanted =
        g_inet_socket_address_new(address, (guint16)web->options.port);
    g_autoptr(GSocketAddress) got = NULL;
    g_autoptr(GError) why = NULL;
    web->service = g_socket_service_new();
    g_socket_listener_set_backlog(G_SOCKET_LISTENER(web->service), WEB_QUEUE);
    if (!g_socket_listener_add_address(G_SOCKET_LISTENER(web->service), wanted,
                                       G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &got,
                                       &why)) {
        orch_error_set(error, ORCH_ERROR_IO, "choose another port: --port 0 takes any free one",
                       "cannot listen at %s port %u: %s", web->guard.address, web->options.port,
                       why->message);
        return false;
    }
    web->guard.port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(got));
    const char *shown = web->guard.is_any ? web->guard.host : web->guard.address;
    web->url = g_strdup_printf("http://%s:%u/%s%s", shown, web->guard.port,
                               web->guard.token ? "?token=" : "",
                               web->guard.token ? web->guard.token : "");
    g_signal_connect(web->service, "incoming", G_CALLBACK(orch_web_connections_take), web);
    return true;
}

/* Returns why the page may not change this store; NULL: it may. */
static const char *why_unchanged(const struct orch_web *web, const struct orch_store *store)
{
    if (web->options.is_read_only || !web->options.change)
        return "this page only reads: the server was started with --read-only";
    if (!orch_store_is_own(store))
        return "this page only reads: the store is not yours";
    if (access(web->options.store_path, W_OK) != 0)
        return "this page only reads: the store cannot be written";
    return NULL;
}

static bool open_all(struct orch_web *web, GError **error)
{
    g_autoptr(GInetAddress) address = NULL;
    g_autofree char *share = orch_program_path("share", error);
    g_autofree char *folder = share ? g_build_filename(share, "web", NULL) : NULL;
    struct orch_store *store =
        folder ? orch_store_open(web->options.store_path, ORCH_STORE_READ, error) : NULL;
    if (!store)
        return false;
    g_async_queue_push(web->stores, store);
    if (orch_store_is_alone(store)) {
        orch_error_set(error, ORCH_ERROR_STORE, "free some space: orch gc",
                       "cannot serve store '%s': the disk is full", web->options.store_path);
        return false;
    }
    web->guard.no_change = why_unchanged(web, store);
    web->files = orch_web_files_read(folder, error);
    return web->files && choose_address(web, &address, error) && listen_at(web, address, error) &&
           (web->live = orch_web_live_new(web, error)) != NULL;
}

struct orch_web *orch_web_new(const struct orch_web_options *options, GError **error)
{
    struct orch_web *web = g_new0(struct orch_web, 1);
    web->options = *options;
    web->options.store_path = g_strdup(options->store_path);
    web->options.who = g_strdup(options->who);
    web->options.version = g_strdup(options->version);
    web->options.address = g_strdup(options->address);
    g_mutex_init(&web->lock);
    g_mutex_init(&web->callback_lock);
    web->listings = g_queue_new();
    web->connections = orch_web_connections_new();
    web->stores = g_async_queue_new_full((GDestroyNotify)orch_store_close);
    web->workers = g_thread_pool_new(orch_web_job_answer, NULL, WEB_WORKERS, FALSE, NULL);
    web->loop = g_main_loop_new(NULL, FALSE);
    web->soup = g_object_new(SOUP_TYPE_SERVER, "server-header", "orch", NULL);
    soup_server_add_early_handler(web->soup, NULL, on_head, web, NULL);
    soup_server_add_handler(web->soup, NULL, on_request, web, NULL);
    g_signal_connect(web->soup, "request-finished", G_CALLBACK(on_finished), web);
    g_signal_connect(web->soup, "request-aborted", G_CALLBACK(on_finished), web);
    web->reaper = g_timeout_add_seconds(1, orch_web_connections_reap, web);
    if (open_all(web, error))
        return web;
    orch_web_free(web);
    return NULL;
}

const char *orch_web_why_unchanged(const struct orch_web *web)
{
    return web->guard.no_change;
}

const char *orch_web_url(const struct orch_web *web)
{
    return web->url;
}

static gboolean on_signal(gpointer data)
{
    g_main_loop_quit(((struct orch_web *)data)->loop);
    return G_SOURCE_CONTINUE;
}

void orch_web_run(struct orch_web *web)
{
    guint interrupted = g_unix_signal_add(SIGINT, on_signal, web);
    guint terminated = g_unix_signal_add(SIGTERM, on_signal, web);
    g_socket_service_start(web->service);
    g_main_loop_run(web->loop);
    g_source_remove(interrupted);
    g_source_remove(terminated);
}

void orch_web_free(struct orch_web *web)
{
    if (!web)
        return;
    if (web->service) {
        g_socket_service_stop(web->service);
        g_socket_listener_close(G_SOCKET_LISTENER(web->service));
        g_clear_object(&web->service);
    }
    g_thread_pool_free(web->workers, TRUE, TRUE);
    while (g_main_context_iteration(NULL, FALSE)) /* sends the responses of finished workers */
        ;
    orch_web_live_free(web->live);
    g_source_remove(web->reaper);
    soup_server_disconnect(web->soup);
    g_object_unref(web->soup);
    orch_web_connections_free(web);
    g_async_queue_unref(web->stores);
    g_clear_pointer(&web->files, g_hash_table_unref);
    orch_web_listings_free(web->listings);
    orch_web_folded_free(web->folded);
    g_main_loop_unref(web->loop);
    orch_web_guard_clear(&web->guard);
    g_mutex_clear(&web->lock);
    g_mutex_clear(&web->callback_lock);
    g_free((char *)(uintptr_t)web->options.store_path);
    g_free((char *)(uintptr_t)web->options.who);
    g_free((char *)(uintptr_t)web->options.version);
    g_free((char *)(uintptr_t)web->options.address);
    g_free(web->url);
    g_free(web);
}
