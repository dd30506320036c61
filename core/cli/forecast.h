/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forecasts of a plan's trials, by the first of these that applies:
 *   measured     runs of the very same trial (whatever the repeat) at the same place
 *   fitted       a law over runs of the same plugin at the same place
 *   transferred, prior  nothing of it ran here, but its cost is declared: forecast_untried()
 * and else none. Trials that end while a plan runs are learned from at once.
 */
#ifndef ORCH_CORE_CLI_FORECAST_H
#define ORCH_CORE_CLI_FORECAST_H

#include "core/cli/cli.h"
#include "core/hardware/hardware.h"
#include "core/run/forecast.h"

struct orch_forecasts;

/** Of the plan's trials; reads the store when first asked. Under --smoke there are none. The plan
 * must outlive it. */
struct orch_forecasts *orch_forecasts_new(struct orch_cli *cli, struct orch_plan *plan);
void orch_forecasts_free(struct orch_forecasts *forecasts);
/** As core/run wants them. Borrows `forecasts`. */
struct orch_forecaster orch_forecasts_forecaster(struct orch_forecasts *forecasts);

/** Has the very same trial (whatever its repeat) ended ok at this place? */
bool orch_forecasts_has_run(struct orch_forecasts *forecasts, const struct orch_plan_item *item);
/** What the trial's plugin declares that it costs (struct orch_cost); NULL: nothing. The caller
 * releases. */
json_t *orch_forecasts_cost(struct orch_forecasts *forecasts, const struct orch_plan_item *item);
/** A text that is equal for trials that differ in nothing but their repeat. The caller frees. */
char *orch_forecasts_cell(struct orch_forecasts *forecasts, const struct orch_plan_item *item);
/** Features of trials for models: those of the plan that `wanted` names (by index), measured or
 * not; columns are the parameters that differ, the plugin among them. The caller frees. */
struct orch_matrix *orch_forecasts_features(struct orch_forecasts *forecasts,
                                            const unsigned *wanted, size_t count);

/* ---- what was not tried (forecast_untried.c) --------------------------------------------------
 */

struct forecast_untried;
struct forecast_untried *forecast_untried_new(void);
void forecast_untried_free(struct forecast_untried *untried);

/** What is asked of a trial of which nothing ran at its place. */
struct forecast_question {
    const json_t *cost; /* as its plugin declares it (struct orch_cost); never NULL */
    const char *gpu;    /* what its driver calls the GPU; NULL: this machine's processor */
    unsigned gpus;      /* that it uses */
};
/** Answers from the declared cost alone: today the prior (a roofline with published shares). A
 * shipped model that learned from public measurements belongs here. False: nothing can be said (an
 * unknown network or GPU, no number of images, a processor that 'orch doctor --bench' has not
 * measured). Texts of `*out` belong to `untried`. */
bool forecast_untried(struct forecast_untried *untried, const struct forecast_question *question,
                      struct orch_forecast *out);

/** The white box's answer for the declared work on a GPU. */
struct forecast_white_box {
    bool is_transferred; /* distilled from other GPUs, not the roofline alone */
    double step_s;       /* of one step */
    double whole_s;      /* of all declared epochs; NaN without a number of images */
    double spread;       /* standard deviation of the log of both */
};
/** False: nothing is known (network, batch or precision). */
bool forecast_white_box(struct forecast_untried *untried, const json_t *cost,
                        const struct orch_gpu_spec *gpu, struct forecast_white_box *out);
/** Operations of the whole declared training, forward and backward alike; NaN: not known. */
double forecast_work(struct forecast_untried *untried, const json_t *cost);
/** Hardware, loaded when first asked for; NULL when its files are wrong. Borrowed. */
const struct orch_hardware *forecast_hardware(struct forecast_untried *untried);

#endif
