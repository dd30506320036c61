/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/kernels/no_kernels.h"
#include "plugins/vecadd/vecadd.h"

int orch_vecadd_gpu_run(const struct vecadd_trial *trial, const struct orch_host *host)
{
    (void)trial;
    return orch_vecadd_skip(host, ORCH_NO_KERNELS);
}
