/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/paleo/roofline_chart.h"

#include "core/report/trials.h"
#include "lib/base/csv.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/devices/ceilings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BYTES_MAX (4 << 20)
#define NAMED_MOST 5 /* measured layers; of others only two, because all lie on the same line */
#define NAMED_PREDICTED 2
#define ROOF_ROOM 40.0 /* a factor on the axis, for the names of the roofs */

/* ---- layers ---------------------------------------------------------------------------------- */

static void clear_dot(void *data)
{
    struct orch_roofline_dot *dot = data;
    g_free(dot->name);
    g_free(dot->kind);
}

GArray *orch_roofline_dots_new(void)
{
    GArray *dots = g_array_new(FALSE, FALSE, sizeof(struct orch_roofline_dot));
    g_array_set_clear_func(dots, clear_dot);
    return dots;
}

static void add(GArray *dots, const char *name, const char *kind, double flops, double bytes,
                double seconds)
{
    if (!(flops > 0) || !(bytes > 0))
        return;
    struct orch_roofline_dot dot = {g_strdup(name), g_strdup(kind), flops, bytes, seconds};
    g_array_append_val(dots, dot);
}

void orch_roofline_dots_add(GArray *dots, const char *name, const char *kind, double flops,
                            double bytes)
{
    add(dots, name, kind, flops, bytes, (double)NAN);
}

unsigned orch_roofline_dots_add_run(GArray *dots, struct orch_store *store,
                                    const struct orch_run *run, const char *artifact,
                                    const char *precision)
{
    g_autofree char *path = orch_run_artifact(store, run, artifact, NULL);
    g_autofree char *text = NULL;
    size_t length;
    if (!path || !orch_file_read(path, TABLE_BYTES_MAX, &text, &length, NULL))
        return 0;
    struct orch_csv *csv = orch_csv_parse(artifact, text, length, NULL);
    if (!csv)
        return 0;
    const int name = orch_csv_find(csv, "layer"), kind = orch_csv_find(csv, "kind"),
              gflop = orch_csv_find(csv, "gflop"), mbytes = orch_csv_find(csv, "mbytes"),
              ms = orch_csv_find(csv, "ms"), as = orch_csv_find(csv, "precision");
    const unsigned before = dots->len;
    for (size_t i = 0;
         i < orch_csv_rows(csv) && MIN(MIN(name, kind), MIN(MIN(gflop, mbytes), ms)) >= 0; i++) {
        double operations, moved, took;
        if (precision && as >= 0 && strcmp(orch_csv_text(csv, i, as), precision) != 0)
            continue;
        if (orch_csv_real(csv, i, gflop, &operations, NULL) &&
            orch_csv_real(csv, i, mbytes, &moved, NULL) && orch_csv_real(csv, i, ms, &took, NULL) &&
            took > 0)
            add(dots, orch_csv_text(csv, i, name), orch_csv_text(csv, i, kind), operations * 1e9,
                moved * 1e6, took / 1e3);
    }
    orch_csv_free(csv);
    return dots->len - before;
}

/* ---- roofs ----------------------------------------------------------------------------------- */

double orch_roofline_attainable(const struct orch_roofline_roofs *roofs,
                                enum orch_precision precision, double intensity)
{
    return fmin(roofs->peaks[precision].rate, roofs->memory.rate * intensity);
}

struct range {
    double low, high;
};

/* Room beside the layers, on the right for the names of the roofs; the ridges of all roofs lie
 * within. */
static struct range range_of(const struct orch_roofline_roofs *roofs, const GArray *dots)
{
    struct range range = {INFINITY, 0};
    for (guint i = 0; i < dots->len; i++) {
        const struct orch_roofline_dot *dot = &g_array_index(dots, struct orch_roofline_dot, i);
        range.low = fmin(range.low, dot->flops / dot->bytes);
        range.high = fmax(range.high, dot->flops / dot->bytes);
    }
    for (int i = 0; i < ORCH_PRECISION_COUNT; i++)
        if (roofs->peaks[i].rate > 0) {
            double ridge = roofs->peaks[i].rate / roofs->memory.rate;
            range.low = fmin(range.low, ridge / 4);
            range.high = fmax(range.high, 3 * ridge);
        }
    return (struct range){range.low / 2, range.high * ROOF_ROOM};
}

static const enum orch_precision SHOWN[] = {ORCH_FP64, ORCH_FP32, ORCH_TF32, ORCH_FP16, ORCH_BF16};

static int compare_peaks(const void *a, const void *b, void *roofs)
{
    const struct orch_roof *peaks = ((const struct orch_roofline_roofs *)roofs)->peaks;
    enum orch_precision p = *(const enum orch_precision *)a, q = *(const enum orch_precision *)b;
    double x = peaks[p].rate, y = peaks[q].rate;
    return x != y ? (x > y) - (x < y) : (p > q) - (p < q);
}

/* "fp32 240 GFLOP/s", with a star when it is nominal and others are measured. */
static char *roof_label(const char *name, const char *unit, struct orch_roof roof, bool is_mixed)
{
    g_autofree char *rate = orch_ceiling_format(unit, roof.rate);
    return g_strdup_printf("%s %s%s", name, rate, is_mixed && !roof.is_measured ? " *" : "");
}

/* Draws the slope of memory, and each peak from its ridge to the right and back, as one line. */
static void add_roofs(struct orch_chart_panel *panel, const struct orch_roofline_roofs *roofs,
                      struct range x, double scale)
{
    enum orch_precision order[G_N_ELEMENTS(SHOWN)];
    memcpy(order, SHOWN, sizeof order);
    qsort_r(order, G_N_ELEMENTS(order), sizeof *order, compare_peaks, (void *)(uintptr_t)roofs);
    struct orch_chart_series *line = orch_chart_series(panel, "roofs", ORCH_SERIES_IDEAL);
    const double bandwidth = roofs->memory.rate;
    const bool is_mixed = roofs->when != NULL;
    bool is_first = true;
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
        const struct orch_roof roof = roofs->peaks[order[i]];
        const char *name = orch_precision_names()[order[i]];
        const double peak = roof.rate / scale, ridge = roof.rate / bandwidth;
        bool is_next_same =
            i + 1 < G_N_ELEMENTS(order) && roofs->peaks[order[i + 1]].rate == roof.rate;
        if (!(roof.rate > 0) || is_next_same)
            continue;
        if (is_first) {
            double middle = sqrt(x.low * ridge);
            orch_chart_add(line, x.low, x.low * bandwidth / scale);
            orch_chart_add(line, middle, middle * bandwidth / scale)->label =
                roof_label("memory", "B/s", roofs->memory, is_mixed);
        }
        is_first = false;
        bool is_twin = i > 0 && roofs->peaks[order[i - 1]].rate == roof.rate;
        g_autofree char *both =
            is_twin ? g_strdup_printf("%s, %s", orch_precision_names()[order[i - 1]], name)
                    : g_strdup(name);
        orch_chart_add(line, ridge, peak);
        orch_chart_add(line, x.high / sqrt(ROOF_ROOM), peak)->label =
            roof_label(both, "FLOP/s", roof, is_mixed);
        orch_chart_add(line, x.high, peak);
        orch_chart_add(line, ridge, peak);
    }
}

/* ---- the chart ------------------------------------------------------------------------------- */

static double time_of(const struct orch_roofline_dot *dot, const struct orch_roofline_roofs *roofs,
                      enum orch_precision precision)
{
    return isfinite(dot->s)
               ? dot->s
               : dot->flops / orch_roofline_attainable(roofs, precision, dot->flops / dot->bytes);
}

/* The time that only NAMED_MOST layers exceed. */
static double naming_threshold(const GArray *dots, const struct orch_roofline_roofs *roofs,
                               enum orch_precision precision, bool measured)
{
    double longest[NAMED_MOST] = {0};
    for (guint i = 0; i < dots->len; i++) {
        const struct orch_roofline_dot *dot = &g_array_index(dots, struct orch_roofline_dot, i);
        double s = time_of(dot, roofs, precision);
        for (int k = 0; k < NAMED_MOST && isfinite(dot->s) == measured; k++)
            if (s > longest[k]) {
                double less = longest[k];
                longest[k] = s;
                s = less;
            }
    }
    return longest[NAMED_MOST - 1];
}

static bool was_measured(const GArray *dots, const char *name)
{
    for (guint i = 0; i < dots->len; i++) {
        const struct orch_roofline_dot *dot = &g_array_index(dots, struct orch_roofline_dot, i);
        if (isfinite(dot->s) && strcmp(dot->name, name) == 0)
            return true;
    }
    return false;
}

static void add_dots(struct orch_chart_panel *panel, const GArray *dots,
                     const struct orch_roofline_roofs *roofs, enum orch_precision precision,
                     bool measured, bool named, double scale)
{
    const double threshold = naming_threshold(dots, roofs, precision, measured);
    int names_left = !named ? 0 : measured ? NAMED_MOST : NAMED_PREDICTED;
    for (guint i = 0; i < dots->len; i++) {
        const struct orch_roofline_dot *dot = &g_array_index(dots, struct orch_roofline_dot, i);
        if (isfinite(dot->s) != measured || (!measured && was_measured(dots, dot->name)))
            continue;
        double s = time_of(dot, roofs, precision);
        struct orch_chart_point *point = orch_chart_add(
            orch_chart_series(panel, dot->kind,
                              measured ? ORCH_SERIES_MEASURED : ORCH_SERIES_PREDICTED),
            dot->flops / dot->bytes, dot->flops / s / scale);
        g_autofree char *time = orch_duration_format(s);
        if (s >= threshold && names_left-- > 0)
            point->label = g_strdup_printf("%s %s", dot->name, time);
    }
}

struct orch_chart *orch_roofline_chart(const char *title, const struct orch_roofline_roofs *roofs,
                                       enum orch_precision precision, const GArray *dots)
{
    const double peak = roofs->peaks[precision].rate;
    if (!(peak > 0) || !(roofs->memory.rate > 0) || !dots->len)
        return NULL;
    const double scale = peak >= 5e12 ? 1e12 : 1e9;
    bool any = false, any_other = false, any_above = false;
    for (guint i = 0; i < dots->len; i++) {
        const struct orch_roofline_dot *dot = &g_array_index(dots, struct orch_roofline_dot, i);
        any = any || isfinite(dot->s);
        any_other = any_other || (!isfinite(dot->s) && !was_measured(dots, dot->name));
        any_above = any_above ||
                    dot->flops / dot->s >
                        1.02 * orch_roofline_attainable(roofs, precision, dot->flops / dot->bytes);
    }
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_SCATTER, title, "arithmetic intensity (FLOP/byte)",
                       scale > 1e10 ? "rate (TFLOP/s)" : "rate (GFLOP/s)");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    chart->log_x = chart->log_y = true;
    add_roofs(panel, roofs, range_of(roofs, dots), scale);
    add_dots(panel, dots, roofs, precision, true, true, scale);
    add_dots(panel, dots, roofs, precision, false, !any, scale);
    bool is_mixed = false;
    for (size_t i = 0; i < G_N_ELEMENTS(SHOWN); i++)
        is_mixed = is_mixed || (roofs->when && roofs->peaks[SHOWN[i]].rate > 0 &&
                                !roofs->peaks[SHOWN[i]].is_measured);
    g_autofree char *source =
        roofs->when ? g_strdup_printf("roofs: measured on %.10s%s", roofs->when,
                                      is_mixed ? " (* nominal, from the data sheet)" : "")
                    : g_strdup("roofs: nominal, from the data sheet");
    chart->note = g_strdup_printf(
        "%s. %s%s Left of a roof's corner, memory limits a layer; right of it, the %s units do.%s",
        source, any ? "Filled: measured." : "",
        any_other ? any ? " Hollow: at the least time that the roofs allow."
                        : "Layers are drawn at the least time that the roofs allow."
                  : "",
        orch_precision_names()[precision],
        any_above ? " A layer above a roof may have had its data in caches." : "");
    return chart;
}
