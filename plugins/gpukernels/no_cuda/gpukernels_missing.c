/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/gpukernels/gpukernels.h"

int orch_gpukernels_run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    (void)params;
    host->fail(host,
               "no CUDA device can be used: orch was built without a CUDA compiler (nvcc); install "
               "the CUDA toolkit and build again");
    return ORCH_SKIPPED;
}
