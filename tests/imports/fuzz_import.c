/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a table to be imported, or as an exported data set: a crash, a leak, a hang, a set
 * beside an error, or a set that is another one after it was exported and read again is a fault.
 * Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "core/rows/run_rows.h"
#include "features/imports/import.h"
#include "tests/fuzz/scratch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_round_trip(struct orch_dataset *set)
{
    GString *text = orch_dataset_encode(set);
    struct orch_dataset *copy = orch_dataset_decode("copy", text->str, text->len, NULL);
    GString *again = copy ? orch_dataset_encode(copy) : NULL;
    if (!again || !g_string_equal(text, again))
        abort();
    GString *rows = orch_rows_dataset_text(copy);
    struct orch_csv *table = orch_csv_parse("rows", rows->str, rows->len, NULL);
    if (!table)
        abort();
    orch_csv_free(table);
    g_string_free(rows, TRUE);
    g_string_free(text, TRUE);
    g_string_free(again, TRUE);
    orch_dataset_free(copy);
}

static void import_as_table(const char *path, bool skip_bad)
{
    static const char *const map[] = {"ms=step_ms", NULL};
    struct orch_import_options options = {
        .target = "step_ms", .map = skip_bad ? NULL : map, .name = "fuzz", .skip_bad = skip_bad};
    struct orch_import import = {0};
    GError *error = NULL;
    if (orch_import_csv(path, &options, &import, &error) != (error == NULL))
        abort();
    if (import.set)
        check_round_trip(import.set);
    orch_import_clear(&import);
    g_clear_error(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *path = scratch_write("fuzz.csv", bytes, length);
    import_as_table(path, false);
    import_as_table(path, true);
    GError *error = NULL;
    struct orch_dataset *set = orch_dataset_decode("fuzz", (const char *)bytes, length, &error);
    if ((set != NULL) != (error == NULL))
        abort();
    if (set)
        check_round_trip(set);
    orch_dataset_free(set);
    g_clear_error(&error);
    unlink(path);
    return 0;
}
