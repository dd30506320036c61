/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_cancel.h"

#include "features/slurm/slurm_command.h"
#include "features/slurm/slurm_jobs.h"

#include "lib/base/error.h"

#include <string.h>

enum { CANCEL_AT_ONCE = 500 };

static bool call_scancel(GPtrArray *argv, GError **error)
{
    g_autofree char *out = NULL, *err = NULL;
    g_ptr_array_add(argv, NULL);
    int status = orch_slurm_run((const char *const *)argv->pdata, &out, &err, error);
    if (status < 0)
        return false;
    /* a job that has just ended is no failure */
    if (status == 0 || strstr(err, "already complet") || strstr(err, "Invalid job id"))
        return true;
    g_autofree char *complaint = orch_slurm_complaint(err);
    orch_error_set(error, ORCH_ERROR_IO, "'scontrol ping' shows whether the controller answers",
                   "scancel refused: %s", complaint);
    return false;
}

GPtrArray *orch_slurm_cancel_find(struct orch_store *store,
                                  bool (*is_wanted)(void *ctx, const char *key), void *ctx,
                                  GError **error)
{
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    if (!actives)
        return NULL;
    g_autoptr(GPtrArray) rows = orch_slurm_trials(store, actives);
    GPtrArray *elements = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        if (row->job && is_wanted(ctx, row->row->key))
            g_ptr_array_add(elements, orch_slurm_element(row->job, row->index));
    }
    return elements;
}

bool orch_slurm_cancel(const GPtrArray *elements, GError **error)
{
    for (guint i = 0; i < elements->len;) {
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_ptr_array_add(argv, (gpointer)(uintptr_t) "scancel");
        for (; i < elements->len && argv->len <= CANCEL_AT_ONCE; i++)
            g_ptr_array_add(argv, elements->pdata[i]);
        if (!call_scancel(argv, error))
            return false;
    }
    return true;
}
