/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of other batches, networks or GPUs scale the analytical model. */
#include "features/predict/step_tiers_private.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* n configurations of other networks on other GPUs get weight n / (n + this) */
#define OTHER_RUNS_PULL 2.0
/* From public measurements with leave-one-chip-out validation (bench/distil.py --shifts): 90 %
 * quantiles of abs(log(measured / predicted)) after scaling by a run of the same network on this
 * GPU (at another batch or in another framework) or on another GPU, and the weight of the latter
 * that minimises that error. */
#define SAME_NET_ERROR 0.31
#define OTHER_GPU_ERROR 0.43
#define OTHER_GPU_WEIGHT 0.38

/* Runs on a processor say nothing about a GPU. */
static bool is_processor(const struct orch_step_tiers *tiers, const struct orch_trained_cell *known)
{
    const struct orch_gpu_spec *spec = orch_hardware_gpu(
        tiers->hardware, orch_trained_cell_value(tiers->trained, known, "gpu"), NULL);
    return spec && spec->unit == ORCH_GPU_HOST;
}

static bool is_same_precision(const struct orch_trained *t, const struct orch_trained_cell *known,
                              const struct orch_step_answer *a)
{
    enum orch_precision is;
    return !*orch_trained_cell_value(t, known, "precision") ||
           (orch_step_tiers_precision_of(t, known, a->c->gpu, &is) && is == a->c->precision);
}

/* Sum of log(measured / analytical) over the measured configurations. */
struct shift {
    double sum;
    int count, run_here; /* configurations, and how many of them have runs in the store */
};

static void add_shift(struct shift *s, double log_ratio, const struct orch_trained_cell *known)
{
    s->sum += log_ratio;
    s->count++;
    s->run_here += known->runs > 0;
}

/* "3 settings run here", "2 settings of data sets". */
static char *shift_text(const struct shift *s)
{
    const char *plural = orch_plural(s->count);
    if (s->run_here == s->count)
        return g_strdup_printf("%d setting%s run here", s->count, plural);
    if (!s->run_here)
        return g_strdup_printf("%d setting%s of data sets", s->count, plural);
    return g_strdup_printf("%d setting%s (%d run here, %d of data sets)", s->count, plural,
                           s->run_here, s->count - s->run_here);
}

void orch_step_tiers_shift(struct orch_step_tiers *tiers, struct orch_step_answer *a)
{
    struct orch_prior *prior = &a->prior;
    const struct orch_trained *t = tiers->trained;
    struct shift own = {0}, net = {0}, gpu = {0}, any = {0};
    bool is_host = a->c->gpu->unit == ORCH_GPU_HOST;
    g_autofree char *mode = orch_step_tiers_value(t, a, "mode");
    for (guint i = 0; t && i < t->known->len && i < 2000; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        bool same_gpu = g_ascii_strcasecmp(orch_trained_cell_value(t, known, "gpu"),
                                           orch_step_tiers_device_name(a->c->gpu)) == 0;
        bool same_net = strcmp(orch_trained_cell_value(t, known, "net"), a->q->net->name) == 0;
        const char *is = orch_trained_cell_value(t, known, "mode");
        if (!orch_step_tiers_is_one_worker(t, known) || (*is && strcmp(is, mode) != 0) ||
            (!same_gpu && (is_host || is_processor(tiers, known))))
            continue;
        double white = orch_step_tiers_white(tiers, i, prior->is_transferred);
        if (!(white > 0))
            continue;
        double ratio = log(known->time.mid / 1e3 / white);
        add_shift(&any, ratio, known);
        if (same_net && same_gpu && is_same_precision(t, known, a))
            add_shift(&own, ratio, known);
        if (same_net)
            add_shift(&net, ratio, known);
        if (same_gpu)
            add_shift(&gpu, ratio, known);
    }
    const struct shift *best = own.count ? &own : net.count ? &net : gpu.count ? &gpu : &any;
    if (!best->count)
        return;
    bool borrowed = best == &net && prior->is_transferred && !a->q->calibrate;
    bool is_ruled = best == &gpu && prior->is_transferred && !prior->is_by_kernels &&
                    !a->q->calibrate && !orch_net_is_sequence(a->q->net);
    double weight = is_ruled       ? orch_transfer_error_weight(&prior->error, gpu.count)
                    : best == &any ? any.count / (any.count + OTHER_RUNS_PULL)
                    : borrowed     ? OTHER_GPU_WEIGHT
                                   : 1;
    prior->shift = exp(weight * best->sum / best->count);
    prior->is_host_measured = best->run_here > 0;
    if (best == &own && prior->is_transferred)
        prior->error_90 = MIN(prior->error_90, SAME_NET_ERROR);
    if (is_ruled)
        prior->error_90 = orch_transfer_error_half(&prior->error, gpu.count);
    if (best == &net && prior->is_transferred && !borrowed)
        prior->error_90 = MAX(prior->error_90, OTHER_GPU_ERROR);
    g_autofree char *what = shift_text(best);
    a->why = g_strdup_printf("scaled by %.2f, from %s %s (PPP %.2f)", prior->shift, what,
                             best == &own   ? "with this network on this GPU"
                             : best == &net ? "with this network"
                             : best == &gpu ? "on this GPU"
                                            : "on other GPUs with other networks",
                             exp(-best->sum / best->count));
}
