/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies a network node by node, for those that change it on the way. */
#ifndef ORCH_NET_NET_COPY_H
#define ORCH_NET_NET_COPY_H

#include "lib/net/build.h"

struct orch_net_copy {
    struct orch_net_builder builder;
    const struct orch_net *from;
    int *to; /* by node of `from`: the copy's node */
};

/** Begins with a copy of node 0. */
void orch_net_copy_init(struct orch_net_copy *copy, const struct orch_net *from);
/** Copies a node with its tensors, the next in order, and returns its id there. */
int orch_net_copy_node(struct orch_net_copy *copy, int id);
/** Adds node `id`'s tensors to the last node of the copy. */
void orch_net_copy_tensors(struct orch_net_copy *copy, int id);
/** Declares the outputs and returns the network, which the caller frees. */
struct orch_net *orch_net_copy_finish(struct orch_net_copy *copy);

#endif
