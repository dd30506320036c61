/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers that stand alone: listed in the recipe, or drawn from the trial's seed. */
#include "plugins/layerbench/units.h"

#include <math.h>
#include <string.h>

static const char *const *texts_of(const struct params *p)
{
    return p->layers.items;
}

bool orch_layerbench_check_list(const struct params *p, const struct orch_host *host)
{
    for (size_t i = 0; i < p->layers.count; i++) {
        g_autoptr(GError) error = NULL;
        struct orch_net_layer_spec spec;
        if (orch_net_layer_parse(texts_of(p)[i], &spec, &error))
            continue;
        g_autofree char *why = g_strdup_printf("layers, entry %zu: %s", i + 1, error->message);
        host->fail(host, why);
        return false;
    }
    return true;
}

/* Times a layer of its own, by default with net_batch images (units_given.c). */
static bool layerbench_spec(struct layerbench_bench *bench, const struct orch_net_layer_spec *spec,
                            GError **error)
{
    int first;
    int64_t batch = spec->batch ? spec->batch : bench->p->net_batch;
    struct orch_net *net = orch_net_layer_make(spec, &first, error);
    struct orch_torch_model *model = net ? orch_layerbench_model(bench, net, error) : NULL;
    bool ok = model && orch_layerbench_graph(bench, net, model, first, batch, true, error);
    if (model)
        bench->torch->model_free(model);
    orch_net_free(net);
    return ok;
}

/* Times layer `i` of `count`. */
static bool time_next(struct layerbench_bench *bench, int64_t i, GError **error)
{
    const struct params *p = bench->p;
    struct orch_net_layer_spec spec;
    if (p->layers.count ? !orch_net_layer_parse(texts_of(p)[i], &spec, error)
                        : !orch_layerbench_draw_spec(p, bench->host, i, &spec, error))
        return false;
    return layerbench_spec(bench, &spec, error);
}

static int time_all(struct layerbench_bench *bench, GError **error)
{
    const struct orch_host *host = bench->host;
    int64_t count = bench->p->layers.count ? (int64_t)bench->p->layers.count : bench->p->draws;
    if (host->smoke(host))
        count = MIN(count, 2);
    host->phase(host, "timing layers");
    for (int64_t i = 0; i < count; i++) {
        if (host->cancelled(host))
            return ORCH_CANCELLED;
        if (!time_next(bench, i, error))
            return ORCH_FAILED;
        host->progress(host, (double)(i + 1), (double)count);
    }
    return orch_layerbench_report(bench, (double)NAN, error) ? ORCH_OK : ORCH_FAILED;
}

int orch_layerbench_given(const struct orch_torch *torch, const struct params *p,
                          const char *device, const struct orch_host *host)
{
    g_autoptr(GError) error = NULL;
    struct layerbench_bench bench;
    orch_layerbench_bench_init(&bench, torch, p, device, host);
    bool ready = !p->peak || host->smoke(host) || orch_layerbench_measure_peak(&bench, &error);
    int status = ready ? time_all(&bench, &error) : ORCH_FAILED;
    if (status == ORCH_FAILED)
        host->fail(host, error->message);
    orch_layerbench_bench_clear(&bench);
    return status;
}
