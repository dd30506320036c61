/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies everything but the runs of a damaged file: plausible rows, unchanged. */
#include "store/handle/sql.h"
#include "store/repair/repair_private.h"
#include "store/write/note_rules.h"

#include "store/write/dataset.h"
#include "store/write/dataset_text.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* Inserts the columns of a row unchanged; `*count` grows when it was not stored yet. */
static bool insert_row(struct store_reading *r, const char *insert_sql, sqlite3_stmt *row,
                       int64_t *count, GError **error)
{
    sqlite3_stmt *insert = orch_store_statement(r->into, insert_sql, error);
    if (!insert)
        return false;
    orch_store_bind_columns(insert, 1, row, 0);
    sqlite3_step(insert);
    enum store_copy_result outcome =
        orch_store_reading_outcome(r->into, sqlite3_reset(insert), error);
    if (outcome == COPY_OK)
        *count += sqlite3_changes(r->into->db);
    else
        r->gaps++; /* not a valid row */
    return outcome != COPY_FAILED;
}

/* True when every text of the row is UTF-8 and the first column has `length` bytes. */
static bool is_plausible(sqlite3_stmt *row, int length)
{
    for (int i = 0; i < sqlite3_column_count(row); i++)
        if (sqlite3_column_type(row, i) == SQLITE_TEXT &&
            !g_utf8_validate((const char *)sqlite3_column_text(row, i), -1, NULL))
            return false;
    return sqlite3_column_bytes(row, 0) == length;
}

static bool take_note(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    const char *kind = (const char *)sqlite3_column_text(row, 2);
    if (!is_plausible(row, ORCH_KEY_CHARS - 1) || !orch_store_note_kind_is_known(kind)) {
        r->gaps++;
        return true;
    }
    return insert_row(r,
                      "INSERT INTO note(key, target, kind, public, text, who, made)"
                      " VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                      row, &r->salvage->notes, error);
}

/* A recipe's key is the hash of its canonical text. */
static bool take_recipe(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    char sha256[ORCH_SHA256_CHARS] = "";
    const char *canonical = (const char *)sqlite3_column_text(row, 2);
    if (canonical)
        orch_sha256(canonical, strlen(canonical), sha256);
    if (strcmp(sha256, (const char *)sqlite3_column_text(row, 0)) != 0) {
        r->gaps++;
        return true;
    }
    return insert_row(r,
                      "INSERT INTO recipe(key, name, canonical, verbatim) VALUES(?, ?, ?, ?)"
                      " ON CONFLICT DO NOTHING",
                      row, &r->salvage->recipes, error);
}

static bool take_forecast(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    if (!is_plausible(row, 64)) {
        r->gaps++;
        return true;
    }
    return insert_row(r,
                      "INSERT INTO forecast(fingerprint, machine, model, made, p5, p50, p95, tier,"
                      " run) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                      row, &r->salvage->forecasts, error);
}

static bool take_predictor(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    if (!is_plausible(row, sqlite3_column_bytes(row, 0))) {
        r->gaps++;
        return true;
    }
    return insert_row(r,
                      "INSERT INTO predictor(name, made, model) VALUES(?, ?, ?)"
                      " ON CONFLICT DO NOTHING",
                      row, &r->salvage->predictors, error);
}

static bool take_conflict(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    const char *digest = (const char *)sqlite3_column_text(row, 1);
    if (!is_plausible(row, ORCH_KEY_CHARS - 1) || !digest || !orch_sha256_is_valid(digest)) {
        r->gaps++;
        return true;
    }
    return insert_row(r,
                      "INSERT INTO conflict(key, digest, origin, record, found)"
                      " VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                      row, &r->salvage->conflicts, error);
}

bool orch_store_put_active(struct orch_store *into, sqlite3_stmt *row, bool *out_added,
                           GError **error)
{
    int64_t ended;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    *out_added = false;
    if (!orch_store_get_int(into, &ended, 0, error, "SELECT id FROM run WHERE key = ?", "t", key))
        return false;
    if (ended)
        return true;
    sqlite3_stmt *insert = orch_store_statement(
        into,
        "INSERT INTO active(key, fingerprint, device_key, record, boot_id, pid,"
        " pid_start, started) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        error);
    if (!insert)
        return false;
    orch_store_bind_columns(insert, 1, row, 0);
    if (orch_store_step(into, insert, error) < 0)
        return false;
    *out_added = sqlite3_changes(into->db) > 0;
    return !*out_added ||
           orch_store_run_statement(into, error,
                                    "INSERT INTO lease(resource, owner) VALUES(?1, ?1)"
                                    " ON CONFLICT DO NOTHING",
                                    "t", key);
}

static bool take_active(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    bool added;
    if (!is_plausible(row, ORCH_KEY_CHARS - 1) || !sqlite3_column_text(row, 3) ||
        !sqlite3_column_text(row, 4)) {
        r->gaps++;
        return true;
    }
    if (!orch_store_put_active(r->into, row, &added, error))
        return false;
    r->salvage->actives += added;
    return true;
}

static const struct {
    const char *what, *walk;
    store_take_row take;
    const char *count, *count_index; /* more rows in the index than in the table: some were lost */
} TABLES[] = {
    {.what = "notes",
     .walk = "SELECT key, target, kind, public, text, who, made FROM note WHERE key >= ?"
             " ORDER BY key",
     .take = take_note,
     .count = "SELECT count(*) FROM note NOT INDEXED",
     .count_index = "SELECT count(*) FROM note INDEXED BY note_by_target"},
    {.what = "recipes",
     .walk = "SELECT key, name, canonical, verbatim FROM recipe WHERE key >= ? ORDER BY key",
     .take = take_recipe},
    {.what = "forecasts",
     .walk = "SELECT fingerprint, machine, model, made, p5, p50, p95, tier, run FROM forecast"
             " WHERE fingerprint >= ? ORDER BY fingerprint",
     .take = take_forecast,
     .count = "SELECT count(*) FROM forecast NOT INDEXED",
     .count_index = "SELECT count(*) FROM forecast INDEXED BY forecast_by_run"},
    {.what = "trained predictors",
     .walk = "SELECT name, made, model FROM predictor WHERE name >= ? ORDER BY name",
     .take = take_predictor},
    {.what = "conflicts",
     .walk = "SELECT key, digest, origin, record, found FROM conflict WHERE key >= ? ORDER BY key",
     .take = take_conflict},
    {.what = "trials under way",
     .walk = "SELECT key, fingerprint, device_key, record, boot_id, pid, pid_start, started"
             " FROM active WHERE key >= ? ORDER BY key",
     .take = take_active,
     .count = "SELECT count(*) FROM active NOT INDEXED",
     .count_index = "SELECT count(*) FROM active INDEXED BY active_by_fingerprint"},
};

static int64_t count_rows(struct orch_store *store, const char *sql)
{
    int64_t count;
    return orch_store_get_int(store, &count, 0, NULL, sql, "") ? count : -1;
}

static void note_lost(struct store_reading *r, const char *what, GPtrArray *out)
{
    g_ptr_array_add(out, g_strdup_printf("some %s lay on damaged pages (at %" G_GINT64_FORMAT
                                         " place%s)",
                                         what, r->gaps, orch_plural(r->gaps)));
}

bool orch_store_take_tables(struct store_reading *r, GPtrArray *lost, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(TABLES); i++) {
        if (!orch_store_walk_texts(r, TABLES[i].walk, TABLES[i].take, error))
            return false;
        if (!r->gaps && TABLES[i].count)
            r->gaps =
                count_rows(r->from, TABLES[i].count_index) > count_rows(r->from, TABLES[i].count);
        if (r->gaps)
            note_lost(r, TABLES[i].what, lost);
    }
    return true;
}

bool orch_store_take_datasets(struct store_reading *r, GPtrArray *lost, GError **error)
{
    sqlite3_stmt *s =
        orch_store_reading_prepare(r->from, "SELECT sha256 FROM dataset ORDER BY sha256");
    g_autoptr(GPtrArray) digests = g_ptr_array_new_with_free_func(g_free);
    int code = SQLITE_ERROR;
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
        g_ptr_array_add(digests, orch_store_column_text(s, 0));
    sqlite3_finalize(s);
    if (code != SQLITE_DONE)
        g_ptr_array_add(lost, g_strdup("some data sets lay on damaged pages"));
    for (guint i = 0; i < digests->len; i++) {
        const char *digest = digests->pdata[i];
        struct orch_dataset *set = digest ? orch_store_dataset(r->from, digest, NULL) : NULL;
        enum orch_dataset_put put = ORCH_DATASET_KNOWN;
        if (set)
            orch_store_dataset_digest(set);
        bool is_whole = set && strcmp(set->sha256, digest) == 0;
        GError *problem = NULL;
        bool ok = !is_whole || orch_store_put_dataset(r->into, set, &put, NULL, &problem);
        r->salvage->datasets += is_whole && ok && put == ORCH_DATASET_ADDED;
        orch_dataset_free(set);
        if (!is_whole)
            g_ptr_array_add(lost, g_strdup_printf("data set %.12s cannot be read whole",
                                                  digest ? digest : "?"));
        else if (!ok && problem->code == ORCH_ERROR_USAGE) /* another data set has its name */
            g_ptr_array_add(lost, g_strdup(problem->message));
        else if (!ok) {
            g_propagate_error(error, problem);
            return false;
        }
        g_clear_error(&problem);
    }
    return true;
}
