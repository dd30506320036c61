/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning of predictors/matched_rows. */
#include "predictors/matched/matched_private.h"

#include "lib/base/reals.h"
#include "predictors/features/feature_names.h"
#include "predictors/numbers/dense.h"

#include <math.h>
#include <string.h>

#define ROWS_MOST 600 /* that effects common to all networks and tasks are learned from */
#define OWN_MOST 64   /* rows of one network or task that its own effects are learned from */
/* Standard deviations of the effects, as logarithms of times. */
#define OF_SETTING 0.3       /* of a word, a number or the batch, in general */
#define OF_SETTING_HERE 0.15 /* besides, for one network or task */
#define OF_BATCH_HERE 0.3
#define OF_NETWORK 2.0      /* of a network or task */
#define OF_CHIP 0.2         /* of a measured chip */
#define OF_CHIP_HERE 0.1    /* for one network or task */
#define OF_WORD_ON_CHIP 0.3 /* of a word on one chip: a precision, a version */
#define OF_SLOPE 0.1        /* of the powers of a GPU's rates */
#define NOISE 0.1

/* A row that is learned from. */
struct known_row {
    double rates[ORCH_MATCHED_RATES], y;
    struct orch_value *values; /* by column */
};

/* What is learned from, while learning. */
struct lesson {
    struct orch_matched *t;
    struct known_row *rows;
    char **names; /* of the network or task, by row */
    size_t count, columns;
};

static double square(double x)
{
    return x * x;
}

/* Variances of the effects of a column's values: in general, and besides for one network or task.
 */
static double common_variance(const struct orch_matched_column *column)
{
    static const double deviations[] = {
        [ORCH_MATCHED_NUMBER] = OF_SETTING,      [ORCH_MATCHED_BATCH] = OF_SETTING,
        [ORCH_MATCHED_BATCH_TOTAL] = OF_SETTING, [ORCH_MATCHED_WORD] = OF_SETTING,
        [ORCH_MATCHED_CHIP] = OF_CHIP,           [ORCH_MATCHED_WORD_ON_CHIP] = OF_WORD_ON_CHIP};
    return square(deviations[column->kind]);
}

static double own_variance(const struct orch_matched_column *column)
{
    static const double deviations[] = {
        [ORCH_MATCHED_NUMBER] = OF_SETTING_HERE,    [ORCH_MATCHED_BATCH] = OF_BATCH_HERE,
        [ORCH_MATCHED_BATCH_TOTAL] = OF_BATCH_HERE, [ORCH_MATCHED_WORD] = OF_SETTING_HERE,
        [ORCH_MATCHED_CHIP] = OF_CHIP_HERE,         [ORCH_MATCHED_WORD_ON_CHIP] = 0};
    return square(deviations[column->kind]);
}

/* Covariance of two rows, but for what is of their network or task alone. */
static double common_part(const struct lesson *l, const struct known_row *a,
                          const struct known_row *b)
{
    double sum = 0;
    for (size_t c = 0; c < l->columns; c++) {
        const struct orch_matched_column *column = l->t->columns->pdata[c];
        sum +=
            common_variance(column) * orch_matched_likeness(column, &a->values[c], &b->values[c]);
    }
    for (int k = 0; k < ORCH_MATCHED_RATES; k++)
        sum += square(OF_SLOPE) * (a->rates[k] - l->t->centre[k]) * (b->rates[k] - l->t->centre[k]);
    return sum;
}

/* What is of their network or task alone. */
static double own_part(const struct lesson *l, const struct known_row *a, const struct known_row *b)
{
    double sum = square(OF_NETWORK);
    for (size_t c = 0; c < l->columns; c++) {
        const struct orch_matched_column *column = l->t->columns->pdata[c];
        sum += own_variance(column) * orch_matched_likeness(column, &a->values[c], &b->values[c]);
    }
    return sum;
}

/* Weights of the rows `which` such that the process goes through `y` but for the noise. */
static bool solve(const struct lesson *l, const size_t *which, size_t count, bool common, double *y)
{
    g_autofree double *gram = g_new(double, count *count + 1);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            const struct known_row *a = &l->rows[which[i]], *b = &l->rows[which[j]];
            bool same = strcmp(l->names[which[i]], l->names[which[j]]) == 0;
            gram[i * count + j] =
                (common ? common_part(l, a, b) : 0) + (same ? own_part(l, a, b) : 0);
        }
        gram[i * count + i] += square(NOISE);
    }
    if (!orch_cholesky(gram, count))
        return false;
    orch_cholesky_solve(gram, count, y);
    return true;
}

/* Some of the rows, evenly; all if there are few. */
static size_t choose(const size_t *from, size_t count, size_t most, size_t *out)
{
    size_t chosen = MIN(count, most);
    for (size_t k = 0; k < chosen; k++)
        out[k] = from ? from[k * count / chosen] : k * count / chosen;
    return chosen;
}

/* Learns the effects common to all, and takes them out of every row's y. */
static bool learn_common(struct lesson *l)
{
    struct orch_matched *t = l->t;
    g_autofree size_t *which = g_new(size_t, ROWS_MOST);
    g_autofree double *weights = g_new(double, ROWS_MOST);
    size_t count = choose(NULL, l->count, ROWS_MOST, which);
    for (size_t k = 0; k < count; k++)
        weights[k] = l->rows[which[k]].y;
    if (!solve(l, which, count, true, weights))
        return false;
    for (size_t k = 0; k < count; k++) {
        const struct known_row *row = &l->rows[which[k]];
        for (size_t c = 0; c < l->columns; c++)
            orch_effects_add(t->all->columns[c], &row->values[c],
                             common_variance(t->columns->pdata[c]) * weights[k]);
        for (int r = 0; r < ORCH_MATCHED_RATES; r++)
            t->slopes[r] += square(OF_SLOPE) * weights[k] * (row->rates[r] - t->centre[r]);
    }
    for (size_t c = 0; c < l->columns; c++)
        orch_effects_ready(t->all->columns[c], t->columns->pdata[c]);
    for (size_t i = 0; i < l->count; i++)
        l->rows[i].y -= orch_matched_common(t, l->rows[i].values, l->rows[i].rates);
    return true;
}

static void note_smallest(const struct lesson *l, const GArray *rows, double *out)
{
    for (size_t c = 0; c < l->columns; c++)
        for (guint k = 0; orch_matched_is_batch(l->t->columns->pdata[c]) && k < rows->len; k++)
            out[c] = fmin(out[c], l->rows[g_array_index(rows, size_t, k)].values[c].number);
}

/* Learns what is of one network or task alone from what the common effects leave. */
static struct orch_effects *learn_own(const struct lesson *l, const GArray *rows)
{
    size_t which[OWN_MOST];
    double weights[OWN_MOST];
    size_t count = choose((const size_t *)(const void *)rows->data, rows->len, OWN_MOST, which);
    struct orch_effects *e = orch_effects_new(l->columns);
    note_smallest(l, rows, e->smallest);
    for (size_t k = 0; k < count; k++)
        weights[k] = l->rows[which[k]].y;
    if (!solve(l, which, count, false, weights))
        return e;
    for (size_t k = 0; k < count; k++) {
        e->constant += square(OF_NETWORK) * weights[k];
        for (size_t c = 0; c < l->columns; c++)
            orch_effects_add(e->columns[c], &l->rows[which[k]].values[c],
                             own_variance(l->t->columns->pdata[c]) * weights[k]);
    }
    for (size_t c = 0; c < l->columns; c++)
        orch_effects_ready(e->columns[c], l->t->columns->pdata[c]);
    return e;
}

/* Returns the constant that a network or task without rows adds: of the constants of those with
 * rows, the one whose relative errors on all of them have the smallest sum. */
static double unknown_of(const struct orch_matched *t)
{
    double best = 0, least = (double)INFINITY;
    GHashTableIter tries, each;
    void *at, *own;
    g_hash_table_iter_init(&tries, t->own);
    while (g_hash_table_iter_next(&tries, NULL, &at)) {
        double sum = 0, constant = ((const struct orch_effects *)at)->constant;
        g_hash_table_iter_init(&each, t->own);
        while (g_hash_table_iter_next(&each, NULL, &own))
            sum += fabs(exp(constant - ((const struct orch_effects *)own)->constant) - 1);
        if (sum < least) {
            least = sum;
            best = constant;
        }
    }
    return best;
}

static void learn_each(const struct lesson *l)
{
    g_autoptr(GHashTable) of =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
    for (size_t i = 0; i < l->count; i++) {
        GArray *rows = g_hash_table_lookup(of, l->names[i]);
        if (!rows)
            g_hash_table_insert(of, l->names[i], rows = g_array_new(FALSE, FALSE, sizeof(size_t)));
        g_array_append_val(rows, i);
    }
    GHashTableIter each;
    void *name, *rows;
    g_hash_table_iter_init(&each, of);
    while (g_hash_table_iter_next(&each, &name, &rows))
        g_hash_table_insert(l->t->own, g_strdup(name), learn_own(l, rows));
    l->t->unknown = unknown_of(l->t);
}

/* ---- reading the rows -------------------------------------------------------------------------
 */

static enum orch_matched_kind kind_of(const struct orch_matrix_feature *feature)
{
    const struct orch_feature_name *f = orch_feature_name_find(feature->name);
    f = f ? f : orch_feature_name_of_other(feature->name);
    if (feature->levels)
        return ORCH_MATCHED_WORD;
    if (f && strcmp(f->name, "batch_total") == 0)
        return ORCH_MATCHED_BATCH_TOTAL;
    return f && strcmp(f->name, "batch") == 0 ? ORCH_MATCHED_BATCH : ORCH_MATCHED_NUMBER;
}

/* True if several chips were measured. With a single one, nothing distinguishes its own effects
 * from those common to all chips. */
static bool has_chips(const struct orch_rows *rows)
{
    const char *first = NULL;
    for (size_t i = 0; i < rows->rows; i++) {
        const struct orch_gpu_spec *gpu = rows->devices[i].gpu;
        if (gpu && first && strcmp(first, orch_gpu_spec_chip(gpu)) != 0)
            return true;
        first = gpu ? orch_gpu_spec_chip(gpu) : first;
    }
    return false;
}

static void choose_columns(struct orch_matched *t, const struct orch_matrix *m, bool by_chip)
{
    if (by_chip)
        orch_matched_add_column(t, "", ORCH_MATCHED_CHIP);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
        if (orch_feature_is_derived(f->name) || orch_matched_is_work(f))
            continue;
        orch_matched_add_column(t, f->name, kind_of(f));
        if (f->levels && by_chip)
            orch_matched_add_column(t, f->name, ORCH_MATCHED_WORD_ON_CHIP);
    }
}

static void read_rows(struct lesson *l, const struct orch_rows *rows, const struct orch_matrix *m,
                      const double *y)
{
    g_autofree int *at = orch_matched_places(l->t, m);
    l->columns = l->t->columns->len;
    l->rows = g_new0(struct known_row, rows->rows + 1);
    l->names = g_new0(char *, rows->rows + 1);
    for (size_t i = 0; i < rows->rows; i++) {
        g_autofree char *name = orch_matched_work_name(m, i);
        if (!isfinite(y[i]) || !*name || !rows->devices[i].gpu)
            continue;
        struct known_row *row = &l->rows[l->count];
        row->y = y[i];
        orch_matched_rates(&rows->devices[i], row->rates);
        row->values = g_new(struct orch_value, l->columns + 1);
        for (size_t c = 0; c < l->columns; c++)
            row->values[c] =
                orch_matched_value(m, at[c], l->t->columns->pdata[c], i, rows->devices[i].gpu);
        l->names[l->count++] = g_steal_pointer(&name);
    }
}

/* Takes the median out, so that effects are deviations from it. */
static void centre_rows(struct lesson *l)
{
    g_autofree double *sorted = g_new(double, l->count + 1);
    for (size_t i = 0; i < l->count; i++) {
        sorted[i] = l->rows[i].y;
        for (int r = 0; r < ORCH_MATCHED_RATES; r++)
            l->t->centre[r] += l->rows[i].rates[r] / (double)l->count;
    }
    l->t->middle = orch_reals_median(sorted, l->count);
    for (size_t i = 0; i < l->count; i++)
        l->rows[i].y -= l->t->middle;
}

struct orch_matched *orch_matched_fit(const struct orch_rows *rows, const struct orch_matrix *m,
                                      const double *y)
{
    struct lesson l = {.t = orch_matched_new()};
    choose_columns(l.t, m, has_chips(rows));
    l.t->sign = rows->is_rate ? -1 : 1;
    l.t->all = orch_effects_new(l.t->columns->len);
    read_rows(&l, rows, m, y);
    bool ok = l.count > 0;
    if (ok) {
        centre_rows(&l);
        ok = learn_common(&l);
    }
    if (ok)
        learn_each(&l);
    for (size_t i = 0; i < l.count; i++) {
        g_free(l.rows[i].values);
        g_free(l.names[i]);
    }
    g_free(l.rows);
    g_free(l.names);
    if (ok)
        return l.t;
    orch_matched_free(l.t);
    return NULL;
}
