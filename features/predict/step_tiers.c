/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_tiers.h"

#include "core/rows/training_rows.h"

#include "lib/base/error.h"
#include "store/write/dataset.h"

#include <string.h>

#define IMPORTED_MAX 2000 /* rows of data sets that a question reads */
#define FEW_ROWS 300      /* below this number of rows a predictor is trained on demand */

/* ---- what the store holds ----------------------------------------------------------------------
 */

static struct orch_trained *load_trained(struct orch_store *store, GError **error)
{
    struct orch_predictor_row *row = orch_store_predictor(store, ORCH_PREDICTOR_STEP, error);
    if (!row)
        return NULL;
    struct orch_trained *trained = orch_trained_of_text(row->model, error);
    orch_predictor_row_free(row);
    if (!trained || strcmp(trained->target, ORCH_PREDICTOR_STEP) == 0)
        return trained;
    orch_error_set(error, ORCH_ERROR_RECIPE, "train it again with 'orch predictor train'",
                   "the predictor's target is '%s', expected " ORCH_PREDICTOR_STEP,
                   trained->target);
    orch_trained_free(trained);
    return NULL;
}

/* The measurements of data sets that the predictor was not trained on. Large ones take too long to
 * read for a question; no error, because a forecast does not need them. */
static struct orch_trained *import_small(struct orch_store *store, const struct orch_trained *t)
{
    g_autoptr(GPtrArray) sets = orch_store_datasets(store, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    size_t rows = 0;
    for (guint i = 0; sets && i < sets->len; i++) {
        const struct orch_dataset *set = sets->pdata[i];
        bool is_learned =
            t && t->sources && g_strv_contains((const char *const *)t->sources, set->name);
        rows += is_learned || strcmp(set->target, ORCH_PREDICTOR_STEP) != 0 ? 0 : set->rows;
        if (!is_learned && strcmp(set->target, ORCH_PREDICTOR_STEP) == 0 && rows <= IMPORTED_MAX)
            g_ptr_array_add(names, set->name);
    }
    if (!names->len)
        return NULL;
    g_ptr_array_add(names, NULL);
    struct orch_training_request request = {.target = ORCH_PREDICTOR_STEP,
                                            .datasets = (const char *const *)names->pdata};
    return orch_training_measure(store, &request, 0, NULL);
}

/* Saves the predictor so that the next question need not train it again. This may reopen the store
 * for writing; it is no error if the store cannot be written. */
static void keep_automatic(struct orch_workspace *workspace, struct orch_trained *t)
{
    if (!t->learned)
        return;
    t->is_automatic = true;
    g_autofree char *text = orch_trained_text(t);
    struct orch_store *store = orch_workspace_store(workspace, ORCH_STORE_WRITE, NULL);
    if (store)
        orch_store_put_predictor(store, t->name, text, NULL);
}

/* Reads the measurements from the store when there are runs newer than the predictor. */
static bool refresh(struct orch_workspace *workspace, bool may_keep, struct orch_step_tiers *out,
                    GPtrArray *notes, GError **error)
{
    struct orch_store *store = workspace->store;
    int64_t last = 0, seen = out->trained ? out->trained->last_run : 0;
    if (!orch_store_newer_runs(store, seen, &out->newer, &last, error))
        return false;
    if (!out->newer)
        return true;
    if (out->trained && out->trained->is_automatic) {
        orch_trained_free(out->trained);
        out->trained = NULL;
    }
    struct orch_training_request request = {.target = ORCH_PREDICTOR_STEP, .runs = true};
    struct orch_trained *fresh =
        orch_training_measure(store, &request, !out->trained ? FEW_ROWS : 0, error);
    if (!fresh)
        return false;
    if (!out->trained) {
        out->trained = fresh;
        if (may_keep) /* never replaces a predictor that could not be read */
            keep_automatic(workspace, fresh);
        return true;
    }
    g_ptr_array_add(
        notes, g_strdup_printf(
                   "%" G_GINT64_FORMAT
                   " runs are newer than the predictor: train it again with 'orch predictor train'",
                   out->newer));
    orch_training_take_known(out->trained, fresh);
    return true;
}

bool orch_step_tiers_open(struct orch_workspace *workspace, const struct orch_time_question *q,
                          bool may_keep, struct orch_step_tiers *out, GPtrArray *notes,
                          GError **error)
{
    *out = (struct orch_step_tiers){.hardware = q->hardware, .uses_published = true};
    struct orch_store *store = workspace->store;
    g_autoptr(GError) broken = NULL;
    if (!store)
        return true;
    if (!q->calibrate) {
        out->trained = load_trained(store, &broken);
        if (broken)
            g_ptr_array_add(notes, g_strdup_printf("the trained predictor is not used: %s; %s",
                                                   broken->message, orch_error_hint(broken)));
        if (!refresh(workspace, may_keep && !broken, out, notes, error))
            return false;
        out->imported = import_small(workspace->store, out->trained);
        return true;
    }
    struct orch_training_request request = {
        .target = ORCH_PREDICTOR_STEP, .runs = true, .only = q->calibrate};
    struct orch_trained *chosen = orch_training_measure(store, &request, 0, error);
    if (!chosen)
        return false;
    if (!chosen->known->len) {
        orch_error_set(
            error, ORCH_ERROR_USAGE, "'orch predictor rows' lists the runs with a step time",
            "option '--calibrate': none of these runs has both a declared cost and a step time");
        orch_trained_free(chosen);
        return false;
    }
    out->trained = chosen;
    return true;
}

void orch_step_tiers_close(struct orch_step_tiers *tiers)
{
    orch_trained_free(tiers->trained);
    orch_trained_free(tiers->imported);
    if (tiers->nets)
        g_hash_table_unref(tiers->nets);
    g_free(tiers->whites);
    g_free(tiers->near_ratios);
    if (tiers->near)
        g_array_unref(tiers->near);
    *tiers = (struct orch_step_tiers){0};
}
