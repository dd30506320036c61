/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a recipe's allowances is left. */
#ifndef ORCH_FEATURES_COST_ALLOWANCE_LEFT_H
#define ORCH_FEATURES_COST_ALLOWANCE_LEFT_H

#include "features/cost/allowance.h"
#include "features/cost/device_prices.h"

#include <jansson.h>

struct orch_allowance_left {
    const struct orch_allowance *allowance; /* the recipe's; NULL when it has none of this scope */
    enum orch_allowance_scope scope;
    /* by the group, or by the current user when the limit is per person */
    struct orch_ledger_sum used;
    struct orch_ledger_sum reserved; /* by the trials in progress, whatever executor runs them */
    double left_usd, left_s; /* left_s in device seconds; NaN: no such limit; negative: exceeded */
};

/** What is left for the group and for the current user; both limits hold. */
struct orch_allowances_left {
    struct orch_allowance_left each[ORCH_ALLOWANCE_SCOPES];
};

/** Sums the recipe's runs in `store` (NULL: no store yet). Hidden runs count too, because they were
 * paid for. A trial that another process or a cluster has in progress counts with its forecast, or
 * with the time that it has taken if that is longer, so that several commands share one allowance.
 */
bool orch_allowances_left_read(struct orch_store *store, const struct orch_expansion *expansion,
                               struct orch_device_prices *prices, struct orch_allowances_left *out,
                               GError **error);
/** Returns the allowance with the fewest device seconds left at a price (0 or NaN: unknown), that
 * of the group when both are equal; NULL when the recipe has none. */
const struct orch_allowance_left *
orch_allowances_left_tightest(const struct orch_allowances_left *all, double usd_per_hour);
/** "the group", "each person". */
const char *orch_allowance_scope_text(enum orch_allowance_scope scope);
/** Returns the device seconds left at a price, at least 0. Returns infinity when there is no limit
 * (or `allowance` is NULL), and when the only limit is in dollars but the price is unknown (0 or
 * NaN). */
double orch_allowance_left_s(const struct orch_allowance_left *allowance, double usd_per_hour);
/** "$20.00, 5 h of device time for each person: used $4.10, 1 h 2 min; left ...". The caller frees.
 */
char *orch_allowance_left_text(const struct orch_allowance_left *allowance);
/** {usd, hours, per, used_usd, used_h, unpriced_h, reserved_usd,
 * reserved_h, running, left_usd, left_h}; null without an allowance. New reference. */
json_t *orch_allowance_left_json(const struct orch_allowance_left *allowance);
/** The list of all allowances, that of the group first. New reference. */
json_t *orch_allowances_left_json(const struct orch_allowances_left *all);

#endif
