/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_NO_KERNELS_H
#define ORCH_NO_KERNELS_H

#include "lib/base/program_parts.h"

#include <glib.h>

/* Why a trial on a GPU is skipped in a build without CUDA kernels, and what adds them. The caller
 * frees. */
static inline char *orch_no_kernels(void)
{
    return g_strdup_printf("no CUDA device can be used: this build has no CUDA kernels, which nvcc "
                           "of NVIDIA's CUDA toolkit compiles: %s",
                           orch_program_way(ORCH_PART_CUDA));
}

#endif
