/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside lib/vcs: git's settings about people and keys, as the `git` program has them for a folder
 * (includes, scopes and its environment count). */
#ifndef ORCH_VCS_SETTING_H
#define ORCH_VCS_SETTING_H

#include <glib.h>

/** user.*, gpg.* and orch.* of `dir` (NULL: the current folder): names in lower case -> values, the
 * last of several. Empty where git says nothing. The caller unrefs. */
GHashTable *orch_git_settings(const char *dir);
/** A setting that is a path: "~/" is the home folder, a relative one begins at the work tree's
 * root. NULL: not set. The caller frees. */
char *orch_git_setting_path(GHashTable *settings, const char *name, const char *dir);

#endif
