/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/pen.h"

#include <math.h>

void orch_pen_init(struct orch_pen *pen, double width, double height)
{
    *pen = (struct orch_pen){.width = width, .height = height};
    pen->data = g_string_new(NULL);
    pen->plots = g_string_new(NULL);
    pen->labels = g_string_new(NULL);
    pen->path = g_string_new(NULL);
}

void orch_pen_release(struct orch_pen *pen)
{
    g_string_free(pen->data, TRUE);
    g_string_free(pen->plots, TRUE);
    g_string_free(pen->labels, TRUE);
    g_string_free(pen->path, TRUE);
}

void orch_pen_to(struct orch_pen *pen, double x, double y)
{
    g_string_append_printf(pen->path, "%.2f %.2f\n", x, y);
}

void orch_pen_gap(struct orch_pen *pen)
{
    if (pen->path->len)
        g_string_append_c(pen->path, '\n');
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

/* The path as a block of data, and a plot of it that is still without its style; false when there
 * is no path. */
static bool end_path(struct orch_pen *pen)
{
    if (!pen->path->len)
        return false;
    g_string_append_printf(pen->data, "$d%u << EOD\n%sEOD\n", pen->blocks, pen->path->str);
    g_string_append_printf(pen->plots, "%s$d%u using 1:2", pen->blocks ? ", " : "plot ",
                           pen->blocks);
    g_string_truncate(pen->path, 0);
    pen->blocks++;
    return true;
}

void orch_pen_line(struct orch_pen *pen, struct orch_stroke stroke)
{
    if (end_path(pen))
        g_string_append_printf(pen->plots, " with lines lw %.2f dt %s lc rgb '#%06x' notitle",
                               stroke.width, stroke.dash ? stroke.dash : "solid", stroke.color);
}

void orch_pen_fill(struct orch_pen *pen, uint32_t color, double opacity)
{
    if (end_path(pen))
        g_string_append_printf(pen->plots,
                               " with filledcurves closed fs transparent solid %.2f noborder "
                               "fc rgb '#%06x' notitle",
                               opacity, color);
}

void orch_pen_marks(struct orch_pen *pen, unsigned mark, bool is_hollow, double size,
                    uint32_t color)
{
    static const int types[] = {7, 5, 9, 13, 11, 15}; /* the hollow ones are one below */
    if (end_path(pen))
        g_string_append_printf(
            pen->plots, " with points pt %d ps %.2f lw 1.4 lc rgb '#%06x' notitle",
            types[mark % G_N_ELEMENTS(types)] - (is_hollow ? 1 : 0), size, color);
}

/* Within double quotes, all that is neither letter nor digit (nor beyond ASCII) as its octal code:
 * nothing is left that gnuplot could read as a quote, a command in backquotes or a macro. Single
 * quotes will not do: gnuplot 5.4 misreads a text that begins with two of them. A digit behind a
 * code is one, too: codes have no end of their own. */
static void append_quoted(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    bool was_code = false;
    g_string_append_c(out, '"');
    for (const char *c = valid; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        was_code = !(g_ascii_isalpha(byte) || byte == ' ' || byte > 127 ||
                     (g_ascii_isdigit(byte) && !was_code));
        if (!was_code)
            g_string_append_c(out, *c);
        else
            g_string_append_printf(out, "\\%03o", byte < ' ' || byte == 127 ? ' ' : byte);
    }
    g_string_append_c(out, '"');
}

void orch_pen_write(struct orch_pen *pen, const struct orch_pen_text *how, const char *text)
{
    static const char *const aligned[] = {"left", "center", "right"};
    if (!text || !*text)
        return;
    g_string_append(pen->labels, "set label ");
    append_quoted(pen->labels, text);
    g_string_append_printf(pen->labels, " at %.2f,%.2f %s font ',%.4g' tc rgb '#%06x' front",
                           how->x, how->y, aligned[how->align],
                           how->size > 0 ? how->size : ORCH_PEN_FONT, how->color);
    if (how->angle != 0)
        g_string_append_printf(pen->labels, " rotate by %g", how->angle);
    g_string_append_c(pen->labels, '\n');
}

void orch_pen_script(const struct orch_pen *pen, const char *terminal, const char *file,
                     GString *out)
{
    g_string_append_printf(out, "reset\nset encoding utf8\nset terminal %s\nset output ", terminal);
    append_quoted(out, file);
    g_string_append_printf(out,
                           "\nunset key\nunset border\nunset tics\nset lmargin at screen 0\n"
                           "set rmargin at screen 1\nset bmargin at screen 0\n"
                           "set tmargin at screen 1\nset xrange [0:%g]\nset yrange [0:%g]\n",
                           pen->width, pen->height);
    g_string_append(out, pen->labels->str);
    g_string_append(out, pen->data->str);
    g_string_append(out, pen->plots->str);
    g_string_append(out, "\nunset output\n");
}
