/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts drawn: known pictures of characters, pages that hold nothing but shapes and texts, ticks,
 * boxes. */
#include "core/render/draw.h"
#include "core/render/frame.h"
#include "lib/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

#define HOSTILE "'<script>alert(1)</script>' `touch /tmp/orch-was-here` \"x\" $HOME %s &amp; @m"

static struct orch_chart *line_chart(const char *title, const char *name)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, title, "step", "loss (nats)");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    struct orch_chart_series *measured = orch_chart_series(panel, name, ORCH_SERIES_MEASURED);
    struct orch_chart_series *predicted = orch_chart_series(panel, name, ORCH_SERIES_PREDICTED);
    for (int i = 0; i <= 4; i++) {
        struct orch_chart_point *point = orch_chart_add(measured, i, 4 - i);
        point->low = point->y - 0.5;
        point->high = point->y + 0.5;
        orch_chart_add(predicted, i, 4);
    }
    return chart;
}

static void assert_picture(struct orch_chart *chart, struct orch_draw_text how, const char *picture)
{
    g_autofree char *text = orch_chart_text(chart, &how);
    assert_string_equal(text, picture);
    orch_chart_free(chart);
}

/* ---- characters --------------------------------------------------------------------------------
 */

static void test_line(void **state)
{
    (void)state;
    assert_picture(line_chart("Loss", "lr=0.1"), (struct orch_draw_text){32, 15, .ascii = true},
                   "Loss\n"
                   "loss (nats)\n"
                   "  |\n"
                   "4 +a.. . a . . .a . . a . . .a\n"
                   "  |. ...\n"
                   "  |     .A...\n"
                   "2 +          ...A..\n"
                   "  |             .  ...A.\n"
                   "  |                   . ....\n"
                   "0 +                         .A\n"
                   "  |                          .\n"
                   "  ++------------+------------+-\n"
                   "   0            2            4\n"
                   "              step\n"
                   "A lr=0.1   a lr=0.1, predicted\n");
}

/* A fitted curve through points: a line of the same series without marks. */
static void test_fitted(void **state)
{
    (void)state;
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_SCATTER, NULL, "step", "loss");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    struct orch_chart_series *points = orch_chart_series(panel, "V100", ORCH_SERIES_MEASURED);
    struct orch_chart_series *fitted = orch_chart_series(panel, "V100", ORCH_SERIES_FITTED);
    assert_ptr_not_equal(points, fitted);
    for (int i = 0; i <= 4; i += 2)
        orch_chart_add(points, i, 4 - i);
    orch_chart_add(fitted, 0, 4);
    orch_chart_add(fitted, 4, 0);
    assert_true(orch_series_is_of_a_model(fitted) && !orch_series_is_of_runs(fitted));
    assert_false(orch_series_is_of_a_model(points));
    g_autofree char *csv = orch_chart_csv(chart);
    assert_non_null(strstr(csv, "V100,fitted,4,0"));
    g_autofree char *text = orch_chart_text(chart, &(struct orch_draw_text){32, 15, .ascii = true});
    assert_non_null(strstr(text, "A V100   . V100, fitted\n"));
    unsigned marks = 0;
    for (const char *c = text; *c; c++)
        marks += *c == 'A';
    assert_int_equal(marks, 4); /* three points and the legend */
    orch_chart_free(chart);
}

static struct orch_chart *bar_chart(enum orch_chart_kind kind)
{
    struct orch_chart *chart = orch_chart_new(kind, NULL, "net", "time (s)");
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    struct orch_chart_series *series =
        orch_chart_series(orch_chart_panel(chart, NULL), "", ORCH_SERIES_MEASURED);
    for (int i = 1; i <= 9; i++) {
        double at = orch_chart_category(chart->x_names, "vgg");
        if (kind == ORCH_CHART_BOX || i == 4)
            orch_chart_add(series, at, i == 9 ? 30 : i);
    }
    struct orch_chart_point *point =
        orch_chart_add(series, orch_chart_category(chart->x_names, "resnet18"), 8);
    point->low = 7.5;
    point->high = 8.5;
    return chart;
}

static void test_bars(void **state)
{
    (void)state;
    assert_picture(bar_chart(ORCH_CHART_BAR), (struct orch_draw_text){44, 20, .ascii = true},
                   "     vgg |########             4\n"
                   "resnet18 |#################    8.00 +- 0.50\n"
                   "         ++----------+--------\n"
                   "          0          5\n"
                   "               time (s)\n");
    assert_picture(bar_chart(ORCH_CHART_BAR), (struct orch_draw_text){44, 20, .ascii = false},
                   "     vgg │████████▋            4\n"
                   "resnet18 │█████████████████▎   8.00 +- 0.50\n"
                   "         └┬──────────┬────────\n"
                   "          0          5\n"
                   "               time (s)\n");
    assert_picture(bar_chart(ORCH_CHART_BOX), (struct orch_draw_text){44, 20, .ascii = true},
                   "     vgg | |==#=|               o  5\n"
                   "resnet18 |      #                  8\n"
                   "         ++------+-------+------+-\n"
                   "          0     10      20     30\n"
                   "                 time (s)\n");
}

static struct orch_chart *heat_map(void)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_HEAT, "Best", "lr", "batch");
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    chart->y_names = g_ptr_array_new_with_free_func(g_free);
    struct orch_chart_series *series =
        orch_chart_series(orch_chart_panel(chart, NULL), NULL, ORCH_SERIES_MEASURED);
    for (int i = 0; i < 4; i++) {
        double x = orch_chart_category(chart->x_names, i % 2 ? "0.1" : "0.01");
        double y = orch_chart_category(chart->y_names, i / 2 ? "64" : "32");
        orch_chart_add(series, x, y)->z = i == 3 ? (double)NAN : i;
    }
    return chart;
}

static void test_heat(void **state)
{
    (void)state;
    assert_picture(heat_map(), (struct orch_draw_text){40, 20, .ascii = true},
                   "Best\n"
                   "batch (down) by lr (across)\n"
                   "    0.01   0.1\n"
                   "64  ## 2      -\n"
                   "32     0   ++ 1\n"
                   "value: 0 to 2\n");
}

/* Whatever is drawn: no line is longer than the terminal is wide, and no escape gets through. */
static void test_width(void **state)
{
    (void)state;
    struct orch_chart *charts[] = {
        line_chart("A title that is longer than the terminal is wide", "\033[31m" HOSTILE "\n\n"),
        bar_chart(ORCH_CHART_BAR), bar_chart(ORCH_CHART_BOX), heat_map()};
    for (size_t i = 0; i < G_N_ELEMENTS(charts); i++) {
        for (int columns = 24; columns <= 120; columns += 8) {
            struct orch_draw_text how = {columns, 12, .ascii = columns % 16 == 0};
            g_autofree char *text = orch_chart_text(charts[i], &how);
            g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
            assert_true(g_utf8_validate(text, -1, NULL));
            assert_null(strchr(text, '\033'));
            for (char **line = lines; *line; line++)
                assert_true(g_utf8_strlen(*line, -1) <= columns);
        }
        orch_chart_free(charts[i]);
    }
}

/* ---- pages -------------------------------------------------------------------------------------
 */

struct seen {
    GHashTable *ids;
    unsigned elements, texts;
    bool has_hostile;
};

static void on_start(GMarkupParseContext *context, const char *name, const char **names,
                     const char **values, gpointer data, GError **error)
{
    (void)context;
    (void)error;
    static const char *const known[] = {"svg",  "title", "desc",    "defs",     "g",
                                        "path", "rect",  "polygon", "polyline", "circle",
                                        "use",  "text",  NULL};
    struct seen *seen = data;
    assert_true(g_strv_contains(known, name));
    seen->elements++;
    for (; *names; names++, values++) {
        assert_false(g_str_has_prefix(*names, "on"));
        if (strcmp(*names, "id") == 0) {
            assert_true(g_str_has_prefix(*values, "pic"));
            assert_true(g_hash_table_add(seen->ids, g_strdup(*values)));
        }
        if (strcmp(*names, "href") == 0)
            assert_true(g_str_has_prefix(*values, "#pic"));
    }
}

static void on_text(GMarkupParseContext *context, const char *text, gsize length, gpointer data,
                    GError **error)
{
    (void)context;
    (void)error;
    struct seen *seen = data;
    g_autofree char *copy = g_strndup(text, length);
    seen->has_hostile = seen->has_hostile || strcmp(copy, HOSTILE) == 0;
    seen->texts++;
}

static void test_page(void **state)
{
    (void)state;
    struct orch_chart *charts[] = {line_chart(HOSTILE, "lr=0.1"), heat_map(),
                                   bar_chart(ORCH_CHART_BAR), bar_chart(ORCH_CHART_BOX)};
    g_autoptr(GError) error = NULL;
    struct seen seen = {.ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    static const GMarkupParser parser = {.start_element = on_start, .text = on_text};
    for (size_t i = 0; i < G_N_ELEMENTS(charts); i++) {
        g_autofree char *id = g_strdup_printf("pic\"<%zu", i);
        g_autofree char *svg = orch_chart_svg(charts[i], id, &error);
        assert_null(error);
        GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &seen, NULL);
        assert_true(g_markup_parse_context_parse(context, svg, -1, NULL));
        assert_true(g_markup_parse_context_end_parse(context, NULL));
        g_markup_parse_context_free(context);
        assert_true(g_str_has_prefix(svg, "<svg "));
        assert_non_null(strstr(svg, "width=\"100%\""));
        assert_null(strstr(svg, "\"#000000\""));
        orch_chart_free(charts[i]);
    }
    assert_true(seen.elements > 80 && seen.texts > 30 && seen.has_hostile);
    assert_false(g_file_test("/tmp/orch-was-here", G_FILE_TEST_EXISTS));
    g_hash_table_unref(seen.ids);
}

static void test_refusals(void **state)
{
    (void)state;
    struct orch_chart *empty = orch_chart_new(ORCH_CHART_LINE, NULL, NULL, NULL);
    struct orch_chart *chart = line_chart(NULL, NULL);
    g_autoptr(GError) error = NULL;
    assert_false(orch_chart_write(empty, "x.svg", &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_USAGE));
    g_clear_error(&error);
    assert_false(orch_chart_write(chart, "x.gif", &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_USAGE));
    g_clear_error(&error);
    assert_null(orch_chart_svg(empty, "a", &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_USAGE));
    struct orch_draw_text how = {40, 10, .ascii = true};
    g_autofree char *text = orch_chart_text(empty, &how);
    assert_string_equal(text, "not drawn: no run has a value for it yet\n");
    orch_chart_free(empty);
    orch_chart_free(chart);
}

/* ---- axes and boxes ----------------------------------------------------------------------------
 */

static void assert_ticks(double low, double high, bool is_log, int most, const char *expected)
{
    struct orch_axis axis;
    orch_axis_numbers(&axis, low, high, is_log, most);
    GString *labels = g_string_new(NULL);
    for (guint i = 0; i < axis.ticks->len; i++)
        g_string_append_printf(labels, "%s%s", i ? " " : "",
                               g_array_index(axis.ticks, struct orch_tick, i).label);
    assert_string_equal(labels->str, expected);
    g_string_free(labels, TRUE);
    orch_axis_clear(&axis);
}

static void test_ticks(void **state)
{
    (void)state;
    assert_ticks(0, 1, false, 5, "0.0 0.2 0.4 0.6 0.8 1.0");
    assert_ticks(-3, 3, false, 4, "-2 0 2");
    assert_ticks(0, 2e6, false, 4, "0 0.5M 1M 1.5M 2M");
    assert_ticks(7, 7, false, 3, "6.5 7.0 7.5");
    assert_ticks(1, 100, true, 8, "1 2 5 10 20 50 100");
    assert_ticks(1e-6, 1, true, 4, "1e-6 0.0001 0.01 1");
    assert_ticks(0.3, 0.9, true, 6, "0.3 0.4 0.5 0.6 0.7 0.8 0.9");
    struct orch_axis axis;
    orch_axis_numbers(&axis, 1024, 32768, true, 5);
    orch_axis_ticks_at(&axis, (const double[]){1024, 16384}, 2);
    assert_string_equal(g_array_index(axis.ticks, struct orch_tick, 1).label, "16384");
    orch_axis_clear(&axis);
    orch_axis_numbers(&axis, 1, 100, true, 5);
    assert_true(fabs(orch_axis_at(&axis, 10) - 0.5) < 1e-12);
    assert_true(isnan(orch_axis_at(&axis, 0)) && isnan(orch_axis_at(&axis, -1)));
    orch_axis_clear(&axis);
}

/* Intervals widen the axis of a curve by half of what was measured and no more. */
static void test_wide_intervals(void **state)
{
    (void)state;
    struct orch_chart *chart = line_chart(NULL, "a"); /* 4 to 0, +- 0.5 */
    struct orch_frame frame;
    orch_frame_init(&frame, chart, 5, 5);
    assert_false(frame.is_cut);
    assert_true(frame.y.low <= -0.5 && frame.y.high >= 4.5);
    orch_frame_release(&frame);
    struct orch_chart_panel *panel = chart->panels->pdata[0];
    struct orch_chart_series *series = panel->series->pdata[0];
    struct orch_chart_point *point = &g_array_index(series->points, struct orch_chart_point, 2);
    point->low = -100;
    point->high = 100;
    orch_frame_init(&frame, chart, 5, 5);
    assert_true(frame.is_cut);
    assert_true(frame.y.low <= -2 && frame.y.low > -3 && frame.y.high >= 6 && frame.y.high < 7);
    assert_true(orch_frame_clamped_y(&frame, 100) == 1 && orch_frame_clamped_y(&frame, -100) == 0);
    orch_frame_release(&frame);
    chart->kind = ORCH_CHART_SCATTER; /* bars of error are seen whole */
    orch_frame_init(&frame, chart, 5, 5);
    assert_true(!frame.is_cut && frame.y.low <= -100 && frame.y.high >= 100);
    orch_frame_release(&frame);
    orch_chart_free(chart);
}

static void test_box(void **state)
{
    (void)state;
    struct orch_chart *chart = bar_chart(ORCH_CHART_BOX); /* vgg: 1 to 8, and 30 */
    struct orch_frame frame;
    orch_frame_init(&frame, chart, 5, 5);
    const struct orch_chart_panel *panel = chart->panels->pdata[0];
    struct orch_box_plot box = {0};
    assert_true(orch_frame_box(&frame, panel->series->pdata[0], 0, &box));
    assert_true(box.q1 == 3 && box.median == 5 && box.q3 == 7);
    assert_true(box.low == 1 && box.high == 8);
    assert_int_equal(box.outliers->len, 1);
    assert_true(g_array_index(box.outliers, double, 0) == 30);
    orch_box_plot_clear(&box);
    assert_false(orch_frame_box(&frame, panel->series->pdata[0], 7, &box));
    orch_frame_release(&frame);
    orch_chart_free(chart);
}

static void test_bins(void **state)
{
    (void)state;
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_HISTOGRAM, NULL, NULL, NULL);
    struct orch_chart_series *series =
        orch_chart_series(orch_chart_panel(chart, NULL), NULL, ORCH_SERIES_MEASURED);
    for (int i = 0; i < 200; i++)
        orch_chart_add(series, 0, i % 40 + 0.5);
    struct orch_frame frame;
    orch_frame_init(&frame, chart, 5, 5);
    g_autofree unsigned *counts = orch_frame_bins(&frame, series);
    unsigned sum = 0;
    for (unsigned i = 0; i < frame.bins.count; i++)
        sum += counts[i];
    assert_int_equal(sum, 200);
    assert_true(frame.bins.width == 5 && frame.bins.count == 8);
    orch_frame_release(&frame);
    orch_chart_free(chart);
}

/* A stranger's text may be megabytes long: shortening it takes one pass. */
static void test_long_names(void **state)
{
    (void)state;
    g_autofree char *text = g_strnfill(2000000, 'x');
    g_autofree char *marks = g_malloc(2000001);
    for (int i = 0; i < 1000000; i++)
        memcpy(marks + 2 * i, "\xcc\x81", 2); /* a combining accent: no column */
    marks[2000000] = 0;
    int64_t since_us = g_get_monotonic_time();
    g_autofree char *cut = orch_text_short(text, 24), *few = orch_text_short(marks, 24);
    assert_true(g_get_monotonic_time() - since_us < 2000000);
    assert_string_equal(cut, "xxxxxxxxxxxxxxxxxxxxx...");
    assert_true(strlen(few) < 1000);
    g_autofree char *whole = orch_text_short("x y", 3), *tiny = orch_text_short("abcd", 1);
    assert_string_equal(whole, "x y");
    assert_string_equal(tiny, "a...");
    g_strdelimit(text, "x", 'y');
    for (size_t i = 2; i < 2000000; i += 3)
        text[i] = ' ';
    g_auto(GStrv) lines = orch_text_wrap(text, 80);
    assert_int_equal(g_strv_length(lines), 30);
    assert_string_equal(lines[29], "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),   cmocka_unit_test(test_bars),
        cmocka_unit_test(test_heat),   cmocka_unit_test(test_width),
        cmocka_unit_test(test_page),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fitted), cmocka_unit_test(test_wide_intervals),
        cmocka_unit_test(test_ticks),  cmocka_unit_test(test_box),
        cmocka_unit_test(test_bins),   cmocka_unit_test(test_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
