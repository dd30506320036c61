/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers for lists of runs: pages, and the available column names.
 *
 * The order of all matching runs (their ids, 8 bytes each) is cached for the most recent queries,
 * so that paging only reads one page from the store. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

enum { PAGE_MAX = 20000, KEYS_MAX = 200 };

/* ---- cached orders -----------------------------------------------------------------------------
 */

struct remembered {
    char *key;
    GArray *ids;
};

static void free_remembered(gpointer data)
{
    struct remembered *r = data;
    g_free(r->key);
    g_array_unref(r->ids);
    g_free(r);
}

void orch_web_listings_free(GQueue *listings)
{
    g_queue_free_full(listings, free_remembered);
}

static GArray *recall(struct orch_web *web, const char *key)
{
    GArray *ids = NULL;
    g_mutex_lock(&web->lock);
    for (GList *l = web->listings->head; l && !ids; l = l->next) {
        struct remembered *r = l->data;
        if (strcmp(r->key, key) != 0)
            continue;
        ids = g_array_ref(r->ids);
        g_queue_unlink(web->listings, l);
        g_queue_push_head_link(web->listings, l);
    }
    g_mutex_unlock(&web->lock);
    return ids;
}

static void remember(struct orch_web *web, const char *key, GArray *ids)
{
    struct remembered *r = g_new0(struct remembered, 1);
    r->key = g_strdup(key);
    r->ids = g_array_ref(ids);
    g_mutex_lock(&web->lock);
    g_queue_push_head(web->listings, r);
    if (g_queue_get_length(web->listings) > WEB_LISTINGS)
        free_remembered(g_queue_pop_tail(web->listings));
    g_mutex_unlock(&web->lock);
}

/* Returns whether a filter's result can be cached. A filter such as "started > 2d" depends on the
 * current time. */
static bool may_be_remembered(const char *where)
{
    return !strstr(where, "started") && !strstr(where, "ended");
}

char *orch_web_listing_key(struct web_call *call, const char *version)
{
    return g_strdup_printf("%s\n%s\n%s\n%s", version, orch_web_query_text(call, "sort", "ended"),
                           orch_web_query_text(call, "order", "down"),
                           orch_web_query_text(call, "where", ""));
}

/* Reads the order that a request asks for: sort=A,B with order=up,down. */
static GArray *read_listing(struct web_call *call, const struct orch_where *where, GError **error)
{
    g_auto(GStrv) sorts = orch_web_query_list(call, "sort", "ended");
    g_auto(GStrv) orders = orch_web_query_list(call, "order", "down");
    const guint given = g_strv_length(orders), count = g_strv_length(sorts);
    struct orch_order all[1 + ORCH_ORDERS_MAX];
    if (count > G_N_ELEMENTS(all)) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "runs are sorted by at most %zu columns",
                       G_N_ELEMENTS(all));
        return NULL;
    }
    for (guint i = 0; i < count; i++)
        all[i] = (struct orch_order){sorts[i], i < given && strcmp(orders[i], "up") == 0};
    const struct orch_listing listing = {.where = where,
                                         .sort = all[0].column,
                                         .is_rising = all[0].is_rising,
                                         .then = all + 1,
                                         .then_count = (int)count - 1};
    return orch_store_listing(call->store, &listing, error);
}

GArray *orch_web_listing(struct web_call *call, char **out_version, GError **error)
{
    const char *text = orch_web_query_text(call, "where", "");
    g_autofree char *version = orch_store_version(call->store, error);
    if (!version)
        return NULL;
    g_autofree char *key = orch_web_listing_key(call, version);
    GArray *ids = recall(call->web, key);
    g_autofree char *trimmed = g_strstrip(g_strdup(text));
    if (!ids) {
        struct orch_where *where = *trimmed ? orch_where_parse(trimmed, error) : NULL;
        if (*trimmed && !where)
            return NULL;
        ids = read_listing(call, where, error);
        orch_where_free(where);
        if (ids && may_be_remembered(text))
            remember(call->web, key, ids);
    }
    if (ids && out_version)
        *out_version = g_steal_pointer(&version);
    return ids;
}

/* Finds runs by their keys, which is quicker than a condition. */
static GArray *ids_of_keys(struct web_call *call, GError **error)
{
    g_auto(GStrv) keys = orch_web_query_list(call, "runs", "");
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    if (g_strv_length(keys) > KEYS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "more than %d runs", KEYS_MAX);
        return NULL;
    }
    for (int i = 0; keys[i]; i++) {
        g_autoptr(GError) problem = NULL;
        struct orch_run *run = orch_store_run(call->store, keys[i], &problem);
        if (run)
            g_array_append_val(ids, run->id);
        orch_run_free(run);
        if (problem && !g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return NULL;
        }
    }
    return g_steal_pointer(&ids);
}

GArray *orch_web_requested(struct web_call *call, GError **error)
{
    return orch_web_query_text(call, "runs", NULL) ? ids_of_keys(call, error)
                                                   : orch_web_listing(call, NULL, error);
}

/* ---- a page -----------------------------------------------------------------------------------
 */

json_t *orch_web_cell_json(const struct orch_row_cell *cell)
{
    switch (cell->kind) {
    case ORCH_CELL_INTEGER:
        return json_integer(cell->integer);
    case ORCH_CELL_REAL:
        return orch_json_real(cell->real);
    case ORCH_CELL_TEXT: {
        json_t *text = json_string(cell->text);
        return text ? text : json_null();
    }
    case ORCH_CELL_NONE:
        break;
    }
    return json_null();
}

double orch_web_cell_number(const struct orch_row_cell *cell)
{
    return cell->kind == ORCH_CELL_REAL      ? cell->real
           : cell->kind == ORCH_CELL_INTEGER ? (double)cell->integer
                                             : (double)NAN;
}

struct page {
    json_t *rows;
    int columns;
};

static bool add_row(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct page *page = ctx;
    json_t *row = json_array();
    for (int i = 0; i < page->columns; i++)
        json_array_append_new(row, orch_web_cell_json(&cells[i]));
    json_array_append_new(page->rows, row);
    return true;
}

bool orch_web_api_runs(struct web_call *call, GError **error)
{
    int64_t offset = 0, limit = 100;
    if (!orch_web_query_int(call, "offset", 0, INT32_MAX, &offset, error) ||
        !orch_web_query_int(call, "limit", 0, PAGE_MAX, &limit, error))
        return false;
    GArray *ids = orch_web_requested(call, error);
    g_autofree char *version = ids ? orch_store_version(call->store, error) : NULL;
    if (!version) {
        if (ids)
            g_array_unref(ids);
        return false;
    }
    g_auto(GStrv) columns =
        orch_web_query_list(call, "columns", "key,state,experiment,setting,wall_s");
    struct page page = {.rows = json_array(), .columns = (int)g_strv_length(columns)};
    guint from = (guint)MIN(offset, (int64_t)ids->len);
    guint count = (guint)MIN(limit, (int64_t)(ids->len - from));
    const int64_t *first = count ? &g_array_index(ids, int64_t, from) : NULL;
    bool ok = orch_store_visit_rows(call->store, first, count, (const char *const *)columns,
                                    add_row, &page, error);
    if (ok)
        orch_web_answer_json(call,
                             json_pack("{s:s s:I s:I s:O}", "version", version, "total",
                                       (json_int_t)ids->len, "offset", (json_int_t)from, "rows",
                                       page.rows),
                             15);
    json_decref(page.rows);
    g_array_unref(ids);
    return ok;
}

/* ---- names ------------------------------------------------------------------------------------
 */

json_t *orch_web_names_json(struct orch_store *store, const GPtrArray *names, GError **error)
{
    g_autoptr(GHashTable) ranks = orch_web_importance_new(store, error);
    if (!ranks)
        return NULL;
    json_t *list = json_array();
    for (guint i = 0; i < names->len; i++) {
        const struct orch_known_name *n = names->pdata[i];
        json_array_append_new(list, json_pack("{s:s s:s s:s? s:s? s:i}", "kind", n->kind, "name",
                                              n->name, "unit", n->unit, "better", n->better, "rank",
                                              orch_web_importance_rank(ranks, n)));
    }
    return list;
}

bool orch_web_api_names(struct web_call *call, GError **error)
{
    g_autoptr(GPtrArray) names = orch_store_known_names(call->store, error);
    json_t *list = names ? orch_web_names_json(call->store, names, error) : NULL;
    if (list)
        orch_web_answer_json(call, json_pack("{s:o}", "names", list), 15);
    return list != NULL;
}
