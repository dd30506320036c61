/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/torch/scaler.h"

#include <math.h>

void orch_torch_scaler_update(struct orch_torch_scaler *scaler, bool gradients_are_finite)
{
    if (!gradients_are_finite) {
        scaler->scale *= ORCH_SCALER_BACKOFF;
        scaler->finite_steps = 0;
        scaler->skipped_steps++;
        return;
    }
    if (++scaler->finite_steps < ORCH_SCALER_INTERVAL)
        return;
    float grown = scaler->scale * ORCH_SCALER_GROWTH;
    if (isfinite(grown))
        scaler->scale = grown;
    scaler->finite_steps = 0;
}
