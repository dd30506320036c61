/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the instance of a platform for a trial, by GPU and price. */
#ifndef ORCH_FEATURES_CLOUD_JOB_INSTANCE_H
#define ORCH_FEATURES_CLOUD_JOB_INSTANCE_H

#include "features/cloud/job_platform.h"

struct orch_job_wish {
    const char *gpu;      /* name or alias in the table of GPUs; NULL: the cheapest that fits */
    const char *instance; /* the platform's name; NULL: chosen */
};

/** Sets the job's instance: the one that the user named, else the cheapest with the GPUs, cores and
 * memory that the trial asks for; among those without a known price the smallest. A trial that
 * needs no GPU gets one only if `wish->gpu` names it. False with ORCH_ERROR_NOT_FOUND when the
 * platform has none. */
bool orch_job_choose_instance(struct orch_job *job, const struct orch_job_platform *platform,
                              const struct orch_hardware *hardware,
                              const struct orch_job_wish *wish, GError **error);

/** What an hour of the instance costs, with the source: "USD 3.06 an hour (aws p3.2xlarge, ...)",
 * or "unknown". Caller frees. */
char *orch_job_price_text(const struct orch_job *job, const struct orch_hardware *hardware,
                          double *out_usd_per_hour);

#endif
