/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the limits of a run: before it starts, and what was spent and how to go on at its end. */
#ifndef ORCH_CORE_COMMANDS_LIMITS_H
#define ORCH_CORE_COMMANDS_LIMITS_H

#include "core/cli/cli.h"
#include "core/plan/plan_forecast.h"
#include "core/schedule/promise.h"
#include "core/schedule/schedule.h"
#include "lib/devices/rate.h"

/** Describes the limits: "budget $5.00 at $3.06 an hour of a device (--price); deadline 2026-11-21
 * 18:00". NULL when there are none. The caller frees. */
char *orch_cli_limits_text(const struct orch_limits *limits, const struct orch_rate *price);
/** Prints at the end what was spent. When a limit stopped the run, also prints what is left and how
 * to continue (`go_on`, a sentence). */
void orch_cli_limits_print_end(struct orch_cli *cli, const struct orch_plan *plan,
                               const struct orch_limits *limits, const struct orch_totals *totals,
                               const struct orch_forecaster *forecaster, const char *go_on);
/** Returns the same as an object: which limit stopped the run, what it held back and cancelled,
 * what was spent, and what was promised. New reference. */
json_t *orch_cli_limits_json(const struct orch_limits *limits, const struct orch_totals *totals,
                             const struct orch_promise *promise);

/** Returns "14 of 20 trials by 18:00 with 90 %; the rest would need 2 h 10 min more", or why
 * nothing is promised. The caller frees. */
char *orch_cli_promise_text(const struct orch_promise *promise, const struct orch_limits *limits);
/** Compares a promise with what ended, says whether it held, and stores that for `orch predictor
 * score`. A run that was interrupted, in which a trial failed, or of which others have trials says
 * nothing about it. */
bool orch_cli_promise_grade(struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_promise *promise, const struct orch_totals *totals,
                            GError **error);

/** Returns a sentence that says how to run the remaining trials of a run that Ctrl-C or a limit
 * stopped. With --force (`is_forced`) the same command would repeat all runs, and without it
 * earlier runs may be reused for what is left. The caller frees. */
char *orch_cli_how_to_go_on(const struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_variant *variant, bool is_forced);

#endif
