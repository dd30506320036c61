/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of predictors/tree: what is known of a node while a tree grows, and the best split of
 * it along some columns. */
#ifndef ORCH_PREDICTORS_TREE_PRIVATE_H
#define ORCH_PREDICTORS_TREE_PRIVATE_H

#include "predictors/models/tree.h"

#define BINS (ORCH_BINS_MAX + 1)
#define WEIGHT_BITS 24

/* Sum of fixed-point gradients in the upper bits, of weights in the lowest WEIGHT_BITS. */
typedef int64_t packed;

static inline int64_t packed_gradient(packed p)
{
    return p >> WEIGHT_BITS;
}

static inline int64_t packed_weight(packed p)
{
    return p & ((1 << WEIGHT_BITS) - 1);
}

struct split {
    int feature; /* -1: none */
    int bin;
    bool missing_left;
    double gain;
    packed left;
};

/* A node that may be split. */
struct task {
    int node;
    size_t begin, end; /* of index */
    packed all;
    double low, high;   /* bounds of its leaves, from monotone splits above */
    packed *histograms; /* of all groups of columns; NULL if not kept */
    int smaller; /* task whose histograms are subtracted from the parent's to get these; -1: none */
    struct split best;
    struct split *found; /* best by column if columns are separate jobs, else NULL */
};

struct grower {
    const struct orch_tree_bins *bins;
    const struct orch_tree_options *o;
    struct orch_tree *tree;
    double unit; /* value of one fixed-point unit */
    uint32_t *index, *scratch;
    packed *sorted, *scratch_sorted; /* in the order of index */
    GPtrArray *unused_histograms;    /* packed *: unused histograms of all columns, for reuse */
    GArray *level;                   /* struct task */
    int cols, groups;                /* of columns */
};

static inline size_t rows_of(const struct task *t)
{
    return t->end - t->begin;
}

/** The value of a leaf with these sums, within bounds. */
double orch_tree_leaf_value(const struct grower *w, packed p, double low, double high);
struct split orch_tree_no_split(void);
/** Puts the best split along column c into the task's `best` where it is better. For tasks without
 * histograms; `clear`, of BINS, must be all 0 and is all 0 again on return. */
void orch_tree_search_column(const struct grower *w, struct task *t, int c, packed *clear);
/** Fills the histograms of a group of columns of a task, where its smaller sibling is `small` by
 * subtraction, and puts the best splits of both into their `found`. `small` may be NULL. */
void orch_tree_search_group(const struct grower *w, struct task *t, struct task *small, int group);

#endif
