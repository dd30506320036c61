/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits the number of connections, and the time that a connection may be idle. */
#include "core/web/internal.h"

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

static void on_connection_gone(gpointer data, GObject *stream)
{
    struct orch_web *web = data;
    g_hash_table_remove(web->connections, stream);
}

/* Returns the connection that has been idle longest, without a complete request header; borrowed.
 * NULL: all are busy. */
static GSocketConnection *find_idlest(struct orch_web *web, int64_t *out_since_ns)
{
    GSocketConnection *found = NULL;
    GHashTableIter iter;
    gpointer stream, remote;
    *out_since_ns = G_MAXINT64;
    g_hash_table_iter_init(&iter, web->connections);
    while (g_hash_table_iter_next(&iter, &stream, &remote)) {
        const struct connection *c = g_object_get_data(remote, "orch-connection");
        if (c->is_busy || c->is_ended || c->since_ns >= *out_since_ns)
            continue;
        *out_since_ns = c->since_ns;
        found = stream;
    }
    return found;
}

static void end_connection(struct orch_web *web, GSocketConnection *stream)
{
    GObject *remote = g_hash_table_lookup(web->connections, stream);
    struct connection *c = g_object_get_data(remote, "orch-connection");
    c->is_ended = true;
    g_socket_shutdown(g_socket_connection_get_socket(stream), TRUE, TRUE, NULL);
}

gboolean orch_web_connections_reap(gpointer data)
{
    struct orch_web *web = data;
    int64_t before = orch_mono_ns() - WEB_IDLE_S * INT64_C(1000000000), since;
    GSocketConnection *stream;
    while ((stream = find_idlest(web, &since)) != NULL && since < before)
        end_connection(web, stream);
    return G_SOURCE_CONTINUE;
}

/* Accepts a connection. When there are too many, the one idle longest is closed, so that a client
 * that opens connections without sending requests cannot lock others out. */
gboolean orch_web_connections_take(GSocketService *service, GSocketConnection *stream,
                                   GObject *source, gpointer data)
{
    (void)service;
    (void)source;
    struct orch_web *web = data;
    if (g_hash_table_size(web->connections) >= WEB_CONNECTIONS_MAX) {
        int64_t since;
        GSocketConnection *idlest = find_idlest(web, &since);
        if (!idlest || g_hash_table_size(web->connections) >= 2 * WEB_CONNECTIONS_MAX)
            return TRUE; /* closed when its last reference is dropped */
        end_connection(web, idlest);
    }
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
