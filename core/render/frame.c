/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/frame_parts.h"

#include "core/render/palette.h"
#include "lib/base/reals.h"

#include <math.h>
#include <string.h>

/* ---- series ------------------------------------------------------------------------------------
 */

static const char *name_of(const struct orch_chart_series *series)
{
    return series->name ? series->name : "";
}

static void note_name(GPtrArray *names, const char *name)
{
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, (char *)(uintptr_t)name);
}

static void note_series(struct orch_frame *frame, const struct orch_chart_series *series,
                        void *data)
{
    (void)data;
    note_name(orch_series_is_other(series) ? frame->others : frame->names, name_of(series));
    frame->has_predicted = frame->has_predicted || orch_series_is_of_a_model(series);
    if (series->role == ORCH_SERIES_RUN || /* the measured series of its name is in the legend */
        series->role == ORCH_SERIES_LEVEL) /* named where it is drawn */
        return;
    for (guint i = 0; i < frame->keys->len; i++) {
        const struct orch_chart_series *key = frame->keys->pdata[i];
        if (key->role == series->role && strcmp(name_of(key), name_of(series)) == 0)
            return;
    }
    g_ptr_array_add(frame->keys, (gpointer)(uintptr_t)series);
}

unsigned orch_frame_index(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    guint at = 0;
    g_ptr_array_find_with_equal_func(orch_series_is_other(series) ? frame->others : frame->names,
                                     name_of(series), g_str_equal, &at);
    return at;
}

char *orch_frame_key(const struct orch_chart_series *series, const struct orch_ruler *ruler,
                     double width)
{
    const char *label = orch_series_label(series), *name = label ? label : "";
    const char *role = series->role == ORCH_SERIES_FITTED ? "fitted" : "predicted";
    bool is_in_name = !orch_series_is_of_a_model(series) || strstr(name, role);
    if (!*name)
        return g_strdup(series->runs ? series->runs : is_in_name ? "" : role);
    g_autofree char *behind = series->runs ? g_strdup_printf(" (%s)", series->runs)
                              : is_in_name ? g_strdup("")
                                           : g_strconcat(", ", role, NULL);
    g_autofree char *fits = orch_text_fit(name, ruler, width - orch_ruler_width(ruler, behind));
    return g_strconcat(fits, behind, NULL);
}

uint32_t orch_series_color(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    return orch_series_is_other(series) ? ORCH_PALETTE_REFERENCE
                                        : orch_palette_series(orch_frame_index(frame, series));
}

/* ---- heat maps ---------------------------------------------------------------------------------
 */

static void span_z(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    (void)frame;
    for (guint i = 0; i < series->points->len; i++)
        orch_span_add(data, orch_series_point(series, i)->z, false);
}

double orch_frame_heat(const struct orch_frame *frame, double z)
{
    if (!isfinite(z) || isnan(frame->z_low))
        return (double)NAN;
    return frame->z_high > frame->z_low ? (z - frame->z_low) / (frame->z_high - frame->z_low) : 0.5;
}

/* ---- the frame ---------------------------------------------------------------------------------
 */

static void count_left_out(struct orch_frame *frame, const struct orch_chart_series *series,
                           void *data)
{
    (void)data;
    g_autoptr(GArray) points = orch_frame_points(frame, series);
    frame->left_out += series->points->len - points->len;
}

void orch_frame_init(struct orch_frame *frame, const struct orch_chart *chart, int x_ticks,
                     int y_ticks)
{
    *frame = (struct orch_frame){.chart = chart, .z_low = (double)NAN, .z_high = (double)NAN};
    frame->names = g_ptr_array_new();
    frame->others = g_ptr_array_new();
    frame->keys = g_ptr_array_new();
    orch_frame_walk(frame, note_series, NULL);
    if (chart->kind == ORCH_CHART_HISTOGRAM) {
        orch_frame_make_bins(frame, x_ticks, y_ticks);
        return;
    }
    orch_frame_span_axes(frame, x_ticks, y_ticks);
    struct orch_span z = {INFINITY, -INFINITY};
    orch_frame_walk(frame, span_z, &z);
    if (z.low <= z.high) {
        frame->z_low = z.low;
        frame->z_high = z.high;
    }
    orch_frame_walk(frame, count_left_out, NULL);
}

void orch_frame_release(struct orch_frame *frame)
{
    orch_axis_clear(&frame->x);
    orch_axis_clear(&frame->y);
    g_clear_pointer(&frame->x_places, g_array_unref);
    g_clear_pointer(&frame->y_places, g_array_unref);
    g_clear_pointer(&frame->names, g_ptr_array_unref);
    g_clear_pointer(&frame->others, g_ptr_array_unref);
    g_clear_pointer(&frame->keys, g_ptr_array_unref);
}

static double place(const GArray *places, double value)
{
    guint at;
    if (!places)
        return value;
    bool found =
        g_array_binary_search((GArray *)(uintptr_t)places, &value, orch_compare_reals, &at);
    return found && isfinite(value) ? at : (double)NAN;
}

double orch_frame_x(const struct orch_frame *frame, double x)
{
    return place(frame->x_places, x);
}

double orch_frame_y(const struct orch_frame *frame, double y)
{
    return place(frame->y_places, y);
}

GArray *orch_frame_points(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    GArray *out =
        g_array_sized_new(FALSE, FALSE, sizeof(struct orch_point_of), series->points->len);
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = orch_series_point(series, i);
        struct orch_point_of at = {p, orch_axis_at(&frame->x, orch_frame_x(frame, p->x)),
                                   orch_axis_at(&frame->y, orch_frame_y(frame, p->y))};
        if (!isnan(at.x) && !isnan(at.y))
            g_array_append_val(out, at);
    }
    return out;
}

double orch_frame_clamped_y(const struct orch_frame *frame, double y)
{
    if (frame->y.is_log && y <= 0)
        return 0;
    return fmin(fmax(orch_axis_at(&frame->y, y), 0), 1);
}
