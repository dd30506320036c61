/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A canvas of characters for a terminal: texts, single marks, and braille dots (2 by 4 in each
 * character; in plain ASCII one dot is one character). */
#ifndef ORCH_CORE_RENDER_TEXT_CANVAS_H
#define ORCH_CORE_RENDER_TEXT_CANVAS_H

#include <glib.h>
#include <stdbool.h>

#define ORCH_NO_COLOR (-1)

struct orch_canvas {
    int columns, rows; /* rows grows as rows are drawn */
    bool ascii, color;
    GArray *cells;
};

void orch_canvas_init(struct orch_canvas *canvas, int columns, bool ascii, bool color);
void orch_canvas_release(struct orch_canvas *canvas);

/** Draws a character; outside of the canvas (except below it) it is dropped. `color` is one of 256,
 * or ORCH_NO_COLOR. */
void orch_canvas_put(struct orch_canvas *canvas, int column, int row, gunichar mark, int color);
/** Draws a text from a column on, cut at the right side. Returns the column after it. */
int orch_canvas_text(struct orch_canvas *canvas, int column, int row, const char *text, int color);
/** Returns whether `width` columns are empty. False outside of the canvas. */
bool orch_canvas_is_free(struct orch_canvas *canvas, int column, int row, int width);
/** Sets the background colour of a character. */
void orch_canvas_shade(struct orch_canvas *canvas, int column, int row, int color);

/** Dots are counted from the upper left corner (0, 0), with 2 for each column and 4 for each row,
 * or 1 and 1 in ASCII. */
int orch_canvas_dots_across(const struct orch_canvas *canvas);
int orch_canvas_dots_down(const struct orch_canvas *canvas);
void orch_canvas_dot(struct orch_canvas *canvas, int x, int y, int color);
/** Draws a line of dots that leaves out `skip` dots between two (0: solid). */
void orch_canvas_line(struct orch_canvas *canvas, int x0, int y0, int x1, int y1, int skip,
                      int color);

/** Returns all rows without trailing spaces. The caller frees. */
char *orch_canvas_format(const struct orch_canvas *canvas);

#endif
