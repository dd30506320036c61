/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Platform percent of peak from the store's runs. */
#include "features/predict/step_tiers_private.h"

#include "lib/base/error.h"

#include <string.h>

static bool is_workload_of(const struct orch_step_tiers *tiers,
                           const struct orch_trained_cell *known, const struct orch_gpu_spec *gpu,
                           enum orch_precision precision)
{
    const struct orch_trained *t = tiers->trained;
    enum orch_precision is;
    const char *name = orch_trained_cell_value(t, known, "gpu");
    const struct orch_gpu_spec *on = orch_hardware_gpu(tiers->hardware, name, NULL);
    bool is_it = strcmp(name, orch_step_tiers_device_name(gpu)) == 0 ||
                 (on && strcmp(on->name, gpu->name) == 0);
    return known->runs > 0 && is_it && orch_step_tiers_is_one_worker(t, known) &&
           orch_step_tiers_precision_of(t, known, gpu, &is) && is == precision;
}

bool orch_step_tiers_ppp(struct orch_step_tiers *tiers, const struct orch_gpu_spec *gpu,
                         enum orch_precision precision, struct orch_step_ppp *out, GError **error)
{
    struct orch_step_ppp ppp = {0};
    const GPtrArray *known = tiers && tiers->trained ? tiers->trained->known : NULL;
    for (guint i = 0; known && i < known->len; i++) {
        const struct orch_trained_cell *cell = known->pdata[i];
        if (!is_workload_of(tiers, cell, gpu, precision))
            continue;
        double peak_s = orch_step_tiers_analytical_of(tiers, cell, ORCH_STEP_BASIS_PEAK);
        if (!(peak_s > 0))
            continue;
        ppp.share += peak_s / (cell->time.mid / 1e3);
        ppp.workloads++;
    }
    ppp.share /= MAX(1, ppp.workloads);
    if (!ppp.workloads)
        orch_error_set(error, ORCH_ERROR_USAGE, "give a share: --ppp-comp 0.62",
                       "PPP (share of the peak speed) cannot be measured: there is no run with a "
                       "step time on %s at %s",
                       gpu->name, orch_precision_names()[precision]);
    else if (ppp.share > 1)
        orch_error_set(error, ORCH_ERROR_USAGE, "correct the device's peak in hardware.yaml",
                       "PPP (share of the peak speed) of %s at %s is %.3g: the runs are faster "
                       "than the known peak",
                       gpu->name, orch_precision_names()[precision], ppp.share);
    else
        *out = ppp;
    return ppp.workloads && ppp.share <= 1;
}

void orch_prior_set_ppp(struct orch_prior *prior, double share)
{
    orch_step_tiers_use_peak(prior);
    prior->device.compute_share = prior->device.memory_share = share;
}
