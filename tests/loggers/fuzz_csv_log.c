/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of loggers: the same bytes as a whole and byte by byte give the same points. */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    ORCH_LOGGER_CSV.knows("/a/metrics.csv", (const char *)bytes, length);
    RECORD_BOTH(&ORCH_LOGGER_CSV, bytes, length);
    RECORD_BOTH(&ORCH_LOGGER_DVCLIVE, bytes, length);
    return 0;
}
