/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/read/find_runs.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

/* Removes row `i` from `rows` and returns it; the others are freed. */
static struct orch_active_row *steal_row(GPtrArray *rows, guint i)
{
    g_ptr_array_set_free_func(rows, NULL);
    struct orch_active_row *row = rows->pdata[i];
    for (guint j = 0; j < rows->len; j++)
        if (j != i)
            orch_active_row_free(rows->pdata[j]);
    return row;
}

struct orch_active_row *orch_store_find_active(struct orch_store *store, const char *text)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(store, NULL);
    for (guint i = 0; rows && strlen(text) >= 4 && i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        g_autoptr(json_t) record = json_loads(row->record ? row->record : "{}", 0, NULL);
        const char *name = json_string_value(json_object_get(record, "name"));
        if (g_str_has_prefix(row->key, text) || g_str_has_suffix(row->key, text) ||
            g_strcmp0(name, text) == 0)
            return steal_row(rows, i);
    }
    return NULL;
}

GPtrArray *orch_store_filter_runs(struct orch_store *store, const char *filter, GError **error)
{
    struct orch_where *where = orch_where_parse(filter, error);
    if (!where)
        return NULL;
    struct orch_run_query query = {.where = where, .ended_well = true};
    GPtrArray *runs = orch_store_runs(store, &query, NULL, error);
    orch_where_free(where);
    if (runs && !runs->len) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the stored runs",
                       "no run that ended well matches '%s'", filter);
        g_clear_pointer(&runs, g_ptr_array_unref);
    }
    return runs;
}

GPtrArray *orch_store_find_runs(struct orch_store *store, const char *text, GError **error)
{
    if (strpbrk(text, "=<>~"))
        return orch_store_filter_runs(store, text, error);
    struct orch_run *run = orch_store_run(store, text, error);
    if (!run)
        return NULL;
    GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    g_ptr_array_add(runs, run);
    return runs;
}
