/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares what a run read (read_files.h) with the files as they are now. */
#ifndef ORCH_CORE_INPUTS_READ_SINCE_H
#define ORCH_CORE_INPUTS_READ_SINCE_H

#include "core/inputs/inputs.h"
#include "store/store.h"

/** Why a run of the trial's fingerprint cannot be reused because of a file that it read: "data.csv,
 * which this run read, has changed since". NULL when there is none. Files that the fingerprint
 * covers are not looked at again, and each file only once. `*out_name`: the file. The
 * caller frees both. */
char *orch_read_since(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                      const struct orch_run *run, char **out_name);

/** The first of these files (char *) that the run wrote; NULL: none. What it wrote is not known.
 * Borrowed from the list. */
const char *orch_read_wrote(const struct orch_run *run, const GPtrArray *names);

/** True when orch_read_since has found other comments in Python scripts that the run read. */
bool orch_read_other_comments(struct orch_inputs *all, const struct orch_run *run);

/** What is not compared of a run that is reused, for people; NULL when there is nothing to say. The
 * caller frees. */
char *orch_read_not_compared(const struct orch_run *run);

#endif
