/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the rows of one run, both for recording a trial and for joining a run from elsewhere.
 *
 * The points are hashed while they are inserted. A metric whose steps do not ascend (a later point
 * of a step replaces the earlier one) is read back for the digest instead.
 */
#include "store/write/write.h"
#include "store/handle/sql.h"
#include "store/write/digest.h"
#include "store/write/imported.h"
#include "store/write/run_fields.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/wire/bounds.h"

#include <string.h>

/* Maximum number of metrics of a run. Plugins declare a few dozen; this stops a run that generates
 * names without end. */
enum { METRIC_NAMES_MAX = ORCH_IMPORTED_METRICS_MAX };

/** A metric of the run that is being written. */
struct slot {
    char *name;
    int64_t name_id;
    int64_t last_step;
    struct store_points *points; /* NULL once the steps did not ascend */
};

struct writing {
    struct orch_store *store;
    const struct orch_record *record;
    int64_t run_id;
    GPtrArray *slots;    /* struct slot *, in order of appearance */
    GHashTable *by_name; /* name -> slot */
    guint at;            /* slot of the last point */
    GError *problem;     /* error of the stream */
    bool is_elsewhere;   /* recorded elsewhere: points are checked against bounds */
    struct store_written *out;
};

static void free_slot(gpointer data)
{
    struct slot *slot = data;
    g_free(slot->name);
    orch_store_points_free(slot->points);
    g_free(slot);
}

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static const struct orch_metric_row *declared(const struct orch_record *record, const char *name)
{
    static const struct orch_metric_row none = {.unit = "", .better = "none"};
    for (size_t i = 0; i < record->metric_count; i++)
        if (strcmp(record->metrics[i].name, name) == 0)
            return &record->metrics[i];
    return &none;
}

static const char *unit_of(const struct orch_metric_row *row)
{
    return row->unit ? row->unit : "";
}

static const char *better_of(const struct orch_metric_row *row)
{
    return row->better ? row->better : "none";
}

/* ---- rows that runs share ---------------------------------------------------------------------
 */

/* Looks up the row before inserting it, because nearly always another run has inserted it. */
static bool put_source(struct writing *w, int64_t *out_id, GError **error)
{
    const struct orch_record *r = w->record;
    const char *tree = or_null(r->source_tree), *commit = or_null(r->source_commit);
    const char *branch = or_null(r->source_branch), *remote = or_null(r->source_remote);
    int64_t dirty = r->source_dirty;
    *out_id = 0;
    if (!tree && !commit && !branch && !remote)
        return true; /* no version control */
    if (!orch_store_get_int(w->store, out_id, 0, error,
                            "SELECT id FROM source WHERE coalesce(tree, '') = coalesce(?, '')"
                            " AND coalesce(commit_oid, '') = coalesce(?, '')"
                            " AND coalesce(branch, '') = coalesce(?, '') AND dirty = ?"
                            " AND coalesce(remote, '') = coalesce(?, '')",
                            "tttit", tree, commit, branch, dirty, remote) ||
        *out_id)
        return *out_id != 0;
    if (!orch_store_run_statement(w->store, error,
                                  "INSERT INTO source(tree, commit_oid, branch, dirty, remote)"
                                  " VALUES(?, ?, ?, ?, ?)",
                                  "tttit", tree, commit, branch, dirty, remote))
        return false;
    *out_id = w->out->new_source = sqlite3_last_insert_rowid(w->store->db);
    return true;
}

static bool put_machine(struct writing *w, int64_t *out_id, GError **error)
{
    const char *key = or_null(w->record->machine_key);
    const char *facts = w->record->machine_facts ? w->record->machine_facts : "{}";
    *out_id = 0;
    if (!key)
        return true;
    if (!orch_store_get_int(w->store, out_id, 0, error,
                            "SELECT id FROM machine WHERE key = ? AND facts = ?", "tt", key,
                            facts) ||
        *out_id)
        return *out_id != 0;
    if (!orch_store_run_statement(w->store, error, "INSERT INTO machine(key, facts) VALUES(?, ?)",
                                  "tt", key, facts))
        return false;
    *out_id = w->out->new_machine = sqlite3_last_insert_rowid(w->store->db);
    return true;
}

static bool put_metric_name(struct writing *w, const char *name, int64_t *out_id, GError **error)
{
    const struct orch_metric_row *row = declared(w->record, name);
    const char *unit = unit_of(row), *better = better_of(row);
    *out_id = 0;
    if (!orch_store_get_int(w->store, out_id, 0, error,
                            "SELECT id FROM metric_name WHERE name = ? AND unit = ? AND better = ?",
                            "ttt", name, unit, better) ||
        *out_id)
        return *out_id != 0;
    if (!orch_store_run_statement(w->store, error,
                                  "INSERT INTO metric_name(name, unit, better) VALUES(?, ?, ?)",
                                  "ttt", name, unit, better))
        return false;
    *out_id = sqlite3_last_insert_rowid(w->store->db);
    if (!w->out->first_new_name)
        w->out->first_new_name = *out_id;
    return true;
}

/* ---- the run and its details ------------------------------------------------------------------
 */

static void bind_id(sqlite3_stmt *statement, int index, int64_t id)
{
    if (id)
        sqlite3_bind_int64(statement, index, id);
    else
        sqlite3_bind_null(statement, index);
}

static void bind_field(sqlite3_stmt *statement, int index, enum store_field_kind kind,
                       const void *at)
{
    int number;
    switch (kind) {
    case STORE_FIELD_NAME:
        orch_store_bind_text(statement, index, *(const char *const *)at);
        break;
    case STORE_FIELD_SEED:
        sqlite3_bind_int64(statement, index, (int64_t) * (const uint64_t *)at);
        break;
    case STORE_FIELD_INT:
        sqlite3_bind_int64(statement, index, *(const int *)at);
        break;
    case STORE_FIELD_EXIT:
        number = *(const int *)at;
        if (number != -1)
            sqlite3_bind_int64(statement, index, number);
        break;
    case STORE_FIELD_SIGNAL:
        bind_id(statement, index, *(const int *)at);
        break;
    case STORE_FIELD_TIME:
        sqlite3_bind_int64(statement, index, *(const int64_t *)at);
        break;
    case STORE_FIELD_MS:
        sqlite3_bind_double(statement, index, *(const double *)at); /* NaN becomes NULL */
        break;
    case STORE_FIELD_BOOL:
        sqlite3_bind_int64(statement, index, *(const bool *)at);
        break;
    default:
        orch_store_bind_text(statement, index, or_null(*(const char *const *)at));
    }
}

/* Inserts the run's row. With an empty digest it accepts details until orch_store_seal_run closes
 * it. */
static bool put_run(struct writing *w, const char *key, const char *claimed, GError **error)
{
    struct orch_record record = *w->record;
    int64_t source, machine;
    if (!put_source(w, &source, error) || !put_machine(w, &machine, error))
        return false;
    sqlite3_stmt *s = orch_store_statement(
        w->store,
        "INSERT INTO run(digest_v, digest, source, machine" STORE_RUN_FIELDS(
            STORE_FIELD_OWN) ") VALUES(1, ?1, ?2, ?3" STORE_RUN_FIELDS(STORE_FIELD_PLACE) ")",
        error);
    if (!s)
        return false;
    record.key = key; /* a conflict is written under a temporary key */
    orch_store_bind_text(s, 1, claimed);
    bind_id(s, 2, source);
    bind_id(s, 3, machine);
    for (int i = 0, at = 4; i < STORE_RUN_FIELD_COUNT; i++)
        if (store_run_fields[i].is_own)
            bind_field(s, at++, store_run_fields[i].kind,
                       (const char *)&record + store_run_fields[i].in_record);
    if (orch_store_step(w->store, s, error) < 0)
        return false;
    w->run_id = w->out->run_id = sqlite3_last_insert_rowid(w->store->db);
    return true;
}

static bool put_params_and_inputs(struct writing *w, GError **error)
{
    const struct orch_record *r = w->record;
    bool ok = true;
    for (size_t i = 0; ok && i < r->param_count; i++)
        ok = orch_store_run_statement(
            w->store, error,
            "INSERT INTO param(run, name, type, value) VALUES(?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET type = excluded.type, value = excluded.value",
            "ittt", w->run_id, r->params[i].name, r->params[i].type, r->params[i].value);
    for (size_t i = 0; ok && i < r->input_count; i++)
        ok = orch_store_run_statement(
            w->store, error,
            "INSERT INTO input(run, name, from_key, sha256) VALUES(?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET from_key = excluded.from_key,"
            " sha256 = excluded.sha256",
            "ittt", w->run_id, r->inputs[i].name, or_null(r->inputs[i].from_key),
            or_null(r->inputs[i].sha256));
    return ok;
}

static bool put_results_and_artifacts(struct writing *w, GError **error)
{
    const struct orch_record *r = w->record;
    bool ok = true;
    for (size_t i = 0; ok && i < r->result_count; i++) {
        const struct orch_metric_row *row = declared(r, r->results[i].name);
        ok = orch_store_run_statement(
            w->store, error,
            "INSERT INTO result(run, name, value, unit, better) VALUES(?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET value = excluded.value",
            "itrtt", w->run_id, r->results[i].name, r->results[i].value, unit_of(row),
            better_of(row));
    }
    for (size_t i = 0; ok && i < r->artifact_count; i++)
        ok = orch_store_run_statement(
            w->store, error,
            "INSERT INTO artifact(run, name, sha256, bytes) VALUES(?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET sha256 = excluded.sha256,"
            " bytes = excluded.bytes",
            "itti", w->run_id, r->artifacts[i].name, r->artifacts[i].sha256, r->artifacts[i].bytes);
    return ok;
}

/* ---- points -----------------------------------------------------------------------------------
 */

static struct slot *add_slot(struct writing *w, const char *name, GError **error)
{
    if (w->slots->len >= METRIC_NAMES_MAX) {
        w->out->is_records_fault = true;
        orch_error_set(error, ORCH_ERROR_STORE,
                       "report fewer metrics: put what varies into the step or a parameter",
                       "cannot record run '%s': more than %d different metrics", w->record->key,
                       METRIC_NAMES_MAX);
        return NULL;
    }
    int64_t name_id;
    if (!put_metric_name(w, name, &name_id, error))
        return NULL;
    struct slot *slot = g_new0(struct slot, 1);
    slot->name = g_strdup(name);
    slot->name_id = name_id;
    slot->last_step = INT64_MIN;
    slot->points = orch_store_points_new();
    g_ptr_array_add(w->slots, slot);
    g_hash_table_insert(w->by_name, slot->name, slot);
    return slot;
}

/* Finds the slot of a metric. Points come metric by metric or in rotation, so it is nearly always
 * the same slot or the next one. */
static struct slot *find_slot(struct writing *w, const char *name, GError **error)
{
    guint count = w->slots->len;
    for (guint i = 0; i < 2 && count; i++) {
        guint candidate = (w->at + i) % count;
        struct slot *slot = w->slots->pdata[candidate];
        if (strcmp(slot->name, name) == 0) {
            w->at = candidate;
            return slot;
        }
    }
    struct slot *slot = g_hash_table_lookup(w->by_name, name);
    if (!slot)
        return add_slot(w, name, error);
    g_ptr_array_find(w->slots, slot, &w->at);
    return slot;
}

/* The next point as a row of `metric`. */
static int next_row(void *ctx, struct store_row *out)
{
    struct writing *w = ctx;
    struct orch_point point;
    if (!w->record->next_point(w->record->next_ctx, &point, &w->problem)) {
        w->out->is_records_fault = w->problem != NULL;
        return w->problem ? -1 : 0;
    }
    g_autofree char *fault = w->is_elsewhere ? orch_bound_point_fault(&point) : NULL;
    if (fault) {
        w->out->is_records_fault = true;
        orch_error_set(&w->problem, ORCH_ERROR_STORE, NULL, "%s", fault);
        return -1;
    }
    struct slot *slot = find_slot(w, point.name, &w->problem);
    if (!slot)
        return -1;
    if (slot->points && point.step > slot->last_step) {
        orch_store_points_add(slot->points, point.step, point.t_ms, point.value);
        slot->last_step = point.step;
    } else {
        g_clear_pointer(&slot->points, orch_store_points_free);
    }
    *out = (struct store_row){slot->name_id, point.step, point.t_ms, point.value};
    return 1;
}

static bool put_points(struct writing *w, GError **error)
{
    if (!w->record->next_point)
        return true;
    GError *problem = NULL;
    bool ok = orch_store_insert_points(w->store, w->run_id, next_row, w, &problem);
    if (w->problem) { /* this error is more specific than that of the statement */
        g_clear_error(&problem);
        g_propagate_error(error, w->problem);
        return false;
    }
    if (problem)
        g_propagate_error(error, problem);
    return ok;
}

/* ---- entry points -----------------------------------------------------------------------------
 */

/* The metrics as they were streamed. NULL when a text of one was repaired while it was stored; then
 * the rows have the actual names. */
static GArray *streamed(const struct writing *w)
{
    GArray *metrics = g_array_new(FALSE, FALSE, sizeof(struct store_metric));
    for (guint i = 0; i < w->slots->len; i++) {
        const struct slot *slot = w->slots->pdata[i];
        const struct orch_metric_row *row = declared(w->record, slot->name);
        const struct store_metric metric = {slot->name_id, slot->name, unit_of(row), better_of(row),
                                            slot->points};
        g_array_append_val(metrics, metric);
        if (g_utf8_validate(metric.name, -1, NULL) && g_utf8_validate(metric.unit, -1, NULL) &&
            g_utf8_validate(metric.better, -1, NULL))
            continue;
        g_array_unref(metrics);
        return NULL;
    }
    return metrics;
}

static bool write_all(struct writing *w, const char *key, const char *claimed, GError **error)
{
    w->is_elsewhere = *claimed != '\0';
    if (!put_run(w, key, claimed, error) || !put_params_and_inputs(w, error) ||
        !put_results_and_artifacts(w, error) || !put_points(w, error))
        return false;
    GArray *metrics = streamed(w);
    bool ok =
        orch_store_digest_run(w->store, w->run_id, w->record->key, metrics, w->out->digest, error);
    if (metrics)
        g_array_unref(metrics);
    return ok;
}

bool orch_store_write_run(struct orch_store *store, const struct orch_record *record,
                          const char *key, const char *claimed, struct store_written *out,
                          GError **error)
{
    *out = (struct store_written){0};
    struct writing w = {
        .store = store,
        .record = record,
        .slots = g_ptr_array_new_with_free_func(free_slot),
        .by_name = g_hash_table_new(g_str_hash, g_str_equal),
        .out = out,
    };
    bool ok = write_all(&w, key, claimed, error);
    g_hash_table_destroy(w.by_name);
    g_ptr_array_unref(w.slots);
    return ok;
}

bool orch_store_seal_run(struct orch_store *store, const struct store_written *written,
                         GError **error)
{
    return orch_store_run_statement(store, error, "UPDATE run SET digest = ? WHERE id = ?", "ti",
                                    written->digest, written->run_id);
}

bool orch_store_unwrite_run(struct orch_store *store, const struct store_written *written,
                            GError **error)
{
    static const char *const rows[] = {
        "DELETE FROM metric WHERE run = ?", "DELETE FROM artifact WHERE run = ?",
        "DELETE FROM result WHERE run = ?", "DELETE FROM input WHERE run = ?",
        "DELETE FROM param WHERE run = ?",  "DELETE FROM run WHERE id = ?",
    };
    bool ok = true;
    for (size_t i = 0; ok && i < G_N_ELEMENTS(rows); i++)
        ok = orch_store_run_statement(store, error, rows[i], "i", written->run_id);
    if (ok && written->new_source)
        ok = orch_store_run_statement(store, error, "DELETE FROM source WHERE id = ?", "i",
                                      written->new_source);
    if (ok && written->new_machine)
        ok = orch_store_run_statement(store, error, "DELETE FROM machine WHERE id = ?", "i",
                                      written->new_machine);
    if (ok && written->first_new_name) /* ids ascend, so all new names are at or after the first */
        ok = orch_store_run_statement(store, error, "DELETE FROM metric_name WHERE id >= ?", "i",
                                      written->first_new_name);
    return ok;
}
