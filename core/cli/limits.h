/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --budget and --deadline as they are typed. */
#ifndef ORCH_CORE_CLI_LIMITS_H
#define ORCH_CORE_CLI_LIMITS_H

#include "core/cli/forecast_show.h"
#include "core/run/schedule.h"

/** "90" (seconds), "30s", "5min", "1h30min": seconds above 0. ORCH_ERROR_USAGE naming the option.
 */
bool cli_duration_read(const char *option, const char *text, double *out_s, GError **error);
/** "5usd", "$2.50" or "2.5": dollars above 0, at most 1e9. ORCH_ERROR_USAGE naming --budget. */
bool cli_budget_read(const char *text, double *out_usd, GError **error);
/** "18:00" (the next one, local time), "2h" (from now on), "2026-11-21T18:00" (local time unless it
 * says otherwise), as UTC nanoseconds. ORCH_ERROR_USAGE naming --deadline for what is none of these
 * or is over. */
bool cli_deadline_read(const char *text, int64_t now_ns, int64_t *out_ns, GError **error);
/** Reads both (NULL: not given); a budget without a price is ORCH_ERROR_USAGE, too. */
bool cli_limits_read(const char *budget, const char *deadline, const struct device_price *price,
                     int64_t now_ns, struct orch_limits *out, GError **error);
/** "budget $5.00 at $3.06 an hour of a device (--price); deadline 2026-11-21 18:00". NULL: neither.
 * The caller frees. */
char *cli_limits_text(const struct orch_limits *limits, const struct device_price *price);
/** Says at the end what was spent and, when a limit stopped the run, what is left and how to go on
 * (`go_on`, a sentence). */
void cli_limits_say_end(struct orch_cli *cli, const struct orch_plan *plan,
                        const struct orch_limits *limits, const struct orch_totals *totals,
                        const struct orch_forecaster *forecaster, const char *go_on);

#endif
