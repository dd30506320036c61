/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run-ID.wandb: the same bytes as a whole and byte by byte give the same values. First byte 'l':
 * its records, which get checksums (wandb_frames.h). */
#include "tests/fuzz/scratch.h"
#include "tests/loggers/recorder.h"
#include "tests/loggers/wandb_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length && *bytes == 'l') {
        g_autoptr(GByteArray) frames = wandb_frames(bytes + 1, length - 1);
        RECORD_BOTH(&ORCH_LOGGER_WANDB, frames->data, (size_t)frames->len);
    } else {
        RECORD_BOTH(&ORCH_LOGGER_WANDB, bytes, length);
    }
    return 0;
}
