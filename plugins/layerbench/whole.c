/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times steps of a whole network on random images. */
#include "plugins/layerbench/units.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

#include <stdio.h>
#include <string.h>

enum { SMOKE_SIDE = 64 };

/* The same network with small images, if it can have them: of a VGG-16 a twelfth of the work. */
static struct orch_net *smaller(struct orch_net *net, struct orch_net_options options)
{
    options.height = options.width = SMOKE_SIDE;
    struct orch_net *small = net->input.h > SMOKE_SIDE && net->input.w > SMOKE_SIDE
                                 ? orch_net_make(&options, NULL)
                                 : NULL;
    if (!small)
        return net;
    orch_net_free(net);
    return small;
}

struct orch_net *orch_layerbench_make_net(const struct params *p, const struct orch_host *host)
{
    g_autoptr(GError) error = NULL;
    struct orch_net_options options = {.name = p->net, .classes = p->classes};
    if (*p->input && !orch_net_input_parse(p->input, &options)) {
        g_autofree char *why = g_strdup_printf("input '%s' is not CxHxW, e.g. 3x32x32", p->input);
        host->fail(host, why);
        return NULL;
    }
    struct orch_net *net = orch_net_make(&options, &error);
    if (net && orch_net_is_classifier(net))
        return host->smoke(host) && !*p->input ? smaller(net, options) : net;
    g_autofree char *why =
        net ? g_strdup_printf("network '%s' can only be counted, not run", p->net)
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

/* Adds `count` times to `times`, after the warm-up. */
static bool time_steps(const struct layerbench_bench *bench, struct orch_torch_model *model,
                       struct images *m, GArray *times, GError **error)
{
    const struct params *p = bench->p;
    for (int64_t i = 0; i < p->warmup + p->repeats; i++) {
        double begin = orch_layerbench_now_ms(p);
        if (!step(bench->torch, model, m, orch_layerbench_trains(p), error))
            return false;
        double ms = orch_layerbench_now_ms(p) - begin;
        if (i >= p->warmup)
            g_array_append_val(times, ms);
    }
    return true;
}

static void report_steps(const struct layerbench_bench *bench, const GArray *times)
{
    const struct orch_host *host = bench->host;
    struct layerbench_spread s =
        orch_layerbench_spread_of((double *)(void *)times->data, (int)times->len);
    host->result(host, "batch_time", s.median);
    host->result(host, "batch_time_min", s.least);
    host->result(host, "batch_time_max", s.most);
    if (bench->roofline_ms > 0) { /* false for NaN */
        host->result(host, "roofline_time", bench->roofline_ms);
        host->result(host, "ppp", bench->roofline_ms / s.median);
    }
}

/* Times the parts between two series of steps, so that a machine that becomes slower or faster
 * meanwhile changes both alike. */
static bool time_parts(struct layerbench_bench *bench, const struct orch_net *net,
                       struct orch_torch_model *model, GError **error)
{
    const struct orch_host *host = bench->host;
    int64_t batch = bench->p->net_batch;
    host->phase(host, "timing layers");
    if (bench->p->peak && !host->smoke(host) && !orch_layerbench_measure_peak(bench, error))
        return false;
    if (!orch_layerbench_graph(bench, net, model, 1, batch, false, error))
        return false;
    double others = 0;
    return orch_layerbench_other_parts(bench, net, model, batch, &others, error) &&
           orch_layerbench_report(bench, others, error);
}

static bool time_net(struct layerbench_bench *bench, const struct orch_net *net,
                     struct orch_torch_model *model, GError **error)
{
    const struct orch_host *host = bench->host;
    GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
    struct images images = make_images(net, bench->p->net_batch, host->derive_seed(host, "images"));
    host->phase(host, "timing steps");
    bool ok = time_steps(bench, model, &images, times, error) &&
              (!bench->p->by_layer || (time_parts(bench, net, model, error) &&
                                       time_steps(bench, model, &images, times, error)));
    if (ok)
        report_steps(bench, times);
    free_images(&images);
    g_array_unref(times);
    return ok;
}

int orch_layerbench_net(const struct orch_torch *torch, const struct params *p, const char *device,
                        const struct orch_host *host)
{
    g_autoptr(GError) error = NULL;
    struct orch_net *net = orch_layerbench_make_net(p, host);
    if (!net)
        return ORCH_FAILED;
    struct layerbench_bench bench;
    orch_layerbench_bench_init(&bench, torch, p, device, host);
    struct orch_torch_model *model = orch_layerbench_model(&bench, net, &error);
    bool ok = model && time_net(&bench, net, model, &error);
    if (!ok)
        host->fail(host, error->message);
    if (model)
        torch->model_free(model);
    orch_layerbench_bench_clear(&bench);
    orch_net_free(net);
    return ok ? ORCH_OK : ORCH_FAILED;
}
