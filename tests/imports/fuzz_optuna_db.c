/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the SQLite file of Optuna's studies: a crash, a leak, a hang, a failure without an
 * error, or a run that no store takes is a fault. Built with -fsanitize=fuzzer it fuzzes; with
 * replay.c it runs the committed corpus as a test. */
#include "tests/imports/imported_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *path = scratch_write("study.db", bytes, length);
    GPtrArray *runs = runs_new(), *warnings = warnings_new();
    GError *error = NULL;
    bool is_study = orch_optuna_db_is(path);
    bool ok = orch_optuna_db_read(path, runs, warnings, &error);
    if (ok != (error == NULL) || (ok && !is_study))
        fuzz_die("a result beside an error, neither, or of a file that is no study");
    if (error && !g_utf8_validate(error->message, -1, NULL))
        fuzz_die("a message that is not UTF-8");
    g_clear_error(&error);
    check_runs(runs, warnings);
    return 0;
}
