/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/frame.h"

#include "core/report/table.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#define BINS_MAX 60

struct span {
    double low, high; /* low > high: nothing yet */
};

static void span_add(struct span *span, double value, bool is_log)
{
    if (!isfinite(value) || (is_log && value <= 0))
        return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

/* ---- walks -------------------------------------------------------------------------------------
 */

typedef void (*each_series)(struct orch_frame *frame, const struct orch_chart_series *series,
                            void *data);

static void walk(struct orch_frame *frame, each_series each, void *data)
{
    const GPtrArray *panels = frame->chart->panels;
    for (guint i = 0; i < panels->len; i++) {
        const struct orch_chart_panel *panel = panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++)
            each(frame, panel->series->pdata[j], data);
    }
}

static bool is_other(const struct orch_chart_series *series)
{
    return series->role == ORCH_SERIES_REFERENCE || series->role == ORCH_SERIES_IDEAL;
}

static const struct orch_chart_point *point_of(const struct orch_chart_series *series, guint i)
{
    return &g_array_index(series->points, struct orch_chart_point, i);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_unique(GArray *values)
{
    g_array_sort(values, compare_reals);
    guint kept = 0;
    for (guint i = 0; i < values->len; i++) {
        double value = g_array_index(values, double, i);
        if (!kept || value > g_array_index(values, double, kept - 1))
            g_array_index(values, double, kept++) = value;
    }
    g_array_set_size(values, kept);
}

static void add_x(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    for (guint i = 0; i < series->points->len; i++)
        if (isfinite(point_of(series, i)->x) && !(frame->x.is_log && point_of(series, i)->x <= 0))
            g_array_append_val((GArray *)data, point_of(series, i)->x);
}

/* Where runs stand: lines to compare with have points anywhere. */
static void add_x_of_runs(struct orch_frame *frame, const struct orch_chart_series *series,
                          void *data)
{
    if (!is_other(series))
        add_x(frame, series, data);
}

static void add_y(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    (void)frame;
    for (guint i = 0; i < series->points->len; i++)
        if (isfinite(point_of(series, i)->y))
            g_array_append_val((GArray *)data, point_of(series, i)->y);
}

static GArray *values_of(struct orch_frame *frame, each_series add)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
    walk(frame, add, values);
    return values;
}

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
    note_name(is_other(series) ? frame->others : frame->names, name_of(series));
    frame->has_predicted = frame->has_predicted || orch_series_is_of_a_model(series);
    if (series->role == ORCH_SERIES_RUN) /* the measured series of that name stands in the legend */
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
    g_ptr_array_find_with_equal_func(is_other(series) ? frame->others : frame->names,
                                     name_of(series), g_str_equal, &at);
    return at;
}

/* Behind the longest beginning that fits into so many columns: one pass over it, however long the
 * text is. Marks that take no column are limited as well. */
static const char *behind(const char *text, int columns)
{
    enum { CHARACTERS_A_COLUMN = 8 };
    int used = 0, characters = 0;
    for (; *text; text = g_utf8_next_char(text), characters++) {
        gunichar c = g_utf8_get_char(text);
        used += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
        if (used > columns || characters > CHARACTERS_A_COLUMN * columns)
            break;
    }
    return text;
}

char *orch_text_short(const char *text, int columns)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (char *c = valid; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    if (!*behind(valid, columns))
        return g_steal_pointer(&valid);
    const char *end = behind(valid, columns - 3);
    end = end == valid ? g_utf8_next_char(valid) : end;
    g_autofree char *cut = g_strndup(valid, (gsize)(end - valid));
    return g_strconcat(cut, "...", NULL);
}

char **orch_text_wrap(const char *text, int columns)
{
    enum { LINES_MOST = 30 };
    g_autoptr(GStrvBuilder) lines = g_strv_builder_new();
    g_auto(GStrv) words = g_strsplit_set(text, " \n\t", -1);
    GString *line = g_string_new(NULL);
    unsigned count = 0;
    for (char **word = words; *word && count < LINES_MOST; word++) {
        g_autofree char *fits = orch_text_short(*word, columns);
        if (line->len && orch_text_columns(line->str) + 1 + orch_text_columns(fits) > columns) {
            g_strv_builder_add(lines, ++count < LINES_MOST ? line->str : "...");
            g_string_truncate(line, 0);
        }
        if (*fits)
            g_string_append_printf(line, "%s%s", line->len ? " " : "", fits);
    }
    if (line->len && count < LINES_MOST)
        g_strv_builder_add(lines, line->str);
    g_string_free(line, TRUE);
    return g_strv_builder_end(lines);
}

char *orch_frame_key(const struct orch_chart_series *series, int columns)
{
    const char *name = name_of(series);
    const char *role = series->role == ORCH_SERIES_FITTED ? "fitted" : "predicted";
    bool is_said = !orch_series_is_of_a_model(series) || strstr(name, role);
    if (!*name)
        return g_strdup(is_said ? "" : role);
    int more = is_said ? 0 : orch_text_columns(role) + 2;
    g_autofree char *fits = orch_text_short(name, columns - more);
    return g_strconcat(fits, is_said ? "" : ", ", is_said ? "" : role, NULL);
}

/* ---- axes --------------------------------------------------------------------------------------
 */

static bool has_categories(enum orch_chart_kind kind)
{
    return kind == ORCH_CHART_BAR || kind == ORCH_CHART_BOX || kind == ORCH_CHART_HEAT;
}

static void named_axis(struct orch_axis *axis, const GArray *places)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < places->len; i++)
        g_ptr_array_add(names, orch_tick_format(g_array_index(places, double, i)));
    orch_axis_names(axis, names);
}

/* What is drawn stays clear of the frame; 0 is the foot where it is near. */
static struct span padded(struct span span, bool is_log)
{
    if (span.low > span.high)
        return (struct span){is_log ? 1 : 0, is_log ? 10 : 1};
    if (is_log) {
        double by = span.high > span.low ? pow(span.high / span.low, 0.04) : 2;
        return (struct span){span.low / by, span.high * by};
    }
    double by = (span.high - span.low) * 0.04;
    bool is_near = span.low >= 0 && span.low <= 0.3 * span.high;
    return (struct span){is_near ? 0 : span.low - by, span.high + by};
}

static void make_x(struct orch_frame *frame, int most)
{
    const struct orch_chart *chart = frame->chart;
    if (chart->x_names) {
        orch_axis_names(&frame->x, chart->x_names);
        return;
    }
    frame->x.is_log = chart->log_x && !has_categories(chart->kind);
    g_autoptr(GArray) values = values_of(frame, add_x);
    sort_unique(values);
    if (has_categories(chart->kind)) {
        frame->x_places = g_array_ref(values);
        named_axis(&frame->x, values);
        return;
    }
    g_autoptr(GArray) runs = values_of(frame, add_x_of_runs);
    sort_unique(runs);
    struct span span = {INFINITY, -INFINITY};
    for (guint i = 0; i < values->len; i++)
        span_add(&span, g_array_index(values, double, i), chart->log_x);
    struct span wide = padded(span, chart->log_x);
    bool is_curve = chart->kind == ORCH_CHART_LINE && runs->len > 30 && !chart->log_x;
    if (is_curve) /* it goes from side to side */
        wide =
            (struct span){span.low > 0 && span.low <= 0.05 * span.high ? 0 : span.low, span.high};
    orch_axis_numbers(&frame->x, wide.low, wide.high, chart->log_x, most);
    if (chart->log_x && runs->len > 1 && runs->len <= (guint)MIN(most + 2, 9))
        orch_axis_ticks_at(&frame->x, (const double *)(void *)runs->data, runs->len);
}

static void span_series(struct orch_frame *frame, const struct orch_chart_series *series,
                        void *data)
{
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = point_of(series, i);
        span_add(data, p->y, frame->chart->log_y);
        span_add(data, p->low, frame->chart->log_y);
        span_add(data, p->high, frame->chart->log_y);
    }
}

/* Intervals of two or three runs can be many times as wide as all that was measured; they would
 * press the curves flat. They widen the axis by at most half of the points' span on each side. */
static void bound_intervals(struct orch_frame *frame, struct span *span)
{
    struct span points = {INFINITY, -INFINITY};
    g_autoptr(GArray) values = values_of(frame, add_y);
    for (guint i = 0; i < values->len; i++)
        span_add(&points, g_array_index(values, double, i), false);
    if (frame->chart->kind != ORCH_CHART_LINE || frame->chart->log_y || points.low >= points.high)
        return;
    double room = (points.high - points.low) / 2;
    frame->is_cut = span->low < points.low - room || span->high > points.high + room;
    span->low = fmax(span->low, points.low - room);
    span->high = fmin(span->high, points.high + room);
}

static void make_y(struct orch_frame *frame, int most)
{
    const struct orch_chart *chart = frame->chart;
    if (chart->y_names) {
        orch_axis_names(&frame->y, chart->y_names);
        return;
    }
    if (chart->kind == ORCH_CHART_HEAT) {
        g_autoptr(GArray) values = values_of(frame, add_y);
        sort_unique(values);
        frame->y_places = g_array_ref(values);
        named_axis(&frame->y, values);
        return;
    }
    struct span span = {INFINITY, -INFINITY};
    walk(frame, span_series, &span);
    bound_intervals(frame, &span);
    if (chart->kind == ORCH_CHART_BAR && !chart->log_y)
        span_add(&span, 0, false);
    span = padded(span, chart->log_y);
    if (chart->kind == ORCH_CHART_BAR && chart->log_y)
        span.low /= 2; /* the smallest bar is seen, too */
    orch_axis_numbers(&frame->y, span.low, span.high, chart->log_y, most);
}

/* ---- histograms --------------------------------------------------------------------------------
 */

static void count_most(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    g_autofree unsigned *counts = orch_frame_bins(frame, series);
    for (unsigned i = 0; i < frame->bins.count; i++)
        *(unsigned *)data = MAX(*(unsigned *)data, counts[i]);
}

/* Bins of a round width near Freedman and Diaconis', at least as many as Sturges has. */
static void make_bins(struct orch_frame *frame, int x_most, int y_most)
{
    g_autoptr(GArray) values = values_of(frame, add_y);
    g_array_sort(values, compare_reals);
    size_t n = values->len;
    const double *v = (const double *)(void *)values->data;
    double low = n ? v[0] : 0, high = n ? v[n - 1] : 1, width = 0;
    if (n > 1 && high > low) {
        double quarters = gsl_stats_quantile_from_sorted_data(v, 1, n, 0.75) -
                          gsl_stats_quantile_from_sorted_data(v, 1, n, 0.25);
        double sturges = (high - low) / (ceil(log2((double)n)) + 1);
        width = 2 * quarters / cbrt((double)n);
        width = width > 0 ? fmin(width, sturges) : sturges;
        width = fmax(width, (high - low) / (BINS_MAX - 2));
    }
    if (width <= 0)
        width = low == 0 ? 1 : fabs(low) * 0.1;
    double nice = orch_round_step(width);
    width = (high - low) / nice >= 4 ? nice : width;
    frame->bins.width = width;
    frame->bins.low = floor(low / width) * width;
    frame->bins.count = (unsigned)floor((high - frame->bins.low) / width + 1e-9) + 1;
    unsigned most = 1;
    walk(frame, count_most, &most);
    orch_axis_numbers(&frame->x, frame->bins.low, frame->bins.low + width * frame->bins.count,
                      false, x_most);
    orch_axis_numbers(&frame->y, 0, most * 1.05, false, MIN(y_most, (int)most));
}

unsigned *orch_frame_bins(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    unsigned *counts = g_new0(unsigned, frame->bins.count);
    for (guint i = 0; i < series->points->len; i++) {
        double y = point_of(series, i)->y;
        if (!isfinite(y))
            continue;
        double bin = floor((y - frame->bins.low) / frame->bins.width + 1e-9);
        counts[(unsigned)fmin(fmax(bin, 0), frame->bins.count - 1)]++;
    }
    return counts;
}

/* ---- heat maps ---------------------------------------------------------------------------------
 */

static void span_z(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    (void)frame;
    for (guint i = 0; i < series->points->len; i++)
        span_add(data, point_of(series, i)->z, false);
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
    walk(frame, note_series, NULL);
    if (chart->kind == ORCH_CHART_HISTOGRAM) {
        make_bins(frame, x_ticks, y_ticks);
        return;
    }
    make_x(frame, x_ticks);
    make_y(frame, y_ticks);
    struct span z = {INFINITY, -INFINITY};
    walk(frame, span_z, &z);
    if (z.low <= z.high) {
        frame->z_low = z.low;
        frame->z_high = z.high;
    }
    walk(frame, count_left_out, NULL);
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
    bool found = g_array_binary_search((GArray *)(uintptr_t)places, &value, compare_reals, &at);
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
        const struct orch_chart_point *p = point_of(series, i);
        struct orch_point_of at = {p, orch_axis_at(&frame->x, orch_frame_x(frame, p->x)),
                                   orch_axis_at(&frame->y, orch_frame_y(frame, p->y))};
        if (!isnan(at.x) && !isnan(at.y))
            g_array_append_val(out, at);
    }
    return out;
}

double orch_frame_held(const struct orch_frame *frame, double y)
{
    if (frame->y.is_log && y <= 0)
        return 0;
    return fmin(fmax(orch_axis_at(&frame->y, y), 0), 1);
}

bool orch_frame_box(const struct orch_frame *frame, const struct orch_chart_series *series,
                    double category, struct orch_box *out)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = point_of(series, i);
        if (orch_frame_x(frame, p->x) == category && !isnan(orch_axis_at(&frame->y, p->y)))
            g_array_append_val(values, p->y);
    }
    if (!values->len)
        return false;
    g_array_sort(values, compare_reals);
    const double *v = (const double *)(void *)values->data;
    out->q1 = gsl_stats_quantile_from_sorted_data(v, 1, values->len, 0.25);
    out->median = gsl_stats_quantile_from_sorted_data(v, 1, values->len, 0.5);
    out->q3 = gsl_stats_quantile_from_sorted_data(v, 1, values->len, 0.75);
    out->low = out->q1;
    out->high = out->q3;
    out->outliers = g_array_new(FALSE, FALSE, sizeof(double));
    double reach = 1.5 * (out->q3 - out->q1);
    for (guint i = 0; i < values->len; i++) {
        if (v[i] < out->q1 - reach || v[i] > out->q3 + reach) {
            g_array_append_val(out->outliers, v[i]);
            continue;
        }
        out->low = fmin(out->low, v[i]);
        out->high = fmax(out->high, v[i]);
    }
    return true;
}

void orch_box_clear(struct orch_box *box)
{
    g_clear_pointer(&box->outliers, g_array_unref);
}

/* ---- colours -----------------------------------------------------------------------------------
 */

uint32_t orch_series_color(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    static const uint32_t colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                      0xe69f00, 0x56b4e9, 0x000000, 0xb8a800};
    if (is_other(series))
        return 0x7a7a7a;
    return colors[orch_frame_index(frame, series) % G_N_ELEMENTS(colors)];
}

uint32_t orch_heat_color(double share)
{
    static const uint32_t stops[] = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                     0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
    double at = fmin(fmax(share, 0), 1) * (G_N_ELEMENTS(stops) - 1);
    unsigned i = (unsigned)fmin(floor(at), G_N_ELEMENTS(stops) - 2);
    uint32_t color = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = (stops[i] >> shift) & 255, b = (stops[i + 1] >> shift) & 255;
        color |= (uint32_t)lround(a + (b - a) * (at - i)) << shift;
    }
    return color;
}

bool orch_color_is_light(uint32_t color)
{
    return 0.299 * (color >> 16 & 255) + 0.587 * (color >> 8 & 255) + 0.114 * (color & 255) > 130;
}
