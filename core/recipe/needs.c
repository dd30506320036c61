/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/needs.h"

#include "core/recipe/declared_cost.h"

#include <math.h>

unsigned orch_experiment_gpus(const struct orch_experiment *experiment)
{
    return MAX(experiment->gpus, experiment->manifest->needs.gpus);
}

bool orch_experiment_sees_gpus(const struct orch_experiment *experiment)
{
    return experiment->manifest->kind == ORCH_PLUGIN_WRAPPED && !experiment->hides_gpus &&
           !orch_experiment_gpus(experiment);
}

unsigned orch_experiment_gpu_millionths(const struct orch_experiment *experiment)
{
    if (orch_experiment_gpus(experiment) != 1 || !(experiment->gpu_share > 0))
        return ORCH_GPU_WHOLE;
    return (unsigned)lround(experiment->gpu_share * ORCH_GPU_WHOLE);
}

double orch_experiment_gpu_sum(const struct orch_experiment *experiment)
{
    return orch_experiment_gpus(experiment) *
           (orch_experiment_gpu_millionths(experiment) / (double)ORCH_GPU_WHOLE);
}

unsigned orch_experiment_shares(const struct orch_experiment *experiment,
                                const struct orch_machine *machine, unsigned slots)
{
    const unsigned gpus = orch_experiment_gpus(experiment);
    const unsigned on_one = ORCH_GPU_WHOLE / orch_experiment_gpu_millionths(experiment);
    return MAX(MAX(1u, slots), gpus ? machine->gpus->len / gpus * on_one : 1u);
}

unsigned orch_experiment_ranks(const struct orch_experiment *experiment, const json_t *cost)
{
    enum { RANKS_MAX = 4096 };
    const struct orch_manifest *manifest = experiment->manifest;
    if (!manifest->needs.mpi || manifest->kind != ORCH_PLUGIN_COMPILED)
        return 0;
    unsigned ranks =
        experiment->ranks ? experiment->ranks : (unsigned)MIN(orch_cost_workers(cost), RANKS_MAX);
    return ranks == 1 && orch_experiment_has_no_mpi(experiment) ? 0 : ranks;
}

bool orch_experiment_has_no_mpi(const struct orch_experiment *experiment)
{
    return experiment->manifest->needs.mpi == 2;
}

bool orch_experiment_runs_alone(const struct orch_experiment *experiment)
{
    return experiment->exclusive || experiment->manifest->flags & ORCH_PLUGIN_TIMING;
}

bool orch_experiment_declares_cpus(const struct orch_experiment *experiment)
{
    return experiment->cores > 0 || orch_experiment_runs_alone(experiment);
}

bool orch_experiment_waits(const struct orch_experiment *experiment)
{
    return orch_experiment_declares_cpus(experiment) || orch_experiment_gpus(experiment) > 0;
}

int orch_experiment_threads(const struct orch_experiment *experiment,
                            const struct orch_machine *machine, unsigned slots)
{
    if (experiment->cores)
        return (int)MIN(experiment->cores, (unsigned)machine->threads);
    if (orch_experiment_runs_alone(experiment))
        return machine->threads;
    return MAX(1, machine->threads / (int)orch_experiment_shares(experiment, machine, slots));
}
