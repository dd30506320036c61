/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The algorithm of Mnih et al. 2015, for several environments at once: act, store, learn. Equal
 * seeds give equal results, because environments, buffer and learner take turns on one thread. */
#include "plugins/replay/dqn_run.h"

#include "lib/base/error.h"
#include "plugins/replay/learning_curve.h"

#include <math.h>
#include <string.h>

/* Arrays of one step of all environments. */
struct stage {
    void *observations, *next, *finals; /* as the environment has them: floats or bytes */
    float *states;                      /* observations as floats */
    float *rewards;
    uint8_t *ends;
    int32_t *actions;
    double *epsilons;
};

/* A batch, and its states as the buffer has them when these are bytes. */
struct lot {
    struct orch_replay_batch raw;
    float *states, *next_states, *errors;
};

struct orch_dqn {
    struct replay_params params;
    const struct orch_host *host;
    const struct orch_env_kind *kind;
    struct orch_exploration exploration;
    struct orch_envs *envs;
    struct orch_replay *buffer;
    struct orch_q_learner *learner;
    struct orch_curve curve;
    struct stage stage;
    struct lot lot;
    uint64_t random; /* of actions */
    int64_t step;    /* of all environments together */
    int64_t updates_due_at;
    int64_t waiting_us, learning_us; /* the learner's: sampling; everything */
    int64_t updates;
};

static size_t observation_bytes(const struct orch_dqn *d)
{
    return (size_t)d->kind->observation_values * (d->kind->is_bytes ? 1 : sizeof(float));
}

static void stage_init(struct orch_dqn *d)
{
    const size_t n = (size_t)d->params.envs;
    struct stage *s = &d->stage;
    s->observations = g_malloc(n * observation_bytes(d));
    s->next = g_malloc(n * observation_bytes(d));
    s->finals = g_malloc(n * observation_bytes(d));
    s->states = g_new(float, n *(size_t)d->kind->observation_values);
    s->rewards = g_new(float, n);
    s->ends = g_new(uint8_t, n);
    s->actions = g_new(int32_t, n);
    s->epsilons = g_new(double, n);
}

static void lot_init(struct orch_dqn *d)
{
    const size_t n = (size_t)d->params.batch, values = (size_t)d->kind->observation_values;
    struct lot *l = &d->lot;
    l->states = g_new(float, n *values);
    l->next_states = g_new(float, n *values);
    l->errors = g_new(float, n);
    const bool is_same = !d->kind->is_bytes && d->kind->shape[2] == 1;
    l->raw = (struct orch_replay_batch){
        .states = is_same ? (void *)l->states : g_malloc(n * observation_bytes(d)),
        .next_states = is_same ? (void *)l->next_states : g_malloc(n * observation_bytes(d)),
        .actions = g_new(int32_t, n),
        .returns = g_new(float, n),
        .discounts = g_new(float, n),
        .weights = g_new(float, n),
        .places = g_new(int64_t, n)};
}

static void stage_clear(struct stage *s)
{
    g_free(s->observations);
    g_free(s->next);
    g_free(s->finals);
    g_free(s->states);
    g_free(s->rewards);
    g_free(s->ends);
    g_free(s->actions);
    g_free(s->epsilons);
}

static void lot_clear(struct lot *l)
{
    if (l->raw.states != l->states)
        g_free(l->raw.states);
    if (l->raw.next_states != l->next_states)
        g_free(l->raw.next_states);
    g_free(l->states);
    g_free(l->next_states);
    g_free(l->errors);
    g_free(l->raw.actions);
    g_free(l->raw.returns);
    g_free(l->raw.discounts);
    g_free(l->raw.weights);
    g_free(l->raw.places);
}

struct orch_dqn *orch_dqn_new(const struct replay_params *params, const struct orch_host *host,
                              GError **error)
{
    struct orch_dqn *d = g_new0(struct orch_dqn, 1);
    d->params = *params;
    d->host = host;
    const struct orch_envs_options envs = orch_replay_settings_envs(params, host);
    d->envs = orch_envs_new(&envs, error);
    if (d->envs) {
        d->kind = orch_envs_kind(d->envs);
        d->exploration = orch_replay_settings_exploration(params);
        d->random = host->derive_seed(host, "actions");
        stage_init(d);
        lot_init(d);
        const struct orch_replay_options buffer =
            orch_replay_settings_buffer(params, d->kind, host);
        const struct orch_q_learner_options learner =
            orch_replay_settings_learner(params, d->kind, host);
        if ((d->buffer = orch_replay_new(&buffer, error)) &&
            (d->learner = orch_q_learner_new(&learner, error)))
            return d;
    }
    orch_dqn_free(d);
    return NULL;
}

void orch_dqn_free(struct orch_dqn *d)
{
    if (!d)
        return;
    orch_envs_free(d->envs);
    orch_replay_free(d->buffer);
    orch_q_learner_free(d->learner);
    orch_curve_clear(&d->curve);
    stage_clear(&d->stage);
    lot_clear(&d->lot);
    g_free(d);
}

/* Observations (height x width x channels) as the network's input (channels x height x width). */
static void to_floats(const struct orch_dqn *d, const void *from, int64_t count, float *to)
{
    const int64_t channels = d->kind->shape[2];
    const int64_t places = d->kind->observation_values / channels;
    const float *floats = from;
    const uint8_t *bytes = from;
    if (channels == 1) {
        if (!d->kind->is_bytes)
            memcpy(to, from, sizeof(float) * (size_t)(count * places));
        for (int64_t v = 0; d->kind->is_bytes && v < count * places; v++)
            to[v] = bytes[v];
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < places; p++)
            for (int64_t c = 0; c < channels; c++) {
                const int64_t at = (i * places + p) * channels + c;
                to[(i * channels + c) * places + p] = d->kind->is_bytes ? bytes[at] : floats[at];
            }
}

/* ---- act --------------------------------------------------------------------------------------
 */

/* Stores one step of each environment, and the last frame of an episode that was cut off. */
static bool store(struct orch_dqn *d, GError **error)
{
    const struct stage *s = &d->stage;
    const size_t bytes = observation_bytes(d);
    const int32_t no_action = 0;
    const float no_reward = 0;
    const uint8_t final = ORCH_REPLAY_FINAL;
    for (int64_t i = 0; i < d->params.envs; i++) {
        const struct orch_replay_steps step = {.count = 1,
                                               .frames =
                                                   (char *)s->observations + (size_t)i * bytes,
                                               .actions = s->actions + i,
                                               .rewards = s->rewards + i,
                                               .ends = s->ends + i};
        if (!orch_replay_add(d->buffer, (int)i, &step, error))
            return false;
        if (s->ends[i] != ORCH_ENV_TRUNCATED)
            continue;
        const struct orch_replay_steps last = {.count = 1,
                                               .frames = (char *)s->finals + (size_t)i * bytes,
                                               .actions = &no_action,
                                               .rewards = &no_reward,
                                               .ends = &final};
        if (!orch_replay_add(d->buffer, (int)i, &last, error))
            return false;
    }
    return true;
}

static bool act(struct orch_dqn *d, GError **error)
{
    struct stage *s = &d->stage;
    const int64_t n = d->params.envs;
    for (int64_t i = 0; i < n; i++)
        s->epsilons[i] = d->step < d->params.learning_starts
                             ? 1
                             : orch_exploration_epsilon(&d->exploration, d->step, i, n);
    to_floats(d, s->observations, n, s->states);
    const struct orch_envs_result result = {
        .rewards = s->rewards, .ends = s->ends, .observations = s->next, .finals = s->finals};
    if (!orch_q_learner_act(d->learner, s->states, n, s->epsilons, &d->random, s->actions, error) ||
        !orch_envs_step(d->envs, s->actions, &result, error) || !store(d, error))
        return false;
    void *swap = s->observations;
    s->observations = s->next;
    s->next = swap;
    d->step += n;
    orch_curve_step(&d->curve, d->step, s->rewards, s->ends);
    return true;
}

/* ---- learn ------------------------------------------------------------------------------------
 */

static bool sample(struct orch_dqn *d, GError **error)
{
    struct lot *l = &d->lot;
    const double beta = orch_replay_settings_beta(&d->params, MIN(d->step, d->params.steps));
    if (!orch_replay_sample(d->buffer, d->params.batch, beta, &l->raw, error))
        return false;
    if (l->raw.states != l->states) {
        to_floats(d, l->raw.states, d->params.batch, l->states);
        to_floats(d, l->raw.next_states, d->params.batch, l->next_states);
    }
    return true;
}

static bool update(struct orch_dqn *d, bool *out_diverged, GError **error)
{
    struct lot *l = &d->lot;
    const struct orch_q_batch batch = {.count = d->params.batch,
                                       .states = l->states,
                                       .next_states = l->next_states,
                                       .actions = l->raw.actions,
                                       .returns = l->raw.returns,
                                       .discounts = l->raw.discounts,
                                       .weights = l->raw.weights};
    struct orch_q_report report;
    const int64_t start_us = g_get_monotonic_time();
    if (!sample(d, error))
        return false;
    d->waiting_us += g_get_monotonic_time() - start_us;
    orch_q_learner_rate_set(d->learner, orch_replay_settings_rate(&d->params, d->step));
    if (!orch_q_learner_train(d->learner, &batch, l->errors, &report, out_diverged, error) ||
        !orch_replay_update(d->buffer, l->raw.places, l->errors, batch.count, error))
        return false;
    d->learning_us += g_get_monotonic_time() - start_us;
    d->updates++;
    orch_curve_update(&d->curve, report.loss, report.mean_value);
    return true;
}

/* One update for each train_every steps since learning began. */
static bool learn(struct orch_dqn *d, bool *out_diverged, GError **error)
{
    if (d->step < d->params.learning_starts || orch_replay_ready(d->buffer) < d->params.batch) {
        d->updates_due_at = d->step;
        return true;
    }
    for (; d->updates_due_at + d->params.train_every <= d->step;
         d->updates_due_at += d->params.train_every)
        if (!update(d, out_diverged, error))
            return false;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static double shown_epsilon(const struct orch_dqn *d)
{
    double sum = 0;
    for (int64_t i = 0; i < d->params.envs; i++)
        sum += d->stage.epsilons[i];
    return sum / (double)d->params.envs;
}

static void report(const struct orch_dqn *d)
{
    orch_curve_finish_learner(&d->curve, d->step,
                              &(struct orch_learner_counts){
                                  .updates = d->updates,
                                  .batch = d->params.batch,
                                  .learning_us = d->learning_us,
                                  .waiting_us = d->waiting_us,
                                  .buffer_bytes = orch_replay_bytes(d->buffer),
                              });
}

int orch_dqn_run(struct orch_dqn *d, GError **error)
{
    const struct orch_host *host = d->host;
    bool diverged = false;
    orch_curve_init(&d->curve, host, d->params.envs, d->params.steps,
                    orch_replay_settings_solved(&d->params));
    host->phase(host, "training");
    if (!orch_envs_reset(d->envs, d->stage.observations, error))
        return ORCH_FAILED;
    while (d->step < d->params.steps) {
        if (host->cancelled(host))
            return ORCH_CANCELLED;
        if (!act(d, error) || !learn(d, &diverged, error))
            return diverged ? ORCH_DIVERGED : ORCH_FAILED;
        orch_curve_point(&d->curve, d->step, shown_epsilon(d), d->step >= d->params.steps);
        host->progress(host, (double)d->step, (double)d->params.steps);
        if (d->params.stop_when_solved && orch_curve_is_solved(&d->curve))
            break;
    }
    report(d);
    return ORCH_OK;
}
