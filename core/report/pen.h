/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines, points, fills and texts on a sheet, written as a script for gnuplot. The sheet is measured
 * in units of a pixel at normal size, from its lower left corner. The script's blocks of data hold
 * numbers alone, and texts are written so that gnuplot expands nothing in them: a run's name cannot
 * become a command or markup. */
#ifndef ORCH_CORE_REPORT_PEN_H
#define ORCH_CORE_REPORT_PEN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_PEN_INK 0x000000u   /* axes and texts: the page's own colour in a page */
#define ORCH_PEN_GRID 0xddddddu  /* a faint ink in a page */
#define ORCH_PEN_BLACK 0x010101u /* black on every page */
#define ORCH_PEN_FONT 13.0       /* height of normal texts */
#define ORCH_PEN_CHAR 7.3        /* about the width of one character of it */

struct orch_pen {
    double width, height;
    GString *data, *plots, *labels; /* of the script */
    GString *path;                  /* of what is being drawn */
    unsigned blocks;
};
struct orch_stroke {
    uint32_t color;
    double width;
    const char *dash; /* "(8,4)", as gnuplot writes it; NULL: none. Static */
};
enum orch_align {
    ORCH_ALIGN_LEFT,
    ORCH_ALIGN_CENTER,
    ORCH_ALIGN_RIGHT,
};
struct orch_pen_text {
    double x, y; /* the middle of the line's height */
    enum orch_align align;
    double size; /* 0: ORCH_PEN_FONT */
    double angle;
    uint32_t color;
};

void orch_pen_init(struct orch_pen *pen, double width, double height);
void orch_pen_release(struct orch_pen *pen);

/** A path goes on to a point; a gap begins a new part of it. Each of the three below draws the path
 * and ends it. */
void orch_pen_to(struct orch_pen *pen, double x, double y);
void orch_pen_gap(struct orch_pen *pen);
void orch_pen_line(struct orch_pen *pen, struct orch_stroke stroke);
void orch_pen_fill(struct orch_pen *pen, uint32_t color, double opacity);
/** `mark`: 0, 1, ...: circle, square, triangle, diamond, triangle down, pentagon, and so on. */
void orch_pen_marks(struct orch_pen *pen, unsigned mark, bool is_hollow, double size,
                    uint32_t color);
/** Adds a rectangle to the path. */
void orch_pen_rectangle(struct orch_pen *pen, double x0, double y0, double x1, double y1);
void orch_pen_write(struct orch_pen *pen, const struct orch_pen_text *how, const char *text);

/** The script that draws it all on a terminal ("svg ...") into a file of the folder that gnuplot
 * runs in. Appended to `out`. */
void orch_pen_script(const struct orch_pen *pen, const char *terminal, const char *file,
                     GString *out);

#endif
