/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints of Ape-X's learner. Actors have none: a later attempt's actors begin new episodes,
 * and the steps that were under way to the learner are lost. */
#include "plugins/replay/apex_private.h"

/* Returns the room of the learner's state. */
static void *list(struct apex *a)
{
    struct orch_saved *s = &a->saved;
    orch_saved_begin(s);
    orch_saved_field(s, "step", &a->step, sizeof a->step);
    orch_saved_field(s, "updates", &a->updates, sizeof a->updates);
    orch_saved_field(s, "idle_us", &a->idle_us, sizeof a->idle_us);
    orch_saved_field(s, "waiting_us", &a->waiting_us, sizeof a->waiting_us);
    orch_saved_field(s, "learning_us", &a->learning_us, sizeof a->learning_us);
    orch_saved_field(s, "stale_steps", &a->stale_steps, sizeof a->stale_steps);
    orch_saved_field(s, "stale_updates", &a->stale_updates, sizeof a->stale_updates);
    orch_saved_field(s, "largest_stale", &a->largest_stale, sizeof a->largest_stale);
    orch_saved_field(s, "actors_died", &a->died, sizeof a->died);
    orch_learning_curve_list(&a->curve, s);
    return orch_saved_room(s, "learner", orch_q_learner_state_bytes(a->learner));
}

bool orch_apex_save(struct apex *a, GError **error)
{
    orch_learning_curve_stop(&a->curve);
    const bool ok = orch_q_learner_state_get(a->learner, list(a), error) &&
                    orch_saved_write(&a->saved, a->step, a->buffer, error);
    orch_learning_curve_go_on(&a->curve);
    return ok;
}

bool orch_apex_resume(struct apex *a, GError **error)
{
    bool is_there;
    const void *learner = list(a);
    if (!orch_saved_read(&a->saved, a->buffer, &is_there, error))
        return false;
    if (!is_there)
        return true;
    for (int64_t i = 0; i < a->p.envs; i++)
        orch_replay_cut(a->buffer, (int)i);
    orch_learning_curve_resume(&a->curve);
    orch_learning_curve_cut(&a->curve);
    return orch_q_learner_state_set(a->learner, learner, error);
}
