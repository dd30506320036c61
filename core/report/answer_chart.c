/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/answer_chart.h"

#include "core/report/answer.h"

#include "core/stats/numbers.h"
#include "core/stats/seeds.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

enum { ROWS_LISTED_MOST = 3 };
#define PEAK_LEAST 0.01 /* of the value at the ends */

static struct orch_answer_quantity quantity_of(const char *label)
{
    const char *bracket = strrchr(label, '(');
    if (!bracket || bracket == label || bracket[-1] != ' ' || !g_str_has_suffix(label, ")"))
        return (struct orch_answer_quantity){orch_answer_words(NULL, label, NULL), NULL};
    g_autofree char *name = g_strndup(label, (gsize)(bracket - 1 - label));
    char *unit = g_strndup(bracket + 1, strlen(bracket + 1) - 1);
    if (strchr(unit, ' ')) { /* a remark, such as the year of a rule */
        g_free(unit);
        return (struct orch_answer_quantity){orch_answer_words(NULL, label, NULL), NULL};
    }
    if (orch_answer_names_unit(name, unit))
        g_clear_pointer(&unit, g_free);
    return (struct orch_answer_quantity){orch_answer_words(NULL, name, unit), unit};
}

static void quantity_clear(struct orch_answer_quantity *q)
{
    g_free(q->name);
    g_free(q->unit);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void line_clear(gpointer pointer)
{
    g_free(((struct orch_answer_line *)pointer)->label);
}

static const struct orch_chart_point *last_of(const struct orch_chart_series *series)
{
    return orch_answer_point(series, series->points->len - 1);
}

/* A series in words. One that is a value of several is called as the y axis calls it. */
static char *label_of(GHashTable *labels, const struct orch_chart *chart,
                      const struct orch_chart_panel *panel, const struct orch_chart_series *series)
{
    g_autofree char *value = series->name ? orch_answer_words(labels, series->name, NULL) : NULL;
    const bool is_value = value && strchr(chart->y_label, ',') && strstr(chart->y_label, value);
    g_autofree char *name =
        g_strjoin(panel->title ? ", " : "", panel->title ? panel->title : "", series->name, NULL);
    return is_value && !panel->title ? g_steal_pointer(&value) : orch_answer_series(labels, name);
}

/* The measured lines of all panels that have points. */
static GArray *lines_of(GHashTable *labels, const struct orch_chart *chart)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct orch_answer_line));
    g_array_set_clear_func(lines, line_clear);
    for (guint i = 0; i < chart->panels->len; i++) {
        const struct orch_chart_panel *panel = chart->panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++) {
            const struct orch_chart_series *series = panel->series->pdata[j];
            if (series->role != ORCH_SERIES_MEASURED || !series->points->len)
                continue;
            const struct orch_answer_line line = {label_of(labels, chart, panel, series), panel,
                                                  series};
            g_array_append_val(lines, line);
        }
    }
    return lines;
}

/* The y of the ideal line that starts where the series does, at the series' last x. NaN: none. */
static double ideal_of(const struct orch_answer_line *line)
{
    const struct orch_chart_point *first = orch_answer_point(line->series, 0),
                                  *last = last_of(line->series);
    for (guint i = 0; i < line->panel->series->len; i++) {
        const struct orch_chart_series *other = line->panel->series->pdata[i];
        if (other->role == ORCH_SERIES_IDEAL && other->points->len > 1 &&
            orch_answer_point(other, 0)->x == first->x &&
            orch_answer_point(other, 0)->y == first->y &&
            fabs(last_of(other)->x - last->x) <= 1e-9 * fabs(last->x))
            return last_of(other)->y;
    }
    return (double)NAN;
}

/* A point as a value over runs. */
static struct orch_spread spread_of(const struct orch_chart_point *p)
{
    const bool is_range = p->least < p->most;
    return (struct orch_spread){.stat = {.count = p->n},
                                .form = is_range ? ORCH_SPREAD_RUNS : ORCH_SPREAD_INTERVAL,
                                .centre = p->y,
                                .low = is_range ? p->least : p->low,
                                .high = is_range ? p->most : p->high};
}

/* A place on the x axis: a setting is said as it was given, "0.1". The caller frees. */
static char *place_format(double x)
{
    const bool is_plain = x == 0 || (fabs(x) >= 1e-4 && fabs(x) < 1e6);
    return is_plain ? g_strdup_printf("%.6g", x) : orch_number_format(x);
}

/* The same with the unit of a time: "5 ms", "28 seconds". The caller frees. */
static char *place_of(const struct orch_answer_quantity *x, double at)
{
    char *place = place_format(at);
    bool is_rate = false;
    if (!x->unit || !orch_unit_is_timing(x->unit, &is_rate) || is_rate)
        return place;
    const size_t length = strlen(x->unit);
    const bool is_one_noun = length > 3 &&
                             strspn(x->unit, "abcdefghijklmnopqrstuvwxyz") == length &&
                             x->unit[length - 1] != 's';
    char *timed = g_strdup_printf("%s %s%s", place, x->unit, is_one_noun && at != 1 ? "s" : "");
    g_free(place);
    return timed;
}

static void append_point(GString *out, const struct orch_chart_point *p,
                         const struct orch_answer_quantity *y)
{
    const struct orch_spread spread = spread_of(p);
    orch_answer_spread_append(out, &spread, y->unit);
}

/* ---- changes along a line -------------------------------------------------------------------- */

/* Whether two points differ by more than noise; `choices`: from how many pairs they were picked.
 * Of single runs nothing is known of the noise: then each difference counts. */
static bool is_beyond_noise(const struct orch_chart_point *a, const struct orch_chart_point *b,
                            guint choices)
{
    return a->means && b->means ? orch_seed_means_differ(a->means, b->means, choices)
                                : a->y < b->y || a->y > b->y;
}

/* Whether a point lies beyond both ends of its line. */
static bool is_beyond_ends(const struct orch_chart_series *series, const struct orch_chart_point *p,
                           int sign)
{
    const struct orch_chart_point *const ends[] = {orch_answer_point(series, 0), last_of(series)};
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
        if (sign * p->y <= sign * ends[i]->y + PEAK_LEAST * fabs(ends[i]->y))
            return false;
    return true;
}

/* A line's highest or lowest point, if it tells more than the ends do. */
struct turn {
    const struct orch_chart_point *at; /* NULL: there is none */
    bool is_high;
    bool rises, falls; /* from the first point to it, and from it to the last one (of a lowest
                          point: the reverse) by more than noise */
};

/* A turn is told where the way back from it is more than noise, or where it is the ends that do not
 * differ. */
static struct turn turn_of(const struct orch_chart_series *series, bool is_high)
{
    const int sign = is_high ? 1 : -1;
    const struct orch_chart_point *first = orch_answer_point(series, 0), *last = last_of(series);
    struct turn turn = {.at = first, .is_high = is_high};
    for (guint i = 1; i < series->points->len; i++) {
        const struct orch_chart_point *p = orch_answer_point(series, i);
        turn.at = sign * p->y > sign * turn.at->y ? p : turn.at;
    }
    const guint inner = series->points->len > 2 ? series->points->len - 2 : 1;
    turn.rises = is_beyond_noise(first, turn.at, inner);
    turn.falls = is_beyond_noise(turn.at, last, inner);
    if (!is_beyond_ends(series, turn.at, sign) ||
        !(turn.falls || (turn.rises && !is_beyond_noise(first, last, 1))))
        turn.at = NULL;
    return turn;
}

/* "k 30". The caller frees. */
static char *named_place(const struct orch_chart_point *p, const struct orch_answer_quantity *x)
{
    g_autofree char *at = place_of(x, p->x);
    return orch_answer_named(x->name, at);
}

/* Appends "0.69 at k 30", whose interval append_ranges() says. */
static void append_place(GString *out, const struct orch_chart_point *p,
                         const struct orch_answer_quantity *x, const struct orch_answer_quantity *y)
{
    g_autoptr(GString) value = g_string_new(NULL);
    g_autofree char *named = named_place(p, x);
    append_point(value, p, y);
    g_string_truncate(value, strcspn(value->str, "("));
    g_string_append_printf(out, "%s at %s", g_strchomp(value->str), named);
}

/* ". At k 30, the 95 % interval is 0.67 to 0.72. At k 3000, the 95 % interval is 0.65 to 0.7" */
static void append_ranges(GString *out, const struct orch_chart_series *series,
                          const struct orch_answer_quantity *x)
{
    const struct orch_chart_point *const ends[] = {orch_answer_point(series, 0), last_of(series)};
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
        const struct orch_spread spread = spread_of(ends[i]);
        if (!(spread.low < spread.high))
            continue;
        g_autofree char *range = orch_interval_format(spread.low, spread.high),
                        *at = named_place(ends[i], x);
        if (spread.form == ORCH_SPREAD_RUNS)
            g_string_append_printf(out, ". At %s, the %zu repeats range from %s", at,
                                   spread.stat.count, range);
        else
            g_string_append_printf(out, ". At %s, the 95 %% interval is %s", at, range);
    }
}

/* "rises from 0.69 at k 30 to 0.72 at k 300, then falls to 0.68 at k 3000" */
static void append_turn(GString *out, const struct orch_answer_line *line, const struct turn *turn,
                        const struct orch_answer_quantity *x, const struct orch_answer_quantity *y)
{
    const char *up = turn->is_high ? "rises" : "falls", *down = turn->is_high ? "falls" : "rises",
               *extreme = turn->is_high ? "highest" : "lowest";
    g_string_append_printf(out, turn->rises ? "%s from " : "is ", up);
    append_place(out, orch_answer_point(line->series, 0), x, y);
    g_string_append(out, turn->rises ? " to " : " and ");
    append_place(out, turn->at, x, y);
    if (!turn->rises)
        g_string_append_printf(out, ", the %s value, but by no more than noise", extreme);
    g_string_append(out, ", then ");
    if (turn->falls)
        g_string_append_printf(out, "%s to ", down);
    append_place(out, last_of(line->series), x, y);
    if (!turn->falls)
        g_string_append(out, ", which differs from it by no more than noise");
}

/* "rises from 359 images/s at 1 worker to 513 images/s at 2 workers. The last value is 1.43 times
 * the first" */
static void append_ends(GString *out, const struct orch_answer_line *line,
                        const struct orch_answer_quantity *x, const struct orch_answer_quantity *y)
{
    const struct orch_chart_point *first = orch_answer_point(line->series, 0),
                                  *last = last_of(line->series);
    const bool is_equal = first->y == last->y, is_change = is_beyond_noise(first, last, 1);
    if (is_equal) {
        g_autofree char *from = place_of(x, first->x), *to = place_of(x, last->x);
        g_string_append(out, "is ");
        append_point(out, first, y);
        g_string_append_printf(out, " both at %s %s and at %s", x->name, from, to);
        return;
    }
    g_string_append(out, !is_change ? "is " : last->y > first->y ? "rises from " : "falls from ");
    append_place(out, first, x, y);
    g_string_append(out, is_change ? " to " : " and ");
    append_place(out, last, x, y);
    if (!is_change)
        g_string_append(out, ", which differ by no more than noise");
    else if (first->y > 0 && last->y > 0)
        g_string_append_printf(out, ". The last value is %.3g times the first", last->y / first->y);
}

/* What a line does from its first point to its last one: "rises from ... to .... The ideal at 2
 * workers is 718 images/s" */
static void append_change(GString *out, const struct orch_answer_line *line,
                          const struct orch_answer_quantity *x,
                          const struct orch_answer_quantity *y)
{
    const struct orch_chart_point *first = orch_answer_point(line->series, 0);
    if (first == last_of(line->series)) {
        append_place(out, first, x, y);
        return;
    }
    if (orch_answer_is_noisy(line->series)) {
        g_string_append(out, "shows no rise or fall beyond its noise: ");
        orch_answer_noise_append(out, line->series, y->unit);
        return;
    }
    const struct turn high = turn_of(line->series, true), low = turn_of(line->series, false);
    if (high.at || low.at)
        append_turn(out, line, high.at ? &high : &low, x, y);
    else
        append_ends(out, line, x, y);
    const double ideal = ideal_of(line);
    g_autofree char *ideal_text = isfinite(ideal) ? orch_number_format(ideal) : NULL,
                    *end = named_place(last_of(line->series), x);
    if (ideal_text)
        g_string_append_printf(out, ". The ideal at %s is %s%s%s", end, ideal_text,
                               y->unit ? " " : "", y->unit ? y->unit : "");
    append_ranges(out, line->series, x);
}

/* The test of a change that a sentence tells: "with P 1, the value changes by +0.020 (95 %
 * interval 0.004 to 0.036) from K 30 to 300, p 0.02"; nothing where there is none. */
static void append_test(GString *out, const char *head, const struct orch_chart_point *a,
                        const struct orch_chart_point *b, guint choices,
                        const struct orch_answer_quantity *x)
{
    struct orch_difference d = {.p = (double)NAN};
    if (a->means && b->means)
        d = orch_seed_difference(a->means, b->means);
    orch_difference_allow_for(&d, choices);
    if (isnan(d.p))
        return;
    g_autofree char *from = place_of(x, a->x), *to = place_of(x, b->x);
    g_autofree char *interval = orch_interval_format(d.mean.low, d.mean.high);
    g_autofree char *middle = orch_within_format(d.mean.mid, d.mean.low, d.mean.high),
                    *p = orch_p_format(d.p_corrected);
    g_string_append_printf(
        out, "%s%s%sthe value changes by %s%s (95 %% interval %s) from %s %s to %s, p %s",
        !*head     ? ""
        : out->len ? ". With "
                   : "with ",
        head,
        *head      ? ", "
        : out->len ? "; "
                   : "",
        d.mean.mid > 0 ? "+" : "", middle, interval, x->name, from, to, p);
    if (choices > 1)
        g_string_append_printf(
            out, " (corrected, because the line could have turned at any of its %u inner points)",
            choices);
}

static void append_tests(GString *out, const struct orch_answer_line *line,
                         const struct orch_answer_quantity *x)
{
    const struct orch_chart_series *series = line->series;
    const struct orch_chart_point *first = orch_answer_point(series, 0), *last = last_of(series);
    const struct turn high = turn_of(series, true), low = turn_of(series, false);
    const struct orch_chart_point *turn = high.at ? high.at : low.at;
    const char *head = line->label;
    const guint inner = series->points->len > 2 ? series->points->len - 2 : 1;
    if (first == last || orch_answer_is_noisy(series))
        return;
    append_test(out, head, first, turn ? turn : last, turn ? inner : 1, x);
    if (turn)
        append_test(out, head, turn, last, inner, x);
}

static bool is_equal_in_each_run(const GArray *a, const GArray *b)
{
    for (guint i = 0; a && b && a->len == b->len && i < a->len; i++) {
        const struct orch_seed_mean *one = &g_array_index(a, struct orch_seed_mean, i);
        const struct orch_seed_mean *other = orch_seed_mean_find(b, one->seed);
        if (!one->seed || !other || one->value < other->value || one->value > other->value)
            return false;
    }
    return a && b && a->len == b->len && a->len > 1;
}

/* "P 1, K 1000 and 3000" */
static void append_equals(GString *out, const struct orch_answer_line *line,
                          const struct orch_answer_quantity *x)
{
    for (guint i = 1; i < line->series->points->len; i++) {
        const struct orch_chart_point *a = orch_answer_point(line->series, i - 1),
                                      *b = orch_answer_point(line->series, i);
        if (!is_equal_in_each_run(a->means, b->means))
            continue;
        g_autofree char *from = place_of(x, a->x), *to = place_of(x, b->x);
        g_string_append_printf(out, "%s%s%s%s %s and %s", out->len ? "; " : "", line->label,
                               *line->label ? ", " : "", x->name, from, to);
    }
}

/* Whether the lines are the values that the y axis lists, so that their labels are its name. */
static bool are_values(const GArray *lines, const char *name)
{
    for (guint i = 0; i < lines->len; i++)
        if (!strstr(name, g_array_index(lines, struct orch_answer_line, i).label))
            return false;
    return lines->len > 1 && strchr(name, ',');
}

/* Few lines, each from its first point to its last, in a line of text of its own. */
static void append_changes(GString *out, const GArray *lines, const struct orch_answer_quantity *x,
                           const struct orch_answer_quantity *y)
{
    for (guint i = 0; i < lines->len; i++) {
        const struct orch_answer_line *line = &g_array_index(lines, struct orch_answer_line, i);
        const bool is_own = g_str_has_prefix(line->label, y->name);
        const bool has_head = !are_values(lines, y->name) && !is_own;
        const char *rest = is_own ? line->label + strlen(y->name) : "";
        g_string_append_printf(out, "%s%s", i ? ".\n" : "", has_head ? y->name : "");
        if (*rest && strspn(rest, " -.0123456789e") == strlen(rest)) /* a parameter of this name */
            g_string_append_printf(out, "%s, set to%s,", y->name, rest);
        else if (lines->len > 1 || !has_head)
            g_string_append_printf(out, "%s%s", has_head ? " with " : "", line->label);
        g_string_append_c(out, ' ');
        append_change(out, line, x, y);
    }
}

/* Many lines, at their ends: "mean return at step 400: 12.8 (fixed), ..." */
static void append_line_ends(GString *out, const GArray *lines,
                             const struct orch_answer_quantity *x,
                             const struct orch_answer_quantity *y)
{
    g_autoptr(GArray) ends = orch_answer_entries_new();
    const double end = last_of(g_array_index(lines, struct orch_answer_line, 0).series)->x;
    bool is_common = true;
    for (guint i = 0; i < lines->len; i++)
        is_common &= last_of(g_array_index(lines, struct orch_answer_line, i).series)->x == end;
    for (guint i = 0; i < lines->len; i++) {
        const struct orch_answer_line *line = &g_array_index(lines, struct orch_answer_line, i);
        const struct orch_chart_point *last = last_of(line->series);
        g_autofree char *at = place_of(x, last->x);
        g_autofree char *named = orch_answer_named(x->name, at);
        g_autofree char *label =
            is_common ? g_strdup(line->label) : g_strdup_printf("%s, %s", line->label, named);
        const struct orch_spread spread = spread_of(last);
        orch_answer_entries_add_spread(ends, label, &spread);
    }
    g_autofree char *at = place_of(x, end);
    g_autofree char *named = orch_answer_named(x->name, at);
    g_autofree char *place = is_common ? g_strdup_printf("at %s", named) : g_strdup("at the end");
    const bool has_head = !are_values(lines, y->name);
    g_autofree char *name =
        g_strjoin(" ", has_head ? y->name : place, has_head ? place : NULL, NULL);
    orch_answer_entries_append(out, ends, name, y->unit);
}

static void append_lines(GString *out, const struct orch_chart *chart, const GArray *lines)
{
    struct orch_answer_quantity x = quantity_of(chart->x_label), y = quantity_of(chart->y_label);
    if (lines->len > ORCH_ANSWER_LINES_MOST)
        append_line_ends(out, lines, &x, &y);
    else
        append_changes(out, lines, &x, &y);
    quantity_clear(&x);
    quantity_clear(&y);
}

/* ---- bars and heat maps ---------------------------------------------------------------------- */

static const char *name_at(const GPtrArray *names, double position)
{
    return names && position >= 0 && position < names->len ? names->pdata[(guint)position] : "";
}

static void add_mark(GArray *marks, const struct orch_chart *chart,
                     const struct orch_answer_line *line, bool is_alone,
                     const struct orch_chart_point *p)
{
    const char *column = name_at(chart->x_names, p->x);
    const bool is_heat = chart->kind == ORCH_CHART_HEAT;
    const char *second = is_heat ? name_at(chart->y_names, p->y) : is_alone ? "" : line->label;
    g_autofree char *label = g_strjoin(*second ? ", " : "", column, second, NULL);
    const struct orch_spread spread = spread_of(p);
    if (is_heat)
        orch_answer_entries_add(marks, label, p->z, (double)NAN, (double)NAN);
    else
        orch_answer_entries_add_spread(marks, label, &spread);
}

static bool are_of_runs(const GArray *lines)
{
    for (guint i = 0; i < lines->len; i++) {
        const struct orch_answer_line *line = &g_array_index(lines, struct orch_answer_line, i);
        for (guint k = 0; k < line->series->points->len; k++)
            if (orch_answer_point(line->series, k)->n)
                return true;
    }
    return !lines->len;
}

static void append_marks(GString *out, const struct orch_chart *chart, const GArray *lines)
{
    const bool is_heat = chart->kind == ORCH_CHART_HEAT;
    struct orch_answer_quantity value = quantity_of(is_heat ? chart->z_label : chart->y_label);
    g_autoptr(GArray) marks = orch_answer_entries_new();
    for (guint i = 0; i < lines->len; i++) {
        const struct orch_answer_line *line = &g_array_index(lines, struct orch_answer_line, i);
        for (guint k = 0; k < line->series->points->len; k++)
            add_mark(marks, chart, line, lines->len == 1, orch_answer_point(line->series, k));
    }
    if (are_of_runs(lines) || strchr(chart->x_label, ' '))
        orch_answer_entries_append(out, marks, value.name, value.unit);
    else /* rows of a table that a run left, such as classes */
        orch_answer_entries_append_of(out, marks, value.name, value.unit, chart->x_label,
                                      ROWS_LISTED_MOST);
    quantity_clear(&value);
}

/* ---- any chart ------------------------------------------------------------------------------- */

static void append_runs(GString *out, const struct orch_chart *chart, const GArray *lines)
{
    struct orch_answer_quantity x = quantity_of(chart->x_label), y = quantity_of(chart->y_label);
    if (chart->kind == ORCH_CHART_HISTOGRAM)
        orch_answer_histogram_append(out, chart, lines, &x);
    else if (chart->kind == ORCH_CHART_BOX)
        orch_answer_boxes_append(out, chart, lines, &y);
    else
        orch_answer_scatter_append(out, chart, lines, &x, &y);
    quantity_clear(&x);
    quantity_clear(&y);
}

static const struct orch_chart *last_chart(const struct orch_section *section)
{
    const struct orch_chart *chart = NULL;
    for (guint i = 0; i < section->blocks->len; i++) {
        const struct orch_block *block = section->blocks->pdata[i];
        chart = block->kind == ORCH_BLOCK_CHART ? block->chart : chart;
    }
    return chart;
}

void orch_answer_note_tests(struct orch_section *section)
{
    const struct orch_chart *chart = last_chart(section);
    if (!chart || chart->kind != ORCH_CHART_LINE || chart->x_names)
        return;
    g_autoptr(GArray) lines = lines_of(section->labels, chart);
    g_autoptr(GString) tests = g_string_new(NULL), equals = g_string_new(NULL);
    struct orch_answer_quantity x = quantity_of(chart->x_label);
    for (guint i = 0; lines->len <= ORCH_ANSWER_LINES_MOST && i < lines->len; i++) {
        append_tests(tests, &g_array_index(lines, struct orch_answer_line, i), &x);
        append_equals(equals, &g_array_index(lines, struct orch_answer_line, i), &x);
    }
    quantity_clear(&x);
    if (tests->len)
        orch_section_note(section, "paired t-test of runs with equal seeds: %s", tests->str);
    if (equals->len)
        orch_section_note(section, "these settings gave the same results in every run: %s",
                          equals->str);
}

void orch_answer_of_chart(struct orch_section *section)
{
    const struct orch_chart *chart = last_chart(section);
    if (!chart)
        return;
    g_autoptr(GArray) lines = lines_of(section->labels, chart);
    g_autoptr(GString) text = g_string_new(NULL);
    const bool has_marks = chart->kind == ORCH_CHART_BAR || chart->kind == ORCH_CHART_HEAT ||
                           (chart->kind == ORCH_CHART_LINE && chart->x_names);
    if (has_marks)
        append_marks(text, chart, lines);
    else if (chart->kind == ORCH_CHART_LINE)
        append_lines(text, chart, lines);
    else
        append_runs(text, chart, lines);
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}
