/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows what trials would take and cost on other GPUs (`orch coverage --gpu`). */
#ifndef ORCH_FEATURES_PREDICT_PLAN_GPUS_SHOW_H
#define ORCH_FEATURES_PREDICT_PLAN_GPUS_SHOW_H

#include "core/cli/cli.h"
#include "features/predict/plan_gpus.h"

/** Prints a table to stdout, with the basis of its numbers. */
void orch_cli_plan_gpus_show(struct orch_cli *cli, const struct orch_plan_gpus *gpus);
/** Returns the same as an array. New reference. */
json_t *orch_cli_plan_gpus_json(const struct orch_plan_gpus *gpus);

#endif
