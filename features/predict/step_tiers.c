/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_tiers.h"

#include "core/rows/training_rows.h"

#include "lib/base/error.h"

#include <string.h>

#define FEW_ROWS 300 /* below this number of rows a predictor is trained on demand */

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
                   "its target is '%s', expected " ORCH_PREDICTOR_STEP, trained->target);
    orch_trained_free(trained);
    return NULL;
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
    g_ptr_array_add(notes,
                    g_strdup_printf("%" G_GINT64_FORMAT " runs are newer than the predictor: "
                                    "'orch predictor train' learns from them",
                                    out->newer));
    orch_training_take_known(out->trained, fresh);
    return true;
}

bool orch_step_tiers_open(struct orch_workspace *workspace, const struct orch_time_question *q,
                          bool may_keep, struct orch_step_tiers *out, GPtrArray *notes,
                          GError **error)
{
    *out = (struct orch_step_tiers){.hardware = q->hardware,
                                    .is_written_out = q->is_written_out,
                                    .is_compiled = q->is_compiled,
                                    .watts = q->watts};
    struct orch_store *store = workspace->store;
    g_autoptr(GError) broken = NULL;
    if (!store)
        return true;
    if (!q->calibrate) {
        out->trained = load_trained(store, &broken);
        if (broken)
            g_ptr_array_add(notes, g_strdup_printf("the trained predictor is not used: %s; %s",
                                                   broken->message, orch_error_hint(broken)));
        return refresh(workspace, may_keep && !broken, out, notes, error);
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
    if (tiers->nets)
        g_hash_table_unref(tiers->nets);
    g_free(tiers->whites);
    *tiers = (struct orch_step_tiers){0};
}
