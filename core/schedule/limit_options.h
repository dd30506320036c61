/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the limits of a run as users write them: --budget, --deadline, --price. */
#ifndef ORCH_CORE_SCHEDULE_LIMIT_OPTIONS_H
#define ORCH_CORE_SCHEDULE_LIMIT_OPTIONS_H

#include "core/schedule/run_limits.h"

#include <glib.h>

/** Parses an amount above 0 and at most 1e9 USD: "5usd", "$2.50" or "2.5". ORCH_ERROR_USAGE, which
 * names --budget. */
bool orch_budget_read(const char *text, double *out_usd, GError **error);
/** Parses the price of a device-hour in USD, written like a budget: above 0, at most 1e6.
 * ORCH_ERROR_USAGE, which names --price. */
bool orch_price_read(const char *text, double *out_usd, GError **error);
/** Parses a deadline: "18:00" (the next one, local time), "2h" (from now), or "2026-11-21T18:00"
 * (local time unless it has a time zone). Result in UTC nanoseconds. ORCH_ERROR_USAGE, which names
 * --deadline, for another form or a past time. */
bool orch_deadline_read(const char *text, int64_t now_ns, int64_t *out_ns, GError **error);
/** Parses both limits (NULL: not given); a budget may be device time. `usd_per_hour`: the price of
 * one device, 0 when it is not known; then a budget in USD is ORCH_ERROR_USAGE, too. */
bool orch_limits_read(const char *budget, const char *deadline, double usd_per_hour, int64_t now_ns,
                      struct orch_limits *out, GError **error);

#endif
