/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts of the time that trials take. A feature makes them (features/predict); this module
 * requests them through an interface, sums them over a plan and stores them with their runs. */
#ifndef ORCH_CORE_PLAN_PLAN_FORECAST_H
#define ORCH_CORE_PLAN_PLAN_FORECAST_H

#include "core/plan/plan.h"
#include "lib/base/interval.h"

/** Wall seconds of one trial: the median and the middle 90 %. Texts are borrowed from the
 * forecaster. */
struct orch_forecast {
    struct orch_interval time_s;
    const char *tier;  /* "measured", "fitted", "transferred", "prior" */
    const char *model; /* "repeats", "law", "roofline", ... */
    const char *why;   /* for people: "3 runs of this setting here" */
    bool is_beyond;    /* the trial is outside of what has been measured */
};

struct orch_forecaster {
    void *ctx;
    /** Returns false and leaves `*out` untouched when there is no forecast. */
    bool (*forecast)(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out);
    /** The first forecast, made before the run; `*out_made_ns` is its time. False when there was
     * none. May be NULL. */
    bool (*planned)(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out,
                    int64_t *out_made_ns);
    /** Called when a trial of the plan has ended ok, so that later forecasts can use its time. May
     * be NULL. */
    void (*ended)(void *ctx, const struct orch_plan_item *item, double wall_s);
    /** Called when a trial got other values, as one of a search does when they are chosen: its
     * forecast from before does not hold. May be NULL. */
    void (*changed)(void *ctx, const struct orch_plan_item *item);
    /** Like forecast, for one of the GPUs that `gpu` names, from the trial's declared cost alone.
     */
    bool (*elsewhere)(void *ctx, const struct orch_plan_item *item, const char *gpu,
                      struct orch_forecast *out);
    void (*close)(void *ctx); /* NULL: nothing to free */
};

struct orch_remaining;
struct orch_time_left_on_gpu;

/** What makes forecasts: a feature lists it in its descriptor. */
struct orch_forecasting {
    /** Makes the forecasts of a plan's trials, which must outlive them. `forecast` and `elsewhere`
     * are never NULL. */
    struct orch_forecaster (*open)(struct orch_plan *plan);
    /** Estimates the time that a running trial would still take on another GPU
     * (orch_time_left_on_other_gpu). */
    bool (*time_left)(const json_t *record, const char *gpu, double share,
                      const struct orch_remaining *here, struct orch_time_left_on_gpu *out,
                      GError **error);
};

/** Returns the forecasting of the first feature that has one, or NULL. */
const struct orch_forecasting *orch_forecasting(void);
/** Opens the forecasts of a plan's trials, which must outlive them. Without a feature that makes
 * forecasts there is none for any trial. */
struct orch_forecaster orch_forecaster_open(struct orch_plan *plan);
void orch_forecaster_close(struct orch_forecaster *forecaster);

/** True when a trial that the plan will run uses GPUs. */
bool orch_plan_uses_gpus(const struct orch_plan *plan);
/** The number of devices that the item occupies: its GPUs, or 1 for a slot of the machine. */
unsigned orch_plan_item_devices(const struct orch_plan_item *item);
/** The number of devices charged for the item on this machine, where a share of a GPU counts as
 * such. */
double orch_plan_item_charged(const struct orch_plan_item *item);

/** Sums over all trials of a plan that will run, scheduled on its slots. */
struct orch_forecast_total {
    unsigned known, unknown;       /* trials with and without a forecast */
    struct orch_interval time_s;   /* wall seconds of the trials with a forecast; 0 without any */
    struct orch_interval device_s; /* sum of wall time x devices */
};
/** Errors of measured trials are treated as independent, so that their squares add up. Errors of
 * other forecasts share one cause (the same law or analytical model), so that their widths add up.
 * References between trials are ignored. */
void orch_forecast_total(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                         struct orch_forecast_total *out);

/** Stores a forecast of the item with its run: the planned forecast, made at `made_ns`, or one that
 * was updated during the run (`is_renewed`). */
bool orch_forecast_store(struct orch_plan *plan, const struct orch_plan_item *item,
                         const char *run_key, const struct orch_forecast *forecast, int64_t made_ns,
                         bool is_renewed, GError **error);

#endif
