/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns enter one at a time, the one with the steepest gradient first. A least-squares step that
 * would make an entered coefficient negative stops where the first one becomes 0, and that column
 * leaves.
 *
 * The entered columns are kept as Q R by Gram-Schmidt with reorthogonalisation, which is as
 * accurate as Householder reflections for this use and makes appending a column simple. When a
 * column leaves, all are factored again, which is cheap for few columns. Normal equations were
 * rejected because they square the condition number, and terms like w and w/p are nearly dependent.
 */
#include "predictors/numbers/nnls.h"

#include "lib/base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* a column is dependent if less than this share of its length is outside the span of the others */
#define DEPENDENT 1e-10

struct work {
    size_t rows;
    int cols;
    double *a;          /* cols x rows: weighted columns of length 1, or all 0 */
    double *b;          /* weighted, length 1 unless all 0 */
    double *rest;       /* residual: b minus its projection on the entered columns */
    double *q;          /* cols x rows */
    double *r;          /* r[i cols + k], upper triangle */
    double *projection; /* Q' b */
    double *step;       /* least-squares solution over the entered columns, in their order */
    double *x;          /* by column */
    double *length;     /* of each weighted column */
    double b_length;
    int *entered;               /* columns in the order in which they entered */
    int count;                  /* number of entered columns */
    bool *is_out, *is_rejected; /* by column: not entered; already tried since the last change */
    double *numbers;            /* the allocation that holds all of the above */
};

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Scales to length 1 and returns the old length, without overflow or underflow. */
static double normalise(double *v, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(v[i]));
    if (largest == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        v[i] /= largest;
    double length = sqrt(dot(v, v, n));
    for (size_t i = 0; i < n; i++)
        v[i] /= length;
    return length * largest;
}

/* Subtracts from v its projection on `count` orthonormal vectors. Two passes are needed if v is
 * nearly in their span. Adds the coefficients to out[i * stride]. */
static void orthogonalise(double *v, const double *q, int count, size_t n, double *out, int stride)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++) {
            const double *along = q + (size_t)i * n;
            double amount = dot(along, v, n);
            for (size_t k = 0; k < n; k++)
                v[k] -= amount * along[k];
            out[(size_t)i * (size_t)stride] += amount;
        }
}

static void work_init(struct work *w, size_t rows, int cols)
{
    size_t n = rows, m = (size_t)cols;
    double *next = g_new0(double, 2 * n * m + 2 * n + m * m + 4 * m);
    *w = (struct work){.rows = rows, .cols = cols, .numbers = next};
    w->a = next;
    w->q = w->a + n * m;
    w->b = w->q + n * m;
    w->rest = w->b + n;
    w->r = w->rest + n;
    w->projection = w->r + m * m;
    w->step = w->projection + m;
    w->x = w->step + m;
    w->length = w->x + m;
    w->entered = g_new0(int, m);
    w->is_out = g_new0(bool, 2 * m);
    w->is_rejected = w->is_out + m;
}

static void work_release(struct work *w)
{
    g_free(w->numbers);
    g_free(w->entered);
    g_free(w->is_out);
}

static void work_load(struct work *w, const double *a, const double *b, const double *weights)
{
    for (size_t i = 0; i < w->rows; i++) {
        double root = weights ? sqrt(weights[i]) : 1;
        w->b[i] = root * b[i];
        for (int j = 0; j < w->cols; j++)
            w->a[(size_t)j * w->rows + i] = root * a[i * (size_t)w->cols + (size_t)j];
    }
    w->b_length = normalise(w->b, w->rows);
    memcpy(w->rest, w->b, w->rows * sizeof *w->rest);
    for (int j = 0; j < w->cols; j++) {
        w->length[j] = normalise(w->a + (size_t)j * w->rows, w->rows);
        w->is_out[j] = w->length[j] > 0;
    }
}

/* Enters a column. Returns false, with nothing changed, if it is in the span of the entered ones or
 * not a descent direction after all; `must` enters it regardless. */
static bool enter(struct work *w, int column, bool must)
{
    int k = w->count;
    double *q = w->q + (size_t)k * w->rows;
    for (int i = 0; i <= k; i++)
        w->r[i * w->cols + k] = 0;
    memcpy(q, w->a + (size_t)column * w->rows, w->rows * sizeof *q);
    orthogonalise(q, w->q, k, w->rows, w->r + k, w->cols);
    double length = normalise(q, w->rows);
    double along = dot(q, w->rest, w->rows);
    if (!must && (length <= DEPENDENT || along <= 0))
        return false;
    w->r[k * w->cols + k] = fmax(length, DBL_MIN);
    w->projection[k] = along;
    for (size_t i = 0; i < w->rows; i++)
        w->rest[i] -= along * q[i];
    w->entered[w->count++] = column;
    w->is_out[column] = false;
    return true;
}

static void solve_entered(struct work *w)
{
    for (int k = w->count - 1; k >= 0; k--) {
        double sum = w->projection[k];
        for (int j = k + 1; j < w->count; j++)
            sum -= w->r[k * w->cols + j] * w->step[j];
        w->step[k] = sum / w->r[k * w->cols + k];
    }
}

/* Moves x towards the step as far as it stays non-negative, and removes the columns that reach
 * 0. */
static void retreat(struct work *w)
{
    double share = 1;
    int first = -1;
    for (int k = 0; k < w->count; k++) {
        double x = w->x[w->entered[k]];
        if (w->step[k] > 0)
            continue;
        double reach = x > 0 ? x / (x - w->step[k]) : 0;
        if (first < 0 || reach < share) {
            share = reach;
            first = k;
        }
    }
    int count = w->count;
    w->count = 0;
    memcpy(w->rest, w->b, w->rows * sizeof *w->rest);
    for (int k = 0; k < count; k++) {
        int column = w->entered[k];
        w->x[column] += share * (w->step[k] - w->x[column]);
        if (k == first || w->x[column] <= 0) {
            w->x[column] = 0;
            w->is_out[column] = true;
        } else {
            enter(w, column, true); /* writes entered[count], never beyond k */
        }
    }
}

/* Column outside with the steepest descent, -1 if none exceeds rounding errors. */
static int steepest(const struct work *w)
{
    double rest = sqrt(dot(w->rest, w->rest, w->rows));
    double most = 10 * DBL_EPSILON * (sqrt((double)w->rows) * rest + w->count + 1);
    int best = -1;
    for (int j = 0; j < w->cols; j++) {
        if (!w->is_out[j] || w->is_rejected[j])
            continue;
        double slope = dot(w->a + (size_t)j * w->rows, w->rest, w->rows);
        if (slope > most) {
            most = slope;
            best = j;
        }
    }
    return best;
}

/* Returns false if it does not converge. */
static bool descend(struct work *w)
{
    int most = 30 * (w->cols + 10);
    for (int round = 0; round < most; round++) {
        int column = steepest(w);
        if (column < 0)
            return true;
        w->is_rejected[column] = true;
        if (!enter(w, column, false))
            continue;
        memset(w->is_rejected, 0, (size_t)w->cols * sizeof *w->is_rejected);
        for (solve_entered(w);; solve_entered(w)) {
            bool is_positive = true;
            for (int k = 0; k < w->count; k++)
                is_positive = is_positive && w->step[k] > 0;
            if (is_positive)
                break;
            retreat(w);
        }
        for (int k = 0; k < w->count; k++)
            w->x[w->entered[k]] = w->step[k];
    }
    return false;
}

static bool all_finite(const double *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

static const char *complaint(const double *a, const double *b, const double *weights, size_t rows,
                             int cols)
{
    if (rows == 0)
        return "least squares over no row";
    if (cols < 1)
        return "least squares over no column";
    if (cols > ORCH_NNLS_COLS_MAX || rows > G_MAXSIZE / sizeof(double) / 4 / (size_t)cols)
        return "least squares over too many columns";
    if (!all_finite(a, rows * (size_t)cols) || !all_finite(b, rows))
        return "least squares over a number that is not finite";
    bool has_weight = !weights;
    for (size_t i = 0; weights && i < rows; i++) {
        if (!isfinite(weights[i]) || weights[i] < 0)
            return "least squares with a weight that is negative or not finite";
        has_weight = has_weight || weights[i] > 0;
    }
    return has_weight ? NULL : "least squares over no row with a weight";
}

bool orch_nnls_solve(const double *a, const double *b, const double *weights, size_t rows, int cols,
                     double *out_x, GError **error)
{
    const char *what = complaint(a, b, weights, rows, cols);
    if (what) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%s", what);
        return false;
    }
    struct work w;
    work_init(&w, rows, cols);
    work_load(&w, a, b, weights);
    bool is_good = descend(&w);
    for (int j = 0; is_good && j < cols; j++)
        out_x[j] = w.x[j] > 0 ? w.x[j] * w.b_length / w.length[j] : 0;
    if (!is_good)
        orch_error_set(error, ORCH_ERROR_CHECK, NULL,
                       "non-negative least squares did not converge over %d columns", cols);
    work_release(&w);
    return is_good;
}
