/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scale of the loss in fp16 training (Micikevicius et al. 2018, "Mixed precision training").
 *
 * Small gradients underflow in half precision, so the loss is multiplied by a scale and the
 * gradients are divided by it before the update. A step whose gradients are not finite is skipped
 * and halves the scale; 2000 steps in a row with finite gradients double it. The constants are
 * those of PyTorch's GradScaler. On a GPU LibTorch applies the same rule on the device. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_SCALER_H
#define ORCH_PLUGINS_COMMON_TORCH_SCALER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORCH_SCALER_START 65536.0F
#define ORCH_SCALER_GROWTH 2.0F
#define ORCH_SCALER_BACKOFF 0.5F
enum { ORCH_SCALER_INTERVAL = 2000 };

/** State of the scaler of a model in fp16. */
struct orch_torch_scaler {
    float scale;           /* > 0; 0: the model needs no scaler */
    int64_t finite_steps;  /* steps since the last change of the scale */
    int64_t skipped_steps; /* steps with gradients that were not finite, since the start */
};

/** Applies the rule after a step. The scale grows only while it stays finite. */
void orch_torch_scaler_update(struct orch_torch_scaler *scaler, bool gradients_are_finite);

#ifdef __cplusplus
}
#endif

#endif
