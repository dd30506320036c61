/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recipe's allowance has left. */
#ifndef ORCH_CORE_CLI_ALLOWANCE_H
#define ORCH_CORE_CLI_ALLOWANCE_H

#include "core/cli/prices.h"
#include "core/run/limits.h"

struct cli_allowance {
    const struct orch_allowance *allowance; /* of the recipe; NULL: it has none */
    struct orch_ledger_sum used;            /* by the group, or by who runs this */
    double left_usd, left_s; /* device seconds; NaN: no such limit. Below 0: beyond */
};

/** Sums the recipe's runs (removed ones too: they were paid for). `store` NULL: there is none. */
bool cli_allowance_read(struct orch_store *store, const struct orch_expansion *expansion,
                        struct cli_prices *prices, struct cli_allowance *out, GError **error);
/** Device seconds that are left at a price, 0 or more; infinite when nothing limits them. With a
 * limit in dollars alone and no price (0 or NaN) nobody knows: infinite, too. */
double cli_allowance_left_s(const struct cli_allowance *allowance, double usd_per_hour);
/** "$20.00 and 5 h of devices for each person: used $4.10, 1 h 2 min; left ...". The caller frees.
 */
char *cli_allowance_text(const struct cli_allowance *allowance);
/** {usd, hours, per, used_usd, used_h, unpriced_h, left_usd, left_h}. New reference. */
json_t *cli_allowance_json(const struct cli_allowance *allowance);

/** For `plan` and `run`: reads the allowance at this machine's price (0: not known, or given with
 * --price: `is_given`), warns when device seconds `planned_s` go beyond, and holds `limits` to what
 * is left unless `may_exceed`. Nothing for a recipe without one. */
bool cli_allowance_apply(struct orch_cli *cli, const struct orch_expansion *expansion,
                         double usd_per_hour, bool is_given, double planned_s, bool may_exceed,
                         struct orch_limits *limits, GError **error);

#endif
