/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/isolines.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LEAST_RANGE 1e-9 /* relative: less is rounding */

struct grid {
    const double *values;
    unsigned columns, rows;
    double height;
};

/* Edges of the grid: first the horizontal ones, row by row, then the vertical ones. */
static unsigned across(const struct grid *g, unsigned column, unsigned row)
{
    return row * g->columns + column;
}

static unsigned upwards(const struct grid *g, unsigned column, unsigned row)
{
    return g->columns * g->rows + row * g->columns + column;
}

static double value_at(const struct grid *g, unsigned column, unsigned row)
{
    return g->values[row * g->columns + column];
}

/* Where the line crosses an edge. */
static struct orch_isopoint crossing(const struct grid *g, unsigned edge)
{
    const bool is_across = edge < g->columns * g->rows;
    const unsigned at = is_across ? edge : edge - g->columns * g->rows;
    const unsigned column = at % g->columns, row = at / g->columns;
    const double a = value_at(g, column, row),
                 b = value_at(g, column + is_across, row + !is_across);
    const double share = (g->height - a) / (b - a);
    return (struct orch_isopoint){column + (is_across ? share : 0), row + (is_across ? 0 : share)};
}

/* Each edge is crossed at most once, so a line leaves it to at most two others. */
struct joints {
    unsigned *to; /* two for each edge; UINT32_MAX: none */
};

static void join(struct joints *j, unsigned a, unsigned b)
{
    j->to[2 * a + (j->to[2 * a] != UINT32_MAX)] = b;
    j->to[2 * b + (j->to[2 * b] != UINT32_MAX)] = a;
}

/* Joins the crossings of a cell's edges. Where all four are crossed, the height of the middle tells
 * which belong together. */
static void cross_cell(const struct grid *g, unsigned column, unsigned row, struct joints *j)
{
    const double v[4] = {value_at(g, column, row), value_at(g, column + 1, row),
                         value_at(g, column + 1, row + 1), value_at(g, column, row + 1)};
    const unsigned edges[4] = {across(g, column, row), upwards(g, column + 1, row),
                               across(g, column, row + 1), upwards(g, column, row)};
    unsigned crossed[4], count = 0;
    if (isnan(v[0] + v[1] + v[2] + v[3]))
        return;
    for (unsigned k = 0; k < 4; k++)
        if ((v[k] < g->height) != (v[(k + 1) % 4] < g->height))
            crossed[count++] = edges[k];
    if (count == 2) {
        join(j, crossed[0], crossed[1]);
    } else if (count == 4) {
        const bool is_apart = ((v[0] + v[1] + v[2] + v[3]) / 4 < g->height) == (v[0] < g->height);
        join(j, crossed[0], crossed[is_apart ? 1 : 3]);
        join(j, crossed[2], crossed[is_apart ? 3 : 1]);
    }
}

/* Takes the line that leaves `from` apart, and returns its points. */
static GArray *follow(const struct grid *g, struct joints *j, unsigned from)
{
    GArray *line = g_array_new(FALSE, FALSE, sizeof(struct orch_isopoint));
    for (unsigned at = from; at != UINT32_MAX;) {
        struct orch_isopoint point = crossing(g, at);
        g_array_append_val(line, point);
        const unsigned side = j->to[2 * at] == UINT32_MAX, next = j->to[2 * at + side];
        j->to[2 * at + side] = UINT32_MAX;
        if (next != UINT32_MAX)
            j->to[2 * next + (j->to[2 * next] != at)] = UINT32_MAX;
        at = next;
    }
    return line;
}

GPtrArray *orch_isolines(const double *grid, unsigned columns, unsigned rows, double height)
{
    const struct grid g = {grid, columns, rows, height};
    const unsigned edges = 2 * columns * rows;
    GPtrArray *lines = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    struct joints j = {g_new(unsigned, 2 * (gsize)edges + 2)};
    memset(j.to, 0xff, sizeof *j.to * (2 * (gsize)edges + 2));
    for (unsigned row = 0; row + 1 < rows; row++)
        for (unsigned column = 0; column + 1 < columns; column++)
            cross_cell(&g, column, row, &j);
    for (int is_closed = 0; is_closed < 2; is_closed++) /* the ends of open lines first */
        for (unsigned e = 0; e < edges; e++) {
            const int ends = (j.to[2 * e] != UINT32_MAX) + (j.to[2 * e + 1] != UINT32_MAX);
            if (ends == 1 + is_closed)
                g_ptr_array_add(lines, follow(&g, &j, e));
        }
    g_free(j.to);
    return lines;
}

/* The smallest of 1, 2, 5, 10 times a power of ten that is not below. */
static double round_up(double step)
{
    const double power = pow(10, floor(log10(step))), share = step / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

GArray *orch_isoline_heights(const double *grid, unsigned columns, unsigned rows, unsigned most)
{
    GArray *heights = g_array_new(FALSE, FALSE, sizeof(double));
    double low = INFINITY, high = -INFINITY;
    for (unsigned k = 0; k < columns * rows; k++)
        if (isfinite(grid[k])) {
            low = fmin(low, grid[k]);
            high = fmax(high, grid[k]);
        }
    if (!(high - low > LEAST_RANGE * fmax(fabs(low), fabs(high))) || !isfinite(high - low))
        return heights;
    const double step = round_up((high - low) / most);
    for (double k = floor(low / step) + 1; k * step < high; k++) {
        const double height = k * step;
        g_array_append_val(heights, height);
    }
    return heights;
}
