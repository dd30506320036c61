/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine resources that an experiment's trials need. */
#ifndef ORCH_CORE_RECIPE_NEEDS_H
#define ORCH_CORE_RECIPE_NEEDS_H

#include "core/recipe/recipe.h"
#include "lib/hw/machine.h"

/** The whole of a GPU, in millionths. */
#define ORCH_GPU_WHOLE 1000000

/** Number of GPUs of one trial of the experiment. */
unsigned orch_experiment_gpus(const struct orch_experiment *experiment);
/** True for a program of the user's that declares no GPUs, not even 0: as by hand it has all of
 * this machine's, and holds none of them. */
bool orch_experiment_sees_gpus(const struct orch_experiment *experiment);
/** The share of its GPU that one trial uses, in millionths: ORCH_GPU_WHOLE for whole GPUs. */
unsigned orch_experiment_gpu_millionths(const struct orch_experiment *experiment);
/** Number of GPUs of one trial, where a share counts as such: 0.5. */
double orch_experiment_gpu_sum(const struct orch_experiment *experiment);
/** Number of trials of the experiment among which the machine's CPUs are divided: those that run at
 * once (`slots`), or those that the machine's GPUs can hold, if these are more. */
unsigned orch_experiment_shares(const struct orch_experiment *experiment,
                                const struct orch_machine *machine, unsigned slots);
/** Number of processes that MPI starts for a trial: what its recipe says, else the `workers` of its
 * declared cost (may be NULL), else 1. 0 for a plugin that does not use MPI, for one process of
 * one that was built without it, and for a wrapped program. */
unsigned orch_experiment_ranks(const struct orch_experiment *experiment, const json_t *cost);
/** True for a plugin that can use MPI and was built without it, for one process. */
bool orch_experiment_has_no_mpi(const struct orch_experiment *experiment);
/** Number of threads of a trial's slot: the experiment's `cores` if set, else all threads of the
 * machine for a trial that runs alone, else an equal share (orch_experiment_shares). */
int orch_experiment_threads(const struct orch_experiment *experiment,
                            const struct orch_machine *machine, unsigned slots);
/** No other trial runs beside one of it: a timing plugin's, or `resources: { exclusive: true }`. */
bool orch_experiment_runs_alone(const struct orch_experiment *experiment);
/** True when its trials ask for CPUs: by a number of cores, or because they run alone. */
bool orch_experiment_declares_cpus(const struct orch_experiment *experiment);
/** True when its trials wait for other runs of this machine: they declare CPUs or need GPUs. */
bool orch_experiment_waits(const struct orch_experiment *experiment);

#endif
