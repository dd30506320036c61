/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies a recipe's allowances for `plan` and `run`. */
#ifndef ORCH_FEATURES_COST_ALLOWANCE_SHOW_H
#define ORCH_FEATURES_COST_ALLOWANCE_SHOW_H

#include "core/cli/cli.h"
#include "core/schedule/run_limits.h"
#include "features/cost/allowance_left.h"

/** Reads the allowances at this machine's price (`usd_per_hour`, 0: unknown; `is_given`: from
 * --price). Warns when `planned_s` device seconds exceed one, and lowers `limits` to the tighter
 * one unless `may_exceed`. Does nothing for a recipe without an allowance. */
bool orch_cli_allowance_apply(struct orch_cli *cli, const struct orch_expansion *expansion,
                              double usd_per_hour, bool is_given, double planned_s, bool may_exceed,
                              struct orch_limits *limits, GError **error);

#endif
