/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What makes two trials the same: SHA-256 over the format number, plugin and version, canonical
 * parameters (no secrets), seed, digests of what will be read, fingerprints of the trials referred
 * to, the tree of the inputs, and the words of a command that stands in the recipe. Not the commit: an edited README or a rebase makes nothing stale.
 */
#ifndef ORCH_CORE_RUN_FINGERPRINT_H
#define ORCH_CORE_RUN_FINGERPRINT_H

#include "core/recipe/recipe.h"
#include "core/run/workspace.h"

/** A trial referred to, as it enters a fingerprint. Borrowed. */
struct orch_fingerprint_ref {
    const char *param, *artifact, *fingerprint;
};

/** The id that stands for the code of an experiment that is not ours: the tree of its `inputs:`;
 * for a wrapped program without them its manifest, the files that its command names, and those
 * beside and below them with the same extension; for another's compiled plugin its build id; "" for
 * the plugins that come with the program, whose version speaks. The caller frees; NULL on error. */
char *orch_inputs_id(struct orch_workspace *workspace, const struct orch_expansion *expansion,
                     const struct orch_experiment *experiment, GError **error);

/** The files that stand for the code of an experiment that is not ours, relative to the workspace's
 * root (or patterns of them, as `inputs:` says); empty for all others. char *; the caller unrefs;
 * NULL on error. */
GPtrArray *orch_inputs_paths(struct orch_workspace *workspace,
                             const struct orch_expansion *expansion,
                             const struct orch_experiment *experiment, GError **error);

/** Writes 64 hex digits. `inputs`: struct orch_checked_input * (or NULL), in any order. `root`: of
 * the work tree, from which paths in a command are written. */
void orch_fingerprint(const struct orch_cell *cell, const GPtrArray *inputs, const char *inputs_id,
                      const char *root, const struct orch_fingerprint_ref *refs, size_t ref_count,
                      char out[65]);

/** Is this one of the plugins that come with the program? */
bool orch_plugin_is_ours(const struct orch_manifest *manifest);

#endif
