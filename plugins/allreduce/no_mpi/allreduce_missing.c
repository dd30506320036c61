/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin in a build without MPI: recipes are checked and planned, trials are skipped. */
#include "plugins/allreduce/allreduce.h"
#include "plugins/common/comm/no_mpi.h"

int orch_allreduce_run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    (void)params;
    g_autofree char *why = orch_no_mpi();
    host->fail(host, why);
    return ORCH_SKIPPED;
}
