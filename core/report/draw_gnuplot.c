/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and pages by gnuplot: it is given a script in a folder of its own and draws there; what it
 * made is read from there and put in place whole. */
#include "core/report/draw.h"
#include "core/report/draw_svg.h"
#include "core/report/sheet.h"
#include "core/report/tool.h"

#include "lib/base/error.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const struct ending_row {
    const char *ending;
    double scale; /* of the terminal's units to the sheet's */
    const char *terminal;
} ENDINGS[] = {
    {".svg", 1, "svg size %s,%s dynamic font 'sans,13' rounded noenhanced background '#ffffff'"},
    {".png", 2,
     "pngcairo size %s,%s font 'sans,13' fontscale 1.5 linewidth 2 pointscale 2 rounded "
     "noenhanced"},
    {".pdf", 1.0 / 96,
     "pdfcairo size %sin,%sin font 'sans,9.75' fontscale 0.53 linewidth 1.4 pointscale 0.8 "
     "dashlength 0.9 "
     "rounded noenhanced"},
};
static const struct ending_row PAGE = {"", 1,
                                       "svg size %s,%s dynamic font 'sans,13' rounded noenhanced"};

bool orch_draw_is_possible(void)
{
    static int known = -1;
    if (known < 0) {
        g_autofree char *path = g_find_program_in_path("gnuplot");
        known = path ? 1 : 0;
    }
    return known;
}

static void add_script(const struct orch_chart *chart, const struct ending_row *ending,
                       const char *file, GString *out)
{
    struct orch_sheet sheet = {0};
    orch_sheet_draw(&sheet, chart);
    char width[G_ASCII_DTOSTR_BUF_SIZE], height[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(width, sizeof width, "%.6g", sheet.pen.width * ending->scale);
    g_ascii_formatd(height, sizeof height, "%.6g", sheet.pen.height * ending->scale);
    g_auto(GStrv) parts = g_strsplit(ending->terminal, "%s", 3);
    g_autofree char *terminal = g_strconcat(parts[0], width, parts[1], height, parts[2], NULL);
    orch_pen_script(&sheet.pen, terminal, file, out);
    orch_sheet_release(&sheet);
}

/* ---- running it --------------------------------------------------------------------------------
 */

static bool run_gnuplot(const char *folder, GError **error)
{
    /* -d: without the user's own settings */
    const char *argv[] = {"gnuplot", "-d", "script", NULL};
    return orch_tool_run(folder, argv, "apt install gnuplot-nox", NULL, error);
}

static char *file_of(size_t i)
{
    return g_strdup_printf("chart%zu", i);
}

struct drawn {
    char *bytes;
    gsize length;
};

static bool read_drawn(const char *folder, struct drawn *drawn, size_t count, GError **error)
{
    for (size_t i = 0; i < count; i++) {
        g_autofree char *name = file_of(i);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autoptr(GError) failed = NULL;
        if (g_file_get_contents(path, &drawn[i].bytes, &drawn[i].length, &failed))
            continue;
        orch_error_set(error, ORCH_ERROR_IO, NULL, "gnuplot drew nothing: %s", failed->message);
        return false;
    }
    return true;
}

static void remove_folder(const char *folder, size_t count)
{
    g_autofree char *script = g_build_filename(folder, "script", NULL);
    unlink(script);
    for (size_t i = 0; i < count; i++) {
        g_autofree char *name = file_of(i);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        unlink(path);
    }
    rmdir(folder);
}

/* Draws all in one process; `drawn` (count of them, zeroed) gets what it made. */
static bool draw(struct orch_chart *const *charts, size_t count, const struct ending_row *ending,
                 struct drawn *drawn, GError **error)
{
    g_autofree char *folder = g_dir_make_tmp("orch-chart-XXXXXX", NULL);
    if (!folder) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot make a temporary folder");
        return false;
    }
    GString *script = g_string_new(NULL);
    for (size_t i = 0; i < count; i++) {
        g_autofree char *name = file_of(i);
        add_script(charts[i], ending, name, script);
    }
    g_autofree char *path = g_build_filename(folder, "script", NULL);
    g_autoptr(GError) failed = NULL;
    bool ok = g_file_set_contents(path, script->str, (gssize)script->len, &failed);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': %s", path, failed->message);
    ok = ok && run_gnuplot(folder, error) && read_drawn(folder, drawn, count, error);
    g_string_free(script, TRUE);
    remove_folder(folder, count);
    return ok;
}

/* ---- files -------------------------------------------------------------------------------------
 */

bool orch_chart_write(const struct orch_chart *chart, const char *path, GError **error)
{
    const struct ending_row *ending = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(ENDINGS); i++)
        if (g_str_has_suffix(path, ENDINGS[i].ending))
            ending = &ENDINGS[i];
    if (!ending || orch_chart_is_empty(chart)) {
        orch_error_set(error, ORCH_ERROR_USAGE, ending ? NULL : "FILE.svg, FILE.png or FILE.pdf",
                       ending ? "there is nothing to draw in '%s'"
                              : "'%s' has no ending that says what to draw",
                       path);
        return false;
    }
    struct drawn drawn = {0};
    struct orch_chart *const charts[] = {(struct orch_chart *)(uintptr_t)chart};
    bool ok = draw(charts, 1, ending, &drawn, error);
    g_autoptr(GError) failed = NULL;
    if (ok && !g_file_set_contents(path, drawn.bytes, (gssize)drawn.length, &failed)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': %s", path, failed->message);
        ok = false;
    }
    g_free(drawn.bytes);
    return ok;
}

/* ---- pages -------------------------------------------------------------------------------------
 */

/* For readers of screens: "line chart of y by x: a, b". */
static char *describe(const struct orch_chart *chart)
{
    static const char *const kinds[] = {"line chart", "scatter plot", "bar chart",
                                        "box plot",   "histogram",    "heat map"};
    struct orch_frame frame;
    orch_frame_init(&frame, chart, 5, 5);
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%s of %s by %s", kinds[chart->kind],
                           chart->y_label ? chart->y_label : "y",
                           chart->x_label ? chart->x_label : "x");
    for (guint i = 0; i < frame.keys->len; i++) {
        g_autofree char *name = orch_frame_key(frame.keys->pdata[i], 60);
        g_string_append_printf(out, "%s%s", i ? ", " : ": ", name);
    }
    if (chart->note)
        g_string_append_printf(out, ". %s", chart->note);
    orch_frame_release(&frame);
    g_autofree char *text = g_string_free(out, FALSE);
    return g_utf8_make_valid(text, -1);
}

static char *page_svg(const struct orch_chart *chart, const char *svg, const char *id,
                      GError **error)
{
    g_autofree char *about = describe(chart);
    g_autofree char *title = g_utf8_make_valid(chart->title ? chart->title : "chart", -1);
    return orch_svg_for_page(svg, id, title, about, error);
}

char **orch_charts_svg(struct orch_chart *const *charts, size_t count, const char *id,
                       GError **error)
{
    for (size_t i = 0; i < count; i++) {
        if (orch_chart_is_empty(charts[i])) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "there is nothing to draw in '%s'",
                           charts[i]->title ? charts[i]->title : "a chart");
            return NULL;
        }
    }
    char **out = g_new0(char *, count + 1);
    struct drawn *drawn = g_new0(struct drawn, count);
    bool ok = !count || draw(charts, count, &PAGE, drawn, error);
    for (size_t i = 0; ok && i < count; i++) {
        g_autofree char *own = count == 1 ? g_strdup(id) : g_strdup_printf("%s%zu", id, i + 1);
        out[i] = page_svg(charts[i], drawn[i].bytes, own, error);
        ok = out[i];
    }
    for (size_t i = 0; i < count; i++)
        g_free(drawn[i].bytes);
    g_free(drawn);
    if (ok)
        return out;
    g_strfreev(out);
    return NULL;
}

char *orch_chart_svg(const struct orch_chart *chart, const char *id, GError **error)
{
    struct orch_chart *const charts[] = {(struct orch_chart *)(uintptr_t)chart};
    g_auto(GStrv) all = orch_charts_svg(charts, 1, id, error);
    return all ? g_strdup(all[0]) : NULL;
}
