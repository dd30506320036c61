/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder apart: the files of the captured tree in a trial's own folder, among what lies around
 * the work tree, so that a program finds there what it finds in the work tree.
 *
 * TRIALDIR/work stands for the root of the file system. The copy is at the work tree's own path
 * below it, and each folder on the way has links to the other entries of the original, so that
 * relative paths that leave the repository lead where they lead in the original. */
#ifndef ORCH_CORE_RECORD_WORK_COPY_H
#define ORCH_CORE_RECORD_WORK_COPY_H

#include "core/plan/plan.h"

#include <jansson.h>

/** Where a trial leaves an artifact, relative to the folder in which it starts; NULL for one with
 * an absolute path, as in the trial's own folder, and for one without a path. The caller frees. */
char *orch_artifact_path(const struct orch_plan_item *item, const struct orch_artifact_spec *spec);

/** Makes the folder in `trial_dir` for a program that starts in `home`, an absolute path in the
 * plan's workspace, which has a captured tree. Its artifacts have their own place there, also in
 * folders that git ignores. `*out_cwd`: where it starts, relative to `trial_dir`
 * (the caller frees). Returns the folder's description for the host (`apart` of trial.json,
 * core/host/apart_view.h); NULL on error. */
json_t *orch_apart_make(struct orch_plan *plan, const struct orch_plan_item *item, const char *home,
                        const char *trial_dir, char **out_cwd, GError **error);

/** Copies the folder `from`, up to a budget of files and bytes beyond which it has links, to
 * TRIALDIR/work: for a program that does not come from a repository. Returns `apart` of trial.json,
 * which says where the copies are from; NULL on error. */
json_t *orch_apart_copy_folder(const char *from, const char *trial_dir, GError **error);

#endif
