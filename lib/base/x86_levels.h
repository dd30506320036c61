/* SPDX-License-Identifier: MIT */
/* Instruction sets for __attribute__((target_clones)) on x86-64. GCC before 11 (Debian 11, with
 * which wheels are built) does not know the levels of x86-64 by name. */
#ifndef ORCH_BASE_X86_LEVELS_H
#define ORCH_BASE_X86_LEVELS_H

#if defined(__clang__) || __GNUC__ >= 11
#define ORCH_X86_V3 "arch=x86-64-v3"
#define ORCH_X86_V4 "arch=x86-64-v4"
#else
#define ORCH_X86_V3 "avx2"
#define ORCH_X86_V4 "avx512f"
#endif

#endif
