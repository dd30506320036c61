/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/kernels/no_kernels.h"
#include "plugins/gpukernels/gpukernels.h"

int orch_gpukernels_run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    (void)params;
    g_autofree char *why = orch_no_kernels();
    host->fail(host, why);
    return ORCH_SKIPPED;
}
