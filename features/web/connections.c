/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits the number of connections, and the time that a connection may be idle. */
#include "features/web/internal.h"

#include "lib/base/file.h"

struct connection {
    bool is_busy;  /* a request header is complete and its response has not been sent */
    bool is_ended; /* shut down; removed when its stream is freed */
    int64_t since_ns;
};

static struct connection *connection_of(SoupServerMessage *message)
{
    GSocketAddress *remote = soup_server_message_get_remote_address(message);
    return remote ? g_object_get_data(G_OBJECT(remote), "orch-connection") : NULL;
}

void orch_web_connection_busy(SoupServerMessage *message, bool is_busy)
{
    struct connection *connection = connection_of(message);
    if (!connection)
        return;
    connection->is_busy = is_busy;
    connection->since_ns = orch_mono_ns();
}

/* Accepts connections only while there is room; the others wait in the queue of the system. */
static void accept_while_room(struct orch_web *web)
{
    if (!web->service) /* the server ends */
        return;
    bool has_room = g_hash_table_size(web->connections) < WEB_CONNECTIONS_MAX;
    if (has_room && !g_socket_service_is_active(web->service))
        g_socket_service_start(web->service);
    else if (!has_room)
        g_socket_service_stop(web->service);
}

static void on_connection_gone(gpointer data, GObject *stream)
{
    struct orch_web *web = data;
    g_hash_table_remove(web->connections, stream);
    accept_while_room(web);
}

/* Returns whether the connection has waited for its client since before a time. When bytes of a
 * request wait in the socket, it is the server that is late. */
static bool is_idle(GSocket *socket, const struct connection *c, int64_t before_ns)
{
    return !c->is_busy && !c->is_ended && c->since_ns < before_ns &&
           !(g_socket_condition_check(socket, G_IO_IN) & G_IO_IN);
}

/* Ends connections that have been idle for `idle_s`. */
static void end_idle(struct orch_web *web, int idle_s)
{
    int64_t before_ns = orch_mono_ns() - idle_s * INT64_C(1000000000);
    GHashTableIter iter;
    gpointer stream, remote;
    g_hash_table_iter_init(&iter, web->connections);
    while (g_hash_table_iter_next(&iter, &stream, &remote)) {
        GSocket *socket = g_socket_connection_get_socket(stream);
        struct connection *c = g_object_get_data(remote, "orch-connection");
        if (!is_idle(socket, c, before_ns))
            continue;
        c->is_ended = true;
        g_socket_shutdown(socket, TRUE, TRUE, NULL);
    }
}

static bool has_many(const struct orch_web *web)
{
    return g_hash_table_size(web->connections) >= WEB_CONNECTIONS_MANY;
}

gboolean orch_web_connections_reap(gpointer data)
{
    struct orch_web *web = data;
    end_idle(web, has_many(web) ? WEB_SILENT_S : WEB_IDLE_S);
    return G_SOURCE_CONTINUE;
}

/* Accepts a connection. When there are many, silent ones are closed, so that a client that opens
 * connections without sending requests cannot lock others out. One with a request is never closed
 * without an answer. */
gboolean orch_web_connections_take(GSocketService *service, GSocketConnection *stream,
                                   GObject *source, gpointer data)
{
    (void)service;
    (void)source;
    struct orch_web *web = data;
    if (has_many(web))
        end_idle(web, WEB_SILENT_S);
    g_autoptr(GSocketAddress) local = g_socket_connection_get_local_address(stream, NULL);
    g_autoptr(GSocketAddress) remote = g_socket_connection_get_remote_address(stream, NULL);
    if (!local || !remote)
        return TRUE;
    struct connection *connection = g_new0(struct connection, 1);
    connection->since_ns = orch_mono_ns();
    /* each message has this address object, which leads back to the connection */
    g_object_set_data_full(G_OBJECT(remote), "orch-connection", connection, g_free);
    g_hash_table_insert(web->connections, stream, g_object_ref(remote));
    g_object_weak_ref(G_OBJECT(stream), on_connection_gone, web);
    g_socket_set_timeout(g_socket_connection_get_socket(stream), WEB_IDLE_S);
    soup_server_accept_iostream(web->soup, G_IO_STREAM(stream), local, remote, NULL);
    accept_while_room(web);
    return TRUE;
}

GHashTable *orch_web_connections_new(void)
{
    return g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_object_unref);
}

void orch_web_connections_free(struct orch_web *web)
{
    GHashTableIter iter;
    gpointer stream;
    g_hash_table_iter_init(&iter, web->connections);
    while (g_hash_table_iter_next(&iter, &stream, NULL))
        g_object_weak_unref(stream, on_connection_gone, web);
    g_hash_table_unref(web->connections);
}
