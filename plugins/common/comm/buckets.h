/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of gradient buckets: which parameters are all-reduced together, in the order in which
 * the backward pass completes them (Li et al. 2020, section 3.2). LibTorch's adapter lays gradients
 * out by the same rule (gradients_watch_from of torch.h), so a simulated training sends what a
 * measured one sends. No MPI, GLib or LibTorch here. */
#ifndef ORCH_PLUGINS_COMMON_COMM_BUCKETS_H
#define ORCH_PLUGINS_COMMON_COMM_BUCKETS_H

#include <stddef.h>

/** Sizes at which a bucket is closed: as soon as it has so many bytes or more. */
struct orch_comm_bucket_sizes {
    size_t first_bytes; /* of the first bucket: small, so that communication begins early; > 0 */
    size_t bytes;       /* of all others, > 0 */
};
/** Those of PyTorch's DistributedDataParallel: 1 MiB, then 25 MiB. */
#define ORCH_COMM_BUCKET_SIZES                                                                     \
    {                                                                                              \
        (size_t)1 << 20, (size_t)25 << 20                                                          \
    }

struct orch_comm_bucket {
    size_t first, count; /* tensors [first, first + count) of the order given */
    size_t bytes;
};

/** Plans the buckets of `count` tensors whose gradients have `tensor_bytes`, in the order in which
 * backward completes them: the last layer's first. Writes at most `count` buckets to `out`, which
 * has room for so many, and returns their number; 0 for no tensors. */
size_t orch_comm_plan(const size_t *tensor_bytes, size_t count,
                      const struct orch_comm_bucket_sizes *sizes, struct orch_comm_bucket *out);

#endif
