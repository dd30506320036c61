/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts from a declared cost, where nothing was measured. */
#include "core/cli/forecast.h"

#include "core/cli/nets.h"
#include "core/run/rows.h"
#include "lib/base/json.h"
#include "lib/net/cost.h"
#include "predictors/duration.h"
#include "predictors/prior.h"

#include <math.h>
#include <string.h>

/* What a trial does beside its steps (start, data, validation), as a spread of its time. */
#define BESIDE_STEPS 0.3
#define NETS_MAX 1000
#define NORMAL_90 1.6449 /* 90 % of a normal distribution lie within so many deviations */

struct forecast_untried {
    struct orch_hardware *hardware;
    bool hardware_is_read;
    GHashTable *nets; /* "name input classes" -> struct counted_net *, or NULL: unknown */
    char *why;
};

struct counted_net {
    struct orch_net *net;
    struct orch_net_cost *costs;
    double operations; /* forward, one image */
};

static void free_counted(gpointer data)
{
    struct counted_net *counted = data;
    if (!counted)
        return;
    orch_net_free(counted->net);
    g_free(counted->costs);
    g_free(counted);
}

struct forecast_untried *forecast_untried_new(void)
{
    struct forecast_untried *untried = g_new0(struct forecast_untried, 1);
    untried->nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_counted);
    return untried;
}

void forecast_untried_free(struct forecast_untried *untried)
{
    if (!untried)
        return;
    g_hash_table_unref(untried->nets);
    orch_hardware_free(untried->hardware);
    g_free(untried->why);
    g_free(untried);
}

const struct orch_hardware *forecast_hardware(struct forecast_untried *untried)
{
    if (!untried->hardware_is_read)
        untried->hardware = orch_hardware_load(NULL);
    untried->hardware_is_read = true;
    return untried->hardware;
}

/* ---- the work ----------------------------------------------------------------------------------
 */

/* A declared network of the zoo; files are not read for a forecast. */
static const struct counted_net *net_of(struct forecast_untried *untried, const json_t *cost)
{
    const char *name = orch_json_text(cost, "network", NULL);
    const char *input = orch_json_text(cost, "input", NULL);
    int64_t classes = orch_json_int(cost, "classes", 0);
    if (!name || strpbrk(name, "/.") || classes < 0 || classes > 1 << 24)
        return NULL;
    g_autofree char *key = g_strdup_printf("%s %s %d", name, input ? input : "", (int)classes);
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(untried->nets, key, NULL, &found))
        return found;
    if (g_hash_table_size(untried->nets) >= NETS_MAX)
        return NULL;
    struct orch_net_request request = {.name = name, .input = input, .classes = (int)classes};
    struct orch_net *net = orch_cli_net(&request, NULL);
    struct counted_net *counted = net ? g_new0(struct counted_net, 1) : NULL;
    if (counted) {
        counted->net = net;
        counted->costs = orch_net_costs(net);
        struct orch_net_cost sum = orch_net_cost_sum(net, counted->costs);
        counted->operations = (double)orch_net_operations(&sum, 2);
    }
    g_hash_table_insert(untried->nets, g_steal_pointer(&key), counted);
    return counted;
}

double forecast_work(struct forecast_untried *untried, const json_t *cost)
{
    const struct counted_net *counted = net_of(untried, cost);
    double epochs = orch_cost_number(cost, "epochs");
    double images = orch_cost_number(cost, "images") * (isnan(epochs) ? 1 : epochs);
    return images * (counted ? counted->operations * (orch_cost_is_training(cost) ? 3 : 1) : 1);
}

/* ---- the white box -----------------------------------------------------------------------------
 */

/* fp32 where convolutions go through tensor cores is tf32, as PyTorch does. */
static bool precision_of(const json_t *cost, const struct orch_gpu_spec *gpu,
                         enum orch_precision *out)
{
    const char *const *names = orch_precision_names();
    const char *wanted = orch_json_text(cost, "precision", "fp32");
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], wanted) != 0)
            continue;
        bool as_tf32 = i == ORCH_FP32 && orch_gpu_peak(gpu, ORCH_TF32) > 0;
        *out = as_tf32 ? ORCH_TF32 : (enum orch_precision)i;
        return true;
    }
    return false;
}

/* A step on `workers` GPUs, and what it is known by. */
static bool step_of(struct forecast_untried *untried, const json_t *cost,
                    const struct orch_gpu_spec *gpu, int64_t workers, struct orch_prior *prior,
                    struct orch_prior_step *out)
{
    const struct counted_net *counted = net_of(untried, cost);
    int64_t batch = orch_json_int(cost, "batch", 0);
    enum orch_precision precision;
    if (!counted || batch < 1 || batch > 1 << 24 || !precision_of(cost, gpu, &precision) ||
        !orch_prior_for(gpu, precision, prior, NULL))
        return false;
    orch_prior_transfer(gpu, precision, prior);
    const struct orch_link *link = orch_link_within(gpu);
    struct orch_roofline_work work = {.batch = batch,
                                      .element_bytes = orch_precision_bytes(precision),
                                      .training = orch_cost_is_training(cost),
                                      .states_per_weight = 1};
    struct orch_exchange exchange = {.scheme = ORCH_EXCHANGE_RING,
                                     .workers = workers,
                                     .bandwidth = link->gbit_s / 8 * 1e9 * 0.72,
                                     .latency_s = link->latency_us / 1e6,
                                     .node_workers = workers,
                                     .node_bandwidth = link->gbit_s / 8 * 1e9 * 0.72,
                                     .node_latency_s = link->latency_us / 1e6};
    return orch_prior_predict(counted->net, counted->costs, prior, &work, &exchange, NULL, out,
                              NULL) &&
           out->total_s > 0;
}

static int64_t workers_of(const json_t *cost)
{
    return CLAMP(orch_json_int(cost, "workers", 1), 1, 1 << 20);
}

static bool white_box(struct forecast_untried *untried, const json_t *cost,
                      const struct orch_gpu_spec *gpu, int64_t workers,
                      struct forecast_white_box *out)
{
    struct orch_prior prior;
    struct orch_prior_step step;
    double images = orch_cost_number(cost, "images"), epochs = orch_cost_number(cost, "epochs");
    if (!step_of(untried, cost, gpu, workers, &prior, &step))
        return false;
    double batch = (double)orch_json_int(cost, "batch", 1) * (double)workers;
    out->step_s = step.total_s;
    out->whole_s = ceil(images / batch) * (isnan(epochs) ? 1 : epochs) * step.total_s;
    out->spread = prior.error_90 / NORMAL_90;
    out->is_transferred = prior.is_transferred;
    return true;
}

bool forecast_white_box(struct forecast_untried *untried, const json_t *cost,
                        const struct orch_gpu_spec *gpu, struct forecast_white_box *out)
{
    return white_box(untried, cost, gpu, workers_of(cost), out);
}

bool forecast_untried(struct forecast_untried *untried, const struct forecast_question *question,
                      struct orch_forecast *out)
{
    const json_t *cost = question->cost;
    const struct orch_hardware *hardware = forecast_hardware(untried);
    const char *name = question->gpu ? question->gpu : "here";
    const struct orch_gpu_spec *gpu = hardware ? orch_hardware_gpu(hardware, name, NULL) : NULL;
    struct forecast_white_box box;
    int64_t workers = MAX(workers_of(cost), (int64_t)question->gpus);
    if (!gpu || !white_box(untried, cost, gpu, workers, &box) || !isfinite(box.whole_s))
        return false;
    struct orch_duration d = orch_duration_of_spread(box.whole_s, hypot(box.spread, BESIDE_STEPS));
    g_free(untried->why);
    untried->why = g_strdup_printf(
        "%s for %s: nothing of it ran here",
        box.is_transferred ? "a white box distilled from other GPUs" : "a roofline", gpu->name);
    *out = (struct orch_forecast){d.p5_s,
                                  d.p50_s,
                                  d.p95_s,
                                  box.is_transferred ? "transferred" : "prior",
                                  box.is_transferred ? "white box" : "roofline",
                                  untried->why};
    return true;
}
