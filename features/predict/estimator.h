/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time estimates from a declared cost, for trials that were never measured on their device. */
#ifndef ORCH_FEATURES_PREDICT_ESTIMATOR_H
#define ORCH_FEATURES_PREDICT_ESTIMATOR_H

#include "core/plan/plan_forecast.h"
#include "lib/devices/hardware.h"

struct orch_estimator;
/** `workspace`: its open store is searched for step time measurements; NULL: no store is used. It
 * must outlive the estimator. */
struct orch_estimator *orch_estimator_new(struct orch_workspace *workspace);
void orch_estimator_free(struct orch_estimator *estimator);

/** The estimate of `orch predict` for a trial that never ran on its device. `cost`: as its plugin
 * declares it; `gpu`: the driver's name, NULL: this machine's processor; `threads`: of its slot, on
 * a processor, 0: not known. It is from the store's step time
 * measurements, else from the analytical model calibrated on public measurements, else from the
 * roofline. The interval is widened for the time that a trial spends outside its steps. False when
 * there is no estimate: unknown network or GPU, no number of images, or a processor that 'orch
 * doctor --bench' has not measured. Texts of `*out` belong to `estimator` and are valid until the
 * next call. */
bool orch_estimator_forecast(struct orch_estimator *estimator, const json_t *cost, const char *gpu,
                             int64_t threads, struct orch_forecast *out);

/** The analytical estimate of the declared work on a GPU. */
struct orch_white_estimate {
    bool is_transferred; /* calibrated on measurements of other GPUs, not the roofline alone */
    double step_s;       /* of one step */
    double whole_s;      /* of all declared epochs; NaN without a number of images */
    double spread;       /* standard deviation of the log of both */
};
/** False when the network, the batch or the precision is not known. */
bool orch_estimator_white(struct orch_estimator *estimator, const json_t *cost,
                          const struct orch_gpu_spec *gpu, struct orch_white_estimate *out);
/** Number of operations of the whole declared work, including the backward pass when it trains. An
 * unknown network counts 1 per image; NaN when the number of images is unknown. */
double orch_estimator_work(struct orch_estimator *estimator, const json_t *cost);
/** The hardware tables, loaded at the first call; NULL when a hardware file is invalid. Borrowed.
 */
const struct orch_hardware *orch_estimator_hardware(struct orch_estimator *estimator);

#endif
