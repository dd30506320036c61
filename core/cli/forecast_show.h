/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How forecasts of trials, their sum and their grades look. */
#ifndef ORCH_CORE_CLI_FORECAST_SHOW_H
#define ORCH_CORE_CLI_FORECAST_SHOW_H

#include "core/cli/cli.h"
#include "core/run/forecast.h"
#include "predictors/learn.h"

/** What an hour of one device of a plan costs. */
struct device_price {
    double usd_per_hour; /* 0: not known */
    char *from;          /* "--price", "aws p3.2xlarge, us-east-1, as of 2026" */
};
/** --price, else the price of this machine's GPU (the user's own, else the dated table) when a
 * trial uses one. ORCH_ERROR_USAGE for a bad --price. */
bool device_price_find(struct orch_cli *cli, const struct orch_plan *plan, const char *option,
                       struct device_price *out, GError **error);
void device_price_release(struct device_price *price);

/** "12 s (9.8 s to 15 s), measured", or "-"; under --json what forecast_json gives. */
void forecast_add_cell(struct orch_table *table, const struct orch_forecast *forecast,
                       unsigned devices);
/** {total_s, low_s, high_s, tier, model, because, devices, cost_usd, cost_low_usd, cost_high_usd},
 * as `orch predict` names them; null for NULL. `price` may be NULL. */
json_t *forecast_json(const struct orch_forecast *forecast, unsigned devices,
                      const struct device_price *price);
/** Says the total of what will run on stderr. Nothing when nothing runs. */
void forecast_say_total(struct orch_cli *cli, const struct orch_plan *plan,
                        const struct orch_forecast_total *total, const struct device_price *price);
json_t *forecast_total_json(const struct orch_plan *plan, const struct orch_forecast_total *total,
                            const struct device_price *price);

/** Forecasts and what came of them. */
struct forecast_grades {
    GArray *wall_s;  /* double */
    GArray *answers; /* struct orch_answer: median and the middle 90 %, seconds */
};
void forecast_grades_init(struct forecast_grades *grades);
void forecast_grades_release(struct forecast_grades *grades);
void forecast_grades_add(struct forecast_grades *grades, double p5_s, double p50_s, double p95_s,
                         double wall_s);
struct orch_score forecast_grades_score(const struct forecast_grades *grades);
/** "4 forecasts: median error 3 %, 4 of 4 within their 90 % interval"; NULL for none. The caller
 * frees. */
char *forecast_grades_text(const struct forecast_grades *grades);
/** {graded, median_relative_error, coverage_90}; JSON null for none. */
json_t *forecast_grades_json(const struct forecast_grades *grades);

/** `orch predict --score`: all past forecasts of the store. */
int forecast_score(struct orch_cli *cli, GError **error);

#endif
