/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch run --executor slurm`: submits a plan and says what was asked of Slurm. */
#ifndef ORCH_FEATURES_SLURM_EXECUTE_SLURM_H
#define ORCH_FEATURES_SLURM_EXECUTE_SLURM_H

#include "core/commands/execute.h"
#include "core/plan/plan_forecast.h"
#include "core/schedule/run_limits.h"

/** Reads --executor: sets `*out_is_slurm`; false with an error for another word, and for options
 * that only trials of this machine have. */
bool orch_execute_read_executor(const struct orch_execute_options *options, bool *out_is_slurm,
                                GError **error);

/** Submits the plan. Returns the exit status, or -1 with an error. `limits` may be NULL. */
int orch_execute_slurm(struct orch_cli *cli, struct orch_plan *plan,
                       const struct orch_execute_options *options,
                       const struct orch_forecaster *forecaster, const struct orch_limits *limits,
                       GError **error);

#endif
