/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs: git's settings about users and keys, as the `git` program sees them in a
 * folder (with includes, scopes and environment). */
#ifndef ORCH_VCS_SETTING_H
#define ORCH_VCS_SETTING_H

#include <glib.h>
#include <stdbool.h>

/** Calls `visit` for each setting in `dir` (NULL: the current folder) whose name matches git's
 * regular expression. Names are lower case except for their middle part; `is_own` is true for the
 * repository's own settings. */
void orch_git_each_setting(const char *dir, const char *pattern,
                           void (*visit)(void *ctx, bool is_own, const char *name,
                                         const char *value),
                           void *ctx);
/** user.*, gpg.* and orch.* settings in `dir` (NULL: current folder): lower-case names -> values,
 * the last of several. Empty if git has none. Caller unrefs. */
GHashTable *orch_git_settings(const char *dir);
/** A setting whose value is a path: "~/" is the home folder, relative paths start at the work
 * tree's root. NULL if not set. Caller frees. */
char *orch_git_setting_path(GHashTable *settings, const char *name, const char *dir);

#endif
