/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of TensorBoard's event files, or of SwanLab's log, as one run. lib/loggers reads them.
 */
#include "features/imports/import_runs.h"

static bool is_log(const struct orch_logger *logger, const char *name)
{
    return logger->ends ? g_str_has_suffix(name, logger->ends[0]) : logger->knows(name, NULL, 0);
}

bool orch_import_has_logs(const struct orch_logger *logger, const GPtrArray *entries)
{
    for (guint i = 0; i < entries->len; i++)
        if (is_log(logger, entries->pdata[i]))
            return true;
    return false;
}

void orch_import_logs(const struct orch_logger *logger, const char *folder, const char *name,
                      GPtrArray *runs, GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    g_autofree char *base = g_path_get_basename(folder);
    struct orch_imported_run *run =
        orch_imported_run_new(logger->name, logger->is_apart ? base : name);
    orch_imported_set_text(&run->name, run->id);
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        if (is_log(logger, entries->pdata[i]))
            orch_import_file(run, logger, path, warnings);
    }
    if (run->points->len || json_object_size(run->params)) {
        g_ptr_array_add(runs, run);
        return;
    }
    orch_import_warn(warnings, "'%s' has no values", folder);
    orch_imported_run_free(run);
}
