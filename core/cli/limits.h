/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses the options --budget, --deadline and --price. */
#ifndef ORCH_CORE_CLI_LIMITS_H
#define ORCH_CORE_CLI_LIMITS_H

#include "core/cli/forecast_show.h"
#include "core/run/schedule.h"

/** Parses a duration above 0: "90" (seconds), "30s", "5min", "1h30min". ORCH_ERROR_USAGE, which
 * names the option. */
bool cli_duration_read(const char *option, const char *text, double *out_s, GError **error);
/** Parses an amount above 0 and at most 1e9 USD: "5usd", "$2.50" or "2.5". ORCH_ERROR_USAGE, which
 * names --budget. */
bool cli_budget_read(const char *text, double *out_usd, GError **error);
/** Parses the price of a device-hour in USD, written like a budget: above 0, at most 1e6.
 * ORCH_ERROR_USAGE, which names --price. */
bool cli_price_read(const char *text, double *out_usd, GError **error);
/** Parses a deadline: "18:00" (the next one, local time), "2h" (from now), or "2026-11-21T18:00"
 * (local time unless it has a time zone). Result in UTC nanoseconds. ORCH_ERROR_USAGE, which names
 * --deadline, for another form or a past time. */
bool cli_deadline_read(const char *text, int64_t now_ns, int64_t *out_ns, GError **error);
/** Parses both options (NULL: not given). A budget without a price is ORCH_ERROR_USAGE, too. */
bool cli_limits_read(const char *budget, const char *deadline, const struct orch_rate *price,
                     int64_t now_ns, struct orch_limits *out, GError **error);
/** Describes the limits: "budget $5.00 at $3.06 an hour of a device (--price); deadline 2026-11-21
 * 18:00". NULL when there are none. The caller frees. */
char *cli_limits_text(const struct orch_limits *limits, const struct orch_rate *price);
/** Prints at the end what was spent. When a limit stopped the run, also prints what is left and how
 * to continue (`go_on`, a sentence). */
void cli_limits_say_end(struct orch_cli *cli, const struct orch_plan *plan,
                        const struct orch_limits *limits, const struct orch_totals *totals,
                        const struct orch_forecaster *forecaster, const char *go_on);

#endif
