/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows a plan: its trials with their states, reasons and forecasts. */
#ifndef ORCH_CORE_COMMANDS_PLAN_SHOW_H
#define ORCH_CORE_COMMANDS_PLAN_SHOW_H

#include "core/cli/cli.h"
#include "core/plan/plan_forecast.h"
#include "lib/devices/rate.h"

/** Prints the plan with its counts and the sum of its forecasts. `all`: every trial, however many;
 * `left`: the number of trials that would run. */
void orch_cli_plan_show(struct orch_cli *cli, const struct orch_plan *plan, bool all,
                        const struct orch_forecaster *forecaster, const struct orch_rate *price,
                        unsigned left);
/** Prints how many trials are in which state, and what is left out. */
void orch_cli_plan_print_counts(struct orch_cli *cli, const struct orch_plan *plan);
/** Prints which experiments are left out, and why. */
void orch_cli_plan_print_left_out(struct orch_cli *cli, const struct orch_expansion *expansion);
/** Explains why nothing runs, one line for each experiment. */
void orch_cli_plan_print_why_nothing(struct orch_cli *cli, const struct orch_plan *plan);
/** Explains why trials with earlier runs run again: the first reasons, each with its number of
 * trials. */
void orch_cli_plan_print_changes(struct orch_cli *cli, const struct orch_plan *plan);
/** Returns the trials as an array. New reference. */
json_t *orch_cli_plan_json(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                           const struct orch_rate *price);

#endif
