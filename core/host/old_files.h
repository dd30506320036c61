/* SPDX-License-Identifier: MIT */
/* Files that lay where a trial's artifacts are expected before the trial began. A program that runs
 * in the user's folder finds those of earlier trials there; they are not this trial's. */
#ifndef ORCH_HOST_OLD_FILES_H
#define ORCH_HOST_OLD_FILES_H

#include "core/host/child.h"

struct old_files;

/** Looks at the files of the declared artifacts, before the trial's process starts. */
struct old_files *orch_old_files_look(const struct child_setup *setup);
void orch_old_files_free(struct old_files *files);

/** True for the file of a declared artifact that the trial has neither made nor written. */
bool orch_old_files_has(const struct old_files *files, const struct orch_artifact_spec *spec);

/** The absolute path of a declared artifact; NULL with an error. The caller frees. */
char *orch_declared_path(const struct child_setup *setup, const struct orch_artifact_spec *spec,
                         const json_t *values, GError **error);

#endif
