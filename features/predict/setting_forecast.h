/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts the wall time of an experiment's settings with a predictor that was trained on the
 * parameters of its runs (orch predictor train). `orch plan` and `orch predict --experiment` ask
 * it. */
#ifndef ORCH_FEATURES_PREDICT_SETTING_FORECAST_H
#define ORCH_FEATURES_PREDICT_SETTING_FORECAST_H

#include "core/rows/kept_predictors.h"
#include "features/predict/step_tier.h"
#include "lib/base/interval.h"

/** The predictor that the store keeps for an experiment, the newest of several; NULL without error
 * when there is none. The caller frees. */
struct orch_trained *orch_setting_predictor_find(struct orch_store *store, const char *experiment,
                                                 GError **error);

/** A parameter as the training runs have it. */
struct orch_setting_param {
    const char *name;   /* without the column's prefix. Borrowed from the predictor */
    bool is_number;     /* every run has a number, or none */
    double least, most; /* of the numbers; NaN: no run has one */
    GPtrArray *texts;   /* char *: the different values, sorted, borrowed */
};
/** The parameters of the predictor, struct orch_setting_param *. The caller unrefs. */
GPtrArray *orch_setting_params(const struct orch_trained *trained);
/** "100 to 1000" or "a, b, c" (at most 8 values). The caller frees. */
char *orch_setting_param_range(const struct orch_setting_param *param);

struct orch_setting_forecast {
    enum orch_tier tier;         /* measured: runs of this setting; fitted: by the predictor */
    struct orch_interval time_s; /* median and 90 % interval */
    bool extrapolates;           /* the setting is outside what was measured; see `notes` */
    char *why;                   /* "12 runs of 6 settings ..." */
    GPtrArray *notes;            /* char *: what is outside of the measured range */
    GPtrArray
        *nearest; /* const struct orch_trained_cell *: the nearest measured settings, borrowed */
};
/** Forecasts one setting on a device (NULL: where the newest run of the predictor ran). `values`:
 * parameter -> text as of orch_param_rows_text; those that it lacks count as unknown. False with an
 * error when the predictor cannot be read. The caller clears. */
bool orch_setting_forecast(const struct orch_trained *trained, const char *device_key,
                           GHashTable *values, struct orch_setting_forecast *out, GError **error);
void orch_setting_forecast_clear(struct orch_setting_forecast *forecast);

/** A measured setting's value of a parameter, "" when it has none. Borrowed. */
const char *orch_setting_known_value(const struct orch_trained *trained,
                                     const struct orch_trained_cell *known, const char *param);
/** The device of the predictor's newest run: "Xeon, 2 threads". The caller frees. */
char *orch_setting_device(const struct orch_trained *trained);
/** The number of runs of the experiment that ended ok and are newer than the predictor. */
bool orch_setting_newer_runs(struct orch_store *store, const struct orch_trained *trained,
                             int64_t *out_count, GError **error);

#endif
