/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code and the declared inputs of an experiment: which files they are, and their id. */
#ifndef ORCH_CORE_INPUTS_INPUTS_ID_H
#define ORCH_CORE_INPUTS_INPUTS_ID_H

#include "core/recipe/recipe.h"
#include "core/workspace/workspace.h"

/** The id of the code of an experiment. For a wrapped program: the tree of its manifest, of the
 * files that its command provably uses (scripts.h) and of the files in `inputs:`. For any
 * compiled plugin with `inputs:`: their tree. Without `inputs:`: a third-party plugin's build id,
 * or "" for the plugins that come with orch, which are identified by their version. `*out_code_id`
 * (or NULL): the same for Python scripts without comments where the id is no tree, else NULL. The
 * caller frees both; NULL on error. */
char *orch_inputs_id(struct orch_workspace *workspace, const struct orch_expansion *expansion,
                     const struct orch_experiment *experiment, char **out_code_id, GError **error);

/** An id of the code of a tree of inputs, as it lies on disk, in which comments of Python scripts
 * do not count; an id that is no tree as it is. The caller frees. */
char *orch_inputs_code_id(struct orch_workspace *workspace, const char *inputs_id);

/** The files and folders that `inputs:` names and that the captured tree does not have, because git
 * ignores them or they lie elsewhere; also the captured folders, which may hold such files. char *,
 * absolute; the caller unrefs; NULL on error. */
GPtrArray *orch_inputs_not_captured(struct orch_workspace *workspace,
                                    const struct orch_expansion *expansion,
                                    const struct orch_experiment *experiment, GError **error);

/** The tree of only the files that `inputs:` names; "" without `inputs:`. The caller frees; NULL on
 * error. */
char *orch_inputs_declared_id(struct orch_workspace *workspace,
                              const struct orch_expansion *expansion,
                              const struct orch_experiment *experiment, GError **error);

/** The files that orch_inputs_id covers, relative to the workspace's root (patterns where `inputs:`
 * has patterns); empty for code outside the repository. char *; the caller unrefs; NULL on error.
 */
GPtrArray *orch_inputs_paths(struct orch_workspace *workspace,
                             const struct orch_expansion *expansion,
                             const struct orch_experiment *experiment, GError **error);

#endif
