/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch run --executor slurm`: submits a plan and says what was asked of Slurm. */
#ifndef ORCH_FEATURES_SLURM_EXECUTE_SLURM_H
#define ORCH_FEATURES_SLURM_EXECUTE_SLURM_H

#include "core/plan/executor.h"

extern const struct orch_executor ORCH_EXECUTOR_SLURM;

#endif
