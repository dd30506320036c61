/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/pen.h"

#include <math.h>

static void clear_shape(gpointer pointer)
{
    g_free(((struct orch_shape *)pointer)->string);
}

void orch_pen_init(struct orch_pen *pen, double width, double height)
{
    *pen = (struct orch_pen){.width = width, .height = height};
    pen->points = g_array_new(FALSE, FALSE, sizeof(struct orch_pen_point));
    pen->shapes = g_array_new(FALSE, FALSE, sizeof(struct orch_shape));
    g_array_set_clear_func(pen->shapes, clear_shape);
}

void orch_pen_release(struct orch_pen *pen)
{
    g_array_unref(pen->points);
    g_array_unref(pen->shapes);
}

const struct orch_mark *orch_pen_mark(unsigned mark)
{
    static const struct orch_mark marks[] = {
        {0, {{0}}},
        {4, {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}},
        {3, {{0, 1.3}, {-1.2, -0.75}, {1.2, -0.75}}},
        {4, {{0, -1.27}, {1.27, 0}, {0, 1.27}, {-1.27, 0}}},
        {3, {{0, -1.3}, {1.2, 0.75}, {-1.2, 0.75}}},
        {5, {{0, 1.2}, {-1.14, 0.37}, {-0.71, -0.97}, {0.71, -0.97}, {1.14, 0.37}}},
    };
    return &marks[mark % G_N_ELEMENTS(marks)];
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void add_point(struct orch_pen *pen, double x, double y)
{
    struct orch_pen_point point = {x, y};
    g_array_append_val(pen->points, point);
}

void orch_pen_to(struct orch_pen *pen, double x, double y)
{
    add_point(pen, x, y);
}

void orch_pen_gap(struct orch_pen *pen)
{
    if (pen->points->len > pen->begun)
        add_point(pen, (double)NAN, (double)NAN);
}

void orch_pen_rectangle(struct orch_pen *pen, double x0, double y0, double x1, double y1)
{
    orch_pen_gap(pen);
    orch_pen_to(pen, x0, y0);
    orch_pen_to(pen, x1, y0);
    orch_pen_to(pen, x1, y1);
    orch_pen_to(pen, x0, y1);
    orch_pen_to(pen, x0, y0);
}

/* Appends a shape for the current path. Does nothing when the path is empty. */
static void end_path(struct orch_pen *pen, struct orch_shape shape)
{
    shape.first = pen->begun;
    shape.count = pen->points->len - pen->begun;
    pen->begun = pen->points->len;
    if (shape.count)
        g_array_append_val(pen->shapes, shape);
}

void orch_pen_line(struct orch_pen *pen, struct orch_stroke stroke)
{
    end_path(pen, (struct orch_shape){.kind = ORCH_SHAPE_LINE, .stroke = stroke});
}

void orch_pen_fill(struct orch_pen *pen, uint32_t color, double opacity)
{
    end_path(pen, (struct orch_shape){.kind = ORCH_SHAPE_FILL, .color = color, .opacity = opacity});
}

void orch_pen_marks(struct orch_pen *pen, unsigned mark, bool is_hollow, double size,
                    uint32_t color)
{
    end_path(pen, (struct orch_shape){.kind = ORCH_SHAPE_MARKS,
                                      .color = color,
                                      .stroke = {color, 1.3, NULL},
                                      .mark = mark,
                                      .is_hollow = is_hollow,
                                      .size = size});
}

/* ---- texts ----------------------------------------------------------------------------------- */

void orch_pen_write(struct orch_pen *pen, const struct orch_pen_text *how, const char *text)
{
    if (!text || !*text)
        return;
    struct orch_shape shape = {
        .kind = ORCH_SHAPE_TEXT, .text = *how, .string = g_utf8_make_valid(text, -1)};
    for (char *c = shape.string; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    if (shape.text.size <= 0)
        shape.text.size = ORCH_PEN_FONT;
    g_array_append_val(pen->shapes, shape);
}
