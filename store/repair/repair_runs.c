/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies the runs of a damaged file. They are looked up one by one, by every id that any index
 * contains, and copied by column. Each run must give its recorded digest from its rows in the new
 * store, or it is rolled back.
 */
#include "store/handle/sql.h"
#include "store/repair/repair_private.h"
#include "store/write/digest.h"
#include "store/write/run_fields.h"
#include "store/write/run_lists.h"

#include "lib/base/error.h"

#include <string.h>

static const int64_t NUMBERS_MAX = INT64_C(1) << 24;

/* ---- numbers and keys of runs -----------------------------------------------------------------
 */

static void add_number(struct store_reading *r, int64_t number)
{
    if (number <= 0 || number > NUMBERS_MAX)
        return;
    g_hash_table_add(r->numbers, g_memdup2(&number, sizeof number));
    r->last = MAX(r->last, number);
}

static bool take_key(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    (void)error;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    int64_t number = sqlite3_column_int64(row, 1);
    if (!key || strlen(key) != ORCH_KEY_CHARS - 1 || !g_utf8_validate(key, -1, NULL))
        return true;
    g_hash_table_insert(r->keys, g_memdup2(&number, sizeof number), g_strdup(key));
    add_number(r, number);
    return true;
}

static bool take_number(struct store_reading *r, sqlite3_stmt *row, GError **error)
{
    (void)error;
    add_number(r, sqlite3_column_int64(row, 0));
    return true;
}

/* Collects the ids in an index. When the ascending scan meets damage, a descending one reads the
 * index from its other end. */
static void walk_index(struct store_reading *r, const char *rising, const char *falling)
{
    const char *const both[] = {rising, falling};
    for (size_t i = 0; i < G_N_ELEMENTS(both); i++) {
        sqlite3_stmt *s = orch_store_reading_prepare(r->from, both[i]);
        int code = SQLITE_ERROR;
        while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
            add_number(r, sqlite3_column_int64(s, 0));
        sqlite3_finalize(s);
        if (code == SQLITE_DONE)
            break;
    }
}

bool orch_store_salvage_runs(struct store_reading *r, GError **error)
{
    if (!orch_store_walk_texts(r, "SELECT key, id FROM run WHERE key >= ? ORDER BY key", take_key,
                               error))
        return false;
    walk_index(r, "SELECT id FROM run INDEXED BY run_by_ended ORDER BY ended",
               "SELECT id FROM run INDEXED BY run_by_ended ORDER BY ended DESC");
    walk_index(r, "SELECT id FROM run INDEXED BY run_by_state ORDER BY state",
               "SELECT id FROM run INDEXED BY run_by_state ORDER BY state DESC");
    return orch_store_walk_numbers(r, "SELECT id FROM run NOT INDEXED WHERE id > ? ORDER BY id",
                                   r->last, take_number, error);
}

/* ---- one run ----------------------------------------------------------------------------------
 */

/* The rows that runs share are few, and lie on a page that all runs need; the unique index of their
 * table contains them a second time. */
struct shared {
    const char *select, *select_index, *insert, *find;
};
static const struct shared SOURCE = {
    "SELECT tree, commit_oid, branch, dirty, remote FROM source WHERE id = ?",
    "SELECT nullif(coalesce(tree, ''), ''), nullif(coalesce(commit_oid, ''), ''),"
    " nullif(coalesce(branch, ''), ''), dirty, nullif(coalesce(remote, ''), '')"
    " FROM source INDEXED BY source_whole WHERE +id = ? ORDER BY coalesce(tree, '')",
    "INSERT INTO source(tree, commit_oid, branch, dirty, remote)"
    " VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    "SELECT id FROM source WHERE coalesce(tree, '') = coalesce(?, '')"
    " AND coalesce(commit_oid, '') = coalesce(?, '')"
    " AND coalesce(branch, '') = coalesce(?, '') AND dirty = ?"
    " AND coalesce(remote, '') = coalesce(?, '')"};
static const struct shared MACHINE = {
    "SELECT key, facts FROM machine WHERE id = ?",
    "SELECT key, facts FROM machine INDEXED BY sqlite_autoindex_machine_1 WHERE +id = ?"
    " ORDER BY key, facts",
    "INSERT INTO machine(key, facts) VALUES(?, ?) ON CONFLICT DO NOTHING",
    "SELECT id FROM machine WHERE key = ? AND facts = ?"};
static const struct shared METRIC_NAME = {
    "SELECT name, unit, better FROM metric_name WHERE id = ?",
    "SELECT name, unit, better FROM metric_name INDEXED BY sqlite_autoindex_metric_name_1"
    " WHERE +id = ? ORDER BY name, unit, better",
    "INSERT INTO metric_name(name, unit, better) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
    "SELECT id FROM metric_name WHERE name = ? AND unit = ? AND better = ?"};

/* Finds the row in the table or else in its index; NULL when it is in neither. */
static sqlite3_stmt *find_shared(struct store_reading *r, int64_t number,
                                 const struct shared *table)
{
    const char *const ways[] = {table->select, table->select_index};
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        sqlite3_stmt *row = orch_store_statement(r->from, ways[i], NULL);
        if (!row)
            continue;
        orch_store_bind(row, "i", number);
        if (orch_store_step(r->from, row, NULL) > 0 && sqlite3_column_count(row) > 0)
            return row;
    }
    return NULL;
}

/* Copies a shared row; `*out` is its id in the new store. */
static enum store_copy_result copy_shared(struct store_reading *r, int64_t number,
                                          const struct shared *table, int64_t *out, GError **error)
{
    sqlite3_stmt *row = find_shared(r, number, table);
    sqlite3_stmt *insert = orch_store_statement(r->into, table->insert, error);
    sqlite3_stmt *find = insert ? orch_store_statement(r->into, table->find, error) : NULL;
    if (!insert || !find)
        return COPY_FAILED;
    if (!row)
        return COPY_UNREADABLE;
    orch_store_bind_columns(insert, 1, row, 0);
    orch_store_bind_columns(find, 1, row, 0);
    sqlite3_step(insert);
    enum store_copy_result outcome =
        orch_store_reading_outcome(r->into, sqlite3_reset(insert), error);
    if (outcome == COPY_OK) {
        int more = orch_store_step(r->into, find, error);
        *out = more > 0 ? sqlite3_column_int64(find, 0) : 0;
        outcome = more < 0 ? COPY_FAILED : more ? COPY_OK : COPY_INVALID;
        sqlite3_reset(find);
    }
    sqlite3_reset(row);
    return outcome;
}

/** The first columns of a run's row; both statements have them in this order, followed by the
 * fields. */
enum { ROW_DIGEST, ROW_SOURCE, ROW_MACHINE, ROW_VERSION, ROW_KEY };
#define ROW_COLUMNS "digest, source, machine, digest_v" STORE_RUN_FIELDS(STORE_FIELD_OWN)

/* Inserts the run's row with an empty digest, which close_run fills in. */
static enum store_copy_result copy_head(struct store_reading *r, sqlite3_stmt *row, int64_t *out_id,
                                        GError **error)
{
    sqlite3_stmt *insert = orch_store_statement(
        r->into,
        "INSERT INTO run(" ROW_COLUMNS
        ") VALUES(coalesce(?1, ''), ?2, ?3, ?4" STORE_RUN_FIELDS(STORE_FIELD_PLACE) ")",
        error);
    if (!insert)
        return COPY_FAILED;
    enum store_copy_result outcome = COPY_OK;
    int64_t source = 0, machine = 0;
    if (sqlite3_column_type(row, ROW_SOURCE) != SQLITE_NULL)
        outcome = copy_shared(r, sqlite3_column_int64(row, ROW_SOURCE), &SOURCE, &source, error);
    if (outcome == COPY_OK && sqlite3_column_type(row, ROW_MACHINE) != SQLITE_NULL)
        outcome = copy_shared(r, sqlite3_column_int64(row, ROW_MACHINE), &MACHINE, &machine, error);
    if (outcome != COPY_OK)
        return outcome;
    orch_store_bind_columns(insert, 1, row, 0);
    sqlite3_bind_null(insert, 1 + ROW_DIGEST);
    if (source)
        sqlite3_bind_int64(insert, 1 + ROW_SOURCE, source);
    if (machine)
        sqlite3_bind_int64(insert, 1 + ROW_MACHINE, machine);
    sqlite3_step(insert);
    outcome = orch_store_reading_outcome(r->into, sqlite3_reset(insert), error);
    *out_id = sqlite3_last_insert_rowid(r->into->db);
    return outcome;
}

static enum store_copy_result copy_rows(struct store_reading *r, int which, int64_t number,
                                        int64_t id, GError **error)
{
    sqlite3_stmt *rows = orch_store_statement(r->from, store_row_kinds[which].of_run, NULL);
    sqlite3_stmt *insert = orch_store_statement(r->into, store_row_kinds[which].put, error);
    if (!insert)
        return COPY_FAILED;
    if (!rows)
        return COPY_UNREADABLE;
    enum store_copy_result outcome = COPY_OK;
    int more;
    orch_store_bind(rows, "i", number);
    while (outcome == COPY_OK && (more = orch_store_step(r->from, rows, NULL)) != 0) {
        if (more < 0)
            return COPY_UNREADABLE;
        sqlite3_bind_int64(insert, 1, id);
        orch_store_bind_columns(insert, 2, rows, 0);
        sqlite3_step(insert);
        outcome = orch_store_reading_outcome(r->into, sqlite3_reset(insert), error);
    }
    sqlite3_reset(rows);
    return outcome;
}

static enum store_copy_result copy_points(struct store_reading *r, int64_t number, int64_t id,
                                          GError **error)
{
    sqlite3_stmt *rows = orch_store_statement(r->from,
                                              "SELECT name_id, step, t_ms, value FROM metric"
                                              " WHERE run = ? ORDER BY name_id, step",
                                              NULL);
    sqlite3_stmt *insert = orch_store_statement(
        r->into, "INSERT INTO metric(run, name_id, step, t_ms, value) VALUES(?, ?, ?, ?, ?)",
        error);
    if (!insert)
        return COPY_FAILED;
    if (!rows)
        return COPY_UNREADABLE;
    enum store_copy_result outcome = COPY_OK;
    int64_t last = -1, name = 0;
    int more;
    orch_store_bind(rows, "i", number);
    while (outcome == COPY_OK && (more = orch_store_step(r->from, rows, NULL)) != 0) {
        if (more < 0)
            return COPY_UNREADABLE;
        if (sqlite3_column_int64(rows, 0) != last) {
            last = sqlite3_column_int64(rows, 0);
            outcome = copy_shared(r, last, &METRIC_NAME, &name, error);
        }
        if (outcome != COPY_OK)
            break;
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_int64(insert, 2, name);
        orch_store_bind_columns(insert, 3, rows, 1);
        sqlite3_step(insert);
        outcome = orch_store_reading_outcome(r->into, sqlite3_reset(insert), error);
    }
    sqlite3_reset(rows);
    return outcome;
}

/* Writes the digest, which closes the run. The points of a purged run are gone, so its digest
 * cannot be verified. */
static enum store_copy_result close_run(struct store_reading *r, int64_t number, int64_t id,
                                        const char *digest, bool *out_purged, GError **error)
{
    char computed[ORCH_SHA256_CHARS];
    int64_t made;
    GError *problem = NULL;
    if (!orch_store_digest_run(r->into, id, NULL, NULL, computed, &problem)) {
        g_propagate_error(error, problem);
        return COPY_FAILED;
    }
    *out_purged = false;
    if (strcmp(computed, digest) != 0) {
        if (!orch_store_get_int(r->from, &made, 0, NULL, "SELECT made FROM purged WHERE run = ?",
                                "i", number) ||
            made == 0)
            return COPY_INVALID;
        *out_purged = true;
        if (!orch_store_run_statement(r->into, error, "INSERT INTO purged(run, made) VALUES(?, ?)",
                                      "ii", id, made))
            return COPY_FAILED;
    }
    return orch_store_run_statement(r->into, error, "UPDATE run SET digest = ? WHERE id = ?", "ti",
                                    digest, id)
               ? COPY_OK
               : COPY_FAILED;
}

/* Returns 1 when the new store has the run with this digest, 2 with another digest, 0 when it has
 * none and -1 on error. */
static int is_known(struct orch_store *into, const char *key, const char *digest, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(into, "SELECT digest FROM run WHERE key = ?", error);
    if (!s)
        return -1;
    orch_store_bind(s, "t", key);
    int more = orch_store_step(into, s, error);
    if (more <= 0)
        return more;
    int same = strcmp((const char *)sqlite3_column_text(s, 0), digest) == 0 ? 1 : 2;
    sqlite3_reset(s);
    return same;
}

static enum store_copy_result copy_whole(struct store_reading *r, sqlite3_stmt *row, int64_t number,
                                         const char *digest, bool *out_purged, GError **error)
{
    int64_t id;
    enum store_copy_result outcome = copy_head(r, row, &id, error);
    for (int k = 0; outcome == COPY_OK && k < STORE_ROWS; k++)
        outcome = copy_rows(r, k, number, id, error);
    if (outcome == COPY_OK)
        outcome = copy_points(r, number, id, error);
    return outcome == COPY_OK ? close_run(r, number, id, digest, out_purged, error) : outcome;
}

/* Copies the run, or rolls back when it is not valid. */
static enum store_copy_result take_whole(struct store_reading *r, sqlite3_stmt *row, int64_t number,
                                         const char *key, const char *digest, GError **error)
{
    bool is_purged = false;
    int known = is_known(r->into, key, digest, error);
    if (known)
        return known == 1 ? COPY_OK : known == 2 ? COPY_INVALID : COPY_FAILED;
    if (!orch_store_exec(r->into, "SAVEPOINT one", "write to", error))
        return COPY_FAILED;
    enum store_copy_result outcome = copy_whole(r, row, number, digest, &is_purged, error);
    if (outcome == COPY_OK) {
        r->salvage->runs++;
        r->salvage->purged += is_purged;
    }
    if (outcome == COPY_FAILED)
        return outcome;
    const char *end = outcome == COPY_OK ? "RELEASE one" : "ROLLBACK TO one; RELEASE one";
    return orch_store_exec(r->into, end, "write to", error) ? outcome : COPY_FAILED;
}

static void note_failure(struct store_reading *r, int64_t number, const char *key, const char *why)
{
    const char *indexed = g_hash_table_lookup(r->keys, &number);
    r->failed++;
    if (indexed)
        key = indexed;
    if (!key)
        r->missing++;
    else if (!g_hash_table_contains(r->salvage->known, key))
        g_hash_table_insert(r->salvage->known, g_strdup(key), g_strdup(why));
}

static bool take_run(struct store_reading *r, int64_t number, GError **error)
{
    sqlite3_stmt *row = orch_store_statement(
        r->from, "SELECT " ROW_COLUMNS " FROM run NOT INDEXED WHERE id = ?", NULL);
    if (row)
        orch_store_bind(row, "i", number);
    int more = row ? orch_store_step(r->from, row, NULL) : -1;
    if (more == 0 && !g_hash_table_contains(r->numbers, &number))
        return true; /* there was no such run */
    if (more <= 0) {
        note_failure(r, number, NULL, "its row lies on a damaged page");
        return true;
    }
    g_autofree char *key = orch_store_column_text(row, ROW_KEY);
    g_autofree char *digest = orch_store_column_text(row, ROW_DIGEST);
    bool is_key = key && strlen(key) == ORCH_KEY_CHARS - 1 && g_utf8_validate(key, -1, NULL);
    enum store_copy_result outcome = COPY_INVALID;
    if (is_key && digest && orch_sha256_is_valid(digest) &&
        sqlite3_column_int(row, ROW_VERSION) == 1)
        outcome = take_whole(r, row, number, key, digest, error);
    sqlite3_reset(row);
    if (outcome == COPY_UNREADABLE || outcome == COPY_INVALID)
        note_failure(r, number, is_key ? key : NULL,
                     outcome == COPY_INVALID ? "what can be read does not match its digest"
                                             : "some of its rows lie on damaged pages");
    return outcome != COPY_FAILED;
}

static int by_number(gconstpointer a, gconstpointer b)
{
    int64_t x = **(int64_t *const *)a, y = **(int64_t *const *)b;
    return (x > y) - (x < y);
}

bool orch_store_take_runs(struct store_reading *r, GError **error)
{
    g_autoptr(GPtrArray) numbers = g_ptr_array_new();
    GHashTableIter iter;
    gpointer number;
    g_hash_table_iter_init(&iter, r->numbers);
    while (g_hash_table_iter_next(&iter, &number, NULL))
        g_ptr_array_add(numbers, number);
    g_ptr_array_sort(numbers, by_number);
    int64_t next = 1;
    for (guint i = 0; i < numbers->len; i++) {
        int64_t at = *(int64_t *)numbers->pdata[i];
        for (; next <= at; next++) /* also the ids in between, which no index contains */
            if (!take_run(r, next, error))
                return false;
    }
    return true;
}
