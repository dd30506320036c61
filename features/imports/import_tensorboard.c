/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of TensorBoard's event files as one run. lib/loggers/tensorboard.c reads them. */
#include "features/imports/import_runs.h"

void orch_import_tensorboard(const char *folder, const char *name, GPtrArray *runs,
                             GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    struct orch_imported_run *run = orch_imported_run_new("tensorboard", name);
    orch_imported_set_text(&run->name, name);
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        if (ORCH_LOGGER_TENSORBOARD.knows(entries->pdata[i], NULL, 0))
            orch_import_file(run, &ORCH_LOGGER_TENSORBOARD, path, warnings);
    }
    if (run->points->len || json_object_size(run->params)) {
        g_ptr_array_add(runs, run);
        return;
    }
    orch_import_warn(warnings, "'%s' has no scalars", folder);
    orch_imported_run_free(run);
}
