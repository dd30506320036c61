/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/predictor.h"

#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* The model of a forest with many rows is long, and only it may exceed the limit for texts. The
 * bound is SQLite's own limit, less the rest of the row. */
enum { MODEL_BYTES_MAX = 1000000000 - 4096 };

/* Raises the length limit for a model; returns the old limit for `end_long`. */
static int begin_long(struct orch_store *store)
{
    return sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, 1000000000);
}

static void end_long(struct orch_store *store, int limit)
{
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, limit);
}

void orch_predictor_row_free(struct orch_predictor_row *row)
{
    if (!row)
        return;
    g_free(row->name);
    g_free(row->model);
    g_free(row);
}

static bool put_model(struct orch_store *store, const char *name, const char *model, GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (orch_store_run_statement(
            store, error,
            "INSERT INTO predictor(name, made, model) VALUES(?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET made = excluded.made, model = excluded.model",
            "tit", name, orch_now_ns(), model))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

bool orch_store_put_predictor(struct orch_store *store, const char *name, const char *model,
                              GError **error)
{
    size_t length = strlen(model);
    if (length > MODEL_BYTES_MAX) {
        g_autofree char *bytes = orch_bytes_format((int64_t)length);
        orch_error_set(error, ORCH_ERROR_STORE, "train on fewer rows (--where)",
                       "cannot keep predictor '%s' in store '%s': it is too large (%s)", name,
                       store->path, bytes);
        return false;
    }
    int limit = begin_long(store);
    bool ok = put_model(store, name, model, error);
    end_long(store, limit);
    return ok;
}

static struct orch_predictor_row *read_row(sqlite3_stmt *statement, bool with_text)
{
    struct orch_predictor_row *row = g_new0(struct orch_predictor_row, 1);
    row->name = g_strdup(orch_store_text(statement, 0));
    row->made_ns = sqlite3_column_int64(statement, 1);
    row->model = with_text ? g_strdup(orch_store_text(statement, 2)) : NULL;
    return row;
}

struct orch_predictor_row *orch_store_predictor(struct orch_store *store, const char *name,
                                                GError **error)
{
    sqlite3_stmt *statement = orch_store_statement(
        store, "SELECT name, made, model FROM predictor WHERE name = ?", error);
    if (!statement)
        return NULL;
    int limit = begin_long(store);
    orch_store_bind(statement, "t", name);
    int step = orch_store_step(store, statement, error);
    struct orch_predictor_row *row = step > 0 ? read_row(statement, true) : NULL;
    sqlite3_reset(statement);
    end_long(store, limit);
    return row;
}

GPtrArray *orch_store_predictors(struct orch_store *store, bool with_texts, GError **error)
{
    sqlite3_stmt *statement =
        with_texts
            ? orch_store_statement(store, "SELECT name, made, model FROM predictor ORDER BY name",
                                   error)
            : orch_store_statement(store, "SELECT name, made FROM predictor ORDER BY name", error);
    if (!statement)
        return NULL;
    GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)orch_predictor_row_free);
    int step, limit = begin_long(store);
    while ((step = orch_store_step(store, statement, error)) > 0)
        g_ptr_array_add(rows, read_row(statement, with_texts));
    end_long(store, limit);
    if (!step)
        return rows;
    g_ptr_array_unref(rows);
    return NULL;
}

bool orch_store_remove_predictor(struct orch_store *store, const char *name, bool *out_removed,
                                 GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (!orch_store_run_statement(store, error, "DELETE FROM predictor WHERE name = ?", "t",
                                  name)) {
        orch_store_transaction_rollback(store);
        return false;
    }
    *out_removed = sqlite3_changes(store->db) > 0;
    return orch_store_transaction_commit(store, error);
}

bool orch_store_newer_runs(struct orch_store *store, int64_t after, int64_t *out_count,
                           int64_t *out_last, GError **error)
{
    return orch_store_get_int(store, out_count, 0, error, "SELECT count(*) FROM run WHERE id > ?",
                              "i", after) &&
           orch_store_get_int(store, out_last, 0, error, "SELECT max(id) FROM run", "");
}
