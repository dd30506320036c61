/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/agent/q_net.h"

#include "lib/base/error.h"
#include "plugins/replay/agent/q_net_private.h"

#include <string.h>

struct orch_q_net {
    const struct orch_q_engine_calls *calls;
    struct orch_net *graph;
    void *engine;
};

/* The engine that runs a network, or NULL with an error. */
static const struct orch_q_engine_calls *choose(const struct orch_q_net_options *options,
                                                const struct orch_net *graph, GError **error)
{
    const bool can = orch_q_plain_can(graph), on_cpu = g_str_equal(options->device, "cpu");
    if (options->engine == ORCH_Q_PLAIN && !(can && on_cpu)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "use engine 'auto' or 'torch'",
                       "engine 'plain' computes only networks 'mlp:...' on 'cpu', not '%s' on '%s'",
                       options->net, options->device);
        return NULL;
    }
    return options->engine != ORCH_Q_TORCH && can && on_cpu ? &orch_q_plain_calls
                                                            : &orch_q_torch_calls;
}

struct orch_q_net *orch_q_net_new(const struct orch_q_net_options *options, GError **error)
{
    const struct orch_net_options shape = {.name = options->net,
                                           .channels = options->channels,
                                           .height = options->height,
                                           .width = options->width,
                                           .classes = options->outputs};
    struct orch_q_net *net = g_new0(struct orch_q_net, 1);
    net->graph = orch_net_make(&shape, error);
    if (net->graph && (net->calls = choose(options, net->graph, error)))
        net->engine = net->calls == &orch_q_plain_calls
                          ? orch_q_plain_new(net->graph, options->seed)
                          : orch_q_torch_new(net->graph, options, error);
    if (net->engine)
        return net;
    orch_q_net_free(net);
    return NULL;
}

void orch_q_net_free(struct orch_q_net *net)
{
    if (!net)
        return;
    if (net->engine)
        net->calls->free(net->engine);
    if (net->graph)
        orch_net_free(net->graph);
    g_free(net);
}

int64_t orch_q_net_count(const struct orch_q_net *net)
{
    int64_t count = 0;
    for (guint i = 0; i < net->graph->tensors->len; i++)
        count += orch_net_tensor(net->graph, (int)i)->count;
    return count;
}

bool orch_q_net_forward(struct orch_q_net *net, const float *states, int64_t count, bool keep,
                        const float **out, GError **error)
{
    return net->calls->forward(net->engine, states, count, keep, out, error);
}

bool orch_q_net_learn(struct orch_q_net *net, const float *gradients, double rate, GError **error)
{
    return net->calls->learn(net->engine, gradients, rate, error);
}

bool orch_q_net_gradients(struct orch_q_net *net, const float *gradients, float *out,
                          GError **error)
{
    return net->calls->gradients(net->engine, gradients, out, error);
}

bool orch_q_net_get(const struct orch_q_net *net, float *out, GError **error)
{
    return net->calls->get(net->engine, out, error);
}

bool orch_q_net_set(struct orch_q_net *net, const float *values, GError **error)
{
    return net->calls->set(net->engine, values, error);
}

bool orch_q_net_blend(struct orch_q_net *destination, const struct orch_q_net *source, double alpha,
                      GError **error)
{
    return destination->calls->blend(destination->engine, source->engine, alpha, error);
}

bool orch_q_net_moments_get(const struct orch_q_net *net, float *out, int64_t *out_steps,
                            GError **error)
{
    return net->calls->moments_get(net->engine, out, out_steps, error);
}

bool orch_q_net_moments_set(struct orch_q_net *net, const float *moments, int64_t steps,
                            GError **error)
{
    return net->calls->moments_set(net->engine, moments, steps, error);
}
