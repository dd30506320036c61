/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs: operations of the backend that runs `git`, documented in backend.h. */
#ifndef ORCH_VCS_GIT_HISTORY_H
#define ORCH_VCS_GIT_HISTORY_H

#include "lib/vcs/backend.h"

bool orch_git_history_path(struct orch_vcs *vcs, const char *from, const char *to, GPtrArray *path,
                           GError **error);
bool orch_git_history_common(struct orch_vcs *vcs, const char *a, const char *b, char **out,
                             GError **error);

#endif
