/* SPDX-License-Identifier: MIT */
/* Matrix products of our own, for machines or precisions without a library. The operands are packed
 * already. */
#ifndef ORCH_FEATURES_HARDWARE_OWN_GEMM_H
#define ORCH_FEATURES_HARDWARE_OWN_GEMM_H

enum orch_own_gemm { ORCH_OWN_FP32, ORCH_OWN_FP64 };

/** Side of the square matrices. */
enum { ORCH_OWN_GEMM_SIDE = 1024 };

/** C += A x B with `threads` threads, for matrices of SIDE x SIDE values packed as the kernel reads
 * them: A in strips of 8 rows, B in strips of 32 columns (16 for fp64), each strip by its inner
 * index; C in tiles of 8 rows and that many columns. All are aligned to 64 bytes. */
void orch_own_gemm_run(enum orch_own_gemm type, const void *a, const void *b, void *c, int threads);

#endif
