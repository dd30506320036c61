/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/agent/q_learner.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <math.h>
#include <string.h>

struct orch_q_learner {
    struct orch_q_learner_options options;
    struct orch_q_net *online, *target; /* target NULL: there is none */
    int outputs;
    int64_t updates;
    int64_t room;
    float *memory; /* of what follows */
    float *values, *targets, *gradients;
    int32_t *choices;
};

struct orch_q_learner *orch_q_learner_new(const struct orch_q_learner_options *options,
                                          GError **error)
{
    struct orch_q_learner *q = g_new0(struct orch_q_learner, 1);
    q->options = *options;
    q->outputs = options->actions + (options->is_dueling ? 1 : 0);
    q->options.net.outputs = q->outputs;
    q->online = orch_q_net_new(&q->options.net, error);
    if (q->online && options->has_target)
        q->target = orch_q_net_new(&q->options.net, error);
    if (q->online && (q->target || !options->has_target) && orch_q_learner_follow(q, 1, error))
        return q;
    orch_q_learner_free(q);
    return NULL;
}

void orch_q_learner_free(struct orch_q_learner *q)
{
    if (!q)
        return;
    orch_q_net_free(q->online);
    orch_q_net_free(q->target);
    g_free(q->memory);
    g_free(q->choices);
    g_free(q);
}

struct orch_q_net *orch_q_learner_net(struct orch_q_learner *q)
{
    return q->online;
}

struct orch_q_net *orch_q_learner_target(struct orch_q_learner *q)
{
    return q->target;
}

int64_t orch_q_learner_updates(const struct orch_q_learner *q)
{
    return q->updates;
}

void orch_q_learner_updates_set(struct orch_q_learner *q, int64_t updates)
{
    q->updates = updates;
}

void orch_q_learner_rate_set(struct orch_q_learner *q, double rate)
{
    q->options.rate = rate;
}

static void make_room(struct orch_q_learner *q, int64_t count)
{
    if (count <= q->room)
        return;
    g_free(q->memory);
    g_free(q->choices);
    q->memory = g_new(float, count *(q->options.actions + 1 + q->outputs));
    q->values = q->memory;
    q->targets = q->values + count * q->options.actions;
    q->gradients = q->targets + count;
    q->choices = g_new(int32_t, count);
    q->room = count;
}

/* Q from the outputs of a network. */
static void combine(const struct orch_q_learner *q, const float *outputs, int64_t count, float *out)
{
    const int actions = q->options.actions;
    for (int64_t i = 0; i < count; i++, out += actions, outputs += q->outputs) {
        float base = 0;
        for (int a = 0; q->options.is_dueling && a < actions; a++)
            base -= outputs[1 + a] / (float)actions;
        base += q->options.is_dueling ? outputs[0] : 0;
        for (int a = 0; a < actions; a++)
            out[a] = base + outputs[a + q->options.is_dueling];
    }
}

static bool values_of(struct orch_q_learner *q, struct orch_q_net *net, const float *states,
                      int64_t count, bool keep, float *out, GError **error)
{
    const float *outputs;
    if (!orch_q_net_forward(net, states, count, keep, &outputs, error))
        return false;
    combine(q, outputs, count, out);
    return true;
}

bool orch_q_learner_values(struct orch_q_learner *q, const float *states, int64_t count, float *out,
                           GError **error)
{
    return values_of(q, q->online, states, count, false, out, error);
}

static int32_t best(const float *values, int actions)
{
    int32_t best = 0;
    for (int a = 1; a < actions; a++)
        if (values[a] > values[best])
            best = a;
    return best;
}

bool orch_q_learner_act(struct orch_q_learner *q, const float *states, int64_t count,
                        const double *epsilons, uint64_t *random, int32_t *out_actions,
                        GError **error)
{
    const int actions = q->options.actions;
    make_room(q, count);
    if (!values_of(q, q->online, states, count, false, q->values, error))
        return false;
    for (int64_t i = 0; i < count; i++) {
        const bool explores = orch_random_unit(random) < epsilons[i];
        out_actions[i] = explores ? (int32_t)orch_random_below(random, (size_t)actions)
                                  : best(q->values + i * actions, actions);
    }
    return true;
}

/* Writes y for each step to q->targets. */
static bool make_targets(struct orch_q_learner *q, const struct orch_q_batch *b, GError **error)
{
    const int actions = q->options.actions;
    struct orch_q_net *judge = q->target ? q->target : q->online;
    const bool is_double = q->options.is_double && q->target;
    const float limit = (float)q->options.value_limit;
    if (is_double) {
        if (!values_of(q, q->online, b->next_states, b->count, false, q->values, error))
            return false;
        for (int64_t i = 0; i < b->count; i++)
            q->choices[i] = best(q->values + i * actions, actions);
    }
    if (!values_of(q, judge, b->next_states, b->count, false, q->values, error))
        return false;
    for (int64_t i = 0; i < b->count; i++) {
        const float *next = q->values + i * actions;
        const int32_t choice = is_double ? q->choices[i] : best(next, actions);
        /* the next state of a terminated episode is unspecified */
        q->targets[i] = b->returns[i];
        if (b->discounts[i] > 0)
            q->targets[i] += b->discounts[i] * next[choice];
        if (limit > 0 && fabsf(q->targets[i]) > limit)
            q->targets[i] = copysignf(limit, q->targets[i]);
    }
    return true;
}

/* The derivative of the loss, and the loss. */
static float slope(const struct orch_q_learner *q, float error, double *out_loss)
{
    const float size = fabsf(error);
    if (!q->options.is_huber || size <= 1) {
        *out_loss = 0.5 * (double)error * (double)error;
        return error;
    }
    *out_loss = (double)size - 0.5;
    return error > 0 ? 1 : -1;
}

/* Errors, loss, and d loss / d outputs from the targets and the online network's values. */
static void grade(struct orch_q_learner *q, const struct orch_q_batch *b, float *out_errors,
                  struct orch_q_report *out)
{
    const int actions = q->options.actions, dueling = q->options.is_dueling;
    *out = (struct orch_q_report){0};
    memset(q->gradients, 0, sizeof(float) * (size_t)(b->count * q->outputs));
    for (int64_t i = 0; i < b->count; i++) {
        const float value = q->values[i * actions + b->actions[i]];
        const float weight = (b->weights ? b->weights[i] : 1) / (float)b->count;
        double loss;
        out_errors[i] = q->targets[i] - value;
        const float g = -slope(q, out_errors[i], &loss) * weight;
        float *row = q->gradients + i * q->outputs;
        row[b->actions[i] + dueling] = g;
        if (dueling)
            row[0] = g;
        for (int a = 0; dueling && a < actions; a++)
            row[1 + a] -= g / (float)actions;
        out->loss += (double)weight * loss;
        out->mean_value += (double)value / (double)b->count;
    }
}

static bool prepare(struct orch_q_learner *q, const struct orch_q_batch *b, float *out_errors,
                    struct orch_q_report *out, bool *out_diverged, GError **error)
{
    make_room(q, b->count);
    *out_diverged = false;
    if (!make_targets(q, b, error) ||
        !values_of(q, q->online, b->states, b->count, true, q->values, error))
        return false;
    grade(q, b, out_errors, out);
    *out_diverged = !isfinite(out->loss);
    if (*out_diverged)
        orch_error_set(error, ORCH_ERROR_TRIAL, "try a smaller 'lr'",
                       "the loss of update %" G_GINT64_FORMAT " is not finite", q->updates + 1);
    return !*out_diverged;
}

bool orch_q_learner_follow(struct orch_q_learner *q, double alpha, GError **error)
{
    return !q->target || orch_q_net_blend(q->target, q->online, alpha, error);
}

bool orch_q_learner_train(struct orch_q_learner *q, const struct orch_q_batch *batch,
                          float *out_errors, struct orch_q_report *out, bool *out_diverged,
                          GError **error)
{
    if (!prepare(q, batch, out_errors, out, out_diverged, error) ||
        !orch_q_net_learn(q->online, q->gradients, q->options.rate, error))
        return false;
    q->updates++;
    return q->updates % MAX(q->options.target_period, 1) != 0 ||
           orch_q_learner_follow(q, q->options.target_blend, error);
}

bool orch_q_learner_gradients(struct orch_q_learner *q, const struct orch_q_batch *batch,
                              float *out_errors, float *out_gradients, struct orch_q_report *out,
                              bool *out_diverged, GError **error)
{
    return prepare(q, batch, out_errors, out, out_diverged, error) &&
           orch_q_net_gradients(q->online, q->gradients, out_gradients, error);
}
