/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the rows of one run, both for recording a trial and for joining a run from elsewhere.
 *
 * The points are hashed while they are read, and inserted metric by metric, in the order of the
 * table's key: in the order of a journal, where metrics alternate, each insertion would be a
 * search. A metric whose steps do not ascend (a later point of a step replaces the earlier one) is
 * read back for the digest instead.
 */
#include "store/write/write.h"
#include "store/handle/sql.h"
#include "store/write/digest.h"
#include "store/write/imported.h"
#include "store/write/run_fields.h"
#include "store/write/run_lists.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/wire/bounds.h"

#include <string.h>

/* Maximum number of metrics of a run. Plugins declare a few dozen; this stops a run that generates
 * names without end. */
enum { METRIC_NAMES_MAX = ORCH_IMPORTED_METRICS_MAX, ROWS_HELD_MAX = 1 << 20 };

/** A metric of the run that is being written. */
struct slot {
    char *name;
    int64_t name_id;
    int64_t last_step;
    struct store_points *points; /* NULL once the steps did not ascend */
    GArray *rows;                /* struct store_row: those to insert next */
};

struct writing {
    struct orch_store *store;
    const struct orch_record *record;
    int64_t run_id;
    GPtrArray *slots;    /* struct slot *, in order of appearance */
    GHashTable *by_name; /* name -> slot */
    guint at;            /* slot of the last point */
    guint giving, given; /* slot whose rows are inserted now, and how many were */
    bool has_ended;      /* no more points come */
    GError *problem;     /* error of the stream */
    bool is_elsewhere;   /* recorded elsewhere: points are checked against bounds */
    struct store_written *out;
};

static void free_slot(gpointer data)
{
    struct slot *slot = data;
    g_free(slot->name);
    orch_store_points_free(slot->points);
    g_array_unref(slot->rows);
    g_free(slot);
}

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
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
    struct orch_metric_row row = orch_store_declared(w->record, name);
    *out_id = 0;
    if (!orch_store_get_int(w->store, out_id, 0, error,
                            "SELECT id FROM metric_name WHERE name = ? AND unit = ? AND better = ?",
                            "ttt", name, row.unit, row.better) ||
        *out_id)
        return *out_id != 0;
    if (!orch_store_run_statement(w->store, error,
                                  "INSERT INTO metric_name(name, unit, better) VALUES(?, ?, ?)",
                                  "ttt", name, row.unit, row.better))
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

static bool put_row(struct writing *w, const struct store_row_kind *kind, const char *row,
                    GError **error)
{
    sqlite3_stmt *s = orch_store_statement(w->store, kind->put, error);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, w->run_id);
    for (int i = 0; kind->members[i].kind; i++) {
        const void *at = row + kind->members[i].offset;
        if (kind->members[i].kind == STORE_VALUE_NAME)
            orch_store_bind_text(s, i + 2, *(const char *const *)at);
        else if (kind->members[i].kind == STORE_VALUE_TEXT)
            orch_store_bind_text(s, i + 2, or_null(*(const char *const *)at));
        else if (kind->members[i].kind == STORE_VALUE_INT64)
            sqlite3_bind_int64(s, i + 2, *(const int64_t *)at);
        else
            sqlite3_bind_double(s, i + 2, *(const double *)at); /* NaN becomes NULL */
    }
    return orch_store_step(w->store, s, error) >= 0;
}

static bool put_rows(struct writing *w, GError **error)
{
    bool ok = true;
    for (int k = 0; ok && k < STORE_ROWS; k++) {
        const struct store_row_kind *kind = &store_row_kinds[k];
        size_t count;
        void *own;
        const char *rows = orch_store_rows_of_record(w->record, (enum store_rows)k, &count, &own);
        for (size_t i = 0; ok && i < count; i++)
            ok = put_row(w, kind, rows + i * kind->row_bytes, error);
        g_free(own);
    }
    return ok;
}

/* ---- points -----------------------------------------------------------------------------------
 */

static struct slot *add_slot(struct writing *w, const char *name, GError **error)
{
    if (w->slots->len >= METRIC_NAMES_MAX) {
        w->out->is_records_fault = true;
        orch_error_set(error, ORCH_ERROR_STORE,
                       "use one metric with steps: loss, not loss_1, loss_2 and so on",
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
    slot->rows = g_array_new(FALSE, FALSE, sizeof(struct store_row));
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

/* Adds the next point to the rows of its metric. Returns 1, 0 at the end, -1 on failure. */
static int hold_row(struct writing *w)
{
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
    const struct store_row row = {slot->name_id, point.step, point.t_ms, point.value};
    g_array_append_val(slot->rows, row);
    return 1;
}

/* The next row of `metric`. */
static int next_row(void *ctx, struct store_row *out)
{
    struct writing *w = ctx;
    for (;;) {
        for (; w->giving < w->slots->len; w->giving++, w->given = 0) {
            GArray *rows = ((struct slot *)w->slots->pdata[w->giving])->rows;
            if (w->given < rows->len) {
                *out = g_array_index(rows, struct store_row, w->given++);
                return 1;
            }
            g_array_set_size(rows, 0);
        }
        int state = w->has_ended ? 0 : 1;
        for (guint held = 0; state == 1 && held < ROWS_HELD_MAX; held++)
            state = hold_row(w);
        if (state < 0 || w->has_ended)
            return state;
        w->has_ended = state == 0;
        w->giving = 0;
    }
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
        struct orch_metric_row row = orch_store_declared(w->record, slot->name);
        const struct store_metric metric = {slot->name_id, slot->name, row.unit, row.better,
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
    if (!put_run(w, key, claimed, error) || !put_rows(w, error) || !put_points(w, error))
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
    int64_t id = written->run_id;
    bool ok = orch_store_run_statement(store, error, "DELETE FROM metric WHERE run = ?", "i", id);
    for (int k = 0; ok && k < STORE_ROWS; k++)
        ok = orch_store_run_statement(store, error, store_row_kinds[k].remove, "i", id);
    ok = ok && orch_store_run_statement(store, error, "DELETE FROM run WHERE id = ?", "i", id);
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
