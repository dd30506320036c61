/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/run/slurm_cancel.h"

#include "core/run/slurm_command.h"
#include "core/run/slurm_jobs.h"

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

bool orch_slurm_cancel(struct orch_store *store, bool (*is_wanted)(void *ctx, const char *key),
                       void *ctx, unsigned *out_count, GError **error)
{
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    *out_count = 0;
    if (!actives)
        return false;
    g_autoptr(GPtrArray) rows = orch_slurm_trials(store, actives);
    for (guint i = 0; i < rows->len;) {
        g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(argv, g_strdup("scancel"));
        for (; i < rows->len && argv->len <= CANCEL_AT_ONCE; i++) {
            const struct orch_slurm_trial *row = rows->pdata[i];
            if (row->job && is_wanted(ctx, row->row->key))
                g_ptr_array_add(argv, orch_slurm_element(row->job, row->index));
        }
        unsigned count = argv->len - 1;
        if (count && !call_scancel(argv, error))
            return false;
        *out_count += count;
    }
    return true;
}
