/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart of labelled points, made by gnuplot. */
#ifndef ORCH_CORE_REPORT_SCATTER_H
#define ORCH_CORE_REPORT_SCATTER_H

#include <glib.h>
#include <stdbool.h>

struct orch_scatter_point {
    double x, y; /* above 0: both axes are logarithmic */
    const char *label;
    bool is_marked; /* joined by a line, and labelled */
};

/** Writes `path` (.svg, .png or .pdf says which) in one go: a file there is replaced only when the
 * chart is whole. ORCH_ERROR_USAGE for another ending or no points, ORCH_ERROR_IO when gnuplot is
 * missing or fails, with what it said. */
bool orch_scatter_write(const char *path, const char *title, const char *x_label,
                        const char *y_label, const struct orch_scatter_point *points, size_t count,
                        GError **error);

#endif
