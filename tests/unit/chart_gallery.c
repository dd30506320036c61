/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/chart_gallery.h"

#include <math.h>

static struct orch_chart_series *series_of(struct orch_chart *chart, const char *panel,
                                           const char *name, enum orch_series_role role)
{
    return orch_chart_series(orch_chart_panel(chart, panel), name, role);
}

static void add_between(struct orch_chart_series *series, double x, double y, double by)
{
    struct orch_chart_point *point = orch_chart_add(series, x, y);
    point->low = y - by;
    point->high = y + by;
}

/* Falls from about 2.3 like a loss, with some waves. */
static double loss_at(double step, int which)
{
    return 0.2 + 0.05 * which + 2 * exp(-step / (40.0 + 30 * which)) +
           0.04 * sin(step / 3 + which) * exp(-step / 200);
}

static void add_curve(struct orch_chart_series *series, int which, int steps, double band)
{
    for (int i = 0; i < steps; i++) {
        double y = loss_at(i, which);
        if (band > 0)
            add_between(series, i, y, band * y);
        else
            orch_chart_add(series, i, y);
    }
}

static struct orch_chart *curves(int count, int steps, double band, bool is_log)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "Validation loss", "step", "loss (nats)");
    chart->log_y = is_log;
    for (int i = 0; i < count; i++) {
        g_autofree char *name = g_strdup_printf("lr 0.%d", i + 1);
        add_curve(series_of(chart, NULL, name, ORCH_SERIES_MEASURED), i, steps, band);
    }
    return chart;
}

static struct orch_chart *make_lines(void)
{
    return curves(3, 300, 0, false);
}

static struct orch_chart *make_bands(void)
{
    struct orch_chart *chart = curves(3, 200, 0.15, true);
    chart->note = g_strdup("bands: 95 % interval of the mean over 5 repeats of each setting");
    return chart;
}

static struct orch_chart *make_many_series(void)
{
    struct orch_chart *chart = curves(12, 40, 0, false);
    g_free(chart->title);
    chart->title = g_strdup("Twelve series");
    return chart;
}

static struct orch_chart *make_error_bars(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "Throughput with error bars", "batch size", "images/s");
    for (int s = 0; s < 2; s++) {
        struct orch_chart_series *series =
            series_of(chart, NULL, s ? "A100" : "V100", ORCH_SERIES_MEASURED);
        for (int i = 0; i < 6; i++)
            add_between(series, 16 << i, (s + 1) * 400 * (1 - exp(-(i + 1) / 2.0)), 25 + 10 * i);
    }
    chart->log_x = true;
    chart->note = g_strdup("bars: 95 % interval over 5 repeats");
    return chart;
}

static struct orch_chart *make_wide_intervals(void)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, "Two repeats", "epoch", "accuracy");
    struct orch_chart_series *series = series_of(chart, NULL, "vgg16", ORCH_SERIES_MEASURED);
    for (int i = 1; i <= 20; i++)
        add_between(series, i, 1 - 0.9 / i, i % 5 ? 0.05 : 3);
    return chart;
}

static struct orch_chart *make_runs(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "Few runs, each drawn", "epoch", "accuracy");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    for (int s = 0; s < 2; s++) {
        const char *name = s ? "with schedule" : "plain";
        struct orch_chart_series *mean = orch_chart_series(panel, name, ORCH_SERIES_MEASURED);
        for (int i = 1; i <= 12; i++)
            orch_chart_add(mean, i, 0.9 - 0.5 / (i + s));
        for (int run = 0; run < 3; run++) {
            struct orch_chart_series *one = orch_chart_run(panel, name);
            for (int i = 1; i <= 12; i++)
                orch_chart_add(one, i, 0.9 - 0.5 / (i + s) + 0.02 * (run - 1) * sin(i + run));
        }
    }
    chart->note = g_strdup("mean of 3 runs; each run is drawn as well");
    return chart;
}

static struct orch_chart *make_predicted(void)
{
    struct orch_chart *chart = orch_chart_new(
        ORCH_CHART_LINE, "Time of 30 epochs, measured and predicted", "batch", "wall time (s)");
    chart->log_x = true;
    for (int s = 0; s < 2; s++) {
        const char *name = s ? "resnet18" : "vgg16";
        struct orch_chart_series *measured = series_of(chart, NULL, name, ORCH_SERIES_MEASURED);
        struct orch_chart_series *predicted = series_of(chart, NULL, name, ORCH_SERIES_PREDICTED);
        for (int i = 0; i < 5; i++) {
            double y = (s ? 90 : 200) / sqrt(1 << i);
            add_between(measured, 8 << i, y, 5);
            add_between(predicted, 8 << i, y * 1.06, 22);
        }
    }
    return chart;
}

static struct orch_chart *make_scaling(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "Scaling", "workers", "images per second");
    chart->log_x = chart->log_y = true;
    for (int i = 0; i < 5; i++) {
        double workers = 1 << i;
        orch_chart_add(series_of(chart, NULL, "ideal", ORCH_SERIES_IDEAL), workers, 95 * workers);
        orch_chart_add(series_of(chart, NULL, "Doe 2020, table 2", ORCH_SERIES_REFERENCE), workers,
                       90 * pow(workers, 0.93));
        orch_chart_add(series_of(chart, NULL, "Roe 2021", ORCH_SERIES_REFERENCE), workers,
                       70 * pow(workers, 0.99));
        add_between(series_of(chart, NULL, "all-reduce", ORCH_SERIES_MEASURED), workers,
                    95 * pow(workers, 0.88), 9 * workers);
    }
    return chart;
}

static const struct {
    const char *name;
    double hours, usd;
} OFFERS[] = {
    {"H200", 1.1, 5.2},      {"H100 SXM", 1.3, 4.9},  {"H100 PCIe", 1.5, 4.1},
    {"A100 80GB", 2.4, 3.9}, {"A100 40GB", 2.5, 3.2}, {"L40S", 3.9, 2.9},
    {"RTX 4090", 4.1, 1.6},  {"RTX 3090", 7.8, 1.5},  {"V100", 7.1, 8.4},
    {"T4", 22, 7.7},         {"K80", 61, 14},         {"P100", 13, 9.5},
};

static struct orch_chart *make_pareto(void)
{
    struct orch_chart *chart = orch_chart_new(
        ORCH_CHART_SCATTER, "resnet50, batch 64: time and cost by GPU", "time (h)", "cost (USD)");
    chart->log_x = chart->log_y = true;
    double least = INFINITY;
    for (size_t i = 0; i < G_N_ELEMENTS(OFFERS); i++) {
        bool is_best = OFFERS[i].usd < least;
        least = fmin(least, OFFERS[i].usd);
        if (is_best)
            orch_chart_add(
                series_of(chart, NULL, "nothing is both faster and cheaper", ORCH_SERIES_IDEAL),
                OFFERS[i].hours, OFFERS[i].usd);
        orch_chart_add(
            series_of(chart, NULL, is_best ? "Pareto set" : "others", ORCH_SERIES_MEASURED),
            OFFERS[i].hours, OFFERS[i].usd)
            ->label = is_best ? g_strdup(OFFERS[i].name) : NULL;
    }
    chart->note = g_strdup("3 GPUs without a price not shown");
    return chart;
}

static struct orch_chart *make_scatter(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_SCATTER, "A cloud of 600 points", "gradient norm", "loss change");
    for (int s = 0; s < 3; s++) {
        static const char *const names[] = {"conv", "dense", "norm"};
        struct orch_chart_series *series = series_of(chart, NULL, names[s], ORCH_SERIES_MEASURED);
        for (int i = 0; i < 200; i++)
            orch_chart_add(series, s + fmod(i * 0.618, 1) * 2,
                           -1 + fmod(i * 0.7548, 1) * (s + 1) + 0.1 * s);
    }
    return chart;
}

static struct orch_chart *make_fitted(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_SCATTER, "Measured loss and fitted curve", "epoch", "train loss");
    static const char *const panels[] = {"alexnet", "resnet18 wide", "vgg16"};
    for (int p = 0; p < 3; p++)
        for (int s = 0; s < 2; s++) {
            const char *name = s ? "A100" : "V100";
            for (int i = 1; i <= 30; i++)
                orch_chart_add(series_of(chart, panels[p], name, ORCH_SERIES_MEASURED), i,
                               (2 + s) / sqrt(i) + 0.1 * p + 0.03 * sin(7 * i));
            for (int i = 2; i <= 60; i++)
                orch_chart_add(series_of(chart, panels[p], name, ORCH_SERIES_FITTED), i / 2.0,
                               (2 + s) / sqrt(i / 2.0) + 0.1 * p);
        }
    return chart;
}

static struct orch_chart *bars(const char *const *names, size_t count, int series_count)
{
    static const char *const series_names[] = {"SGD", "Adam", "AdamW", "Lion"};
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_BAR, "Final accuracy by network", "network", "accuracy");
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    for (int s = 0; s < series_count; s++)
        for (size_t i = 0; i < count; i++)
            add_between(series_of(chart, NULL, series_names[s], ORCH_SERIES_MEASURED),
                        orch_chart_category(chart->x_names, names[i]),
                        0.6 + 0.3 * fabs(sin(3.0 * s + (double)i)), 0.03);
    return chart;
}

static struct orch_chart *make_bars(void)
{
    static const char *const names[] = {"lenet", "vgg16", "resnet18", "vit"};
    return bars(names, G_N_ELEMENTS(names), 4);
}

static struct orch_chart *make_bars_long_names(void)
{
    static const char *const names[] = {"efficientnet_v2_large_in21k",
                                        "resnet18",
                                        "a network whose name is longer than the room",
                                        "vit_base_patch16_224",
                                        "mobilenet",
                                        "convnext_xxlarge",
                                        "densenet161",
                                        "alexnet"};
    return bars(names, G_N_ELEMENTS(names), 1);
}

static struct orch_chart *make_bars_log(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_BAR, "Parameters", "network", "parameters");
    chart->log_y = true;
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    static const char *const names[] = {"lenet", "resnet18", "vgg16", "gpt2"};
    static const double values[] = {61706, 11.7e6, 138e6, 1.5e9};
    for (int i = 0; i < 4; i++) {
        double at = orch_chart_category(chart->x_names, names[i]);
        orch_chart_add(series_of(chart, NULL, "published", ORCH_SERIES_MEASURED), at, values[i]);
        orch_chart_add(series_of(chart, NULL, "published", ORCH_SERIES_PREDICTED), at,
                       values[i] * 1.3);
    }
    return chart;
}

static struct orch_chart *make_boxes(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_BOX, "Time of a step", "network", "step time (ms)");
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    static const char *const names[] = {"lenet", "resnet18", "vgg16"};
    for (int n = 0; n < 3; n++)
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < 40; i++)
                orch_chart_add(series_of(chart, NULL, s ? "fp16" : "fp32", ORCH_SERIES_MEASURED),
                               orch_chart_category(chart->x_names, names[n]),
                               i == 39 ? 60 + 9 * n : 20 + 10 * n - 6 * s + fmod(i * 6.18, 10));
    return chart;
}

static struct orch_chart *make_histogram(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_HISTOGRAM, "Spread of the final loss", "final loss", "runs");
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 150; i++)
            orch_chart_add(series_of(chart, NULL, s ? "Adam" : "SGD", ORCH_SERIES_MEASURED), 0,
                           0.3 + 0.08 * s + 0.2 * (fmod(i * 0.618, 1) + fmod(i * 0.324, 1)));
    return chart;
}

static struct orch_chart *heat(const char *const *panels, size_t count)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_HEAT, "Best accuracy", "learning rate", "batch size");
    chart->z_label = g_strdup("best val accuracy");
    for (size_t p = 0; p < count; p++)
        for (int x = 0; x < 5; x++)
            for (int y = 0; y < 4; y++)
                orch_chart_add(series_of(chart, panels[p], NULL, ORCH_SERIES_MEASURED),
                               pow(10, x - 4), 32 << y)
                    ->z = x + y == 6 ? (double)NAN : 0.3 + 0.09 * x + 0.05 * y + 0.02 * (double)p;
    chart->note = g_strdup("empty frames: not run yet");
    return chart;
}

static struct orch_chart *make_heat(void)
{
    static const char *const alone[] = {NULL};
    return heat(alone, 1);
}

static struct orch_chart *make_heat_facets(void)
{
    static const char *const panels[] = {"vgg16", "resnet18", "vit"};
    return heat(panels, 3);
}

static struct orch_chart *make_facets(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "Loss by epoch and network", "epoch", "loss");
    static const char *const panels[] = {
        "lenet", "resnet18", "vgg16, with a name that is far longer than its panel is wide, really",
        "vit"};
    for (int p = 0; p < 4; p++)
        for (int s = 0; s < 3; s++) {
            g_autofree char *name = g_strdup_printf("batch %d", 32 << s);
            add_curve(series_of(chart, panels[p], name, ORCH_SERIES_MEASURED), p + s, 30, 0.05);
        }
    chart->log_y = true;
    return chart;
}

static struct orch_chart *make_long_labels(void)
{
    struct orch_chart *chart = curves(1, 20, 0, false);
    g_free(chart->title);
    g_free(chart->x_label);
    g_free(chart->y_label);
    chart->title =
        g_strdup("How the validation loss falls with the number of examples that were "
                 "seen, for each of the learning rates of the first part of the "
                 "assignment and WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW");
    chart->x_label = g_strdup("number of training examples that were seen since the beginning of "
                              "the training (thousands of examples, all workers together)");
    chart->y_label = g_strdup("mean cross entropy of the validation set, in nats per example");
    chart->note = g_strdup("a note that goes on and on: bands are the 95 % interval of the mean on "
                           "the log scale over five repeats, each with its own seed; runs of one "
                           "seed are averaged first; two runs that ended early are left out");
    static const char *const names[] = {
        "learning rate 0.1, momentum 0.9, weight decay 0.0005, cosine schedule",
        "learning rate 0.01 MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM", "iiiiiiiiiiiiiiiiiiiiiiiiiiiii"};
    for (int i = 0; i < 3; i++)
        add_curve(series_of(chart, NULL, names[i], ORCH_SERIES_MEASURED), i + 1, 20, 0);
    return chart;
}

static struct orch_chart *make_scripts(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_BAR, "Größe η = 10⁻³, β₂ = 0.999, Δt ≤ 5 µs → ∞", "μ (Ελληνικά)",
                       "√σ² ± ½ ‰ · 20 °C");
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    static const char *const names[] = {"Straße", "façade ñ", "кириллица", "αβγδε", "Łódź", "中文"};
    for (int i = 0; i < 6; i++)
        add_between(series_of(chart, NULL, "ε-greedy “quoted” — naïve", ORCH_SERIES_MEASURED),
                    orch_chart_category(chart->x_names, names[i]), i + 1, 0.3);
    return chart;
}

static struct orch_chart *make_time_axis(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "Loss over time", "wall time (s)", "tokens");
    for (int i = 0; i < 100; i++)
        orch_chart_add(series_of(chart, NULL, "", ORCH_SERIES_MEASURED), i * 4321.0, 1e4 * i * i);
    return chart;
}

static struct orch_chart *make_roofline(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_SCATTER, "Roofline of an A100", "FLOP per byte", "TFLOP/s");
    chart->log_x = chart->log_y = true;
    struct orch_chart_series *roof = series_of(chart, NULL, "roofline", ORCH_SERIES_IDEAL);
    orch_chart_add(roof, 0.5, 0.5 * 1.5);
    orch_chart_add(roof, 13, 19.5);
    orch_chart_add(roof, 500, 19.5);
    static const char *const names[] = {"conv1", "conv2", "conv3", "relu", "bn", "fc6", "fc7"};
    static const double at[][2] = {{40, 12},    {55, 13.5}, {60, 13.4}, {0.7, 0.8},
                                   {0.72, 0.7}, {2, 2.4},   {2.1, 2.2}};
    for (int i = 0; i < 7; i++)
        orch_chart_add(series_of(chart, NULL, "layers", ORCH_SERIES_MEASURED), at[i][0], at[i][1])
            ->label = g_strdup(names[i]);
    return chart;
}

static struct orch_chart *make_crowded_labels(void)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_SCATTER, "Names close together", "x", "y");
    for (int i = 0; i < 16; i++)
        orch_chart_add(series_of(chart, NULL, "points", ORCH_SERIES_MEASURED), 9 + (i % 4) * 0.1,
                       9 + (i / 4) * 0.1)
            ->label = g_strdup_printf("network number %d", i);
    orch_chart_add(series_of(chart, NULL, "points", ORCH_SERIES_MEASURED), 0, 0)->label =
        g_strdup("alone");
    return chart;
}

static struct orch_chart *make_negative(void)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_BAR, "Above and below 0", "optimizer", "gain (%)");
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    static const char *const names[] = {"SGD", "Adam", "Lion"};
    for (int i = 0; i < 3; i++)
        add_between(series_of(chart, NULL, "", ORCH_SERIES_MEASURED),
                    orch_chart_category(chart->x_names, names[i]), 4 - 5 * i, 1);
    return chart;
}

/* Texts that are code or markup elsewhere. */
static struct orch_chart *make_markup(void)
{
    struct orch_chart *chart = orch_chart_new(
        ORCH_CHART_LINE, "<b>a</b> & \"b\" 'c' `d` $e {f} \\g", "x_{1}^2 <i>", "y & z");
    for (int i = 1; i < 5; i++)
        orch_chart_add(series_of(chart, NULL, "<script>alert(1)</script>", ORCH_SERIES_MEASURED), i,
                       i);
    return chart;
}

const struct gallery_entry GALLERY[] = {
    {"lines", make_lines, {"Validation loss", "loss (nats)", "lr 0.1", "lr 0.3"}},
    {"bands", make_bands, {"lr 0.2", "step"}},
    {"many-series", make_many_series, {"lr 0.1", "lr 0.12"}},
    {"error-bars", make_error_bars, {"V100", "A100", "batch size", "512"}},
    {"wide-intervals", make_wide_intervals, {"vgg16"}},
    {"runs", make_runs, {"plain", "with schedule"}},
    {"predicted", make_predicted, {"vgg16, predicted", "resnet18"}},
    {"scaling", make_scaling, {"ideal", "Doe 2020, table 2", "all-reduce", "16"}},
    {"pareto", make_pareto, {"H200", "H100 SXM", "RTX 4090", "Pareto set"}},
    {"scatter", make_scatter, {"conv", "dense", "gradient norm"}},
    {"fitted", make_fitted, {"resnet18 wide", "A100, fitted"}},
    {"bars", make_bars, {"resnet18", "AdamW", "accuracy"}},
    {"bars-long-names", make_bars_long_names, {"vit_base_patch16_224", "mobilenet"}},
    {"bars-log", make_bars_log, {"published, predicted", "gpt2", "1G"}},
    {"boxes", make_boxes, {"fp16", "resnet18", "step time (ms)"}},
    {"histogram", make_histogram, {"SGD", "runs"}},
    {"heat", make_heat, {"0.001", "256", "best val accuracy", "0.3000"}},
    {"heat-facets", make_heat_facets, {"vit", "learning rate"}},
    {"facets", make_facets, {"batch 128", "lenet", "epoch"}},
    {"long-labels", make_long_labels, {"15"}},
    {"scripts", make_scripts, {"Straße", "αβγδε", "кириллица", "μ (Ελληνικά)"}},
    {"time-axis", make_time_axis, {"wall time (s)", "tokens"}},
    {"roofline", make_roofline, {"FLOP per byte", "conv1", "fc6", "relu", "roofline"}},
    {"crowded-labels", make_crowded_labels, {"alone"}},
    {"negative", make_negative, {"gain (%)", "Lion"}},
    {"markup", make_markup, {"<script>alert(1)</script>", "y & z"}},
};
const size_t GALLERY_COUNT = G_N_ELEMENTS(GALLERY);
