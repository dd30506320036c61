/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/kept_predictors.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

struct orch_trained *orch_kept_predictor_read(const struct orch_predictor_row *row, bool whole,
                                              GError **error)
{
    struct orch_trained *t = orch_trained_of_text(row->model, error);
    if (t && t->learned && (!whole || orch_learned_ready(t->learned, error)))
        return t;
    if (t && !t->learned)
        orch_load_fail("learned", "is missing", error);
    orch_trained_free(t);
    g_prefix_error(error, "predictor '%s': ", row->name);
    return NULL;
}

/* Finds a predictor by name; ORCH_ERROR_NOT_FOUND with the nearest name. */
static struct orch_predictor_row *find_row(struct orch_store *store, const char *name,
                                           GError **error)
{
    GError *failed = NULL;
    struct orch_predictor_row *row = orch_store_predictor(store, name, &failed);
    if (row)
        return row;
    if (failed) {
        g_propagate_error(error, failed);
        return NULL;
    }
    g_autoptr(GPtrArray) all = orch_store_predictors(store, false, error);
    if (!all)
        return NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++)
        g_ptr_array_add(names, ((struct orch_predictor_row *)all->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    g_autofree char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   near       ? near
                   : all->len ? "'orch predictor ls' lists the predictors"
                              : "train one: orch predictor train",
                   "there is no predictor '%s'", name);
    return NULL;
}

struct orch_trained *orch_kept_predictor_open(struct orch_store *store, const char *name,
                                              GError **error)
{
    struct orch_predictor_row *row = find_row(store, name, error);
    struct orch_trained *t = row ? orch_kept_predictor_read(row, true, error) : NULL;
    orch_predictor_row_free(row);
    return t;
}

bool orch_kept_predictor_put(struct orch_store *store, const struct orch_trained *trained,
                             GError **error)
{
    g_autofree char *text = orch_trained_text(trained);
    return orch_store_put_predictor(store, trained->name, text, error);
}

bool orch_kept_predictor_remove(struct orch_store *store, const char *name, GError **error)
{
    struct orch_predictor_row *row = find_row(store, name, error);
    bool removed = false;
    orch_predictor_row_free(row);
    return row && orch_store_remove_predictor(store, name, &removed, error);
}
