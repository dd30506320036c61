/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/read/names_of.h"
#include "store/handle/sql.h"

#include <string.h>

static void free_name(gpointer data)
{
    struct orch_name_of_runs *name = data;
    g_free(name->name.name);
    g_free(name->name.unit);
    g_free(name->name.better);
    g_free(name);
}

/* ---- parameters and results -------------------------------------------------------------------
 */

/* Rows: name, unit, better, runs, distinct. */
static bool add_rows(struct orch_store *store, const char *kind, sqlite3_stmt *s, const char *ids,
                     GPtrArray *out, GError **error)
{
    if (!s)
        return false;
    orch_store_bind(s, "t", ids);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_name_of_runs *name = g_new0(struct orch_name_of_runs, 1);
        name->name.kind = kind;
        name->name.name = g_strdup(orch_store_text(s, 0));
        name->name.unit = orch_store_column_text(s, 1);
        name->name.better = orch_store_column_text(s, 2);
        name->runs = sqlite3_column_int64(s, 3);
        name->distinct = sqlite3_column_int64(s, 4);
        g_ptr_array_add(out, name);
    }
    return more == 0;
}

static bool add_params(struct orch_store *store, const char *ids, GPtrArray *out, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT p.name, NULL, NULL, count(*), count(DISTINCT p.value) FROM json_each(?1) j"
        " CROSS JOIN param p ON p.run = j.value WHERE p.name <> 'seed' GROUP BY p.name ORDER BY "
        "p.name",
        error);
    return add_rows(store, "param", s, ids, out, error);
}

static bool add_results(struct orch_store *store, const char *ids, GPtrArray *out, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT e.name, max(e.unit), max(e.better), count(*), 0 FROM json_each(?1) j"
        " CROSS JOIN result e ON e.run = j.value GROUP BY e.name ORDER BY e.name",
        error);
    return add_rows(store, "result", s, ids, out, error);
}

/* ---- metrics ----------------------------------------------------------------------------------
 */

static int compare_names(gconstpointer a, gconstpointer b)
{
    const struct orch_name_of_runs *x = *(struct orch_name_of_runs *const *)a;
    const struct orch_name_of_runs *y = *(struct orch_name_of_runs *const *)b;
    return strcmp(x->name.name, y->name.name);
}

/* Looks up the name of a metric; one whose unit changed has several ids and is one name here. */
static struct orch_name_of_runs *metric_of(struct orch_store *store, int64_t id, GPtrArray *metrics,
                                           GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT name, unit, better FROM metric_name WHERE id = ?1", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", id);
    if (orch_store_step(store, s, error) <= 0)
        return NULL;
    struct orch_name_of_runs *found = NULL;
    for (guint i = 0; i < metrics->len && !found; i++) {
        struct orch_name_of_runs *known = metrics->pdata[i];
        if (strcmp(known->name.name, orch_store_text(s, 0)) == 0)
            found = known;
    }
    if (!found) {
        found = g_new0(struct orch_name_of_runs, 1);
        found->name.kind = "metric";
        found->name.name = g_strdup(orch_store_text(s, 0));
        found->name.unit = orch_store_column_text(s, 1);
        found->name.better = orch_store_column_text(s, 2);
        g_ptr_array_add(metrics, found);
    }
    sqlite3_reset(s);
    return found;
}

/* Seeks from one metric of the run to the next one, so that no point is read. */
static bool add_metrics_of(struct orch_store *store, int64_t run, GHashTable *by_id,
                           GPtrArray *metrics, GError **error)
{
    for (int64_t id = G_MININT64, next; id != G_MAXINT64; id = next) {
        int64_t points;
        if (!orch_store_get_int(store, &next, G_MAXINT64, error,
                                "SELECT name_id FROM metric WHERE run = ?1 AND name_id > ?2"
                                " ORDER BY name_id LIMIT 1",
                                "ii", run, id))
            return false;
        if (next == G_MAXINT64)
            break;
        if (!orch_store_get_int(store, &points, 0, error,
                                "SELECT count(*) FROM (SELECT 1 FROM metric WHERE run = ?1 AND"
                                " name_id = ?2 LIMIT " G_STRINGIFY(ORCH_CURVE_POINTS) ")",
                                "ii", run, next))
            return false;
        struct orch_name_of_runs *metric = g_hash_table_lookup(by_id, &next);
        if (!metric) {
            GError *problem = NULL;
            metric = metric_of(store, next, metrics, &problem);
            if (problem) {
                g_propagate_error(error, problem);
                return false;
            }
            if (!metric) /* points of a name that the store has not */
                continue;
            g_hash_table_insert(by_id, g_memdup2(&next, sizeof next), metric);
        }
        metric->runs++;
        metric->curves += points >= ORCH_CURVE_POINTS;
    }
    return true;
}

static bool add_metrics(struct orch_store *store, const int64_t *ids, size_t count, GPtrArray *out,
                        GError **error)
{
    g_autoptr(GHashTable) by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GPtrArray) metrics = g_ptr_array_new_with_free_func(free_name);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_metrics_of(store, ids[i], by_id, metrics, error);
    g_ptr_array_sort(metrics, compare_names);
    g_ptr_array_extend_and_steal(out, g_steal_pointer(&metrics));
    return ok;
}

GPtrArray *orch_store_names_of(struct orch_store *store, const int64_t *ids, size_t count,
                               GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(free_name);
    g_autofree char *list = orch_store_ids_text(ids, count);
    if (add_params(store, list, names, error) && add_results(store, list, names, error) &&
        add_metrics(store, ids, count, names, error))
        return g_steal_pointer(&names);
    return NULL;
}

/* ---- recipes, values --------------------------------------------------------------------------
 */

bool orch_store_recipes_of(struct orch_store *store, const int64_t *ids, size_t count, int most,
                           orch_recipe_text_fn visit, void *ctx, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT c.canonical FROM (SELECT r.recipe_key, max(r.id) AS newest FROM json_each(?1) j"
        " CROSS JOIN run r ON r.id = j.value GROUP BY r.recipe_key) x"
        " JOIN recipe c ON c.key = x.recipe_key ORDER BY x.newest DESC LIMIT ?2",
        error);
    if (!s)
        return false;
    g_autofree char *list = orch_store_ids_text(ids, count);
    orch_store_bind(s, "ti", list, (int64_t)most);
    bool ok = orch_store_visit_texts(store, s, visit, ctx, error);
    sqlite3_clear_bindings(s); /* `list` ends here */
    return ok;
}

GPtrArray *orch_store_values_of(struct orch_store *store, const int64_t *ids, size_t count,
                                const char *param, int most, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT p.value FROM json_each(?1) j CROSS JOIN param p ON p.run = j.value AND p.name = ?2"
        " GROUP BY p.value ORDER BY count(*) DESC, p.value LIMIT ?3",
        error);
    if (!s)
        return NULL;
    g_autofree char *list = orch_store_ids_text(ids, count);
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    orch_store_bind(s, "tti", list, param, (int64_t)most);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(values, g_strdup(orch_store_text(s, 0)));
    sqlite3_clear_bindings(s);
    return more == 0 ? g_steal_pointer(&values) : NULL;
}
