/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and documents of JSON: the same bytes as a whole and byte by byte give the same points. */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct orch_logger *const rows[] = {&ORCH_LOGGER_JSON_LINES, &ORCH_LOGGER_JSON};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        rows[i]->knows("/a/metrics.json", (const char *)bytes, length);
        RECORD_BOTH(rows[i], bytes, length);
    }
    return 0;
}
