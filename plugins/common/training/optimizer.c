/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/optimizer.h"

#include "lib/net/net.h"

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

bool orch_training_optimizer(const struct orch_session *s, struct orch_torch_model *model,
                             GError **error)
{
    const struct orch_training *t = s->training;
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
    };
    return s->torch->optimizer_set(model, &optimizer, error);
}
