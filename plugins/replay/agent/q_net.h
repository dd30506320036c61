/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A network that values actions: states in, a number for each output out. Two engines have the same
 * interface. `plain` is a fully connected network in C, which needs no LibTorch and no time between
 * operations; `torch` trains any network of lib/net.
 *
 *     struct orch_q_net *net = orch_q_net_new(&options, &error);
 *     orch_q_net_forward(net, states, 64, true, &outputs, &error);
 *     ... gradients = d loss / d outputs ...
 *     orch_q_net_learn(net, gradients, 1e-3, &error);
 *
 * Parameters can be read and written as one vector of floats, in the order and layout of the
 * network's tensors in lib/net, whichever the engine: vectors of both engines are exchangeable.
 * A net is used by one thread at a time.
 */
#ifndef ORCH_PLUGINS_REPLAY_AGENT_Q_NET_H
#define ORCH_PLUGINS_REPLAY_AGENT_Q_NET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_q_engine {
    ORCH_Q_AUTO, /* plain for a fully connected network on a CPU, else torch */
    ORCH_Q_PLAIN,
    ORCH_Q_TORCH,
};

struct orch_q_net_options {
    const char *net;                 /* a network of lib/net: "mlp:128,128", "minatar-dqn" */
    int64_t channels, height, width; /* of a state */
    int64_t outputs;
    enum orch_q_engine engine;
    const char *device; /* "cpu", "cuda"; torch only */
    int threads;        /* of an operation of LibTorch; 0: as it is */
    uint64_t seed;      /* of the initial weights */
};

struct orch_q_net;

/** Makes a network with initial weights as lib/net says. Fails for a network that is unknown or
 * does not fit the input, and with engine plain for one that is not an MLP. Free with
 * orch_q_net_free. */
struct orch_q_net *orch_q_net_new(const struct orch_q_net_options *options, GError **error);
void orch_q_net_free(struct orch_q_net *net);

/** Trained parameters. */
int64_t orch_q_net_count(const struct orch_q_net *net);

/** Computes count x outputs values; `*out` is valid until the next call with this net. With `keep`
 * a call of orch_q_net_learn or orch_q_net_gradients may follow. */
bool orch_q_net_forward(struct orch_q_net *net, const float *states, int64_t count, bool keep,
                        const float **out, GError **error);
/** One step of Adam (betas 0.9, 0.999) with d loss / d outputs of the last kept forward. */
bool orch_q_net_learn(struct orch_q_net *net, const float *gradients, double rate, GError **error);
/** Writes the gradients of all parameters (orch_q_net_count) instead of learning from them. Engine
 * plain only. */
bool orch_q_net_gradients(struct orch_q_net *net, const float *gradients, float *out,
                          GError **error);

/** Copies the parameters out, and in. */
bool orch_q_net_get(const struct orch_q_net *net, float *out, GError **error);
bool orch_q_net_set(struct orch_q_net *net, const float *values, GError **error);
/** destination = (1 - alpha) destination + alpha source; 1 copies exactly. Both have one engine. */
bool orch_q_net_blend(struct orch_q_net *destination, const struct orch_q_net *source, double alpha,
                      GError **error);

/** State of the optimizer: 2 x orch_q_net_count values and the number of steps. */
bool orch_q_net_moments_get(const struct orch_q_net *net, float *out, int64_t *out_steps,
                            GError **error);
bool orch_q_net_moments_set(struct orch_q_net *net, const float *moments, int64_t steps,
                            GError **error);

#endif
