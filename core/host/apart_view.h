/* SPDX-License-Identifier: MIT */
/* Runs a trial in a folder apart: a copy of the captured tree in TRIALDIR, with links to what git
 * does not capture (core/record/work_copy.h makes it).
 *
 * Where mount namespaces are allowed, the trial's processes see the copy at the work tree's own
 * path, and in it, in place of the links, what they lead to. All paths are then as by hand.
 * Elsewhere they run in the copy's own path: paths into the work tree in the trial's parameters,
 * the command's words, PYTHONPATH and similar variables are replaced by those of the copy.
 *
 * `apart` of trial.json: origin (the work tree), root (the root of the plan's workspace: the same,
 * or a copy of another commit), copy (relative to TRIALDIR), live (relative paths of the links),
 * python (folders that belong on PYTHONPATH), is_whole (false: folders of the copy are links, too).
 */
#ifndef ORCH_HOST_APART_VIEW_H
#define ORCH_HOST_APART_VIEW_H

#include "lib/wire/trial.h"

struct apart;

/** NULL for a trial that does not run apart. Replaces paths in the trial's parameters and command.
 */
struct apart *orch_apart_open(struct orch_trial_spec *trial, const char *trial_dir);
void orch_apart_free(struct apart *apart);

/** "mount" or "links". */
const char *orch_apart_kind(const struct apart *apart);

/** Before the trial's process starts: makes places for mounts, or lets links into the work tree
 * lead into the copy. `apart` may be NULL. */
void orch_apart_prepare(const struct apart *apart);
/** In the trial's process, before anything else uses a path: makes the copy visible at the work
 * tree's path. Returns NULL, or why it failed; caller frees. */
char *orch_apart_enter(const struct apart *apart);
/** The path at which the trial's processes see a path of the copy. Caller frees. */
char *orch_apart_inside(const struct apart *apart, const char *path);
/** The path at which others see a path that a trial's process named. Caller frees. `apart` may be
 * NULL. */
char *orch_apart_outside(const struct apart *apart, const char *path);
/** The path of the copy; NULL when `apart` is NULL. Borrowed. */
const char *orch_apart_copy(const struct apart *apart);
/** Puts folders of the copy before those of the work tree in the variables that list folders. Takes
 * `env` over. */
char **orch_apart_environment(const struct apart *apart, char **env);
/** After the trial's processes have ended: puts the links back, and moves what the trial made above
 * its copy, as '../new.csv', to where it would lie by hand. */
void orch_apart_leave(const struct apart *apart);

#endif
