/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/optimizer.h"

#include "lib/net/net.h"

#include <string.h>

int orch_training_frozen_groups(const struct orch_session *s)
{
    return s->training->feature_extractor ? s->net->group_count - 1 : (int)s->training->freeze;
}

bool orch_training_optimizer(const struct orch_session *s, struct orch_torch_model *model,
                             GError **error)
{
    const struct orch_training *t = s->training;
    struct orch_torch_optimizer optimizer = {
        .method = strcmp(t->optimizer, "adam") == 0 ? ORCH_TORCH_ADAM : ORCH_TORCH_SGD,
        .momentum = t->momentum,
        .nesterov = t->nesterov,
        .weight_decay = t->weight_decay,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .group_rates = t->layer_rates.items,
        .group_rate_count = t->layer_rates.count,
        .frozen_groups = orch_training_frozen_groups(s),
    };
    return s->torch->optimizer_set(model, &optimizer, error);
}
