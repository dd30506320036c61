/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/optimizer.h"

#include "lib/net/net.h"
#include "plugins/common/training/first_layer.h"

#include <string.h>

int orch_training_frozen_groups(const struct orch_session *s)
{
    return s->training->feature_extractor ? s->net->group_count - 1 : (int)s->training->freeze;
}

/** Muon's usual rate is 0.02, where AdamW's for the other parameters is 3e-4 (Jordan 2024). */
#define MUON_ADAMW_FACTOR 0.015

static enum orch_torch_method method_of(const struct orch_training *t)
{
    return strcmp(t->optimizer, "adam") == 0    ? ORCH_TORCH_ADAM
           : strcmp(t->optimizer, "adamw") == 0 ? ORCH_TORCH_ADAMW
           : strcmp(t->optimizer, "muon") == 0  ? ORCH_TORCH_MUON
                                                : ORCH_TORCH_SGD;
}

/* A factor of the learning rate for each tensor; 0 keeps its values. NULL where all are 1. Caller
 * frees. */
static double *tensor_rates(const struct orch_session *s)
{
    const struct orch_training *t = s->training;
    bool has_bias_rate = t->norm_bias_rate > 0 && t->norm_bias_rate != 1;
    if (!has_bias_rate && !t->freeze_norm_scale && !t->whiten)
        return NULL;
    int whitened = t->whiten ? orch_first_layer(s->net)->id : -1;
    double *rates = g_new(double, s->net->tensors->len + 1);
    for (guint i = 0; i < s->net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(s->net, (int)i);
        bool is_norm = orch_net_node(s->net, tensor->node)->op == ORCH_NET_BATCHNORM2D;
        bool is_weight = tensor->role == ORCH_NET_WEIGHT;
        bool is_frozen = is_weight && (is_norm ? t->freeze_norm_scale : tensor->node == whitened);
        bool is_norm_bias = is_norm && tensor->role == ORCH_NET_BIAS;
        rates[i] = is_frozen ? 0 : is_norm_bias && has_bias_rate ? t->norm_bias_rate : 1;
    }
    return rates;
}

/* True if tensor `index` of the session's network learns: it is a parameter, neither in a frozen
 * group nor frozen by itself. */
static bool training_learns(const struct orch_session *s, int index)
{
    const struct orch_net_tensor *tensor = orch_net_tensor(s->net, index);
    g_autofree double *rates = tensor_rates(s);
    bool is_parameter = tensor->role == ORCH_NET_WEIGHT || tensor->role == ORCH_NET_BIAS;
    return is_parameter && (!rates || rates[index] > 0) &&
           orch_net_node(s->net, tensor->node)->group >= orch_training_frozen_groups(s);
}

int64_t orch_training_learned_params(const struct orch_session *s)
{
    int64_t trained = 0;
    for (guint i = 0; i < s->net->tensors->len; i++) {
        if (training_learns(s, (int)i))
            trained += orch_net_tensor(s->net, (int)i)->count;
    }
    return trained;
}

bool orch_training_optimizer(const struct orch_session *s, struct orch_torch_model *model,
                             GError **error)
{
    const struct orch_training *t = s->training;
    g_autofree double *rates = tensor_rates(s);
    struct orch_torch_optimizer optimizer = {
        .method = method_of(t),
        .momentum = t->momentum,
        .nesterov = t->nesterov,
        .weight_decay = t->weight_decay,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .iterations = 5,
        .adamw_factor = MUON_ADAMW_FACTOR,
        .group_rates = t->layer_rates.items,
        .group_rate_count = t->layer_rates.count,
        .frozen_groups = orch_training_frozen_groups(s),
        .tensor_rates = rates,
    };
    return s->torch->optimizer_set(model, &optimizer, error);
}
