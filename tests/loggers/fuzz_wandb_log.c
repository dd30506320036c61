/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run-ID.wandb and run-ID.swanlab: the same bytes as a whole and byte by byte give the same values.
 * First byte 'l' (W&B) or 's' (SwanLab): its records, which get checksums (wandb_frames.h). */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"
#include "tests/loggers/wandb_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    bool is_swanlab = length && (*bytes == 's' || (length > 1 && bytes[1] == 'S'));
    const struct orch_logger *logger = is_swanlab ? &ORCH_LOGGER_SWANLAB : &ORCH_LOGGER_WANDB;
    if (length && (*bytes == 'l' || *bytes == 's')) {
        const char *first = is_swanlab ? ":SWL\xd6\xe1\x02" : ":W&B\0\0\0";
        g_autoptr(GByteArray) frames = wandb_frames(first, bytes + 1, length - 1);
        RECORD_BOTH(logger, frames->data, (size_t)frames->len);
    } else {
        RECORD_BOTH(logger, bytes, length);
    }
    return 0;
}
