/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/render/draw.h"
#include "core/stats/task.h"
#include "core/stats/varying_names.h"

#include "features/charts/declared_labels.h"
#include "features/charts/plot.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_WITHOUT_TERMINAL 80
#define ROWS 24

struct plot_options {
    struct orch_plot plot; /* without what is read from the texts below */
    const char *z, *kind, *where, *out;
    const char **y, **by, **reference;
    bool ascii;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct plot_options, plot.x, TEXT, "x", .letter = 'x', .value = "WHAT",
                .help = "the x axis: step (default), a parameter, or a value ('last train_loss')"),
    ORCH_OPTION(struct plot_options, y, LIST, "y", .letter = 'y', .value = "VALUE",
                .help = "the y axis: a metric, a result, or 'best NAME' (repeatable)"),
    ORCH_OPTION(struct plot_options, by, LIST, "by", .value = "NAMES",
                .help = "a series for each value of these parameters (default: all that vary)"),
    ORCH_OPTION(struct plot_options, plot.facet, TEXT, "facet", .value = "NAME",
                .help = "one panel for each value of this parameter"),
    ORCH_OPTION(struct plot_options, kind, TEXT, "kind", .letter = 'k', .value = "KIND",
                .help = "line, scatter, bar, box, histogram or heat (default: depends on x)"),
    ORCH_OPTION(struct plot_options, z, TEXT, "z", .letter = 'z', .value = "VALUE",
                .help = "with --kind heat: the value shown as colour"),
    ORCH_OPTION(struct plot_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match ('orch help filters')"),
    ORCH_OPTION(struct plot_options, plot.log_x, FLAG, "log-x", .help = "logarithmic x axis"),
    ORCH_OPTION(struct plot_options, plot.log_y, FLAG, "log-y", .help = "logarithmic y axis"),
    ORCH_OPTION(struct plot_options, plot.ideal, FLAG, "ideal",
                .help = "also draw the line of ideal scaling"),
    ORCH_OPTION(struct plot_options, plot.predicted, FLAG, "predicted",
                .help = "also draw the forecasts of the wall time (wall_s)"),
    ORCH_OPTION(struct plot_options, plot.across, FLAG, "across",
                .help = "combine runs of different experiments and data sets in one series"),
    ORCH_OPTION(struct plot_options, reference, LIST, "reference", .value = "NUMBER",
                .help = "draw a horizontal line at NUMBER (repeatable)"),
    ORCH_OPTION(struct plot_options, plot.title, TEXT, "title", .value = "TEXT",
                .help = "title of the chart"),
    ORCH_OPTION(struct plot_options, ascii, FLAG, "ascii", .help = "draw with plain characters"),
    ORCH_OPTION(struct plot_options, out, TEXT, "output", .letter = 'o', .value = "FILE",
                .help = "write to FILE.svg, .png or .pdf, or the data to FILE.csv"),
    {0}};

/* ---- options -----------------------------------------------------------------------------------
 */

/* Splits comma-separated names of an option that can be repeated. */
static GPtrArray *names_of(const char *const *texts)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; texts && texts[i]; i++) {
        g_auto(GStrv) parts = g_strsplit(texts[i], ",", -1);
        for (char **part = parts; *part; part++)
            if (*g_strstrip(*part))
                g_ptr_array_add(names, g_strdup(*part));
    }
    return names;
}

static json_t *references_of(const char *const *texts, GError **error)
{
    json_t *list = json_array();
    for (int i = 0; texts[i]; i++) {
        double number;
        if (!orch_real_parse(texts[i], &number)) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                           "option '--reference': '%s' is not a number", texts[i]);
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, orch_json_finite(number));
    }
    return list;
}

static bool ending_is_known(const char *path)
{
    static const char *const endings[] = {".svg", ".png", ".pdf", ".csv"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(path, endings[i]))
            return true;
    return false;
}

/* Checks the options before any run is read. */
static bool check(const struct plot_options *o, int *out_kind, GError **error)
{
    *out_kind = ORCH_PLOT_KIND_OF_X;
    bool is_heat = g_strcmp0(o->kind, "heat") == 0;
    if (o->kind && !orch_plot_kind_parse(o->kind, out_kind))
        orch_error_set(error, ORCH_ERROR_USAGE, "use line, scatter, bar, box, histogram or heat",
                       "option '--kind': unknown value '%s'", o->kind);
    else if (!o->y)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch plot --x step --y val_loss --by lr",
                       "option '--y' is missing");
    else if (is_heat && (!o->z || !o->plot.x || o->y[1]))
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch plot --kind heat --x lr --y batch --z 'best val_accuracy'",
                       "a heat map needs '--x', one '--y' and '--z'");
    else if (!is_heat && o->z)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch plot --kind heat --x lr --y batch --z 'best val_accuracy'",
                       "option '--z' needs '--kind heat'");
    else if (o->plot.predicted && (strcmp(o->y[0], "wall_s") != 0 || o->y[1]))
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch plot --x batch --y wall_s --predicted",
                       "option '--predicted' needs '--y wall_s'");
    else if (o->out && !ending_is_known(o->out))
        orch_error_set(error, ORCH_ERROR_USAGE, "name FILE.svg, FILE.png, FILE.pdf or FILE.csv",
                       "the ending of '%s' names no known file format", o->out);
    else
        return true;
    return false;
}

static GPtrArray *wanted_of(const char *const *texts)
{
    g_autoptr(json_t) list = json_array();
    for (int i = 0; texts[i]; i++)
        json_array_append_new(list, json_string(texts[i]));
    return orch_item_values_parse(list);
}

/* Returns the trials, oldest first, so that series are in the order in which they were run. */
static struct orch_trials *find_trials(struct orch_cli *cli, const struct plot_options *o,
                                       GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_trials *trials = store ? orch_trials_of_filter(store, o->where, error) : NULL;
    if (!trials)
        return NULL;
    orch_label_runs(trials, cli->workspace->root);
    trials->who = orch_user_name();
    gpointer *all = trials->all->pdata;
    for (guint i = 0; i < trials->all->len / 2; i++) {
        gpointer other = all[trials->all->len - 1 - i];
        all[trials->all->len - 1 - i] = all[i];
        all[i] = other;
    }
    if (trials->all->len)
        return trials;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the stored runs",
                   "no run that ended well %s",
                   o->where ? "matches the filter" : "is in the store");
    orch_trials_free(trials);
    return NULL;
}

static bool draw(struct orch_trials *trials, const struct plot_options *o, int kind,
                 struct orch_section *section, GError **error)
{
    const char *const z[] = {o->z, NULL};
    bool is_heat = kind == ORCH_CHART_HEAT;
    g_autoptr(GPtrArray) y = wanted_of(is_heat ? z : o->y);
    g_autoptr(GPtrArray) by = o->by ? names_of(o->by) : NULL;
    g_autoptr(json_t) reference = o->reference ? references_of(o->reference, error) : NULL;
    if (o->reference && !reference)
        return false;
    struct orch_plot plot = o->plot;
    plot.kind = kind;
    plot.x = plot.x ? plot.x : "step";
    plot.y = y;
    plot.row = is_heat ? o->y[0] : NULL;
    plot.by = by;
    plot.reference = reference;
    return orch_plot_draw(trials, &plot, section, error);
}

/* ---- giving it ---------------------------------------------------------------------------------
 */

static const struct orch_chart *chart_of(const struct orch_section *section)
{
    for (guint i = 0; i < section->blocks->len; i++)
        if (((const struct orch_block *)section->blocks->pdata[i])->chart)
            return ((const struct orch_block *)section->blocks->pdata[i])->chart;
    return NULL;
}

/* Prints notes and missing trials as messages; the chart itself is data. */
static void print_notes(struct orch_cli *cli, const struct orch_section *section)
{
    for (guint i = 0; i < section->blocks->len; i++) {
        const struct orch_block *block = section->blocks->pdata[i];
        if (block->text)
            orch_cli_info(cli, "%s", block->text);
    }
}

static bool write_file(const struct orch_chart *chart, const char *path, GError **error)
{
    if (!g_str_has_suffix(path, ".csv"))
        return orch_chart_write(chart, path, error);
    g_autofree char *csv = orch_chart_csv(chart);
    g_autoptr(GError) failed = NULL;
    if (g_file_set_contents(path, csv, -1, &failed))
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': %s", path, failed->message);
    return false;
}

/* Returns whether some trial has a number of this value, at whatever step. */
static bool any_has(const struct orch_trials *trials, const struct orch_item_value *wanted)
{
    double number = (double)NAN;
    for (guint i = 0; i < trials->all->len && !isfinite(number); i++)
        if (!orch_trial_number(trials, trials->all->pdata[i], wanted, &number, NULL, NULL, NULL))
            return false;
    return isfinite(number);
}

/* A name whose values differ between the runs, else the experiment. The caller frees. */
static char *axis_to_draw_over(const struct orch_trials *trials)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    for (guint i = 0; i < trials->all->len; i++)
        g_ptr_array_add(runs, ((const struct orch_report_trial *)trials->all->pdata[i])->run);
    g_auto(GStrv) names = orch_varying_names(trials->store, runs, NULL);
    return g_strdup(names && names[0] ? names[0] : "experiment");
}

/* Says why the chart is empty. The names of the values are known, as they were checked before. */
static void nothing_error(const struct orch_trials *trials, const struct plot_options *o,
                          GError **error)
{
    g_autoptr(GPtrArray) wanted = wanted_of(o->z ? (const char *[]){o->z, NULL} : o->y);
    const struct orch_item_value *first = wanted->pdata[0];
    g_autofree char *axis = axis_to_draw_over(trials);
    g_autofree char *hint = g_strdup_printf("draw it over a parameter, for example --x %s", axis);
    const bool is_over_steps = !o->plot.x || strcmp(o->plot.x, "step") == 0;
    if (any_has(trials, first) && is_over_steps)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                       "nothing to draw: '%s' has only one value in each run, and no steps",
                       first->name);
    else if (any_has(trials, first))
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "'orch show RUN' lists the parameters and metrics of a run",
                       "nothing to draw: no selected run has both '%s' and '%s'", first->name,
                       o->plot.x);
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch log RUN' shows what a run printed",
                       "nothing to draw: '%s' is not a number in the selected runs", first->name);
}

static bool give(struct orch_cli *cli, const struct plot_options *o,
                 const struct orch_trials *trials, const struct orch_section *section,
                 GError **error)
{
    const struct orch_chart *chart = chart_of(section);
    if (!chart || orch_chart_is_empty(chart)) {
        print_notes(cli, section);
        nothing_error(trials, o, error);
        return false;
    }
    if (o->out && !write_file(chart, o->out, error))
        return false;
    if (cli->json) {
        orch_cli_print_json(orch_chart_json(chart));
        return true;
    }
    print_notes(cli, section);
    if (o->out) {
        orch_cli_info(cli, "wrote %s", o->out);
        return true;
    }
    int columns = orch_terminal_columns(STDOUT_FILENO);
    struct orch_draw_text how = {.columns = columns ? columns : COLUMNS_WITHOUT_TERMINAL,
                                 .rows = ROWS,
                                 .ascii = o->ascii,
                                 .color = orch_cli_color(cli, false)};
    g_autofree char *text = orch_chart_text(chart, &how);
    fputs(text, stdout);
    return true;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct plot_options *o = options;
    int kind;
    struct orch_trials *trials = check(o, &kind, error) ? find_trials(cli, o, error) : NULL;
    if (!trials)
        return -1;
    struct orch_document *document = orch_document_new("plot");
    struct orch_section *section = orch_document_add(document, "plot", NULL, o->plot.title);
    bool ok = draw(trials, o, kind, section, error) && give(cli, o, trials, section, error);
    orch_document_free(document);
    orch_trials_free(trials);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_PLOT = {
    .name = "plot",
    .group = "Look at results",
    .is_listed = true,
    .summary = "draw a chart of runs on the terminal or as SVG, PNG, PDF or CSV",
    .usage = "",
    .min_args = 0,
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct plot_options),
    .about =
        "Draws values of runs against steps, a parameter or another value. Repeats are drawn "
        "as their mean with a 95 % interval. With fewer than 5 runs, each run is drawn beside the "
        "mean instead. Only runs that ended as ok or diverged are drawn. Runs of different "
        "tasks (" ORCH_TASK_WORDS
        ") get separate series; --across combines them. 'orch help charts' shows the kinds of "
        "charts.",
    .examples = "  orch plot --x step --y val_loss --by lr              # curves, on the terminal\n"
                "  orch plot --x workers --y images_per_s --ideal --log-x -o scaling.svg\n"
                "  orch plot --kind heat --x lr --y batch --z 'best val_accuracy' -w 'net = vgg16'",
    .run = run,
};
