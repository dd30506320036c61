/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engines behind q_net.h. */
#ifndef ORCH_PLUGINS_REPLAY_AGENT_Q_NET_PRIVATE_H
#define ORCH_PLUGINS_REPLAY_AGENT_Q_NET_PRIVATE_H

#include "lib/net/net.h"
#include "plugins/replay/agent/q_net.h"

/** Functions of an engine; meanings as in q_net.h. `self` is the engine's own. */
struct orch_q_engine_calls {
    void (*free)(void *self);
    bool (*forward)(void *self, const float *states, int64_t count, bool keep, const float **out,
                    GError **error);
    bool (*learn)(void *self, const float *gradients, double rate, GError **error);
    bool (*gradients)(void *self, const float *gradients, float *out, GError **error);
    bool (*get)(const void *self, float *out, GError **error);
    bool (*set)(void *self, const float *values, GError **error);
    bool (*blend)(void *self, const void *source, double alpha, GError **error);
    bool (*moments_get)(const void *self, float *out, int64_t *out_steps, GError **error);
    bool (*moments_set)(void *self, const float *moments, int64_t steps, GError **error);
};

extern const struct orch_q_engine_calls orch_q_plain_calls, orch_q_torch_calls;

/** Whether a network is what the plain engine computes: linear layers with ReLUs between. */
bool orch_q_plain_can(const struct orch_net *net);
/** `net` must outlive the engine. */
void *orch_q_plain_new(const struct orch_net *net, uint64_t seed);
void *orch_q_torch_new(const struct orch_net *net, const struct orch_q_net_options *options,
                       GError **error);

#endif
