/* SPDX-License-Identifier: MIT */
/* The file of a run of Weights & Biases, run-ID.wandb, offline and online. Its records, as far as
 * they are read:
 *
 *     Record   2 history  3 summary  5 config  17 run  18 exit
 *     History  1 item (repeated)  2 step {1 num}
 *     Summary, Config  1 update: item (repeated)
 *     Run      3 project  4 config  8 display_name  10 tags  17 start_time {1 seconds}
 *     Exit     1 exit_code
 *     Item     1 key  2 nested_key (repeated)  16 value_json
 *
 * A number of the history is a point under its _step; names that begin with '_' are the client's
 * own. Since version 0.17 a process that orch cannot observe, because it is static, writes the
 * file; the client's log in the same folder shows where it is. */
#include "lib/loggers/wandb.h"
#include "lib/loggers/log_values.h"
#include "lib/loggers/record_log.h"

#include "lib/base/json.h"

#include <math.h>
#include <string.h>

enum { VALUE_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 1000, NAMES_MAX = 8 /* of an item */ };

/* ---- records -------------------------------------------------------------------------- */

/* The object in which a value stands whose name has further parts; it is made when there is none.
 * NULL: there is a value of that name. */
static json_t *object_in(json_t *object, const char *name)
{
    json_t *inner = json_object_get(object, name);
    if (inner)
        return json_is_object(inner) ? inner : NULL;
    inner = json_object();
    json_object_set_new(object, name, inner);
    return inner;
}

static void put_value(json_t *values, const GPtrArray *names, json_t *value)
{
    for (guint i = 0; values && i + 1 < names->len; i++)
        values = object_in(values, names->pdata[i]);
    if (values && names->len)
        json_object_set_new(values, names->pdata[names->len - 1], value);
    else
        json_decref(value);
}

/* Adds one item to `values`. A value that is not JSON is kept as a text. */
static void take_item(json_t *values, struct orch_protobuf item)
{
    struct orch_protobuf_field field;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    json_t *value = NULL;
    while (orch_protobuf_field(&item, &field)) {
        if (field.type != 2)
            continue;
        g_autofree char *text = orch_protobuf_text(field.inner, VALUE_BYTES_MAX);
        bool is_name = field.number == 1 || field.number == 2;
        bool fits = *text && strlen(text) <= NAME_BYTES_MAX && g_utf8_validate(text, -1, NULL);
        if (is_name && fits && names->len < NAMES_MAX) {
            g_ptr_array_add(names, g_steal_pointer(&text));
        } else if (field.number == 16) {
            json_t *parsed = orch_log_json(text, strlen(text), VALUE_BYTES_MAX);
            json_decref(value);
            value = parsed ? parsed : json_string(text);
        }
    }
    if (value)
        put_value(values, names, value);
}

/* All items of a record, each under field number 1. */
static json_t *items_of(struct orch_protobuf record)
{
    struct orch_protobuf_field field;
    json_t *values = json_object();
    while (orch_protobuf_field(&record, &field))
        if (field.number == 1 && field.type == 2)
            take_item(values, field.inner);
    return values;
}

/* Removes the members that are the client's own. */
static void remove_own(json_t *values)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(values, next, name, value)
    {
        if (orch_log_wandb_is_own(name))
            json_object_del(values, name);
    }
}

static void take_history(const struct orch_log_sink *sink, struct orch_protobuf history)
{
    struct orch_protobuf again = history;
    struct orch_protobuf_field field;
    g_autoptr(json_t) values = items_of(history);
    int64_t step = 0;
    while (orch_protobuf_field(&again, &field))
        if (field.number == 2 && field.type == 2)
            step = orch_record_log_number(&field, step);
    orch_log_wandb_line(sink, values, step);
}

static void take_config(const struct orch_log_sink *sink, struct orch_protobuf config)
{
    g_autoptr(json_t) values = items_of(config);
    const char *name;
    json_t *value;
    remove_own(values);
    json_object_foreach(values, name, value) orch_log_take_setting(sink, name, value);
}

static void take_summary(const struct orch_log_sink *sink, struct orch_protobuf summary)
{
    g_autoptr(json_t) values = items_of(summary);
    orch_log_wandb_summary(sink, values);
}

static void take_run(const struct orch_log_sink *sink, struct orch_protobuf run)
{
    static const char *const texts[] = {[3] = "experiment", [8] = "name", [10] = "tag"};
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&run, &field)) {
        if (field.type != 2)
            continue;
        if (field.number < G_N_ELEMENTS(texts) && texts[field.number] && sink->about) {
            g_autofree char *text = orch_protobuf_text(field.inner, NAME_BYTES_MAX);
            sink->about(sink->ctx, texts[field.number], text);
        } else if (field.number == 4) {
            take_config(sink, field.inner);
        } else if (field.number == 17 && sink->started) {
            int64_t time_s = orch_record_log_number(&field, 0);
            if (time_s)
                sink->started(sink->ctx, (double)time_s);
        }
    }
}

static void take_exit(const struct orch_log_sink *sink, const struct orch_protobuf_field *field)
{
    if (sink->ended)
        sink->ended(sink->ctx, orch_record_log_number(field, 0) == 0 ? "success" : "failure");
}

static void take_record(const struct orch_log_sink *sink, struct orch_protobuf record)
{
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&record, &field)) {
        if (field.type != 2)
            continue;
        if (field.number == 2)
            take_history(sink, field.inner);
        else if (field.number == 3)
            take_summary(sink, field.inner);
        else if (field.number == 5)
            take_config(sink, field.inner);
        else if (field.number == 17)
            take_run(sink, field.inner);
        else if (field.number == 18)
            take_exit(sink, &field);
    }
}

/* ---- what the client's text files hold, too ------------------------------------------- */

bool orch_log_wandb_is_own(const char *name)
{
    return *name == '_' || strcmp(name, "wandb_version") == 0;
}

void orch_log_wandb_line(const struct orch_log_sink *sink, json_t *values, int64_t step)
{
    const json_t *stamp = json_object_get(values, "_timestamp");
    step = orch_json_int(values, "_step", step);
    const struct orch_log_row row = {
        sink, &step, json_is_number(stamp) ? json_number_value(stamp) : (double)NAN, true};
    remove_own(values);
    orch_log_take_numbers(&row, values, NULL);
}

void orch_log_wandb_summary(const struct orch_log_sink *sink, json_t *values)
{
    const struct orch_log_row row = {sink, NULL, (double)NAN, true};
    remove_own(values);
    orch_log_take_numbers(&row, values, NULL);
}

/* ---- the file ------------------------------------------------------------------------- */

static const struct record_log_format FORMAT = {":W&B", "it does not begin as a file of W&B",
                                                take_record};

static bool knows(const char *path, const char *head, size_t length)
{
    (void)path;
    return length >= 4 && memcmp(head, FORMAT.begin, 4) == 0;
}

/* .../run-20250101_120000-ID/logs/debug.log: .../run-20250101_120000-ID/run-ID.wandb */
static char *beside(const char *path)
{
    g_autofree char *logs = g_path_get_dirname(path), *folder = g_path_get_dirname(logs);
    g_autofree char *name = g_path_get_basename(folder);
    const char *id = strrchr(name, '-');
    bool is_run = g_str_has_prefix(name, "run-") || g_str_has_prefix(name, "offline-run-");
    if (!is_run || !id[1] || !g_str_has_suffix(path, "/logs/debug.log"))
        return NULL;
    return g_strdup_printf("%s/run-%s.wandb", folder, id + 1);
}

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    return orch_record_log_open(sink, &FORMAT);
}

const struct orch_logger ORCH_LOGGER_WANDB = {
    .name = "wandb",
    .ends = (const char *const[]){".wandb", NULL},
    .knows = knows,
    .place = g_path_get_dirname,
    .beside = beside,
    .open = open_reader,
    .feed = orch_record_log_feed,
    .finish = orch_record_log_finish,
    .close = orch_record_log_close,
    .is_apart = true,
};
