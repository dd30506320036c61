/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the database of a project of trackio: a crash, a leak, a hang, or a failure without
 * an error is a fault. */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *path = scratch_write("project.db", bytes, length);
    g_autoptr(GString) found = g_string_new(NULL);
    const struct orch_log_sink sink = {
        .ctx = found, .point = record_point, .setting = record_setting, .run = record_run};
    g_autoptr(GError) error = NULL;
    bool has_more = false;
    ORCH_LOGGER_TRACKIO.knows(path, (const char *)bytes, MIN(length, ORCH_LOGGER_HEAD_BYTES));
    void *reader = ORCH_LOGGER_TRACKIO.open(&sink, path);
    if (ORCH_LOGGER_TRACKIO.read(reader, INT64_MIN, &has_more, &error) != (error == NULL))
        fuzz_die("a result beside an error, or neither");
    ORCH_LOGGER_TRACKIO.close(reader);
    return 0;
}
