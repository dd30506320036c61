/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch curve`: the loss curves of stored runs, and when they reach a target. */
#include "core/cli/cli.h"
#include "features/curve/curve_answer.h"
#include "features/curve/schedule_fit.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- the command ----------------------------------------------------------------------------- */

struct curve_options {
    const char *where, *metric, *accuracy_metric, *target_loss, *target_accuracy, *epochs, *form,
        *weights, *outliers, *rates, *net, *gpu, *input, *classes, *format;
    bool normalised;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct curve_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "fit all runs that match ('orch help filters')"),
    ORCH_OPTION(struct curve_options, target_loss, TEXT, "target-loss", .value = "X",
                .help = "predict when the loss reaches X"),
    ORCH_OPTION(struct curve_options, target_accuracy, TEXT, "target-accuracy", .value = "X",
                .help = "predict when the accuracy reaches X (0.92 or 92%)"),
    ORCH_OPTION(struct curve_options, epochs, TEXT, "epochs", .letter = 'e', .value = "N",
                .help = "predict the loss after N epochs"),
    ORCH_OPTION(struct curve_options, metric, TEXT, "metric", .value = "NAME",
                .help = "metric to fit (default: the first of step_loss, train_loss, ...)"),
    ORCH_OPTION(struct curve_options, accuracy_metric, TEXT, "accuracy-metric", .value = "NAME",
                .help = "metric of --target-accuracy (default: val_accuracy, val_acc, ...)"),
    ORCH_OPTION(struct curve_options, form, TEXT, "form", .value = "NAME",
                .help = "formula: auto (default), optimus, power or schedule ('orch help curves')"),
    ORCH_OPTION(struct curve_options, rates, TEXT, "rates", .value = "FILE",
                .help = "with --form schedule: predict for this CSV's learning rates (step,lr)"),
    ORCH_OPTION(struct curve_options, weights, TEXT, "weights", .value = "NAME",
                .help = "equal (default), or segments: later points of the curve weigh more"),
    ORCH_OPTION(struct curve_options, outliers, TEXT, "outliers", .value = "N",
                .help = "replace losses outside the range of N neighbours a side by their mean"),
    ORCH_OPTION(struct curve_options, normalised, FLAG, "normalised",
                .help = "divide the losses by the run's largest loss"),
    ORCH_OPTION(struct curve_options, net, TEXT, "net", .letter = 'n', .value = "NAME",
                .help = "predict the curve of this network, which was not run"),
    ORCH_OPTION(struct curve_options, gpu, TEXT, "gpu", .letter = 'g', .value = "NAME",
                .help = "with --net: for this device (default: mean of the runs' devices)"),
    ORCH_OPTION(struct curve_options, input, TEXT, "input", .letter = 'i', .value = "CxHxW",
                .help = "with --net: size of one image"),
    ORCH_OPTION(struct curve_options, classes, TEXT, "classes", .value = "N",
                .help = "with --net: outputs of the classifier"),
    ORCH_OPTION(struct curve_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

/* ---- options --------------------------------------------------------------------------------- */

static bool wrong_option(const char *option, const char *text, const char *hint, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '%s': '%s' is not a valid value", option,
                   text);
    return false;
}

/* Parses "0.92" or "92%". */
static bool parse_accuracy(const char *text, double *out)
{
    double number;
    return (orch_percent_parse(text, &number, out) || orch_real_parse(text, out)) && *out > 0 &&
           *out <= 1;
}

static bool read_ask(const struct curve_options *o, struct orch_curve_ask *a, GError **error)
{
    /* the law of schedules is fitted to all curves, once they are read */
    static const char *const forms[] = {"auto", "optimus", "power", "schedule", NULL};
    static const char *const weights[] = {"equal", "segments", NULL};
    *a = (struct orch_curve_ask){
        .series = {o->metric, o->accuracy_metric}, .loss = NAN, .accuracy = NAN};
    int64_t neighbours = 0;
    for (int i = 0; o->form && forms[i]; i++)
        if (strcmp(o->form, forms[i]) == 0)
            a->choice = i == 3 ? ORCH_CURVE_ALWAYS_OPTIMUS : (enum orch_curve_choice)i;
    for (int i = 0; o->weights && weights[i]; i++)
        if (strcmp(o->weights, weights[i]) == 0)
            a->fit.weights = (enum orch_curve_weights)i;
    if (o->form && !g_strv_contains(forms, o->form))
        return wrong_option("--form", o->form, "use auto, optimus, power or schedule", error);
    if (o->weights && !g_strv_contains(weights, o->weights))
        return wrong_option("--weights", o->weights, "use equal or segments", error);
    if (o->target_loss && (!orch_real_parse(o->target_loss, &a->loss) || !isfinite(a->loss)))
        return wrong_option("--target-loss", o->target_loss, "for example 0.3", error);
    if (o->target_accuracy && !parse_accuracy(o->target_accuracy, &a->accuracy))
        return wrong_option("--target-accuracy", o->target_accuracy, "for example 0.92 or 92%",
                            error);
    if (!orch_cli_count(o->outliers, "--outliers", 100, &neighbours, error) ||
        !orch_cli_count(o->epochs, "--epochs", 1000000, &a->epochs, error))
        return false;
    if (o->net && a->choice == ORCH_CURVE_ALWAYS_POWER)
        return wrong_option("--form", o->form, "use optimus with --net", error);
    if (o->net)
        a->choice = ORCH_CURVE_ALWAYS_OPTIMUS;
    a->fit.neighbours = (int)neighbours;
    a->fit.is_normalised = o->normalised;
    return true;
}

static struct orch_curve_answer *answer_of(struct orch_cli *cli, const char *filter,
                                           const struct orch_curve_ask *ask, GError **error)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) runs =
        store ? orch_curve_runs(store, cli->args, cli->arg_count, filter, error) : NULL;
    struct orch_curve_answer *answer =
        runs
            ? orch_curve_answer_new(orch_cli_plugins(cli), store, runs, ask, warnings, notes, error)
            : NULL;
    orch_cli_warn_all(cli, warnings);
    orch_cli_warn_all(cli, notes);
    if (answer && answer->without)
        orch_cli_info(cli, "%u run%s without this metric %s left out", answer->without,
                      orch_plural(answer->without), answer->without == 1 ? "is" : "are");
    return answer;
}

/* The options that have no meaning for the law of schedules, which is of all runs together. */
static const char *idle_with_schedule(const struct curve_options *o)
{
    const struct {
        bool is_given;
        const char *name;
    } others[] = {{o->target_loss, "target-loss"},
                  {o->target_accuracy, "target-accuracy"},
                  {o->epochs, "epochs"},
                  {o->outliers, "outliers"},
                  {o->weights, "weights"},
                  {o->normalised, "normalised"},
                  {o->net, "net"}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i].is_given)
            return others[i].name;
    return NULL;
}

static bool schedule_fits(const struct curve_options *o, bool is_schedule, GError **error)
{
    const char *idle = is_schedule ? idle_with_schedule(o) : NULL;
    if (o->rates && !is_schedule)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch curve -w 'recipe=hw4' --form schedule --rates rates.csv",
                       "option '--rates' needs '--form schedule'");
    else if (idle)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--form schedule' excludes '--%s'", idle);
    else
        return true;
    return false;
}

static bool options_fit(const struct orch_cli *cli, const struct curve_options *o, GError **error)
{
    const char *idle = o->net       ? NULL
                       : o->gpu     ? "gpu"
                       : o->input   ? "input"
                       : o->classes ? "classes"
                                    : NULL;
    if (!orch_cli_format_check(o->format, error))
        return false;
    if (cli->json && o->format)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--json' excludes '--format'");
    else if (idle)
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --net resnet-cifar:44",
                       "option '--%s' needs '--net'", idle);
    else
        return true;
    return false;
}

static bool print_schedule(struct orch_cli *cli, const struct curve_options *o,
                           const struct orch_curve_answer *answer, GError **error)
{
    struct orch_schedule_fit *fit = orch_schedule_fit_new(answer->curves, o->rates, error);
    if (fit)
        orch_cli_schedule_fit_print(cli, fit, o->format);
    orch_schedule_fit_free(fit);
    return fit;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct curve_options *o = options;
    struct orch_curve_ask ask;
    int64_t classes = 0;
    bool is_schedule = g_strcmp0(o->form, "schedule") == 0;
    if (!options_fit(cli, o, error) || !schedule_fits(o, is_schedule, error) ||
        !read_ask(o, &ask, error) ||
        !orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return -1;
    const struct orch_curve_question other = {
        {.name = o->net, .input = o->input, .classes = (int)classes}, o->gpu, ask.epochs};
    ask.other = o->net ? &other : NULL;
    struct orch_curve_answer *answer = answer_of(cli, o->where, &ask, error);
    bool ok = answer;
    if (ok && is_schedule)
        ok = print_schedule(cli, o, answer, error);
    else if (ok)
        orch_cli_curve_print(cli, answer, &ask, o->format);
    orch_curve_answer_free(answer);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_CURVE = {
    .name = "curve",
    .group = "Decide",
    .is_listed = true,
    .summary = "fit the loss curves of runs, and predict when they reach a target",
    .usage = "[RUN...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct curve_options),
    .about = "Fits a curve to the loss of each run. With --target-loss or --target-accuracy, it "
             "predicts after how many steps and epochs, and how much time, the run reaches the "
             "target ('orch help curves'). With --net, it also predicts the curve of a network "
             "that was not run.",
    .examples =
        "orch curve @last --target-accuracy 92%   # how long until 92 %?\n"
        "orch curve --where 'recipe=hw4 and net~resnet' --format csv\n"
        "orch curve --where 'recipe=hw4' --net resnet-cifar:44   # a network that was not run",
    .run = run,
};
