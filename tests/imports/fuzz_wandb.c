/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as what W&B leaves of a run. First byte 'c': the CSV of a table of runs; 'r':
 * run-ID.wandb; 'l': its records, (type, length in 2 bytes, bytes), which get the checksums that a
 * fuzzer cannot guess; otherwise config.yaml, metadata, history and summary, separated by form
 * feeds. A crash, a leak, a hang, or a run that no store takes is a fault. Built with
 * -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "features/imports/import_runs.h"
#include "lib/loggers/protobuf.h"
#include "tests/imports/imported_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The records as LevelDB's log, none across the end of a block. */
static GByteArray *wrap(const uint8_t *bytes, size_t length)
{
    enum { BLOCK = 32768, HEAD = 7 };
    uint32_t table[256];
    GByteArray *out = g_byte_array_new();
    orch_protobuf_crc_table(table, PROTOBUF_CRC32);
    g_byte_array_append(out, (const uint8_t *)":W&B\0\0\0", HEAD);
    while (length >= 3) {
        uint8_t type = (uint8_t)(1 + bytes[0] % 4);
        size_t left = BLOCK - out->len % BLOCK, part = orch_protobuf_little(bytes + 1, 2);
        if (left < HEAD) {
            append_little(out, 0, (int)left);
            continue;
        }
        part = MIN(MIN(part, length - 3), left - HEAD);
        uint32_t crc =
            orch_protobuf_crc(table, orch_protobuf_crc(table, 0, &type, 1), bytes + 3, part);
        append_little(out, crc, 4);
        append_little(out, part, 2);
        append_little(out, type, 1);
        g_byte_array_append(out, bytes + 3, (guint)part);
        bytes += 3 + part;
        length -= 3 + part;
    }
    return out;
}

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
        GByteArray *wrapped = wrap(bytes + 1, length - 1);
        read_log(wrapped->data, wrapped->len);
        g_byte_array_unref(wrapped);
    } else {
        read_files(bytes, length);
    }
    return 0;
}
