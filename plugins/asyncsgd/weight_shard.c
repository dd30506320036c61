/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/asyncsgd/weight_shard.h"

#include <string.h>

void orch_weight_shard_bounds(int64_t elements, int index, int shards, int64_t *out_begin,
                              int64_t *out_count)
{
    *out_begin = elements * index / shards;
    *out_count = elements * (index + 1) / shards - *out_begin;
}

void orch_weight_shard_init(struct orch_weight_shard *shard, const GArray *ranges,
                            const float *values, int index, int shards,
                            const struct orch_weight_rule *rule)
{
    const struct orch_weight_range *last =
        &g_array_index(ranges, struct orch_weight_range, ranges->len - 1);
    *shard = (struct orch_weight_shard){.ranges = ranges, .rule = *rule};
    orch_weight_shard_bounds(last->begin + last->count, index, shards, &shard->begin,
                             &shard->count);
    shard->values = g_memdup2(values + shard->begin, sizeof(float) * (gsize)shard->count);
    shard->velocity = g_new0(float, shard->count);
    shard->sum = g_new0(float, shard->count);
}

void orch_weight_shard_add(struct orch_weight_shard *shard, const float *push)
{
    shard->added++;
    for (int64_t i = 0; i < shard->count; i++)
        shard->sum[i] += push[i];
}

/* torch.optim.SGD: the velocity is mu v + g; Nesterov's step is g + mu v. */
static void step(struct orch_weight_shard *shard, int64_t begin, int64_t end, double rate)
{
    const float scale = 1 / (float)shard->added, lr = (float)rate;
    const float momentum = (float)shard->rule.momentum, decay = (float)shard->rule.weight_decay;
    for (int64_t i = begin; i < end; i++) {
        const float gradient = shard->sum[i] * scale + decay * shard->values[i];
        shard->velocity[i] = momentum * shard->velocity[i] + gradient;
        shard->values[i] -= lr * (shard->rule.nesterov ? gradient + momentum * shard->velocity[i]
                                                       : shard->velocity[i]);
    }
}

static void replace(struct orch_weight_shard *shard, int64_t begin, int64_t end)
{
    const float scale = 1 / (float)shard->added;
    for (int64_t i = begin; i < end; i++)
        shard->values[i] = shard->sum[i] * scale;
}

void orch_weight_shard_update(struct orch_weight_shard *shard, double rate)
{
    for (guint i = 0; i < shard->ranges->len; i++) {
        const struct orch_weight_range *range =
            &g_array_index(shard->ranges, struct orch_weight_range, i);
        const int64_t begin = MAX(range->begin - shard->begin, 0);
        const int64_t end = MIN(range->begin + range->count - shard->begin, shard->count);
        if (range->is_trained)
            step(shard, begin, end, rate);
        else
            replace(shard, begin, end);
    }
    memset(shard->sum, 0, sizeof(float) * (size_t)shard->count);
    shard->added = 0;
    shard->version++;
}

void orch_weight_shard_clear(struct orch_weight_shard *shard)
{
    g_free(shard->values);
    g_free(shard->velocity);
    g_free(shard->sum);
    *shard = (struct orch_weight_shard){0};
}
