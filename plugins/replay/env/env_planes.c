/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env.h"

#include <string.h>

void orch_env_planes(const struct orch_env_kind *kind, const void *observations, int64_t count,
                     float *out)
{
    const int64_t channels = kind->shape[2], places = kind->observation_values / channels;
    const float *floats = observations;
    const uint8_t *bytes = observations;
    if (channels == 1 && !kind->is_bytes) {
        memcpy(out, floats, sizeof *out * (size_t)(count * places));
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < places; p++)
            for (int64_t c = 0; c < channels; c++) {
                const int64_t at = (i * places + p) * channels + c;
                out[(i * channels + c) * places + p] =
                    kind->is_bytes ? (float)bytes[at] : floats[at];
            }
}
