/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The torch engine: any network of lib/net on LibTorch. */
#include "plugins/common/torch/torch.h"
#include "plugins/replay/agent/q_net_private.h"

#include "lib/base/error.h"

struct torch_net {
    const struct orch_torch *torch;
    const struct orch_net *net;
    struct orch_torch_model *model;
    struct orch_torch_array output; /* of the last forward */
};

static void torch_free(void *self)
{
    struct torch_net *t = self;
    if (t && t->model)
        t->torch->model_free(t->model);
    g_free(t);
}

static bool prepare(struct torch_net *t, const struct orch_q_net_options *options, GError **error)
{
    const struct orch_torch_setup setup = {.device = options->device};
    const struct orch_torch_optimizer adam = {
        .method = ORCH_TORCH_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    if (!(t->torch = orch_torch_load(error)))
        return false;
    if (options->threads > 0)
        t->torch->threads_set(options->threads);
    t->model = t->torch->model_new(t->net, &setup, error);
    if (!t->model || !orch_torch_init(t->torch, t->model, t->net, options->seed, error))
        return false;
    if (t->torch->output_count(t->model) != 1) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "for example mlp:128,128",
                       "network '%s' has several outputs", t->net->name);
        return false;
    }
    return t->torch->optimizer_set(t->model, &adam, error);
}

void *orch_q_torch_new(const struct orch_net *net, const struct orch_q_net_options *options,
                       GError **error)
{
    struct torch_net *t = g_new0(struct torch_net, 1);
    t->net = net;
    if (prepare(t, options, error))
        return t;
    torch_free(t);
    return NULL;
}

static bool torch_forward(void *self, const float *states, int64_t count, bool keep,
                          const float **out, GError **error)
{
    struct torch_net *t = self;
    const struct orch_torch_batch batch = {
        .input = ORCH_TORCH_FLOAT, .images = states, .count = count};
    if (!t->torch->forward(t->model, &batch, keep ? ORCH_TORCH_TRAIN : ORCH_TORCH_INFER, false,
                           &t->output, error))
        return false;
    *out = t->output.data;
    return true;
}

static bool torch_learn(void *self, const float *gradients, double rate, GError **error)
{
    struct torch_net *t = self;
    struct orch_torch_array gradient = t->output;
    gradient.name = NULL;
    gradient.data = gradients;
    t->torch->rate_set(t->model, rate);
    return t->torch->backward(t->model, &gradient, 1, error) && t->torch->update(t->model, error);
}

static bool no_vectors(GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, "use a network 'mlp:...'",
                   "this network cannot give its gradients as one vector");
    return false;
}

static bool torch_gradients(void *self, const float *gradients, float *out, GError **error)
{
    (void)self;
    (void)gradients;
    (void)out;
    return no_vectors(error);
}

static bool torch_get(const void *self, float *out, GError **error)
{
    const struct torch_net *t = self;
    for (guint i = 0; i < t->net->tensors->len; out += orch_net_tensor(t->net, (int)i)->count, i++)
        if (!t->torch->tensor_get(t->model, i, out, error))
            return false;
    return true;
}

static bool torch_set(void *self, const float *values, GError **error)
{
    struct torch_net *t = self;
    for (guint i = 0; i < t->net->tensors->len;
         values += orch_net_tensor(t->net, (int)i)->count, i++)
        if (!t->torch->tensor_set(t->model, i, values, error))
            return false;
    return true;
}

static bool torch_blend(void *self, const void *source, double alpha, GError **error)
{
    struct torch_net *t = self;
    const struct torch_net *from = source;
    return t->torch->blend(t->model, from->model, alpha, error);
}

static bool torch_moments_get(const void *self, float *out, int64_t *out_steps, GError **error)
{
    const struct torch_net *t = self;
    for (int slot = 0; slot < 2; slot++)
        for (guint i = 0; i < t->net->tensors->len; i++) {
            bool is_set;
            if (!t->torch->slot_get(t->model, i, slot, out, &is_set, error))
                return false;
            const int64_t count = orch_net_tensor(t->net, (int)i)->count;
            for (int64_t v = 0; !is_set && v < count; v++)
                out[v] = 0;
            out += count;
        }
    *out_steps = t->torch->steps_get(t->model);
    return true;
}

static bool torch_moments_set(void *self, const float *moments, int64_t steps, GError **error)
{
    struct torch_net *t = self;
    for (int slot = 0; slot < 2; slot++)
        for (guint i = 0; i < t->net->tensors->len;
             moments += orch_net_tensor(t->net, (int)i)->count, i++)
            if (!t->torch->slot_set(t->model, i, slot, moments, error))
                return false;
    t->torch->steps_set(t->model, steps);
    return true;
}

const struct orch_q_engine_calls orch_q_torch_calls = {
    .free = torch_free,
    .forward = torch_forward,
    .learn = torch_learn,
    .gradients = torch_gradients,
    .get = torch_get,
    .set = torch_set,
    .blend = torch_blend,
    .moments_get = torch_moments_get,
    .moments_set = torch_moments_set,
};
