/* SPDX-License-Identifier: MIT */
/* Manifests as JSON. Absent texts and zeros are omitted; unknown members are ignored, so that
 * manifests of newer programs can be read. */
#include "lib/wire/manifest.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/direction.h"

#include <string.h>

enum { ROWS_MAX = 4096 }; /* of a table, and of a list of strings */

static const char *const KINDS[] = {"compiled", "wrapped", NULL};
static const char *const METRICS_FROM[] = {"protocol", "lines", "regex", NULL};

static int index_of(const char *const *words, const char *text)
{
    for (int i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void put_text(json_t *object, const char *key, const char *text)
{
    if (!text)
        return;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_object_set_new(object, key, json_string(valid));
}

static void put_true(json_t *object, const char *key, bool value)
{
    if (value)
        json_object_set_new(object, key, json_true());
}

static void put_int(json_t *object, const char *key, int64_t value)
{
    if (value)
        json_object_set_new(object, key, json_integer(value));
}

static void put_words(json_t *object, const char *key, char *const *words)
{
    if (!words)
        return;
    json_t *array = json_array();
    for (; *words; words++) {
        g_autofree char *valid = g_utf8_make_valid(*words, -1);
        json_array_append_new(array, json_string(valid));
    }
    json_object_set_new(object, key, array);
}

static json_t *encode_param(const void *row)
{
    const struct orch_param_spec *spec = row;
    json_t *object = json_object();
    put_text(object, "name", spec->name);
    g_autofree char *type = orch_type_format(spec->type);
    put_text(object, "type", type);
    put_true(object, "optional", spec->flags & ORCH_PARAM_OPTIONAL);
    put_true(object, "neutral", spec->flags & ORCH_PARAM_NEUTRAL);
    put_text(object, "unit", spec->unit);
    put_text(object, "min", spec->min);
    put_text(object, "max", spec->max);
    put_text(object, "default", spec->def);
    put_words(object, "choices", spec->choices);
    put_text(object, "label", spec->label);
    put_text(object, "help", spec->help);
    return object;
}

static json_t *encode_metric(const void *row)
{
    const struct orch_metric_spec *spec = row;
    json_t *object = json_object();
    put_text(object, "name", spec->name);
    put_text(object, "unit", spec->unit);
    put_text(object, "better", orch_better_word(spec->better));
    put_text(object, "step_unit", spec->step_unit);
    put_text(object, "min", spec->min);
    put_text(object, "max", spec->max);
    put_text(object, "label", spec->label);
    put_text(object, "help", spec->help);
    put_text(object, "pattern", spec->pattern);
    return object;
}

static json_t *encode_artifact(const void *row)
{
    const struct orch_artifact_spec *spec = row;
    json_t *object = json_object();
    put_text(object, "name", spec->name);
    put_text(object, "help", spec->help);
    put_text(object, "path", spec->path);
    return object;
}

static json_t *encode_rows(const GPtrArray *rows, json_t *(*encode)(const void *row))
{
    json_t *array = json_array();
    for (guint i = 0; i < rows->len; i++)
        json_array_append_new(array, encode(rows->pdata[i]));
    return array;
}

static json_t *encode_needs(const struct orch_needs *needs)
{
    json_t *object = json_object();
    put_int(object, "gpus", needs->gpus);
    put_int(object, "threads", needs->threads);
    put_int(object, "memory_bytes", (int64_t)needs->memory_bytes);
    put_int(object, "mpi", needs->mpi);
    return object;
}

json_t *orch_manifest_encode(const struct orch_manifest *manifest)
{
    json_t *object = json_object();
    put_text(object, "kind", KINDS[manifest->kind == ORCH_PLUGIN_WRAPPED]);
    put_text(object, "path", manifest->path);
    put_text(object, "name", manifest->name);
    put_text(object, "version", manifest->version);
    put_text(object, "build", manifest->build);
    put_text(object, "summary", manifest->summary);
    put_text(object, "licence", manifest->licence);
    put_true(object, "timing", manifest->flags & ORCH_PLUGIN_TIMING);
    json_object_set_new(object, "needs", encode_needs(&manifest->needs));
    json_object_set_new(object, "params", encode_rows(manifest->params, encode_param));
    json_object_set_new(object, "metrics", encode_rows(manifest->metrics, encode_metric));
    json_object_set_new(object, "artifacts", encode_rows(manifest->artifacts, encode_artifact));
    if (manifest->kind == ORCH_PLUGIN_COMPILED) {
        put_int(object, "abi_major", manifest->abi_major);
        put_int(object, "abi_minor", manifest->abi_minor);
        put_true(object, "has_check", manifest->has_check);
        put_true(object, "has_cost", manifest->has_cost);
        return object;
    }
    put_words(object, "argv", manifest->argv);
    put_text(
        object, "metrics_from",
        METRICS_FROM[manifest->metrics_from <= ORCH_METRICS_REGEX ? manifest->metrics_from : 0]);
    if (manifest->metrics_on)
        put_text(object, "metrics_on", ORCH_METRICS_ON_NAMES[manifest->metrics_on]);
    put_words(object, "metrics_files", manifest->metrics_files);
    put_true(object, "any_metric", manifest->any_metric);
    if (manifest->cost)
        json_object_set(object, "cost", manifest->cost);
    return object;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

#define broken(error, ...)                                                                         \
    (orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "manifest: " __VA_ARGS__), false)

static char *take_text(const json_t *object, const char *key)
{
    return g_strdup(orch_json_text(object, key, NULL));
}

static uint32_t take_u32(const json_t *object, const char *key)
{
    return (uint32_t)CLAMP(orch_json_int(object, key, 0), 0, (gint64)G_MAXUINT32);
}

/* Reads an optional array of strings; false if it is something else. */
static bool take_words(const json_t *object, const char *key, char ***out, GError **error)
{
    const json_t *array = json_object_get(object, key);
    if (!array || json_is_null(array))
        return true;
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count > ROWS_MAX)
        return broken(error, "'%s' is not a list of texts", key);
    char **words = g_new0(char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text) {
            g_strfreev(words);
            return broken(error, "'%s' is not a list of texts", key);
        }
        words[i] = g_strdup(text);
    }
    *out = words;
    return true;
}

static bool decode_param(struct orch_manifest *manifest, const json_t *row, const char *name,
                         GError **error)
{
    const char *type = orch_json_text(row, "type", "");
    uint32_t parsed = orch_type_parse(type);
    if (!parsed)
        return broken(error, "parameter '%s': type '%s' is not known", name, type);
    struct orch_param_spec *spec = orch_manifest_add_param(manifest, name, parsed);
    spec->flags = (json_is_true(json_object_get(row, "optional")) ? ORCH_PARAM_OPTIONAL : 0) |
                  (json_is_true(json_object_get(row, "neutral")) ? ORCH_PARAM_NEUTRAL : 0);
    spec->unit = take_text(row, "unit");
    spec->min = take_text(row, "min");
    spec->max = take_text(row, "max");
    spec->def = take_text(row, "default");
    spec->label = take_text(row, "label");
    spec->help = take_text(row, "help");
    return take_words(row, "choices", &spec->choices, error);
}

static bool decode_metric(struct orch_manifest *manifest, const json_t *row, const char *name,
                          GError **error)
{
    const char *word = orch_json_text(row, "better", "none");
    enum orch_better better = orch_better_parse(word);
    if (strcmp(word, orch_better_word(better)) != 0)
        return broken(error, "metric '%s': 'better' is not none, min or max", name);
    struct orch_metric_spec *spec = orch_manifest_add_metric(manifest, name);
    spec->better = better;
    spec->unit = take_text(row, "unit");
    spec->step_unit = take_text(row, "step_unit");
    spec->min = take_text(row, "min");
    spec->max = take_text(row, "max");
    spec->label = take_text(row, "label");
    spec->help = take_text(row, "help");
    spec->pattern = take_text(row, "pattern");
    return true;
}

static bool decode_artifact(struct orch_manifest *manifest, const json_t *row, const char *name,
                            GError **error)
{
    (void)error;
    struct orch_artifact_spec *spec = orch_manifest_add_artifact(manifest, name);
    spec->help = take_text(row, "help");
    spec->path = take_text(row, "path");
    return true;
}

static bool decode_rows(struct orch_manifest *manifest, const json_t *json, const char *key,
                        bool (*decode)(struct orch_manifest *, const json_t *, const char *,
                                       GError **),
                        GError **error)
{
    const json_t *rows = json_object_get(json, key);
    if (!rows)
        return true;
    if (!json_is_array(rows) || json_array_size(rows) > ROWS_MAX)
        return broken(error, "'%s' is not a list", key);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = orch_json_text(row, "name", NULL);
        if (!name)
            return broken(error, "row %zu of '%s' has no name", i + 1, key);
        if (!decode(manifest, row, name, error))
            return false;
    }
    return true;
}

static void decode_plain(struct orch_manifest *manifest, const json_t *json)
{
    manifest->path = take_text(json, "path");
    manifest->name = take_text(json, "name");
    manifest->version = take_text(json, "version");
    manifest->build = take_text(json, "build");
    manifest->summary = take_text(json, "summary");
    manifest->licence = take_text(json, "licence");
    manifest->flags = json_is_true(json_object_get(json, "timing")) ? ORCH_PLUGIN_TIMING : 0;
    const json_t *needs = json_object_get(json, "needs");
    manifest->needs.gpus = take_u32(needs, "gpus");
    manifest->needs.threads = take_u32(needs, "threads");
    manifest->needs.memory_bytes = (uint64_t)MAX(orch_json_int(needs, "memory_bytes", 0), 0);
    manifest->needs.mpi = take_u32(needs, "mpi");
    manifest->abi_major = take_u32(json, "abi_major");
    manifest->abi_minor = take_u32(json, "abi_minor");
    manifest->has_check = json_is_true(json_object_get(json, "has_check"));
    manifest->has_cost = json_is_true(json_object_get(json, "has_cost"));
}

static bool decode_wrapped(struct orch_manifest *manifest, const json_t *json, GError **error)
{
    const char *from = orch_json_text(json, "metrics_from", METRICS_FROM[0]);
    int index = index_of(METRICS_FROM, from);
    if (index < 0)
        return broken(error, "'metrics_from' is '%s': expected protocol, lines or regex", from);
    manifest->metrics_from = (enum orch_metrics_from)index;
    const char *on = orch_json_text(json, "metrics_on", ORCH_METRICS_ON_NAMES[0]);
    if ((index = index_of(ORCH_METRICS_ON_NAMES, on)) < 0)
        return broken(
            error, "'metrics_on' is '%s': expected stdout, stderr, both, lines, files or none", on);
    manifest->metrics_on = (enum orch_metrics_on)index;
    manifest->any_metric = json_is_true(json_object_get(json, "any_metric"));
    json_t *cost = json_object_get(json, "cost");
    if (cost && !json_is_null(cost) && !json_is_object(cost))
        return broken(error, "'cost' is not an object");
    manifest->cost = json_is_object(cost) ? json_incref(cost) : NULL;
    return take_words(json, "metrics_files", &manifest->metrics_files, error) &&
           take_words(json, "argv", &manifest->argv, error);
}

static bool decode_into(struct orch_manifest *manifest, const json_t *json, GError **error)
{
    const char *kind = orch_json_text(json, "kind", "");
    int index = index_of(KINDS, kind);
    if (!json_is_object(json) || index < 0)
        return broken(error, "'kind' is '%s': expected compiled or wrapped", kind);
    manifest->kind = (enum orch_plugin_kind)index;
    decode_plain(manifest, json);
    if (!manifest->name || !manifest->version)
        return broken(error, "without a %s", manifest->name ? "version" : "name");
    return decode_rows(manifest, json, "params", decode_param, error) &&
           decode_rows(manifest, json, "metrics", decode_metric, error) &&
           decode_rows(manifest, json, "artifacts", decode_artifact, error) &&
           decode_wrapped(manifest, json, error);
}

struct orch_manifest *orch_manifest_decode(const json_t *json, GError **error)
{
    struct orch_manifest *manifest = orch_manifest_new();
    if (decode_into(manifest, json, error))
        return manifest;
    orch_manifest_free(manifest);
    return NULL;
}
