/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as what W&B leaves of a run. First byte 'c': the CSV of a table of runs; 'r':
 * run-ID.wandb; 'l': its records, (type, length in 2 bytes, bytes), which get the checksums that a
 * fuzzer cannot guess; otherwise config.yaml, metadata, history and summary, separated by form
 * feeds. A crash, a leak, a hang, or a run that no store takes is a fault. Built with
 * -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "features/imports/import_runs.h"
#include "tests/imports/imported_runs.h"
#include "tests/loggers/wandb_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_folder(const char *folder)
{
    GPtrArray *runs = runs_new(), *warnings = warnings_new();
    orch_import_wandb_folder(folder, runs, warnings);
    check_runs(runs, warnings);
}

static void read_log(const uint8_t *bytes, size_t length)
{
    static const char log[] = "log/run-20250101_000000-abc/run-abc.wandb";
    g_autofree char *path = scratch_write(log, bytes, length);
    g_autofree char *folder = g_path_get_dirname(path);
    read_folder(folder);
}

static void read_csv(const uint8_t *bytes, size_t length)
{
    static const char *const params[] = {"lr", NULL};
    g_autofree char *path = scratch_write("runs.csv", bytes, length);
    for (int with_params = 0; with_params < 2; with_params++) {
        GPtrArray *runs = runs_new();
        GError *error = NULL;
        if (orch_import_wandb_csv(path, with_params ? params : NULL, runs, &error) !=
            (error == NULL))
            fuzz_die("a result beside an error, or neither");
        g_clear_error(&error);
        check_runs(runs, warnings_new());
    }
}

static void read_files(const uint8_t *bytes, size_t length)
{
    static const char *const files[] = {"config.yaml", "wandb-metadata.json", "wandb-history.jsonl",
                                        "wandb-summary.json"};
    g_autofree char *folder = g_build_filename(scratch_folder(), "run-1-abc", NULL);
    write_parts("run-1-abc/files", files, G_N_ELEMENTS(files), bytes, length);
    read_folder(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    uint8_t kind = length ? *bytes : 0;
    if (kind == 'c') {
        read_csv(bytes + 1, length - 1);
    } else if (kind == 'r') {
        read_log(bytes + 1, length - 1);
    } else if (kind == 'l') {
        GByteArray *wrapped = wandb_frames(":W&B\0\0\0", bytes + 1, length - 1);
        read_log(wrapped->data, wrapped->len);
        g_byte_array_unref(wrapped);
    } else {
        read_files(bytes, length);
    }
    return 0;
}
