/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila/gorila_steps.h"

#include "lib/base/random.h"

#include <math.h>

enum { WAIT_US = 50 };

struct orch_gorila_steps {
    struct orch_gorila_share *share;
    struct orch_actor_share *actors;
    const struct orch_gorila_setup *setup;
    struct orch_gorila_counts *counts;
    struct orch_replay *buffer;
    int64_t learner, lanes;
    double *returns; /* of each lane's episode */
    uint8_t *frame;
};

struct orch_gorila_steps *orch_gorila_steps_new(struct orch_gorila_share *share,
                                                struct orch_actor_share *actors, int64_t learner,
                                                GError **error)
{
    const struct orch_gorila_setup *setup = orch_gorila_share_setup(share);
    struct orch_gorila_steps *s = g_new0(struct orch_gorila_steps, 1);
    s->share = share;
    s->actors = actors;
    s->setup = setup;
    s->counts = orch_gorila_share_counts(share, learner);
    s->learner = learner;
    s->lanes = (setup->actors - learner + setup->learners - 1) / setup->learners * setup->envs;
    s->returns = g_new0(double, s->lanes);
    s->frame = g_malloc((size_t)orch_actor_share_frame_bytes(actors));
    const struct orch_replay_options options = {
        .capacity = setup->capacity / setup->learners,
        .lanes = (int)s->lanes,
        .frame_values = setup->channels * setup->height * setup->width,
        .is_bytes = setup->is_bytes,
        .stack = (int)setup->frames,
        .n_step = (int)setup->n_step,
        .gamma = setup->gamma,
        .sampling = ORCH_REPLAY_UNIFORM,
        .seed = orch_random_stream(setup->seed, (uint64_t)learner)};
    s->buffer = orch_replay_new(&options, error);
    if (s->buffer)
        return s;
    orch_gorila_steps_free(s);
    return NULL;
}

void orch_gorila_steps_free(struct orch_gorila_steps *s)
{
    if (!s)
        return;
    orch_replay_free(s->buffer);
    g_free(s->returns);
    g_free(s->frame);
    g_free(s);
}

/* The learner's share of the steps before the first gradient. */
static int64_t starts_of(const struct orch_gorila_setup *setup)
{
    return (setup->learning_starts + setup->learners - 1) / setup->learners;
}

static int64_t allowed(const struct orch_gorila_steps *s)
{
    const struct orch_gorila_setup *setup = s->setup;
    return starts_of(setup) + setup->batch + setup->n_step * s->lanes +
           (s->counts->gradients + 1) * setup->train_every;
}

bool orch_gorila_steps_suffice(const struct orch_gorila_steps *s)
{
    return s->counts->frames >=
               starts_of(s->setup) + (s->counts->gradients + 1) * s->setup->train_every &&
           orch_replay_ready(s->buffer) >= s->setup->batch;
}

/* Tells the server of an episode; waits while its ring is full, which the server empties. */
static void tell(struct orch_gorila_steps *s, int64_t step, double value)
{
    struct orch_gorila_episode *episode;
    while (!(episode = orch_gorila_share_reserve(s->share, ORCH_GORILA_EPISODES, s->learner))) {
        if (orch_actor_share_is_stopped(s->actors))
            return;
        g_usleep(WAIT_US);
    }
    *episode = (struct orch_gorila_episode){.step = step, .value = value};
    orch_gorila_share_commit(s->share, ORCH_GORILA_EPISODES, s->learner);
}

static void count(struct orch_gorila_steps *s, const struct orch_actor_step *step, int64_t lane,
                  int64_t number)
{
    struct orch_gorila_counts *c = s->counts;
    c->frames++;
    s->returns[lane] += (double)step->reward;
    if (step->end != ORCH_REPLAY_GOES_ON) {
        tell(s, number, s->returns[lane]);
        s->returns[lane] = 0;
    }
    if (step->version < 0)
        return;
    const double stale = (double)(orch_actor_share_updates(s->actors) - step->version);
    c->stale_steps++;
    c->stale_sum += stale;
    c->stale_most = fmax(c->stale_most, stale);
}

/* Stores a step of one of the learner's actors. */
static bool store(struct orch_gorila_steps *s, int64_t actor, const struct orch_actor_step *step,
                  GError **error)
{
    const int64_t lane = actor / s->setup->learners * s->setup->envs + step->env;
    const uint8_t end = (uint8_t)step->end;
    const struct orch_replay_steps one = {.count = 1,
                                          .frames = s->frame,
                                          .actions = &step->action,
                                          .rewards = &step->reward,
                                          .ends = &end};
    if (step->end != ORCH_REPLAY_FINAL) {
        const int64_t number = orch_gorila_share_claim(s->share);
        if (number == 0)
            return true; /* the training has all of its steps */
        count(s, step, lane, number);
    }
    return orch_replay_add(s->buffer, (int)lane, &one, error);
}

bool orch_gorila_steps_take(struct orch_gorila_steps *s, int64_t *out_taken, GError **error)
{
    const int64_t before = s->counts->frames, most = allowed(s);
    bool is_empty = false;
    struct orch_actor_step step;
    while (!is_empty && s->counts->frames < most && !orch_actor_share_is_stopped(s->actors)) {
        is_empty = true;
        for (int64_t i = s->learner; i < s->setup->actors && s->counts->frames < most;
             i += s->setup->learners)
            if (orch_actor_share_pop(s->actors, i, &step, s->frame)) {
                is_empty = false;
                if (!store(s, i, &step, error))
                    return false;
            }
    }
    *out_taken = s->counts->frames - before;
    return true;
}

bool orch_gorila_steps_draw(struct orch_gorila_steps *s, const struct orch_replay_batch *out,
                            GError **error)
{
    return orch_replay_sample(s->buffer, s->setup->batch, 0, out, error);
}

int64_t orch_gorila_steps_bytes(const struct orch_gorila_steps *s)
{
    return orch_replay_bytes(s->buffer);
}
