/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Squared distances are |a|^2 - 2 a.b + |b|^2, in single precision by tiles. The rows that these
 * may put among the nearest, with the bound of their rounding errors, are then measured exactly. */
#include "predictors/numbers/near_tiles.h"

#include "predictors/numbers/dense.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define ROUNDING 0x1p-23 /* twice the largest relative error of a number in single precision */
#define LARGEST 1e15     /* longest vector whose square is sure to fit in single precision */

struct orch_near_tiles {
    const double *values;
    size_t rows, cols;
    double *middle; /* of each column; distances from it are short, so that little is rounded off */
    float *tiles;   /* orch_tiles_new of the rows' distances from the middle */
    float *norms;   /* |row|^2 */
    double longest; /* largest |row| */
};

/* Puts a row's distances from the middle into `out` and returns their length. */
static double centre(const struct orch_near_tiles *t, const double *row, float *out)
{
    double square = 0;
    for (size_t c = 0; c < t->cols; c++) {
        double off = row[c] - t->middle[c];
        out[c] = (float)off;
        square += off * off;
    }
    return sqrt(square);
}

struct orch_near_tiles *orch_near_tiles_new(const double *values, size_t rows, int cols)
{
    struct orch_near_tiles *t = g_new0(struct orch_near_tiles, 1);
    t->values = values;
    t->rows = rows;
    t->cols = (size_t)cols;
    t->middle = g_new0(double, t->cols + 1);
    t->norms = g_new(float, rows + 1);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < t->cols; c++)
            t->middle[c] += values[i * t->cols + c] / (double)rows;
    g_autofree float *centred = g_new(float, rows * t->cols + 1);
    for (size_t i = 0; i < rows; i++) {
        double length = centre(t, values + i * t->cols, centred + i * t->cols);
        t->norms[i] = (float)(length * length);
        t->longest = MAX(t->longest, length);
    }
    t->tiles = orch_tiles_new(centred, rows, t->cols);
    return t;
}

void orch_near_tiles_free(struct orch_near_tiles *t)
{
    if (!t)
        return;
    g_free(t->middle);
    g_free(t->tiles);
    g_free(t->norms);
    g_free(t);
}

/* Adds a row by its exact distance. */
static void add_row(const double *values, size_t cols, const double *point, uint32_t row,
                    struct orch_near_list *list)
{
    struct orch_neighbour next = {0, row};
    for (size_t c = 0; c < cols; c++) {
        double off = point[c] - values[row * cols + c];
        next.square += off * off;
    }
    orch_near_list_add(list, next);
}

int orch_neighbour_find(const double *values, size_t rows, int cols, const double *point,
                        int wanted, struct orch_neighbour *out)
{
    struct orch_near_list list = {out, 0, wanted};
    for (uint32_t i = 0; i < rows; i++)
        add_row(values, (size_t)cols, point, i, &list);
    return list.count;
}

/* Returns the `wanted`-th smallest of `count` >= wanted numbers. `least` has room for them. */
static float smallest(const float *numbers, size_t count, int wanted, float *least)
{
    int kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == wanted && numbers[i] >= least[wanted - 1])
            continue;
        int at = kept < wanted ? kept++ : wanted - 1;
        for (; at > 0 && least[at - 1] > numbers[i]; at--)
            least[at] = least[at - 1];
        least[at] = numbers[i];
    }
    return least[wanted - 1];
}

/* Finds the nearest rows to a point, given |row|^2 - 2 row.point for each row. */
static void find_one(const struct orch_near_tiles *t, const double *point, double length,
                     const float *rough, struct orch_near_list *list)
{
    double off = ROUNDING * ((double)t->cols + 4) * t->longest * (t->longest + length);
    g_autofree float *least = g_new(float, list->wanted);
    double limit = (double)smallest(rough, t->rows, list->wanted, least) + 2 * off;
    for (uint32_t i = 0; i < t->rows; i++)
        if ((double)rough[i] <= limit)
            add_row(t->values, t->cols, point, i, list);
}

int orch_near_tiles_find(const struct orch_near_tiles *t, const double *points, size_t count,
                         int wanted, struct orch_neighbour *out)
{
    size_t padded = orch_tile_rows(t->rows);
    g_autofree float *lines = g_new0(float, ORCH_ABREAST * t->cols + 1);
    g_autofree float *rough = g_new(float, ORCH_ABREAST *padded + 1);
    double lengths[ORCH_ABREAST] = {0}, farthest = t->longest;
    float dots[ORCH_ABREAST * ORCH_TILE];
    wanted = (int)MIN((size_t)wanted, t->rows);
    for (size_t p = 0; p < count; p++) {
        lengths[p] = centre(t, points + p * t->cols, lines + p * t->cols);
        farthest = MAX(farthest, lengths[p]);
    }
    for (size_t first = 0; wanted && farthest < LARGEST && first < t->rows; first += ORCH_TILE) {
        orch_tile_dots(t->tiles + first * t->cols, lines, t->cols, dots);
        for (size_t p = 0; p < count; p++)
            for (size_t k = 0; k < MIN(ORCH_TILE, t->rows - first); k++)
                rough[p * padded + first + k] = t->norms[first + k] - 2 * dots[p * ORCH_TILE + k];
    }
    for (size_t p = 0; wanted && p < count; p++) {
        const double *point = points + p * t->cols;
        struct orch_near_list list = {out + p * (size_t)wanted, 0, wanted};
        if (farthest < LARGEST)
            find_one(t, point, lengths[p], rough + p * padded, &list);
        else
            orch_neighbour_find(t->values, t->rows, (int)t->cols, point, wanted, list.near);
    }
    return wanted;
}
