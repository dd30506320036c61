/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --budget and --deadline as they are typed. */
#ifndef ORCH_CORE_CLI_LIMITS_H
#define ORCH_CORE_CLI_LIMITS_H

#include "core/cli/forecast_show.h"
#include "core/run/schedule.h"

/** Reads both (NULL: not given). "5usd", "$2.50" or "2.5"; "18:00" (the next one, local time), "2h"
 * (from now on), "2026-11-21T18:00" (local time unless it says otherwise). ORCH_ERROR_USAGE for
 * what is none of these or is over, and for a budget without a price. */
bool cli_limits_read(const char *budget, const char *deadline, const struct device_price *price,
                     int64_t now_ns, struct orch_limits *out, GError **error);
/** "budget $5.00 at $3.06 an hour of a device (--price); deadline 2026-11-21 18:00". NULL: neither.
 * The caller frees. */
char *cli_limits_text(const struct orch_limits *limits, const struct device_price *price);
/** Says at the end what was spent and, when a limit stopped the run, what is left. */
void cli_limits_say_end(struct orch_cli *cli, const struct orch_plan *plan,
                        const struct orch_limits *limits, const struct orch_totals *totals,
                        const struct orch_forecaster *forecaster);

#endif
