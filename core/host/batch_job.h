/* SPDX-License-Identifier: MIT */
/* `orch-host --job TRIALDIR`: a trial inside a batch job, possibly on another machine and possibly
 * for the second time. */
#ifndef ORCH_HOST_BATCH_JOB_H
#define ORCH_HOST_BATCH_JOB_H

#include <glib.h>

/** Prepares the folder, supervises the trial, and returns the exit status for the batch system: 0
 * when the trial ended well, ORCH_JOB_EXIT_BADLY when it ended otherwise, and 1 with an error when
 * its journal has no end. A journal of an earlier start is set aside; if that start ended well,
 * nothing runs. */
int orch_host_job(const char *trial_dir, int argc, char **argv, GError **error);

#endif
