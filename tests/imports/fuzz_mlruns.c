/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as MLflow's file store: meta.yaml of the experiment and of a run, a metric, a parameter
 * and a tag, separated by form feeds. A crash, a leak, a hang, or a run that no store takes is a
 * fault. Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a
 * test. */
#include "features/imports/import_runs.h"
#include "tests/imports/imported_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const files[] = {"1/r/meta.yaml", "1/r/metrics/train/loss", "1/r/params/lr",
                                        "1/r/tags/mlflow.note", "1/meta.yaml"};
    g_autofree char *folder = g_build_filename(scratch_folder(), "mlruns", NULL);
    GPtrArray *runs = runs_new(), *warnings = warnings_new();
    GError *error = NULL;
    write_parts("mlruns", files, G_N_ELEMENTS(files), bytes, length);
    if (orch_import_runs_read(folder, NULL, runs, warnings, &error) != (error == NULL))
        fuzz_die("a result beside an error, or neither");
    g_clear_error(&error);
    check_runs(runs, warnings);
    return 0;
}
