/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The share of a network that one of several devices computes which split its layers (tensor
 * parallelism; Shoeybi et al. 2019, Megatron-LM). */
#ifndef ORCH_FEATURES_PREDICT_TENSOR_SPLIT_H
#define ORCH_FEATURES_PREDICT_TENSOR_SPLIT_H

#include "lib/net/net.h"

/** Copies a network as one of `ways` devices has it: of a linear layer whose values only go through
 * attention and element-wise operations to the next one, the outputs are split, and the inputs of
 * that next one; heads with them; the rows of embeddings of tokens. `out_summed_values`: values of
 * a sample whose sums over the devices the forward pass waits for; the backward pass for as many.
 * Fails with ORCH_ERROR_USAGE for a network without attention, and where the heads, or the widths
 * of layers, do not divide. The caller frees. */
struct orch_net *orch_net_split_tensors(const struct orch_net *net, int64_t ways,
                                        double *out_summed_values, GError **error);

#endif
