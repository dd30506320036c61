/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes in the trials of Slurm jobs that have ended, for commands that show or use runs. */
#ifndef ORCH_FEATURES_SLURM_TAKE_IN_H
#define ORCH_FEATURES_SLURM_TAKE_IN_H

#include "core/cli/cli.h"
#include "features/slurm/slurm_collect.h"

/** Collects when the workspace's store has trials of Slurm jobs, and says what came. A failure is a
 * warning: the command itself can go on with what is stored. */
void orch_slurm_take_in(struct orch_cli *cli);

/** Says which alerts fired in the trials that were collected, and runs the command of $ORCH_NOTIFY
 * for each. */
void orch_cli_tell_alerts(struct orch_cli *cli, const struct orch_slurm_collected *collected);

/** "collected 12 trials of Slurm jobs: 10 ok, 2 timeout; 3 running, 5 queued (Priority)". NULL when
 * there is nothing to say. Caller frees. */
char *orch_cli_collected_text(const struct orch_slurm_collected *collected);

#endif
