/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/charts/axis_hint.h"

#include "core/stats/field_names.h"

char *orch_axis_hint(const struct orch_trials *trials, const char *name)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        if (trial->run)
            g_ptr_array_add(runs, trial->run);
    }
    return trials->store ? orch_field_hint(trials->store, runs, name) : NULL;
}
