/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/text_canvas.h"

#include <stdlib.h>

#define ROWS_MAX 2000

struct cell {
    gunichar mark; /* 0: none, show the dots */
    guint8 dots;
    bool is_covered; /* hidden by the wide character to its left */
    gint16 color, shade;
};

void orch_canvas_init(struct orch_canvas *canvas, int columns, bool ascii, bool color)
{
    *canvas = (struct orch_canvas){.columns = columns, .ascii = ascii, .color = color};
    canvas->cells = g_array_new(FALSE, TRUE, sizeof(struct cell));
}

void orch_canvas_release(struct orch_canvas *canvas)
{
    g_array_unref(canvas->cells);
}

/* NULL outside of the canvas. */
static struct cell *cell_at(struct orch_canvas *canvas, int column, int row)
{
    if (column < 0 || column >= canvas->columns || row < 0 || row >= ROWS_MAX)
        return NULL;
    for (; canvas->rows <= row; canvas->rows++) {
        static const struct cell empty = {0, 0, false, ORCH_NO_COLOR, ORCH_NO_COLOR};
        for (int i = 0; i < canvas->columns; i++)
            g_array_append_val(canvas->cells, empty);
    }
    return &g_array_index(canvas->cells, struct cell, row * canvas->columns + column);
}

void orch_canvas_put(struct orch_canvas *canvas, int column, int row, gunichar mark, int color)
{
    struct cell *cell = cell_at(canvas, column, row);
    if (!cell)
        return;
    cell->mark = mark;
    cell->color = (gint16)color;
}

bool orch_canvas_is_free(struct orch_canvas *canvas, int column, int row, int width)
{
    for (int i = 0; i < width; i++) {
        const struct cell *cell = cell_at(canvas, column + i, row);
        if (!cell || cell->mark || cell->dots)
            return false;
    }
    return true;
}

void orch_canvas_shade(struct orch_canvas *canvas, int column, int row, int color)
{
    struct cell *cell = cell_at(canvas, column, row);
    if (cell)
        cell->shade = (gint16)color;
}

int orch_canvas_text(struct orch_canvas *canvas, int column, int row, const char *text, int color)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
        gunichar mark = g_utf8_get_char(c);
        if (g_unichar_iszerowidth(mark))
            continue;
        bool is_wide = g_unichar_iswide(mark);
        if (is_wide && column + 1 >= canvas->columns)
            break;
        orch_canvas_put(canvas, column, row, g_unichar_isprint(mark) ? mark : ' ', color);
        struct cell *second = is_wide ? cell_at(canvas, column + 1, row) : NULL;
        if (second)
            second->is_covered = true;
        column += is_wide ? 2 : 1;
    }
    return column;
}

/* ---- dots ------------------------------------------------------------------------------------ */

int orch_canvas_dots_across(const struct orch_canvas *canvas)
{
    return canvas->ascii ? 1 : 2;
}

int orch_canvas_dots_down(const struct orch_canvas *canvas)
{
    return canvas->ascii ? 1 : 4;
}

void orch_canvas_dot(struct orch_canvas *canvas, int x, int y, int color)
{
    /* bits of the braille patterns from U+2800, by column and row of the dot */
    static const guint8 bits[2][4] = {{1, 2, 4, 64}, {8, 16, 32, 128}};
    int across = orch_canvas_dots_across(canvas), down = orch_canvas_dots_down(canvas);
    if (x < 0 || y < 0)
        return;
    struct cell *cell = cell_at(canvas, x / across, y / down);
    if (!cell)
        return;
    cell->dots |= bits[x % across][y % down];
    cell->color = cell->mark ? cell->color : (gint16)color;
}

void orch_canvas_line(struct orch_canvas *canvas, int x0, int y0, int x1, int y1, int skip,
                      int color)
{
    int steps = MAX(MAX(abs(x1 - x0), abs(y1 - y0)), 1);
    for (int i = 0; i <= steps; i += 1 + skip)
        orch_canvas_dot(canvas, x0 + (int)((2LL * (x1 - x0) * i + steps) / (2 * steps)),
                        y0 + (int)((2LL * (y1 - y0) * i + steps) / (2 * steps)), color);
}

/* ---- as text --------------------------------------------------------------------------------- */

static gunichar mark_of(const struct orch_canvas *canvas, const struct cell *cell)
{
    if (cell->mark)
        return cell->mark;
    if (!cell->dots)
        return ' ';
    return canvas->ascii ? '.' : 0x2800u + cell->dots;
}

static void set_color(const struct orch_canvas *canvas, GString *out, int *color, int *shade,
                      const struct cell *cell)
{
    if (!canvas->color || (*color == cell->color && *shade == cell->shade))
        return;
    g_string_append(out, "\033[0m");
    if (cell->color != ORCH_NO_COLOR)
        g_string_append_printf(out, "\033[38;5;%dm", cell->color);
    if (cell->shade != ORCH_NO_COLOR)
        g_string_append_printf(out, "\033[48;5;%dm", cell->shade);
    *color = cell->color;
    *shade = cell->shade;
}

char *orch_canvas_format(const struct orch_canvas *canvas)
{
    GString *out = g_string_new(NULL);
    for (int row = 0; row < canvas->rows; row++) {
        const struct cell *cells =
            &g_array_index(canvas->cells, struct cell, row * canvas->columns);
        int last = canvas->columns - 1, color = ORCH_NO_COLOR, shade = ORCH_NO_COLOR;
        while (last >= 0 && mark_of(canvas, &cells[last]) == ' ' &&
               cells[last].shade == ORCH_NO_COLOR)
            last--;
        for (int column = 0; column <= last; column++) {
            if (cells[column].is_covered)
                continue;
            set_color(canvas, out, &color, &shade, &cells[column]);
            g_string_append_unichar(out, mark_of(canvas, &cells[column]));
        }
        if (color != ORCH_NO_COLOR || shade != ORCH_NO_COLOR)
            g_string_append(out, "\033[0m");
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}
