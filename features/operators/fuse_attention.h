/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds attention that is written out in operations of its own. */
#ifndef ORCH_FEATURES_OPERATORS_FUSE_ATTENTION_H
#define ORCH_FEATURES_OPERATORS_FUSE_ATTENTION_H

#include "lib/net/net.h"

/** Copies a network, which it frees, with one node for each attention that is written out: a
 * product of queries and keys, a softmax with at most six element-wise operations around it, and a
 * product of the shares with the values. Heads are the products side by side. Whether these are one
 * kernel or many is then a switch of whoever asks for the time, as with the zoo's networks. The
 * caller frees. */
struct orch_net *orch_net_fuse_attention(struct orch_net *net);

#endif
