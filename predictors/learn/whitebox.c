/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/learn/whitebox.h"

#include "lib/base/reals.h"
#include "predictors/numbers/nnls.h"

#include <math.h>
#include <string.h>

#define ROWS_MAX 3000 /* enough rows for so few coefficients */
#define ROUNDS 4

#define FEW_ROWS 300 /* with fewer rows only the first FEW_TERMS terms are used */
#define FEW_TERMS 5

#define KERNELS "white kernels_ms"

static const char *const TERMS[] = {
    "white prior_ms",
    "white compute_ms",
    "white memory_ms",
    "white launches",
    "white exchange_ms",
    "white roofline_ms",
    "white prior_tf32_ms",
    "white tensor_ms",
    "white tiles128_ms",
    "white tiles64_ms",
    "white tiles32_ms",
    "white update_ms",
    KERNELS,
};

/* Features that can be the base, scaled by a constant. */
static const char *const BASES[] = {"white roofline_ms", "white prior_ms", "white prior_tf32_ms",
                                    KERNELS};

/* Measured time in ms. The rows' own roofline, known in both units, gives the conversion. */
static double measured_ms(const struct orch_rows *rows, size_t i)
{
    double ratio =
        rows->is_rate ? rows->white[i] / rows->target[i] : rows->target[i] / rows->white[i];
    return ratio * rows->white_ms[i];
}

static double to_target(const struct orch_rows *rows, size_t i, double ms)
{
    double ratio = ms / rows->white_ms[i];
    return rows->is_rate ? rows->white[i] / ratio : rows->white[i] * ratio;
}

/* The base of a row in the unit of the target; `column` NULL: the rows' own roofline. */
static double base_of(const struct orch_rows *rows, const double *column, size_t i)
{
    if (!column)
        return rows->white[i];
    return column[i] > 0 ? to_target(rows, i, column[i]) : (double)NAN;
}

/* Median ratio of target to base, and the mean absolute deviation of the log ratios from it. */
static double median_factor(const struct orch_rows *rows, const double *column, double *out_far)
{
    g_autofree double *ratios = g_new(double, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        double base = base_of(rows, column, i);
        if (isfinite(base) && base > 0)
            ratios[count++] = log(rows->target[i] / base);
    }
    double median = count ? orch_reals_median(ratios, count) : 0;
    *out_far = count * 2 > rows->rows ? 0 : (double)INFINITY;
    for (size_t k = 0; k < count; k++)
        *out_far += fabs(ratios[k] - median) / (double)count;
    return exp(median);
}

static const double *column_of(const struct orch_rows *rows, const char *name)
{
    int at = name ? orch_matrix_find(rows->matrix, name) : -1;
    return at < 0 ? NULL : orch_matrix_column(rows->matrix, at);
}

bool orch_rows_have_kernels(const struct orch_rows *rows)
{
    const double *column = column_of(rows, KERNELS);
    size_t count = 0;
    for (size_t i = 0; column && i < rows->rows; i++)
        count += column[i] > 0;
    return 2 * count > rows->rows;
}

static double term_of(const struct orch_rows *rows, int term, const int *columns, size_t i)
{
    if (term == 0)
        return 1;
    double value = columns[term] < 0 ? 0 : orch_matrix_column(rows->matrix, columns[term])[i];
    return isfinite(value) ? value : 0;
}

static void find_columns(const struct orch_whitebox *w, const struct orch_rows *rows, int *columns)
{
    for (int t = 0; t < w->count; t++)
        columns[t] = orch_matrix_find(rows->matrix, w->names[t]);
}

static bool is_usable(const struct orch_rows *rows, size_t i, int roofline)
{
    return isfinite(rows->white[i]) && rows->white[i] > 0 &&
           isfinite(orch_matrix_column(rows->matrix, roofline)[i]);
}

/* Rows are weighted by 1 / (measured * fitted), which approximates log errors. */
static bool fit_terms(struct orch_whitebox *w, const struct orch_rows *rows, const size_t *which,
                      size_t count)
{
    int columns[ORCH_WHITE_TERMS_MAX];
    g_autofree double *a = g_new(double, count *(size_t)w->count), *b = g_new(double, count);
    g_autofree double *weights = g_new(double, count);
    find_columns(w, rows, columns);
    for (size_t k = 0; k < count; k++) {
        b[k] = measured_ms(rows, which[k]);
        weights[k] = 1 / (b[k] * b[k]);
        for (int t = 0; t < w->count; t++)
            a[k * (size_t)w->count + (size_t)t] = term_of(rows, t, columns, which[k]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        g_autoptr(GError) error = NULL;
        if (!orch_nnls_solve(a, b, weights, count, w->count, w->coefficients, &error))
            return round > 0;
        for (size_t k = 0; k < count; k++) {
            double fitted = 0;
            for (int t = 0; t < w->count; t++)
                fitted += w->coefficients[t] * a[k * (size_t)w->count + (size_t)t];
            double ratio = CLAMP(fitted / b[k], 0.1, 10);
            double off = fabs(log(ratio)); /* absolute rather than squared errors */
            weights[k] = 1 / (b[k] * b[k] * ratio * MAX(off, 0.02));
        }
    }
    return true;
}

static bool any_terms(struct orch_whitebox *w, const struct orch_rows *rows)
{
    w->names[w->count++] = g_strdup("1");
    size_t terms = rows->rows < FEW_ROWS ? FEW_TERMS : G_N_ELEMENTS(TERMS);
    for (size_t t = 0; t < terms; t++)
        if (orch_matrix_find(rows->matrix, TERMS[t]) >= 0)
            w->names[w->count++] = g_strdup(TERMS[t]);
    return orch_matrix_find(rows->matrix, "white roofline_ms") >= 0;
}

const char *orch_whitebox_base(const char *name)
{
    for (size_t k = 0; name && k < G_N_ELEMENTS(BASES); k++)
        if (strcmp(BASES[k], name) == 0)
            return BASES[k];
    return NULL;
}

struct orch_whitebox *orch_whitebox_fit_factor(const struct orch_rows *rows)
{
    struct orch_whitebox *w = g_new0(struct orch_whitebox, 1);
    double nearest;
    w->factor = median_factor(rows, NULL, &nearest);
    for (size_t k = 0; k < G_N_ELEMENTS(BASES); k++) {
        const double *column = column_of(rows, BASES[k]);
        double far = (double)INFINITY, factor = column ? median_factor(rows, column, &far) : 1;
        if (far < 0.98 * nearest) {
            nearest = far;
            w->factor = factor;
            w->base = BASES[k];
        }
    }
    return w;
}

/* Text that rows of one GPU have in common: its facts. Caller frees. */
static char *gpu_key(const struct orch_matrix *m, size_t row)
{
    GString *key = g_string_new(NULL);
    for (int c = 0; c < orch_matrix_cols(m); c++)
        if (g_str_has_prefix(orch_matrix_feature(m, c)->name, "gpu "))
            g_string_append_printf(key, "%.9g ", orch_matrix_column(m, c)[row]);
    return g_string_free(key, FALSE);
}

struct orch_whitebox *orch_whitebox_fit_kernels(const struct orch_rows *rows, double *out_shift)
{
    const double *column = column_of(rows, KERNELS);
    g_autoptr(GHashTable) gpus =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    g_autofree GArray **of = g_new0(GArray *, rows->rows + 1);
    size_t known = 0;
    for (size_t i = 0; column && i < rows->rows; i++) {
        double base = base_of(rows, column, i);
        char *key = gpu_key(rows->matrix, i);
        if (!(of[i] = g_hash_table_lookup(gpus, key)))
            g_hash_table_insert(gpus, g_strdup(key),
                                of[i] = g_array_new(FALSE, FALSE, sizeof(double)));
        g_free(key);
        double ratio = log(rows->target[i] / base);
        if (!isfinite(ratio))
            continue;
        g_array_append_val(of[i], ratio);
        known++;
    }
    if (known * 2 < rows->rows || !known)
        return NULL;
    g_autofree double *medians = g_new(double, g_hash_table_size(gpus) + 1);
    size_t count = 0;
    GHashTableIter each;
    void *ratios;
    g_hash_table_iter_init(&each, gpus);
    while (g_hash_table_iter_next(&each, NULL, &ratios)) {
        GArray *a = ratios;
        if (!a->len)
            continue;
        double median = orch_reals_median((double *)(void *)a->data, a->len);
        g_array_set_size(a, 1);
        g_array_index(a, double, 0) = median;
        medians[count++] = median;
    }
    struct orch_whitebox *w = g_new0(struct orch_whitebox, 1);
    double middle = orch_reals_median(medians, count);
    w->factor = exp(middle);
    w->base = orch_whitebox_base(KERNELS);
    for (size_t i = 0; i < rows->rows; i++)
        out_shift[i] = of[i]->len ? g_array_index(of[i], double, 0) - middle : 0;
    return w;
}

struct orch_whitebox *orch_whitebox_fit(const struct orch_rows *rows)
{
    struct orch_whitebox *w = orch_whitebox_fit_factor(rows);
    int roofline = orch_matrix_find(rows->matrix, "white roofline_ms");
    bool fits = any_terms(w, rows);
    size_t step = rows->rows / ROWS_MAX + 1, count = 0;
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    for (size_t i = 0; fits && i < rows->rows; i += step)
        if (is_usable(rows, i, roofline))
            which[count++] = i;
    if (count < 3 || !fit_terms(w, rows, which, count)) {
        for (int t = 0; t < w->count; t++)
            g_free(w->names[t]);
        w->count = 0;
    }
    return w;
}

struct orch_whitebox *orch_whitebox_of_rates(void)
{
    struct orch_whitebox *w = g_new0(struct orch_whitebox, 1);
    w->factor = 1;
    w->is_of_rates = true;
    return w;
}

void orch_whitebox_free(struct orch_whitebox *w)
{
    if (!w)
        return;
    for (int t = 0; t < w->count; t++)
        g_free(w->names[t]);
    g_free(w);
}

void orch_whitebox_predict(const struct orch_whitebox *w, const struct orch_rows *rows, double *out)
{
    int columns[ORCH_WHITE_TERMS_MAX];
    int roofline = orch_matrix_find(rows->matrix, "white roofline_ms");
    const double *base = column_of(rows, w->base);
    find_columns(w, rows, columns);
    for (size_t i = 0; i < rows->rows; i++) {
        bool known = isfinite(rows->white[i]) && rows->white[i] > 0;
        double ms = 0;
        if (w->is_of_rates) {
            out[i] =
                known ? to_target(rows, i, orch_row_device_ms(&rows->devices[i])) : (double)NAN;
            continue;
        }
        double alone = base_of(rows, base, i);
        out[i] = known ? w->factor * (isfinite(alone) ? alone : rows->white[i]) : (double)NAN;
        if (!known || !w->count || roofline < 0 || !is_usable(rows, i, roofline))
            continue;
        for (int t = 0; t < w->count; t++)
            ms += w->coefficients[t] * term_of(rows, t, columns, i);
        if (ms > 0)
            out[i] = to_target(rows, i, ms);
    }
}
