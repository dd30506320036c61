/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/models/trees_private.h"

#include <math.h>

#define BLOCK ORCH_TREES_BLOCK
#define RANKED_ROWS 16           /* minimum rows for which computing ranks pays off */
#define LANES 8                  /* rows that descend a tree in parallel */
#define STRIDE 4                 /* levels between checks whether all rows have reached a leaf */
#define THREADS_MIN_WORK 1500000 /* steps; with fewer, threads cost more than they save */
#define LEAF (-1)                /* code of a leaf in a saved tree */

struct orch_trees *orch_trees_new(void)
{
    struct orch_trees *t = g_new0(struct orch_trees, 1);
    t->steps = g_array_new(FALSE, FALSE, sizeof(struct orch_tree_step));
    t->roots = g_array_new(FALSE, FALSE, sizeof(guint));
    return t;
}

void orch_trees_free(struct orch_trees *trees)
{
    if (!trees)
        return;
    g_array_unref(trees->steps);
    g_array_unref(trees->roots);
    orch_ranked_free(trees->ranked);
    g_free(trees);
}

size_t orch_trees_count(const struct orch_trees *trees)
{
    return trees->roots->len;
}

void orch_trees_append(struct orch_trees *trees, struct orch_tree *tree)
{
    g_array_append_val(trees->roots, trees->steps->len);
    for (guint i = 0; i < tree->nodes->len; i++) {
        const struct orch_tree_node *n = &g_array_index(tree->nodes, struct orch_tree_node, i);
        struct orch_tree_step step = {.number = n->value, .left = i};
        if (n->feature >= 0)
            step = (struct orch_tree_step){.number = n->threshold,
                                           .left = (uint32_t)n->left,
                                           .column = (uint16_t)n->feature,
                                           .missing_right = !n->missing_left,
                                           .inner = 1};
        g_array_append_val(trees->steps, step);
    }
    orch_tree_free(tree);
}

/* ---- prediction --------------------------------------------------------------------------------
 */

/* LANES rows (row-major) descend in parallel, which overlaps their memory accesses. */
static void walk(const struct orch_tree_step *steps, const double *lines, size_t cols, uint32_t *at)
{
    for (uint32_t moved = 1; moved;) {
        for (int level = 0; level < STRIDE; level++) {
            moved = 0;
            for (size_t k = 0; k < LANES; k++) {
                const struct orch_tree_step *s = &steps[at[k]];
                double v = lines[k * cols + s->column];
                uint32_t right = (v > s->number) | (isnan(v) & s->missing_right);
                at[k] = s->left + (right & s->inner);
                moved |= s->inner;
            }
        }
    }
}

/* Predicts rows from `first` on, tree by tree, summing in the order of the trees. */
static void walk_block(const struct orch_trees *trees, const double *values, size_t rows,
                       size_t first, size_t some, size_t cols, double scale, double *inout)
{
    g_autofree double *lines = g_new0(double, BLOCK *MAX(cols, 1));
    double sums[BLOCK] = {0};
    for (size_t c = 0; c < cols; c++)
        for (size_t k = 0; k < some; k++)
            lines[k * cols + c] = values[c * rows + first + k];
    for (guint t = 0; t < trees->roots->len; t++) {
        const struct orch_tree_step *steps =
            (const struct orch_tree_step *)(const void *)trees->steps->data +
            g_array_index(trees->roots, guint, t);
        for (size_t k = 0; k < some; k += LANES) {
            uint32_t at[LANES] = {0};
            walk(steps, lines + k * cols, cols, at);
            for (size_t i = 0; i < LANES; i++)
                sums[k + i] += scale * steps[at[i]].number;
        }
    }
    for (size_t k = 0; k < some; k++)
        inout[first + k] += sums[k];
}

void orch_trees_ready(struct orch_trees *trees, int cols)
{
    if (g_once_init_enter(&trees->made)) {
        trees->ranked = orch_ranked_new(trees, cols);
        g_once_init_leave(&trees->made, 1);
    }
}

void orch_trees_add(struct orch_trees *trees, const double *values, size_t rows, int cols,
                    double scale, double *inout)
{
    size_t count = orch_trees_count(trees);
    size_t depth = g_bit_storage(trees->steps->len / MAX(count, 1)); /* for balanced trees */
    bool worth = rows * count * depth > THREADS_MIN_WORK;
    if (rows >= RANKED_ROWS)
        orch_trees_ready(trees, cols);
    const struct orch_ranked *ranked = rows >= RANKED_ROWS ? trees->ranked : NULL;
#pragma omp parallel for schedule(static) if (worth)
    for (size_t first = 0; first < rows; first += BLOCK) {
        size_t some = MIN(rows - first, BLOCK);
        if (ranked)
            orch_ranked_add(ranked, values, rows, first, some, scale, inout + first);
        else
            walk_block(trees, values, rows, first, some, (size_t)cols, scale, inout);
    }
}

/* ---- saving: all nodes of all trees in four long arrays ----------------------------------------
 */

json_t *orch_trees_save(const struct orch_trees *trees, enum orch_save_style style)
{
    guint count = trees->steps->len, tree_count = trees->roots->len;
    g_autofree int32_t *sizes = g_new(int32_t, MAX(tree_count, 1));
    g_autofree int32_t *split = g_new(int32_t, MAX(count, 1));
    g_autofree int32_t *left = g_new(int32_t, MAX(count, 1)),
                       *right = g_new(int32_t, MAX(count, 1));
    g_autofree double *number = g_new(double, MAX(count, 1));
    for (guint t = 0; t < tree_count; t++) {
        guint end = t + 1 < tree_count ? g_array_index(trees->roots, guint, t + 1) : count;
        sizes[t] = (int32_t)(end - g_array_index(trees->roots, guint, t));
    }
    for (guint i = 0; i < count; i++) {
        const struct orch_tree_step *s = &g_array_index(trees->steps, struct orch_tree_step, i);
        /* the split's column and the side of missing values in one number */
        split[i] = s->inner ? s->column * 2 + !s->missing_right : LEAF;
        left[i] = s->inner ? (int32_t)s->left : 0;
        right[i] = s->inner ? (int32_t)s->left + 1 : 0;
        number[i] = s->number;
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "sizes", orch_save_ints(sizes, tree_count, style), "split",
        orch_save_ints(split, count, style), "left", orch_save_ints(left, count, style), "right",
        orch_save_ints(right, count, style), "number", orch_save_reals(number, count, style));
}

struct arrays {
    int32_t *sizes, *split, *left, *right;
    double *number;
    size_t trees, nodes;
};

static bool read_arrays(const json_t *saved, struct arrays *a, GError **error)
{
    a->trees = a->nodes = SIZE_MAX;
    a->sizes = orch_load_ints(saved, "sizes", &a->trees, error);
    a->split = a->sizes ? orch_load_ints(saved, "split", &a->nodes, error) : NULL;
    a->left = a->split ? orch_load_ints(saved, "left", &a->nodes, error) : NULL;
    a->right = a->left ? orch_load_ints(saved, "right", &a->nodes, error) : NULL;
    a->number = a->right ? orch_load_reals(saved, "number", &a->nodes, error) : NULL;
    return a->number;
}

/* Requires children to follow their parents, which rules out cycles. */
static bool read_tree(struct orch_trees *trees, const struct arrays *a, size_t begin, int32_t size,
                      int cols)
{
    g_array_append_val(trees->roots, trees->steps->len);
    for (int32_t i = 0; i < size; i++) {
        size_t at = begin + (size_t)i;
        int32_t code = a->split[at], left = a->left[at];
        struct orch_tree_step step = {.number = a->number[at], .left = (uint32_t)i};
        if (code != LEAF) {
            if (code < 0 || code / 2 >= MIN(cols, UINT16_MAX) || left <= i || left >= size - 1 ||
                a->right[at] != left + 1)
                return false;
            step.left = (uint32_t)left;
            step.column = (uint16_t)(code / 2);
            step.missing_right = code % 2 == 0;
            step.inner = 1;
        }
        g_array_append_val(trees->steps, step);
    }
    return true;
}

struct orch_trees *orch_trees_load(const json_t *saved, int cols, GError **error)
{
    struct arrays a = {0};
    struct orch_trees *trees = orch_trees_new();
    size_t begin = 0;
    bool ok = read_arrays(saved, &a, error);
    for (size_t t = 0; ok && t < a.trees; t++) {
        bool fits = a.sizes[t] > 0 && (size_t)a.sizes[t] <= a.nodes - begin;
        ok = (fits && read_tree(trees, &a, begin, a.sizes[t], cols)) ||
             orch_load_fail("trees", "are inconsistent", error);
        begin += fits ? (size_t)a.sizes[t] : 0;
    }
    g_free(a.sizes);
    g_free(a.split);
    g_free(a.left);
    g_free(a.right);
    g_free(a.number);
    if (ok)
        return trees;
    orch_trees_free(trees);
    return NULL;
}
