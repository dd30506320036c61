/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/numbers/dense.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define LANES 8 /* partial sums; fixed, so that the order of summation is the same everywhere */
#define ROWS 4  /* rows processed together, to hide the latency of additions */

#define ORCH_DOT(NAME, REAL)                                                                       \
    ORCH_WIDE REAL NAME(const REAL *a, const REAL *b, size_t n)                                    \
    {                                                                                              \
        REAL sums[LANES] = {0};                                                                    \
        size_t whole = n - n % LANES;                                                              \
        for (size_t i = 0; i < whole; i += LANES)                                                  \
            for (size_t k = 0; k < LANES; k++)                                                     \
                sums[k] += a[i + k] * b[i + k];                                                    \
        for (size_t i = whole; i < n; i++)                                                         \
            sums[i - whole] += a[i] * b[i];                                                        \
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +                                       \
               ((sums[4] + sums[5]) + (sums[6] + sums[7]));                                        \
    }
ORCH_DOT(orch_dot, double)
ORCH_DOT(orch_dot_float, float)

ORCH_WIDE void orch_dots_float(const float *rows, size_t count, const float *b, size_t n,
                               float *out)
{
    typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
    size_t whole = n - n % LANES, done = 0;
    for (; done + ROWS <= count; done += ROWS) {
        const float *a = rows + done * n;
        lanes sums[ROWS] = {{0}};
        for (size_t i = 0; i < whole; i += LANES) {
            lanes factor;
            memcpy(&factor, b + i, sizeof factor);
            for (size_t r = 0; r < ROWS; r++) {
                lanes row;
                memcpy(&row, a + r * n + i, sizeof row);
                sums[r] += row * factor;
            }
        }
        for (size_t r = 0; r < ROWS; r++) {
            float s[LANES];
            memcpy(s, &sums[r], sizeof s);
            for (size_t i = whole; i < n; i++)
                s[i - whole] += a[r * n + i] * b[i];
            out[done + r] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        }
    }
    for (; done < count; done++)
        out[done] = orch_dot_float(rows + done * n, b, n);
}

size_t orch_tile_rows(size_t count)
{
    return (count + ORCH_TILE - 1) / ORCH_TILE * ORCH_TILE;
}

float *orch_tiles_new(const float *rows, size_t count, size_t n)
{
    float *tiles = g_new0(float, MAX(orch_tile_rows(count) * n, 1));
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < n; c++)
            tiles[(i / ORCH_TILE * n + c) * ORCH_TILE + i % ORCH_TILE] = rows[i * n + c];
    return tiles;
}

ORCH_WIDE void orch_tile_dots(const float *tile, const float *lines, size_t n, float *out)
{
    typedef float lanes __attribute__((vector_size(ORCH_TILE * sizeof(float))));
    lanes sums[ORCH_ABREAST] = {{0}};
    for (size_t c = 0; c < n; c++) {
        lanes column;
        memcpy(&column, tile + c * ORCH_TILE, sizeof column);
        for (size_t q = 0; q < ORCH_ABREAST; q++)
            sums[q] += column * lines[q * n + c];
    }
    memcpy(out, sums, sizeof sums);
}

bool orch_cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - orch_dot(row, a + j * n, j)) / a[j * n + j];
        double left = row[i] - orch_dot(row, row, i);
        if (!(left > 1e-14 * fabs(row[i])))
            return false;
        row[i] = sqrt(left);
    }
    return true;
}

void orch_cholesky_solve(const double *l, size_t n, double *b)
{
    for (size_t i = 0; i < n; i++)
        b[i] = (b[i] - orch_dot(l + i * n, b, i)) / l[i * n + i];
    for (size_t i = n; i-- > 0;) {
        b[i] /= l[i * n + i];
        for (size_t j = 0; j < i; j++)
            b[j] -= l[i * n + j] * b[i];
    }
}
