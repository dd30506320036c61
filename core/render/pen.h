/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records lines, points, fills and texts on a sheet. The record is then rendered as SVG
 * (pen_svg.h), PNG or PDF (drawing.h). Coordinates are in pixels at normal size, from the lower
 * left corner. */
#ifndef ORCH_CORE_RENDER_PEN_H
#define ORCH_CORE_RENDER_PEN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_PEN_INK 0x000000u   /* axes and texts; in a page the page's text colour */
#define ORCH_PEN_GRID 0xddddddu  /* in a page a faint shade of the text colour */
#define ORCH_PEN_BLACK 0x010101u /* black, also on dark pages */
#define ORCH_PEN_FONT 13.0       /* height of normal texts */
/** Offset of a text's baseline below the middle of its line, as a share of the text size. */
#define ORCH_PEN_BASELINE 0.36

struct orch_stroke {
    uint32_t color;
    double width;
    const char *dash; /* "8 4": lengths of dashes and gaps, with round ends; NULL: solid. Static */
};
enum orch_align {
    ORCH_ALIGN_LEFT,
    ORCH_ALIGN_CENTER,
    ORCH_ALIGN_RIGHT,
};
struct orch_pen_text {
    double x, y; /* y: the middle of the line's height */
    enum orch_align align;
    double size;  /* 0: ORCH_PEN_FONT */
    double angle; /* in degrees, counterclockwise */
    uint32_t color;
};

enum orch_shape_kind {
    ORCH_SHAPE_LINE,
    ORCH_SHAPE_FILL,
    ORCH_SHAPE_MARKS,
    ORCH_SHAPE_TEXT,
};
struct orch_pen_point {
    double x, y; /* NaN: a gap */
};
struct orch_shape {
    enum orch_shape_kind kind;
    guint first, count;        /* indices into the pen's points; unused for a text */
    struct orch_stroke stroke; /* of a line, or the outline of hollow marks */
    uint32_t color;            /* of a fill or of marks */
    double opacity;            /* of a fill */
    unsigned mark;             /* of marks */
    bool is_hollow;
    double size;               /* of marks: their radius */
    struct orch_pen_text text; /* its size is set */
    char *string;
};
struct orch_pen {
    double width, height;
    GArray *points; /* struct orch_pen_point */
    GArray *shapes; /* struct orch_shape, in the order of drawing */
    guint begun;    /* index of the first point of the current path */
};

/** The outline of a mark: corners of a polygon at radius 1, y upwards; no corners: a circle. */
struct orch_mark {
    unsigned count;
    double corners[5][2];
};
/** Returns mark 0, 1, ...: circle, square, triangle, diamond, triangle down, pentagon, and so on.
 */
const struct orch_mark *orch_pen_mark(unsigned mark);

void orch_pen_init(struct orch_pen *pen, double width, double height);
void orch_pen_release(struct orch_pen *pen);

/** Extends the current path to a point; orch_pen_gap begins a new part of it. orch_pen_line,
 * orch_pen_fill and orch_pen_marks draw the path and end it. */
void orch_pen_to(struct orch_pen *pen, double x, double y);
void orch_pen_gap(struct orch_pen *pen);
void orch_pen_line(struct orch_pen *pen, struct orch_stroke stroke);
void orch_pen_fill(struct orch_pen *pen, uint32_t color, double opacity);
/** `mark` is as in orch_pen_mark; `size` is the radius of a circle. */
void orch_pen_marks(struct orch_pen *pen, unsigned mark, bool is_hollow, double size,
                    uint32_t color);
/** Adds a rectangle to the path. */
void orch_pen_rectangle(struct orch_pen *pen, double x0, double y0, double x1, double y1);
/** Writes one line of text. Invalid UTF-8 and control characters are replaced. */
void orch_pen_write(struct orch_pen *pen, const struct orch_pen_text *how, const char *text);

#endif
