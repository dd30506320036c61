/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/near_tree.h"

#include "predictors/dense.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define LEAF 8          /* rows of a leaf: they are compared side by side */
#define SOME_COLS 8     /* compared before asking whether all are too far already */
#define SAFE (1 - 1e-9) /* a box is passed over when it is farther by more than rounding */
#define DEPTH_MAX 64

struct node {
    uint32_t leaf;        /* number of its leaf; with children: not used */
    uint32_t left, right; /* 0: a leaf */
};

struct orch_near_tree {
    size_t cols;
    GArray *nodes; /* struct node */
    GArray *boxes; /* double: of each node its low corner, then its high one */
    GArray *rows;  /* uint32_t: of each leaf LEAF row numbers, UINT32_MAX for none */
    double *lanes; /* of each leaf, column by column LEAF values; infinite for none */
};

/* ---- making ------------------------------------------------------------------------------------
 */

struct maker {
    struct orch_near_tree *tree;
    const double *values;
    uint32_t *index;
};

static double value_at(const struct maker *m, size_t at, size_t column)
{
    return m->values[m->index[at] * m->tree->cols + column];
}

/* Puts the rows below the middle one by a column before it, those above behind it (Hoare 1961). */
static void halve(const struct maker *m, size_t begin, size_t end, size_t middle, size_t column)
{
    size_t low = begin, high = end - 1;
    while (low < high) {
        double pivot = value_at(m, (low + high) / 2, column);
        size_t i = low, j = high;
        while (i <= j) {
            while (value_at(m, i, column) < pivot)
                i++;
            while (value_at(m, j, column) > pivot)
                j--;
            if (i > j)
                break;
            uint32_t other = m->index[i];
            m->index[i++] = m->index[j];
            m->index[j] = other;
            if (j == 0)
                break;
            j--;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/* Appends the box of rows begin to end; its widest side. */
static size_t add_box(const struct maker *m, size_t begin, size_t end)
{
    size_t cols = m->tree->cols, at = m->tree->boxes->len, widest = 0;
    g_array_set_size(m->tree->boxes, m->tree->boxes->len + (guint)(2 * cols));
    double *low = &g_array_index(m->tree->boxes, double, at), *high = low + cols;
    for (size_t c = 0; c < cols; c++) {
        low[c] = high[c] = value_at(m, begin, c);
        for (size_t k = begin + 1; k < end; k++) {
            double v = value_at(m, k, c);
            low[c] = MIN(low[c], v);
            high[c] = MAX(high[c], v);
        }
        widest = high[c] - low[c] > high[widest] - low[widest] ? c : widest;
    }
    return widest;
}

static uint32_t add_leaf(const struct maker *m, size_t begin, size_t end)
{
    uint32_t leaf = m->tree->rows->len / LEAF;
    for (size_t k = begin; k < begin + LEAF; k++) {
        uint32_t row = k < end ? m->index[k] : UINT32_MAX;
        g_array_append_val(m->tree->rows, row);
    }
    return leaf;
}

/* Halves are even, so that it is as deep as the logarithm of the rows. */
static uint32_t add_node(const struct maker *m, size_t begin, size_t end)
{
    uint32_t number = m->tree->nodes->len;
    struct node node = {0};
    g_array_append_val(m->tree->nodes, node);
    size_t widest = add_box(m, begin, end), middle = begin + (end - begin) / 2;
    if (end - begin <= LEAF) {
        node.leaf = add_leaf(m, begin, end);
    } else {
        halve(m, begin, end, middle, widest);
        node.left = add_node(m, begin, middle);
        node.right = add_node(m, middle, end);
    }
    g_array_index(m->tree->nodes, struct node, number) = node;
    return number;
}

static void fill_lanes(struct orch_near_tree *t, const double *values)
{
    t->lanes = g_new(double, (size_t)t->rows->len *MAX(t->cols, 1));
    for (size_t k = 0; k < t->rows->len; k++) {
        uint32_t row = g_array_index(t->rows, uint32_t, k);
        for (size_t c = 0; c < t->cols; c++)
            t->lanes[(k / LEAF * t->cols + c) * LEAF + k % LEAF] =
                row == UINT32_MAX ? (double)INFINITY : values[row * t->cols + c];
    }
}

struct orch_near_tree *orch_near_tree_new(const double *values, size_t rows, int cols)
{
    struct orch_near_tree *t = g_new0(struct orch_near_tree, 1);
    g_autofree uint32_t *index = g_new(uint32_t, rows + 1);
    struct maker m = {t, values, index};
    t->cols = (size_t)cols;
    t->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
    t->boxes = g_array_new(FALSE, FALSE, sizeof(double));
    t->rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (size_t i = 0; i < rows; i++)
        index[i] = (uint32_t)i;
    if (rows)
        add_node(&m, 0, rows);
    fill_lanes(t, values);
    return t;
}

void orch_near_tree_free(struct orch_near_tree *t)
{
    if (!t)
        return;
    g_array_unref(t->nodes);
    g_array_unref(t->boxes);
    g_array_unref(t->rows);
    g_free(t->lanes);
    g_free(t);
}

/* ---- finding -----------------------------------------------------------------------------------
 */

/* What was found so far. */
struct found {
    struct orch_near *near;
    int count, wanted;
    double limit; /* square beyond which none is wanted */
};

static void add_found(struct found *f, struct orch_near next)
{
    int at = f->count < f->wanted ? f->count++ : f->wanted - 1;
    for (; at > 0; at--) {
        const struct orch_near *before = &f->near[at - 1];
        if (before->square < next.square ||
            (!(before->square > next.square) && before->row < next.row))
            break;
        f->near[at] = *before;
    }
    f->near[at] = next;
    if (f->count == f->wanted)
        f->limit = f->near[f->count - 1].square;
}

static bool is_nearer(const struct found *f, struct orch_near next)
{
    if (f->count < f->wanted)
        return next.row != UINT32_MAX;
    const struct orch_near *last = &f->near[f->count - 1];
    return next.square < last->square || (!(next.square > last->square) && next.row < last->row);
}

ORCH_WIDE static void look_at_leaf(const double *lanes, size_t cols, const double *point,
                                   double limit, double *out)
{
    double sums[LEAF] = {0};
    for (size_t c = 0; c < cols; c++) {
        for (size_t k = 0; k < LEAF; k++) {
            double off = point[c] - lanes[c * LEAF + k];
            sums[k] += off * off;
        }
        if (c % SOME_COLS < SOME_COLS - 1)
            continue;
        double least = sums[0];
        for (size_t k = 1; k < LEAF; k++)
            least = least < sums[k] ? least : sums[k];
        if (least > limit)
            break;
    }
    memcpy(out, sums, sizeof sums);
}

static void try_leaf(const struct orch_near_tree *t, uint32_t leaf, const double *point,
                     struct found *f)
{
    double squares[LEAF];
    look_at_leaf(t->lanes + (size_t)leaf * t->cols * LEAF, t->cols, point, f->limit, squares);
    for (guint k = 0; k < LEAF; k++) {
        struct orch_near next = {squares[k], g_array_index(t->rows, uint32_t, leaf * LEAF + k)};
        if (is_nearer(f, next))
            add_found(f, next);
    }
}

ORCH_WIDE static double square_to_box(const double *box, size_t cols, const double *point)
{
    double sums[LEAF] = {0}, sum = 0;
    for (size_t first = 0; first < cols; first += LEAF) {
        size_t some = MIN(LEAF, cols - first);
        for (size_t k = 0; k < some; k++) {
            double v = point[first + k], below = box[first + k] - v,
                   above = v - box[cols + first + k];
            double off = below > above ? below : above;
            off = off > 0 ? off : 0;
            sums[k] += off * off;
        }
    }
    for (size_t k = 0; k < LEAF; k++)
        sum += sums[k];
    return sum;
}

static double square_to(const struct orch_near_tree *t, uint32_t node, const double *point)
{
    return SAFE *
           square_to_box(&g_array_index(t->boxes, double, 2 * node * t->cols), t->cols, point);
}

/* A box that waits to be opened. */
struct waiting {
    uint32_t node;
    double square;
};

int orch_near_tree_find(const struct orch_near_tree *t, const double *point, int wanted,
                        struct orch_near *out)
{
    struct found f = {out, 0, wanted, (double)INFINITY};
    struct waiting stack[DEPTH_MAX + 2];
    int count = 0;
    if (t->nodes->len)
        stack[count++] = (struct waiting){0, 0};
    while (count) {
        struct waiting next = stack[--count];
        const struct node *n = &g_array_index(t->nodes, struct node, next.node);
        if (next.square > f.limit)
            continue;
        if (!n->left) {
            try_leaf(t, n->leaf, point, &f);
            continue;
        }
        struct waiting a = {n->left, square_to(t, n->left, point)};
        struct waiting b = {n->right, square_to(t, n->right, point)};
        stack[count++] = a.square > b.square ? a : b; /* the nearer one first */
        stack[count++] = a.square > b.square ? b : a;
    }
    return f.count;
}
