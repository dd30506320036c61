/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints of the agent in one process. A training that goes on from one gives the same figures
 * as one that was never interrupted; programs as environments begin new episodes instead. */
#include "plugins/replay/dqn_private.h"

/* The parts that have a state of their own, as rooms of the checkpoint. */
struct rooms {
    void *learner, *envs;
};

static struct rooms list(struct orch_dqn *d)
{
    struct orch_saved *s = &d->saved;
    orch_saved_begin(s);
    orch_saved_field(s, "step", &d->step, sizeof d->step);
    orch_saved_field(s, "updates", &d->updates, sizeof d->updates);
    orch_saved_field(s, "updates_due_at", &d->updates_due_at, sizeof d->updates_due_at);
    orch_saved_field(s, "waiting_us", &d->waiting_us, sizeof d->waiting_us);
    orch_saved_field(s, "learning_us", &d->learning_us, sizeof d->learning_us);
    orch_saved_field(s, "actions_random", &d->random, sizeof d->random);
    orch_saved_field(s, "observations", d->stage.observations, orch_dqn_stage_bytes(d));
    orch_saved_field(s, "frame_stack", d->frames.states, orch_frame_stack_bytes(&d->frames));
    orch_learning_curve_list(&d->curve, s);
    return (struct rooms){
        .learner = orch_saved_room(s, "learner", orch_q_learner_state_bytes(d->learner)),
        .envs = orch_saved_room(s, "environments", orch_envs_state_bytes(d->envs)),
    };
}

bool orch_dqn_save(struct orch_dqn *d, GError **error)
{
    orch_learning_curve_stop(&d->curve);
    const struct rooms rooms = list(d);
    orch_envs_state_get(d->envs, rooms.envs);
    const bool ok = orch_q_learner_state_get(d->learner, rooms.learner, error) &&
                    orch_saved_write(&d->saved, d->step, d->buffer, error);
    orch_learning_curve_go_on(&d->curve);
    return ok;
}

static bool begin_episodes(struct orch_dqn *d, GError **error)
{
    if (!orch_envs_reset(d->envs, d->stage.observations, error))
        return false;
    orch_frame_stack_begin_all(&d->frames, d->stage.observations);
    return true;
}

/* Episodes of programs cannot go on. */
static bool begin_other_episodes(struct orch_dqn *d, GError **error)
{
    for (int64_t i = 0; i < d->params.envs; i++)
        orch_replay_cut(d->buffer, (int)i);
    orch_learning_curve_cut(&d->curve);
    return begin_episodes(d, error);
}

bool orch_dqn_resume(struct orch_dqn *d, GError **error)
{
    bool is_there;
    const struct rooms rooms = list(d);
    if (!orch_saved_read(&d->saved, d->buffer, &is_there, error))
        return false;
    if (!is_there)
        return begin_episodes(d, error);
    orch_envs_state_set(d->envs, rooms.envs);
    orch_learning_curve_resume(&d->curve);
    return orch_q_learner_state_set(d->learner, rooms.learner, error) &&
           (!orch_envs_are_programs(d->envs) || begin_other_episodes(d, error));
}
