/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trees grow level by level. The jobs of a level are distributed over all threads: a job fills the
 * histograms of a group of columns for the smaller of two siblings, subtracts them from the
 * parent's to get the larger one's, and searches the best splits of both. Columns are filled
 * together since one row after the other mostly falls into the same few bins of a column: sums of
 * different columns do not wait for one another. Nodes with few rows, and all nodes if each split
 * considers a small share of the features, keep no histogram; they use a scratch histogram that is
 * cleared bin by bin.
 */
#include "predictors/tree.h"

#include "lib/base/random.h"

#include <math.h>
#include <string.h>

#define BINS (ORCH_BINS_MAX + 1)
#define FEW_ROWS 200           /* nodes with at most this many rows keep no histogram */
#define SPARSE_ROWS 100        /* with at most this many rows only the occupied bins are visited */
#define THREADS_MIN_WORK 60000 /* rows times columns of a level; with less, threads cost more */
#define KEEP_SHARE 0.4         /* with at most this feature_share no node keeps histograms */
#define WEIGHT_BITS 24

/* Sum of fixed-point gradients in the upper bits, of weights in the lowest WEIGHT_BITS. */
typedef int64_t packed;

static int64_t packed_gradient(packed p)
{
    return p >> WEIGHT_BITS;
}

static int64_t packed_weight(packed p)
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

/* ---- one column --------------------------------------------------------------------------------
 */

static double value_of(const struct grower *w, packed p, double low, double high)
{
    double value =
        -(double)packed_gradient(p) * w->unit / ((double)packed_weight(p) + w->o->lambda);
    return CLAMP(value, low, high);
}

/* Reduction of the second-order loss by a leaf with this value. */
static double score(const struct grower *w, packed p, double value)
{
    double g = (double)packed_gradient(p) * w->unit, h = (double)packed_weight(p) + w->o->lambda;
    return -(g * value + 0.5 * h * value * value);
}

static void consider_bounded(const struct grower *w, const struct task *t, struct split s,
                             struct split *best)
{
    packed right = t->all - s.left;
    double a = value_of(w, s.left, t->low, t->high), b = value_of(w, right, t->low, t->high);
    int sign = w->o->monotone[s.feature];
    if ((sign > 0 && a > b) || (sign < 0 && a < b))
        return;
    double whole = value_of(w, t->all, t->low, t->high);
    s.gain = score(w, s.left, a) + score(w, right, b) - score(w, t->all, whole);
    if (s.gain > best->gain)
        *best = s;
}

static void consider(const struct grower *w, const struct task *t, struct split s,
                     struct split *best)
{
    packed right = t->all - s.left;
    int64_t least = (int64_t)w->o->leaf_rows;
    if (packed_weight(s.left) < least || packed_weight(right) < least)
        return;
    if (w->o->monotone) {
        consider_bounded(w, t, s, best);
        return;
    }
    double a = (double)packed_gradient(s.left), b = (double)packed_gradient(right);
    double ha = (double)packed_weight(s.left) + w->o->lambda;
    double hb = (double)packed_weight(right) + w->o->lambda;
    s.gain = (a * a * hb + b * b * ha) / (ha * hb);
    if (s.gain > best->gain)
        *best = s;
}

static void consider_bin(const struct grower *w, const struct task *t, int c, int bin, packed sum,
                         packed missing, struct split *best)
{
    consider(w, t, (struct split){c, bin, false, 0, sum}, best);
    if (missing)
        consider(w, t, (struct split){c, bin, true, 0, sum + missing}, best);
}

/* The split of present against missing values. */
static void consider_missing(const struct grower *w, const struct task *t, int c, packed missing,
                             struct split *best)
{
    if (missing)
        consider(w, t, (struct split){c, w->bins->counts[c] - 1, false, 0, t->all - missing}, best);
}

static struct split no_split(void)
{
    return (struct split){.feature = -1, .gain = -(double)INFINITY};
}

/* Fast path for columns without bounds and missing values. Its gains are correct up to a factor and
 * a constant shared by all splits of the node. */
static void search_plain(const struct grower *w, const struct task *t, int c,
                         const packed *histogram, struct split *best)
{
    const double lambda = w->o->lambda, all = (double)packed_gradient(t->all);
    const int64_t weight = packed_weight(t->all), least = MAX((int64_t)w->o->leaf_rows, 1);
    const int last = w->bins->counts[c] - 1;
    double most = best->gain;
    packed sum = 0, left = 0;
    int bin = -1;
    for (int b = 1; b < last; b++) {
        if (!histogram[b])
            continue;
        sum += histogram[b];
        int64_t count = packed_weight(sum);
        if (count < least)
            continue;
        if (weight - count < least)
            break;
        double ga = (double)packed_gradient(sum), gb = all - ga;
        double ha = (double)count + lambda, hb = (double)(weight - count) + lambda;
        double gain = (ga * ga * hb + gb * gb * ha) / (ha * hb);
        if (gain > most) {
            most = gain;
            bin = b;
            left = sum;
        }
    }
    if (bin >= 0)
        *best = (struct split){c, bin, false, most, left};
}

static void search(const struct grower *w, const struct task *t, int c, const packed *histogram,
                   struct split *best)
{
    packed sum = 0;
    if (!w->o->monotone && !histogram[0]) {
        search_plain(w, t, c, histogram, best);
        return;
    }
    for (int b = 1; b < w->bins->counts[c] - 1; b++) {
        sum += histogram[b];
        if (histogram[b])
            consider_bin(w, t, c, b, sum, histogram[0], best);
    }
    consider_missing(w, t, c, histogram[0], best);
}

static void fill(const struct grower *w, const struct task *t, int c, packed *out)
{
    const uint8_t *bins = w->bins->bins + (size_t)c * w->bins->rows;
    memset(out, 0, sizeof(packed) * (size_t)w->bins->counts[c]);
    for (size_t i = t->begin; i < t->end; i++)
        out[bins[w->index[i]]] += w->sorted[i];
}

/* The histograms of a group's columns, BINS apart. */
static void fill_group(const struct grower *w, const struct task *t, int group, packed *out)
{
    const uint64_t *words = w->bins->groups + (size_t)group * w->bins->rows;
    for (int k = 0; k < ORCH_BIN_GROUP; k++) {
        int c = group * ORCH_BIN_GROUP + k;
        memset(out + (size_t)k * BINS, 0,
               sizeof *out * (size_t)(c < w->cols ? w->bins->counts[c] : 1));
    }
    for (size_t i = t->begin; i < t->end; i++) {
        uint64_t word = words[w->index[i]];
        packed p = w->sorted[i];
#pragma GCC unroll 8
        for (int k = 0; k < ORCH_BIN_GROUP; k++)
            out[(size_t)k * BINS + (uint8_t)(word >> (8 * k))] += p;
    }
}

/* For few rows. `clear` must be all 0 and is all 0 again on return. */
static void search_sparse(const struct grower *w, const struct task *t, int c, packed *clear,
                          struct split *best)
{
    const uint8_t *bins = w->bins->bins + (size_t)c * w->bins->rows;
    uint64_t hit[BINS / 64] = {0};
    for (size_t i = t->begin; i < t->end; i++) {
        uint8_t bin = bins[w->index[i]];
        clear[bin] += w->sorted[i];
        hit[bin / 64] |= 1ull << (bin % 64);
    }
    packed missing = clear[0], sum = 0;
    clear[0] = 0;
    hit[0] &= ~1ull;
    int last = w->bins->counts[c] - 1;
    for (int word = 0; word < BINS / 64; word++) {
        for (uint64_t left = hit[word]; left; left &= left - 1) {
            int bin = 64 * word + __builtin_ctzll(left);
            sum += clear[bin];
            clear[bin] = 0;
            if (bin < last)
                consider_bin(w, t, c, bin, sum, missing, best);
        }
    }
    consider_missing(w, t, c, missing, best);
}

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

static size_t rows_of(const struct task *t)
{
    return t->end - t->begin;
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
        if (rows_of(t) <= SPARSE_ROWS) {
            search_sparse(w, t, c, clear, &t->best);
        } else {
            packed histogram[BINS];
            fill(w, t, c, histogram);
            search(w, t, c, histogram, &t->best);
        }
    }
}

/* Searches a group of columns of a task with histograms and of its smaller sibling. */
static void search_group(const struct grower *w, struct task *t, int group)
{
    const int first = group * ORCH_BIN_GROUP, end = MIN(first + ORCH_BIN_GROUP, w->cols);
    packed *own = t->histograms + (size_t)first * BINS, *other = NULL;
    struct task *small = t->smaller < 0 ? NULL : task_at(w, (guint)t->smaller);
    packed local[ORCH_BIN_GROUP * BINS];
    if (small)
        other = small->histograms ? small->histograms + (size_t)first * BINS : local;
    fill_group(w, small ? small : t, group, small ? other : own);
    for (int c = first; c < end; c++, own += BINS) {
        if (small) {
#pragma omp simd
            for (int b = 0; b < w->bins->counts[c]; b++)
                own[b] -= other[b];
            if (small->found[c].bin)
                search(w, small, c, other, &small->found[c]);
            other += BINS;
        }
        if (t->found[c].bin)
            search(w, t, c, own, &t->found[c]);
    }
}

/* Prepares a task whose columns are separate jobs. `bin` initially says if the column may be
 * split. */
static void prepare_columns(const struct grower *w, struct task *t)
{
    struct draw draw = draw_of(w, t);
    t->found = g_new(struct split, (size_t)MAX(w->cols, 1));
    for (int c = 0; c < w->cols; c++) {
        t->found[c] = no_split();
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
#pragma omp for schedule(dynamic, 16)
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

/* Moves the rows of the left side to the front, in order. Returns the start of the right side. */
static size_t partition(const struct grower *w, const struct task *t, const struct split *s)
{
    const uint8_t *bins = w->bins->bins + (size_t)s->feature * w->bins->rows;
    size_t left = t->begin, right = t->begin;
    for (size_t i = t->begin; i < t->end; i++) {
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
    memcpy(w->index + left, w->scratch + t->begin, (right - t->begin) * sizeof *w->index);
    memcpy(w->sorted + left, w->scratch_sorted + t->begin, (right - t->begin) * sizeof *w->sorted);
    return left;
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
    double between =
        (value_of(w, a->all, a->low, a->high) + value_of(w, b->all, b->low, b->high)) / 2;
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
    struct task a = {left, t->begin, middle, s->left, t->low, t->high, NULL, -1, no_split(), NULL};
    struct task b = {right,   middle, t->end, t->all - s->left, t->low,
                     t->high, NULL,   -1,     no_split(),       NULL};
    bound_children(w, s, &a, &b);
    g_array_append_val(next, a);
    g_array_append_val(next, b);
    hand_down(w, t->histograms, next);
    t->histograms = NULL;
}

static void make_leaf(struct grower *w, const struct task *t, uint32_t *out_leaf)
{
    g_array_index(w->tree->nodes, struct orch_tree_node, t->node).value =
        value_of(w, t->all, t->low, t->high);
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
    size_t rows = 0;
    for (guint i = 0; i < tasks; i++)
        rows += rows_of(task_at(w, i));
    bool worth = rows > THREADS_MIN_WORK / 4;
#pragma omp parallel for schedule(dynamic, 1) if (worth)
    for (guint i = 0; i < tasks; i++) {
        struct task *t = task_at(w, i);
        best[i] = may_split(w, t) ? best_of(w, t) : no_split();
        if (best[i].feature >= 0)
            middle[i] = partition(w, t, &best[i]);
    }
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
                        .best = no_split()};
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
