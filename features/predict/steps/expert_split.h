/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The share of a mixture of experts that one of several devices has which divide the experts among
 * them (Lepikhin et al. 2021, GShard). */
#ifndef ORCH_FEATURES_PREDICT_EXPERT_SPLIT_H
#define ORCH_FEATURES_PREDICT_EXPERT_SPLIT_H

#include "lib/net/net.h"

/** Copies a network as one of `ways` devices has it: with an equal part of the experts of each
 * layer, through which as many tokens go as through all before, as the others send theirs.
 * `out_sent_values`: of a sample, sent to experts and back in a forward pass, those that stay on
 * the device among them. Fails with ORCH_ERROR_USAGE without experts, and where they do not divide.
 * The caller frees. */
struct orch_net *orch_net_split_experts(const struct orch_net *net, int64_t ways,
                                        double *out_sent_values, GError **error);

#endif
