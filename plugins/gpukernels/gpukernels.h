/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to plugin `gpukernels`: its parameters, and the part that needs CUDA (the folder cuda,
 * or no_cuda in a build without kernels). */
#ifndef ORCH_PLUGINS_GPUKERNELS_H
#define ORCH_PLUGINS_GPUKERNELS_H

#include <orch/plugin.h>

struct gpukernels_params {
    const char *kernel, *variant;
    int64_t rows, columns;
    int64_t min_samples;
    double min_time, time_limit, settled;
};

/** The hook of struct orch_plugin. */
int orch_gpukernels_run(void *state, const void *params, const struct orch_host *host);

#endif
