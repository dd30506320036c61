/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cancels trials in Slurm jobs. */
#include "features/slurm/slurm_cancel.h"

#include "features/slurm/slurm_command.h"
#include "features/slurm/slurm_jobs.h"
#include "lib/base/error.h"
#include "store/store.h"

#include <string.h>

/* ---- scancel ------------------------------------------------------------------------------------
 */

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

/* Cancels elements. Their trials are taken in later, as any other trial that has ended. */
static bool cancel_elements(const GPtrArray *elements, GError **error)
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

bool orch_slurm_cancel(struct orch_store *store, const GPtrArray *keys, unsigned *out_count,
                       GError **error)
{
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    if (!actives)
        return false;
    g_autoptr(GPtrArray) rows = orch_slurm_trials(store, actives);
    g_autoptr(GPtrArray) elements = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        if (row->job && g_ptr_array_find_with_equal_func((GPtrArray *)(uintptr_t)keys,
                                                         row->row->key, g_str_equal, NULL))
            g_ptr_array_add(elements, orch_slurm_element(row->job, row->index));
    }
    *out_count = elements->len;
    return cancel_elements(elements, error);
}
