/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a run as text. A stored run and a record that is not stored are brought into the same
 * order and form, so the same run gives the same bytes.
 *
 * The format is text rather than the bytes of the rows because any language can read it, git
 * compresses it as well, and fuzzers handle it. Points are lines rather than one array, so that a
 * reader needs no tree of a million numbers.
 */
#include "store/handle/sql.h"
#include "store/join/run_text_fields.h"
#include "store/read/run_columns.h"
#include "store/write/digest.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/number.h"

#include <math.h>
#include <string.h>

/** A list in the first line. */
struct run_text_rows {
    void *rows;
    size_t count;
};

#define OF(type, member) offsetof(struct type, member)

/* The text type of each kind of field. */
#define TEXT_OF_NAME STORE_VALUE_NAME
#define TEXT_OF_TEXT STORE_VALUE_TEXT
#define TEXT_OF_LONG STORE_VALUE_TEXT
#define TEXT_OF_JSON STORE_VALUE_TEXT
#define TEXT_OF_BOOL STORE_VALUE_BOOL
#define TEXT_OF_SEED STORE_VALUE_SEED
#define TEXT_OF_INT STORE_VALUE_INT
#define TEXT_OF_EXIT STORE_VALUE_EXIT
#define TEXT_OF_SIGNAL STORE_VALUE_INT
#define TEXT_OF_TIME STORE_VALUE_INT64
#define TEXT_OF_MS STORE_VALUE_REAL
#define FIELD(kind, member, table, column, shown, what)                                            \
    {#member, TEXT_OF_##kind, OF(orch_record, member)},

const struct store_member run_text_record[] = {STORE_RUN_FIELDS(FIELD){0}};

static const struct store_member FORECAST[] = {
    {"fingerprint", STORE_VALUE_NAME, OF(orch_run_forecast, fingerprint)},
    {"machine", STORE_VALUE_NAME, OF(orch_run_forecast, machine)},
    {"model", STORE_VALUE_NAME, OF(orch_run_forecast, model)},
    {"made_ns", STORE_VALUE_INT64, OF(orch_run_forecast, made_ns)},
    {"p5", STORE_VALUE_REAL, OF(orch_run_forecast, time_s.low)},
    {"p50", STORE_VALUE_REAL, OF(orch_run_forecast, time_s.mid)},
    {"p95", STORE_VALUE_REAL, OF(orch_run_forecast, time_s.high)},
    {"tier", STORE_VALUE_TEXT, OF(orch_run_forecast, tier)},
    {0}};
static const struct store_row_kind FORECASTS = {
    .plural = "forecasts",
    .of_run = "SELECT fingerprint, machine, model, made, p5, p50, p95, tier FROM forecast"
              " WHERE run = ? ORDER BY made, fingerprint, machine, model",
    .row_bytes = sizeof(struct orch_run_forecast),
    .members = FORECAST,
};

const struct store_row_kind *orch_run_text_list(int list)
{
    return list == RUN_TEXT_FORECASTS ? &FORECASTS : &store_row_kinds[list];
}

/* ---- the first line --------------------------------------------------------------- */

/* Invalid UTF-8 is repaired, as a store does. */
static json_t *text_json(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

static json_t *field_json(enum store_value type, const void *at)
{
    switch (type) {
    case STORE_VALUE_INT64:
        return json_integer(*(const int64_t *)at);
    case STORE_VALUE_INT:
        return json_integer(*(const int *)at);
    case STORE_VALUE_EXIT:
        return *(const int *)at == -1 ? json_null() : json_integer(*(const int *)at);
    case STORE_VALUE_BOOL:
        return json_boolean(*(const bool *)at);
    case STORE_VALUE_SEED:
        return orch_json_u64(*(const uint64_t *)at);
    case STORE_VALUE_REAL:
        return orch_json_real_or_null(*(const double *)at);
    default:
        return text_json(*(const char *const *)at);
    }
}

static json_t *fields_json(const struct store_member *fields, const void *base)
{
    json_t *object = json_object();
    for (; fields->name; fields++)
        json_object_set_new(object, fields->name,
                            field_json(fields->kind, (const char *)base + fields->offset));
    return object;
}

static bool too_large(const char *key, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_STORE, NULL, "run '%s' cannot be shared: %s", key, what);
    return false;
}

static bool add_head(GString *out, const struct orch_record *record, const char *digest,
                     const struct run_text_rows lists[RUN_TEXT_LISTS], GError **error)
{
    g_autoptr(json_t) head = fields_json(run_text_record, record);
    json_object_set_new(head, "format", json_string(RUN_TEXT_FORMAT));
    json_object_set_new(head, "digest", json_string(digest));
    for (int i = 0; i < RUN_TEXT_LISTS; i++) {
        json_t *rows = json_array();
        const struct store_row_kind *shape = orch_run_text_list(i);
        for (size_t row = 0; row < lists[i].count; row++)
            json_array_append_new(rows, fields_json(shape->members, (const char *)lists[i].rows +
                                                                        row * shape->row_bytes));
        json_object_set_new(head, shape->plural, rows);
        if (lists[i].count > RUN_TEXT_ROWS_MAX)
            return too_large(record->key, "it has more than 20,000 rows of one kind", error);
    }
    g_autofree char *text = orch_json_canonical(head);
    g_string_append(out, text);
    g_string_append_c(out, '\n');
    return out->len <= RUN_TEXT_HEAD_MAX ||
           too_large(record->key, "without its points it is over 16 MiB", error);
}

/* ---- points ----------------------------------------------------------------------- */

static char *write_real(char *at, double value)
{
    if (isfinite(value))
        return orch_number_write(at, value == 0 ? 0.0 : value); /* writes 0 instead of -0 */
    return g_stpcpy(at, isnan(value) ? "null" : value < 0 ? "\"-inf\"" : "\"inf\"");
}

static void add_point(GString *lines, int64_t step, double t_ms, double value)
{
    char line[3 * ORCH_NUMBER_CHARS + 8];
    char *at = line;
    *at++ = '[';
    at = orch_number_write_int(at, step);
    *at++ = ',';
    at = write_real(at, t_ms);
    *at++ = ',';
    at = write_real(at, value);
    *at++ = ']';
    *at++ = '\n';
    g_string_append_len(lines, line, at - line);
}

static bool add_metric(GString *out, const char *key, const struct orch_metric_row *metric,
                       int64_t count, const GString *lines, GError **error)
{
    const char *const texts[] = {metric->name, metric->unit, metric->better};
    static const char *const before[] = {"{\"metric\":", ",\"unit\":", ",\"better\":"};
    size_t first = out->len;
    for (int i = 0; i < 3; i++) {
        g_autoptr(json_t) value = text_json(texts[i]);
        g_autofree char *text = orch_json_canonical(value);
        g_string_append(out, before[i]);
        g_string_append(out, text);
    }
    g_string_append_printf(out, ",\"points\":%" G_GINT64_FORMAT "}\n", count);
    if (out->len - first > RUN_TEXT_METRIC_MAX)
        return too_large(key, "the name of a metric is over 1 MiB", error);
    g_string_append_len(out, lines->str, (gssize)lines->len);
    return out->len <= ORCH_RUN_TEXT_MAX || too_large(key, "its text is over 256 MiB", error);
}

/* ---- a stored run ----------------------------------------------------------------- */

static bool read_rows(struct orch_store *store, const struct orch_run *run, int list,
                      GStringChunk *kept, GArray **out, GError **error)
{
    const struct store_row_kind *shape = orch_run_text_list(list);
    sqlite3_stmt *s = orch_store_statement(store, shape->of_run, error);
    if (!s)
        return false;
    GArray *rows = *out = g_array_new(FALSE, TRUE, (guint)shape->row_bytes);
    if (list == RUN_TEXT_FORECASTS)
        orch_store_bind(s, "t", run->key);
    else
        orch_store_bind(s, "i", run->id);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        g_array_set_size(rows, rows->len + 1);
        char *row = rows->data + (rows->len - 1) * shape->row_bytes;
        for (int i = 0; shape->members[i].name; i++) {
            void *at = row + shape->members[i].offset;
            const char *text;
            switch (shape->members[i].kind) {
            case STORE_VALUE_INT64:
                *(int64_t *)at = sqlite3_column_int64(s, i);
                break;
            case STORE_VALUE_REAL:
                *(double *)at = orch_store_column_real(s, i);
                break;
            default:
                text = (const char *)sqlite3_column_text(s, i);
                *(const char **)at = text ? g_string_chunk_insert_const(kept, text) : NULL;
            }
        }
    }
    return more == 0;
}

static bool add_stored_metric(struct orch_store *store, int64_t run_id, const char *key,
                              sqlite3_stmt *metric, GString *out, GString *lines, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, store_points_sql, error);
    if (!s)
        return false;
    orch_store_bind(s, "ii", run_id, sqlite3_column_int64(metric, 0));
    g_string_truncate(lines, 0);
    int64_t count = 0;
    int more;
    while ((more = orch_store_step(store, s, error)) > 0 && lines->len <= ORCH_RUN_TEXT_MAX) {
        add_point(lines, sqlite3_column_int64(s, 0), orch_store_column_real(s, 1),
                  orch_store_column_real(s, 2));
        count++;
    }
    sqlite3_reset(s);
    const struct orch_metric_row row = {orch_store_text(metric, 1), orch_store_text(metric, 2),
                                        orch_store_text(metric, 3)};
    return more >= 0 && add_metric(out, key, &row, count, lines, error);
}

static bool add_stored_metrics(struct orch_store *store, int64_t run_id, const char *key,
                               GString *out, GError **error)
{
    sqlite3_stmt *metrics = orch_store_statement(store, store_run_metrics_sql, error);
    if (!metrics)
        return false;
    orch_store_bind(metrics, "i", run_id);
    g_autoptr(GString) lines = g_string_new(NULL);
    int more;
    bool ok = true;
    while (ok && (more = orch_store_step(store, metrics, error)) > 0)
        ok = add_stored_metric(store, run_id, key, metrics, out, lines, error);
    sqlite3_reset(metrics);
    return ok && more == 0;
}

static struct orch_run *read_run(struct orch_store *store, int64_t run_id, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS " WHERE r.id = ?", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", run_id);
    int more = orch_store_step(store, s, error);
    struct orch_run *run = more > 0 ? orch_store_run_as_stored(s) : NULL;
    sqlite3_reset(s);
    if (more == 0)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "no run with number %" G_GINT64_FORMAT " in store '%s'", run_id,
                       store->path);
    if (run && run->purged) {
        too_large(run->key, "its points were dropped here by 'orch purge'", error);
        g_clear_pointer(&run, orch_run_free);
    }
    return run;
}

#define COPY(kind, member, table, column, shown, what) .member = run->member,

static void fill_record(const struct orch_run *run, struct orch_record *out)
{
    *out = (struct orch_record){STORE_RUN_FIELDS(COPY)};
}

static bool add_stored(struct orch_store *store, const struct orch_run *run, GString *out,
                       GError **error)
{
    struct orch_record record;
    struct run_text_rows lists[RUN_TEXT_LISTS] = {0};
    GArray *arrays[RUN_TEXT_LISTS] = {0};
    GStringChunk *kept = g_string_chunk_new(1024);
    fill_record(run, &record);
    bool ok = true;
    for (int i = 0; ok && i < RUN_TEXT_LISTS; i++) {
        ok = read_rows(store, run, i, kept, &arrays[i], error);
        if (ok)
            lists[i] = (struct run_text_rows){arrays[i]->data, arrays[i]->len};
    }
    ok = ok && add_head(out, &record, run->digest, lists, error) &&
         add_stored_metrics(store, run->id, run->key, out, error);
    for (int i = 0; i < RUN_TEXT_LISTS; i++)
        if (arrays[i])
            g_array_unref(arrays[i]);
    g_string_chunk_free(kept);
    return ok;
}

GString *orch_run_text_encode(struct orch_store *store, int64_t run_id, GError **error)
{
    struct orch_run *run = read_run(store, run_id, error);
    if (!run)
        return NULL;
    GString *out = g_string_new(NULL);
    bool ok = add_stored(store, run, out, error);
    orch_run_free(run);
    if (ok)
        return out;
    g_string_free(out, TRUE);
    return NULL;
}

/* ---- a record --------------------------------------------------------------------- */

/** A point of a record, for sorting. */
struct placed {
    const char *name; /* interned in `kept` */
    int64_t step;
    double t_ms, value;
    guint at; /* position; the last point of a step is kept */
};

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

/* Sorts rows by name and keeps the last of equal names, as a store does. Every row type begins with
 * its name. */
static GArray *sorted_rows(const void *rows, size_t count, size_t row_bytes)
{
    g_autoptr(GHashTable) last = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)rows + i * row_bytes;
        g_hash_table_replace(last, *(char *const *)row, (char *)(uintptr_t)row);
    }
    GArray *out = g_array_new(FALSE, FALSE, (guint)row_bytes);
    GHashTableIter iter;
    gpointer row;
    g_hash_table_iter_init(&iter, last);
    while (g_hash_table_iter_next(&iter, NULL, &row))
        g_array_append_vals(out, row, 1);
    g_array_sort(out, orch_compare_texts);
    return out;
}

/* Normalises a record as the rows of a store do. */
static struct orch_record plain_record(const struct orch_record *record)
{
    struct orch_record out = *record;
    for (const struct store_member *field = run_text_record; field->name; field++) {
        const char **at = (const char **)((char *)&out + field->offset);
        if (field->kind == STORE_VALUE_TEXT)
            *at = or_null(*at);
    }
    if (!out.source_tree && !out.source_commit && !out.source_branch && !out.source_remote)
        out.source_dirty = false;
    if (!out.machine_key)
        out.machine_facts = NULL;
    else
        out.machine_facts = record->machine_facts ? record->machine_facts : "{}";
    return out;
}

static int by_place(gconstpointer a, gconstpointer b)
{
    const struct placed *x = a, *y = b;
    int names = x->name == y->name ? 0 : strcmp(x->name, y->name);
    if (names)
        return names;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step)
                              : (x->at > y->at) - (x->at < y->at);
}

static bool read_points(const struct orch_record *record, GStringChunk *kept, GArray *out,
                        GError **error)
{
    GError *problem = NULL;
    struct orch_point point;
    const char *name = NULL;
    while (record->next_point && record->next_point(record->next_ctx, &point, &problem)) {
        if (!name || strcmp(name, point.name) != 0)
            name = g_string_chunk_insert_const(kept, point.name);
        struct placed placed = {name, point.step, point.t_ms, point.value, out->len};
        g_array_append_val(out, placed);
    }
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

static bool add_points(const struct orch_record *record, const GArray *points, GString *out,
                       GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    int64_t count = 0;
    for (guint i = 0; i < points->len; i++) {
        const struct placed *point = &g_array_index(points, struct placed, i);
        const struct placed *next =
            i + 1 < points->len ? &g_array_index(points, struct placed, i + 1) : NULL;
        bool same = next && next->name == point->name;
        if (!same || next->step != point->step) {
            add_point(lines, point->step, point->t_ms, point->value);
            count++;
        }
        if (same)
            continue;
        struct orch_metric_row row = orch_store_declared(record, point->name);
        if (!add_metric(out, record->key, &row, count, lines, error))
            return false;
        g_string_truncate(lines, 0);
        count = 0;
    }
    return true;
}

GString *orch_run_text_of_record(const struct orch_record *record, const char *digest,
                                 GError **error)
{
    struct orch_record plain = plain_record(record);
    GArray *arrays[RUN_TEXT_LISTS];
    for (int i = 0; i < STORE_ROWS; i++) {
        size_t count;
        void *own;
        const void *rows = orch_store_rows_of_record(record, (enum store_rows)i, &count, &own);
        arrays[i] = sorted_rows(rows, count, store_row_kinds[i].row_bytes);
        g_free(own);
    }
    arrays[RUN_TEXT_FORECASTS] = g_array_new(FALSE, FALSE, sizeof(struct orch_run_forecast));
    struct run_text_rows lists[RUN_TEXT_LISTS];
    for (int i = 0; i < RUN_TEXT_LISTS; i++)
        lists[i] = (struct run_text_rows){arrays[i]->data, arrays[i]->len};
    struct orch_input_row *inputs = lists[STORE_INPUTS].rows;
    for (size_t i = 0; i < lists[STORE_INPUTS].count; i++) {
        inputs[i].from_key = or_null(inputs[i].from_key);
        inputs[i].sha256 = or_null(inputs[i].sha256);
    }
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct placed));
    GStringChunk *kept = g_string_chunk_new(1024);
    GString *out = g_string_new(NULL);
    bool ok =
        add_head(out, &plain, digest, lists, error) && read_points(record, kept, points, error);
    if (ok) {
        g_array_sort(points, by_place);
        ok = add_points(record, points, out, error);
    }
    g_string_chunk_free(kept);
    for (int i = 0; i < RUN_TEXT_LISTS; i++)
        g_array_unref(arrays[i]);
    if (ok)
        return out;
    g_string_free(out, TRUE);
    return NULL;
}
