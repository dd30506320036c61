/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO's step of data-parallel training: all layers, the update, the gradient exchange. */
#include "predictors/paleo/paleo.h"

#include "lib/base/error.h"

#include <math.h>

#define BATCH_MAX INT64_C(1000000000)
#define WORKERS_MAX INT64_C(1000000)

struct orch_paleo_options orch_paleo_defaults(void)
{
    return (struct orch_paleo_options){
        .device = *orch_paleo_device_find("K80", NULL),
        .network = *orch_paleo_network_find("ethernet20", NULL),
        .ppp_comp = 0.62,
        .ppp_comm = 0.72,
        .batch = 128,
        .scaling = ORCH_PALEO_WEAK,
        .scheme = ORCH_PALEO_TREE_ALL_REDUCE,
    };
}

static bool check_whole(const char *what, int64_t value, int64_t most, const char *hint,
                        GError **error)
{
    if (value >= 1 && value <= most)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "%s is %" G_GINT64_FORMAT ", expected 1 to %" G_GINT64_FORMAT, what, value,
                   most);
    return false;
}

static bool check_share(const char *option, double value, GError **error)
{
    if (value > 0 && value <= 1)
        return true;
    g_autofree char *hint =
        g_strdup_printf("give the reached share of the peak speed, for example %s 0.62", option);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s is %g, expected above 0 and at most 1",
                   option, value);
    return false;
}

static bool check_positive(const char *what, const char *name, double value, GError **error)
{
    if (value > 0 && isfinite(value))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "give a number above 0, or another device or link",
                   "%s of '%s' is %g, expected a number above 0", what, name ? name : "", value);
    return false;
}

bool orch_paleo_check(const struct orch_paleo_options *options, int64_t workers, GError **error)
{
    const struct orch_paleo_device *device = &options->device;
    return check_whole("batch", options->batch, BATCH_MAX, "for example --batch 128", error) &&
           check_whole("number of workers", workers, WORKERS_MAX, "for example --workers 1,2,4,8",
                       error) &&
           check_share("--ppp-comp", options->ppp_comp, error) &&
           check_share("--ppp-comm", options->ppp_comm, error) &&
           check_positive("clock (MHz)", device->name, device->clock_mhz, error) &&
           check_positive("peak (GFLOP/s)", device->name, device->peak_gflops, error) &&
           check_positive("memory bandwidth (GiB/s)", device->name, device->bandwidth_gib_s,
                          error) &&
           check_positive("bandwidth (Gbit/s)", options->network.name, options->network.gbit_s,
                          error);
}

double orch_paleo_network_ms(double gbit_s, double ppp, double bytes)
{
    return 1000 * bytes / (gbit_s / 8 * 1e9) / ppp;
}

/* ceil(log2 n) */
static int rounds(int64_t workers)
{
    int count = 0;
    while ((INT64_C(1) << count) < workers)
        count++;
    return count;
}

double orch_paleo_comm_ms(enum orch_paleo_scheme scheme, double gbit_s, double ppp, int64_t workers,
                          double bytes)
{
    switch (scheme) {
    case ORCH_PALEO_ONE_TO_ALL:
        return 2 * orch_paleo_network_ms(gbit_s, ppp, bytes * (double)(workers - 1));
    case ORCH_PALEO_TREE_ALL_REDUCE:
        return 2 * rounds(workers) * orch_paleo_network_ms(gbit_s, ppp, bytes);
    case ORCH_PALEO_BUTTERFLY_ALL_REDUCE:
        return rounds(workers) * orch_paleo_network_ms(gbit_s, ppp, bytes);
    case ORCH_PALEO_BUTTERFLY_MIXING:
        return orch_paleo_network_ms(gbit_s, ppp, bytes);
    }
    g_assert_not_reached();
}

struct orch_paleo_pass orch_paleo_pass(const struct orch_layer_table *table,
                                       const struct orch_paleo_options *options, int64_t batch)
{
    struct orch_paleo_pass pass = {.batch = batch};
    for (int i = 0; i < orch_layer_count(table); i++) {
        struct orch_paleo_layer_time time =
            orch_paleo_layer(orch_layer_at(table, i), options, batch);
        pass.fwd_ms += time.fwd_ms;
        pass.bwd_ms += time.bwd_ms;
        pass.fwd_flops += time.fwd.flops;
        pass.bwd_flops += time.bwd_data.flops + time.bwd_filter.flops;
    }
    pass.params_bytes = 4.0 * (double)orch_layer_table_params(table);
    pass.update_ms = orch_paleo_update_ms(&options->device, pass.params_bytes, options->pipeline);
    return pass;
}

int64_t orch_paleo_worker_batch(const struct orch_paleo_options *options, int64_t workers)
{
    if (options->scaling == ORCH_PALEO_WEAK)
        return options->batch;
    return (options->batch + workers - 1) / workers;
}

/* Computes a step from the pass with its worker's batch. */
static struct orch_paleo_step step_of(const struct orch_paleo_pass *pass,
                                      const struct orch_paleo_options *options, int64_t workers)
{
    struct orch_paleo_step step = {
        .workers = workers,
        .worker_batch = pass->batch,
        .effective_batch =
            options->scaling == ORCH_PALEO_WEAK ? options->batch * workers : options->batch,
        .params_bytes = pass->params_bytes,
        .fwd_ms = pass->fwd_ms,
        .bwd_ms = pass->bwd_ms,
        .update_ms = pass->update_ms,
        .comp_ms = pass->fwd_ms + pass->bwd_ms + pass->update_ms,
        .comm_ms = orch_paleo_comm_ms(options->scheme, options->network.gbit_s, options->ppp_comm,
                                      workers, pass->params_bytes),
    };
    step.total_ms = step.comp_ms + step.comm_ms;
    step.images_per_s = 1000 * (double)step.effective_batch / step.total_ms;
    return step;
}

bool orch_paleo_simulate(const struct orch_layer_table *table,
                         const struct orch_paleo_options *options, int64_t workers,
                         struct orch_paleo_step *out, GError **error)
{
    if (!orch_paleo_check(options, workers, error))
        return false;
    struct orch_paleo_pass pass =
        orch_paleo_pass(table, options, orch_paleo_worker_batch(options, workers));
    *out = step_of(&pass, options, workers);
    return true;
}
