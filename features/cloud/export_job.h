/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch export job`: what its files share. */
#ifndef ORCH_FEATURES_CLOUD_EXPORT_JOB_H
#define ORCH_FEATURES_CLOUD_EXPORT_JOB_H

#include "features/cloud/job_find.h"

#include "features/cloud/job_instance.h"

struct orch_export_job_options {
    struct orch_cli_job_selector selector;
    const char *to, *gpu, *out, *time;
    const char **instances, **names, **images, **data, **inputs, **results, **roles, **queues,
        **projects, **definitions;
    bool side_by_side;
};

/** What the documents of one command are made from. */
struct orch_export_job {
    struct orch_cli *cli;
    const struct orch_export_job_options *options;
    struct orch_cli_job trial;
    struct orch_hardware *hardware;
    double given_s; /* --time; 0: not given */
};

/** Returns the job of a platform, which the caller frees. `*error` is set when no instance fits;
 * the job then has none. */
struct orch_job *orch_cli_job_make(const struct orch_export_job *e,
                                   const struct orch_job_platform *platform, GError **error);
/** Writes the document of the platform that --to names, and prints what it rests on. */
bool orch_cli_job_export(const struct orch_export_job *e, GError **error);
/** Prints where each platform's document has each field. */
void orch_cli_job_compare(const struct orch_export_job *e);

#endif
