/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accuracy of stored forecasts, by groups: what was forecast, by which model, where and when.
 * Runs during which other programs kept the CPUs busy (foreign load) have groups of their own. */
#ifndef ORCH_FEATURES_PREDICT_FORECAST_SCORES_H
#define ORCH_FEATURES_PREDICT_FORECAST_SCORES_H

#include "core/plan/grades.h"
#include "core/render/chart.h"
#include "store/write/forecast.h"

#define ORCH_SCORE_NAMES_MAX 6

/** A way to group forecasts. */
struct orch_score_grouping {
    const char *name;                              /* "time"; NULL ends the table */
    const char *headers[ORCH_SCORE_NAMES_MAX + 1]; /* of the names, ended by NULL */
};
/** All of them; the first is the default. */
const struct orch_score_grouping *orch_score_groupings(void);
/** Finds one by name; NULL: none has it. */
const struct orch_score_grouping *orch_score_grouping_find(const char *name);

/** The accuracy of a group. */
struct orch_score_row {
    bool is_disturbed;                       /* foreign load */
    const char *names[ORCH_SCORE_NAMES_MAX]; /* as the grouping's headers say; borrowed */
    size_t count;
    struct orch_score score;
};

struct orch_forecast_scores {
    GPtrArray *grades; /* struct orch_ended_forecast *, all whose run ended ok, oldest first */
    GArray *rows;      /* struct orch_score_row; those of all forecasts last */
    GStringChunk *texts;
};
/** Scores all forecasts of the store. The caller clears. */
bool orch_forecast_scores_read(struct orch_store *store, const struct orch_score_grouping *grouping,
                               struct orch_forecast_scores *out, GError **error);
void orch_forecast_scores_clear(struct orch_forecast_scores *scores);

/** Draws how often the measured time was at most the forecast's quantile, for quantiles of 5 to
 * 95 %: on the diagonal forecasts are calibrated, below it trials take longer than forecast. Only
 * forecasts that were made before their run, if there are any. The quantiles are those of a
 * log-normal distribution with the stored median and 90 % interval. The caller frees. */
struct orch_chart *orch_forecast_calibration(const GPtrArray *grades);

#endif
