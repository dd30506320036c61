/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times steps of a whole network on random images. */
#include "plugins/layerbench/layerbench.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

#include <stdio.h>
#include <string.h>

struct orch_net *orch_layerbench_make_net(const struct params *p, const struct orch_host *host)
{
    g_autoptr(GError) error = NULL;
    int c = 0, h = 0, w = 0;
    if (*p->input && (sscanf(p->input, "%dx%dx%d", &c, &h, &w) != 3 || c < 1 || h < 1 || w < 1)) {
        g_autofree char *why = g_strdup_printf("input '%s' is not CxHxW, e.g. 3x32x32", p->input);
        host->fail(host, why);
        return NULL;
    }
    struct orch_net_options options = {
        .name = p->net, .channels = c, .height = h, .width = w, .classes = p->classes};
    struct orch_net *net = orch_net_make(&options, &error);
    if (net && orch_net_is_classifier(net))
        return net;
    g_autofree char *why =
        net ? g_strdup_printf("network '%s' is counted only: it cannot be run", p->net)
            : g_strdup(error->message);
    host->fail(host, why);
    orch_net_free(net);
    return NULL;
}

struct images {
    struct orch_torch_batch batch;
    float *values;
    int64_t *labels;
    float *out; /* class scores, for forward passes only */
};

static struct images make_images(const struct orch_net *net, int64_t count, uint64_t seed)
{
    size_t values = (size_t)(count * net->input.c * net->input.h * net->input.w);
    struct images m = {.values = g_new(float, values),
                       .labels = g_new(int64_t, (size_t)count),
                       .out = g_new(float, (size_t)(count * net->classes))};
    GRand *random = g_rand_new_with_seed((guint32)seed);
    for (size_t i = 0; i < values; i++)
        m.values[i] = (float)g_rand_double_range(random, -1, 1);
    for (int64_t i = 0; i < count; i++)
        m.labels[i] = g_rand_int_range(random, 0, (gint32)net->classes);
    g_rand_free(random);
    m.batch = (struct orch_torch_batch){
        .input = ORCH_TORCH_FLOAT, .images = m.values, .labels = m.labels, .count = count};
    return m;
}

static void free_images(struct images *m)
{
    g_free(m->values);
    g_free(m->labels);
    g_free(m->out);
}

/* Runs one step and waits for the device. */
static bool step(const struct orch_torch *torch, struct orch_torch_model *model, struct images *m,
                 bool trains, GError **error)
{
    struct orch_torch_totals totals;
    if (!trains)
        return torch->logits(model, &m->batch, m->out, error);
    return torch->train(model, &m->batch, error) && torch->totals_take(model, &totals, error);
}

static bool time_steps(const struct orch_torch *torch, struct orch_torch_model *model,
                       struct images *m, const struct params *p, double *times, GError **error)
{
    bool trains = strcmp(p->optimizer, "none") != 0;
    for (int64_t i = 0; i < p->warmup + p->repeats; i++) {
        int64_t begin = g_get_monotonic_time();
        if (!step(torch, model, m, trains, error))
            return false;
        if (i >= p->warmup)
            times[i - p->warmup] = (double)(g_get_monotonic_time() - begin) / 1e3;
    }
    return true;
}

static struct orch_torch_model *make_model(const struct orch_torch *torch,
                                           const struct orch_net *net, const struct params *p,
                                           const char *device, uint64_t seed, GError **error)
{
    struct orch_torch_setup setup = {.device = device};
    struct orch_torch_optimizer optimizer = {
        .method = strcmp(p->optimizer, "adam") == 0 ? ORCH_TORCH_ADAM : ORCH_TORCH_SGD,
        .momentum = strcmp(p->optimizer, "momentum") == 0 ? 0.9 : 0,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8};
    struct orch_torch_model *model = torch->model_new(net, &setup, error);
    if (model && orch_torch_init(torch, model, net, seed, error) &&
        torch->optimizer_set(model, &optimizer, error)) {
        torch->rate_set(model, 1e-6);
        return model;
    }
    if (model)
        torch->model_free(model);
    return NULL;
}

int orch_layerbench_net(const struct orch_torch *torch, const struct params *p, const char *device,
                        const struct orch_host *host)
{
    g_autoptr(GError) error = NULL;
    struct orch_net *net = orch_layerbench_make_net(p, host);
    if (!net)
        return ORCH_FAILED;
    host->phase(host, "timing steps");
    g_autofree double *times = g_new0(double, p->repeats);
    struct images images = make_images(net, p->net_batch, host->derive_seed(host, "images"));
    struct orch_torch_model *model =
        make_model(torch, net, p, device, host->derive_seed(host, "init"), &error);
    bool ok = model && time_steps(torch, model, &images, p, times, &error);
    if (ok) {
        struct layerbench_spread s = orch_layerbench_spread_of(times, (int)p->repeats);
        host->result(host, "batch_time", s.median);
        host->result(host, "batch_time_min", s.least);
        host->result(host, "batch_time_max", s.most);
        ok = !p->by_layer || orch_layerbench_by_layer(torch, net, p, device, host, &error);
    }
    if (!ok)
        host->fail(host, error->message);
    if (model)
        torch->model_free(model);
    free_images(&images);
    orch_net_free(net);
    return ok ? ORCH_OK : ORCH_FAILED;
}
