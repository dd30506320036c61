/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a JSON file of runs. First byte 's': the files of Sacred's folder, separated by form
 * feeds; otherwise one file. A crash, a leak, a hang, or a run that no store takes is a fault.
 * Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "features/imports/import_runs.h"
#include "tests/imports/imported_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const files[] = {"run.json", "config.json", "info.json", "metrics.json"};
    GPtrArray *runs = runs_new(), *warnings = warnings_new();
    if (length && *bytes == 's') {
        g_autofree char *folder = g_build_filename(scratch_folder(), "sacred", NULL);
        write_parts("sacred", files, G_N_ELEMENTS(files), bytes + 1, length - 1);
        orch_import_sacred_folder(folder, runs, warnings);
    } else {
        g_autofree char *path = scratch_write("results/vm/runs.json", bytes, length);
        orch_import_json(path, runs, warnings);
    }
    check_runs(runs, warnings);
    return 0;
}
