/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The software environment of a trial besides its own code: the Python interpreter and its
 * packages, LibTorch, CUDA, the GPU driver. It is found by reading files (nothing of a recipe is
 * run), recorded with each run, and compared by the plan. */
#ifndef ORCH_CORE_WORKSPACE_ENVIRONMENT_H
#define ORCH_CORE_WORKSPACE_ENVIRONMENT_H

#include "core/recipe/recipe.h"
#include "core/workspace/workspace.h"

/** The environments of a plan's experiments, each looked up once. */
struct orch_environments;
struct orch_environments *orch_environments_new(struct orch_workspace *workspace,
                                                const struct orch_expansion *expansion);
void orch_environments_free(struct orch_environments *environments);

/** The environment of an experiment's trials: an object of names and versions ("python": "3.11.2",
 * "torch": "2.5.1", "driver": "550.54"), at most 40, and the digests of the lists of all packages
 * (package_lists.h). Empty when nothing is known. Borrowed. */
const json_t *orch_environments_facts(struct orch_environments *environments,
                                      const struct orch_experiment *experiment);

/** Writes the lists of all packages of an experiment's environment into the folder of a store, once
 * for each digest. Failures are ignored: the list only makes differences more exact. */
void orch_environments_keep(struct orch_environments *environments,
                            const struct orch_experiment *experiment, const char *store_folder);

/** The same object for a program that orch did not start (`program`: path or name of its
 * executable; NULL: unknown), with the driver and CUDA when the machine has GPUs. Its list of
 * packages is written to the store's folder. New reference. */
json_t *orch_environment_of_program(struct orch_workspace *workspace, const char *program,
                                    const char *store_folder);

/** Describes how an experiment's current environment differs from a recorded one: "torch 1.13
 * -> 2.5, numpy 1.24 -> 1.26", at most six names. With `store_folder`, the full package lists are
 * compared too; with NULL, only the versions recorded by name. Returns NULL when nothing differs,
 * or when one environment is unknown. The caller frees. */
char *orch_environments_difference(struct orch_environments *environments,
                                   const struct orch_experiment *experiment, const json_t *then,
                                   const char *store_folder);

/** The differences between two recorded environments, each name once: struct orch_environment_row
 * *. The caller unrefs. */
struct orch_environment_row {
    char *name, *then, *now; /* then or now is NULL when that side does not have it */
};
GPtrArray *orch_environment_rows(const json_t *then, const json_t *now, const char *store_folder);

/** The environment in a run's recorded facts (JSON text); NULL when none was recorded. New
 * reference. */
json_t *orch_environment_recorded(const char *facts);

#endif
