/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/layout.h"

#include "core/render/font.h"
#include "core/render/line_labels.h"
#include "core/render/pen.h"
#include "lib/base/text.h"

#include <math.h>

#define WIDTH 600.0
#define EDGE 12.0      /* margin that stays empty at each side */
#define TICK_MAX 170.0 /* maximum width of a tick's label */
#define KEY_MAX 330.0  /* maximum width of a name in the legend */
#define KEY_GAP 14.0   /* between columns of the legend */

enum { LABEL_LINES_MAX = 2 };

static const struct orch_tick *tick_of(const struct orch_axis *axis, guint i)
{
    return &g_array_index(axis->ticks, struct orch_tick, i);
}

double orch_layout_width(const char *text)
{
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    return orch_ruler_width(&ruler, text);
}

char *orch_layout_tick(const struct orch_tick *tick)
{
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    return orch_text_fit(tick->label, &ruler, TICK_MAX);
}

bool orch_layout_has_names(const struct orch_frame *frame)
{
    return frame->chart->x_names || frame->x_places;
}

bool orch_layout_has_scale(const struct orch_frame *frame)
{
    return frame->chart->kind == ORCH_CHART_HEAT && !isnan(frame->z_low);
}

static double width_of_tick(const struct orch_tick *tick)
{
    g_autofree char *label = orch_layout_tick(tick);
    return orch_layout_width(label);
}

static double widest(const struct orch_axis *axis)
{
    double width = 0;
    for (guint i = 0; i < axis->ticks->len; i++)
        width = fmax(width, width_of_tick(tick_of(axis, i)));
    return width;
}

/* ---- texts -------------------------------------------------------------------------------------
 */

static char **lines_of(const char *text, double size, double width)
{
    const struct orch_ruler ruler = orch_font_ruler(size);
    return orch_text_fit_lines(text ? text : "", &ruler, width);
}

/* Wraps an axis label to at most LABEL_LINES_MAX lines; the last one is cut. */
static char **label_lines(const char *text, double width)
{
    char **lines = lines_of(text, ORCH_PEN_FONT, width);
    if (g_strv_length(lines) <= LABEL_LINES_MAX)
        return lines;
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    g_autofree char *rest = g_strjoinv(" ", lines + LABEL_LINES_MAX - 1);
    for (char **line = lines + LABEL_LINES_MAX - 1; *line; line++)
        g_clear_pointer(line, g_free);
    lines[LABEL_LINES_MAX - 1] = orch_text_fit(rest, &ruler, width);
    return lines;
}

static char **notes_of(const struct orch_frame *frame, double width)
{
    g_autoptr(GString) text = g_string_new(frame->chart->note);
    unsigned lost = frame->left_out;
    if (frame->is_cut)
        g_string_append_printf(text, "%sa bar that reaches the frame goes on beyond it",
                               text->len ? "; " : "");
    if (lost)
        g_string_append_printf(text, "%s%u point%s not drawn: no place on %s axis",
                               text->len ? "; " : "", lost, orch_plural(lost),
                               frame->x.is_log || frame->y.is_log ? "a logarithmic" : "the");
    return lines_of(text->str, ORCH_NOTE_SIZE, width);
}

static unsigned count_of(char **lines)
{
    return g_strv_length(lines);
}

/* ---- the legend --------------------------------------------------------------------------------
 */

/* Computes the widths of `columns` columns that are filled row by row. */
static double set_columns(struct orch_layout *l, unsigned columns)
{
    double all = 0;
    g_array_set_size(l->key_widths, 0);
    for (unsigned column = 0; column < columns; column++) {
        double width = 0;
        for (guint i = column; i < l->keys->len; i += columns)
            width = fmax(width, orch_layout_width(l->keys->pdata[i]));
        width += ORCH_LAYOUT_SAMPLE + ORCH_LAYOUT_SAMPLE_GAP + KEY_GAP;
        g_array_append_val(l->key_widths, width);
        all += width;
    }
    l->key_columns = columns;
    l->key_rows = (l->keys->len + columns - 1) / columns;
    return all;
}

/* Uses as many columns as fit, then as few as need the same number of rows. */
static void lay_legend(struct orch_layout *l, const struct orch_frame *frame)
{
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    l->keys = g_ptr_array_new_with_free_func(g_free);
    l->key_widths = g_array_new(FALSE, FALSE, sizeof(double));
    double widest_name = 0;
    for (guint i = 0; i < frame->keys->len; i++) {
        const struct orch_chart_series *key = frame->keys->pdata[i];
        double room = key->runs ? KEY_MAX + orch_layout_width(key->runs) : KEY_MAX;
        char *name = orch_frame_key(
            key, &ruler,
            fmin(room, l->width - 2 * EDGE - ORCH_LAYOUT_SAMPLE - ORCH_LAYOUT_SAMPLE_GAP));
        widest_name = fmax(widest_name, orch_layout_width(name));
        g_ptr_array_add(l->keys, name);
    }
    bool is_needed = frame->chart->kind != ORCH_CHART_HEAT && (l->keys->len > 1 || widest_name > 0);
    if (!is_needed) {
        g_ptr_array_set_size(l->keys, 0);
        return;
    }
    if (l->ends) { /* the names stand at the lines */
        l->key_columns = l->keys->len;
        return;
    }
    unsigned columns = l->keys->len;
    while (set_columns(l, columns) > l->width - 2 * EDGE && columns > 1)
        columns--;
    unsigned rows = l->key_rows;
    while (columns > 1 && (l->keys->len + columns - 2) / (columns - 1) == rows)
        columns--;
    if (set_columns(l, columns) > l->width - 2 * EDGE && columns > 1) /* fewer were wider */
        set_columns(l, columns - 1);
}

/* ---- panels ------------------------------------------------------------------------------------
 */

/* Decides whether names below the x axis are horizontal or slanted. They are horizontal when each
 * has room; a slanted first name may extend beyond the left side. */
static void lay_names(struct orch_layout *l, const struct orch_frame *frame)
{
    double wide = widest(&frame->x);
    double share = l->panel_width / MAX(frame->x.ticks->len, 1);
    l->is_turned = orch_layout_has_names(frame) && wide + 6 > share;
    if (l->is_turned) {
        double reach = width_of_tick(tick_of(&frame->x, 0));
        double more = fmax(0, reach * 0.77 + 4 - l->left - share / 2);
        l->left += more;
        l->panel_width -= more / l->columns;
    }
    l->x_names = l->is_turned ? 14 + wide * 0.66 : 8 + ORCH_LAYOUT_LINE;
}

/* Returns how far the last number below the axis extends beyond the axis. */
static double overhang(const struct orch_axis *axis)
{
    if (!axis->ticks->len)
        return 0;
    return width_of_tick(tick_of(axis, axis->ticks->len - 1)) / 2;
}

static double right_of(const struct orch_layout *l, const struct orch_frame *frame)
{
    double right =
        fmax(fmax(18, l->ends_width), orch_layout_has_names(frame) ? 0 : 4 + overhang(&frame->x));
    if (!orch_layout_has_scale(frame))
        return right;
    struct orch_axis scale;
    orch_axis_numbers(&scale, frame->z_low, frame->z_high, false, 8);
    right +=
        ORCH_LAYOUT_SCALE + 10 + widest(&scale) + (frame->chart->z_label ? ORCH_LAYOUT_LINE : 0);
    orch_axis_clear(&scale);
    return right;
}

static bool has_panel_titles(const struct orch_chart *chart)
{
    for (guint i = 0; i < chart->panels->len; i++)
        if (((const struct orch_chart_panel *)chart->panels->pdata[i])->title)
            return true;
    return false;
}

static void lay_panels(struct orch_layout *l, const struct orch_frame *frame)
{
    const struct orch_chart *chart = frame->chart;
    unsigned panels = MAX(chart->panels->len, 1);
    l->columns = panels == 1 ? 1 : 2;
    l->rows = (panels + l->columns - 1) / l->columns;
    l->gap_x = 22;
    l->gap_y = 16;
    l->title = has_panel_titles(chart) ? ORCH_LAYOUT_LINE + 2 : 0;
    l->panel_height = panels == 1 ? 230 : 190;
    if (chart->kind == ORCH_CHART_HEAT)
        l->panel_height = fmin(fmax(frame->y.ticks->len * 34.0, 150), panels == 1 ? 600 : 400);
    double panels_height = l->rows * (l->panel_height + l->title) + (l->rows - 1) * l->gap_y;
    l->y_label = label_lines(orch_chart_y_drawn(chart), panels_height);
    unsigned lines = count_of(l->y_label);
    l->left = 10 + (lines ? lines * ORCH_LAYOUT_LINE + 2 : 0) + widest(&frame->y) + 10;
    orch_line_labels_place(frame, l->panel_height, &l->ends, &l->ends_width);
    l->right = right_of(l, frame);
    l->panel_width = (l->width - l->left - l->right - l->gap_x * (l->columns - 1)) / l->columns;
    lay_names(l, frame);
}

void orch_layout_make(struct orch_layout *l, const struct orch_frame *frame)
{
    const struct orch_chart *chart = frame->chart;
    *l = (struct orch_layout){.width = WIDTH};
    l->titles = lines_of(chart->title, ORCH_TITLE_SIZE, l->width - 2 * EDGE);
    l->notes = notes_of(frame, l->width - 2 * EDGE);
    lay_panels(l, frame);
    l->x_label = label_lines(chart->x_label, l->width - l->left - l->right);
    lay_legend(l, frame);
    unsigned titles = count_of(l->titles), notes = count_of(l->notes), label = count_of(l->x_label);
    l->top = 10 + titles * (ORCH_LAYOUT_LINE + 2) + (titles ? 4 : 0);
    l->bottom = l->x_names + (label ? label * ORCH_LAYOUT_LINE + 2 : 0) +
                (l->key_rows ? l->key_rows * ORCH_LAYOUT_LINE + 8 : 0) +
                (notes ? notes * ORCH_LAYOUT_NOTE + 4 : 0) + 8;
    l->height =
        l->top + l->rows * (l->panel_height + l->title) + (l->rows - 1) * l->gap_y + l->bottom;
}

void orch_layout_clear(struct orch_layout *l)
{
    g_strfreev(l->titles);
    g_strfreev(l->notes);
    g_strfreev(l->x_label);
    g_strfreev(l->y_label);
    g_ptr_array_unref(l->keys);
    g_array_unref(l->key_widths);
    g_clear_pointer(&l->ends, g_array_unref);
}

struct orch_rect orch_layout_panel(const struct orch_layout *l, unsigned i)
{
    unsigned column = i % l->columns, row = i / l->columns;
    return (struct orch_rect){l->left + column * (l->panel_width + l->gap_x),
                              l->height - l->top - (row + 1) * (l->panel_height + l->title) -
                                  row * l->gap_y,
                              l->panel_width, l->panel_height};
}
