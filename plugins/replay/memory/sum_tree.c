/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/memory/sum_tree.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 16, WAY_BITS = 4, DEPTH_MAX = 8, LINE = 64 };

struct orch_sum_tree {
    int64_t count;
    int depth;                /* levels; level 0 has up to 16 sums, the last has the weights */
    float *levels[DEPTH_MAX]; /* each in whole nodes of 16 */
    int64_t nodes[DEPTH_MAX]; /* of a level */
    float *memory;
};

struct orch_sum_tree *orch_sum_tree_new(int64_t count)
{
    struct orch_sum_tree *tree = g_new0(struct orch_sum_tree, 1);
    int64_t nodes[DEPTH_MAX], all = 0, wide = count;
    tree->count = count;
    do {
        wide = (wide + WAYS - 1) / WAYS;
        nodes[tree->depth++] = wide;
        all += wide;
    } while (wide > 1);
    tree->memory = aligned_alloc(LINE, (size_t)all * LINE);
    if (!tree->memory) {
        g_free(tree);
        return NULL;
    }
    memset(tree->memory, 0, (size_t)all * LINE);
    float *at = tree->memory;
    for (int level = 0; level < tree->depth; level++) {
        tree->nodes[level] = nodes[tree->depth - 1 - level];
        tree->levels[level] = at;
        at += tree->nodes[level] * WAYS;
    }
    return tree;
}

void orch_sum_tree_free(struct orch_sum_tree *tree)
{
    if (!tree)
        return;
    free(tree->memory);
    g_free(tree);
}

/* In pairs, as a vector unit does: the order is the same for every node. */
static inline float sum_of(const float *node)
{
    float part[WAYS / 2];
    for (int i = 0; i < WAYS / 2; i++)
        part[i] = node[i] + node[i + WAYS / 2];
    for (int i = 0; i < WAYS / 4; i++)
        part[i] += part[i + WAYS / 4];
    return (part[0] + part[2]) + (part[1] + part[3]);
}

/* Sums the node of `level` that has child `index` into its place above. */
static inline void sum_up(struct orch_sum_tree *tree, int level, int64_t index)
{
    const int64_t node = index >> WAY_BITS;
    tree->levels[level - 1][node] = sum_of(tree->levels[level] + node * WAYS);
}

void orch_sum_tree_set(struct orch_sum_tree *tree, int64_t index, float weight)
{
    tree->levels[tree->depth - 1][index] = weight;
    for (int level = tree->depth - 1; level > 0; level--, index >>= WAY_BITS)
        sum_up(tree, level, index);
}

void orch_sum_tree_set_range(struct orch_sum_tree *tree, int64_t first, int64_t count, float weight)
{
    int64_t last = first + count - 1;
    if (count <= 0)
        return;
    for (int64_t i = first; i <= last; i++)
        tree->levels[tree->depth - 1][i] = weight;
    for (int level = tree->depth - 1; level > 0; level--) {
        for (int64_t node = first >> WAY_BITS; node <= last >> WAY_BITS; node++)
            sum_up(tree, level, node << WAY_BITS);
        first >>= WAY_BITS;
        last >>= WAY_BITS;
    }
}

/* The lowest two levels are summed for each weight, those above once: a batch meets most of them.
 */
void orch_sum_tree_set_many(struct orch_sum_tree *tree, const int64_t *indices,
                            const float *weights, int64_t count)
{
    float *leaves = tree->levels[tree->depth - 1];
    const int bottom = tree->depth - 1;
    for (int64_t i = 0; i < count; i++)
        leaves[indices[i]] = weights[i];
    for (int level = bottom; level > 0; level--) {
        const int shift = WAY_BITS * (bottom - level);
        if (tree->nodes[level] <= count) {
            for (int64_t node = 0; node < tree->nodes[level]; node++)
                sum_up(tree, level, node << WAY_BITS);
            continue;
        }
        for (int64_t i = 0; i < count; i++)
            sum_up(tree, level, indices[i] >> shift);
    }
}

float orch_sum_tree_get(const struct orch_sum_tree *tree, int64_t index)
{
    return tree->levels[tree->depth - 1][index];
}

float orch_sum_tree_total(const struct orch_sum_tree *tree)
{
    return sum_of(tree->levels[0]);
}

/* The child in whose share `*at` lies, which becomes the place within the child. Where rounding
 * leads beyond the last child, the last one that is not 0. */
static inline int64_t descend(const float *node, float *at)
{
    int chosen = 0;
    float before = 0, sum = 0;
    for (int i = 0; i < WAYS; i++) {
        const float weight = node[i];
        if (weight > 0) {
            chosen = i;
            before = sum;
            sum += weight;
            if (*at < sum)
                break;
        }
    }
    *at -= before;
    return chosen;
}

/* The same for the usual case, without branches: first the quarter of the node, then the child in
 * it. -1 where rounding leads to a child of weight 0. */
static inline int64_t descend_fast(const float *node, float *at)
{
    float quarter[4], place = *at;
    for (int i = 0; i < 4; i++)
        quarter[i] = (node[4 * i] + node[4 * i + 1]) + (node[4 * i + 2] + node[4 * i + 3]);
    const float two = quarter[0] + quarter[1], three = two + quarter[2];
    const int q = (place >= quarter[0]) + (place >= two) + (place >= three);
    const float before[4] = {0, quarter[0], two, three};
    const float *part = node + 4 * q;
    place -= before[q];
    const float second = part[0] + part[1], third = second + part[2];
    const int k = (place >= part[0]) + (place >= second) + (place >= third);
    const float within[4] = {0, part[0], second, third};
    *at = place - within[k];
    return part[k] > 0 ? 4 * q + k : -1;
}

static inline int64_t child_of(const float *node, float *at)
{
    const float place = *at;
    const int64_t child = descend_fast(node, at);
    if (child >= 0)
        return child;
    *at = place;
    return descend(node, at);
}

void orch_sum_tree_find_many(const struct orch_sum_tree *tree, const float *at, int64_t count,
                             int64_t *out_indices)
{
    enum { GROUP = 32 };
    float left[GROUP];
    for (int64_t first = 0; first < count; first += GROUP) {
        const int64_t size = MIN(GROUP, count - first);
        int64_t *out = out_indices + first;
        memcpy(left, at + first, (size_t)size * sizeof *left);
        memset(out, 0, (size_t)size * sizeof *out);
        for (int level = 0; level < tree->depth; level++) {
            const float *next = level + 1 < tree->depth ? tree->levels[level + 1] : NULL;
            for (int64_t i = 0; i < size; i++) {
                out[i] = out[i] * WAYS + child_of(tree->levels[level] + out[i] * WAYS, &left[i]);
                if (next)
                    __builtin_prefetch(next + out[i] * WAYS);
            }
        }
    }
}

bool orch_sum_tree_is_sound(const struct orch_sum_tree *tree)
{
    for (int level = 1; level < tree->depth; level++)
        for (int64_t node = 0; node < tree->nodes[level]; node++)
            if (tree->levels[level - 1][node] != sum_of(tree->levels[level] + node * WAYS))
                return false;
    return true;
}
