/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of runs, by filters or for a plan's comparison.
 *
 * The inner query applies the filters and the order to ids alone, where an index covers them;
 * complete rows are read only for the ids that remain after the limit.
 */
#include "store/handle/sql.h"
#include "store/read/bulk.h"
#include "store/read/run_columns.h"
#include "store/read/where_sql.h"
#include "store/write/counted.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/system_metrics.h"

#include <string.h>

/* ---- runs -------------------------------------------------------------------------------------
 */

struct filters {
    GString *sql; /* conditions over r, s, m, joined with AND; never empty */
    bool needs_joins;
};

/* Without such notes an index has the runs in order. */
static bool counts_any(struct orch_store *store)
{
    int64_t any = 0;
    return orch_store_get_int(store, &any, 0, NULL,
                              "SELECT 1 FROM note WHERE target >= '" STORE_COUNTED
                              "' AND target < 'counts;' LIMIT 1",
                              "") &&
           any;
}

/* The names of recipe and experiment. */
static void append_names(struct orch_store *store, GString *sql, const struct orch_run_query *query)
{
    if (!query->recipe && !query->experiment)
        return;
    g_string_append_printf(sql, " AND (1%s%s", query->recipe ? " AND r.recipe = ?" : "",
                           query->experiment ? " AND r.experiment = ?" : "");
    if (query->with_counted && counts_any(store)) {
        char *as_text = sqlite3_mprintf(
            " OR r.key IN (SELECT n.text FROM note n WHERE n.kind = 'counted' AND n.public = 0"
            " AND n.target >= '" STORE_COUNTED "' AND n.target < 'counts;'"
            " AND (%Q IS NULL OR instr(n.target, '" STORE_COUNTED "' || %Q || '/') = 1)"
            " AND (%Q IS NULL OR substr(n.target, -length('/' || %Q)) = '/' || %Q))",
            query->recipe, query->recipe, query->experiment, query->experiment, query->experiment);
        g_string_append(sql, as_text);
        sqlite3_free(as_text);
    }
    g_string_append(sql, ")");
}

static struct filters make_filters(struct orch_store *store, const struct orch_run_query *query)
{
    struct filters f = {.sql = g_string_new("1"), .needs_joins = query->where != NULL};
    append_names(store, f.sql, query);
    if (query->state)
        g_string_append(f.sql, " AND r.state = ?");
    if (query->ended_well)
        g_string_append(f.sql, " AND r.state IN " STORE_REUSED_STATES);
    if (query->without_imported)
        g_string_append(f.sql, " AND coalesce(r.plugin, '') NOT LIKE 'import:%'");
    if (!query->with_hidden)
        g_string_append(f.sql, " AND r.id NOT IN " STORE_HIDDEN);
    if (query->where)
        g_string_append_printf(f.sql, " AND (%s)", orch_store_where_sql(query->where));
    return f;
}

static int bind_filters(const struct orch_run_query *query, sqlite3_stmt *s)
{
    const char *const texts[] = {query->recipe, query->experiment, query->state};
    int at = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (texts[i])
            sqlite3_bind_text(s, at++, texts[i], -1, SQLITE_STATIC);
    return query->where ? orch_store_where_bind(query->where, s, at) : at;
}

static sqlite3_stmt *prepare(struct orch_store *store, const char *sql, GError **error)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &s, NULL) != SQLITE_OK)
        orch_store_fail(store, error, "read");
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
    int more = orch_store_step(store, s, error);
    if (more > 0)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return more > 0;
}

/* Prepares the query that returns rows of STORE_RUN_COLUMNS; NULL on error. */
static sqlite3_stmt *prepare_runs(struct orch_store *store, const struct orch_run_query *query,
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
    if (s)
        sqlite3_bind_int64(s, bind_filters(query, s), query->limit > 0 ? query->limit : -1);
    return s;
}

static GPtrArray *read_runs(struct orch_store *store, const struct orch_run_query *query,
                            const struct filters *f, GError **error)
{
    sqlite3_stmt *s = prepare_runs(store, query, f, error);
    if (!s)
        return NULL;
    GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(runs, orch_store_run_from_row(s));
    sqlite3_finalize(s);
    if (more == 0)
        return runs;
    g_ptr_array_unref(runs);
    return NULL;
}

bool orch_store_visit_full_runs(struct orch_store *store, const struct orch_run_query *query,
                                orch_run_fn visit, void *ctx, GError **error)
{
    if (query->where && !orch_store_where_check_names(store, query->where, error))
        return false;
    struct filters f = make_filters(store, query);
    sqlite3_stmt *s = prepare_runs(store, query, &f, error);
    int more = s ? 1 : -1;
    bool ok = true;
    while (ok && more > 0 && (more = orch_store_step(store, s, error)) > 0) {
        struct orch_run *run = orch_store_run_from_row(s);
        ok = visit(ctx, run, error);
        orch_run_free(run);
    }
    sqlite3_finalize(s);
    g_string_free(f.sql, TRUE);
    return ok && more == 0;
}

GPtrArray *orch_store_runs(struct orch_store *store, const struct orch_run_query *query,
                           int64_t *out_total, GError **error)
{
    if (query->where && !orch_store_where_check_names(store, query->where, error))
        return NULL;
    struct filters f = make_filters(store, query);
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

/* ---- names ------------------------------------------------------------------------------------
 */

#define ANY_POINT                                                                                  \
    "SELECT DISTINCT n.name FROM metric_name n WHERE EXISTS (SELECT 1 FROM (%s) q WHERE EXISTS"    \
    " (SELECT 1 FROM metric m WHERE m.run = q.id AND m.name_id = n.id))"

/* %s is the subquery for the ids of the runs. */
static const char *const NAMES[] = {
    [ORCH_NAME_PARAM] = "SELECT DISTINCT name FROM param WHERE run IN (%s) ORDER BY 1",
    [ORCH_NAME_RESULT] = "SELECT DISTINCT name FROM result WHERE run IN (%s) ORDER BY 1",
    [ORCH_NAME_METRIC] = ANY_POINT " AND n.name NOT GLOB '" ORCH_SYSTEM_PREFIX "*' ORDER BY 1",
    [ORCH_NAME_DIRECTED] = ANY_POINT " AND n.better IN ('min', 'max') ORDER BY 1",
};

GPtrArray *orch_store_names(struct orch_store *store, const struct orch_run_query *query,
                            enum orch_name_kind kind, GError **error)
{
    if (query->where && !orch_store_where_check_names(store, query->where, error))
        return NULL;
    struct filters f = make_filters(store, query);
    g_autofree char *ids = g_strdup_printf("SELECT r.id AS id FROM run r%s WHERE %s",
                                           f.needs_joins ? STORE_RUN_JOINS : "", f.sql->str);
    g_auto(GStrv) parts = g_strsplit(NAMES[kind], "%s", 2);
    g_autofree char *sql = g_strconcat(parts[0], ids, parts[1], NULL);
    g_string_free(f.sql, TRUE);
    sqlite3_stmt *s = prepare(store, sql, error);
    if (!s)
        return NULL;
    bind_filters(query, s);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(names, g_strdup(orch_store_text(s, 0)));
    sqlite3_finalize(s);
    return more == 0 ? g_steal_pointer(&names) : NULL;
}

/* ---- history ----------------------------------------------------------------------------------
 */

/* Each parameter is a subquery one level deeper in the condition; SQLite's limit is a depth of
 * 1,000. */
enum { PAIRS_MAX = 256 };
/* Up to this many runs are tested one by one. */
#define FEW 500

#define HISTORY_COLUMNS                                                                            \
    "SELECT r.key, r.state, r.reason, r.plugin_version, r.fingerprint, r.device_key, r.who,"       \
    " r.facts, r.ended, r.wall_ms, r.attempt FROM "
#define HISTORY_CELL " r.recipe IS ?1 AND r.experiment IS ?2 AND r.repeat = ?3"

/* Two plans: from the runs of the experiment, newest first, or from the few runs that share one
 * value (?5 = ?6). The third one finds those that the experiment counts (counted.h); ?1 is their
 * target. */
#define BY_CELL HISTORY_COLUMNS "run r INDEXED BY run_by_cell WHERE" HISTORY_CELL
#define BY_VALUE                                                                                   \
    HISTORY_COLUMNS "param v INDEXED BY param_by_value CROSS JOIN run r"                           \
                    " WHERE v.name = ?5 AND v.value = ?6 AND r.id = v.run AND" HISTORY_CELL
#define COUNTED                                                                                    \
    HISTORY_COLUMNS                                                                                \
    "note n INDEXED BY note_by_target CROSS JOIN run r"                                            \
    " WHERE n.target = ?1 AND n.kind = 'counted' AND n.public = 0 AND r.key = n.text"              \
    " AND r.repeat = ?3 AND ?2 IS NULL"

void orch_history_row_free(struct orch_history_row *row)
{
    if (!row)
        return;
    char *const texts[] = {row->key,         row->state,      row->reason, row->plugin_version,
                           row->fingerprint, row->device_key, row->who,    row->facts};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(row);
}

static struct orch_history_row *history_row(sqlite3_stmt *s)
{
    struct orch_history_row *row = g_new0(struct orch_history_row, 1);
    char **const texts[] = {&row->key,         &row->state,      &row->reason, &row->plugin_version,
                            &row->fingerprint, &row->device_key, &row->who,    &row->facts};
    for (int i = 0; i < (int)G_N_ELEMENTS(texts); i++)
        *texts[i] = texts[i] == &row->reason ? orch_store_column_text(s, i)
                                             : g_strdup(orch_store_text(s, i));
    row->ended_ns = sqlite3_column_int64(s, 8);
    row->wall_ms = orch_store_column_real(s, 9);
    row->attempt = sqlite3_column_int(s, 10);
    return row;
}

/** A parameter value that a run must have. */
struct pair {
    const char *name;
    char *value;  /* canonical text */
    int64_t runs; /* number of runs that have it, counted up to FEW + 1 */
};

static void clear_pair(gpointer data)
{
    g_free(((struct pair *)data)->value);
}

static int compare_pairs(gconstpointer a, gconstpointer b)
{
    int64_t left = ((const struct pair *)a)->runs, right = ((const struct pair *)b)->runs;
    return (left > right) - (left < right);
}

/* Sorts the rarest value first: it leaves the fewest runs to test, or rejects most of them. */
static GArray *make_pairs(struct orch_store *store, const json_t *params, GError **error)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct pair));
    g_array_set_clear_func(pairs, clear_pair);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        struct pair pair = {.name = name, .value = orch_json_canonical(value)};
        g_array_append_val(pairs, pair);
    }
    for (guint i = 0; i < pairs->len; i++) {
        struct pair *pair = &g_array_index(pairs, struct pair, i);
        if (!orch_store_get_int(
                store, &pair->runs, 0, error,
                "SELECT count(*) FROM (SELECT 1 FROM param WHERE name = ? AND value = ?"
                " LIMIT 501)",
                "tt", pair->name, pair->value)) {
            g_array_unref(pairs);
            return NULL;
        }
    }
    g_array_sort(pairs, compare_pairs);
    return pairs;
}

/* The text depends only on the number of values (at most PAIRS_MAX) and on the index used, so the
 * number of statements that are kept is bounded. */
static sqlite3_stmt *prepare_history(struct orch_store *store, const GArray *pairs, bool is_counted,
                                     GError **error)
{
    bool by_value = pairs->len && g_array_index(pairs, struct pair, 0).runs <= FEW;
    g_autoptr(GString) sql = g_string_new(is_counted ? COUNTED : by_value ? BY_VALUE : BY_CELL);
    for (guint i = 0; i < pairs->len; i++)
        g_string_append_printf(sql,
                               " AND EXISTS (SELECT 1 FROM param p WHERE p.run = r.id"
                               " AND p.name = ?%u AND p.value = ?%u)",
                               5 + 2 * i, 6 + 2 * i);
    g_string_append(sql,
                    " AND r.id NOT IN " STORE_HIDDEN " ORDER BY r.ended DESC, r.id DESC LIMIT ?4");
    return orch_store_statement(store, g_intern_string(sql->str), error);
}

static GPtrArray *read_history(struct orch_store *store, sqlite3_stmt *s, GError **error)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)orch_history_row_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(rows, history_row(s));
    if (more == 0)
        return rows;
    g_ptr_array_unref(rows);
    return NULL;
}

/* Adds the rows of one plan. `recipe`: the target of what is counted when `experiment` is NULL. */
static bool add_history(struct orch_store *store, const char *recipe, const char *experiment,
                        int repeat, const GArray *pairs, unsigned limit, GPtrArray *inout,
                        GError **error)
{
    sqlite3_stmt *s = prepare_history(store, pairs, !experiment, error);
    if (!s)
        return false;
    orch_store_bind(s, "ttii", recipe, experiment, (int64_t)repeat, (int64_t)limit);
    for (guint i = 0; i < pairs->len; i++) {
        const struct pair *pair = &g_array_index(pairs, struct pair, i);
        sqlite3_bind_text(s, (int)(5 + 2 * i), pair->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, (int)(6 + 2 * i), pair->value, -1, SQLITE_STATIC);
    }
    GPtrArray *rows = read_history(store, s, error);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    if (rows)
        g_ptr_array_extend_and_steal(inout, rows);
    return rows;
}

static gint compare_newest_first(gconstpointer a, gconstpointer b)
{
    const struct orch_history_row *x = *(const struct orch_history_row *const *)a,
                                  *y = *(const struct orch_history_row *const *)b;
    return (x->ended_ns < y->ended_ns) - (x->ended_ns > y->ended_ns);
}

GPtrArray *orch_store_history(struct orch_store *store, const char *recipe, const char *experiment,
                              int repeat, const json_t *params, unsigned limit, GError **error)
{
    if (json_object_size(params) > PAIRS_MAX) {
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "more than %d parameters in one query",
                       PAIRS_MAX);
        return NULL;
    }
    GArray *pairs = make_pairs(store, params, error);
    g_autofree char *counted = orch_store_counted_target(recipe, experiment);
    g_autoptr(GPtrArray) rows =
        g_ptr_array_new_with_free_func((GDestroyNotify)orch_history_row_free);
    bool ok = pairs && add_history(store, recipe, experiment, repeat, pairs, limit, rows, error);
    guint own = rows->len;
    ok = ok && add_history(store, counted, NULL, repeat, pairs, limit, rows, error);
    if (ok && rows->len > own)
        g_ptr_array_sort(rows, compare_newest_first);
    if (ok && rows->len > limit)
        g_ptr_array_set_size(rows, (gint)limit);
    if (pairs)
        g_array_unref(pairs);
    return ok ? g_steal_pointer(&rows) : NULL;
}

GPtrArray *orch_store_history_of(struct orch_store *store, const char *fingerprint, unsigned limit,
                                 GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        HISTORY_COLUMNS "run r INDEXED BY run_by_fingerprint WHERE r.fingerprint = ?1"
                        " AND r.id NOT IN " STORE_HIDDEN
                        " ORDER BY r.ended DESC, r.id DESC LIMIT ?2",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "ti", fingerprint, (int64_t)limit);
    GPtrArray *rows = read_history(store, s, error);
    sqlite3_reset(s);
    return rows;
}
