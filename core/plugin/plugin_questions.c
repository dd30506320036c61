/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What plugins are asked: whether they accept parameters (check), and what work these mean (cost).
 * A program declares its cost in its manifest instead. */
#include "core/plugin/plugins_private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/manifest.h"
#include "lib/wire/value.h"

#include <string.h>

/* Maximum number of pending requests. */
enum { AHEAD_MAX = 1000 };

static char *question_key(const char *what, const json_t *params)
{
    g_autofree char *canonical = orch_json_canonical(params);
    return g_strconcat(what, " ", canonical, NULL);
}

/* The running batch host, started if there is none. NULL with an error. */
static struct orch_batch *living_batch(struct orch_plugins *plugins, struct loaded *loaded,
                                       GError **error)
{
    if (loaded->hang) {
        g_propagate_error(error, g_error_copy(loaded->hang));
        return NULL;
    }
    if (loaded->batch && orch_batch_is_dead(loaded->batch))
        g_clear_pointer(&loaded->batch, orch_batch_free);
    if (!loaded->batch)
        loaded->batch = orch_plugins_start_batch(plugins, loaded->manifest->path,
                                                 loaded->manifest->sha256, error);
    return loaded->batch;
}

/* Waits for a response and caches it. Borrowed; NULL with an error. */
static const json_t *wait_for(struct loaded *loaded, int64_t id, const char *key, GError **error)
{
    GError *reason = NULL;
    json_t *answer = orch_batch_wait(loaded->batch, id, &reason);
    if (answer) {
        g_hash_table_replace(loaded->answers, g_strdup(key), answer);
        return answer;
    }
    if (orch_batch_has_hung(loaded->batch) && !loaded->hang)
        loaded->hang = g_error_copy(reason);
    g_propagate_error(error, reason);
    return NULL;
}

static const json_t *request(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                             const char *what, const json_t *params, GError **error)
{
    struct loaded *loaded = orch_plugins_load(plugins, manifest->path, error);
    if (!loaded)
        return NULL;
    g_autofree char *key = question_key(what, params);
    const json_t *known = g_hash_table_lookup(loaded->answers, key);
    if (known)
        return known;
    struct orch_batch *batch = living_batch(plugins, loaded, error);
    int64_t id = batch ? orch_batch_request(batch, what, params, error) : -1;
    return id < 0 ? NULL : wait_for(loaded, id, key, error);
}

struct sent {
    int64_t id;
    char *key;
};

static void sent_clear(void *pointer)
{
    g_free(((struct sent *)pointer)->key);
}

/* Sends a request unless its response is cached or pending. */
static void send_ahead(struct loaded *loaded, const char *what, const json_t *params,
                       GHashTable *under_way, GArray *sent)
{
    struct sent row = {.key = question_key(what, params)};
    if (!g_hash_table_contains(loaded->answers, row.key) &&
        !g_hash_table_contains(under_way, row.key))
        row.id = orch_batch_request(loaded->batch, what, params, NULL);
    else
        row.id = -1;
    if (row.id < 0) {
        g_free(row.key);
        return;
    }
    g_hash_table_add(under_way, row.key);
    g_array_append_val(sent, row);
}

static bool request_block(struct loaded *loaded, json_t *const *params, size_t count)
{
    g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(struct sent));
    g_autoptr(GHashTable) under_way = g_hash_table_new(g_str_hash, g_str_equal);
    bool ok = true;
    g_array_set_clear_func(sent, sent_clear);
    for (size_t i = 0; i < count; i++) {
        if (loaded->manifest->has_check)
            send_ahead(loaded, "check", params[i], under_way, sent);
        if (loaded->manifest->has_cost)
            send_ahead(loaded, "cost", params[i], under_way, sent);
    }
    for (guint i = 0; ok && i < sent->len; i++) {
        const struct sent *row = &g_array_index(sent, struct sent, i);
        ok = wait_for(loaded, row->id, row->key, NULL) != NULL;
    }
    return ok;
}

void orch_plugins_prefetch(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                           json_t *const *params, size_t count)
{
    if (manifest->kind != ORCH_PLUGIN_COMPILED || !(manifest->has_check || manifest->has_cost))
        return;
    struct loaded *loaded = orch_plugins_load(plugins, manifest->path, NULL);
    if (!loaded || !living_batch(plugins, loaded, NULL))
        return;
    for (size_t i = 0; i < count; i += AHEAD_MAX)
        if (!request_block(loaded, params + i, MIN(AHEAD_MAX, count - i)))
            return;
}

/* ---- check -------------------------------------------------------------------------------- */

static GPtrArray *inputs_new(const json_t *answer)
{
    GPtrArray *inputs = g_ptr_array_new_with_free_func(g_free);
    const json_t *rows = json_object_get(answer, "inputs");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = orch_json_text(row, "name", NULL);
        const char *sha256 = orch_json_text(row, "sha256", NULL);
        if (!name || !orch_sha256_is_valid(sha256))
            continue;
        /* one allocation: the name follows the struct */
        struct orch_checked_input *input = g_malloc0(sizeof *input + strlen(name) + 1);
        input->name = strcpy((char *)(input + 1), name);
        g_strlcpy(input->sha256, sha256, sizeof input->sha256);
        input->is_word = true;
        g_ptr_array_add(inputs, input);
    }
    return inputs;
}

/* The parameters without effect that the manifest has, each once. */
static GPtrArray *no_effect_new(const struct orch_manifest *manifest, const json_t *answer)
{
    GPtrArray *no_effect = g_ptr_array_new_with_free_func(g_free);
    const json_t *names = json_object_get(answer, "no_effect");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && orch_manifest_param(manifest, name) &&
            !g_ptr_array_find_with_equal_func(no_effect, name, g_str_equal, NULL))
            g_ptr_array_add(no_effect, g_strdup(name));
    }
    return no_effect;
}

static void refusal(const struct orch_manifest *manifest, const json_t *answer, GError **error)
{
    g_autofree char *text = g_strdup(orch_json_text(answer, "text", ""));
    g_autofree char *see = g_strdup_printf("see 'orch plugin show %s'", manifest->name);
    const char *hint = orch_hint_cut(text);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint ? hint : see,
                   "plugin '%s' rejects these parameters%s%s", manifest->name, *text ? ": " : "",
                   text);
}

static GPtrArray *warnings_new(const json_t *answer)
{
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    const json_t *texts = json_object_get(answer, "warnings");
    for (size_t i = 0; i < json_array_size(texts); i++)
        if (json_is_string(json_array_get(texts, i)))
            g_ptr_array_add(warnings, g_strdup(json_string_value(json_array_get(texts, i))));
    return warnings;
}

void orch_checked_clear(struct orch_checked *checked)
{
    g_clear_pointer(&checked->inputs, g_ptr_array_unref);
    g_clear_pointer(&checked->no_effect, g_ptr_array_unref);
    g_clear_pointer(&checked->warnings, g_ptr_array_unref);
}

bool orch_plugins_check(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                        const json_t *params, struct orch_checked *out, GError **error)
{
    const json_t *answer = NULL;
    if (manifest->kind == ORCH_PLUGIN_COMPILED && manifest->has_check) {
        answer = request(plugins, manifest, "check", params, error);
        if (!answer)
            return false;
        if (!json_is_true(json_object_get(answer, "ok"))) {
            refusal(manifest, answer, error);
            return false;
        }
    }
    if (out)
        *out = (struct orch_checked){.inputs = inputs_new(answer),
                                     .no_effect = no_effect_new(manifest, answer),
                                     .warnings = warnings_new(answer)};
    return true;
}

/* ---- cost --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t type;
} COST_FIELDS[] = {
    {"network", ORCH_STRING}, {"precision", ORCH_STRING}, {"framework", ORCH_STRING},
    {"input", ORCH_STRING},   {"images", ORCH_INT},       {"batch", ORCH_INT},
    {"workers", ORCH_INT},    {"classes", ORCH_INT},      {"epochs", ORCH_REAL},
    {"training", ORCH_BOOL},  {"unit", ORCH_STRING},      {"samples", ORCH_INT},
    {"copies", ORCH_INT},     {"actors", ORCH_INT},       {"steps", ORCH_INT},
};

/* One field of a manifest's `cost:` with its references filled in. NULL on error. */
static json_t *wrapped_field(const struct orch_manifest *manifest, const json_t *params,
                             const char *name, uint32_t type, const char *text, GError **error)
{
    g_autofree char *expanded = orch_value_expand(text, params, error);
    if (!expanded)
        return NULL;
    g_autofree char *label = g_strconcat("cost.", name, NULL);
    const struct orch_param_spec spec = {.name = label, .type = type};
    json_t *value = orch_value_parse_scalar(&spec, expanded, error);
    if (!value) {
        g_prefix_error(error, "plugin '%s': ", manifest->name);
        return NULL;
    }
    if (type != ORCH_BOOL)
        return value;
    bool is_true = json_is_true(value);
    json_decref(value);
    return json_integer(is_true); /* the type in struct orch_cost */
}

static json_t *wrapped_cost(const struct orch_manifest *manifest, const json_t *params,
                            GError **error)
{
    if (!manifest->cost)
        return json_null();
    json_t *cost = json_object();
    for (unsigned i = 0; i < G_N_ELEMENTS(COST_FIELDS); i++) {
        const char *text = orch_json_text(manifest->cost, COST_FIELDS[i].name, NULL);
        if (!text)
            continue;
        json_t *value =
            wrapped_field(manifest, params, COST_FIELDS[i].name, COST_FIELDS[i].type, text, error);
        if (!value) {
            json_decref(cost);
            return NULL;
        }
        json_object_set_new(cost, COST_FIELDS[i].name, value);
    }
    return cost;
}

json_t *orch_plugins_cost(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                          const json_t *params, GError **error)
{
    if (manifest->kind == ORCH_PLUGIN_WRAPPED)
        return wrapped_cost(manifest, params, error);
    if (!manifest->has_cost)
        return json_null();
    const json_t *answer = request(plugins, manifest, "cost", params, error);
    if (!answer)
        return NULL;
    const char *text = orch_json_text(answer, "text", NULL);
    json_t *cost = json_object_get(answer, "cost");
    if (cost && (json_is_object(cost) || !text))
        return json_incref(cost);
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "plugin '%s' reported no cost%s%s",
                   manifest->name, text ? ": " : "", text ? text : "");
    return NULL;
}
