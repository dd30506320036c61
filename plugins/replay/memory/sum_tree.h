/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws an index in proportion to its weight, in O(log n), as weights change.
 *
 * The sums form a tree of 16 children a node, so that a node's children are one cache line and a
 * million weights are five lines deep (a binary tree: twenty). A changed weight sums each node
 * above it anew from its children: sums never drift, and equal weights have equal sums whatever
 * came before.
 */
#ifndef ORCH_PLUGINS_REPLAY_MEMORY_SUM_TREE_H
#define ORCH_PLUGINS_REPLAY_MEMORY_SUM_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct orch_sum_tree;

/** Makes a tree of `count` weights, 1 to 2^31 - 1, all 0. NULL when there is not enough memory. */
struct orch_sum_tree *orch_sum_tree_new(int64_t count);
void orch_sum_tree_free(struct orch_sum_tree *tree);

/** Sets a weight, finite and >= 0. */
void orch_sum_tree_set(struct orch_sum_tree *tree, int64_t index, float weight);
/** Sets the weights of `count` neighbours to one value, with each node above summed once. */
void orch_sum_tree_set_range(struct orch_sum_tree *tree, int64_t first, int64_t count,
                             float weight);
/** Sets `count` weights. Nodes near the root are summed once for all of them. */
void orch_sum_tree_set_many(struct orch_sum_tree *tree, const int64_t *indices,
                            const float *weights, int64_t count);
float orch_sum_tree_get(const struct orch_sum_tree *tree, int64_t index);
float orch_sum_tree_total(const struct orch_sum_tree *tree);

/** Writes, of each of `count` places, the index in whose share of the total it lies: the first
 * whose weight and all before it sum to more than the place, in [0, total). A weight of 0 is never
 * found. The total must not be 0. Many at once hide the latency of memory. */
void orch_sum_tree_find_many(const struct orch_sum_tree *tree, const float *at, int64_t count,
                             int64_t *out_indices);

/** Whether each node is the sum of its children, for tests. */
bool orch_sum_tree_is_sound(const struct orch_sum_tree *tree);

#endif
