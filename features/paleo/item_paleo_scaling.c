/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `paleo_scaling`: PALEO's forecast of data-parallel training for several numbers of
 * workers, with measured and simulated trainings beside it: three charts (throughput, time of an
 * epoch, cost of an epoch) and the errors of the throughputs. Time and cost of every series follow
 * from its throughput by the same formulas, so that no series has a definition of its own. */
#include "core/report/answer.h"
#include "core/report/items.h"

#include "core/stats/numbers.h"
#include "features/paleo/paleo_spec.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/paleo/paleo.h"

#include <math.h>
#include <string.h>

#define WORKERS_MAX 64
#define DEFAULT_IMAGES 50000
#define THROUGHPUT "result throughput"

/* The price of the assignments is that of a K80. */
#define CORE_PRICE                                                                                 \
    "made-up price of a worker for an hour, so use the costs only to compare the series"

enum source { PREDICTED, MEASURED, SIMULATED, SOURCES };

static const struct {
    const char *name, *key; /* key of the item that lists its experiments; NULL: computed here */
    enum orch_series_role role;
} SERIES[SOURCES] = {{"predicted (PALEO)", NULL, ORCH_SERIES_PREDICTED},
                     {"measured", "experiments", ORCH_SERIES_MEASURED},
                     {"simulated (SimGrid)", "simulated", ORCH_SERIES_REFERENCE}};

struct scaling_item {
    struct orch_section_context *a;
    struct orch_paleo_options options;
    const char *net, *show; /* show: "charts", "errors" or "all" */
    double images, price;
    int64_t workers[WORKERS_MAX];
    int count;
    bool has[SOURCES];
    bool is_calibrated;                      /* PPP of computing: from the measured single worker */
    double throughput[SOURCES][WORKERS_MAX]; /* images/s; NaN: none */
};

/* ---- options of the item --------------------------------------------------------------------- */

static bool read_workers(struct scaling_item *s, const json_t *spec)
{
    g_autoptr(GPtrArray) texts = orch_texts_from_json(json_object_get(spec, "workers"));
    for (guint i = 0; i < texts->len && s->count < WORKERS_MAX; i++)
        s->count += orch_int_parse(texts->pdata[i], &s->workers[s->count]);
    return s->count;
}

static bool read_scaling(struct scaling_item *s, const json_t *spec, GError **error)
{
    const char *name = orch_json_text(spec, "scaling", "strong");
    s->options.scaling = strcmp(name, "weak") == 0 ? ORCH_PALEO_WEAK : ORCH_PALEO_STRONG;
    if (strcmp(name, "weak") == 0 || strcmp(name, "strong") == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "use strong or weak", "unknown scaling '%s'", name);
    return false;
}

static bool read_spec(struct scaling_item *s, GError **error)
{
    const json_t *spec = s->a->item->spec;
    const char *scheme = orch_json_text(spec, "scheme", "TreeAllReduce");
    s->options = orch_paleo_defaults();
    s->options.batch = (int64_t)orch_paleo_spec_number(spec, "batch", 128);
    s->options.ppp_comp = orch_paleo_spec_number(spec, "ppp", 1);
    s->options.ppp_comm = orch_paleo_spec_number(spec, "ppp_comm", s->options.ppp_comp);
    s->net = orch_json_text(spec, "net", "");
    s->show = orch_json_text(spec, "show", "all");
    s->is_calibrated = orch_item_flag(spec, "calibrate");
    s->images = orch_paleo_spec_number(spec, "images", DEFAULT_IMAGES);
    s->price = orch_paleo_spec_number(spec, "price", (double)NAN);
    read_workers(s, spec);
    for (int i = 0; i < SOURCES; i++)
        s->has[i] = !SERIES[i].key || json_object_get(spec, SERIES[i].key);
    return orch_paleo_spec_device(orch_json_text(spec, "gpu", "paleo:K80"), &s->options.device,
                                  error) &&
           orch_paleo_scheme_find(scheme, &s->options.scheme, error) &&
           orch_paleo_spec_link(spec, &s->options, error) && read_scaling(s, spec, error);
}

/* ---- throughputs ----------------------------------------------------------------------------- */

/* The measured throughput of one worker; NaN: not measured. */
static double measured_alone(const struct scaling_item *s)
{
    for (int i = 0; s->has[MEASURED] && i < s->count; i++)
        if (s->workers[i] == 1)
            return s->throughput[MEASURED][i];
    return (double)NAN;
}

/* PPP of computing, so that the forecast for one worker is its measured throughput: PALEO divides
 * the forward and backward pass by PPP, and not the update. */
static bool calibrate(struct scaling_item *s, const struct orch_layer_table *layers, GError **error)
{
    struct orch_paleo_step full;
    const double throughput = measured_alone(s);
    s->options.ppp_comp = 1;
    if (!orch_paleo_simulate(layers, &s->options, 1, &full, error))
        return false;
    const double step_ms = 1000 * (double)full.effective_batch / throughput;
    const double share = (full.fwd_ms + full.bwd_ms) / (step_ms - full.update_ms);
    if (share > 0 && share <= 1) {
        s->options.ppp_comp = share;
        return true;
    }
    if (isnan(throughput))
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "'calibrate' needs a training with one worker, and none was measured");
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "'calibrate': one worker trained %.4g images/s, which is more than the peak "
                       "of PALEO's %s allows (%.4g); name another GPU",
                       throughput, s->options.device.name, full.images_per_s);
    return false;
}

static bool predict(struct scaling_item *s, GError **error)
{
    struct orch_layer_table *layers = orch_paleo_layers(s->net, NULL, error);
    if (!layers)
        return false;
    bool ok = !s->is_calibrated || calibrate(s, layers, error);
    for (int i = 0; ok && i < s->count; i++) {
        struct orch_paleo_step step;
        ok = orch_paleo_simulate(layers, &s->options, s->workers[i], &step, error);
        s->throughput[PREDICTED][i] = ok ? step.images_per_s : (double)NAN;
    }
    const struct orch_layer_shape input = orch_layer_at(layers, 0)->out;
    const bool is_own = orch_paleo_net_is_own(s->net);
    if (ok)
        orch_section_note(
            s->a->section, "%s %s%s (%" G_GINT64_FORMAT " parameters), on images of %dx%dx%d%s",
            is_own ? "the prediction is for the network" : "all series are for", s->net,
            is_own ? " from PALEO's repository" : "", orch_layer_table_params(layers), (int)input.c,
            (int)input.h, (int)input.w,
            is_own ? ". The other series use orch's network, which has batch normalisation" : "");
    orch_layer_table_free(layers);
    return ok;
}

/* Reads the throughputs of an experiment's trials by workers, and records its trials. */
static bool read_trials(struct scaling_item *s, enum source source, GError **error)
{
    g_autoptr(json_t) value = json_string(THROUGHPUT);
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(value);
    g_autoptr(GPtrArray) rows = g_ptr_array_new(), none = g_ptr_array_new();
    g_ptr_array_add(rows, (gpointer)(uintptr_t) "workers");
    struct orch_trials *trials = orch_section_trials(s->a, SERIES[source].key, error);
    struct orch_grid *grid = trials ? orch_grid_new(trials, wanted, rows, none, error) : NULL;
    for (int i = 0; grid && i < s->count; i++) {
        g_autofree char *row = g_strdup_printf("%" G_GINT64_FORMAT, s->workers[i]);
        const struct orch_grid_cell *cell = orch_grid_at(grid, row, "");
        s->throughput[source][i] =
            cell && cell->done ? orch_grid_spread(grid, cell, 0).stat.mean : (double)NAN;
    }
    s->has[source] = false; /* without a number it has no line, no column and no errors */
    for (int i = 0; i < s->count; i++)
        s->has[source] |= isfinite(s->throughput[source][i]);
    for (guint i = 0; grid && i < trials->all->len; i++)
        orch_section_trial(s->a->section, trials, trials->all->pdata[i]);
    if (grid)
        orch_section_add_missing_trials(s->a, trials);
    const bool ok = grid;
    orch_grid_free(grid);
    orch_trials_free(trials);
    return ok;
}

/* ---- tables and charts ----------------------------------------------------------------------- */

enum quantity { THROUGHPUT_IMAGES_S, EPOCH_S, COST_USD, QUANTITIES };

static const char *const AXES[QUANTITIES] = {"throughput (images/s)", "time of an epoch (s)",
                                             "cost of an epoch (USD)"};

static double quantity_of(const struct scaling_item *s, enum quantity quantity, enum source source,
                          int i)
{
    const double throughput = s->throughput[source][i], epoch_s = s->images / throughput;
    return quantity == THROUGHPUT_IMAGES_S ? throughput
           : quantity == EPOCH_S           ? epoch_s
                                           : epoch_s / 3600 * (double)s->workers[i] * s->price;
}

static void add_chart(const struct scaling_item *s, enum quantity quantity)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, NULL, "workers", AXES[quantity]);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    for (int k = 0; k < SOURCES; k++) {
        for (int i = 0; s->has[k] && i < s->count; i++) {
            const double y = quantity_of(s, quantity, (enum source)k, i);
            if (isfinite(y))
                orch_chart_add(orch_chart_series(panel, SERIES[k].name, SERIES[k].role),
                               (double)s->workers[i], y);
        }
    }
    orch_section_chart(s->a->section, chart);
}

static void add_table(const struct scaling_item *s, enum quantity quantity)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(headers, g_strdup("workers"));
    for (int k = 0; k < SOURCES; k++)
        if (s->has[k])
            g_ptr_array_add(headers, g_strdup_printf(">%s: %s", SERIES[k].name, AXES[quantity]));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (int k = 0, column = 1; k < SOURCES; k++)
        if (s->has[k])
            orch_table_set_heading(table, column++, AXES[quantity], SERIES[k].name);
    for (int i = 0; i < s->count; i++) {
        orch_table_add_int(table, s->workers[i]);
        for (int k = 0; k < SOURCES; k++)
            if (s->has[k])
                orch_table_add_real(table, quantity_of(s, quantity, (enum source)k, i));
    }
    orch_section_table(s->a->section, table);
}

/* Errors against the measured throughput: of the forecast, whose mean is answered, and of the
 * simulation. */
static void add_errors(const struct scaling_item *s, GString *answer)
{
    const char *headers[] = {"workers", ">PALEO: error (%)",
                             s->has[SIMULATED] ? ">SimGrid: error (%)" : NULL, NULL};
    struct orch_table *table = orch_table_new(headers);
    for (unsigned c = 1; c < orch_table_columns(table); c++)
        orch_table_set_heading(table, c, "error of the throughput (%)",
                               c == 1 ? "PALEO" : "simulation (SimGrid)");
    g_autoptr(GString) judged = g_string_new(NULL); /* numbers of workers: "2, 4" */
    g_autoptr(GArray) errors = orch_answer_entries_new();
    double sum[SOURCES] = {0};
    int found = 0;
    for (int i = 0; i < s->count; i++) {
        const double measured = s->throughput[MEASURED][i];
        const bool is_judged = isfinite(measured) && !(s->is_calibrated && s->workers[i] == 1);
        orch_table_add_int(table, s->workers[i]);
        found += is_judged;
        if (is_judged)
            g_string_append_printf(judged, "%s%" G_GINT64_FORMAT, judged->len ? ", " : "",
                                   s->workers[i]);
        for (int k = 0; k < SOURCES; k++) {
            if (k == MEASURED || !s->has[k])
                continue;
            const double error = 100 * (s->throughput[k][i] - measured) / measured;
            if (k == PREDICTED && isfinite(measured) && !is_judged)
                orch_table_add(table, "0 (fitted)", orch_json_finite(0)); /* by the calibration */
            else
                orch_table_add_real(table, error);
            sum[k] += is_judged && isfinite(error) ? fabs(error) : 0;
            if (is_judged && k == PREDICTED) {
                g_autofree char *label = g_strdup_printf("%" G_GINT64_FORMAT " worker%s",
                                                         s->workers[i], orch_plural(s->workers[i]));
                orch_answer_entries_add(errors, label, error, (double)NAN, (double)NAN);
            }
        }
    }
    orch_section_table(s->a->section, table);
    orch_section_note(s->a->section, "error: 100 (predicted - measured) / measured");
    orch_answer_entries_append(answer, errors, "error of the throughput that PALEO predicts", "%");
    if (found > 1)
        g_string_append_printf(answer,
                               "%smean of the absolute errors of PALEO: %.3g %% of the measured "
                               "throughput, with %s worker%s",
                               answer->len ? ". " : "", sum[PREDICTED] / found, judged->str,
                               g_str_equal(judged->str, "1") ? "" : "s");
}

/* PALEO's repository calls another device by the same name: the whole board of a K80, of which the
 * others are one GPU. What it predicts for that. */
static void note_own_device(const struct scaling_item *s)
{
    g_autofree char *name = g_strdup_printf("paleo:%s", s->options.device.name);
    const struct orch_paleo_device *own = orch_paleo_device_find(name, NULL);
    struct orch_paleo_options options = s->options;
    struct orch_layer_table *layers = own && own->peak_gflops != options.device.peak_gflops
                                          ? orch_paleo_layers(s->net, NULL, NULL)
                                          : NULL;
    if (!layers)
        return;
    options.device = *own;
    g_autoptr(GString) rates = g_string_new(NULL);
    for (int i = 0; i < s->count; i++) {
        struct orch_paleo_step step;
        if (orch_paleo_simulate(layers, &options, s->workers[i], &step, NULL))
            g_string_append_printf(rates, "%s%.4g images/s with %" G_GINT64_FORMAT " worker%s",
                                   rates->len ? ", " : "", step.images_per_s, s->workers[i],
                                   orch_plural(s->workers[i]));
    }
    orch_section_note(
        s->a->section,
        "PALEO's repository states %g GFLOP/s and %g GiB/s for the %s. With these, PALEO "
        "predicts %s",
        own->peak_gflops, own->bandwidth_gib_s, own->name, rates->str);
    orch_layer_table_free(layers);
}

static void add_method(const struct scaling_item *s)
{
    const struct orch_paleo_options *o = &s->options;
    const bool is_own =
        g_str_has_prefix(orch_json_text(s->a->item->spec, "gpu", "paleo:"), "paleo:");
    orch_section_note(s->a->section,
                      "predicted: by PALEO for %s %s (%g GFLOP/s, %.4g GiB/s). PALEO's "
                      "prediction is for %s, %s scaling, batch %" G_GINT64_FORMAT
                      " and the link %s (%g Gbit/s). PPP is the share of the peak that programs "
                      "reach: %g in computing and %g in communication",
                      is_own ? "PALEO's device" : "one", o->device.name, o->device.peak_gflops,
                      o->device.bandwidth_gib_s, orch_paleo_scheme_name(o->scheme),
                      o->scaling == ORCH_PALEO_STRONG ? "strong" : "weak", o->batch,
                      o->network.name, o->network.gbit_s, o->ppp_comp, o->ppp_comm);
    if (s->is_calibrated)
        orch_section_note(s->a->section, "PPP is fitted to the measured throughput of one worker, "
                                         "so only the numbers for more workers test the model");
    if (strcmp(s->show, "errors") != 0)
        orch_section_note(s->a->section, "time of an epoch = %g images / throughput", s->images);
    note_own_device(s);
    if (isfinite(s->price) && strcmp(s->show, "errors") != 0)
        orch_section_note(s->a->section, "cost of an epoch = its hours x workers x $%g (the %s)",
                          s->price,
                          o->device.is_gpu ? "price of a worker for an hour" : CORE_PRICE);
    if (s->has[SIMULATED])
        orch_section_note(
            s->a->section,
            "simulated: computed by SimGrid ('orch plugin show simcluster'), so no machine ran "
            "these trainings");
}

/* A series' first and last number of workers that have a throughput. False: none has. */
static bool ends_of(const struct scaling_item *s, enum source source, int *first, int *last)
{
    *first = *last = -1;
    for (int i = 0; s->has[source] && i < s->count; i++)
        if (isfinite(s->throughput[source][i])) {
            *first = *first < 0 ? i : *first;
            *last = i;
        }
    return *first >= 0;
}

/* Three digits are more than a forecast is good for. The caller frees. */
static char *rounded(double value)
{
    return g_strdup_printf(fabs(value) < 999.5 ? "%.3g" : "%.0f", value);
}

/* "measured with 1 worker: 968 images/s. An epoch takes 51.6 s and costs 0.013 USD", and the
 * same with most workers */
static void answer_series(const struct scaling_item *s, enum source source, GString *answer)
{
    int first, last;
    if (!ends_of(s, source, &first, &last))
        return;
    for (int i = first; i <= last; i += last > first ? last - first : 1) {
        g_autofree char *rate = rounded(s->throughput[source][i]),
                        *time = rounded(quantity_of(s, EPOCH_S, source, i)),
                        *cost = rounded(quantity_of(s, COST_USD, source, i));
        g_string_append_printf(answer,
                               "%s%s, %" G_GINT64_FORMAT " worker%s: %s images/s. An "
                               "epoch takes %s s",
                               answer->len ? ". " : "", SERIES[source].name, s->workers[i],
                               orch_plural(s->workers[i]), rate, time);
        if (isfinite(s->price))
            g_string_append_printf(answer, " and costs %s USD", cost);
    }
}

/* "PALEO predicts 1.42 times the simulated throughput with 1 worker, and 1.21 times with 8" */
static void answer_quotients(const struct scaling_item *s, GString *answer)
{
    const enum source other = s->has[MEASURED] ? MEASURED : SIMULATED;
    int first, last, said = 0;
    if (!ends_of(s, other, &first, &last))
        return;
    for (int i = first; i <= last; i += last > first ? last - first : 1) {
        const double quotient = s->throughput[PREDICTED][i] / s->throughput[other][i];
        if (!isfinite(quotient) || (s->is_calibrated && s->workers[i] == 1))
            continue;
        if (said++)
            g_string_append_printf(answer, ", and %.3g times with", quotient);
        else
            g_string_append_printf(answer, "%sPALEO predicts %.3g times the %s throughput with",
                                   answer->len ? ". " : "", quotient,
                                   other == MEASURED ? "measured" : "simulated");
        g_string_append_printf(answer, " %" G_GINT64_FORMAT "%s", s->workers[i],
                               said > 1             ? ""
                               : s->workers[i] == 1 ? " worker"
                                                    : " workers");
    }
}

static void show(const struct scaling_item *s)
{
    g_autoptr(GString) answer = g_string_new(NULL);
    if (strcmp(s->show, "errors") != 0) {
        answer_quotients(s, answer);
        for (int k = 0; k < SOURCES; k++)
            answer_series(s, (enum source)k, answer);
    }
    for (int q = 0; q < QUANTITIES && strcmp(s->show, "errors") != 0; q++) {
        if (q == COST_USD && !isfinite(s->price))
            continue;
        add_chart(s, (enum quantity)q);
        add_table(s, (enum quantity)q);
    }
    if (s->has[MEASURED] && strcmp(s->show, "charts") != 0)
        add_errors(s, answer);
    if (answer->len)
        orch_section_answer(s->a->section, "%s", answer->str);
    add_method(s);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct scaling_item s = {.a = a};
    GError *problem = NULL;
    bool ok = read_spec(&s, &problem);
    for (int k = 0; ok && k < SOURCES; k++)
        if (SERIES[k].key && s.has[k] && !read_trials(&s, (enum source)k, error))
            return false;
    if (ok && predict(&s, &problem)) {
        show(&s);
        return true;
    }
    orch_section_missing(a->section, NULL, "%s", problem->message);
    g_clear_error(&problem);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "net", .shape = ORCH_SHAPE_TEXT, .is_required = true},
    {.name = "workers", .shape = ORCH_SHAPE_COUNTS, .is_required = true},
    {.name = "gpu", .shape = ORCH_SHAPE_TEXT},
    {.name = "batch", .shape = ORCH_SHAPE_COUNT},
    {.name = "scaling", .shape = ORCH_SHAPE_TEXT},
    {.name = "scheme", .shape = ORCH_SHAPE_TEXT},
    {.name = "link", .shape = ORCH_SHAPE_TEXT},
    {.name = "ppp", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "ppp_comm", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "calibrate", .shape = ORCH_SHAPE_FLAG},
    {.name = "images", .shape = ORCH_SHAPE_COUNT},
    {.name = "price", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "show", .shape = ORCH_SHAPE_TEXT},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "simulated", .shape = ORCH_SHAPE_EXPERIMENTS, .is_required = true},
    {0}};

const struct orch_report_kind ORCH_REPORT_PALEO_SCALING = {
    .name = "paleo_scaling",
    .divides_times = true,
    .keys = KEYS,
    .fill = fill,
};
