/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of runs, by filters or by what a plan compares a trial with.
 *
 * The filters and the order are decided on ids alone, inside, where an index covers them; the wide
 * rows are read for what is left after the limit.
 */
#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

/* ---- runs -------------------------------------------------------------------------------------
 */

struct filters {
    GString *sql; /* conditions over r, s, m, joined with AND; never empty */
    bool needs_joins;
};

static struct filters make_filters(const struct orch_run_query *query)
{
    struct filters f = {.sql = g_string_new("1"), .needs_joins = query->where != NULL};
    if (query->recipe)
        g_string_append(f.sql, " AND r.recipe = ?");
    if (query->experiment)
        g_string_append(f.sql, " AND r.experiment = ?");
    if (query->state)
        g_string_append(f.sql, " AND r.state = ?");
    if (!query->with_hidden)
        g_string_append(f.sql, " AND r.id NOT IN " STORE_HIDDEN);
    if (query->where)
        g_string_append_printf(f.sql, " AND (%s)", store_where_sql(query->where));
    return f;
}

static int bind_filters(const struct orch_run_query *query, sqlite3_stmt *s)
{
    const char *const texts[] = {query->recipe, query->experiment, query->state};
    int at = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (texts[i])
            sqlite3_bind_text(s, at++, texts[i], -1, SQLITE_STATIC);
    return query->where ? store_where_bind(query->where, s, at) : at;
}

static sqlite3_stmt *prepare(struct orch_store *store, const char *sql, GError **error)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &s, NULL) != SQLITE_OK)
        store_fail(store, error, "read");
    return s;
}

static bool count_runs(struct orch_store *store, const struct orch_run_query *query,
                       const struct filters *f, int64_t *out, GError **error)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM run r%s WHERE %s",
                                           f->needs_joins ? STORE_RUN_JOINS : "", f->sql->str);
    sqlite3_stmt *s = prepare(store, sql, error);
    if (!s)
        return false;
    bind_filters(query, s);
    int more = store_step(store, s, error);
    if (more > 0)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return more > 0;
}

static void free_run(gpointer run)
{
    orch_run_free(run);
}

static GPtrArray *read_runs(struct orch_store *store, const struct orch_run_query *query,
                            const struct filters *f, GError **error)
{
    const char *order = query->oldest_first ? "ASC" : "DESC";
    g_autofree char *sql = g_strdup_printf(
        STORE_RUN_COLUMNS
        " FROM (SELECT r.id AS id FROM run r%s WHERE %s"
        " ORDER BY r.ended %s, r.id %s LIMIT ?) q JOIN run r ON r.id = q.id" STORE_RUN_JOINS
        " ORDER BY r.ended %s, r.id %s",
        f->needs_joins ? STORE_RUN_JOINS : "", f->sql->str, order, order, order, order);
    sqlite3_stmt *s = prepare(store, sql, error);
    if (!s)
        return NULL;
    sqlite3_bind_int64(s, bind_filters(query, s), query->limit > 0 ? query->limit : -1);
    GPtrArray *runs = g_ptr_array_new_with_free_func(free_run);
    int more;
    while ((more = store_step(store, s, error)) > 0)
        g_ptr_array_add(runs, store_run_from_row(s));
    sqlite3_finalize(s);
    if (more == 0)
        return runs;
    g_ptr_array_unref(runs);
    return NULL;
}

GPtrArray *orch_store_runs(struct orch_store *store, const struct orch_run_query *query,
                           int64_t *out_total, GError **error)
{
    if (query->where && !store_where_check_names(store, query->where, error))
        return NULL;
    struct filters f = make_filters(query);
    GPtrArray *runs = read_runs(store, query, &f, error);
    int64_t total = runs ? runs->len : 0;
    bool all_are_here = query->limit <= 0 || total < query->limit;
    if (runs && out_total && !all_are_here && !count_runs(store, query, &f, &total, error))
        g_clear_pointer(&runs, g_ptr_array_unref);
    if (runs && out_total)
        *out_total = total;
    g_string_free(f.sql, TRUE);
    return runs;
}

/* ---- history ----------------------------------------------------------------------------------
 */

/* Up to this many runs are looked at one by one. */
#define FEW 500

#define HISTORY_COLUMNS                                                                            \
    "SELECT r.key, r.state, r.reason, r.plugin_version, r.fingerprint, r.where_key, r.who,"        \
    " r.facts, r.ended, r.wall_ms, r.attempt FROM "
/* ?4: array of [name, canonical text] */
#define HISTORY_FILTERS                                                                            \
    " r.recipe IS ?1 AND r.experiment IS ?2 AND r.repeat = ?3 AND r.id NOT IN " STORE_HIDDEN       \
    " AND NOT EXISTS (SELECT 1 FROM json_each(?4) j WHERE NOT EXISTS (SELECT 1 FROM param p"       \
    "  WHERE p.run = r.id AND p.name = json_extract(j.value, '$[0]')"                              \
    "  AND p.value = json_extract(j.value, '$[1]')))"                                              \
    " ORDER BY r.ended DESC, r.id DESC LIMIT ?5"

/* From the runs of the cell's experiment, newest first. */
static const char HISTORY_BY_CELL[] =
    HISTORY_COLUMNS "run r INDEXED BY run_by_cell WHERE" HISTORY_FILTERS;
/* From the few runs that share one value, which is ?6 = ?7. */
static const char HISTORY_BY_VALUE[] =
    HISTORY_COLUMNS "param v INDEXED BY param_by_value CROSS JOIN run r"
                    " WHERE v.name = ?6 AND v.value = ?7 AND r.id = v.run AND" HISTORY_FILTERS;

void orch_history_row_free(struct orch_history_row *row)
{
    if (!row)
        return;
    char *const texts[] = {row->key,         row->state,     row->reason, row->plugin_version,
                           row->fingerprint, row->where_key, row->who,    row->facts};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(row);
}

static void free_history_row(gpointer row)
{
    orch_history_row_free(row);
}

static struct orch_history_row *history_row(sqlite3_stmt *s)
{
    struct orch_history_row *row = g_new0(struct orch_history_row, 1);
    char **const texts[] = {&row->key,         &row->state,     &row->reason, &row->plugin_version,
                            &row->fingerprint, &row->where_key, &row->who,    &row->facts};
    for (int i = 0; i < (int)G_N_ELEMENTS(texts); i++)
        *texts[i] = store_column_text(s, i);
    row->ended_ns = sqlite3_column_int64(s, 8);
    row->wall_ms = store_column_real(s, 9);
    row->attempt = sqlite3_column_int(s, 10);
    return row;
}

/* The pair [name, text] that the fewest runs have, or NULL when each has many. Counts no further
 * than FEW. */
static bool find_rare(struct orch_store *store, const json_t *pairs, const json_t **out,
                      GError **error)
{
    int64_t least = FEW + 1;
    *out = NULL;
    for (size_t i = 0; i < json_array_size(pairs) && least > 1; i++) {
        const json_t *pair = json_array_get(pairs, i);
        int64_t count;
        if (!store_get_int(store, &count, 0, error,
                           "SELECT count(*) FROM (SELECT 1 FROM param WHERE name = ? AND value = ?"
                           " LIMIT 501)",
                           "tt", json_string_value(json_array_get(pair, 0)),
                           json_string_value(json_array_get(pair, 1))))
            return false;
        if (count < least) {
            least = count;
            *out = pair;
        }
    }
    return true;
}

static json_t *canonical_pairs(const json_t *params)
{
    json_t *pairs = json_array();
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        g_autofree char *text = orch_json_canonical(value);
        json_array_append_new(pairs, json_pack("[ss]", name, text));
    }
    return pairs;
}

GPtrArray *orch_store_history(struct orch_store *store, const char *recipe, const char *experiment,
                              int repeat, const json_t *params, unsigned limit, GError **error)
{
    g_autoptr(json_t) pairs = canonical_pairs(params);
    const json_t *rare;
    if (!find_rare(store, pairs, &rare, error))
        return NULL;
    sqlite3_stmt *s = store_statement(store, rare ? HISTORY_BY_VALUE : HISTORY_BY_CELL, error);
    if (!s)
        return NULL;
    char *text = json_dumps(pairs, JSON_COMPACT);
    store_bind(s, rare ? "ttititt" : "ttiti", recipe, experiment, (int64_t)repeat, text,
               (int64_t)limit, rare ? json_string_value(json_array_get(rare, 0)) : NULL,
               rare ? json_string_value(json_array_get(rare, 1)) : NULL);
    GPtrArray *rows = g_ptr_array_new_with_free_func(free_history_row);
    int more;
    while ((more = store_step(store, s, error)) > 0)
        g_ptr_array_add(rows, history_row(s));
    free(text);
    if (more == 0)
        return rows;
    g_ptr_array_unref(rows);
    return NULL;
}
