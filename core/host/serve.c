/* SPDX-License-Identifier: MIT */
/* A plugin's output must not mix with the answers, so its standard output is redirected to standard
 * error, and the answers use a descriptor that it does not know. */
#include "core/host/serve.h"

#include "core/host/host_services.h"
#include "core/host/plugin_load.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/write_all.h"
#include "lib/wire/event.h"
#include "lib/wire/value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { QUESTION_BYTES_MAX = 1 << 20 };

struct server {
    int answers_fd;
    struct loaded_plugin loaded;
    struct services *services;
};

/* ---- answers ----------------------------------------------------------------------------------
 */

static bool send(struct server *server, const json_t *object)
{
    g_autoptr(GString) line = g_string_new(NULL);
    orch_event_encode_json(line, object);
    return orch_write_all(server->answers_fd, line->str, line->len);
}

static json_t *manifest_event(const struct loaded_plugin *loaded)
{
    json_t *object = orch_manifest_encode(loaded->manifest);
    json_object_set_new(object, "event", json_string("manifest"));
    if (loaded->load_ms > PLUGIN_LOAD_MS_MAX)
        json_object_set_new(object, "load_ms", json_real(loaded->load_ms));
    return object;
}

/* Allocates and fills the parameter struct for a query; NULL with an error. */
static void *fill_params(const struct server *server, const json_t *question, GPtrArray *arena,
                         GError **error)
{
    size_t bytes = server->loaded.plugin.params_bytes;
    void *params = g_malloc0(bytes + 1);
    g_ptr_array_add(arena, params);
    return orch_value_fill(server->loaded.manifest, json_object_get(question, "params"), params,
                           bytes, arena, error)
               ? params
               : NULL;
}

static json_t *answer_check(struct server *server, const json_t *question)
{
    const struct orch_plugin *plugin = &server->loaded.plugin;
    g_autoptr(GPtrArray) arena = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    orch_services_reset(server->services, json_is_true(json_object_get(question, "smoke")));
    const void *params = fill_params(server, question, arena, &error);
    bool ok = params && (!plugin->check ||
                         plugin->check(params, orch_services_host(server->services)) == ORCH_OK);
    const char *text = error ? error->message : orch_services_failure(server->services);
    return json_pack("{s:s s:b s:s* s:O s:O s:O}", "event", "checked", "ok", ok, "text",
                     ok ? NULL : text, "inputs", orch_services_inputs(server->services),
                     "no_effect", orch_services_no_effect(server->services), "warnings",
                     orch_services_warnings(server->services));
}

static json_t *encode_cost(const struct orch_cost *cost)
{
    json_t *object = json_object();
    const struct {
        const char *key, *text;
    } texts[] = {{"network", cost->network},
                 {"precision", cost->precision},
                 {"framework", cost->framework},
                 {"input", cost->input},
                 {"unit", cost->unit}};
    const struct {
        const char *key;
        int64_t number;
    } numbers[] = {
        {"images", cost->images},   {"batch", cost->batch},       {"workers", cost->workers},
        {"classes", cost->classes}, {"training", cost->training}, {"samples", cost->samples},
        {"copies", cost->copies},   {"actors", cost->actors},     {"steps", cost->steps}};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        if (texts[i].text)
            json_object_set_new(object, texts[i].key, json_string(texts[i].text));
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (numbers[i].number)
            json_object_set_new(object, numbers[i].key, json_integer(numbers[i].number));
    if (cost->epochs != 0)
        json_object_set_new(object, "epochs", orch_json_real(cost->epochs));
    return object;
}

static json_t *answer_cost(struct server *server, const json_t *question)
{
    const struct orch_plugin *plugin = &server->loaded.plugin;
    g_autoptr(GPtrArray) arena = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    struct orch_cost cost = {.struct_bytes = sizeof cost};
    const void *params = fill_params(server, question, arena, &error);
    if (!params)
        return json_pack("{s:s s:n s:s}", "event", "cost", "cost", "text", error->message);
    if (!plugin->cost)
        return json_pack("{s:s s:n}", "event", "cost", "cost");
    int status = plugin->cost(params, &cost);
    if (status != ORCH_OK)
        return json_pack("{s:s s:n s:s}", "event", "cost", "cost", "text",
                         "the plugin has no estimate for these parameters");
    return json_pack("{s:s s:o}", "event", "cost", "cost", encode_cost(&cost));
}

static json_t *answer_hello(struct server *server, const json_t *question)
{
    (void)question;
    return manifest_event(&server->loaded);
}

/* ---- queries ----------------------------------------------------------------------------------
 */

static json_t *answer(struct server *server, const json_t *question)
{
    static const struct {
        const char *word;
        json_t *(*answer)(struct server *, const json_t *);
    } rows[] = {{"hello", answer_hello}, {"check", answer_check}, {"cost", answer_cost}};
    const char *word = orch_json_text(question, "do", "");
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].word, word) == 0)
            return rows[i].answer(server, question);
    return NULL; /* from a later version of the protocol */
}

static bool take_request(struct server *server, const char *line, size_t length)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) question = orch_json_parse(line, length, QUESTION_BYTES_MAX, &error);
    g_autoptr(json_t) reply = NULL;
    if (!question) {
        reply = json_pack("{s:s s:s}", "event", "error", "text", error->message);
    } else if ((reply = answer(server, question))) {
        json_t *id = json_object_get(question, "id");
        if (id)
            json_object_set(reply, "id", id);
    }
    return !reply || send(server, reply);
}

static bool answer_all(struct server *server, int questions_fd, GError **error)
{
    g_autoptr(GString) inbox = g_string_new(NULL);
    g_autofree char *buffer = g_malloc(65536);
    ssize_t n;
    while ((n = read(questions_fd, buffer, 65536)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read requests");
            return false;
        }
        g_string_append_len(inbox, buffer, n);
        size_t begin = 0;
        const char *newline;
        while ((newline = memchr(inbox->str + begin, '\n', inbox->len - begin))) {
            const char *line = inbox->str + begin;
            begin += (size_t)(newline - line) + 1;
            if (!take_request(server, line, (size_t)(newline - line)))
                return true; /* the reader of the answers is gone */
        }
        g_string_erase(inbox, 0, (gssize)begin);
        if (inbox->len > QUESTION_BYTES_MAX) {
            orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "a request is longer than %d bytes",
                           QUESTION_BYTES_MAX);
            return false;
        }
    }
    return true;
}

/* ---- the two modes ----------------------------------------------------------------------------
 */

/* Saves the real standard output and replaces it by standard error. */
static int take_stdout(GError **error)
{
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot use standard output");
        return -1;
    }
    return kept;
}

/* Saves the real standard input and replaces it by /dev/null. */
static int take_stdin(GError **error)
{
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (kept < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot use standard input");
        return -1;
    }
    close(nothing);
    return kept;
}

bool orch_serve_describe(const char *path, const char *sha256, GError **error)
{
    struct server server = {.answers_fd = take_stdout(error)};
    if (server.answers_fd < 0 || !orch_plugin_load(path, sha256, &server.loaded, error))
        return false;
    g_autoptr(json_t) manifest = manifest_event(&server.loaded);
    bool ok = send(&server, manifest);
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write to standard output");
    orch_loaded_plugin_clear(&server.loaded);
    return ok;
}

bool orch_serve_batch(const char *path, const char *sha256, GError **error)
{
    struct server server = {.answers_fd = take_stdout(error)};
    int questions_fd = server.answers_fd < 0 ? -1 : take_stdin(error);
    g_autoptr(GError) problem = NULL;
    if (questions_fd < 0)
        return false;
    if (!orch_plugin_load(path, sha256, &server.loaded, &problem)) {
        g_autoptr(json_t) event =
            json_pack("{s:s s:s}", "event", "error", "text", problem->message);
        send(&server, event);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    const struct services_setup setup = {
        .manifest = server.loaded.manifest, .events_fd = -1, .control_fd = -1};
    server.services = orch_services_new(&setup);
    bool ok = answer_all(&server, questions_fd, error);
    orch_services_free(server.services);
    orch_loaded_plugin_clear(&server.loaded);
    return ok;
}
