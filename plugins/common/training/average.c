/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/average.h"

#include "lib/base/error.h"
#include "lib/weights/weights.h"

#include <math.h>
#include <string.h>

#define PREFIX "average." /* of the average's tensors in a checkpoint */

static bool is_mode(const struct orch_session *s, const char *mode)
{
    const char *asked = s->training->average;
    return asked && strcmp(asked, mode) == 0;
}

bool orch_average_open(struct orch_session *s, GError **error)
{
    if (!is_mode(s, "ema") && !is_mode(s, "lookahead"))
        return true;
    s->average = s->torch->model_new(s->net, &s->setup, error);
    return s->average && s->torch->blend(s->average, s->model, 1, error);
}

struct orch_torch_model *orch_average_judged(const struct orch_session *s)
{
    return s->average ? s->average : s->model;
}

bool orch_average_after_step(const struct orch_session *s, int64_t step, double over,
                             GError **error)
{
    const struct orch_training *t = s->training;
    if (!s->average || step % t->average_every != 0)
        return true;
    const bool is_lookahead = is_mode(s, "lookahead");
    const double decay =
        pow(t->average_decay, (double)t->average_every) * (is_lookahead ? pow(over, 3) : 1);
    return s->torch->blend(s->average, s->model, 1 - decay, error) &&
           (!is_lookahead || s->torch->blend(s->model, s->average, 1, error));
}

/* ---- checkpoints ------------------------------------------------------------------------------
 */

bool orch_average_save(const struct orch_session *s, struct orch_weights *checkpoint,
                       GError **error)
{
    struct orch_weights *own =
        s->average ? orch_torch_state_copy(s->torch, s->average, error) : NULL;
    bool ok = own || !s->average;
    for (guint i = 0; own && ok && i < own->items->len; i++) {
        const struct orch_weight *weight = own->items->pdata[i];
        g_autofree char *name = g_strconcat(PREFIX, weight->name, NULL);
        ok = orch_weights_add(checkpoint, name, weight->dtype, weight->rank, weight->shape,
                              weight->data, error);
    }
    orch_weights_free(own);
    return ok;
}

static bool restore_tensor(const struct orch_session *s, const struct orch_weights *checkpoint,
                           size_t index, GError **error)
{
    struct orch_torch_tensor tensor;
    s->torch->tensor_describe(s->average, index, &tensor);
    g_autofree char *name = g_strconcat(PREFIX, tensor.name, NULL);
    const struct orch_weight *weight = orch_weights_find(checkpoint, name);
    if (!weight || weight->count != tensor.count) {
        orch_error_set(error, ORCH_ERROR_CHECK, "remove the checkpoint to start again",
                       "the checkpoint has no averaged tensor '%s'", tensor.name);
        return false;
    }
    g_autofree float *values = g_new(float, tensor.count + 1);
    orch_weight_to_float(weight, values);
    return s->torch->tensor_set(s->average, index, values, error);
}

bool orch_average_restore(const struct orch_session *s, const struct orch_weights *checkpoint,
                          GError **error)
{
    for (size_t i = 0; s->average && i < s->torch->tensor_count(s->average); i++)
        if (!restore_tensor(s, checkpoint, i, error))
            return false;
    return true;
}
