/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session's model as a vector: its tensors one after the other, in their order. */
#ifndef ORCH_PLUGINS_ASYNCSGD_FLAT_MODEL_H
#define ORCH_PLUGINS_ASYNCSGD_FLAT_MODEL_H

#include "plugins/common/training/session.h"

struct orch_flat_model {
    const struct orch_session *session; /* borrowed */
    GArray *ranges;                     /* struct orch_weight_range, a tensor each */
    int64_t elements;
    float *zeros; /* as many as the largest tensor has */
};

/** Release with orch_flat_model_clear. */
void orch_flat_model_init(struct orch_flat_model *flat, const struct orch_session *session);
/** Copies the model's tensors to `out`, flat->elements values, or from `values`. */
bool orch_flat_model_get(const struct orch_flat_model *flat, float *out, GError **error);
bool orch_flat_model_set(const struct orch_flat_model *flat, const float *values, GError **error);

/** Prepares the model for orch_flat_model_learn. */
bool orch_flat_model_prepare(const struct orch_flat_model *flat, GError **error);
/** Sets the model to `values`, and writes to `out` the gradients of the batch's mean loss, and the
 * running statistics that its forward pass left. Counts the batch in the model's totals. */
bool orch_flat_model_learn(const struct orch_flat_model *flat, const float *values,
                           const struct orch_torch_batch *batch, float *out, GError **error);
void orch_flat_model_clear(struct orch_flat_model *flat);

#endif
