/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows forecasts of trials, their totals, and the accuracy of past forecasts. */
#ifndef ORCH_CORE_CLI_FORECAST_SHOW_H
#define ORCH_CORE_CLI_FORECAST_SHOW_H

#include "core/cli/cli.h"
#include "core/plan/grades.h"
#include "core/plan/plan_forecast.h"
#include "core/plan/plan_rate.h"
#include "lib/base/interval.h"

/** Finds the price of a device-hour of the plan: --price, else orch_plan_rate. ORCH_ERROR_USAGE for
 * a bad --price. The caller releases. */
bool orch_cli_plan_price_find(const struct orch_plan *plan, const char *option,
                              struct orch_rate *out, GError **error);

/** Formats a time span: "3 min 10 s (2 min 50 s to 3 min 40 s)". The caller frees. */
char *orch_cli_span_text(struct orch_interval time_s);
/** Appends a forecast to a table: "12 s (9.8 s to 15 s), measured", or "-". In JSON the cell is
 * orch_cli_forecast_json. */
void orch_cli_forecast_add_cell(struct orch_table *table, const struct orch_forecast *forecast,
                                double devices);
/** Returns {total_s, low_s, high_s, tier, model, because, devices, cost_usd, cost_low_usd,
 * cost_high_usd}, with the names of `orch predict`; JSON null for NULL. `price` may be NULL. */
json_t *orch_cli_forecast_json(const struct orch_forecast *forecast, double devices,
                               const struct orch_rate *price);
/** Prints the total forecast of the trials that will run to stderr. Prints nothing when no trial
 * will run. */
void orch_cli_forecast_print_total(struct orch_cli *cli, const struct orch_plan *plan,
                                   const struct orch_forecast_total *total,
                                   const struct orch_rate *price);
json_t *orch_cli_forecast_total_json(const struct orch_plan *plan,
                                     const struct orch_forecast_total *total,
                                     const struct orch_rate *price);

/** Adds a cell with a share of 1 as a percentage; "-" for NaN. */
void orch_cli_add_percent(struct orch_table *table, double share);

#endif
