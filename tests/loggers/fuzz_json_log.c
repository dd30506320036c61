/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and documents of JSON: the same bytes as a whole and byte by byte give the same points. */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct orch_logger *const rows[] = {&ORCH_LOGGER_JSON_LINES, &ORCH_LOGGER_JSON};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *why, *why_parts;
        rows[i]->knows("/a/metrics.json", (const char *)bytes, length);
        g_autofree char *whole = record(rows[i], bytes, length, MAX(length, 1), &why);
        g_autofree char *parts = record(rows[i], bytes, length, 1, &why_parts);
        if (strcmp(whole, parts) != 0 || why != why_parts)
            fuzz_die("parts differ from the whole");
    }
    return 0;
}
