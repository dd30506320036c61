/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies in a work tree but not in its captured tree. */
#ifndef ORCH_CORE_WORKSPACE_UNCAPTURED_H
#define ORCH_CORE_WORKSPACE_UNCAPTURED_H

#include "lib/vcs/vcs.h"

struct orch_uncaptured {
    GPtrArray *paths;   /* char *: ignored files and folders, submodules, nested repositories, large
                           files, keys, pipes and sockets; the topmost of each, relative, sorted */
    GPtrArray *folders; /* char *: empty folders */
};

/** Lists them for the work tree of `vcs`, of which `source` is a capture, and the submodules of
 * `tree`. The caller frees; NULL on error. */
struct orch_uncaptured *orch_uncaptured_list(struct orch_vcs *vcs, const struct orch_source *source,
                                             const char *tree, GError **error);
void orch_uncaptured_free(struct orch_uncaptured *uncaptured);

#endif
