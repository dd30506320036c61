/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine resources that an experiment's trials need. */
#include "core/run/plan.h"

#include "core/run/declared_cost.h"

unsigned orch_experiment_gpus(const struct orch_experiment *experiment)
{
    return MAX(experiment->gpus, experiment->manifest->needs.gpus);
}

unsigned orch_experiment_ranks(const struct orch_experiment *experiment, const json_t *cost)
{
    enum { RANKS_MAX = 4096 };
    const struct orch_manifest *manifest = experiment->manifest;
    if (!manifest->needs.mpi || manifest->kind != ORCH_PLUGIN_COMPILED)
        return 0;
    return experiment->ranks ? experiment->ranks
                             : (unsigned)MIN(orch_cost_workers(cost), RANKS_MAX);
}

bool orch_experiment_runs_alone(const struct orch_experiment *experiment)
{
    return experiment->exclusive || experiment->manifest->flags & ORCH_PLUGIN_TIMING;
}

int orch_experiment_threads(const struct orch_experiment *experiment,
                            const struct orch_machine *machine, unsigned slots)
{
    if (experiment->cores)
        return (int)MIN(experiment->cores, (unsigned)machine->threads);
    if (orch_experiment_runs_alone(experiment))
        return machine->threads;
    return MAX(1, machine->threads / (int)MAX(1u, slots));
}
