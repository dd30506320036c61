/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What makes two trials the same: SHA-256 over the format number, plugin and version, canonical
 * parameters (no secrets), seed, digests of the files it reads, fingerprints of the trials it
 * refers to, the tree of the inputs, and the words of a command given in the recipe. The commit is
 * not included, so an edited README or a rebase makes no trial stale.
 */
#ifndef ORCH_CORE_PLAN_FINGERPRINT_H
#define ORCH_CORE_PLAN_FINGERPRINT_H

#include "core/recipe/recipe.h"
#include "core/workspace/workspace.h"

/** A trial that another refers to, as included in the latter's fingerprint. Borrowed. */
struct orch_fingerprint_ref {
    const char *param, *artifact, *fingerprint;
};

/** Returns whether the fingerprint contains a parameter: it identifies the cell
 * (orch_cell_identifies) and is not in `no_effect` (names, or NULL). */
bool orch_fingerprint_has(const struct orch_cell *cell, const GPtrArray *no_effect,
                          const struct orch_param_spec *spec);
/** Writes 64 hex digits. `seed`: the trial's (struct orch_plan_item). `inputs`: struct
 * orch_checked_input * (or NULL), in any order. `no_effect`: names of parameters without effect (or
 * NULL). `root`: root of the work tree; paths in a command are made relative to it. */
void orch_fingerprint(const struct orch_cell *cell, uint64_t seed, const GPtrArray *inputs,
                      const GPtrArray *no_effect, const char *inputs_id, const char *root,
                      const struct orch_fingerprint_ref *refs, size_t ref_count, char out[65]);

/** A digest of the words of an experiment's own command (`program:`), with paths below `root` made
 * relative to it: 64 hex digits. NULL when the command comes from its plugin. The caller frees. */
char *orch_command_id(const struct orch_experiment *experiment, const char *root);

#endif
