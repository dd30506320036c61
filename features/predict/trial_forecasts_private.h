/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of features/predict/trial_forecasts.h: what its files share. */
#ifndef ORCH_FEATURES_PREDICT_TRIAL_FORECASTS_PRIVATE_H
#define ORCH_FEATURES_PREDICT_TRIAL_FORECASTS_PRIVATE_H

#include "features/predict/estimator.h"
#include "features/predict/timed_cells.h"
#include "features/predict/trial_forecasts.h"
#include "store/write/forecast.h"

/* The forecast of one item. */
struct orch_trial_known {
    bool is_known;
    bool is_changed;               /* the item has other values since it was forecast */
    struct orch_forecast forecast; /* its texts are static, except `why` */
    char *why;
    /* the forecast before the first trial ended: */
    bool is_planned;
    int64_t planned_ns;
    struct orch_forecast planned; /* its `why` is NULL */
};

struct orch_trial_group {
    const struct orch_manifest *manifest;
    const char *device_key;
    char *library; /* that its trials will use: "libtorch 2.11.0", or NULL */
    struct orch_timed_cells cells;
    GArray *items; /* unsigned: of the plan */
    size_t runs_answered;
};

struct orch_forecasts {
    struct orch_plan *plan;
    struct orch_estimator *estimator;
    GPtrArray *groups;       /* struct orch_trial_group * */
    GHashTable *experiments; /* const struct orch_experiment * -> struct orch_trial_group * */
    GPtrArray *order;        /* const struct orch_experiment *, in the plan's order */
    GHashTable *items_of;    /* const struct orch_experiment * -> GArray of unsigned, its items */
    struct orch_trial_known *known; /* one for each item */
    bool has_ended;                 /* a trial has ended since the plan was made */
    char **signatures;              /* of each item, computed on first use */
    GHashTable *predictors; /* char * (experiment) -> struct orch_trained *, or NULL: none */
};

/** The item's parameters by name, as canonical texts, without secrets. Caller unrefs. */
GHashTable *orch_trial_params(const struct orch_plan_item *item);
/** The same of a run. */
GHashTable *orch_trial_timing_params(const struct orch_manifest *manifest,
                                     const struct orch_timing *timing);
/** Equal for trials that differ only in their repeat. Borrowed. */
const char *orch_trial_signature(struct orch_forecasts *forecasts,
                                 const struct orch_plan_item *item);
/** Columns for the parameters that differ between the rows (GHashTable * of canonical texts). */
struct orch_matrix *orch_trial_matrix(GPtrArray *rows);

/** The group of all experiments of a plugin on the same device. */
struct orch_trial_group *orch_trial_group_of(struct orch_forecasts *forecasts,
                                             const struct orch_plan_item *item);
void orch_trial_group_free(gpointer group);

/** Forecasts some items of a group. */
void orch_trial_answer(struct orch_forecasts *forecasts, struct orch_trial_group *group,
                       const unsigned *items, size_t count);

#endif
