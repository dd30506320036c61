/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times of single kernels on tensor cores as inference servers launch them: matrix products,
 * attention over prompts, mixtures of experts, and collectives of the GPUs of one node. Each is
 * computed from the GPU's data sheet with constants that were fitted to public measurements of
 * A100, H100, L40S and B200 (bench/distil_serving.py).
 *
 * They differ from lib/steptime/kernel_times.h in three ways: the same kernel runs again and again
 * for a moment, so that its operands may lie in the second-level cache and the board does not reach
 * its power limit; a launch from a graph costs cycles of the GPU and not the host's time; and
 * numbers of 8 and 4 bits are made from 16 bits before the product.
 *
 * Chips for graphics (AD102, GB202) reach a smaller share of their peak than those for data
 * centres.
 */
#ifndef ORCH_STEPTIME_TENSOR_KERNELS_H
#define ORCH_STEPTIME_TENSOR_KERNELS_H

#include "lib/devices/gpus.h"

/** How the factors of a product are stored, and which units multiply them. */
enum orch_number_format {
    ORCH_FORMAT_16,        /* fp16 or bf16 */
    ORCH_FORMAT_FP8,       /* one scale for a tensor */
    ORCH_FORMAT_FP8_BLOCK, /* one for each block of 128 values */
    ORCH_FORMAT_FP4,
    ORCH_FORMAT_W4,   /* weights of 4 bits; multiplied in 16 bits */
    ORCH_FORMAT_W4A8, /* weights of 4 bits; multiplied in 8 bits */
    ORCH_FORMAT_COUNT
};

/** Parses "bfloat16", "half", "fp8", "fp8_block", "nvfp4", "int4_wo", "w4a16_mxfp4", ... Returns
 * false for other words. */
bool orch_number_format_find(const char *text, enum orch_number_format *out);
/** Peak of the units in operations per second; 0 where the GPU has none, or it is unknown. */
double orch_number_format_peak(const struct orch_gpu_spec *gpu, enum orch_number_format format);
/** Size of a stored weight in bytes, with its share of the scales. */
double orch_number_format_bytes(enum orch_number_format format);

/** m x k by k x n. */
struct orch_tensor_product {
    double m, n, k;
    bool is_prepared; /* both are in the format already: a training makes them where it writes */
};

/** Causal attention of a batch of prompts in one kernel. */
struct orch_tensor_attention {
    double batch, seq, heads, key_heads, head_dim;
    double window; /* tokens that a token attends to; 0: all before it */
    bool has_fp8_cache;
};

/** The two layers of a gated feed-forward part (three matrices), on one GPU of its tensor and
 * expert parallel group. */
struct orch_tensor_experts {
    double tokens, hidden, inner;
    double chosen, experts; /* of `experts` in all each token has `chosen` */
    double tensor_parallel, expert_parallel;
    bool is_balanced; /* each expert has as many tokens; else as a power law */
};

enum orch_collective {
    ORCH_ALL_GATHER,
    ORCH_REDUCE_SCATTER,
    ORCH_ALL_TO_ALL,
    ORCH_ALL_REDUCE,
    ORCH_COLLECTIVE_COUNT
};

/** Parses "all_reduce", "alltoall", ...; false for other words. */
bool orch_collective_find(const char *text, enum orch_collective *out);

/** Times in seconds, with the launch. NaN where the table lacks a fact of the GPU (its peak in this
 * format, bandwidth, multiprocessors, architecture), or for sizes below 1. */
double orch_tensor_product_s(const struct orch_gpu_spec *gpu, enum orch_number_format format,
                             const struct orch_tensor_product *product);
double orch_tensor_attention_s(const struct orch_gpu_spec *gpu,
                               const struct orch_tensor_attention *attention);
double orch_tensor_experts_s(const struct orch_gpu_spec *gpu, enum orch_number_format format,
                             const struct orch_tensor_experts *experts);
/** `bytes`: of the whole buffer, as NCCL's tests count it. `gpus`: at least 2. */
double orch_collective_s(const struct orch_gpu_spec *gpu, enum orch_collective kind, double bytes,
                         double gpus);

#endif
