/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees over ranks. A value is above a cut exactly if its rank is above the cut's, so predictions
 * are bit-identical to those from values. A small tree is evaluated split by split for GROUP rows
 * at once (as in QuickScorer, Lucchese et al. 2015): each split determines which of the rows that
 * reach it go right. In a large tree LANES rows descend in parallel. */
#include "predictors/models/trees_private.h"
#include "predictors/numbers/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUTS_MAX 254  /* per column: ranks 0 to 254; one value is left for missing values */
#define LEAST (-128)  /* rank of the smallest values, and of missing values that go left */
#define ABOVE_ALL 127 /* rank of missing values that go right */
#define SMALL_MAX 200 /* maximum splits of a small tree */
#define GROUP 64      /* rows that a small tree evaluates at once */
#define LANES 256     /* rows that descend in parallel, which overlaps their memory accesses */
#define STRIDE 4      /* levels between checks whether all rows have reached a leaf */
#define NONE UINT32_MAX
#define SLOTS_MAX 256 /* number of slots that a node can address */

/* A split of a small tree. */
struct small_split {
    uint16_t slot;
    int8_t cut;
    int8_t first_right;  /* index of the first leaf on the right, counted from the left */
    uint8_t left, right; /* child splits, from 1; 0: a leaf */
};

struct small_tree {
    uint32_t splits, leaves; /* index of the first one */
    uint32_t split_count;
};

struct orch_ranked {
    int cols;
    GArray **cuts;  /* double, for each column, ascending */
    int *slots;     /* 2 per column, missing values left and right: slot of its ranks; -1: unused */
    int slot_count; /* slot 0 is above all cuts and is used by leaves */
    GArray
        *order; /* int: for each tree its index i among the small ones, or -1 - i among the large */
    GArray *trees;   /* struct small_tree */
    GArray *splits;  /* struct small_split */
    GArray *leaves;  /* double: of small trees, from the left */
    GArray *nodes;   /* uint32_t, of large trees: steps to the right child << 16 | slot << 8 | cut;
                        the left child is next; a leaf is 0: it steps to itself */
    GArray *numbers; /* double: leaf values of large trees, by node */
    GArray *roots;   /* guint: start of each large tree */
};

/* ---- ranks -------------------------------------------------------------------------------------
 */

/* Number of cuts below a value. */
static guint rank_of(const GArray *cuts, double value)
{
    guint low = 0, high = cuts->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (value > g_array_index(cuts, double, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_cut(GArray *cuts, double value)
{
    guint at = rank_of(cuts, value);
    if (at < cuts->len && !(value < g_array_index(cuts, double, at)))
        return true;
    g_array_insert_val(cuts, at, value);
    return cuts->len <= CUTS_MAX;
}

static bool find_cuts(struct orch_ranked *r, const struct orch_trees *trees)
{
    for (guint i = 0; i < trees->steps->len; i++) {
        const struct orch_tree_step *s = &g_array_index(trees->steps, struct orch_tree_step, i);
        if (!s->inner)
            continue;
        if (s->column >= r->cols || isnan(s->number) || !add_cut(r->cuts[s->column], s->number))
            return false;
        int *slot = &r->slots[2 * s->column + s->missing_right];
        if (*slot < 0)
            *slot = r->slot_count++;
    }
    return r->slot_count <= SLOTS_MAX;
}

/* Branch-free binary search; cuts are padded with infinity to a power of two. */
static void rank_column(const double *cuts, size_t size, const double *values, size_t some,
                        int8_t *out)
{
    for (size_t k = 0; k < some; k++) {
        size_t at = 0;
        for (size_t half = size / 2; half; half /= 2)
            at += values[k] > cuts[at + half - 1] ? half : 0;
        out[k] = (int8_t)(LEAST + (int)at + (values[k] > cuts[at]));
    }
}

/* Computes the ranks of a block, slot by slot. */
static void rank_block(const struct orch_ranked *r, const double *values, size_t rows, size_t first,
                       size_t some, int8_t *out)
{
    double padded[CUTS_MAX + 2];
    memset(out, LEAST, (size_t)r->slot_count * ORCH_TREES_BLOCK);
    memset(out, ABOVE_ALL, ORCH_TREES_BLOCK);
    for (int c = 0; c < r->cols; c++) {
        int left = r->slots[2 * c], right = r->slots[2 * c + 1];
        if (left < 0 && right < 0)
            continue;
        size_t size = 1;
        while (size < r->cuts[c]->len + 1)
            size *= 2;
        for (size_t k = 0; k < size; k++)
            padded[k] =
                k < r->cuts[c]->len ? g_array_index(r->cuts[c], double, k) : (double)INFINITY;
        const double *column = values + (size_t)c * rows + first;
        int8_t *ranks = out + (size_t)MAX(left, right) * ORCH_TREES_BLOCK;
        rank_column(padded, size, column, some, ranks);
        if (left >= 0 && right >= 0)
            memcpy(out + (size_t)MIN(left, right) * ORCH_TREES_BLOCK, ranks, some);
        for (size_t k = 0; right >= 0 && k < some; k++)
            if (isnan(column[k]))
                out[(size_t)right * ORCH_TREES_BLOCK + k] = ABOVE_ALL;
    }
}

/* ---- building ----------------------------------------------------------------------------------
 */

static int slot_of(const struct orch_ranked *r, const struct orch_tree_step *s)
{
    return r->slots[2 * s->column + s->missing_right];
}

/* Ranks above this go right. */
static int8_t cut_of(const struct orch_ranked *r, const struct orch_tree_step *s)
{
    return (int8_t)(LEAST + (int)rank_of(r->cuts[s->column], s->number));
}

/* Numbers the leaves from the left. `splits` is indexed by step; only entries of splits are
 * used. */
static void number_leaves(struct orch_ranked *r, const struct orch_tree_step *steps, uint32_t at,
                          guint first, struct small_split *splits)
{
    if (!steps[at].inner) {
        g_array_append_val(r->leaves, steps[at].number);
        return;
    }
    number_leaves(r, steps, steps[at].left, first, splits);
    splits[at].first_right = (int8_t)(r->leaves->len - first);
    number_leaves(r, steps, steps[at].left + 1, first, splits);
}

/* Stores the splits level by level, because neighbours on a level are independent. */
static void take_small(struct orch_ranked *r, const struct orch_tree_step *steps, guint count)
{
    struct small_split by_step[2 * SMALL_MAX] = {{0}};
    uint8_t numbers[2 * SMALL_MAX] = {0};
    struct small_tree tree = {r->splits->len, r->leaves->len, 0};
    for (guint i = 0; i < count; i++)
        if (steps[i].inner)
            numbers[i] = (uint8_t)++tree.split_count;
    number_leaves(r, steps, 0, tree.leaves, by_step);
    for (guint i = 0; i < count; i++) {
        if (!steps[i].inner)
            continue;
        by_step[i].slot = (uint16_t)slot_of(r, &steps[i]);
        by_step[i].cut = cut_of(r, &steps[i]);
        by_step[i].left = numbers[steps[i].left];
        by_step[i].right = numbers[steps[i].left + 1];
        g_array_append_val(r->splits, by_step[i]);
    }
    g_array_append_val(r->trees, tree);
}

/* A step to be stored, and the node whose right child it is (or NONE). */
struct pending {
    uint32_t step, parent;
};

/* Each node is followed by its left child, so that most of a path is in the same cache line.
 * Returns false if a step does not fit 16 bits. */
static bool take_large(struct orch_ranked *r, const struct orch_tree_step *steps, guint count)
{
    guint root = r->nodes->len, waiting = 1;
    g_autofree struct pending *stack = g_new(struct pending, count + 1);
    bool fits = true;
    stack[0] = (struct pending){0, NONE};
    g_array_append_val(r->roots, root);
    while (waiting) {
        struct pending next = stack[--waiting];
        const struct orch_tree_step *s = &steps[next.step];
        uint32_t at = r->nodes->len, node = 0;
        if (next.parent != NONE) {
            fits &= at - next.parent <= UINT16_MAX;
            g_array_index(r->nodes, uint32_t, next.parent) |= (at - next.parent) << 16;
        }
        if (s->inner) {
            node = (uint32_t)slot_of(r, s) << 8 | (uint8_t)cut_of(r, s);
            stack[waiting++] = (struct pending){s->left + 1, at};
            stack[waiting++] = (struct pending){s->left, NONE};
        }
        g_array_append_val(r->nodes, node);
        g_array_append_val(r->numbers, s->number);
    }
    return fits;
}

static bool take_trees(struct orch_ranked *r, const struct orch_trees *trees)
{
    const struct orch_tree_step *steps = (const void *)trees->steps->data;
    bool fits = true;
    for (guint t = 0; t < trees->roots->len; t++) {
        guint begin = g_array_index(trees->roots, guint, t);
        guint end = t + 1 < trees->roots->len ? g_array_index(trees->roots, guint, t + 1)
                                              : trees->steps->len;
        bool is_small = end - begin <= 2 * SMALL_MAX;
        int number = is_small ? (int)r->trees->len : -1 - (int)r->roots->len;
        g_array_append_val(r->order, number);
        if (is_small)
            take_small(r, steps + begin, end - begin);
        else
            fits &= take_large(r, steps + begin, end - begin);
    }
    return fits;
}

struct orch_ranked *orch_ranked_new(const struct orch_trees *trees, int cols)
{
    struct orch_ranked *r = g_new0(struct orch_ranked, 1);
    r->cols = cols;
    r->slot_count = 1;
    r->cuts = g_new0(GArray *, MAX(cols, 1));
    r->slots = g_new(int, 2 * MAX(cols, 1));
    for (int c = 0; c < cols; c++) {
        r->cuts[c] = g_array_new(FALSE, FALSE, sizeof(double));
        r->slots[2 * c] = r->slots[2 * c + 1] = -1;
    }
    r->order = g_array_new(FALSE, FALSE, sizeof(int));
    r->trees = g_array_new(FALSE, FALSE, sizeof(struct small_tree));
    r->splits = g_array_new(FALSE, FALSE, sizeof(struct small_split));
    r->leaves = g_array_new(FALSE, FALSE, sizeof(double));
    r->nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    r->numbers = g_array_new(FALSE, FALSE, sizeof(double));
    r->roots = g_array_new(FALSE, FALSE, sizeof(guint));
    if (find_cuts(r, trees) && take_trees(r, trees))
        return r;
    orch_ranked_free(r);
    return NULL;
}

void orch_ranked_free(struct orch_ranked *r)
{
    if (!r)
        return;
    GArray *const arrays[] = {r->order, r->trees,   r->splits, r->leaves,
                              r->nodes, r->numbers, r->roots};
    for (int c = 0; c < r->cols; c++)
        g_array_unref(r->cuts[c]);
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_free(r->cuts);
    g_free(r->slots);
    g_free(r);
}

/* ---- prediction --------------------------------------------------------------------------------
 */

typedef int8_t lanes __attribute__((vector_size(GROUP / 2)));

/* Finds the leaf of each of GROUP rows: the last split at which a row goes right determines its
 * leaf. Index 0 of `reach` collects the results for leaves and is never read. */
ORCH_WIDE static void find_leaves(const struct small_split *splits, size_t count,
                                  const int8_t *ranks, uint8_t *out)
{
    lanes reach[SMALL_MAX + 1][2], leaf[2] = {{0}, {0}};
    reach[1][0] = reach[1][1] = leaf[0] == 0;
    for (size_t i = 0; i < count; i++) {
        const struct small_split *s = &splits[i];
        for (int half = 0; half < 2; half++) {
            lanes rank, here = reach[i + 1][half];
            memcpy(&rank, ranks + (size_t)s->slot * ORCH_TREES_BLOCK + half * GROUP / 2,
                   sizeof rank);
            lanes right = here & (rank > s->cut);
            leaf[half] = (leaf[half] & ~right) | (right & s->first_right);
            reach[s->left][half] = here & ~right;
            reach[s->right][half] = right;
        }
    }
    memcpy(out, leaf, sizeof leaf);
}

static void predict_small(const struct orch_ranked *r, const struct small_tree *tree,
                          const int8_t *ranks, size_t some, double scale, double *inout)
{
    const struct small_split *splits = &g_array_index(r->splits, struct small_split, tree->splits);
    const double *leaves = &g_array_index(r->leaves, double, tree->leaves);
    for (size_t k = 0; k < some; k += GROUP) {
        uint8_t leaf[GROUP];
        find_leaves(splits, tree->split_count, ranks + k, leaf);
        for (size_t i = 0; i < GROUP; i++)
            inout[k + i] += scale * leaves[leaf[i]];
    }
}

/* LANES rows descend in parallel, which overlaps their memory accesses. `lines` are their ranks,
 * row by row. */
static inline void walk(const uint32_t *nodes, const int8_t *lines, size_t slots, uint32_t *at)
{
    for (uint32_t moved = 1; moved;) {
        moved = 0;
        for (int level = 0; level < STRIDE; level++) {
            for (size_t k = 0; k < LANES; k++) {
                uint32_t node = nodes[at[k]];
                int8_t rank = lines[k * slots + (node >> 8 & 0xff)];
                /* 1 to the left, else the node's step; branch-free, as the branch is
                 * unpredictable */
                uint32_t right = -(uint32_t)(rank > (int8_t)(node & 0xff));
                uint32_t step = 1 + (((node >> 16) - 1) & right);
                moved |= step;
                at[k] += step;
                __builtin_prefetch(nodes + at[k]);
            }
        }
    }
}

static void predict_large(const struct orch_ranked *r, guint number, const int8_t *lines,
                          const uint32_t *order, double scale, double *inout)
{
    guint root = g_array_index(r->roots, guint, number);
    const uint32_t *nodes = &g_array_index(r->nodes, uint32_t, root);
    const double *numbers = &g_array_index(r->numbers, double, root);
    size_t slots = (size_t)r->slot_count;
    for (size_t k = 0; k < ORCH_TREES_BLOCK; k += LANES) {
        uint32_t at[LANES] = {0};
        walk(nodes, lines + k * slots, slots, at);
        for (size_t i = 0; i < LANES; i++)
            inout[order[k + i]] += scale * numbers[at[i]];
    }
}

struct place {
    uint32_t leaf, row;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->leaf != y->leaf)
        return x->leaf < y->leaf ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Orders rows by their leaf in the first large tree, because rows that descend in parallel then
 * take similar paths in other trees too. */
static void order_rows(const struct orch_ranked *r, const int8_t *lines, uint32_t *out)
{
    struct place places[ORCH_TREES_BLOCK];
    for (uint32_t k = 0; k < ORCH_TREES_BLOCK; k += LANES) {
        uint32_t at[LANES] = {0};
        walk((const uint32_t *)(const void *)r->nodes->data, lines + k * (size_t)r->slot_count,
             (size_t)r->slot_count, at);
        for (uint32_t i = 0; i < LANES; i++)
            places[k + i] = (struct place){at[i], k + i};
    }
    qsort(places, ORCH_TREES_BLOCK, sizeof *places, compare_places);
    for (size_t k = 0; k < ORCH_TREES_BLOCK; k++)
        out[k] = places[k].row;
}

/* Copies ranks row by row, with rows in the given order (NULL: unchanged). */
static void take_lines(const int8_t *ranks, size_t slots, const uint32_t *order, int8_t *out)
{
    for (size_t k = 0; k < ORCH_TREES_BLOCK; k++)
        for (size_t s = 0; s < slots; s++)
            out[k * slots + s] = ranks[s * ORCH_TREES_BLOCK + (order ? order[k] : k)];
}

void orch_ranked_add(const struct orch_ranked *r, const double *values, size_t rows, size_t first,
                     size_t some, double scale, double *inout)
{
    size_t slots = (size_t)r->slot_count;
    double sums[ORCH_TREES_BLOCK] = {0};
    g_autofree int8_t *ranks = g_new(int8_t, slots * ORCH_TREES_BLOCK);
    rank_block(r, values, rows, first, some, ranks);
    g_autofree int8_t *lines = r->roots->len ? g_new(int8_t, slots * ORCH_TREES_BLOCK) : NULL;
    uint32_t order[ORCH_TREES_BLOCK];
    if (lines) {
        take_lines(ranks, slots, NULL, lines);
        order_rows(r, lines, order);
        take_lines(ranks, slots, order, lines);
    }
    for (guint t = 0; t < r->order->len; t++) {
        int number = g_array_index(r->order, int, t);
        if (number >= 0)
            predict_small(r, &g_array_index(r->trees, struct small_tree, number), ranks, some,
                          scale, sums);
        else
            predict_large(r, (guint)(-1 - number), lines, order, scale, sums);
    }
    for (size_t k = 0; k < some; k++)
        inout[k] += sums[k];
}
