/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws charts as SVG, PNG and PDF, and as characters for a terminal. */
#ifndef ORCH_CORE_RENDER_DRAW_H
#define ORCH_CORE_RENDER_DRAW_H

#include "core/render/chart.h"

enum orch_draw_format {
    ORCH_DRAW_SVG, /* one <svg> element of fixed size on white */
    ORCH_DRAW_PNG,
    ORCH_DRAW_PDF,
};
/** Draws the chart as the bytes of a file. The same chart gives the same bytes. NULL with
 * ORCH_ERROR_USAGE for an empty chart, ORCH_ERROR_IO when it cannot be drawn. The caller frees. */
char *orch_chart_draw(const struct orch_chart *chart, enum orch_draw_format format,
                      gsize *out_length, GError **error);

/** Writes the chart to `path`; its suffix .svg, .png or .pdf selects the format. An existing file
 * is replaced only by a complete chart. Errors are as above, and ORCH_ERROR_USAGE for any other
 * suffix. */
bool orch_chart_write(const struct orch_chart *chart, const char *path, GError **error);

/** Draws the chart as one <svg> element for embedding in an HTML page. It scales to the page's
 * width; axes and texts have the page's text colour (currentColor), for light and dark schemes.
 * Title and note of the chart are not in the drawing: the page has them in the caption. All ids
 * begin with `id`, so that a page can have several charts. It has <title> and <desc> for
 * screen readers, and all texts are escaped. NULL with an error as above. The caller frees. */
char *orch_chart_svg(const struct orch_chart *chart, const char *id, GError **error);

struct orch_draw_text {
    int columns, rows; /* maximum size including frame and axes; rows: of each row of panels. Bars,
                          boxes and heat maps take one row for each item */
    bool ascii;        /* no braille or block characters */
    bool color;        /* use escape sequences; marks also differ without colour */
    const char *said;  /* a title that is already printed and not repeated; or NULL */
};
/** Draws the chart with characters: lines ended by '\n', with title, axes, units and a legend. The
 * caller frees. */
char *orch_chart_text(const struct orch_chart *chart, const struct orch_draw_text *how);
/** The same as plain text for an HTML page: ASCII, 78 columns. The caller frees. */
char *orch_chart_text_plain(const struct orch_chart *chart);

#endif
