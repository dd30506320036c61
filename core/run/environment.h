/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial runs on besides its code and its machine: the Python interpreter and its packages,
 * LibTorch, CUDA, the GPU driver. Found by reading files (nothing of a recipe is run), recorded
 * with each run, and compared by the plan. */
#ifndef ORCH_CORE_RUN_ENVIRONMENT_H
#define ORCH_CORE_RUN_ENVIRONMENT_H

#include "core/recipe/recipe.h"
#include "core/run/workspace.h"

/** The environments of a plan's experiments, each looked up once. */
struct orch_environments;
struct orch_environments *orch_environments_new(struct orch_workspace *workspace,
                                                const struct orch_expansion *expansion);
void orch_environments_free(struct orch_environments *environments);

/** The environment of an experiment's trials: an object of names and versions ("python": "3.11.2",
 * "torch": "2.5.1", "driver": "550.54"), at most 40, and "packages", the digest of the list of all
 * packages. Empty when nothing is known. Borrowed. */
const json_t *orch_environments_facts(struct orch_environments *environments,
                                      const struct orch_experiment *experiment);

/** Writes the list of all packages of an experiment's environment into the folder of a store, once
 * for each digest. Failures are ignored: the list only makes differences more exact. */
void orch_environments_keep(struct orch_environments *environments,
                            const struct orch_experiment *experiment, const char *store_folder);

/** "torch 1.13 -> 2.5, numpy 1.24 -> 1.26": what differs between a recorded environment and that of
 * an experiment now, at most six names. With `store_folder`, packages that only the lists tell of
 * count, too; NULL: only the versions that the run recorded by name. Returns NULL when nothing
 * differs, or one of them is not known. The caller frees. */
char *orch_environments_difference(struct orch_environments *environments,
                                   const struct orch_experiment *experiment, const json_t *then,
                                   const char *store_folder);

/** What differs between two recorded environments, each name once: struct orch_environment_row *.
 * The caller unrefs. */
struct orch_environment_row {
    char *name, *then, *now; /* then or now NULL: it is not there */
};
GPtrArray *orch_environment_rows(const json_t *then, const json_t *now, const char *store_folder);

/** The environment among a run's recorded facts (JSON text); NULL: none was recorded. New
 * reference.
 */
json_t *orch_environment_recorded(const char *facts);

#endif
