/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times of single kernels on a GPU, from its data sheet alone: matrix products by tiles, waves and
 * splits, convolutions as products, element-wise kernels and normalisations by their share of the
 * bandwidth. The constants are of all GPUs together, fitted to public measurements
 * (bench/distil_kernels.py), so the model speaks of GPUs that nobody measured.
 *
 * A board does not sustain its peak when its watts are few for it: the sustained peak is the
 * smaller of u peak and watts / e(year), softly; e is the energy of an operation, which halves
 * every three years of architecture.
 *
 * Tensor cores have an energy of their own. Their multiprocessors wait for a tile's first operands
 * and for its loads as long as others, while they compute much faster: in depth and in tiles that
 * costs them more in proportion to their rate.
 *
 * Convolutions of 3 x 3 and stride 1 are taken by Winograd's algorithm (Lavin and Gray 2016) in
 * fp32 on NVIDIA's GPUs since Maxwell: 2.25 times fewer operations at a smaller share of the peak,
 * so that fewer boards run into their power limit. That holds for convolutions by themselves
 * (predictors/features/features_kernels.h); the steps of networks (kernel_step.h) do not use it.
 */
#ifndef ORCH_STEPTIME_KERNEL_TIMES_H
#define ORCH_STEPTIME_KERNEL_TIMES_H

#include "lib/devices/gpus.h"

/** A GPU at one precision. */
struct orch_kernel_gpu {
    double sustained_flops; /* operations per second of matrix products */
    double winograd_flops;  /* of Winograd's convolutions; 0: there are none */
    double bandwidth;       /* bytes per second */
    double sms;
    double fill_depth;   /* what filling and emptying a tile costs, as depth of the product */
    double tile_cost;    /* loads of a tile's operands, which small tiles have more of */
    double scores_per_s; /* of attention in one kernel, whose softmax runs beside the products */
    int element_bytes;
    bool is_tensor;    /* products on NVIDIA's tensor cores */
    bool was_measured; /* fp32, or on NVIDIA's tensor cores: the constants were fitted to such */
};

/** Of a GPU with its board's power, or with a limit of `watts` below it (0: none). False without a
 * peak at this precision, a bandwidth, a number of multiprocessors or a known architecture. */
bool orch_kernel_gpu_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                         double watts, struct orch_kernel_gpu *out);

/** The year in which the GPU's architecture came, not its card; 0: unknown. */
int orch_kernel_arch_year(const struct orch_gpu_spec *gpu);

/** `b` products of m x k by k x n. */
struct orch_kernel_product {
    double b, m, n, k;
    double bytes;     /* that it moves, where these are not those of its three matrices; else 0 */
    bool is_winograd; /* a convolution of 3 x 3 and stride 1 without groups and dilation */
};

enum orch_kernel_kind {
    ORCH_KERNEL_ELEMENTWISE,
    ORCH_KERNEL_SOFTMAX,
    ORCH_KERNEL_NORM,
    ORCH_KERNEL_KINDS
};

/** Time without the launch, in seconds. */
double orch_kernel_product_s(const struct orch_kernel_gpu *gpu,
                             const struct orch_kernel_product *product);
/** Of a kernel that reads and writes so many values together; without the launch. */
double orch_kernel_vector_s(const struct orch_kernel_gpu *gpu, enum orch_kernel_kind kind,
                            double values);
/** The least time of a kernel, in seconds: timed alone, or behind another one in a network. */
double orch_kernel_least_s(bool is_alone);

#endif
