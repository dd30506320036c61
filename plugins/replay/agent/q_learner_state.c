/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a resumed training needs of a learner: two counters, then the parameters of the online
 * network, those of the target network where there is one, and the moments of Adam. */
#include "plugins/replay/agent/q_learner.h"

#include <string.h>

struct counters {
    int64_t updates, adam_steps;
};

static int64_t count_of(struct orch_q_learner *q)
{
    return orch_q_net_count(orch_q_learner_net(q));
}

size_t orch_q_learner_state_bytes(struct orch_q_learner *q)
{
    const int64_t parts = orch_q_learner_target(q) ? 4 : 3;
    return sizeof(struct counters) + (size_t)(parts * count_of(q)) * sizeof(float);
}

bool orch_q_learner_state_get(struct orch_q_learner *q, void *out, GError **error)
{
    struct counters *counters = out;
    float *values = (float *)(counters + 1);
    struct orch_q_net *target = orch_q_learner_target(q);
    counters->updates = orch_q_learner_updates(q);
    return orch_q_net_get(orch_q_learner_net(q), values, error) &&
           (!target || orch_q_net_get(target, values += count_of(q), error)) &&
           orch_q_net_moments_get(orch_q_learner_net(q), values + count_of(q),
                                  &counters->adam_steps, error);
}

bool orch_q_learner_state_set(struct orch_q_learner *q, const void *state, GError **error)
{
    const struct counters *counters = state;
    const float *values = (const float *)(counters + 1);
    struct orch_q_net *target = orch_q_learner_target(q);
    orch_q_learner_updates_set(q, counters->updates);
    return orch_q_net_set(orch_q_learner_net(q), values, error) &&
           (!target || orch_q_net_set(target, values += count_of(q), error)) &&
           orch_q_net_moments_set(orch_q_learner_net(q), values + count_of(q), counters->adam_steps,
                                  error);
}
