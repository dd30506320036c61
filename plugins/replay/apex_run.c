/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learner's side. As many steps are taken from the actors as `train_every` allows for the
 * updates so far, so that runs with few and with many actors learn from the same number of samples
 * a step; actors that are faster wait for room in their rings, and a learner that is faster waits
 * for steps. */
#include "plugins/replay/apex_run.h"

#include "lib/base/error.h"
#include "plugins/common/actor/actor_pool.h"
#include "plugins/replay/learning_curve.h"

#include <math.h>

enum { RING_ROUNDS = 8, IDLE_US = 50, DEATHS_EVERY_US = 20000 };

/* A batch, and its states as the buffer has them. */
struct lot {
    struct orch_replay_batch raw;
    float *states, *next_states, *errors;
};

struct apex {
    struct replay_params p; /* envs: of all actors together */
    const struct orch_host *host;
    struct orch_env_kind kind;
    struct orch_actor_share *share;
    struct orch_actor_pool *pool;
    struct orch_replay *buffer;
    struct orch_q_learner *learner;
    struct orch_curve curve;
    struct lot lot;
    float *parameters;
    uint8_t *frame;
    int64_t envs; /* of an actor */
    int64_t step, updates, deaths_at_us;
    int64_t idle_us;                 /* the learner waits for steps */
    int64_t waiting_us, learning_us; /* of updates: sampling; everything */
    int64_t stale_steps, died;
    double stale_updates, largest_stale;
};

/* ---- making -----------------------------------------------------------------------------------
 */

/* The environment's shape: a program is asked for it by starting it once. */
static bool learn_kind(struct apex *a, GError **error)
{
    struct orch_envs_options options = orch_replay_settings_envs(&a->p, a->host);
    options.count = 1;
    struct orch_envs *envs = orch_envs_new(&options, error);
    if (!envs)
        return false;
    a->kind = *orch_envs_kind(envs);
    a->kind.name = a->kind.summary = a->kind.source = NULL; /* the program's go with it */
    orch_envs_free(envs);
    return true;
}

static bool make_share(struct apex *a, int64_t actors, GError **error)
{
    const struct replay_params *p = &a->p;
    struct orch_actor_setup setup = {
        .engine = orch_replay_settings_learner(p, &a->kind, a->host).net.engine,
        .is_dueling = p->dueling,
        .actors = actors,
        .envs = a->envs,
        .n_step = p->n_step,
        .learning_starts = p->learning_starts,
        .pull_every = p->pull_every,
        .gamma = p->discount,
        .sticky = p->sticky,
        .exploration = orch_replay_settings_exploration(p),
        .seed = a->host->derive_seed(a->host, "actors")};
    if (g_strlcpy(setup.environment, p->environment, sizeof setup.environment) >=
            sizeof setup.environment ||
        g_strlcpy(setup.program, p->program ? p->program : "", sizeof setup.program) >=
            sizeof setup.program ||
        g_strlcpy(setup.net, p->net, sizeof setup.net) >= sizeof setup.net) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "with actors, a program has at most %zu and a network %zu bytes",
                       sizeof setup.program - 1, sizeof setup.net - 1);
        return false;
    }
    const int64_t count = orch_q_net_count(orch_q_learner_net(a->learner));
    const int64_t frame = a->kind.observation_values * (a->kind.is_bytes ? 1 : 4);
    a->parameters = g_new(float, count);
    a->frame = g_malloc((size_t)frame);
    a->share = orch_actor_share_new(&setup, count, frame, RING_ROUNDS * a->envs, error);
    return a->share != NULL;
}

static void lot_init(struct apex *a)
{
    const size_t n = (size_t)a->p.batch, values = (size_t)a->kind.observation_values;
    struct lot *l = &a->lot;
    l->states = g_new(float, n *values);
    l->next_states = g_new(float, n *values);
    l->errors = g_new(float, n);
    l->raw = (struct orch_replay_batch){.states = g_malloc(n * values * sizeof(float)),
                                        .next_states = g_malloc(n * values * sizeof(float)),
                                        .actions = g_new(int32_t, n),
                                        .returns = g_new(float, n),
                                        .discounts = g_new(float, n),
                                        .weights = g_new(float, n),
                                        .places = g_new(int64_t, n)};
}

static bool apex_init(struct apex *a, GError **error)
{
    if (!learn_kind(a, error))
        return false;
    const struct orch_replay_options buffer = orch_replay_settings_buffer(&a->p, &a->kind, a->host);
    const struct orch_q_learner_options learner =
        orch_replay_settings_learner(&a->p, &a->kind, a->host);
    lot_init(a);
    return (a->buffer = orch_replay_new(&buffer, error)) &&
           (a->learner = orch_q_learner_new(&learner, error)) && make_share(a, a->p.actors, error);
}

static void apex_clear(struct apex *a)
{
    struct lot *l = &a->lot;
    void *arrays[] = {l->states,          l->next_states, l->errors,      l->raw.states,
                      l->raw.next_states, l->raw.actions, l->raw.returns, l->raw.discounts,
                      l->raw.weights,     l->raw.places,  a->parameters,  a->frame};
    orch_actor_pool_free(a->pool);
    orch_actor_share_free(a->share);
    orch_replay_free(a->buffer);
    orch_q_learner_free(a->learner);
    orch_curve_clear(&a->curve);
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
}

/* ---- taking steps from the actors -------------------------------------------------------------
 */

static bool store(struct apex *a, int64_t actor, const struct orch_actor_step *s, GError **error)
{
    const int lane = (int)(actor * a->envs + s->env);
    const uint8_t end = (uint8_t)s->end;
    const struct orch_replay_steps step = {.count = 1,
                                           .frames = a->frame,
                                           .actions = &s->action,
                                           .rewards = &s->reward,
                                           .ends = &end,
                                           .priorities = &s->priority};
    if (!orch_replay_add(a->buffer, lane, &step, error))
        return false;
    if (s->end == ORCH_REPLAY_FINAL)
        return true;
    a->step++;
    orch_curve_lane(&a->curve, a->step, lane, s->reward, end);
    if (s->version >= 0) {
        const double stale = (double)(a->updates - s->version);
        a->stale_steps++;
        a->stale_updates += stale;
        a->largest_stale = fmax(a->largest_stale, stale);
    }
    return true;
}

/* Steps that may have been taken before the next update. */
static int64_t allowed(const struct apex *a)
{
    return MIN(a->p.steps, a->p.learning_starts + a->p.batch + a->p.n_step * a->p.envs +
                               (a->updates + 1) * a->p.train_every);
}

/* Takes what is there, in turns, up to what is allowed. */
static bool take_steps(struct apex *a, int64_t *out_taken, GError **error)
{
    const int64_t before = a->step, most = allowed(a);
    bool is_empty = false;
    struct orch_actor_step step;
    while (!is_empty && a->step < most) {
        is_empty = true;
        for (int64_t i = 0; i < a->p.actors && a->step < most; i++)
            if (orch_actor_share_pop(a->share, i, &step, a->frame)) {
                is_empty = false;
                if (!store(a, i, &step, error))
                    return false;
            }
    }
    *out_taken = a->step - before;
    orch_actor_share_set_frames(a->share, a->step);
    return true;
}

/* Training goes on while one actor lives. */
static bool look_for_deaths(struct apex *a, GError **error)
{
    const int64_t now_us = g_get_monotonic_time();
    int64_t actor;
    char *how = NULL;
    if (now_us < a->deaths_at_us)
        return true;
    a->deaths_at_us = now_us + DEATHS_EVERY_US;
    while ((actor = orch_actor_pool_next_death(a->pool, &how)) >= 0) {
        g_autofree char *text =
            g_strdup_printf("actor %" G_GINT64_FORMAT " %s; training goes on with %" G_GINT64_FORMAT
                            " of %" G_GINT64_FORMAT,
                            actor, how, orch_actor_pool_alive(a->pool), a->p.actors);
        a->host->note(a->host, text);
        a->died++;
        g_free(how);
    }
    if (orch_actor_pool_alive(a->pool) > 0)
        return true;
    orch_error_set(error, ORCH_ERROR_TRIAL, "what they wrote to standard error may tell why",
                   "all %" G_GINT64_FORMAT " actors have ended", a->p.actors);
    return false;
}

/* ---- learning ---------------------------------------------------------------------------------
 */

static bool update(struct apex *a, bool *out_diverged, GError **error)
{
    struct lot *l = &a->lot;
    struct orch_q_report report;
    const int64_t n = a->p.batch, start_us = g_get_monotonic_time();
    const double beta = orch_replay_settings_beta(&a->p, MIN(a->step, a->p.steps));
    if (!orch_replay_sample(a->buffer, n, beta, &l->raw, error))
        return false;
    orch_env_planes(&a->kind, l->raw.states, n, l->states);
    orch_env_planes(&a->kind, l->raw.next_states, n, l->next_states);
    a->waiting_us += g_get_monotonic_time() - start_us;
    const struct orch_q_batch batch = {.count = n,
                                       .states = l->states,
                                       .next_states = l->next_states,
                                       .actions = l->raw.actions,
                                       .returns = l->raw.returns,
                                       .discounts = l->raw.discounts,
                                       .weights = l->raw.weights};
    orch_q_learner_rate_set(a->learner, orch_replay_settings_rate(&a->p, a->step));
    if (!orch_q_learner_train(a->learner, &batch, l->errors, &report, out_diverged, error) ||
        !orch_replay_update(a->buffer, l->raw.places, l->errors, n, error))
        return false;
    a->learning_us += g_get_monotonic_time() - start_us;
    a->updates++;
    orch_curve_update(&a->curve, report.loss, report.mean_value);
    return true;
}

static bool publish(struct apex *a, GError **error)
{
    if (!orch_q_net_get(orch_q_learner_net(a->learner), a->parameters, error))
        return false;
    orch_actor_share_publish(a->share, a->parameters, a->updates);
    return true;
}

static bool learn(struct apex *a, bool *out_diverged, GError **error)
{
    const int64_t before = a->updates;
    while (a->step >= a->p.learning_starts + (a->updates + 1) * a->p.train_every &&
           orch_replay_ready(a->buffer) >= a->p.batch)
        if (!update(a, out_diverged, error))
            return false;
    return a->updates == before || publish(a, error);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static double mean_epsilon(const struct apex *a)
{
    const struct orch_exploration e = orch_replay_settings_exploration(&a->p);
    double sum = 0;
    for (int64_t i = 0; i < a->p.envs; i++)
        sum += orch_exploration_epsilon(&e, a->step, i, a->p.envs);
    return sum / (double)a->p.envs;
}

static void report(const struct apex *a)
{
    const struct orch_host *host = a->host;
    const double time_s =
        orch_curve_finish_learner(&a->curve, a->step,
                                  &(struct orch_learner_counts){
                                      .updates = a->updates,
                                      .batch = a->p.batch,
                                      .learning_us = a->learning_us,
                                      .waiting_us = a->waiting_us,
                                      .buffer_bytes = orch_replay_bytes(a->buffer),
                                  });
    host->result(host, "actors_died", (double)a->died);
    host->result(host, "idle_share", (double)a->idle_us / 1e6 / time_s);
    if (a->stale_steps > 0) {
        host->result(host, "mean_staleness", a->stale_updates / (double)a->stale_steps);
        host->result(host, "max_staleness", a->largest_stale);
    }
}

/* One turn of the learner. Sets `*out_status` where training ends early. */
static bool turn(struct apex *a, int *out_status, GError **error)
{
    int64_t taken;
    bool diverged = false;
    *out_status = ORCH_FAILED;
    if (!take_steps(a, &taken, error))
        return false;
    const int64_t before = a->updates;
    if (!learn(a, &diverged, error)) {
        *out_status = diverged ? ORCH_DIVERGED : ORCH_FAILED;
        return false;
    }
    if (taken == 0 && a->updates == before) {
        g_usleep(IDLE_US);
        a->idle_us += IDLE_US;
    }
    return look_for_deaths(a, error);
}

static int train(struct apex *a, GError **error)
{
    int status = ORCH_OK;
    orch_curve_init(&a->curve, a->host, a->p.envs, a->p.steps, orch_replay_settings_solved(&a->p));
    a->host->phase(a->host, "training");
    while (a->step < a->p.steps) {
        if (a->host->cancelled(a->host))
            return ORCH_CANCELLED;
        if (!turn(a, &status, error))
            return status;
        orch_curve_point(&a->curve, a->step, mean_epsilon(a), a->step >= a->p.steps);
        a->host->progress(a->host, (double)a->step, (double)a->p.steps);
        if (a->p.stop_when_solved && orch_curve_is_solved(&a->curve))
            break;
    }
    report(a);
    return ORCH_OK;
}

int orch_apex_run(const struct replay_params *params, const struct orch_host *host, GError **error)
{
    struct apex a = {.p = *params, .host = host, .envs = params->envs};
    int status = ORCH_FAILED;
    a.p.envs *= a.p.actors;
    if (apex_init(&a, error) && publish(&a, error) &&
        (a.pool = orch_actor_pool_new(a.share, error)))
        status = train(&a, error);
    else if (error && g_error_matches(*error, ORCH_ERROR, ORCH_ERROR_PLUGIN))
        status = ORCH_SKIPPED; /* LibTorch or the actors' program is missing */
    apex_clear(&a);
    return status;
}
