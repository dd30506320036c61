/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of Weights & Biases: the folder that the client writes for a run (wandb/run-DATE-ID,
 * wandb/offline-run-DATE-ID):
 *
 *     files/config.yaml           name: {value: ...}: parameters
 *     files/wandb-summary.json    results
 *     files/wandb-history.jsonl   one line per step (clients before 0.11)
 *     run-ID.wandb                everything, as Protocol Buffers records in LevelDB's log format;
 *                                 the only file of an offline run
 *
 * A number of the history becomes a point under its _step; names that begin with '_' are internal
 * to the client.
 */
#include "features/imports/import_runs.h"
#include "lib/loggers/protobuf.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/yaml/yaml.h"

#include <math.h>
#include <string.h>

enum {
    TEXT_BYTES_MAX = 256 << 20,
    CONFIG_BYTES_MAX = 1 << 20,
    VALUE_BYTES_MAX = 1 << 20,
    DEPTH_MAX = 8,
    BLOCK_BYTES = 32768,
    HEAD_BYTES = 7,
};

/* ---- values -----------------------------------------------------------------------------------
 */

bool orch_import_wandb_is_own(const char *name)
{
    return *name == '_' || strcmp(name, "wandb_version") == 0;
}

/* Converts a JSON value to a number; false when it is none. */
static bool number_of(const json_t *value, double *out)
{
    if (json_is_boolean(value)) {
        *out = json_typeof(value) == JSON_TRUE;
        return true;
    }
    if (json_is_string(value)) /* JSON has no other form for these */
        return orch_log_number(json_string_value(value), out) && !isfinite(*out);
    return orch_json_get_real(value, out);
}

/* "name.inner", with `name` truncated to the length that labels keep, so that a long name is not
 * copied for each of its values. The caller frees. */
static char *name_below(const char *name, const char *inner)
{
    return g_strdup_printf("%.*s.%s", ORCH_IMPORTED_LABEL_MAX, name, inner);
}

/* Adds each leaf of a nested object under the name "a.b". */
static void flatten(struct orch_imported_run *run, const char *name, const json_t *value, int depth,
                    void (*add)(struct orch_imported_run *, const char *, const json_t *))
{
    const char *key;
    json_t *inner;
    if (!json_is_object(value) || depth == DEPTH_MAX) {
        add(run, name, value);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, inner)
    {
        g_autofree char *below = name_below(name, key);
        flatten(run, below, inner, depth + 1, add);
    }
}

static void add_param(struct orch_imported_run *run, const char *name, const json_t *value)
{
    g_autofree char *text =
        json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
    orch_imported_param(run, name, text);
}

static void add_result(struct orch_imported_run *run, const char *name, const json_t *value)
{
    double number;
    if (number_of(value, &number))
        orch_imported_result(run, name, number);
}

/* Adds one line of the history, an object of values by name. */
static void add_line(struct orch_imported_run *run, const json_t *values, int64_t step)
{
    double stamp = 0, number;
    const char *name;
    json_t *value;
    number_of(json_object_get(values, "_timestamp"), &stamp);
    int64_t time_ns = orch_imported_ns(run, ORCH_BOUNDED_TIME_NS, stamp, 1e9);
    step = orch_json_int(values, "_step", step);
    json_object_foreach((json_t *)(uintptr_t)values, name, value)
    {
        if (orch_import_wandb_is_own(name))
            continue;
        if (json_is_object(value)) {
            const char *inner_name;
            json_t *inner;
            json_object_foreach(value, inner_name, inner)
            {
                g_autofree char *below = name_below(name, inner_name);
                if (number_of(inner, &number))
                    orch_imported_point(run, below, step, time_ns, number);
            }
        } else if (number_of(value, &number)) {
            orch_imported_point(run, name, step, time_ns, number);
        }
    }
}

int64_t orch_import_utc_ns(struct orch_imported_run *run, const char *text)
{
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, utc);
    double s = time ? (double)g_date_time_to_unix(time) : 0;
    return orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, s, 1e9);
}

/* ---- the text files ---------------------------------------------------------------------------
 */

static json_t *yaml_json(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return orch_yaml_is_null(node) ? json_null() : json_string(node->text);
    json_t *out = node->kind == ORCH_YAML_LIST ? json_array() : json_object();
    for (guint i = 0; i < node->items->len; i++) {
        json_t *inner = yaml_json(node->items->pdata[i]);
        if (node->kind == ORCH_YAML_LIST)
            json_array_append_new(out, inner);
        else
            json_object_set_new(out, ((const struct orch_yaml *)node->keys->pdata[i])->text, inner);
    }
    return out;
}

static void read_config(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, CONFIG_BYTES_MAX, warnings);
    struct orch_diags *diags = orch_diags_new();
    struct orch_yaml *tree =
        text ? orch_yaml_parse("config.yaml", text, strlen(text), diags) : NULL;
    if (text && !tree)
        orch_import_warn(warnings, "'%s' is not YAML", path);
    for (guint i = 0; tree && tree->kind == ORCH_YAML_MAP && i < tree->items->len; i++) {
        const char *name = ((const struct orch_yaml *)tree->keys->pdata[i])->text;
        const struct orch_yaml *value = orch_yaml_get(tree->items->pdata[i], "value");
        if (!value || orch_import_wandb_is_own(name))
            continue;
        g_autoptr(json_t) json = yaml_json(value);
        flatten(run, name, json, 0, add_param);
    }
    orch_yaml_free(tree);
    orch_diags_free(diags);
}

static void read_summary(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, TEXT_BYTES_MAX, warnings);
    g_autoptr(json_t) summary =
        text ? orch_json_parse(text, strlen(text), TEXT_BYTES_MAX, NULL) : NULL;
    const char *name;
    json_t *value;
    if (text && !json_is_object(summary))
        orch_import_warn(warnings, "'%s' is not a JSON object", path);
    json_object_foreach(summary, name, value) if (!orch_import_wandb_is_own(name))
        flatten(run, name, value, 0, add_result);
}

static void read_history(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, TEXT_BYTES_MAX, warnings);
    int64_t step = 0, bad = 0;
    for (char *line = text, *next; line && *line; line = next, step++) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        g_autoptr(json_t) values = orch_json_parse(line, strlen(line), VALUE_BYTES_MAX, NULL);
        if (json_is_object(values))
            add_line(run, values, step);
        else
            bad += *line != 0;
    }
    if (bad)
        orch_import_warn(warnings, "'%s': %" G_GINT64_FORMAT " lines are not JSON objects", path,
                         bad);
}

static void read_metadata(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, CONFIG_BYTES_MAX, warnings);
    g_autoptr(json_t) json =
        text ? orch_json_parse(text, strlen(text), CONFIG_BYTES_MAX, NULL) : NULL;
    int64_t started_ns = orch_import_utc_ns(run, orch_json_text(json, "startedAt", ""));
    if (started_ns)
        run->started_ns = started_ns;
    if (orch_json_text(json, "username", NULL))
        orch_imported_set_text(&run->user, orch_json_text(json, "username", NULL));
}

/* ---- run-ID.wandb -----------------------------------------------------------------------------
 */

/* Adds one item of the history, summary or configuration to `values`. Its fields are key (1),
 * nested_key (2, repeated) and value_json (16). A value that is not JSON is kept as a text. */
static void take_item(json_t *values, struct orch_protobuf item)
{
    struct orch_protobuf_field field;
    g_autoptr(GString) name = g_string_new(NULL);
    json_t *value = NULL;
    while (orch_protobuf_field(&item, &field)) {
        if (field.type != 2)
            continue;
        if (field.number == 1 || field.number == 2) {
            g_autofree char *part = orch_protobuf_text(field.inner, 1000);
            if (*part)
                g_string_append_printf(name, "%s%s", name->len ? "." : "", part);
        } else if (field.number == 16) {
            g_autofree char *text = orch_protobuf_text(field.inner, VALUE_BYTES_MAX);
            json_t *parsed = orch_json_parse(text, strlen(text), VALUE_BYTES_MAX, NULL);
            json_decref(value);
            value = parsed ? parsed : json_string(text);
        }
    }
    if (value && name->len && g_utf8_validate(name->str, -1, NULL))
        json_object_set_new(values, name->str, value);
    else
        json_decref(value);
}

/* All items of a record, each under field number 1. */
static json_t *take_items(struct orch_protobuf record)
{
    struct orch_protobuf_field field;
    json_t *values = json_object();
    while (orch_protobuf_field(&record, &field))
        if (field.number == 1 && field.type == 2)
            take_item(values, field.inner);
    return values;
}

static void put_params(struct orch_imported_run *run, struct orch_protobuf config)
{
    g_autoptr(json_t) values = take_items(config);
    const char *name;
    json_t *value;
    json_object_foreach(values, name, value) if (!orch_import_wandb_is_own(name))
        flatten(run, name, value, 0, add_param);
}

static void put_summary(struct orch_imported_run *run, struct orch_protobuf summary)
{
    g_autoptr(json_t) values = take_items(summary);
    const char *name;
    json_t *value;
    json_object_foreach(values, name, value) if (!orch_import_wandb_is_own(name))
        flatten(run, name, value, 0, add_result);
}

static void take_run(struct orch_imported_run *run, struct orch_protobuf record)
{
    struct orch_protobuf_field field, inner;
    while (orch_protobuf_field(&record, &field)) {
        if (field.type != 2)
            continue;
        char **texts[] = {[3] = &run->experiment, [8] = &run->name};
        if (field.number == 3 || field.number == 8) {
            g_autofree char *text = orch_protobuf_text(field.inner, ORCH_IMPORTED_MESSAGE_MAX);
            orch_imported_set_text(texts[field.number], text);
        } else if (field.number == 4) {
            put_params(run, field.inner);
        } else if (field.number == 10 && run->tags->len < 100) {
            g_ptr_array_add(run->tags, orch_protobuf_text(field.inner, 200));
        } else if (field.number == 17) {
            while (orch_protobuf_field(&field.inner, &inner))
                if (inner.number == 1 && inner.type == 0)
                    run->started_ns =
                        orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, (double)inner.value, 1e9);
        }
    }
}

static void take_history(struct orch_imported_run *run, struct orch_protobuf history)
{
    struct orch_protobuf again = history;
    struct orch_protobuf_field field, inner;
    g_autoptr(json_t) values = take_items(history);
    int64_t step = 0;
    while (orch_protobuf_field(&again, &field))
        if (field.number == 2 && field.type == 2)
            while (orch_protobuf_field(&field.inner, &inner))
                if (inner.number == 1 && inner.type == 0)
                    step = (int64_t)inner.value;
    add_line(run, values, step);
}

static void take_record(struct orch_imported_run *run, const uint8_t *bytes, size_t length,
                        bool *io_exited)
{
    struct orch_protobuf record = {bytes, bytes + length};
    struct orch_protobuf_field field, inner;
    while (orch_protobuf_field(&record, &field)) {
        if (field.type != 2)
            continue;
        if (field.number == 2) {
            take_history(run, field.inner);
        } else if (field.number == 3) {
            put_summary(run, field.inner);
        } else if (field.number == 5) {
            put_params(run, field.inner);
        } else if (field.number == 17) {
            take_run(run, field.inner);
        } else if (field.number == 18) {
            *io_exited = true;
            run->verdict = ORCH_VERDICT_OK;
            while (orch_protobuf_field(&field.inner, &inner))
                if (inner.number == 1 && inner.type == 0 && inner.value != 0)
                    run->verdict = ORCH_VERDICT_FAILED;
        }
    }
}

/* LevelDB's log: blocks of 32 KiB; a record is whole (1) or in parts (2 first, 3 middle, 4 last),
 * each preceded by the CRC-32 of its type and bytes, its length and its type. Returns NULL when
 * everything was read, else the reason. */
static const char *read_log(struct orch_imported_run *run, const uint8_t *bytes, size_t length,
                            bool *out_exited)
{
    uint32_t table[256];
    g_autoptr(GByteArray) whole = g_byte_array_new();
    bool is_begun =
        false; /* `whole` holds the first parts of a record whose last part was not read yet */
    orch_protobuf_crc_table(table, PROTOBUF_CRC32);
    if (length < HEAD_BYTES || memcmp(bytes, ":W&B", 4) != 0)
        return "it does not begin as a file of W&B";
    for (size_t at = HEAD_BYTES; at + HEAD_BYTES <= length;) {
        size_t left = BLOCK_BYTES - at % BLOCK_BYTES;
        if (left < HEAD_BYTES) {
            at += left;
            continue;
        }
        const uint8_t *head = bytes + at;
        size_t part = (size_t)orch_protobuf_little(head + 4, 2);
        uint8_t type = head[6];
        if (part > length - at - HEAD_BYTES)
            return "it is cut off";
        uint32_t crc = orch_protobuf_crc(table, orch_protobuf_crc(table, 0, &type, 1),
                                         head + HEAD_BYTES, part);
        if (type < 1 || type > 4 || crc != orch_protobuf_little(head, 4))
            return "a checksum is wrong";
        if (type <= 2)
            g_byte_array_set_size(whole, 0);
        else if (!is_begun)
            return "a part of a record stands without its begin";
        g_byte_array_append(whole, head + HEAD_BYTES, (guint)part);
        is_begun = type == 2 || type == 3;
        if (!is_begun && whole->len)
            take_record(run, whole->data, whole->len, out_exited);
        at += HEAD_BYTES + part;
    }
    return NULL;
}

static void read_log_file(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *bytes = NULL;
    g_autoptr(GError) problem = NULL;
    size_t length = 0;
    bool exited = false;
    if (g_file_test(path, G_FILE_TEST_IS_SYMLINK) ||
        !orch_file_read(path, TEXT_BYTES_MAX, &bytes, &length, &problem)) {
        orch_import_warn(warnings, "%s", problem ? problem->message : "a link is not followed");
        return;
    }
    run->verdict = ORCH_VERDICT_LOST;
    const char *why = read_log(run, (const uint8_t *)bytes, length, &exited);
    if (why)
        orch_import_warn(warnings, "'%s' is not read to its end: %s", path, why);
    run->status = g_strdup(!exited                           ? "not finished"
                           : run->verdict == ORCH_VERDICT_OK ? "finished"
                                                             : "failed");
}

/* ---- a folder ---------------------------------------------------------------------------------
 */

void orch_import_wandb_folder(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    g_autofree char *base = g_path_get_basename(folder);
    const char *dash = strrchr(base, '-');
    struct orch_imported_run *run = orch_imported_run_new("wandb", dash ? dash + 1 : base);
    static const struct {
        const char *name;
        void (*read)(struct orch_imported_run *, const char *, GPtrArray *);
    } files[] = {{"config.yaml", read_config},
                 {"wandb-metadata.json", read_metadata},
                 {"wandb-history.jsonl", read_history},
                 {"wandb-summary.json", read_summary}};
    g_autofree char *log = g_strdup_printf("%s/run-%s.wandb", folder, run->id);
    if (g_file_test(log, G_FILE_TEST_EXISTS))
        read_log_file(run, log, warnings);
    bool has_points = run->points->len > 0;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *inner = g_build_filename(folder, "files", files[i].name, NULL);
        g_autofree char *flat = g_build_filename(folder, files[i].name, NULL);
        const char *path = g_file_test(inner, G_FILE_TEST_EXISTS) ? inner : flat;
        if (g_file_test(path, G_FILE_TEST_EXISTS) && !(has_points && files[i].read == read_history))
            files[i].read(run, path, warnings);
    }
    if (json_object_size(run->params) || json_object_size(run->results) || run->points->len) {
        g_ptr_array_add(runs, run);
        return;
    }
    orch_import_warn(warnings, "'%s' holds no run", folder);
    orch_imported_run_free(run);
}
