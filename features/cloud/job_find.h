/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the one trial that a command line names: of a recipe, or that of a stored run. */
#ifndef ORCH_FEATURES_CLOUD_JOB_FIND_H
#define ORCH_FEATURES_CLOUD_JOB_FIND_H

#include "core/cli/recipe_plan.h"

struct orch_cli_job {
    struct orch_expansion *expansion;
    struct orch_plan *plan;
    const struct orch_plan_item *item;
    GPtrArray
        *words; /* char *: the command that runs just this trial, from the repository's root */
};

/** What selects the trial, from the options. */
struct orch_cli_job_selector {
    const char *trial; /* its number or label; NULL: the only one */
    struct orch_variant variant;
};

/** Uses cli->args: RECIPE [PROBLEM|EXPERIMENT...], or RUN. False with ORCH_ERROR_USAGE or
 * ORCH_ERROR_NOT_FOUND, whose hint lists the trials. Clear in both cases. */
bool orch_cli_job_find(struct orch_cli *cli, const struct orch_cli_job_selector *selector,
                       struct orch_cli_job *out, GError **error);
void orch_cli_job_clear(struct orch_cli_job *trial);

#endif
