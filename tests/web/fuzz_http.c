/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes on a connection to the page's server. A crash, a leak, a connection that is never
 * answered or closed, an answer with status 500, or content without the policy headers is a fault.
 * The server is real: it listens on a free port of the loopback address and reads a copy of the
 * golden store. Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus
 * as a test. */
#include "features/web/internal.h"
#include "lib/base/file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum {
    INPUT_MAX = 1 << 16,
    ANSWER_MAX = 1 << 20, /* bytes kept of an answer */
    PATIENCE_MS = 5000,   /* an exchange over the loopback address takes about 1 ms */
};

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static struct orch_web *start_server(void)
{
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    g_autofree char *golden =
        g_build_filename(source ? source : ".", "tests", "data", "store-v1.db", NULL);
    g_autofree char *bytes = NULL;
    gsize length;
    g_autofree char *folder = g_dir_make_tmp("orch-fuzz-XXXXXX", NULL);
    g_autofree char *path = folder ? g_build_filename(folder, "results.db", NULL) : NULL;
    if (!path || !g_file_get_contents(golden, &bytes, &length, NULL) ||
        !orch_file_write(path, bytes, length, false, NULL))
        die("cannot copy tests/data/store-v1.db: start it in the source folder, or set "
            "ORCH_SOURCE_DIR");
    const struct orch_web_options options = {.store_path = path, .version = "fuzz"};
    GError *error = NULL;
    struct orch_web *web = orch_web_new(&options, &error);
    if (!web)
        die(error->message);
    g_socket_service_start(web->service);
    return web;
}

/* The server lives as long as the process; its folder is removed when that ends. */
static struct orch_web *server;

static void stop_server(void)
{
    g_autofree char *folder = g_path_get_dirname(server->options.store_path);
    orch_web_free(server);
    orch_tree_remove(folder, NULL);
}

static GSocket *connect_to(unsigned port)
{
    g_autoptr(GSocketAddress) address = g_inet_socket_address_new_from_string("127.0.0.1", port);
    GSocket *client =
        g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
    if (!client || !g_socket_connect(client, address, NULL, NULL))
        die("cannot connect to the server");
    g_socket_set_blocking(client, FALSE);
    return client;
}

/* Sends all, then says that nothing follows. */
static void send_some(GSocket *client, const uint8_t *bytes, size_t length, size_t *sent)
{
    gssize n;
    while (*sent < length &&
           (n = g_socket_send(client, (const char *)bytes + *sent, length - *sent, NULL, NULL)) > 0)
        *sent += (size_t)n;
    if (*sent == length && g_socket_is_connected(client)) {
        g_socket_shutdown(client, FALSE, TRUE, NULL);
        (*sent)++;
    }
}

/* False at the end of the connection. */
static bool receive_some(GSocket *client, GString *answer)
{
    char buffer[1 << 14];
    for (;;) {
        GError *error = NULL;
        gssize n = g_socket_receive(client, buffer, sizeof buffer, NULL, &error);
        bool waits = n < 0 && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
        g_clear_error(&error);
        if (n <= 0)
            return waits;
        if (answer->len < ANSWER_MAX)
            g_string_append_len(answer, buffer, n);
    }
}

/* The stream of running trials has no end, so the client ends it. */
static bool is_endless(const GString *answer)
{
    return strstr(answer->str, "text/event-stream") != NULL;
}

static void exchange(const uint8_t *bytes, size_t length, GString *answer)
{
    GSocket *client = connect_to(server->guard.port);
    int64_t until = g_get_monotonic_time() + PATIENCE_MS * INT64_C(1000);
    size_t sent = 0;
    while (receive_some(client, answer) && !is_endless(answer)) {
        if (sent <= length)
            send_some(client, bytes, length, &sent);
        if (g_get_monotonic_time() > until)
            die("a connection was neither answered nor closed");
        if (!g_main_context_iteration(NULL, FALSE))
            g_usleep(50);
    }
    g_object_unref(client);
    while (g_main_context_iteration(NULL, FALSE))
        ;
}

static void check_answer(const GString *answer)
{
    if (!answer->len) /* closed without an answer: no head was complete */
        return;
    if (!g_str_has_prefix(answer->str, "HTTP/1."))
        die("an answer that is no HTTP");
    if (g_str_has_prefix(answer->str + strlen("HTTP/1.x"), " 500"))
        die("a request broke the server");
    /* libsoup refuses what is no HTTP by itself, with an answer that has no content */
    const char *end = strstr(answer->str, "\r\n\r\n");
    const char *type = strstr(answer->str, "\r\nContent-Type:");
    const char *policy = strstr(answer->str, "\r\nContent-Security-Policy: default-src");
    if (!end || (type && type < end && (!policy || policy > end)))
        die("content without the policy headers");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length > INPUT_MAX)
        return 0;
    if (!server) {
        server = start_server();
        atexit(stop_server);
    }
    g_autoptr(GString) answer = g_string_new(NULL);
    exchange(bytes, length, answer);
    check_answer(answer);
    return 0;
}
