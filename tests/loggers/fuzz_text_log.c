/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metrics.yaml, and the files of MLflow's store: the same bytes as a whole and byte by byte give
 * the same values. */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct orch_logger *const rows[] = {&ORCH_LOGGER_YAML, &ORCH_LOGGER_YAML_SETTINGS,
                                              &ORCH_LOGGER_MLRUNS, &ORCH_LOGGER_MLRUNS_PARAM};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        RECORD_BOTH(rows[i], bytes, length);
    return 0;
}
