/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/shard/weight_shard.h"

#include <math.h>
#include <string.h>

const char *const ORCH_WEIGHT_OPTIMIZERS[] = {"sgd", "adagrad", "rmsprop", "adam", NULL};

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
    shard->squares = rule->optimizer == ORCH_WEIGHT_SGD ? NULL : g_new0(float, shard->count);
    shard->sum = g_new0(float, shard->count);
}

void orch_weight_shard_add(struct orch_weight_shard *shard, const float *push)
{
    shard->added++;
    for (int64_t i = 0; i < shard->count; i++)
        shard->sum[i] += push[i];
}

/* Elements begin to end of a shard, and the gradient of each: the mean of the pushes, with decay.
 */
struct part {
    struct orch_weight_shard *shard;
    int64_t begin, end;
    float scale, decay, rate;
};

static float gradient_of(const struct part *p, int64_t i)
{
    return p->shard->sum[i] * p->scale + p->decay * p->shard->values[i];
}

/* The velocity is mu v + g; Nesterov's step is g + mu v. */
static void sgd(const struct part *p)
{
    struct orch_weight_shard *s = p->shard;
    const float momentum = (float)s->rule.momentum;
    for (int64_t i = p->begin; i < p->end; i++) {
        const float gradient = gradient_of(p, i);
        s->velocity[i] = momentum * s->velocity[i] + gradient;
        s->values[i] -=
            p->rate * (s->rule.nesterov ? gradient + momentum * s->velocity[i] : s->velocity[i]);
    }
}

static void adagrad(const struct part *p)
{
    struct orch_weight_shard *s = p->shard;
    for (int64_t i = p->begin; i < p->end; i++) {
        const float gradient = gradient_of(p, i);
        s->squares[i] += gradient * gradient;
        s->values[i] -= p->rate * gradient / (sqrtf(s->squares[i]) + 1e-10F);
    }
}

static void rmsprop(const struct part *p)
{
    struct orch_weight_shard *s = p->shard;
    for (int64_t i = p->begin; i < p->end; i++) {
        const float gradient = gradient_of(p, i);
        s->squares[i] = 0.99F * s->squares[i] + 0.01F * gradient * gradient;
        s->values[i] -= p->rate * gradient / (sqrtf(s->squares[i]) + 1e-8F);
    }
}

static void adam(const struct part *p)
{
    struct orch_weight_shard *s = p->shard;
    const double steps = (double)s->version + 1;
    const float step = p->rate / (float)(1 - pow(0.9, steps));
    const float unbiased = (float)(1 / sqrt(1 - pow(0.999, steps)));
    for (int64_t i = p->begin; i < p->end; i++) {
        const float gradient = gradient_of(p, i);
        s->velocity[i] = 0.9F * s->velocity[i] + 0.1F * gradient;
        s->squares[i] = 0.999F * s->squares[i] + 0.001F * gradient * gradient;
        s->values[i] -= step * s->velocity[i] / (sqrtf(s->squares[i]) * unbiased + 1e-8F);
    }
}

static void (*const STEPS[])(const struct part *p) = {sgd, adagrad, rmsprop, adam};

static void step(struct orch_weight_shard *shard, int64_t begin, int64_t end, double rate)
{
    const struct part part = {.shard = shard,
                              .begin = begin,
                              .end = end,
                              .scale = 1 / (float)shard->added,
                              .decay = (float)shard->rule.weight_decay,
                              .rate = (float)rate};
    STEPS[shard->rule.optimizer](&part);
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
    g_free(shard->squares);
    g_free(shard->sum);
    *shard = (struct orch_weight_shard){0};
}
