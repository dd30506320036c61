/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/kernels/no_kernels.h"
#include "plugins/vecadd/vecadd.h"

int orch_vecadd_gpu_run(const struct vecadd_trial *trial, const struct orch_host *host)
{
    (void)trial;
    g_autofree char *why = orch_no_kernels();
    return orch_vecadd_skip(host, "%s", why);
}
