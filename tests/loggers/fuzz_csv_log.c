/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of loggers: the same bytes as a whole and byte by byte give the same points. */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *why, *why_parts;
    ORCH_LOGGER_CSV.knows("/a/metrics.csv", (const char *)bytes, length);
    g_autofree char *whole = record(&ORCH_LOGGER_CSV, bytes, length, MAX(length, 1), &why);
    g_autofree char *parts = record(&ORCH_LOGGER_CSV, bytes, length, 1, &why_parts);
    if (strcmp(whole, parts) != 0 || why != why_parts)
        fuzz_die("parts differ from the whole");
    return 0;
}
