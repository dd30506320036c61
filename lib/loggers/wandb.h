/* SPDX-License-Identifier: MIT */
/* What the text files of Weights & Biases have in common with run-ID.wandb. */
#ifndef ORCH_LOGGERS_WANDB_H
#define ORCH_LOGGERS_WANDB_H

#include "lib/loggers/loggers.h"

/** True for a name that the client keeps for itself. */
bool orch_log_wandb_is_own(const char *name);
/** Passes on a line of the history. `step`: where the line has no "_step". Changes `values`. */
void orch_log_wandb_line(const struct orch_log_sink *sink, json_t *values, int64_t step);
/** Passes on the summary of a run. Changes `values`. */
void orch_log_wandb_summary(const struct orch_log_sink *sink, json_t *values);

#endif
