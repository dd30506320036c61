/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Characters on a terminal: texts, single marks, and dots in braille (2 across and 4 down in a
 * character; in plain ASCII one dot is one character). */
#ifndef ORCH_CORE_REPORT_TEXT_CANVAS_H
#define ORCH_CORE_REPORT_TEXT_CANVAS_H

#include <glib.h>
#include <stdbool.h>

#define ORCH_NO_COLOR (-1)

struct orch_canvas {
    int columns, rows; /* rows: so far; it grows downwards */
    bool ascii, color;
    GArray *cells;
};

void orch_canvas_init(struct orch_canvas *canvas, int columns, bool ascii, bool color);
void orch_canvas_release(struct orch_canvas *canvas);

/** A character; outside of the canvas (but for below) it is dropped. `color`: of 256, or
 * ORCH_NO_COLOR. */
void orch_canvas_put(struct orch_canvas *canvas, int column, int row, gunichar mark, int color);
/** A text from a column on, cut at the right side. Returns the column behind it. */
int orch_canvas_text(struct orch_canvas *canvas, int column, int row, const char *text, int color);
/** Is there nothing yet in so many columns? False outside. */
bool orch_canvas_is_free(struct orch_canvas *canvas, int column, int row, int width);
/** The background of a character. */
void orch_canvas_shade(struct orch_canvas *canvas, int column, int row, int color);

/** Dots are counted from the upper left corner of the cell (0, 0): 2 a column and 4 a row, or 1 and
 * 1 in ASCII. */
int orch_canvas_dots_across(const struct orch_canvas *canvas);
int orch_canvas_dots_down(const struct orch_canvas *canvas);
void orch_canvas_dot(struct orch_canvas *canvas, int x, int y, int color);
/** A line of dots, `skip` of them left out between two (0: none). */
void orch_canvas_line(struct orch_canvas *canvas, int x0, int y0, int x1, int y1, int skip,
                      int color);

/** All rows, without spaces at their ends. The caller frees. */
char *orch_canvas_format(const struct orch_canvas *canvas);

#endif
