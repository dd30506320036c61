/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of plugin `allreduce`, and the hook that uses MPI (the folder mpi). */
#ifndef ORCH_PLUGINS_ALLREDUCE_H
#define ORCH_PLUGINS_ALLREDUCE_H

#include <orch/plugin.h>

struct allreduce_params {
    int64_t workers, workers_per_node;
    const char *algorithm, *device;
    struct orch_list bytes; /* int64_t */
    int64_t repeats, warmup;
    double time_limit;
};

/** The hook of struct orch_plugin. */
int orch_allreduce_run(void *state, const void *params, const struct orch_host *host);

#endif
