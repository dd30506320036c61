/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What trials are expected to take. Forecasts are made above (core/cli knows the predictors); here
 * they are asked for, added up, stored with the run that they are of, and held against limits. */
#ifndef ORCH_CORE_RUN_FORECAST_H
#define ORCH_CORE_RUN_FORECAST_H

#include "core/run/plan.h"

/** Wall seconds of one trial: the median and the middle 90 %. Texts are borrowed from the
 * forecaster. */
struct orch_forecast {
    double p5_s, p50_s, p95_s;
    const char *tier;  /* "measured", "fitted", "transferred", "prior" */
    const char *model; /* "repeats", "law", "roofline", ... */
    const char *why;   /* for people: "3 runs of it", "a law over 12 trials, off by 4 %" */
};

struct orch_forecaster {
    void *ctx;
    /** False: nothing is known, `*out` is untouched. */
    bool (*forecast)(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out);
    /** A trial of the plan has ended ok; later forecasts may know. May be NULL. */
    void (*ended)(void *ctx, const struct orch_plan_item *item, double wall_s);
};

/** True for what `orch run` would start. */
bool orch_plan_will_run(const struct orch_plan_item *item);
/** What its hours are paid for: its GPUs, or 1, the machine (a slot of it). */
unsigned orch_plan_item_devices(const struct orch_plan_item *item);

/** All trials of a plan that will run, one after another on its slots. */
struct orch_forecast_total {
    unsigned known, unknown;                        /* trials with and without a forecast */
    double p5_s, p50_s, p95_s;                      /* wall time of those known; 0 without any */
    double device_p5_s, device_p50_s, device_p95_s; /* sum of wall time x devices */
};
/** Errors of measured trials are taken as independent, those of others as shared (one law, one
 * prior), so that their widths add up. References between trials are not looked at. */
void orch_forecast_total(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                         struct orch_forecast_total *out);

/** Keeps a forecast of the item beside the run that it is of. */
bool orch_forecast_store(struct orch_plan *plan, const struct orch_plan_item *item,
                         const char *run_key, const struct orch_forecast *forecast, GError **error);

#endif
