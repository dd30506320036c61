/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees as JSON: all nodes of all trees in four long arrays. */
#include "predictors/tree.h"

#include <math.h>

#define LEAF (-1)

/* A split's feature and the side of missing values in one number. */
static int32_t split_code(const struct orch_tree_node *node)
{
    return node->feature < 0 ? LEAF : node->feature * 2 + node->missing_left;
}

json_t *orch_trees_save(const GPtrArray *trees, enum orch_save_style style)
{
    size_t count = 0, at = 0;
    for (guint t = 0; t < trees->len; t++)
        count += ((const struct orch_tree *)trees->pdata[t])->nodes->len;
    g_autofree int32_t *sizes = g_new(int32_t, MAX(trees->len, 1));
    g_autofree int32_t *split = g_new(int32_t, MAX(count, 1));
    g_autofree int32_t *left = g_new(int32_t, MAX(count, 1)),
                       *right = g_new(int32_t, MAX(count, 1));
    g_autofree double *number = g_new(double, MAX(count, 1));
    for (guint t = 0; t < trees->len; t++) {
        const struct orch_tree *tree = trees->pdata[t];
        sizes[t] = (int32_t)tree->nodes->len;
        for (guint i = 0; i < tree->nodes->len; i++, at++) {
            const struct orch_tree_node *node =
                &g_array_index(tree->nodes, struct orch_tree_node, i);
            split[at] = split_code(node);
            left[at] = node->feature < 0 ? 0 : node->left;
            right[at] = node->feature < 0 ? 0 : node->right;
            number[at] = node->feature < 0 ? node->value : node->threshold;
        }
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "sizes", orch_save_ints(sizes, trees->len, style), "split",
        orch_save_ints(split, count, style), "left", orch_save_ints(left, count, style), "right",
        orch_save_ints(right, count, style), "number", orch_save_reals(number, count, style));
}

static void free_tree(gpointer tree)
{
    orch_tree_free(tree);
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

/* Children follow their parents, so that no walk goes round. */
static struct orch_tree *read_tree(const struct arrays *a, size_t begin, int32_t size, int cols)
{
    struct orch_tree *tree = g_new0(struct orch_tree, 1);
    tree->nodes = g_array_sized_new(FALSE, TRUE, sizeof(struct orch_tree_node), (guint)size);
    for (int32_t i = 0; i < size; i++) {
        size_t at = begin + (size_t)i;
        bool leaf = a->split[at] == LEAF;
        struct orch_tree_node node = {.feature = leaf ? -1 : a->split[at] / 2,
                                      .missing_left = !leaf && a->split[at] % 2,
                                      .left = a->left[at],
                                      .right = a->right[at],
                                      .threshold = leaf ? 0 : a->number[at],
                                      .value = leaf ? a->number[at] : 0};
        bool sound = leaf || (a->split[at] >= 0 && node.feature < cols && node.left > i &&
                              node.left < size && node.right > i && node.right < size);
        if (!sound) {
            orch_tree_free(tree);
            return NULL;
        }
        g_array_append_val(tree->nodes, node);
    }
    return tree;
}

GPtrArray *orch_trees_load(const json_t *saved, int cols, GError **error)
{
    struct arrays a = {0};
    GPtrArray *trees = g_ptr_array_new_with_free_func(free_tree);
    size_t begin = 0;
    bool ok = read_arrays(saved, &a, error);
    for (size_t t = 0; ok && t < a.trees; t++) {
        bool fits = a.sizes[t] > 0 && (size_t)a.sizes[t] <= a.nodes - begin;
        struct orch_tree *tree = fits ? read_tree(&a, begin, a.sizes[t], cols) : NULL;
        ok = tree || orch_load_fail("trees", "do not hold together", error);
        if (tree) {
            begin += (size_t)a.sizes[t];
            g_ptr_array_add(trees, tree);
        }
    }
    g_free(a.sizes);
    g_free(a.split);
    g_free(a.left);
    g_free(a.right);
    g_free(a.number);
    if (ok)
        return trees;
    g_ptr_array_unref(trees);
    return NULL;
}
