/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No buffer: each step is learned from once, when it is made. The agent that deep Q-learning is
 * compared with. */
#include "plugins/replay/table_run.h"

#include "plugins/replay/agent/q_table.h"
#include "plugins/replay/learning_curve.h"
#include "plugins/replay/saved_training.h"

#include <math.h>
#include <string.h>

struct table_run {
    const struct replay_params *params;
    const struct orch_host *host;
    const struct orch_env_kind *kind;
    struct orch_exploration exploration;
    struct orch_envs *envs;
    struct orch_q_table table;
    struct orch_learning_curve curve;
    struct orch_saved saved;
    uint8_t *seen, *next, *finals; /* observations: one-hot */
    float *rewards;
    uint8_t *ends;
    int32_t *actions;
    uint64_t random;
    int64_t step;
    double epsilon; /* mean over the environments */
};

/* The state that a one-hot observation stands for. */
static int64_t state_of(const struct table_run *t, const uint8_t *observations, int64_t row)
{
    const uint8_t *values = observations + row * t->kind->states;
    const uint8_t *one = memchr(values, 1, (size_t)t->kind->states);
    return one ? one - values : 0;
}

static void choose(struct table_run *t)
{
    const int64_t n = t->params->envs;
    t->epsilon = 0;
    for (int64_t i = 0; i < n; i++) {
        const double epsilon = orch_exploration_epsilon(&t->exploration, t->step, i, n);
        t->actions[i] = orch_q_table_act(&t->table, state_of(t, t->seen, i), epsilon, &t->random);
        t->epsilon += epsilon / (double)n;
    }
}

static void learn(struct table_run *t)
{
    double loss = 0, value = 0;
    for (int64_t i = 0; i < t->params->envs; i++) {
        const int64_t state = state_of(t, t->seen, i);
        const int64_t after = state_of(t, t->ends[i] ? t->finals : t->next, i);
        const float error = orch_q_table_learn(&t->table, state, t->actions[i], t->rewards[i],
                                               after, t->ends[i] == ORCH_ENV_TERMINATED,
                                               t->params->table_rate, t->params->discount);
        loss += (double)error * (double)error / 2;
        value += (double)t->table.values[state * t->table.actions + t->actions[i]];
    }
    orch_learning_curve_update(&t->curve, loss / (double)t->params->envs,
                               value / (double)t->params->envs);
}

static bool iterate(struct table_run *t, GError **error)
{
    const struct orch_envs_result result = {
        .rewards = t->rewards, .ends = t->ends, .observations = t->next, .finals = t->finals};
    choose(t);
    if (!orch_envs_step(t->envs, t->actions, &result, error))
        return false;
    learn(t);
    memcpy(t->seen, t->next, (size_t)(t->params->envs * t->kind->states));
    t->step += t->params->envs;
    orch_learning_curve_step(&t->curve, t->step, t->rewards, t->ends);
    orch_learning_curve_point(&t->curve, t->step, t->epsilon, t->step >= t->params->steps);
    return true;
}

/* ---- checkpoints ------------------------------------------------------------------------------
 */

/* Returns the room of the environments' state. */
static void *list(struct table_run *t)
{
    struct orch_saved *s = &t->saved;
    const struct orch_q_table *table = &t->table;
    orch_saved_begin(s);
    orch_saved_field(s, "step", &t->step, sizeof t->step);
    orch_saved_field(s, "actions_random", &t->random, sizeof t->random);
    orch_saved_field(s, "observations", t->seen, (size_t)(t->params->envs * t->kind->states));
    orch_saved_field(s, "table", table->values,
                     (size_t)(table->states * table->actions) * sizeof *table->values);
    orch_learning_curve_list(&t->curve, s);
    return orch_saved_room(s, "environments", orch_envs_state_bytes(t->envs));
}

static bool save(struct table_run *t, GError **error)
{
    orch_learning_curve_stop(&t->curve);
    orch_envs_state_get(t->envs, list(t));
    const bool ok = orch_saved_write(&t->saved, t->step, NULL, error);
    orch_learning_curve_go_on(&t->curve);
    return ok;
}

static bool resume(struct table_run *t, GError **error)
{
    bool is_there;
    const void *envs = list(t);
    if (!orch_saved_read(&t->saved, NULL, &is_there, error))
        return false;
    if (!is_there)
        return orch_envs_reset(t->envs, t->seen, error);
    orch_envs_state_set(t->envs, envs);
    orch_learning_curve_resume(&t->curve);
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void report(const struct table_run *t)
{
    const struct orch_host *host = t->host;
    const double time_s = fmax((double)(g_get_monotonic_time() - t->curve.start_us) / 1e6, 1e-6);
    orch_learning_curve_finish(&t->curve, t->step);
    host->result(host, "updates", (double)t->step);
    host->result(host, "training_time", time_s);
    host->result(host, "frames_per_s", (double)t->step / time_s);
}

static int cancel(struct table_run *t)
{
    GError *error = NULL;
    if (!save(t, &error))
        orch_saved_note_failure(&t->saved, error);
    return ORCH_CANCELLED;
}

static int train(struct table_run *t, GError **error)
{
    const struct orch_host *host = t->host;
    if (!t->envs || !resume(t, error))
        return ORCH_FAILED;
    host->phase(host, "training");
    while (t->step < t->params->steps) {
        if (host->cancelled(host))
            return cancel(t);
        if (orch_saved_is_due(&t->saved) && !save(t, error))
            return ORCH_FAILED;
        if (!iterate(t, error))
            return ORCH_FAILED;
        if (t->params->stop_when_solved && orch_learning_curve_is_solved(&t->curve))
            break;
    }
    report(t);
    return ORCH_OK;
}

int orch_table_run(const struct replay_params *params, const struct orch_host *host, GError **error)
{
    const struct orch_envs_options options = orch_replay_settings_envs(params, host);
    const size_t n = (size_t)params->envs;
    struct table_run t = {.params = params,
                          .host = host,
                          .kind = options.kind,
                          .exploration = orch_replay_settings_exploration(params),
                          .envs = orch_envs_new(&options, error),
                          .random = host->derive_seed(host, "actions")};
    const size_t bytes = n * (size_t)t.kind->states;
    t.seen = g_malloc(3 * bytes);
    t.next = t.seen + bytes;
    t.finals = t.next + bytes;
    t.rewards = g_new(float, n);
    t.ends = g_new(uint8_t, n);
    t.actions = g_new(int32_t, n);
    orch_q_table_init(&t.table, t.kind->states, t.kind->actions);
    orch_learning_curve_init(&t.curve, host, params->envs, params->steps,
                             orch_replay_settings_solved(params));
    orch_saved_init(&t.saved, host, params->checkpoint_every);
    const int status = train(&t, error);
    orch_learning_curve_clear(&t.curve);
    orch_saved_clear(&t.saved);
    orch_q_table_clear(&t.table);
    orch_envs_free(t.envs);
    g_free(t.seen);
    g_free(t.rewards);
    g_free(t.ends);
    g_free(t.actions);
    return status;
}
