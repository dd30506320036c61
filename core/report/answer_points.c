/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scatter chart is answered by a slope and not by a rank correlation, which is the answer of the
 * item `correlate`: that says whether x forecasts y, a slope by how much. */
#include "core/report/answer.h"
#include "core/report/answer_chart.h"

#include "core/stats/numbers.h"
#include "core/stats/quartiles.h"
#include "core/stats/slope.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { BOXES_MOST = 4 };

static const struct orch_answer_line *line_at(const GArray *lines, guint i)
{
    return &g_array_index(lines, struct orch_answer_line, i);
}

/* ---- scatter charts -------------------------------------------------------------------------- */

static int compare_settings(gconstpointer a, gconstpointer b)
{
    const struct orch_chart_point *one = *(const struct orch_chart_point *const *)a;
    const struct orch_chart_point *two = *(const struct orch_chart_point *const *)b;
    return (one->setting > two->setting) - (one->setting < two->setting);
}

/* Adds the pairs of a series as they lie on the chart's axes: repeats of a setting are one pair,
 * their mean. Points that a logarithmic axis cannot show are left out. */
static void add_pairs(GArray *pairs, const struct orch_chart *chart,
                      const struct orch_chart_series *series, unsigned group)
{
    g_autoptr(GPtrArray) points = g_ptr_array_new();
    for (guint i = 0; i < series->points->len; i++)
        g_ptr_array_add(points, &g_array_index(series->points, struct orch_chart_point, i));
    g_ptr_array_sort(points, compare_settings);
    for (guint from = 0, to; from < points->len; from = to) {
        const struct orch_chart_point *first = points->pdata[from];
        struct orch_slope_pair sum = {.group = group};
        for (to = from; to < points->len && (to == from || first->setting); to++) {
            const struct orch_chart_point *p = points->pdata[to];
            if (p->setting != first->setting)
                break;
            sum.x += p->x;
            sum.y += p->y;
        }
        sum.x = sum.x / (to - from);
        sum.y = sum.y / (to - from);
        sum.x = chart->log_x ? log10(sum.x) : sum.x;
        sum.y = chart->log_y ? log10(sum.y) : sum.y;
        if (isfinite(sum.x) && isfinite(sum.y))
            g_array_append_val(pairs, sum);
    }
}

/* The power of ten at or below the range of x: a step that lies within the chart. */
static double step_of(const GArray *pairs)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (guint i = 0; i < pairs->len; i++) {
        low = fmin(low, g_array_index(pairs, struct orch_slope_pair, i).x);
        high = fmax(high, g_array_index(pairs, struct orch_slope_pair, i).x);
    }
    return pow(10, floor(log10(high - low)));
}

/* "full accuracy changes by -0.031 (95 % interval -0.052 to -0.010) for each tenfold divergence.
 * This is more than noise. It is the common slope of 50 settings in 5 series." */
static void append_slope(GString *out, const struct orch_chart *chart,
                         const struct orch_slope *slope, double step,
                         const struct orch_answer_quantity *x, const struct orch_answer_quantity *y)
{
    const struct orch_interval *per = &slope->per;
    double ends[3] = {per->low * step, per->mid * step, per->high * step};
    for (int i = 0; i < 3 && chart->log_y; i++)
        ends[i] = pow(10, ends[i]);
    const double none = chart->log_y ? 1 : 0;
    char step_text[ORCH_REAL_CHARS];
    orch_real_format(step, step_text);
    g_string_append_printf(out, "%s changes by %s", y->name, chart->log_y ? "a factor of " : "");
    orch_answer_number_append(out, ends[1], ends[0], ends[2], chart->log_y ? NULL : y->unit);
    g_string_append(out, " for each ");
    if (chart->log_x)
        g_string_append_printf(out, "tenfold %s", x->name);
    else
        g_string_append_printf(out, "%s%s%s of %s", step_text, x->unit ? " " : "",
                               x->unit ? x->unit : "", x->name);
    if (isfinite(per->low))
        g_string_append(out, ends[0] > none || ends[2] < none ? ", which is more than noise"
                                                              : ", which may be noise");
    g_string_append_printf(out, ". This is the slope of a line through %zu settings", slope->pairs);
    if (slope->groups > 1)
        g_string_append_printf(out, ", the same slope for each of %zu series", slope->groups);
}

/* Too few settings for a slope, or all at one x: the values themselves. */
static void append_values(GString *out, const struct orch_chart *chart, const GArray *pairs,
                          const GArray *lines, const struct orch_answer_quantity *x,
                          const struct orch_answer_quantity *y)
{
    g_autoptr(GArray) entries = orch_answer_entries_new();
    for (guint i = 0; i < pairs->len; i++) {
        const struct orch_slope_pair *p = &g_array_index(pairs, struct orch_slope_pair, i);
        const double at = chart->log_x ? pow(10, p->x) : p->x;
        const bool is_named = chart->x_names && at >= 0 && at < chart->x_names->len;
        g_autofree char *number = orch_number_format(at);
        g_autofree char *place = is_named ? g_strdup(chart->x_names->pdata[(guint)at])
                                          : orch_answer_named(x->name, number);
        g_autofree char *label =
            g_strjoin(", ", place, lines->len > 1 ? line_at(lines, p->group)->label : NULL, NULL);
        orch_answer_entries_add(entries, label, chart->log_y ? pow(10, p->y) : p->y, (double)NAN,
                                (double)NAN);
    }
    orch_answer_entries_append(out, entries, y->name, y->unit);
}

void orch_answer_scatter_append(GString *out, const struct orch_chart *chart, const GArray *lines,
                                const struct orch_answer_quantity *x,
                                const struct orch_answer_quantity *y)
{
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(struct orch_slope_pair));
    for (guint i = 0; i < lines->len; i++)
        add_pairs(pairs, chart, line_at(lines, i)->series, i);
    const struct orch_slope slope =
        orch_slope_of((const struct orch_slope_pair *)(void *)pairs->data, pairs->len);
    if (chart->x_names || slope.pairs < slope.groups + 2)
        append_values(out, chart, pairs, lines, x, y);
    else
        append_slope(out, chart, &slope, chart->log_x ? 1 : step_of(pairs), x, y);
}

/* ---- histograms and boxes -------------------------------------------------------------------- */

/* The quartiles of a series' y; with `x` only of the points there. */
static struct orch_quartiles quartiles_at(const struct orch_chart_series *series, const double *x)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = orch_answer_point(series, i);
        if (isfinite(p->y) && (!x || p->x == *x))
            g_array_append_val(values, p->y);
    }
    return orch_quartiles_of((double *)(void *)values->data, values->len);
}

/* "median 3.21 s, half of them from 3.05 to 3.42 s" */
static void append_middle(GString *out, const struct orch_quartiles *q, const char *unit)
{
    g_autofree char *middle = orch_interval_format(q->q1, q->q3);
    g_autofree char *median = orch_within_format(q->median, q->q1, q->q3);
    const char *blank = unit ? " " : "", *of = unit ? unit : "";
    g_string_append_printf(out, "median %s%s%s", median, blank, of);
    if (q->q1 < q->q3)
        g_string_append_printf(out, ", the middle half from %s%s%s", middle, blank, of);
}

/* Fewer points are no sample of what a line does. */
enum { NOISY_LEAST = 12 };

static double quarter_of(const struct orch_chart_series *series, bool is_last)
{
    const guint count = series->points->len / 4;
    double sum = 0;
    for (guint i = 0; i < count; i++)
        sum += orch_answer_point(series, is_last ? series->points->len - count + i : i)->y;
    return sum / count;
}

/* The standard deviation of a line about its course, from the differences of neighbours (von
 * Neumann 1941): a smooth course adds little to it. */
static double scatter_of(const struct orch_chart_series *series)
{
    double sum = 0;
    for (guint i = 1; i < series->points->len; i++)
        sum += pow(orch_answer_point(series, i)->y - orch_answer_point(series, i - 1)->y, 2);
    return sqrt(sum / (2.0 * (series->points->len - 1)));
}

bool orch_answer_is_noisy(const struct orch_chart_series *series)
{
    if (series->points->len < NOISY_LEAST)
        return false;
    for (guint i = 0; i < series->points->len; i++)
        if (orch_answer_point(series, i)->n > 1 || !isfinite(orch_answer_point(series, i)->y))
            return false;
    return fabs(quarter_of(series, true) - quarter_of(series, false)) < scatter_of(series);
}

void orch_answer_noise_append(GString *out, const struct orch_chart_series *series,
                              const char *unit)
{
    const struct orch_quartiles q = quartiles_at(series, NULL);
    append_middle(out, &q, unit);
    g_string_append_printf(out, " (%zu values)", q.count);
}

/* "30 runs: median 3.21 s, middle half 3.05 to 3.42 s, all within 2.5 to 7.1 s, 2 of them outliers"
 */
static void append_distribution(GString *out, const struct orch_quartiles *q, const char *what,
                                const char *unit)
{
    const char *blank = unit ? " " : "", *of = unit ? unit : "";
    g_autofree char *all = orch_interval_format(q->lowest, q->highest);
    g_string_append_printf(out, "%zu %s%s: ", q->count, what, orch_plural((int64_t)q->count));
    if (q->lowest < q->highest) {
        append_middle(out, q, unit);
        g_string_append_printf(out, ", all from %s%s%s", all, blank, of);
    } else {
        orch_answer_number_append(out, q->median, (double)NAN, (double)NAN, unit);
        g_string_append(out, q->count > 1 ? ", all equal" : "");
    }
    if (q->outliers)
        g_string_append_printf(out, ", %zu of them outlier%s", q->outliers,
                               orch_plural((int64_t)q->outliers));
}

/* A quantile of many series: the lowest and the highest median. */
static void append_medians(GString *out, const GArray *entries,
                           const struct orch_answer_quantity *value)
{
    g_autofree char *name = g_strdup_printf("median of %s", value->name);
    orch_answer_entries_append(out, entries, name, value->unit);
}

void orch_answer_histogram_append(GString *out, const struct orch_chart *chart, const GArray *lines,
                                  const struct orch_answer_quantity *value)
{
    g_autofree char *what = g_strndup(chart->y_label, strlen(chart->y_label) - 1); /* no plural */
    g_autoptr(GArray) entries = orch_answer_entries_new();
    g_autoptr(GString) texts = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) {
        const struct orch_answer_line *line = line_at(lines, i);
        const struct orch_quartiles q = quartiles_at(line->series, NULL);
        orch_answer_entries_add(entries, line->label, q.median, (double)NAN, (double)NAN);
        if (!q.count)
            continue;
        g_string_append_printf(texts, "%s%s of %s%s", texts->len ? ". " : "", value->name,
                               lines->len > 1 ? line->label : "", lines->len > 1 ? ", " : "");
        append_distribution(texts, &q, what, value->unit);
    }
    if (lines->len > ORCH_ANSWER_LINES_MOST)
        append_medians(out, entries, value);
    else if (texts->len)
        g_string_append(out, texts->str);
}

void orch_answer_boxes_append(GString *out, const struct orch_chart *chart, const GArray *lines,
                              const struct orch_answer_quantity *value)
{
    g_autoptr(GArray) entries = orch_answer_entries_new();
    g_autoptr(GString) texts = g_string_new(NULL);
    unsigned boxes = 0;
    for (guint i = 0; i < lines->len; i++)
        for (guint k = 0; chart->x_names && k < chart->x_names->len; k++) {
            const struct orch_answer_line *line = line_at(lines, i);
            const double x = k;
            const struct orch_quartiles q = quartiles_at(line->series, &x);
            g_autofree char *label = g_strjoin(", ", (char *)chart->x_names->pdata[k],
                                               lines->len > 1 ? line->label : NULL, NULL);
            if (!q.count)
                continue;
            boxes++;
            orch_answer_entries_add(entries, label, q.median, (double)NAN, (double)NAN);
            g_string_append_printf(texts, "%s%s of %s, %zu run%s: ", texts->len ? ". " : "",
                                   value->name, label, q.count, orch_plural((int64_t)q.count));
            append_middle(texts, &q, value->unit);
        }
    if (boxes > BOXES_MOST)
        append_medians(out, entries, value);
    else if (texts->len)
        g_string_append(out, texts->str);
}
