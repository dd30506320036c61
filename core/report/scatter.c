/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/scatter.h"

#include "lib/base/error.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const char *terminal_of(const char *path)
{
    if (g_str_has_suffix(path, ".svg"))
        return "svg size 900,600 dynamic font 'sans,12' background '#ffffff'";
    if (g_str_has_suffix(path, ".png"))
        return "pngcairo size 1350,900 font 'sans,15'";
    if (g_str_has_suffix(path, ".pdf"))
        return "pdfcairo size 18cm,12cm font 'sans,10'";
    return NULL;
}

/* Text within gnuplot's double quotes. */
static void append_text(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            g_string_append_c(out, '\\');
        if ((unsigned char)*text >= ' ')
            g_string_append_c(out, *text);
    }
    g_string_append_c(out, '"');
}

static void append_points(GString *out, const char *name, const struct orch_scatter_point *points,
                          size_t count, bool marked)
{
    g_string_append_printf(out, "$%s << END\n", name);
    for (size_t i = 0; i < count; i++) {
        if (points[i].is_marked != marked)
            continue;
        g_string_append_printf(out, "%.17g %.17g ", points[i].x, points[i].y);
        append_text(out, points[i].label);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, "END\n");
}

/* 1, 2, 5 of every decade within the range. */
static void append_tics(GString *out, const char *axis, double low, double high)
{
    static const double steps[] = {1, 2, 5};
    g_string_append_printf(out, "set %stics (", axis);
    bool first = true;
    for (double decade = pow(10, floor(log10(low))); decade <= high; decade *= 10) {
        for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
            double at = decade * steps[i];
            if (at < low || at > high)
                continue;
            g_string_append_printf(out, "%s\"%g\" %.17g", first ? "" : ", ", at, at);
            first = false;
        }
    }
    g_string_append(out, ")\n");
}

static char *script_of(const char *terminal, const char *path, const char *title,
                       const char *x_label, const char *y_label,
                       const struct orch_scatter_point *points, size_t count)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "set terminal %s\nset output ", terminal);
    append_text(out, path);
    g_string_append(out, "\nset title ");
    append_text(out, title);
    g_string_append(out, " noenhanced\nset xlabel ");
    append_text(out, x_label);
    g_string_append(out, "\nset ylabel ");
    append_text(out, y_label);
    g_string_append(out,
                    "\nset logscale xy\nset grid linecolor rgb '#dddddd'\nset key top right\n");
    struct orch_scatter_point low = points[0], high = points[0];
    for (size_t i = 1; i < count; i++) {
        low.x = MIN(low.x, points[i].x);
        low.y = MIN(low.y, points[i].y);
        high.x = MAX(high.x, points[i].x);
        high.y = MAX(high.y, points[i].y);
    }
    g_string_append_printf(out, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", low.x / 1.3,
                           high.x * 1.8, low.y / 1.5, high.y * 1.8);
    append_tics(out, "x", low.x / 1.3, high.x * 1.8);
    append_tics(out, "y", low.y / 1.5, high.y * 1.8);
    append_points(out, "others", points, count, false);
    append_points(out, "marked", points, count, true);
    g_string_append(
        out, "plot $others using 1:2 with points pt 7 ps 0.6 lc rgb '#999999' title 'others', "
             "$marked using 1:2 with linespoints pt 7 ps 1.1 lw 1.5 lc rgb '#0060a8' title "
             "'Pareto: nothing is both faster and cheaper', "
             "$marked using 1:2:3 with labels noenhanced left offset 0.8,0.5 font ',10' notitle\n");
    return g_string_free(out, FALSE);
}

static bool run_gnuplot(const char *script_path, GError **error)
{
    const char *argv[] = {"gnuplot", script_path, NULL};
    g_autofree char *said = NULL;
    g_autoptr(GError) failed = NULL;
    int status = 0;
    if (!g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL,
                      G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                      &status, &failed)) {
        orch_error_set(error, ORCH_ERROR_IO, "apt install gnuplot-nox", "cannot start gnuplot: %s",
                       failed->message);
        return false;
    }
    if (g_spawn_check_wait_status(status, NULL))
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "gnuplot failed: %s", g_strstrip(said));
    return false;
}

bool orch_scatter_write(const char *path, const char *title, const char *x_label,
                        const char *y_label, const struct orch_scatter_point *points, size_t count,
                        GError **error)
{
    const char *terminal = terminal_of(path);
    if (!terminal || !count) {
        orch_error_set(error, ORCH_ERROR_USAGE, terminal ? NULL : "FILE.svg, FILE.png or FILE.pdf",
                       terminal ? "there is nothing to draw in '%s'"
                                : "'%s' has no ending that says what to draw",
                       path);
        return false;
    }
    g_autofree char *folder = g_dir_make_tmp("orch-chart-XXXXXX", NULL);
    if (!folder) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot make a temporary folder");
        return false;
    }
    g_autofree char *script = g_build_filename(folder, "chart.gp", NULL);
    g_autofree char *drawn = g_build_filename(folder, "chart", NULL);
    g_autofree char *text = script_of(terminal, drawn, title, x_label, y_label, points, count);
    g_autofree char *bytes = NULL;
    g_autoptr(GError) failed = NULL;
    gsize length = 0;
    bool ok = g_file_set_contents(script, text, -1, NULL) && run_gnuplot(script, error);
    if (ok && !(g_file_get_contents(drawn, &bytes, &length, &failed) &&
                g_file_set_contents(path, bytes, (gssize)length, &failed))) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': %s", path, failed->message);
        ok = false;
    }
    unlink(script);
    unlink(drawn);
    rmdir(folder);
    return ok;
}
