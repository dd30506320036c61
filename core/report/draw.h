/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws charts: by gnuplot for paper and pages, with characters for a terminal. */
#ifndef ORCH_CORE_REPORT_DRAW_H
#define ORCH_CORE_REPORT_DRAW_H

#include "core/report/chart.h"

/** Is there a gnuplot to draw with? Looked up once. */
bool orch_draw_is_possible(void);

/** Writes `path` (.svg, .png or .pdf says which) in one go: a file there is replaced only when the
 * chart is whole. ORCH_ERROR_USAGE for another ending or an empty chart, ORCH_ERROR_IO when gnuplot
 * is missing or fails, with what it said. */
bool orch_chart_write(const struct orch_chart *chart, const char *path, GError **error);

/** The chart as one <svg> element to stand in a page (no XML prolog): scales with its width, its
 * axes and texts in the page's own colour (currentColor), so that it is readable on light and dark;
 * ids begin with `id`, so that several stand in one page; a <title> and <desc> for readers of
 * screens; texts escaped. NULL with an error as above. The caller frees. */
char *orch_chart_svg(const struct orch_chart *chart, const char *id, GError **error);
/** Several at once, in one process of gnuplot: NULL-terminated array of elements, NULL on error.
 * g_strfreev. */
char **orch_charts_svg(struct orch_chart *const *charts, size_t count, const char *id,
                       GError **error);

struct orch_draw_text {
    int columns, rows; /* at most, the frame and axes included; rows: of each row of panels. Bars,
                          boxes and heat maps take a row for each of theirs */
    bool ascii;        /* no braille or block characters */
    bool color;        /* escape sequences; marks differ without them, too */
    const char *said;  /* a title that stands above already, and is not repeated; or NULL */
};
/** The chart with characters, lines ended by '\n', with title, axes, units and a legend. The caller
 * frees. */
char *orch_chart_text(const struct orch_chart *chart, const struct orch_draw_text *how);

#endif
