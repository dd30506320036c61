/* SPDX-License-Identifier: MIT */
/* Files in the folder of a trial that runs in a batch job, beside those of every trial
 * (lib/wire/trial.h). */
#ifndef ORCH_WIRE_JOB_FILES_H
#define ORCH_WIRE_JOB_FILES_H

/** Written when the trial is submitted: an array of {param, run, trial_dir, name, is_result}, the
 * references to trials that had not ended then. */
#define ORCH_JOB_REFS "refs.json"

/** Written by the host when it starts on its node: {started_ns, machine_key, machine_facts,
 * device_key, environment: {SLURM_...}, modules, restarts, inputs: [[param, run, sha256]]}. */
#define ORCH_JOB_REPORT "job.json"

/** Exit status of `orch-host --job` when the trial ended but not well, so that Slurm does not start
 * the trials that depend on it. 0: it ended well; 1: there is no end in the journal. */
#define ORCH_JOB_EXIT_BADLY 10

#endif
