/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analytical step time of measured configurations, which their measurements are compared with.
 */
#include "features/predict/step_tiers_private.h"

#include "lib/base/text.h"
#include "lib/net/open_net.h"

#include <math.h>
#include <string.h>

struct known_net {
    struct orch_net *net; /* NULL: not of the zoo */
    struct orch_net_cost *costs;
};

static void free_known_net(gpointer data)
{
    struct known_net *k = data;
    if (k->net)
        orch_net_free(k->net);
    g_free(k->costs);
    g_free(k);
}

static const struct known_net *net_of(struct orch_step_tiers *tiers, const char *name,
                                      const char *input)
{
    if (!tiers->nets)
        tiers->nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_known_net);
    g_autofree char *key = g_strdup_printf("%s %s", name, input);
    struct known_net *k = g_hash_table_lookup(tiers->nets, key);
    if (k)
        return k;
    k = g_new0(struct known_net, 1);
    k->net = orch_network_of_record(name, input, 0);
    k->costs = k->net ? orch_net_costs(k->net) : NULL;
    g_hash_table_insert(tiers->nets, g_steal_pointer(&key), k);
    return k;
}

bool orch_step_tiers_is_attention(struct orch_step_tiers *tiers, const struct orch_step_cell *cell)
{
    const struct known_net *k = net_of(tiers, cell->net, cell->input);
    return k->net && orch_net_is_attention(k->net);
}

bool orch_step_tiers_precision_of(const struct orch_trained *t,
                                  const struct orch_trained_cell *known,
                                  const struct orch_gpu_spec *gpu, enum orch_precision *out)
{
    const char *text = orch_trained_cell_value(t, known, "precision");
    enum orch_precision stored = ORCH_FP32;
    bool is_known = !*text || orch_precision_find(text, &stored);
    *out = gpu ? orch_precision_run(gpu, stored) : stored;
    return is_known;
}

void orch_step_tiers_use_peak(struct orch_prior *prior)
{
    prior->device.compute_share = prior->device.memory_share = 1;
    prior->device.launch_s = 0;
}

bool orch_step_tiers_cell_of(const struct orch_step_tiers *tiers, const struct orch_trained *t,
                             const struct orch_trained_cell *known, struct orch_step_cell *out)
{
    *out = (struct orch_step_cell){
        .gpu = orch_hardware_gpu(tiers->hardware, orch_trained_cell_value(t, known, "gpu"), NULL),
        .net = orch_trained_cell_value(t, known, "net"),
        .input = orch_trained_cell_value(t, known, "input"),
        .training = strcmp(orch_trained_cell_value(t, known, "mode"), "infer") != 0,
        .workers = 1};
    return orch_step_tiers_precision_of(t, known, out->gpu, &out->precision) && out->gpu &&
           orch_int_parse(orch_trained_cell_value(t, known, "batch"), &out->batch);
}

double orch_step_tiers_analytical(struct orch_step_tiers *tiers, const struct orch_step_cell *cell,
                                  enum orch_step_basis basis, double *out_host_share)
{
    const struct known_net *k = net_of(tiers, cell->net, cell->input);
    struct orch_prior prior;
    struct orch_prior_step step;
    struct orch_exchange exchange;
    static const struct orch_kernel_switches usual = {0}; /* no record says another way to run */
    struct orch_roofline_work work = {.batch = cell->batch,
                                      .element_bytes = orch_precision_bytes(cell->precision),
                                      .training = cell->training,
                                      .states_per_weight = 1};
    bool transfers = basis == ORCH_STEP_BASIS_TRANSFERRED;
    if (!k->net ||
        !orch_prior_for(cell->gpu, cell->precision, k->net, transfers ? &usual : NULL, &prior,
                        NULL) ||
        (transfers && !prior.is_transferred))
        return (double)NAN;
    if (cell->workers > 1)
        exchange = orch_time_question_exchange(&ORCH_TIME_QUESTION_NONE, cell->gpu, cell->workers);
    if (basis == ORCH_STEP_BASIS_PEAK)
        orch_step_tiers_use_peak(&prior);
    if (!orch_prior_predict(k->net, k->costs, &prior, &work, cell->workers > 1 ? &exchange : NULL,
                            NULL, &step, NULL))
        return (double)NAN;
    if (out_host_share)
        *out_host_share = step.own.host_share;
    return step.total_s.mid;
}

double orch_step_tiers_analytical_of(struct orch_step_tiers *tiers,
                                     const struct orch_trained_cell *known,
                                     enum orch_step_basis basis)
{
    struct orch_step_cell cell;
    return orch_step_tiers_cell_of(tiers, tiers->trained, known, &cell)
               ? orch_step_tiers_analytical(tiers, &cell, basis, NULL)
               : (double)NAN;
}

double orch_step_tiers_white(struct orch_step_tiers *tiers, guint at, bool transfers)
{
    const GPtrArray *known = tiers->trained->known;
    if (!tiers->whites)
        tiers->whites = g_new0(double, 2 * (size_t)known->len + 1);
    double *white = &tiers->whites[2 * (size_t)at + transfers];
    if (!isnan(*white) && !(*white > 0))
        *white = orch_step_tiers_analytical_of(tiers, known->pdata[at],
                                               transfers ? ORCH_STEP_BASIS_TRANSFERRED
                                                         : ORCH_STEP_BASIS_ROOFLINE);
    return *white;
}

bool orch_step_tiers_is_one_worker(const struct orch_trained *t,
                                   const struct orch_trained_cell *known)
{
    const char *workers = orch_trained_cell_value(t, known, "workers");
    return !*workers || strcmp(workers, "1") == 0;
}

bool orch_step_tiers_precision(const struct orch_step_tiers *tiers, const struct orch_net *net,
                               const struct orch_gpu_spec *gpu, enum orch_precision *out)
{
    const struct orch_trained *t = tiers->trained;
    int counts[2][ORCH_PRECISION_COUNT] = {
        {0}}; /* records of the network on any GPU; on this GPU */
    for (guint i = 0; t && i < t->known->len; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        enum orch_precision precision;
        if (!net || strcmp(orch_trained_cell_value(t, known, "net"), net->name) != 0 ||
            !*orch_trained_cell_value(t, known, "precision") ||
            !orch_step_tiers_precision_of(t, known, gpu, &precision) ||
            orch_gpu_peak(gpu, precision) <= 0)
            continue;
        bool is_here = g_ascii_strcasecmp(orch_trained_cell_value(t, known, "gpu"),
                                          orch_step_tiers_device_name(gpu)) == 0;
        counts[0][precision] += known->count;
        counts[1][precision] += is_here ? known->count : 0;
    }
    int best = 0;
    for (int here = 1; here >= 0; here--) {
        for (int i = 0; i < ORCH_PRECISION_COUNT; i++)
            best = counts[here][i] > counts[here][best] ? i : best;
        if (counts[here][best]) {
            *out = (enum orch_precision)best;
            return true;
        }
    }
    return false;
}
