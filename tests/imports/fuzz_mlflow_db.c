/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as MLflow's SQLite database: a crash, a leak, a hang, a failure without an error, or a
 * run that no store takes is a fault. Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs
 * the committed corpus as a test. */
#include "tests/imports/imported_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *path = scratch_write("mlflow.db", bytes, length);
    GPtrArray *runs = runs_new(), *warnings = warnings_new();
    GError *error = NULL;
    if (orch_import_database(path, runs, warnings, &error) != (error == NULL))
        fuzz_die("a result beside an error, or neither");
    if (error && !g_utf8_validate(error->message, -1, NULL))
        fuzz_die("a message that is not UTF-8");
    g_clear_error(&error);
    check_runs(runs, warnings);
    return 0;
}
