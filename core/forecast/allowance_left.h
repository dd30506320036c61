/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a recipe's allowance is left. */
#ifndef ORCH_CORE_FORECAST_ALLOWANCE_LEFT_H
#define ORCH_CORE_FORECAST_ALLOWANCE_LEFT_H

#include "core/forecast/device_prices.h"
#include "core/recipe/recipe.h"

#include <jansson.h>

struct orch_allowance_left {
    const struct orch_allowance *allowance; /* the recipe's; NULL when it has none */
    /* by the group, or by the current user when the limit is per person */
    struct orch_ledger_sum used;
    struct orch_ledger_sum reserved; /* by the trials in progress, whatever executor runs them */
    double left_usd, left_s; /* left_s in device seconds; NaN: no such limit; negative: exceeded */
};

/** Sums the recipe's runs in `store` (NULL: no store yet). Hidden runs count too, because they were
 * paid for. A trial that another process or a cluster has in progress counts with its forecast, or
 * with the time that it has taken if that is longer, so that several commands share one allowance.
 */
bool orch_allowance_left_read(struct orch_store *store, const struct orch_expansion *expansion,
                              struct orch_device_prices *prices, struct orch_allowance_left *out,
                              GError **error);
/** Returns the device seconds left at a price, at least 0. Returns infinity when there is no limit,
 * and when the only limit is in dollars but the price is unknown (0 or NaN). */
double orch_allowance_left_s(const struct orch_allowance_left *allowance, double usd_per_hour);
/** "$20.00 and 5 h of devices for each person: used $4.10, 1 h 2 min; left ...". The caller frees.
 */
char *orch_allowance_left_text(const struct orch_allowance_left *allowance);
/** {usd, hours, per, used_usd, used_h, unpriced_h, reserved_usd,
 * reserved_h, running, left_usd, left_h}. New reference. */
json_t *orch_allowance_left_json(const struct orch_allowance_left *allowance);

#endif
