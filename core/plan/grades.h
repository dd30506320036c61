/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores forecasts against the times that the trials actually took. */
#ifndef ORCH_CORE_PLAN_GRADES_H
#define ORCH_CORE_PLAN_GRADES_H

#include "lib/base/interval.h"
#include "predictors/learn/learn.h"

#include <jansson.h>

/** Forecasts and the measured times of their trials. */
struct orch_forecast_grades {
    GArray *wall_s;  /* double */
    GArray *answers; /* struct orch_answer: median and the middle 90 %, seconds */
};
void orch_forecast_grades_init(struct orch_forecast_grades *grades);
void orch_forecast_grades_release(struct orch_forecast_grades *grades);
void orch_forecast_grades_add(struct orch_forecast_grades *grades, struct orch_interval forecast_s,
                              double wall_s);
struct orch_score orch_forecast_grades_score(const struct orch_forecast_grades *grades);
/** "4 forecasts: median error 3 %, 4 of 4 within their 90 % interval"; NULL for none. The caller
 * frees. */
char *orch_forecast_grades_text(const struct orch_forecast_grades *grades);
/** {graded, median_relative_error, coverage_90, renewed: the same for forecasts updated during the
 * run, or null}; JSON null when there is nothing to score. */
json_t *orch_forecast_grades_json(const struct orch_forecast_grades *planned,
                                  const struct orch_forecast_grades *renewed);

#endif
