/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second moments of patches, and their eigenvectors by Jacobi's rotations (Golub and Van Loan,
 * Matrix Computations, 8.5): a patch has a dozen or some hundred values, for which the simplest
 * method that is accurate to the last digits is fast enough. */
#include "plugins/common/data/whitening.h"

#include <math.h>
#include <string.h>

#define IMAGES_MAX 5000
#define PRODUCTS_MAX 1e9 /* of values, summed over all patches: fewer images for large patches */
#define SWEEPS_MAX 60
#define OFF_DIAGONAL 1e-24 /* of the sum of squares, at which the rotations end */

/* ---- moments ----------------------------------------------------------------------------------
 */

/* Copies the patch at (x, y): channels x kernel_h x kernel_w values. */
static void take_patch(const float *image, const struct orch_image_set *d,
                       const struct orch_whitening *w, int x, int y, float *out)
{
    for (int c = 0; c < d->channels; c++)
        for (int i = 0; i < w->kernel_h; i++, out += w->kernel_w)
            memcpy(out, image + ((int64_t)c * d->height + y + i) * d->width + x,
                   sizeof(float) * (size_t)w->kernel_w);
}

/* Adds x x' of a patch to the lower triangle. Floats hold the sums of one image. */
static void add_products(const float *x, int size, float *sums)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++)
            sums[i * size + j] += x[i] * x[j];
}

/* Second moments: size x size, symmetric. */
static void moments(const struct orch_subset *subset, const struct orch_transform_table *table,
                    const struct orch_whitening *w, int size, double *out)
{
    const struct orch_image_set *d = subset->dataset;
    const struct orch_image_shape shape = {d->channels, d->height, d->width};
    const struct orch_transform_plan plain = {0};
    const int columns = d->width - w->kernel_w + 1, rows = d->height - w->kernel_h + 1;
    const double products = (double)columns * rows * size * size;
    const int64_t affordable = (int64_t)fmax(16, PRODUCTS_MAX / products);
    const int64_t images = MIN(MIN(subset->count, IMAGES_MAX), affordable);
    g_autofree float *image = g_new(float, (gsize)d->channels *(gsize)d->height *(gsize)d->width);
    g_autofree float *patch = g_new(float, size), *sums = g_new(float, size *size);
    for (int64_t n = 0; n < images; n++) {
        orch_transform_apply(&plain, table, shape, false, orch_subset_image(subset, n), image);
        memset(sums, 0, sizeof(float) * (size_t)size * (size_t)size);
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++) {
                take_patch(image, d, w, x, y, patch);
                add_products(patch, size, sums);
            }
        for (int i = 0; i < size * size; i++)
            out[i] += (double)sums[i];
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++)
            out[i * size + j] = out[j * size + i] =
                out[i * size + j] / ((double)images * rows * columns);
}

/* ---- eigenvectors -----------------------------------------------------------------------------
 */

/* Rotates rows and columns p and q of the symmetric matrix `a` so that a[p][q] becomes 0, and the
 * rows p and q of `v`, which hold the eigenvectors. */
static void rotate(double *a, double *v, int size, int p, int q)
{
    const double apq = a[p * size + q];
    if (apq == 0)
        return;
    const double theta = (a[q * size + q] - a[p * size + p]) / (2 * apq);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < size; k++) {
        const double akp = a[k * size + p], akq = a[k * size + q];
        a[k * size + p] = c * akp - s * akq;
        a[k * size + q] = s * akp + c * akq;
    }
    for (int k = 0; k < size; k++) {
        const double apk = a[p * size + k], aqk = a[q * size + k];
        a[p * size + k] = c * apk - s * aqk;
        a[q * size + k] = s * apk + c * aqk;
        const double vp = v[p * size + k], vq = v[q * size + k];
        v[p * size + k] = c * vp - s * vq;
        v[q * size + k] = s * vp + c * vq;
    }
}

static bool is_diagonal(const double *a, int size)
{
    double off = 0, all = 0;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            all += a[i * size + j] * a[i * size + j];
            off += i == j ? 0 : a[i * size + j] * a[i * size + j];
        }
    return off <= OFF_DIAGONAL * all;
}

/* Leaves the eigenvalues on the diagonal of `a` and the eigenvectors in the rows of `v`. */
static void diagonalise(double *a, double *v, int size)
{
    memset(v, 0, sizeof(double) * (size_t)size * (size_t)size);
    for (int i = 0; i < size; i++)
        v[i * size + i] = 1;
    for (int sweep = 0; sweep < SWEEPS_MAX && !is_diagonal(a, size); sweep++)
        for (int p = 0; p < size; p++)
            for (int q = p + 1; q < size; q++)
                rotate(a, v, size, p, q);
}

/* Index of the largest eigenvalue that is not taken; takes it. */
static int take_largest(const double *a, int size, bool *taken)
{
    int best = -1;
    for (int i = 0; i < size; i++)
        if (!taken[i] && (best < 0 || a[i * size + i] > a[best * size + best]))
            best = i;
    taken[best] = true;
    return best;
}

static double sign_of(const double *vector, int size)
{
    int largest = 0;
    for (int i = 1; i < size; i++)
        if (fabs(vector[i]) > fabs(vector[largest]) + 1e-9)
            largest = i;
    return vector[largest] < 0 ? -1 : 1;
}

void orch_whitening_filters(const struct orch_subset *subset,
                            const struct orch_transform_table *table,
                            const struct orch_whitening *w, float *out)
{
    const int size = subset->dataset->channels * w->kernel_h * w->kernel_w;
    const int half = (w->filters + 1) / 2;
    g_autofree double *a = g_new0(double, size *size), *v = g_new(double, size *size);
    g_autofree bool *taken = g_new0(bool, size);
    moments(subset, table, w, size, a);
    diagonalise(a, v, size);
    for (int f = 0; f < half; f++) {
        const int best = take_largest(a, size, taken);
        const double *vector = v + best * size;
        const double scale =
            sign_of(vector, size) / sqrt(fmax(a[best * size + best], 0) + w->epsilon);
        for (int i = 0; i < size; i++) {
            out[f * size + i] = (float)(vector[i] * scale);
            if (half + f < w->filters)
                out[(half + f) * size + i] = (float)(-vector[i] * scale);
        }
    }
}
