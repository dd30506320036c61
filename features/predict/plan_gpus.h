/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimated time and cost of trials on other GPUs, from the cost that their plugins declare. */
#ifndef ORCH_FEATURES_PREDICT_PLAN_GPUS_H
#define ORCH_FEATURES_PREDICT_PLAN_GPUS_H

#include "core/plan/plan.h"
#include "lib/base/interval.h"
#include "lib/devices/rate.h"

/** All trials on one GPU model at one price. */
struct orch_plan_gpu {
    const char *gpu;             /* borrowed from the hardware */
    unsigned known;              /* trials */
    struct orch_interval time_s; /* with the trials run one after another */
    struct orch_interval device_s;
    const char *tier; /* "prior", "transferred", "mixed"; NULL: none */
    struct orch_rate rate;
    bool pareto;
};

struct orch_plan_gpus {
    struct orch_hardware *hardware;
    GPtrArray *works; /* trials that declare the same cost, as one */
    GPtrArray *rows;  /* struct orch_plan_gpu *, by time and then cost */
    unsigned trials;
    bool is_priced; /* a price was given */
};
/** Estimates items of the plan (const struct orch_plan_item *) on the GPUs listed in `names`
 * ("V100", "V100,K80" or "all"). `price`: dollars per GPU hour, 0 for the dated price table. NULL
 * with an error for an unknown GPU or an invalid hardware file. The caller frees. */
struct orch_plan_gpus *orch_plan_gpus_new(struct orch_plan *plan, const GPtrArray *items,
                                          const char *names, double price, GError **error);
void orch_plan_gpus_free(struct orch_plan_gpus *gpus);
/** Cost in dollars of `device_s` at the row's price; NaN when the price is unknown. */
double orch_plan_gpu_usd(const struct orch_plan_gpu *row, double device_s);

#endif
