/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of loss curves: measured points with the fitted curve, and predicted curves with their
 * band and the measured ones. Losses of single steps scatter by 10 to 25 %, so curves of several
 * runs would hide one another. A measured point is therefore a mean over a range of steps. */
#include "features/curve/curve_items.h"

#include <math.h>
#include <string.h>

/* Maximum number of measured points of a run, and number of points of a fitted line. */
enum { STRETCHES = 40, LINE_POINTS = 120 };

static const char *unit_of(const struct orch_run_curve *c)
{
    return c->is_by_epoch ? "epoch" : "step";
}

static struct orch_chart *chart_new(enum orch_chart_kind kind, const char *title,
                                    const struct orch_run_curve *like)
{
    g_autofree char *loss = g_strdup(like->metric);
    return orch_chart_new(kind, title, unit_of(like), g_strdelimit(loss, "_", ' '));
}

/* Adds means over equal ranges of k, or the points themselves when there are few. */
static void add_measured(struct orch_chart_series *series, const struct orch_run_curve *c)
{
    double last = c->k[c->count - 1], width = last / STRETCHES;
    if (c->count <= 2 * STRETCHES)
        width = 0;
    for (size_t i = 0; i < c->count;) {
        double k = 0, loss = 0, end = width > 0 ? width * (floor(c->k[i] / width) + 1) : 0;
        size_t first = i;
        do {
            k += c->k[i];
            loss += c->loss[i++];
        } while (i < c->count && c->k[i] < end);
        double count = (double)(i - first);
        orch_chart_add(series, k / count, loss / count)->n = 1;
    }
}

/* Starts at the first measured point, because a fitted curve can rise without bound before it. */
static void add_line(struct orch_chart_series *series, const struct orch_stages *stages,
                     const struct orch_run_curve *c, double band)
{
    double first = c->k[0], last = c->k[c->count - 1];
    for (int i = 0; i < LINE_POINTS; i++) {
        double k = first + (last - first) * i / (LINE_POINTS - 1);
        double loss = orch_stages_loss(stages, k);
        struct orch_chart_point *point = orch_chart_add(series, k, loss);
        point->low = loss * (1 - band);
        point->high = loss * (1 + band);
    }
}

/* ---- fitted ---------------------------------------------------------------------------------- */

static char *net_title(const struct orch_curve_set *set, const struct orch_curve_set_cell *cell)
{
    const char *variant = set->variants->pdata[cell->variant];
    return g_strconcat(orch_curve_set_net(set, cell->net)->name, *variant ? " " : "", variant,
                       NULL);
}

static char *series_name(const struct orch_curve_set *set, const struct orch_curve_set_cell *cell,
                         bool with_repeat)
{
    const char *device = orch_curve_set_device(set, cell->device);
    return with_repeat ? g_strdup_printf("%s #%d", device, cell->repeat) : g_strdup(device);
}

void orch_curve_set_chart(const struct orch_curve_set *set, struct orch_section *section)
{
    struct orch_chart *chart = NULL;
    bool with_repeat = false;
    for (guint i = 0; i < set->cells->len; i++)
        with_repeat =
            with_repeat || ((struct orch_curve_set_cell *)set->cells->pdata[i])->repeat > 1;
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (!cell->fit.stages)
            continue;
        if (!chart)
            chart = chart_new(ORCH_CHART_SCATTER, "Measured loss and fitted curve", cell->curve);
        g_autofree char *title = net_title(set, cell);
        g_autofree char *name = series_name(set, cell, with_repeat);
        struct orch_chart_panel *panel = orch_chart_panel(chart, title);
        add_measured(orch_chart_series(panel, name, ORCH_SERIES_MEASURED), cell->curve);
        add_line(orch_chart_series(panel, name, ORCH_SERIES_FITTED), cell->fit.stages, cell->curve,
                 (double)NAN);
    }
    if (!chart)
        return;
    chart->note =
        g_strdup_printf("points: means over at most %d equal parts of the training", STRETCHES);
    orch_section_chart(section, chart);
}

/* ---- predicted ------------------------------------------------------------------------------- */

void orch_heldout_curves_chart(const struct orch_heldout_curve *held, size_t count, double band,
                               struct orch_section *section)
{
    if (!count)
        return;
    g_autofree char *title = g_strdup_printf("%s, left out: predicted and measured", held[0].net);
    struct orch_chart *chart = chart_new(ORCH_CHART_LINE, title, held[0].measured);
    for (size_t i = 0; i < count; i++) {
        const struct orch_heldout_curve *h = &held[i];
        bool is_same = strcmp(h->net, held[0].net) == 0;
        g_autofree char *place =
            is_same ? g_strdup(h->device) : g_strdup_printf("%s, %s", h->net, h->device);
        struct orch_chart_panel *panel = orch_chart_panel(chart, place);
        add_measured(orch_chart_series(panel, "measured", ORCH_SERIES_MEASURED), h->measured);
        add_line(orch_chart_series(panel, "predicted", ORCH_SERIES_PREDICTED), h->predicted,
                 h->measured, band);
    }
    g_autofree char *what =
        isnan(band)
            ? g_strdup("no band: it needs at least 3 networks")
            : g_strdup_printf("band: the forecast +- %.1f %%. That is the largest mean error "
                              "when each fitted network is predicted from the other fitted ones",
                              100 * band);
    chart->note = g_strdup_printf("points: means over at most %d equal parts of the training; %s",
                                  STRETCHES, what);
    orch_section_chart(section, chart);
}
