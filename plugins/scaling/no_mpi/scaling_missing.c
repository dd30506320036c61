/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin in a build without MPI: recipes are checked and planned, trials are skipped. */
#include "plugins/common/comm/no_mpi.h"
#include "plugins/scaling/scaling.h"

int orch_scaling_open(const void *params, const struct orch_host *host, void **out_state)
{
    (void)params;
    (void)out_state;
    g_autofree char *why = orch_no_mpi();
    host->fail(host, why);
    return ORCH_SKIPPED;
}

int orch_scaling_run(void *state, const void *params, const struct orch_host *host)
{
    return orch_scaling_open(params, host, state);
}

void orch_scaling_close(void *state)
{
    (void)state;
}
