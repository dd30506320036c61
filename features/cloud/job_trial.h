/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one trial of a plan that becomes a job, and the command that runs just this trial. */
#ifndef ORCH_FEATURES_CLOUD_JOB_TRIAL_H
#define ORCH_FEATURES_CLOUD_JOB_TRIAL_H

#include "core/plan/plan.h"

/** Returns the trial with a number (from 1) or label among those that 'orch run' would consider;
 * for `trial` NULL the only one. NULL with ORCH_ERROR_USAGE or ORCH_ERROR_NOT_FOUND, whose hint
 * lists the trials. */
const struct orch_plan_item *orch_job_trial_choose(const struct orch_plan *plan, const char *trial,
                                                   GError **error);
/** Returns the trial that a run is the result of; NULL with an error where settings, files or
 * plugin have changed. */
const struct orch_plan_item *orch_job_trial_of_run(const struct orch_plan *plan,
                                                   const struct orch_run *run, GError **error);

/** Returns the arguments of the 'orch run' that made a run, without "orch run". NULL with an error
 * for runs of other commands. The caller frees with g_strfreev. */
char **orch_job_run_words(const struct orch_run *run, int *out_count, GError **error);

/** What was typed to describe a plan. Lists end with NULL; all but `args` may be NULL. With
 * `experiment` the command names that experiment, and the trial is counted among its trials. */
struct orch_job_command {
    const char *const *args; /* the recipe and the names of experiments */
    const char *profile, *experiment;
    const char *const *settings, *const *sweeps;
};
/** Returns the command (char *) that runs just this trial, from the repository's root. The caller
 * unrefs. */
GPtrArray *orch_job_command_words(const struct orch_plan *plan, const struct orch_plan_item *item,
                                  const struct orch_job_command *typed);
/** False with an error when a command sets a secret parameter. */
bool orch_job_has_no_secret(const GPtrArray *words, const struct orch_expansion *expansion,
                            GError **error);

#endif
