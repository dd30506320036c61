/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What trials that nobody has run would take and cost on other GPUs, by what their plugins declare
 * they cost. */
#ifndef ORCH_CORE_CLI_COVERAGE_GPUS_H
#define ORCH_CORE_CLI_COVERAGE_GPUS_H

#include "core/cli/forecast.h"

struct coverage_gpus;
/** Of the items (const struct orch_plan_item *) on the GPUs that `names` lists ("V100", "V100,K80",
 * "all"), by time and then cost; `price` (0: the dated prices) for an hour of a GPU. NULL with an
 * error: an unknown GPU, bad hardware files. The caller frees. */
struct coverage_gpus *coverage_gpus_new(struct orch_forecasts *forecasts, const GPtrArray *items,
                                        const char *names, double price, GError **error);
void coverage_gpus_free(struct coverage_gpus *gpus);
/** A table on stdout, with what it rests on. */
void coverage_gpus_print(struct orch_cli *cli, const struct coverage_gpus *gpus);
/** The same as an array. New reference. */
json_t *coverage_gpus_json(const struct coverage_gpus *gpus);

#endif
