/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices which files the trials of a sweep write that run in one folder. When several write the
 * same file, each trial finds or overwrites what another has left. A file that git neither tracks
 * nor ignores becomes a part of the source of later runs. */
#ifndef ORCH_CORE_SCHEDULE_WRITTEN_H
#define ORCH_CORE_SCHEDULE_WRITTEN_H

#include "core/plan/plan.h"

struct orch_written;

struct orch_written *orch_written_new(struct orch_plan *plan);
void orch_written_free(struct orch_written *written);

/** A trial starts in the user's folder `folder`. Returns its number for orch_written_end. */
unsigned orch_written_begin(struct orch_written *written, const char *folder);
/** That trial has ended. Looks at the folder unless looks cost too much of the time; with `is_last`
 * always. Returns a file that more than one trial wrote, once for all calls, or NULL; the caller
 * frees. */
char *orch_written_end(struct orch_written *written, unsigned number, bool is_last);

/** Whether git ignores a file that orch_written_end has returned: trials in folders apart then
 * write it in the user's folder, too. */
bool orch_written_is_ignored(const struct orch_written *written, const char *path);

/** Counts the files that trials wrote below the work tree and that will be captured with the source
 * of later runs, though they were not with that of this one. `*out_first` becomes one of them,
 * relative to the work tree, and `*out_line` a line for .gitignore that leaves it out; the caller
 * frees both. 0 when that is not known. */
unsigned orch_written_untracked(const struct orch_written *written, char **out_first,
                                char **out_line);

#endif
