/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be read of a damaged store, into a new one.
 *
 * Tables are walked by their key. Where a page cannot be read the walk goes on behind it: at the
 * next number, or for keys of text at the nearest greater prefix that can be found again. Runs are
 * looked up one by one, by every number that any index knows, and copied by column; each must give
 * its recorded digest from the rows as they then stand in the new store, or it is undone.
 */
#include "store/repair.h"

#include "store/dataset.h"
#include "store/dataset_text.h"
#include "store/salvage.h"

#include "lib/base/error.h"

#include <string.h>

/* A table may be read beyond the last number that is known by this many that are not there. */
enum { NUMBERS_BEYOND = 1000 };
static const int64_t NUMBERS_MAX = INT64_C(1) << 24;

struct reading {
    struct orch_store *from, *into;
    struct orch_salvage *salvage;
    GHashTable *keys;        /* number (int64_t *) -> key, as the index on keys has it */
    GHashTable *numbers;     /* number (int64_t *): every one that any index names */
    int64_t last;            /* the largest of them */
    int64_t gaps;            /* how often the walk of the table at hand met what it cannot read */
    int64_t failed, missing; /* runs of this file that could not be taken; of them without a key */
};

/* ---- walking ----------------------------------------------------------------------------------
 */

/* Takes a row; false ends everything with an error of the new store. */
typedef bool (*take_row)(struct reading *r, sqlite3_stmt *row, GError **error);

static sqlite3_stmt *prepare(struct orch_store *store, const char *sql)
{
    sqlite3_stmt *s = NULL;
    sqlite3_prepare_v2(store->db, sql, -1, &s, NULL);
    return s;
}

/* Reads on from key > (or, with `at`, >=) `key`. 1: to the end; 0: something cannot be read, the
 * last key that could is in `key`; -1: error. `*out_any`: at least one row came. */
static int walk_from(struct reading *r, sqlite3_stmt *s, GString *key, take_row take, bool *out_any,
                     GError **error)
{
    int code;
    *out_any = false;
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, key->str, (int)key->len, SQLITE_TRANSIENT);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        if (!text || strcmp(text, key->str) < 0)
            return 0; /* out of order: no key */
        g_string_assign(key, text);
        *out_any = true;
        if (!take(r, s, error))
            return -1;
    }
    return code == SQLITE_DONE;
}

/* Finds a place behind what cannot be read: the same text with one character greater, from the last
 * character to the first. 1: the rest was read, or there is none; 0: `key` is further on, and again
 * something cannot be read; -1: error; -2: nothing can be read behind it. */
static int walk_behind(struct reading *r, sqlite3_stmt *s, GString *key, take_row take,
                       GError **error)
{
    static const char alphabet[] = "-0123456789_abcdefghijklmnopqrstuvwxyz";
    g_autofree char *stuck = g_strdup(key->len ? key->str : " ");
    for (size_t at = strlen(stuck); at-- > 0;) {
        for (const char *c = alphabet; *c; c++) {
            bool any;
            if (*c <= stuck[at])
                continue;
            g_string_truncate(key, 0);
            g_string_append_len(key, stuck, (gssize)at);
            g_string_append_c(key, *c);
            int outcome = walk_from(r, s, key, take, &any, error);
            if (outcome != 0 || any)
                return outcome;
        }
    }
    return -2;
}

/* `sql`: rows by rising text key in column 0, from ?1 on. */
static bool walk_texts(struct reading *r, const char *sql, take_row take, GError **error)
{
    sqlite3_stmt *s = prepare(r->from, sql);
    g_autoptr(GString) key = g_string_new(NULL);
    bool any;
    r->gaps = 0;
    int outcome = s ? walk_from(r, s, key, take, &any, error) : 0;
    while (s && outcome == 0) {
        r->gaps++;
        outcome = walk_behind(r, s, key, take, error);
    }
    r->gaps += !s;
    sqlite3_finalize(s);
    return outcome != -1;
}

/* `sql`: rows by rising number in column 0, greater than ?1. */
static bool walk_numbers(struct reading *r, const char *sql, int64_t last, take_row take,
                         GError **error)
{
    sqlite3_stmt *s = prepare(r->from, sql);
    bool ok = true;
    int code = s ? SQLITE_ROW : SQLITE_ERROR;
    r->gaps = !s;
    for (int64_t at = INT64_MIN, stuck = 0; s && ok && code != SQLITE_DONE;) {
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, at);
        bool any = false;
        while (ok && (code = sqlite3_step(s)) == SQLITE_ROW) {
            int64_t number = sqlite3_column_int64(s, 0);
            if (number <= at)
                break;
            any = true;
            at = number;
            ok = take(r, s, error);
        }
        if (code == SQLITE_DONE)
            break;
        r->gaps += any || !stuck;
        stuck = any ? 0 : stuck + 1;
        at = MAX(at, 0) + 1;
        if (at > last + NUMBERS_BEYOND)
            break;
    }
    sqlite3_finalize(s);
    return ok;
}

/* ---- numbers and keys of runs -----------------------------------------------------------------
 */

static void add_number(struct reading *r, int64_t number)
{
    if (number <= 0 || number > NUMBERS_MAX)
        return;
    g_hash_table_add(r->numbers, g_memdup2(&number, sizeof number));
    r->last = MAX(r->last, number);
}

static bool take_key(struct reading *r, sqlite3_stmt *row, GError **error)
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

static bool take_number(struct reading *r, sqlite3_stmt *row, GError **error)
{
    (void)error;
    add_number(r, sqlite3_column_int64(row, 0));
    return true;
}

/* All that an index holds, from one end and from the other. */
static void walk_index(struct reading *r, const char *rising, const char *falling)
{
    const char *const both[] = {rising, falling};
    for (size_t i = 0; i < G_N_ELEMENTS(both); i++) {
        sqlite3_stmt *s = prepare(r->from, both[i]);
        int code = SQLITE_ERROR;
        while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
            add_number(r, sqlite3_column_int64(s, 0));
        sqlite3_finalize(s);
        if (code == SQLITE_DONE)
            break;
    }
}

static bool find_runs(struct reading *r, GError **error)
{
    if (!walk_texts(r, "SELECT key, id FROM run WHERE key >= ? ORDER BY key", take_key, error))
        return false;
    walk_index(r, "SELECT id FROM run INDEXED BY run_by_ended ORDER BY ended",
               "SELECT id FROM run INDEXED BY run_by_ended ORDER BY ended DESC");
    walk_index(r, "SELECT id FROM run INDEXED BY run_by_state ORDER BY state",
               "SELECT id FROM run INDEXED BY run_by_state ORDER BY state DESC");
    return walk_numbers(r, "SELECT id FROM run NOT INDEXED WHERE id > ? ORDER BY id", r->last,
                        take_number, error);
}

/* ---- one run ----------------------------------------------------------------------------------
 */

/* How a step of copying a run went. */
enum outcome {
    FINE,
    UNREADABLE, /* the damaged file's fault */
    WRONG,      /* what was read is no run */
    FAILED,     /* the new store's */
};

/* What the new store refuses because of what the row is, and what it cannot do at all. */
static enum outcome write_outcome(struct orch_store *into, int code, GError **error)
{
    switch (code & 0xff) {
    case SQLITE_ROW:
    case SQLITE_DONE:
    case SQLITE_OK:
        return FINE;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
        return WRONG;
    default:
        store_fail(into, error, "write to");
        return FAILED;
    }
}

/* The columns of a row from `first` on become the values of `insert` from `to` on. */
static void bind_columns(sqlite3_stmt *insert, int to, sqlite3_stmt *row, int first)
{
    for (int i = first; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(insert, to + i - first, sqlite3_column_value(row, i));
}

/* Rows that runs share are few, on a page that all runs need; their unique index has all of them
 * once more. */
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

/* The row, from the table or from its index; NULL: from neither. */
static sqlite3_stmt *find_shared(struct reading *r, int64_t number, const struct shared *table)
{
    const char *const ways[] = {table->select, table->select_index};
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        sqlite3_stmt *row = store_statement(r->from, ways[i], NULL);
        if (!row)
            continue;
        store_bind(row, "i", number);
        if (store_step(r->from, row, NULL) > 0 && sqlite3_column_count(row) > 0)
            return row;
    }
    return NULL;
}

/* Its number in the new store. */
static enum outcome copy_shared(struct reading *r, int64_t number, const struct shared *table,
                                int64_t *out, GError **error)
{
    sqlite3_stmt *row = find_shared(r, number, table);
    sqlite3_stmt *insert = store_statement(r->into, table->insert, error);
    sqlite3_stmt *find = store_statement(r->into, table->find, error);
    if (!insert || !find)
        return FAILED;
    if (!row)
        return UNREADABLE;
    bind_columns(insert, 1, row, 0);
    bind_columns(find, 1, row, 0);
    sqlite3_step(insert);
    enum outcome outcome = write_outcome(r->into, sqlite3_reset(insert), error);
    if (outcome == FINE) {
        int more = store_step(r->into, find, error);
        *out = more > 0 ? sqlite3_column_int64(find, 0) : 0;
        outcome = more < 0 ? FAILED : more ? FINE : WRONG;
        sqlite3_reset(find);
    }
    sqlite3_reset(row);
    return outcome;
}

/* `row`: the run with key and digest first, source and machine behind them, then the others. */
static enum outcome copy_head(struct reading *r, sqlite3_stmt *row, int64_t *out_id, GError **error)
{
    sqlite3_stmt *insert = store_statement(
        r->into,
        "INSERT INTO run(key, digest, source, machine, recipe_key, recipe, experiment, plugin,"
        " plugin_version, build, fingerprint, where_key, seed, repeat, attempt, state, reason,"
        " exit_code, signal, who, started, ended, wall_ms, argv, facts, digest_v)"
        " VALUES(?1,'',?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,"
        "?23,?24,?25,?26)",
        error);
    if (!insert)
        return FAILED;
    enum outcome outcome = FINE;
    int64_t source = 0, machine = 0;
    if (sqlite3_column_type(row, 2) != SQLITE_NULL)
        outcome = copy_shared(r, sqlite3_column_int64(row, 2), &SOURCE, &source, error);
    if (outcome == FINE && sqlite3_column_type(row, 3) != SQLITE_NULL)
        outcome = copy_shared(r, sqlite3_column_int64(row, 3), &MACHINE, &machine, error);
    if (outcome != FINE)
        return outcome;
    bind_columns(insert, 1, row, 0);
    sqlite3_bind_null(insert, 2);
    if (source)
        sqlite3_bind_int64(insert, 3, source);
    if (machine)
        sqlite3_bind_int64(insert, 4, machine);
    sqlite3_step(insert);
    outcome = write_outcome(r->into, sqlite3_reset(insert), error);
    *out_id = sqlite3_last_insert_rowid(r->into->db);
    return outcome;
}

static const struct {
    const char *select, *insert;
} DETAILS[] = {
    {"SELECT name, type, value FROM param WHERE run = ? ORDER BY name",
     "INSERT INTO param(run, name, type, value) VALUES(?, ?, ?, ?)"},
    {"SELECT name, from_key, sha256 FROM input WHERE run = ? ORDER BY name",
     "INSERT INTO input(run, name, from_key, sha256) VALUES(?, ?, ?, ?)"},
    {"SELECT name, value, unit, better FROM result WHERE run = ? ORDER BY name",
     "INSERT INTO result(run, name, value, unit, better) VALUES(?, ?, ?, ?, ?)"},
    {"SELECT name, sha256, bytes FROM artifact WHERE run = ? ORDER BY name",
     "INSERT INTO artifact(run, name, sha256, bytes) VALUES(?, ?, ?, ?)"},
};

static enum outcome copy_details(struct reading *r, size_t which, int64_t number, int64_t id,
                                 GError **error)
{
    sqlite3_stmt *rows = store_statement(r->from, DETAILS[which].select, NULL);
    sqlite3_stmt *insert = store_statement(r->into, DETAILS[which].insert, error);
    if (!insert)
        return FAILED;
    if (!rows)
        return UNREADABLE;
    enum outcome outcome = FINE;
    int more;
    store_bind(rows, "i", number);
    while (outcome == FINE && (more = store_step(r->from, rows, NULL)) != 0) {
        if (more < 0)
            return UNREADABLE;
        sqlite3_bind_int64(insert, 1, id);
        bind_columns(insert, 2, rows, 0);
        sqlite3_step(insert);
        outcome = write_outcome(r->into, sqlite3_reset(insert), error);
    }
    sqlite3_reset(rows);
    return outcome;
}

static enum outcome copy_points(struct reading *r, int64_t number, int64_t id, GError **error)
{
    sqlite3_stmt *rows = store_statement(r->from,
                                         "SELECT name_id, step, t_ms, value FROM metric"
                                         " WHERE run = ? ORDER BY name_id, step",
                                         NULL);
    sqlite3_stmt *insert = store_statement(
        r->into, "INSERT INTO metric(run, name_id, step, t_ms, value) VALUES(?, ?, ?, ?, ?)",
        error);
    if (!insert)
        return FAILED;
    if (!rows)
        return UNREADABLE;
    enum outcome outcome = FINE;
    int64_t last = -1, name = 0;
    int more;
    store_bind(rows, "i", number);
    while (outcome == FINE && (more = store_step(r->from, rows, NULL)) != 0) {
        if (more < 0)
            return UNREADABLE;
        if (sqlite3_column_int64(rows, 0) != last) {
            last = sqlite3_column_int64(rows, 0);
            outcome = copy_shared(r, last, &METRIC_NAME, &name, error);
        }
        if (outcome != FINE)
            break;
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_int64(insert, 2, name);
        bind_columns(insert, 3, rows, 1);
        sqlite3_step(insert);
        outcome = write_outcome(r->into, sqlite3_reset(insert), error);
    }
    sqlite3_reset(rows);
    return outcome;
}

/* The digest closes the run. One that was purged has no points to check: it is taken as it reads.
 */
static enum outcome close_run(struct reading *r, int64_t number, int64_t id, const char *digest,
                              bool *out_purged, GError **error)
{
    char computed[ORCH_SHA256_CHARS];
    int64_t made;
    GError *problem = NULL;
    if (!store_digest_run(r->into, id, NULL, NULL, computed, &problem)) {
        g_propagate_error(error, problem);
        return FAILED;
    }
    *out_purged = false;
    if (strcmp(computed, digest) != 0) {
        if (!store_get_int(r->from, &made, 0, NULL, "SELECT made FROM purged WHERE run = ?", "i",
                           number) ||
            made == 0)
            return WRONG;
        *out_purged = true;
        if (!store_run(r->into, error, "INSERT INTO purged(run, made) VALUES(?, ?)", "ii", id,
                       made))
            return FAILED;
    }
    return store_run(r->into, error, "UPDATE run SET digest = ? WHERE id = ?", "ti", digest, id)
               ? FINE
               : FAILED;
}

/* 1: the new store has it, with this digest; 2: with another; -1: error. */
static int is_known(struct orch_store *into, const char *key, const char *digest, GError **error)
{
    sqlite3_stmt *s = store_statement(into, "SELECT digest FROM run WHERE key = ?", error);
    if (!s)
        return -1;
    store_bind(s, "t", key);
    int more = store_step(into, s, error);
    if (more <= 0)
        return more;
    int same = strcmp((const char *)sqlite3_column_text(s, 0), digest) == 0 ? 1 : 2;
    sqlite3_reset(s);
    return same;
}

static enum outcome copy_whole(struct reading *r, sqlite3_stmt *row, int64_t number,
                               const char *digest, bool *out_purged, GError **error)
{
    int64_t id;
    enum outcome outcome = copy_head(r, row, &id, error);
    for (size_t i = 0; outcome == FINE && i < G_N_ELEMENTS(DETAILS); i++)
        outcome = copy_details(r, i, number, id, error);
    if (outcome == FINE)
        outcome = copy_points(r, number, id, error);
    return outcome == FINE ? close_run(r, number, id, digest, out_purged, error) : outcome;
}

/* Takes the run or undoes what was written of it. */
static enum outcome take_whole(struct reading *r, sqlite3_stmt *row, int64_t number,
                               const char *key, const char *digest, GError **error)
{
    bool is_purged = false;
    int known = is_known(r->into, key, digest, error);
    if (known)
        return known == 1 ? FINE : known == 2 ? WRONG : FAILED;
    if (!store_exec(r->into, "SAVEPOINT one", "write to", error))
        return FAILED;
    enum outcome outcome = copy_whole(r, row, number, digest, &is_purged, error);
    if (outcome == FINE) {
        r->salvage->runs++;
        r->salvage->purged += is_purged;
    }
    if (outcome == FAILED)
        return outcome;
    const char *end = outcome == FINE ? "RELEASE one" : "ROLLBACK TO one; RELEASE one";
    return store_exec(r->into, end, "write to", error) ? outcome : FAILED;
}

static void note_failure(struct reading *r, int64_t number, const char *key, const char *why)
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

static bool take_run(struct reading *r, int64_t number, GError **error)
{
    sqlite3_stmt *row = store_statement(
        r->from,
        "SELECT key, digest, source, machine, recipe_key, recipe, experiment, plugin,"
        " plugin_version, build, fingerprint, where_key, seed, repeat, attempt, state, reason,"
        " exit_code, signal, who, started, ended, wall_ms, argv, facts, digest_v"
        " FROM run NOT INDEXED WHERE id = ?",
        NULL);
    if (row)
        store_bind(row, "i", number);
    int more = row ? store_step(r->from, row, NULL) : -1;
    if (more == 0 && !g_hash_table_contains(r->numbers, &number))
        return true; /* never was */
    if (more <= 0) {
        note_failure(r, number, NULL, "its row lies on a damaged page");
        return true;
    }
    g_autofree char *key = store_column_text(row, 0), *digest = store_column_text(row, 1);
    bool is_key = key && strlen(key) == ORCH_KEY_CHARS - 1 && g_utf8_validate(key, -1, NULL);
    enum outcome outcome = WRONG;
    if (is_key && digest && orch_sha256_is_valid(digest) && sqlite3_column_int(row, 25) == 1)
        outcome = take_whole(r, row, number, key, digest, error);
    sqlite3_reset(row);
    if (outcome == UNREADABLE || outcome == WRONG)
        note_failure(r, number, is_key ? key : NULL,
                     outcome == WRONG ? "what can be read does not give its digest"
                                      : "some of its rows lie on damaged pages");
    return outcome != FAILED;
}

static int by_number(gconstpointer a, gconstpointer b)
{
    int64_t x = **(int64_t *const *)a, y = **(int64_t *const *)b;
    return (x > y) - (x < y);
}

/* In the order of their numbers, which is that of writing. */
static bool take_runs(struct reading *r, GError **error)
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
        for (; next <= at; next++) /* with those between, which no index knows */
            if (!take_run(r, next, error))
                return false;
    }
    return true;
}

/* ---- the other tables -------------------------------------------------------------------------
 */

/* Inserts the columns of a row as they are; `*count` grows when it was not there. */
static bool insert_row(struct reading *r, const char *insert_sql, sqlite3_stmt *row, int64_t *count,
                       GError **error)
{
    sqlite3_stmt *insert = store_statement(r->into, insert_sql, error);
    if (!insert)
        return false;
    bind_columns(insert, 1, row, 0);
    sqlite3_step(insert);
    enum outcome outcome = write_outcome(r->into, sqlite3_reset(insert), error);
    if (outcome == FINE)
        *count += sqlite3_changes(r->into->db);
    else
        r->gaps++; /* a row that is none */
    return outcome != FAILED;
}

/* Every text of the row is UTF-8 and the first is a key of 36 characters, or as long as `length`.
 */
static bool is_plausible(sqlite3_stmt *row, int length)
{
    for (int i = 0; i < sqlite3_column_count(row); i++)
        if (sqlite3_column_type(row, i) == SQLITE_TEXT &&
            !g_utf8_validate((const char *)sqlite3_column_text(row, i), -1, NULL))
            return false;
    return sqlite3_column_bytes(row, 0) == length;
}

static bool take_note(struct reading *r, sqlite3_stmt *row, GError **error)
{
    const char *kind = (const char *)sqlite3_column_text(row, 2);
    if (!is_plausible(row, ORCH_KEY_CHARS - 1) || !store_note_kind_is_known(kind)) {
        r->gaps++;
        return true;
    }
    return insert_row(r,
                      "INSERT INTO note(key, target, kind, public, text, who, made)"
                      " VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                      row, &r->salvage->notes, error);
}

/* A recipe's key is the hash of its canonical text. */
static bool take_recipe(struct reading *r, sqlite3_stmt *row, GError **error)
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

static bool take_forecast(struct reading *r, sqlite3_stmt *row, GError **error)
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

static bool take_predictor(struct reading *r, sqlite3_stmt *row, GError **error)
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

static bool take_conflict(struct reading *r, sqlite3_stmt *row, GError **error)
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

/* A trial under way, or one whose runner was killed: the next run closes it from its journal. */
static bool put_active(struct orch_store *into, sqlite3_stmt *row, bool *out_added, GError **error)
{
    int64_t ended;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    *out_added = false;
    if (!store_get_int(into, &ended, 0, error, "SELECT id FROM run WHERE key = ?", "t", key))
        return false;
    if (ended)
        return true;
    sqlite3_stmt *insert = store_statement(
        into,
        "INSERT INTO active(key, fingerprint, where_key, trial_dir, record, boot_id, pid,"
        " pid_start, started) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        error);
    if (!insert)
        return false;
    bind_columns(insert, 1, row, 0);
    if (store_step(into, insert, error) < 0)
        return false;
    *out_added = sqlite3_changes(into->db) > 0;
    return !*out_added || store_run(into, error,
                                    "INSERT INTO lease(resource, owner) VALUES(?1, ?1)"
                                    " ON CONFLICT DO NOTHING",
                                    "t", key);
}

static bool take_active(struct reading *r, sqlite3_stmt *row, GError **error)
{
    bool added;
    if (!is_plausible(row, ORCH_KEY_CHARS - 1) || !sqlite3_column_text(row, 3) ||
        !sqlite3_column_text(row, 4) || !sqlite3_column_text(row, 5)) {
        r->gaps++;
        return true;
    }
    if (!put_active(r->into, row, &added, error))
        return false;
    r->salvage->actives += added;
    return true;
}

static const struct {
    const char *what, *walk;
    take_row take;
    const char *count, *count_index; /* more in the index than in the table: some are gone */
} TABLES[] = {
    {"notes",
     "SELECT key, target, kind, public, text, who, made FROM note WHERE key >= ? ORDER BY key",
     take_note, "SELECT count(*) FROM note NOT INDEXED",
     "SELECT count(*) FROM note INDEXED BY note_by_target"},
    {"recipes", "SELECT key, name, canonical, verbatim FROM recipe WHERE key >= ? ORDER BY key",
     take_recipe, NULL, NULL},
    {"forecasts",
     "SELECT fingerprint, machine, model, made, p5, p50, p95, tier, run FROM forecast"
     " WHERE fingerprint >= ? ORDER BY fingerprint",
     take_forecast, "SELECT count(*) FROM forecast NOT INDEXED",
     "SELECT count(*) FROM forecast INDEXED BY forecast_by_run"},
    {"trained predictors", "SELECT name, made, model FROM predictor WHERE name >= ? ORDER BY name",
     take_predictor, NULL, NULL},
    {"conflicts",
     "SELECT key, digest, origin, record, found FROM conflict WHERE key >= ? ORDER BY key",
     take_conflict, NULL, NULL},
    {"trials under way",
     "SELECT key, fingerprint, where_key, trial_dir, record, boot_id, pid, pid_start, started"
     " FROM active WHERE key >= ? ORDER BY key",
     take_active, "SELECT count(*) FROM active NOT INDEXED",
     "SELECT count(*) FROM active INDEXED BY active_by_fingerprint"},
};

static int64_t count_rows(struct orch_store *store, const char *sql)
{
    int64_t count;
    return store_get_int(store, &count, 0, NULL, sql, "") ? count : -1;
}

static void note_lost(struct reading *r, const char *what, GPtrArray *out)
{
    g_ptr_array_add(out, g_strdup_printf("some %s lay on damaged pages (at %" G_GINT64_FORMAT
                                         " place%s)",
                                         what, r->gaps, r->gaps == 1 ? "" : "s"));
}

static bool take_tables(struct reading *r, GPtrArray *lost, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(TABLES); i++) {
        if (!walk_texts(r, TABLES[i].walk, TABLES[i].take, error))
            return false;
        if (!r->gaps && TABLES[i].count)
            r->gaps =
                count_rows(r->from, TABLES[i].count_index) > count_rows(r->from, TABLES[i].count);
        if (r->gaps)
            note_lost(r, TABLES[i].what, lost);
    }
    return true;
}

/* Data sets have digests of their own; each is written by itself. */
static bool take_datasets(struct reading *r, GPtrArray *lost, GError **error)
{
    sqlite3_stmt *s = prepare(r->from, "SELECT sha256 FROM dataset ORDER BY sha256");
    g_autoptr(GPtrArray) digests = g_ptr_array_new_with_free_func(g_free);
    int code = SQLITE_ERROR;
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
        g_ptr_array_add(digests, store_column_text(s, 0));
    sqlite3_finalize(s);
    if (code != SQLITE_DONE)
        g_ptr_array_add(lost, g_strdup("some data sets lay on damaged pages"));
    for (guint i = 0; i < digests->len; i++) {
        const char *digest = digests->pdata[i];
        struct orch_dataset *set = digest ? orch_store_dataset(r->from, digest, NULL) : NULL;
        enum orch_dataset_put put = ORCH_DATASET_KNOWN;
        if (set)
            store_dataset_digest(set);
        bool is_whole = set && strcmp(set->sha256, digest) == 0;
        GError *problem = NULL;
        bool ok = !is_whole || orch_store_put_dataset(r->into, set, &put, NULL, &problem);
        r->salvage->datasets += is_whole && ok && put == ORCH_DATASET_ADDED;
        orch_dataset_free(set);
        if (!is_whole)
            g_ptr_array_add(lost, g_strdup_printf("data set %.12s cannot be read whole",
                                                  digest ? digest : "?"));
        else if (!ok && problem->code == ORCH_ERROR_USAGE) /* its name is taken by another */
            g_ptr_array_add(lost, g_strdup(problem->message));
        else if (!ok) {
            g_propagate_error(error, problem);
            return false;
        }
        g_clear_error(&problem);
    }
    return true;
}

/* ---- a file -----------------------------------------------------------------------------------
 */

static bool read_rows(struct reading *r, GPtrArray *lost, GError **error)
{
    if (!store_begin(r->into, error))
        return false;
    if (find_runs(r, error) && take_runs(r, error) && take_tables(r, lost, error))
        return store_commit(r->into, error) && take_datasets(r, lost, error);
    store_rollback(r->into);
    return false;
}

/* Reads one copy. `lost` gets what was lost besides runs. */
static bool read_copy(struct orch_store *into, struct orch_store *from,
                      struct orch_salvage *salvage, GPtrArray *lost, int64_t *out_failed,
                      int64_t *out_nameless, GError **error)
{
    struct reading r = {
        .from = from,
        .into = into,
        .salvage = salvage,
        .keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
        .numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
    };
    bool ok = read_rows(&r, lost, error);
    g_hash_table_unref(r.keys);
    g_hash_table_unref(r.numbers);
    *out_failed = r.failed;
    *out_nameless = r.missing;
    return ok;
}

static void say_source(struct orch_salvage *salvage, const char *path, int64_t runs,
                       const char *what)
{
    g_ptr_array_add(salvage->sources, g_strdup_printf("%s: %s, %" G_GINT64_FORMAT " run%s taken",
                                                      path, what, runs, runs == 1 ? "" : "s"));
}

static const char *const WAYS[] = {
    [STORE_SALVAGE_WHOLE] = "read",
    [STORE_SALVAGE_ALONE] = "read without its journal",
    [STORE_SALVAGE_GRAFTED] = "read with a new begin",
};

static bool is_known_error(const GError *problem, enum orch_error_code code)
{
    return problem && problem->domain == ORCH_ERROR && problem->code == (int)code;
}

bool orch_salvage_file(struct orch_store *into, const char *path, bool is_first,
                       struct orch_salvage *salvage, GError **error)
{
    GError *problem = NULL;
    g_autoptr(GPtrArray) lost = NULL; /* of the best reading */
    int64_t fewest = -1, nameless = 0;
    bool has_journal = store_salvage_has_journal(path);
    for (enum store_salvage_way way = STORE_SALVAGE_WHOLE; way <= STORE_SALVAGE_GRAFTED; way++) {
        if ((way == STORE_SALVAGE_ALONE && !has_journal) ||
            (way == STORE_SALVAGE_GRAFTED && fewest >= 0))
            continue; /* nothing else, or its begin is fine */
        g_clear_error(&problem);
        struct orch_store *copy = store_salvage_open(path, into->path, way, &problem);
        if (!copy && is_known_error(problem, ORCH_ERROR_IO)) {
            g_propagate_error(error, problem);
            return false;
        }
        if (!copy)
            continue;
        int64_t failed, without_key, before = salvage->runs;
        g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
        bool ok = read_copy(into, copy, salvage, found, &failed, &without_key, error);
        store_salvage_close(copy);
        if (!ok)
            return false;
        say_source(salvage, path, salvage->runs - before, WAYS[way]);
        if (fewest < 0 || failed + (int64_t)found->len < fewest) {
            fewest = failed + found->len;
            nameless = without_key;
            g_clear_pointer(&lost, g_ptr_array_unref);
            lost = g_steal_pointer(&found);
        }
        if (fewest == 0)
            break;
    }
    if (fewest < 0) {
        g_auto(GStrv) lines = g_strsplit(problem ? problem->message : "damaged", "\n", 2);
        say_source(salvage, path, 0, lines[0]);
        if (is_first)
            g_ptr_array_add(salvage->lost, g_strdup("all that only this file had: nothing of it "
                                                    "can be read"));
    }
    g_clear_error(&problem);
    if (is_first)
        salvage->nameless = nameless;
    for (guint i = 0; is_first && lost && i < lost->len; i++)
        g_ptr_array_add(salvage->lost, g_strdup(lost->pdata[i]));
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

void orch_salvage_init(struct orch_salvage *salvage)
{
    *salvage = (struct orch_salvage){
        .known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .sources = g_ptr_array_new_with_free_func(g_free),
        .lost = g_ptr_array_new_with_free_func(g_free),
    };
}

void orch_salvage_clear(struct orch_salvage *salvage)
{
    g_hash_table_unref(salvage->known);
    g_ptr_array_unref(salvage->sources);
    g_ptr_array_unref(salvage->lost);
}

struct orch_store *orch_salvage_open(const char *path, const char *of, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_EXISTS)) {
        orch_error_set(error, ORCH_ERROR_IO, "choose a name that is not taken with --to",
                       "cannot repair into '%s': it exists already", path);
        return NULL;
    }
    const struct store_options options = {.migrations = &store_migrations, .stands_for = of};
    return store_open_with(path, ORCH_STORE_CREATE, &options, error);
}

static bool insert_trial(struct orch_store *into, const char *key, const char *trial_dir,
                         const char *record, int64_t started_ns, bool *out_added, GError **error)
{
    sqlite3_stmt *row = store_statement(into, "SELECT ?1, NULL, NULL, ?2, ?3, '', 0, 0, ?4", error);
    if (!row)
        return false;
    store_bind(row, "ttti", key, trial_dir, record, started_ns);
    bool ok = store_step(into, row, error) > 0 && put_active(into, row, out_added, error);
    sqlite3_reset(row);
    return ok;
}

bool orch_salvage_trial(struct orch_store *into, const char *key, const char *trial_dir,
                        const char *record, int64_t started_ns, bool *out_added, GError **error)
{
    if (!store_begin(into, error))
        return false;
    if (insert_trial(into, key, trial_dir, record, started_ns, out_added, error))
        return store_commit(into, error);
    store_rollback(into);
    return false;
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *orch_salvage_missing(struct orch_store *into, const struct orch_salvage *salvage,
                                GError **error)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer key, why;
    g_hash_table_iter_init(&iter, salvage->known);
    while (g_hash_table_iter_next(&iter, &key, &why)) {
        int64_t there;
        if (!store_get_int(into, &there, 0, error,
                           "SELECT EXISTS (SELECT 1 FROM run WHERE key = ?1)"
                           " OR EXISTS (SELECT 1 FROM active WHERE key = ?1)",
                           "t", key)) {
            g_ptr_array_unref(out);
            return NULL;
        }
        if (!there)
            g_ptr_array_add(out, g_strdup_printf("%s: %s", (char *)key, (char *)why));
    }
    g_ptr_array_sort(out, by_text);
    return out;
}
