/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `keep:` of an experiment: the content of files, such as small data, that each run keeps in the
 * store as artifacts "kept:PATH", so that `orch checkout` gives it back. Equal content is stored
 * once, and is shared and packed as other artifacts are. */
#ifndef ORCH_CORE_RECORD_KEPT_FILES_H
#define ORCH_CORE_RECORD_KEPT_FILES_H

#include "core/record/trial_contents.h"
#include "core/record/trialdir.h"

/** Largest file that is kept. */
#define ORCH_KEPT_BYTES_MAX ((int64_t)64 << 20)

/** Stores the files that the experiment's patterns match now, before its trial starts, and adds
 * them to the trial's record. Files that cannot be kept are named in the run's log. */
bool orch_kept_files_take(struct orch_plan *plan, const struct orch_experiment *experiment,
                          json_t *record, GError **error);
/** Adds the files of a record to the run's artifacts. */
void orch_kept_files_gather(struct gathering *all);

/** The path in the source tree that an artifact's name stands for; NULL: it is no kept file. The
 * caller frees. */
char *orch_kept_file_path(const char *artifact);

#endif
