/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of all runs is computed once, as a list of ids; a page of it is then read by id. Paging
 * by OFFSET would sort a hundred thousand runs again for each page.
 */
#include "store/read/listing.h"
#include "store/handle/sql.h"
#include "store/read/where_sql.h"
#include "store/write/note_rules.h"
#include "store/write/run_fields.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 64, NAMES_MAX = 2000 };

/* SQL: everything but the repeat and the seed, as one text that is equal for repeats of a cell. */
#define SQL_CELL                                                                                   \
    "(coalesce(r.recipe, '') || ' ' || coalesce(r.experiment, '') || ' ' || coalesce(r.plugin, "   \
    "'') || (SELECT coalesce(group_concat(c.pair, ''), '') FROM (SELECT ' ' || p.name || '=' ||"   \
    " p.value AS pair FROM param p WHERE p.run = r.id AND p.name <> 'seed' ORDER BY p.name) c))"

/* Columns that conditions do not have, or that are shown differently. */
static const struct {
    const char *name, *sql;
} OWN[] = {
    {"seed", "printf('%llu', r.seed)"}, /* as an unsigned 64-bit number */
    {"setting",
     "CASE WHEN json_valid(r.facts) THEN coalesce(json_extract(r.facts, '$.coords'), '{}') END"},
    {"cell", SQL_CELL},
    {"reason", "r.reason"},
    {"dirty", "s.dirty"},
    {"plugin_version", "r.plugin_version"},
    {"device_key", "r.device_key"},
    {"forecast_s",
     "(SELECT f.p50 FROM forecast f WHERE f.run = r.key ORDER BY f.made DESC LIMIT 1)"},
};

static bool find_column(const char *text, struct store_column *out, GError **error)
{
    *out = (struct store_column){0};
    for (size_t i = 0; i < G_N_ELEMENTS(OWN); i++) {
        if (strcmp(OWN[i].name, text) == 0) {
            *out = (struct store_column){.sql = OWN[i].sql};
            return true;
        }
    }
    if (g_utf8_validate(text, -1, NULL) && *text && strlen(text) < 256 &&
        orch_store_column_of(text, out))
        return true;
    g_clear_pointer(&out->name, g_free);
    orch_error_set(error, ORCH_ERROR_USAGE, "use a field, param.NAME, result.NAME or metric.NAME",
                   "unknown column '%s'", text);
    return false;
}

/* Like find_column, but sorts the seed as a number and not as text. */
static bool find_order(const char *text, struct store_column *out, GError **error)
{
    return strcmp(text, "seed") == 0 ? orch_store_column_of(text, out)
                                     : find_column(text, out, error);
}

static int bind_column(const struct store_column *column, sqlite3_stmt *s, int at)
{
    for (int i = 0; i < column->name_count; i++)
        sqlite3_bind_text(s, at++, column->name, -1, SQLITE_STATIC);
    return at;
}

static sqlite3_stmt *prepare(struct orch_store *store, const char *sql, GError **error)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &s, NULL) != SQLITE_OK)
        orch_store_fail(store, error, "read");
    return s;
}

/* ---- selection and order ----------------------------------------------------------------------
 */

/* Appends "ORDER BY" with all columns; `sorts` has one for each order that is not the default. */
static void append_orders(GString *sql, const struct orch_order *orders,
                          const struct store_column *sorts, int count)
{
    for (int i = 0; i < count; i++)
        g_string_append_printf(sql, "%s orch_number(%s) %s NULLS LAST", i ? "," : " ORDER BY",
                               sorts[i].sql, orders[i].is_rising ? "ASC" : "DESC");
    g_string_append(sql, ", r.ended DESC, r.id DESC");
}

static char *listing_sql(const struct orch_listing *listing, const struct orch_order *orders,
                         const struct store_column *sorts, int count)
{
    const char *order = listing->is_rising ? "ASC" : "DESC";
    g_autoptr(GString) sql = g_string_new("SELECT r.id FROM run r");
    if (listing->where || count)
        g_string_append(sql, STORE_RUN_JOINS);
    g_string_append(sql, " WHERE r.id NOT IN " STORE_HIDDEN);
    if (listing->where)
        g_string_append_printf(sql, " AND (%s)", orch_store_where_sql(listing->where));
    if (count)
        append_orders(sql, orders, sorts, count);
    else
        g_string_append_printf(sql, " ORDER BY r.ended %s, r.id %s", order, order);
    return g_strdup(sql->str);
}

/* Gathers the orders of a listing; none when it has the default order, which an index gives.
 * Returns their number. */
static int orders_of(const struct orch_listing *listing, struct orch_order orders[])
{
    int count = 0;
    const bool is_default = !listing->sort || strcmp(listing->sort, "ended") == 0;
    if (is_default && !listing->then_count)
        return 0;
    orders[count++] =
        (struct orch_order){listing->sort ? listing->sort : "ended", listing->is_rising};
    for (int i = 0; i < MIN(listing->then_count, ORCH_ORDERS_MAX); i++)
        orders[count++] = listing->then[i];
    return count;
}

static GArray *read_ids(struct orch_store *store, sqlite3_stmt *s, GError **error)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        g_array_append_val(ids, id);
    }
    if (more == 0)
        return ids;
    g_array_unref(ids);
    return NULL;
}

GArray *orch_store_listing(struct orch_store *store, const struct orch_listing *listing,
                           GError **error)
{
    struct orch_order orders[1 + ORCH_ORDERS_MAX];
    struct store_column sorts[1 + ORCH_ORDERS_MAX] = {0};
    const int count = orders_of(listing, orders);
    bool ok = !listing->where || orch_store_where_check_names(store, listing->where, error);
    for (int i = 0; ok && i < count; i++)
        ok = find_order(orders[i].column, &sorts[i], error);
    g_autofree char *sql = ok ? listing_sql(listing, orders, sorts, count) : NULL;
    sqlite3_stmt *s = ok ? prepare(store, sql, error) : NULL;
    GArray *ids = NULL;
    if (s) {
        int at = listing->where ? orch_store_where_bind(listing->where, s, 1) : 1;
        for (int i = 0; i < count; i++)
            at = bind_column(&sorts[i], s, at);
        ids = read_ids(store, s, error);
    }
    sqlite3_finalize(s);
    for (int i = 0; i < count; i++)
        g_free(sorts[i].name);
    return ids;
}

/* ---- columns of selected runs -----------------------------------------------------------------
 */

static char *ids_text(const int64_t *ids, size_t count)
{
    GString *text = g_string_sized_new(8 * count + 2);
    g_string_append_c(text, '[');
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "," : "", ids[i]);
    g_string_append_c(text, ']');
    return g_string_free(text, FALSE);
}

static struct orch_row_cell cell_of(sqlite3_stmt *s, int column)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
        return (struct orch_row_cell){.kind = ORCH_CELL_INTEGER,
                                      .integer = sqlite3_column_int64(s, column)};
    case SQLITE_FLOAT:
        return (struct orch_row_cell){.kind = ORCH_CELL_REAL,
                                      .real = sqlite3_column_double(s, column)};
    case SQLITE_NULL:
        return (struct orch_row_cell){.kind = ORCH_CELL_NONE};
    default:
        return (struct orch_row_cell){.kind = ORCH_CELL_TEXT, .text = orch_store_text(s, column)};
    }
}

static int visit_rows(struct orch_store *store, sqlite3_stmt *s, int columns, orch_row_fn visit,
                      void *ctx, GError **error)
{
    struct orch_row_cell cells[COLUMNS_MAX];
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        for (int i = 0; i < columns; i++)
            cells[i] = cell_of(s, i + 1);
        if (!visit(ctx, sqlite3_column_int64(s, 0), cells))
            return 0;
    }
    return more;
}

bool orch_store_visit_rows(struct orch_store *store, const int64_t *ids, size_t count,
                           const char *const *columns, orch_row_fn visit, void *ctx, GError **error)
{
    struct store_column found[COLUMNS_MAX];
    int n = 0;
    bool ok = true;
    g_autoptr(GString) sql = g_string_new("SELECT r.id");
    for (; ok && columns[n]; n++) {
        if (n == COLUMNS_MAX) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "more than %d columns", COLUMNS_MAX);
            ok = false;
            break;
        }
        found[n] = (struct store_column){0};
        ok = find_column(columns[n], &found[n], error);
        if (ok)
            g_string_append_printf(sql, ", %s", found[n].sql);
    }
    g_string_append(sql, " FROM json_each(?) j CROSS JOIN run r ON r.id = j.value" STORE_RUN_JOINS
                         " ORDER BY j.key");
    g_autofree char *list = ids_text(ids, count);
    sqlite3_stmt *s = ok ? prepare(store, sql->str, error) : NULL;
    int more = -1;
    if (s) {
        int at = 1;
        for (int i = 0; i < n; i++)
            at = bind_column(&found[i], s, at);
        sqlite3_bind_text(s, at, list, -1, SQLITE_STATIC);
        more = visit_rows(store, s, n, visit, ctx, error);
    }
    sqlite3_finalize(s);
    for (int i = 0; i < n; i++)
        g_free(found[i].name);
    return more == 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void free_known_name(gpointer data)
{
    struct orch_known_name *name = data;
    g_free(name->name);
    g_free(name->unit);
    g_free(name->better);
    g_free(name);
}

static void add_name(GPtrArray *names, const char *kind, char *name, char *unit, char *better)
{
    struct orch_known_name *known = g_new0(struct orch_known_name, 1);
    *known = (struct orch_known_name){.kind = kind, .name = name, .unit = unit, .better = better};
    g_ptr_array_add(names, known);
}

/* Looks up the unit and direction that were declared for a metric or result. */
static bool look_up_unit(struct orch_store *store, struct orch_known_name *name, GError **error)
{
    bool is_metric = strcmp(name->kind, "metric") == 0;
    sqlite3_stmt *s =
        is_metric ? orch_store_statement(store,
                                         "SELECT unit, better FROM metric_name WHERE name = ?"
                                         " ORDER BY id DESC LIMIT 1",
                                         error)
                  : orch_store_statement(
                        store, "SELECT unit, better FROM result WHERE name = ? LIMIT 1", error);
    if (!s)
        return false;
    orch_store_bind(s, "t", name->name);
    int more = orch_store_step(store, s, error);
    if (more > 0) {
        name->unit = orch_store_column_text(s, 0);
        name->better = orch_store_column_text(s, 1);
        sqlite3_reset(s);
    }
    return more >= 0;
}

static bool add_scope(struct orch_store *store, const char *kind, GPtrArray *names, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, orch_store_scope_names_sql(kind), error);
    int more = s ? 0 : -1;
    guint first = names->len;
    while (s && (more = orch_store_step(store, s, error)) > 0 && names->len < NAMES_MAX)
        add_name(names, kind, g_strdup(orch_store_text(s, 0)), NULL, NULL);
    if (s)
        sqlite3_reset(s);
    bool ok = more >= 0;
    for (guint i = first; ok && strcmp(kind, "param") != 0 && i < names->len; i++)
        ok = look_up_unit(store, names->pdata[i], error);
    return ok;
}

GPtrArray *orch_store_known_names(struct orch_store *store, GError **error)
{
    static const char *const scopes[] = {"param", "result", "metric"};
    GPtrArray *names = g_ptr_array_new_with_free_func(free_known_name);
    const char *column;
    for (size_t i = 0; (column = orch_store_column_name(i)) != NULL; i++)
        add_name(names, "column", g_strdup(column),
                 strcmp(column, "wall_s") == 0 ? g_strdup("s") : NULL, NULL);
    for (size_t i = 1; i < G_N_ELEMENTS(OWN); i++) /* without the seed, a column of conditions */
        add_name(names, "column", g_strdup(OWN[i].name), NULL, NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < G_N_ELEMENTS(scopes); i++)
        ok = add_scope(store, scopes[i], names, error);
    if (ok)
        return names;
    g_ptr_array_unref(names);
    return NULL;
}

bool orch_store_recent_recipes(struct orch_store *store, int most, orch_recipe_text_fn visit,
                               void *ctx, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT r.canonical FROM (SELECT recipe_key, max(id) AS newest FROM"
        " (SELECT recipe_key, id FROM run ORDER BY id DESC LIMIT 1000) GROUP BY recipe_key) x"
        " JOIN recipe r ON r.key = x.recipe_key ORDER BY x.newest DESC LIMIT ?1",
        error);
    if (!s)
        return false;
    orch_store_bind(s, "i", (int64_t)most);
    return orch_store_visit_texts(store, s, visit, ctx, error);
}

bool orch_store_visit_searches(struct orch_store *store, orch_recipe_text_fn visit, void *ctx,
                               GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT canonical FROM recipe WHERE instr(canonical, '\"objective\"')", error);
    if (!s)
        return false;
    return orch_store_visit_texts(store, s, visit, ctx, error);
}

GPtrArray *orch_store_metric_names(struct orch_store *store, int64_t run_id, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT n.name, n.unit, n.better FROM metric_name n WHERE EXISTS"
        " (SELECT 1 FROM metric m WHERE m.run = ?1 AND m.name_id = n.id) ORDER BY n.name",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", run_id);
    GPtrArray *names = g_ptr_array_new_with_free_func(free_known_name);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        add_name(names, "metric", g_strdup(orch_store_text(s, 0)), orch_store_column_text(s, 1),
                 orch_store_column_text(s, 2));
    if (more == 0)
        return names;
    g_ptr_array_unref(names);
    return NULL;
}

char *orch_store_version(struct orch_store *store, GError **error)
{
    int64_t last, hidden, purged;
    if (!orch_store_get_int(store, &last, 0, error, "SELECT max(id) FROM run", "") ||
        !orch_store_get_int(store, &hidden, 0, error, "SELECT count(*) FROM note", "") ||
        !orch_store_get_int(store, &purged, 0, error, "SELECT count(*) FROM purged", ""))
        return NULL;
    return g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, last,
                           hidden, purged);
}

/* ---- time -------------------------------------------------------------------------------------
 */

static int is_late(void *ctx)
{
    const struct orch_store *store = ctx;
    return orch_mono_ns() > store->deadline_ns;
}

void orch_store_limit_time(struct orch_store *store, double seconds)
{
    store->deadline_ns = orch_mono_ns() + (int64_t)(seconds * 1e9);
    sqlite3_progress_handler(store->db, seconds > 0 ? 20000 : 0, seconds > 0 ? is_late : NULL,
                             store);
}

/* ---- series -----------------------------------------------------------------------------------
 */

struct orch_thin *orch_store_thin_series(struct orch_store *store, int64_t run_id, const char *name,
                                         int64_t from, int64_t to, unsigned buckets, bool has_time,
                                         char **out_unit, GError **error)
{
    /* a metric whose unit changed over time has several ids, of which a run uses one */
    static const char find[] =
        "SELECT n.id, n.unit FROM metric_name n WHERE n.name = ?1"
        " AND EXISTS (SELECT 1 FROM metric m WHERE m.run = ?2 AND m.name_id = n.id) LIMIT 1";
    sqlite3_stmt *s = orch_store_statement(store, find, error);
    if (!s)
        return NULL;
    orch_store_bind(s, "ti", name, run_id);
    if (orch_store_step(store, s, error) <= 0)
        return NULL;
    int64_t name_id = sqlite3_column_int64(s, 0);
    g_autofree char *unit = orch_store_column_text(s, 1);
    sqlite3_reset(s);
    /* the time of each point is a quarter of the work of a long curve */
#define POINTS                                                                                     \
    " FROM metric WHERE run = ?1 AND name_id = ?2 AND step BETWEEN ?3 AND ?4 ORDER BY step"
    s = has_time ? orch_store_statement(store, "SELECT step, value, t_ms" POINTS, error)
                 : orch_store_statement(store, "SELECT step, value" POINTS, error);
    if (!s)
        return NULL;
    orch_store_bind(s, "iiii", run_id, name_id, from, to);
    struct orch_thin *thin = orch_thin_new(buckets);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        const struct orch_thin_point point = {.step = sqlite3_column_int64(s, 0),
                                              .value = orch_store_column_real(s, 1),
                                              .t_ms = has_time ? orch_store_column_real(s, 2)
                                                               : (double)NAN};
        orch_thin_add(thin, &point);
    }
    if (more < 0)
        g_clear_pointer(&thin, orch_thin_free);
    else if (out_unit)
        *out_unit = g_steal_pointer(&unit);
    return thin;
}

/* ---- shares of the members --------------------------------------------------------------------
 */

static void free_share(gpointer data)
{
    struct orch_share *share = data;
    g_free(share->recipe);
    g_free(share->experiment);
    g_free(share->who);
    g_free(share);
}

GPtrArray *orch_store_shares(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT r.recipe, r.experiment, r.who, count(*), sum(r.state IN " STORE_REUSED_STATES "),"
        " count(DISTINCT CASE WHEN r.state IN " STORE_REUSED_STATES " THEN r.fingerprint END),"
        " max(r.ended), total(r.wall_ms) / 1000.0 FROM run r WHERE r.id NOT IN " STORE_HIDDEN
        " GROUP BY r.recipe, r.experiment, r.who ORDER BY r.recipe, r.experiment, r.who"
        " LIMIT 10000",
        error);
    if (!s)
        return NULL;
    GPtrArray *shares = g_ptr_array_new_with_free_func(free_share);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_share *share = g_new0(struct orch_share, 1);
        *share = (struct orch_share){.recipe = orch_store_column_text(s, 0),
                                     .experiment = orch_store_column_text(s, 1),
                                     .who = orch_store_column_text(s, 2),
                                     .runs = sqlite3_column_int64(s, 3),
                                     .ok = sqlite3_column_int64(s, 4),
                                     .trials = sqlite3_column_int64(s, 5),
                                     .ended_ns = sqlite3_column_int64(s, 6),
                                     .wall_s = sqlite3_column_double(s, 7)};
        g_ptr_array_add(shares, share);
    }
    if (more == 0)
        return shares;
    g_ptr_array_unref(shares);
    return NULL;
}
