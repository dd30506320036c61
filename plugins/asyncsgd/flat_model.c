/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients are read from the optimizer: with learning rate 0 and a momentum whose state is set to
 * zero before each step, the state after it is the gradient, to the last bit and in the tensor's
 * described shape, whatever the memory layout. */
#include "plugins/asyncsgd/flat_model.h"

#include "plugins/common/shard/weight_shard.h"

#include <string.h>

#define READING_MOMENTUM 0.5 /* any value above 0, so that there is a state */

void orch_flat_model_init(struct orch_flat_model *flat, const struct orch_session *s)
{
    int64_t largest = 0;
    *flat = (struct orch_flat_model){
        .session = s, .ranges = g_array_new(FALSE, FALSE, sizeof(struct orch_weight_range))};
    for (size_t i = 0; i < s->torch->tensor_count(s->model); i++) {
        struct orch_torch_tensor tensor;
        s->torch->tensor_describe(s->model, i, &tensor);
        const struct orch_weight_range range = {flat->elements, tensor.count, tensor.is_parameter};
        g_array_append_val(flat->ranges, range);
        flat->elements += tensor.count;
        largest = MAX(largest, tensor.count);
    }
    flat->zeros = g_new0(float, largest);
}

static const struct orch_weight_range *range_of(const struct orch_flat_model *flat, guint i)
{
    return &g_array_index(flat->ranges, struct orch_weight_range, i);
}

bool orch_flat_model_get(const struct orch_flat_model *flat, float *out, GError **error)
{
    const struct orch_session *s = flat->session;
    for (guint i = 0; i < flat->ranges->len; i++)
        if (!s->torch->tensor_get(s->model, i, out + range_of(flat, i)->begin, error))
            return false;
    return true;
}

bool orch_flat_model_set(const struct orch_flat_model *flat, const float *values, GError **error)
{
    const struct orch_session *s = flat->session;
    for (guint i = 0; i < flat->ranges->len; i++)
        if (!s->torch->tensor_set(s->model, i, values + range_of(flat, i)->begin, error))
            return false;
    return true;
}

bool orch_flat_model_prepare(const struct orch_flat_model *flat, GError **error)
{
    const struct orch_session *s = flat->session;
    const struct orch_torch_optimizer reading = {.method = ORCH_TORCH_SGD,
                                                 .momentum = READING_MOMENTUM};
    s->torch->rate_set(s->model, 0);
    return s->torch->optimizer_set(s->model, &reading, error);
}

/* After a step: the gradient of a parameter, or the values of running statistics. */
static bool read_tensor(const struct orch_flat_model *flat, guint i, float *out, GError **error)
{
    const struct orch_session *s = flat->session;
    bool is_set = false;
    if (!range_of(flat, i)->is_trained)
        return s->torch->tensor_get(s->model, i, out, error);
    if (!s->torch->slot_get(s->model, i, 0, out, &is_set, error))
        return false;
    if (!is_set) /* it has no gradient */
        memset(out, 0, sizeof(float) * (size_t)range_of(flat, i)->count);
    return true;
}

bool orch_flat_model_learn(const struct orch_flat_model *flat, const float *values,
                           const struct orch_torch_batch *batch, float *out, GError **error)
{
    const struct orch_session *s = flat->session;
    if (!orch_flat_model_set(flat, values, error))
        return false;
    for (guint i = 0; i < flat->ranges->len; i++)
        if (range_of(flat, i)->is_trained &&
            !s->torch->slot_set(s->model, i, 0, flat->zeros, error))
            return false;
    if (!s->torch->train(s->model, batch, error))
        return false;
    for (guint i = 0; i < flat->ranges->len; i++)
        if (!read_tensor(flat, i, out + range_of(flat, i)->begin, error))
            return false;
    return true;
}

void orch_flat_model_clear(struct orch_flat_model *flat)
{
    if (flat->ranges)
        g_array_unref(flat->ranges);
    g_free(flat->zeros);
    *flat = (struct orch_flat_model){0};
}
