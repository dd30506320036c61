/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_NO_KERNELS_H
#define ORCH_NO_KERNELS_H

/* Why a trial on a GPU is skipped in a build without CUDA kernels, and what adds them. */
#define ORCH_NO_KERNELS                                                                            \
    "no CUDA device can be used: this build has no CUDA kernels; './build.sh gpu' compiles them, " \
    "with nvcc of NVIDIA's CUDA toolkit"

#endif
