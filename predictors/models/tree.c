/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trees grow level by level. The jobs of a level are distributed over all threads: a job fills the
 * histograms of a group of columns for the smaller of two siblings, subtracts them from the
 * parent's to get the larger one's, and searches the best splits of both.  Nodes with few rows, and
 * all nodes if each split considers a small share of the features, keep no histogram; they use a
 * scratch histogram that is cleared bin by bin.
 */
#include "predictors/models/tree.h"

#include "lib/base/random.h"
#include "predictors/models/tree_private.h"

#include <math.h>
#include <string.h>

#define FEW_ROWS 200           /* nodes with at most this many rows keep no histogram */
#define THREADS_MIN_WORK 60000 /* rows times columns of a level; with less, threads cost more */
#define PIECE_ROWS 4096        /* of a task, for one thread to divide */
#define KEEP_SHARE 0.4         /* with at most this feature_share no node keeps histograms */

/* ---- a level -----------------------------------------------------------------------------------
 */

static struct task *task_at(const struct grower *w, guint i)
{
    return &g_array_index(w->level, struct task, i);
}

static packed *take_histograms(struct grower *w)
{
    if (w->unused_histograms->len)
        return g_ptr_array_steal_index_fast(w->unused_histograms, w->unused_histograms->len - 1);
    return g_new(packed, (size_t)w->groups * ORCH_BIN_GROUP * BINS);
}

static void give_histograms(struct grower *w, packed *histograms)
{
    if (histograms)
        g_ptr_array_add(w->unused_histograms, histograms);
}

static bool may_split(const struct grower *w, const struct task *t)
{
    return packed_weight(t->all) >= 2 * (int64_t)w->o->leaf_rows && rows_of(t) >= 2;
}

/* Random subset of columns for a node, drawn one by one from the node's own stream. */
struct draw {
    uint64_t random;
    int wanted, left;
};

static struct draw draw_of(const struct grower *w, const struct task *t)
{
    return (struct draw){orch_random_stream(w->o->seed, (uint64_t)t->node),
                         MAX(1, (int)ceil(w->o->feature_share * w->cols)), w->cols};
}

static bool draw_next(const struct grower *w, struct draw *d)
{
    if (w->o->feature_share >= 1)
        return true;
    bool taken = orch_random_unit(&d->random) * d->left-- < d->wanted;
    d->wanted -= taken;
    return taken;
}

/* Searches all columns of a task without histograms. */
static void search_single_thread(const struct grower *w, struct task *t, packed *clear)
{
    struct draw draw = draw_of(w, t);
    for (int c = 0; c < w->cols; c++) {
        if (!draw_next(w, &draw))
            continue;
        orch_tree_search_column(w, t, c, clear);
    }
}

static void search_group(const struct grower *w, struct task *t, int group)
{
    orch_tree_search_group(w, t, t->smaller < 0 ? NULL : task_at(w, (guint)t->smaller), group);
}

/* Prepares a task whose columns are separate jobs. `bin` initially says if the column may be
 * split. */
static void prepare_columns(const struct grower *w, struct task *t)
{
    struct draw draw = draw_of(w, t);
    t->found = g_new(struct split, (size_t)MAX(w->cols, 1));
    for (int c = 0; c < w->cols; c++) {
        t->found[c] = orch_tree_no_split();
        t->found[c].bin = draw_next(w, &draw) && may_split(w, t);
    }
}

static void search_level(struct grower *w)
{
    guint tasks = w->level->len;
    size_t rows = 0, jobs = 0;
    g_autofree struct task **alone = g_new(struct task *, tasks),
                           **kept = g_new(struct task *, tasks);
    size_t alone_count = 0, kept_count = 0;
    for (guint i = 0; i < tasks; i++) {
        struct task *t = task_at(w, i);
        rows += rows_of(t);
        if (t->histograms && (t->smaller >= 0 || tasks == 1))
            kept[kept_count++] = t;
        if (t->histograms)
            prepare_columns(w, t);
        if (t->smaller >= 0 && !task_at(w, (guint)t->smaller)->histograms)
            prepare_columns(w, task_at(w, (guint)t->smaller));
    }
    for (guint i = 0; i < tasks; i++)
        if (!task_at(w, i)->found && may_split(w, task_at(w, i)))
            alone[alone_count++] = task_at(w, i);
    bool worth = rows * (size_t)w->cols > THREADS_MIN_WORK;
    jobs = kept_count * (size_t)w->groups;
#pragma omp parallel if (worth)
    {
        packed clear[BINS] = {0};
#pragma omp for schedule(dynamic, 1) nowait
        for (size_t k = 0; k < jobs; k++)
            search_group(w, kept[k / (size_t)w->groups], (int)(k % (size_t)w->groups));
#pragma omp for schedule(dynamic, 2)
        for (size_t k = 0; k < alone_count; k++)
            search_single_thread(w, alone[k], clear);
    }
}

/* Best split over all columns, the first of equals, with its gain in units of the loss. */
static struct split best_of(const struct grower *w, const struct task *t)
{
    struct split best = t->best;
    for (int c = 0; t->found && c < w->cols; c++)
        if (t->found[c].feature >= 0 && t->found[c].gain > best.gain)
            best = t->found[c];
    if (best.feature >= 0 && !w->o->monotone) {
        double g = (double)packed_gradient(t->all);
        double whole = g * g / ((double)packed_weight(t->all) + w->o->lambda);
        best.gain = 0.5 * (best.gain - whole) * w->unit * w->unit;
    }
    if (!(best.gain > w->o->gain))
        best.feature = -1;
    return best;
}

/* A run of a task's rows that one thread divides. */
struct piece {
    guint task;
    size_t begin, end, left; /* of index; `left`: the number of rows that go left */
};

/* Moves the rows of the left side to the piece's front, and those of the right one to scratch, both
 * in order. */
static void divide(const struct grower *w, struct piece *piece, const struct split *s)
{
    const uint8_t *bins = w->bins->bins + (size_t)s->feature * w->bins->rows;
    size_t left = piece->begin, right = piece->begin;
    for (size_t i = piece->begin; i < piece->end; i++) {
        uint32_t row = w->index[i];
        packed p = w->sorted[i];
        uint8_t bin = bins[row];
        bool goes_left = bin ? bin <= s->bin : s->missing_left;
        w->index[left] = row; /* writes both sides, which avoids an unpredictable branch */
        w->sorted[left] = p;
        w->scratch[right] = row;
        w->scratch_sorted[right] = p;
        left += goes_left;
        right += !goes_left;
    }
    piece->left = left - piece->begin;
}

/* Joins the left sides of a task's pieces, and behind them the right ones. Returns where these
 * start. */
static size_t join(const struct grower *w, const struct piece *pieces, guint count)
{
    size_t left = pieces[0].begin;
    for (guint k = 0; k < count; k++) {
        const struct piece *p = &pieces[k];
        memmove(w->index + left, w->index + p->begin, p->left * sizeof *w->index);
        memmove(w->sorted + left, w->sorted + p->begin, p->left * sizeof *w->sorted);
        left += p->left;
    }
    size_t right = left;
    for (guint k = 0; k < count; k++) {
        const struct piece *p = &pieces[k];
        size_t rows = p->end - p->begin - p->left;
        memcpy(w->index + right, w->scratch + p->begin, rows * sizeof *w->index);
        memcpy(w->sorted + right, w->scratch_sorted + p->begin, rows * sizeof *w->sorted);
        right += rows;
    }
    return left;
}

/* Appends the pieces of a task's rows. */
static void add_pieces(GArray *pieces, guint task, const struct task *t)
{
    size_t count = (rows_of(t) + PIECE_ROWS - 1) / PIECE_ROWS;
    for (size_t k = 0; k < count; k++) {
        struct piece piece = {.task = task,
                              .begin = t->begin + rows_of(t) * k / count,
                              .end = t->begin + rows_of(t) * (k + 1) / count};
        g_array_append_val(pieces, piece);
    }
}

/* Divides the rows of the tasks that are split, in order. `out_middle`: by task, the start of its
 * right side. */
static void divide_rows(const struct grower *w, const struct split *best, size_t *out_middle)
{
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
    size_t rows = 0;
    for (guint i = 0; i < w->level->len; i++)
        if (best[i].feature >= 0) {
            add_pieces(pieces, i, task_at(w, i));
            rows += rows_of(task_at(w, i));
        }
    struct piece *all = (void *)pieces->data;
#pragma omp parallel for schedule(dynamic, 1) if (rows > THREADS_MIN_WORK / 4)
    for (guint k = 0; k < pieces->len; k++)
        divide(w, &all[k], &best[all[k].task]);
    for (guint k = 0, end; k < pieces->len; k = end) {
        for (end = k + 1; end < pieces->len && all[end].task == all[k].task; end++)
            ;
        out_middle[all[k].task] = join(w, &all[k], end - k);
    }
}

static int add_node(struct grower *w)
{
    struct orch_tree_node node = {.feature = -1};
    g_array_append_val(w->tree->nodes, node);
    return (int)w->tree->nodes->len - 1;
}

static void bound_children(const struct grower *w, const struct split *s, struct task *a,
                           struct task *b)
{
    int sign = w->o->monotone ? w->o->monotone[s->feature] : 0;
    if (!sign)
        return;
    double between = (orch_tree_leaf_value(w, a->all, a->low, a->high) +
                      orch_tree_leaf_value(w, b->all, b->low, b->high)) /
                     2;
    *(sign > 0 ? &a->high : &a->low) = between;
    *(sign > 0 ? &b->low : &b->high) = between;
}

/* Passes histograms on: the larger child reuses its parent's, minus those of the smaller one. */
static void hand_down(struct grower *w, packed *parent, GArray *next)
{
    struct task *b = &g_array_index(next, struct task, next->len - 1), *a = b - 1;
    bool a_larger = rows_of(a) >= rows_of(b);
    struct task *large = a_larger ? a : b, *small = a_larger ? b : a;
    bool useful = parent && rows_of(large) > FEW_ROWS && may_split(w, large);
    if (!useful) {
        give_histograms(w, parent);
        return;
    }
    large->histograms = parent;
    large->smaller = (int)next->len - (a_larger ? 1 : 2);
    if (rows_of(small) > FEW_ROWS && may_split(w, small))
        small->histograms = take_histograms(w);
}

static void split_task(struct grower *w, struct task *t, const struct split *s, size_t middle,
                       GArray *next)
{
    int left = add_node(w), right = add_node(w);
    int last = w->bins->counts[s->feature] - 2;
    g_array_index(w->tree->nodes, struct orch_tree_node, t->node) = (struct orch_tree_node){
        .feature = s->feature,
        .bin = (uint8_t)s->bin,
        .missing_left = s->missing_left,
        .left = left,
        .right = right,
        .threshold = s->bin <= last ? w->bins->cuts[s->feature][s->bin - 1] : (double)INFINITY,
        .gain = s->gain};
    struct task a = {
        left, t->begin, middle, s->left, t->low, t->high, NULL, -1, orch_tree_no_split(), NULL};
    struct task b = {right,   middle, t->end, t->all - s->left,     t->low,
                     t->high, NULL,   -1,     orch_tree_no_split(), NULL};
    bound_children(w, s, &a, &b);
    g_array_append_val(next, a);
    g_array_append_val(next, b);
    hand_down(w, t->histograms, next);
    t->histograms = NULL;
}

static void make_leaf(struct grower *w, const struct task *t, uint32_t *out_leaf)
{
    g_array_index(w->tree->nodes, struct orch_tree_node, t->node).value =
        orch_tree_leaf_value(w, t->all, t->low, t->high);
    for (size_t i = t->begin; out_leaf && i < t->end; i++)
        out_leaf[w->index[i]] = (uint32_t)t->node;
}

/* Splits the nodes with a gain; their children are the next level. */
static void split_level(struct grower *w, uint32_t *out_leaf)
{
    guint tasks = w->level->len;
    GArray *next = g_array_new(FALSE, FALSE, sizeof(struct task));
    g_autofree struct split *best = g_new(struct split, tasks);
    g_autofree size_t *middle = g_new(size_t, tasks);
    for (guint i = 0; i < tasks; i++) {
        const struct task *t = task_at(w, i);
        best[i] = may_split(w, t) ? best_of(w, t) : orch_tree_no_split();
    }
    divide_rows(w, best, middle);
    for (guint i = 0; i < tasks; i++) {
        struct task *t = task_at(w, i);
        if (best[i].feature >= 0)
            split_task(w, t, &best[i], middle[i], next);
        else
            make_leaf(w, t, out_leaf);
        give_histograms(w, t->histograms);
        g_free(t->found);
    }
    g_array_unref(w->level);
    w->level = next;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* Converts gradients to fixed point with the highest resolution that avoids overflow. */
static void pack(struct grower *w, const float *gradient, const uint8_t *weight, size_t count,
                 packed *out_all)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = MAX(most, fabsf(gradient[w->index[i]]));
    double room = (double)(1ll << (62 - WEIGHT_BITS)) / (double)MAX(count, 1);
    double scale = most > 0 ? MIN(room, 0x1p30) / (double)most : 1;
    w->unit = 1 / scale;
    *out_all = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = w->index[i];
        int64_t g = llrint((double)gradient[row] * scale);
        w->sorted[i] = g * (1 << WEIGHT_BITS) + (weight ? weight[row] : 1);
        *out_all += w->sorted[i];
    }
}

struct orch_tree *orch_tree_grow(const struct orch_tree_bins *bins, const float *gradient,
                                 const uint8_t *weight, uint32_t *index, size_t count,
                                 const struct orch_tree_options *options, uint32_t *out_leaf)
{
    struct grower w = {.bins = bins, .o = options, .index = index, .cols = bins->cols};
    w.groups = (bins->cols + ORCH_BIN_GROUP - 1) / ORCH_BIN_GROUP;
    w.tree = g_new0(struct orch_tree, 1);
    w.tree->nodes = g_array_new(FALSE, FALSE, sizeof(struct orch_tree_node));
    w.unused_histograms = g_ptr_array_new_with_free_func(g_free);
    w.scratch = g_new(uint32_t, count + 1);
    w.sorted = g_new(packed, count + 1);
    w.scratch_sorted = g_new(packed, count + 1);
    w.level = g_array_new(FALSE, FALSE, sizeof(struct task));
    struct task root = {.node = add_node(&w),
                        .end = count,
                        .low = -(double)INFINITY,
                        .high = (double)INFINITY,
                        .smaller = -1,
                        .best = orch_tree_no_split()};
    pack(&w, gradient, weight, count, &root.all);
    if (options->feature_share > KEEP_SHARE && count > FEW_ROWS)
        root.histograms = take_histograms(&w);
    g_array_append_val(w.level, root);
    for (int depth = 0; depth < options->depth && w.level->len; depth++) {
        search_level(&w);
        split_level(&w, out_leaf);
    }
    for (guint i = 0; i < w.level->len; i++) {
        make_leaf(&w, task_at(&w, i), out_leaf);
        g_free(task_at(&w, i)->histograms);
    }
    g_array_unref(w.level);
    g_ptr_array_unref(w.unused_histograms);
    g_free(w.scratch);
    g_free(w.sorted);
    g_free(w.scratch_sorted);
    return w.tree;
}

void orch_tree_free(struct orch_tree *tree)
{
    if (!tree)
        return;
    g_array_unref(tree->nodes);
    g_free(tree);
}
