/* SPDX-License-Identifier: MIT */
/* References to trials that had not ended when this one was submitted (lib/wire/job_files.h). */
#ifndef ORCH_HOST_JOB_REFS_H
#define ORCH_HOST_JOB_REFS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/** Puts the values of the references into TRIALDIR/trial.json: results as numbers, artifacts as
 * paths of links below TRIALDIR/inputs, so that they stay when the other trial is collected.
 * `*out_inputs` gets [param, run, sha256] of each; the caller unrefs it. True without references.
 */
bool orch_job_refs_resolve(const char *trial_dir, json_t *out_inputs, GError **error);

#endif
