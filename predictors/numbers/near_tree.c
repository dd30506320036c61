/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/numbers/near_tree.h"

#include "lib/base/random.h"
#include "predictors/numbers/dense.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define LEAF 8      /* rows per leaf, compared in parallel */
#define SOME_COLS 8 /* columns compared before checking whether all rows are too far already */
#define DIMS 12     /* dimensions of the boxes: principal directions, plus the residual */
#define SAMPLE 2000 /* rows used to find the principal directions */
#define TURNS 4     /* iterations towards them */
#define SAFE 1e-6   /* bound for rounding errors, relative to the extent of the rows */
#define DEPTH_MAX 64

struct node {
    uint32_t leaf;        /* index of its leaf; unused in inner nodes */
    uint32_t left, right; /* 0 in a leaf */
};

struct orch_near_tree {
    size_t cols;
    GArray *nodes;      /* struct node */
    GArray *boxes;      /* double: for each node its low corner, then its high one, DIMS each */
    double *directions; /* row-major, DIMS - 1 x cols, orthonormal; 0 for unused ones */
    double safe;
    GArray *rows;   /* uint32_t: for each leaf LEAF row numbers, UINT32_MAX for unused ones */
    double *places; /* for each leaf, LEAF values for each of DIMS */
    double *lanes;  /* for each leaf, column by column LEAF values; infinite for unused ones */
};

/* ---- building ----------------------------------------------------------------------------------
 */

struct maker {
    struct orch_near_tree *tree;
    const double *values;
    double *placed; /* DIMS per row */
    uint32_t *index;
};

static double value_at(const struct maker *m, size_t at, size_t column)
{
    return m->placed[(size_t)m->index[at] * DIMS + column];
}

/* Orthonormalises `inout` against the first `count` directions; sets it to 0 if nothing remains. */
static void set_right(const double *directions, size_t count, size_t cols, double *inout)
{
    double before = sqrt(orch_dot(inout, inout, cols));
    for (int twice = 0; twice < 2; twice++) {
        for (size_t d = 0; d < count; d++) {
            double share = orch_dot(directions + d * cols, inout, cols);
            for (size_t c = 0; c < cols; c++)
                inout[c] -= share * directions[d * cols + c];
        }
    }
    double left = sqrt(orch_dot(inout, inout, cols));
    for (size_t c = 0; c < cols; c++)
        inout[c] = left > 1e-6 * before ? inout[c] / left : 0;
}

/* Covariance matrix of a sample of rows, cols x cols, up to a factor. Caller frees. */
static double *products_of(const double *values, size_t rows, size_t cols)
{
    double *out = g_new0(double, cols *cols + 1);
    g_autofree double *means = g_new0(double, cols + 1), *row = g_new(double, cols + 1);
    size_t step = rows / SAMPLE + 1, used = (rows + step - 1) / step;
    for (size_t i = 0; i < rows; i += step)
        for (size_t c = 0; c < cols; c++)
            means[c] += values[i * cols + c] / (double)used;
    for (size_t i = 0; i < rows; i += step) {
        for (size_t c = 0; c < cols; c++)
            row[c] = values[i * cols + c] - means[c];
        for (size_t c = 0; c < cols; c++)
            for (size_t k = 0; k <= c; k++)
                out[c * cols + k] += row[c] * row[k];
    }
    for (size_t c = 0; c < cols; c++)
        for (size_t k = 0; k < c; k++)
            out[k * cols + c] = out[c * cols + k];
    return out;
}

/* Approximates the principal directions (orthogonal iteration). Any orthonormal directions are
 * correct; these separate the rows best. */
static void find_directions(struct orch_near_tree *t, const double *values, size_t rows)
{
    size_t cols = t->cols;
    g_autofree double *products = products_of(values, rows, cols);
    g_autofree double *turned = g_new(double, (DIMS - 1) * cols + 1);
    uint64_t random = 1;
    t->directions = g_new(double, (DIMS - 1) * cols + 1);
    for (size_t k = 0; k < (DIMS - 1) * cols; k++)
        t->directions[k] = orch_random_unit(&random) - 0.5;
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t d = 0; d < DIMS - 1; d++)
            for (size_t c = 0; c < cols; c++)
                turned[d * cols + c] =
                    orch_dot(products + c * cols, t->directions + d * cols, cols);
        for (size_t d = 0; d < DIMS - 1; d++) {
            set_right(t->directions, d, cols, turned + d * cols);
            memcpy(t->directions + d * cols, turned + d * cols, cols * sizeof *turned);
        }
    }
}

/* Coordinates of a row along the directions, and last its distance from their span. Distances
 * between such coordinates are lower bounds of the distances between rows. */
static void place(const struct orch_near_tree *t, const double *row, double *out)
{
    double beside = orch_dot(row, row, t->cols);
    for (size_t d = 0; d < DIMS - 1; d++) {
        out[d] = orch_dot(t->directions + d * t->cols, row, t->cols);
        beside -= out[d] * out[d];
    }
    out[DIMS - 1] = beside > 0 ? sqrt(beside) : 0;
}

/* Partitions the rows around the middle one by a column (quickselect, Hoare 1961). */
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

/* Appends the bounding box of rows begin to end and returns its widest side. */
static size_t add_box(const struct maker *m, size_t begin, size_t end)
{
    size_t at = m->tree->boxes->len, widest = 0;
    g_array_set_size(m->tree->boxes, m->tree->boxes->len + 2 * DIMS);
    double *low = &g_array_index(m->tree->boxes, double, at), *high = low + DIMS;
    for (size_t c = 0; c < DIMS; c++) {
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

/* Adds a node. Halves have equal size, so the depth is logarithmic. */
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

static void fill_lanes(struct orch_near_tree *t, const double *values, const double *placed)
{
    t->places = g_new(double, MAX((size_t)t->rows->len * DIMS, 1));
    t->lanes = g_new(double, (size_t)t->rows->len *MAX(t->cols, 1));
    for (size_t k = 0; k < t->rows->len; k++) {
        uint32_t row = g_array_index(t->rows, uint32_t, k);
        for (size_t d = 0; d < DIMS; d++)
            t->places[(k / LEAF * DIMS + d) * LEAF + k % LEAF] =
                row == UINT32_MAX ? (double)INFINITY : placed[(size_t)row * DIMS + d];
        for (size_t c = 0; c < t->cols; c++)
            t->lanes[(k / LEAF * t->cols + c) * LEAF + k % LEAF] =
                row == UINT32_MAX ? (double)INFINITY : values[row * t->cols + c];
    }
}

static double reach_of(const double *values, size_t count)
{
    double reach = 1;
    for (size_t k = 0; k < count; k++)
        reach = MAX(reach, fabs(values[k]));
    return reach;
}

struct orch_near_tree *orch_near_tree_new(const double *values, size_t rows, int cols)
{
    struct orch_near_tree *t = g_new0(struct orch_near_tree, 1);
    g_autofree uint32_t *index = g_new(uint32_t, rows + 1);
    g_autofree double *placed = g_new(double, rows *DIMS + 1);
    struct maker m = {t, values, placed, index};
    t->cols = (size_t)cols;
    t->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
    t->boxes = g_array_new(FALSE, FALSE, sizeof(double));
    t->rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    find_directions(t, values, rows);
    for (size_t i = 0; i < rows; i++) {
        place(t, values + i * t->cols, placed + i * DIMS);
        index[i] = (uint32_t)i;
    }
    t->safe = SAFE * reach_of(values, rows * t->cols) * sqrt((double)t->cols);
    if (rows)
        add_node(&m, 0, rows);
    fill_lanes(t, values, placed);
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
    g_free(t->places);
    g_free(t->directions);
    g_free(t);
}

/* ---- searching ---------------------------------------------------------------------------------
 */

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

/* Coordinates of a point, and the bound for their rounding errors. */
struct place {
    double at[DIMS], safe;
};

/* Lower bound of the squared distance to a leaf's rows. */
ORCH_WIDE static double square_to_leaf(const double *places, const struct place *p)
{
    double sums[LEAF] = {0};
    for (size_t d = 0; d < DIMS; d++) {
        for (size_t k = 0; k < LEAF; k++) {
            double off = fabs(p->at[d] - places[d * LEAF + k]) - p->safe;
            off = off > 0 ? off : 0;
            sums[k] += off * off;
        }
    }
    double least = sums[0];
    for (size_t k = 1; k < LEAF; k++)
        least = least < sums[k] ? least : sums[k];
    return least;
}

static void try_leaf(const struct orch_near_tree *t, uint32_t leaf, const double *point,
                     const struct place *p, struct orch_near_list *f)
{
    double squares[LEAF];
    if (square_to_leaf(t->places + (size_t)leaf * DIMS * LEAF, p) > f->limit)
        return;
    look_at_leaf(t->lanes + (size_t)leaf * t->cols * LEAF, t->cols, point, f->limit, squares);
    for (guint k = 0; k < LEAF; k++) {
        uint32_t row = g_array_index(t->rows, uint32_t, leaf * LEAF + k);
        if (row != UINT32_MAX)
            orch_near_list_add(f, (struct orch_neighbour){squares[k], row});
    }
}

ORCH_WIDE static double square_to_box(const double *box, const double *at, double safe)
{
    double squares[DIMS], sums[4] = {0};
    for (size_t k = 0; k < DIMS; k++) {
        double below = box[k] - at[k], above = at[k] - box[DIMS + k];
        double off = (below > above ? below : above) - safe;
        off = off > 0 ? off : 0;
        squares[k] = off * off;
    }
    for (size_t k = 0; k < DIMS; k++)
        sums[k % 4] += squares[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static double square_to(const struct orch_near_tree *t, uint32_t node, const double *at,
                        double safe)
{
    return square_to_box(&g_array_index(t->boxes, double, 2 * DIMS * (size_t)node), at, safe);
}

/* A node that is still to be visited. */
struct waiting {
    uint32_t node;
    double square;
};

int orch_near_tree_find(const struct orch_near_tree *t, const double *point, int wanted,
                        struct orch_neighbour *out)
{
    struct orch_near_list f = {out, 0, wanted, (double)INFINITY};
    struct waiting stack[DEPTH_MAX + 2];
    int count = 0;
    struct place p;
    place(t, point, p.at);
    p.safe = t->safe + SAFE * sqrt(orch_dot(point, point, t->cols));
    if (t->nodes->len)
        stack[count++] = (struct waiting){0, 0};
    while (count) {
        struct waiting next = stack[--count];
        const struct node *n = &g_array_index(t->nodes, struct node, next.node);
        if (next.square > f.limit)
            continue;
        if (!n->left) {
            try_leaf(t, n->leaf, point, &p, &f);
            continue;
        }
        struct waiting a = {n->left, square_to(t, n->left, p.at, p.safe)};
        struct waiting b = {n->right, square_to(t, n->right, p.at, p.safe)};
        stack[count++] = a.square > b.square ? a : b; /* the nearer one is visited first */
        stack[count++] = a.square > b.square ? b : a;
    }
    return f.count;
}
