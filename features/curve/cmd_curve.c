/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch curve`: the loss curves of stored runs, and when they reach a target. */
#include "core/cli/cli.h"
#include "core/cli/recipe_plan.h"
#include "features/curve/curve_answer.h"
#include "features/curve/curve_items.h"
#include "features/curve/predicted_curve.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- the curve of a network that was not run ----------------------------------------------------
 */

/* Number of rows of the curve that are shown. */
#define ROWS 12

static struct orch_table *params_table(const struct orch_predicted_curve *p)
{
    static const char *const headers[] = {"net", ">from", ">b0", ">b1", ">b2", ">tends to", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (size_t s = 0; s < p->stages->count; s++) {
        const struct orch_curve *curve = &p->stages->curves[s];
        orch_table_add(table, p->net, NULL);
        orch_table_add_real(table, p->stages->starts[s]);
        for (int j = 0; j < orch_curve_params(ORCH_CURVE_OPTIMUS); j++)
            orch_table_add_real(table, curve->b[j]);
        orch_table_add_real(table, orch_curve_limit(curve));
    }
    return table;
}

/* Returns the predicted loss at some k as a table. The caller prints or frees it. */
static struct orch_table *predicted_curve_table(const struct orch_predicted_curve *p)
{
    const char *const headers[] = {p->units.is_by_epoch ? ">epoch" : ">step", ">loss", NULL};
    struct orch_table *table = orch_table_new(headers);
    double last = fmax(p->last_k, 1), before = 0;
    for (int i = 0; i < ROWS; i++) {
        double k = round(pow(last, (i + 1.0) / ROWS)); /* denser where the loss falls */
        if (!(k > before))
            continue;
        before = k;
        orch_table_add_real(table, k);
        orch_table_add_real(table, orch_stages_loss(p->stages, k));
    }
    return table;
}

/* Prints the regression, its b parameters, the curve, and the measured accuracy of such
 * predictions. */
static void predicted_curve_print(struct orch_cli *cli, const struct orch_predicted_curve *p)
{
    struct orch_document *document = orch_document_new("predict");
    g_autofree char *title =
        g_strdup_printf("predicted for %s: b0, b1 and b2 from those of the runs' networks", p->net);
    struct orch_section *section = orch_document_add(document, "curve_law", NULL, title);
    orch_curve_law_describe(section, p->law);
    orch_section_table(section, params_table(p));
    orch_section_table(section, predicted_curve_table(p));
    orch_section_note(section, "%s",
                      p->device ? p->device : "on average over the devices (--gpu names one)");
    if (p->left_out.networks)
        orch_section_note(section,
                          "error when each of %d networks is left out and predicted from the "
                          "others: %.3g %% on average, %.3g %% at worst",
                          p->left_out.networks, 100 * p->left_out.mean, 100 * p->left_out.worst);
    else
        orch_section_note(section, "the error of this prediction is unknown: that needs runs of 3 "
                                   "networks or more");
    orch_cli_show_document(cli, document, (struct orch_show_text){0});
    orch_document_free(document);
}

static json_t *predicted_curve_json(const struct orch_predicted_curve *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "net", json_string(p->net));
    json_object_set_new(o, "where", orch_json_text_or_null(p->device));
    json_object_set_new(o, "runs", json_integer(p->law->used));
    json_object_set_new(o, "networks", json_integer(p->law->law->networks));
    json_object_set_new(o, "stages", orch_cli_table_to_json(params_table(p)));
    json_object_set_new(o, "curve", orch_cli_table_to_json(predicted_curve_table(p)));
    json_object_set_new(o, "left_out_networks", json_integer(p->left_out.networks));
    json_object_set_new(o, "left_out_error", orch_json_finite(p->left_out.mean));
    json_object_set_new(o, "left_out_worst_error",
                        p->left_out.networks ? orch_json_finite(p->left_out.worst) : json_null());
    return o;
}

/* ---- the command --------------------------------------------------------------------------------
 */

/* Rows of the relation between loss and accuracy that are shown. */
#define BRIDGE_ROWS 8

struct curve_options {
    const char *where, *metric, *accuracy_metric, *target_loss, *target_accuracy, *epochs, *form,
        *weights, *outliers, *net, *gpu, *input, *classes, *format;
    bool normalised;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct curve_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "all runs that match (docs/where.md)"),
    ORCH_OPTION(struct curve_options, target_loss, TEXT, "target-loss", .value = "X",
                .help = "when does the loss reach X?"),
    ORCH_OPTION(struct curve_options, target_accuracy, TEXT, "target-accuracy", .value = "X",
                .help = "when does the accuracy reach X (0.92 or 92%)?"),
    ORCH_OPTION(struct curve_options, epochs, TEXT, "epochs", .letter = 'e', .value = "N",
                .help = "what is the loss after N epochs?"),
    ORCH_OPTION(struct curve_options, metric, TEXT, "metric", .value = "NAME",
                .help = "the loss (default: step_loss, train_loss or loss)"),
    ORCH_OPTION(
        struct curve_options, accuracy_metric, TEXT, "accuracy-metric", .value = "NAME",
        .help = "the accuracy (default: val_accuracy, test_accuracy, accuracy or train_accuracy)"),
    ORCH_OPTION(struct curve_options, form, TEXT, "form", .value = "NAME",
                .help = "auto (the default), optimus or power"),
    ORCH_OPTION(
        struct curve_options, weights, TEXT, "weights", .value = "NAME",
        .help =
            "equal (the default), or segments: later points weigh more, as in Optimus' program"),
    ORCH_OPTION(struct curve_options, outliers, TEXT, "outliers", .value = "N",
                .help = "replace a loss outside the range of its N neighbours on each side"),
    ORCH_OPTION(struct curve_options, normalised, FLAG, "normalised",
                .help = "divide the losses by the run's largest"),
    ORCH_OPTION(struct curve_options, net, TEXT, "net", .letter = 'n', .value = "NAME",
                .help = "predict the curve of this network, which was not run"),
    ORCH_OPTION(struct curve_options, gpu, TEXT, "gpu", .letter = 'g', .value = "NAME",
                .help = "with --net: one of the runs' devices (default: the mean over them)"),
    ORCH_OPTION(struct curve_options, input, TEXT, "input", .letter = 'i', .value = "CxHxW",
                .help = "with --net: size of one image"),
    ORCH_OPTION(struct curve_options, classes, TEXT, "classes", .value = "N",
                .help = "with --net: outputs of the classifier"),
    ORCH_OPTION(struct curve_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "text, tsv, csv, markdown or latex"),
    {0}};

/* ---- options ----------------------------------------------------------------------------------
 */

static bool wrong_option(const char *option, const char *text, const char *hint, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '%s': '%s' is not a valid value", option,
                   text);
    return false;
}

/* Parses "0.92" or "92%". */
static bool parse_accuracy(const char *text, double *out)
{
    g_autofree char *number = g_strdup(text);
    size_t length = strlen(number);
    bool is_percent = length && number[length - 1] == '%';
    if (is_percent)
        number[length - 1] = '\0';
    if (!orch_real_parse(number, out))
        return false;
    *out /= is_percent ? 100 : 1;
    return *out > 0 && *out <= 1;
}

static bool read_ask(const struct curve_options *o, struct orch_curve_ask *a, GError **error)
{
    static const char *const forms[] = {"auto", "optimus", "power", NULL};
    static const char *const weights[] = {"equal", "segments", NULL};
    *a = (struct orch_curve_ask){
        .series = {o->metric, o->accuracy_metric}, .loss = NAN, .accuracy = NAN};
    int64_t neighbours = 0;
    for (int i = 0; o->form && forms[i]; i++)
        if (strcmp(o->form, forms[i]) == 0)
            a->choice = (enum orch_curve_choice)i;
    for (int i = 0; o->weights && weights[i]; i++)
        if (strcmp(o->weights, weights[i]) == 0)
            a->fit.weights = (enum orch_curve_weights)i;
    if (o->form && !g_strv_contains(forms, o->form))
        return wrong_option("--form", o->form, "use auto, optimus or power", error);
    if (o->weights && !g_strv_contains(weights, o->weights))
        return wrong_option("--weights", o->weights, "use equal or segments", error);
    if (o->target_loss && (!orch_real_parse(o->target_loss, &a->loss) || !isfinite(a->loss)))
        return wrong_option("--target-loss", o->target_loss, "use a number, for example 0.3",
                            error);
    if (o->target_accuracy && !parse_accuracy(o->target_accuracy, &a->accuracy))
        return wrong_option("--target-accuracy", o->target_accuracy,
                            "use a fraction or a percentage, for example 0.92 or 92%", error);
    if (!orch_cli_count(o->outliers, "--outliers", 100, &neighbours, error) ||
        !orch_cli_count(o->epochs, "--epochs", 1000000, &a->epochs, error))
        return false;
    if (o->net && a->choice == ORCH_CURVE_ALWAYS_POWER)
        return wrong_option("--form", o->form,
                            "use optimus: --net predicts the parameters b0, b1 and b2 of that form",
                            error);
    if (o->net)
        a->choice = ORCH_CURVE_ALWAYS_OPTIMUS;
    a->fit.neighbours = (int)neighbours;
    a->fit.is_normalised = o->normalised;
    return true;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static const struct orch_run_curve *curve_of(const struct orch_curve_answer *answer, guint i)
{
    return answer->curves->pdata[i];
}

static const struct orch_curve_result *result_of(const struct orch_curve_answer *answer, guint i)
{
    return &g_array_index(answer->results, struct orch_curve_result, i);
}

static bool has_form(const struct orch_curve_answer *answer, enum orch_curve_form form)
{
    for (guint i = 0; i < answer->results->len; i++)
        if (result_of(answer, i)->stages->curves[0].form == form)
            return true;
    return false;
}

static const char *form_name(const struct orch_curve *curve)
{
    if (curve->is_flat)
        return "flat";
    return curve->form == ORCH_CURVE_OPTIMUS ? "optimus" : "power";
}

static void add_params(struct orch_table *table, const struct orch_curve *curve,
                       enum orch_curve_form form)
{
    for (int j = 0; j < orch_curve_params(form); j++)
        orch_table_add_real(table, curve->form == form ? curve->b[j] : (double)NAN);
}

/* Adds b0, b1 and b2 with their standard errors in brackets; in JSON these are separate columns. */
static void add_estimates(struct orch_table *table, const struct orch_curve_answer *answer, guint i,
                          size_t s, bool is_json)
{
    const struct orch_curve *curve = &result_of(answer, i)->stages->curves[s];
    double errors[3] = {NAN, NAN, NAN};
    if (answer->has_errors && curve->form == ORCH_CURVE_OPTIMUS)
        orch_run_curve_errors(curve_of(answer, i), result_of(answer, i), s, errors);
    if (is_json || curve->form != ORCH_CURVE_OPTIMUS)
        add_params(table, curve, ORCH_CURVE_OPTIMUS);
    for (int j = 0; j < 3; j++) {
        if (is_json)
            orch_table_add_real(table, errors[j]);
        else if (curve->form == ORCH_CURVE_OPTIMUS)
            orch_table_add_estimate(table, curve->b[j], errors[j]);
    }
}

static void add_stage(struct orch_table *table, const struct orch_curve_answer *answer, guint i,
                      size_t s, bool is_json)
{
    const struct orch_run_curve *c = curve_of(answer, i);
    const struct orch_curve_result *r = result_of(answer, i);
    const struct orch_curve *curve = &r->stages->curves[s];
    orch_table_add(table, orch_cli_short_key(c->key), json_string(c->key));
    orch_table_add(table, c->net ? c->net : "-", orch_json_text_or_null(c->net));
    orch_table_add(table, orch_place_short(c->where, answer->places), json_string(c->where));
    orch_table_add(table, c->metric, NULL);
    orch_table_add(table, form_name(curve), NULL);
    orch_table_add_real(table, r->stages->starts[s]);
    if (has_form(answer, ORCH_CURVE_OPTIMUS))
        add_estimates(table, answer, i, s, is_json);
    if (has_form(answer, ORCH_CURVE_POWER))
        add_params(table, curve, ORCH_CURVE_POWER);
    orch_table_add_real(table, orch_curve_limit(curve));
    orch_table_add_int(table, (int64_t)curve->points);
    orch_table_add_real(table, s ? (double)NAN : r->good.r2);
    orch_table_add_real(table, s ? (double)NAN : 100 * r->good.relative_error);
}

/* `is_json`: headers are member names with units. */
static struct orch_table *fit_table(const struct orch_curve_answer *answer, bool is_json)
{
    static const char *const first[] = {"run", "net", "where", "loss", "form", ">from"};
    static const char *const optimus[] = {">b0", ">b1", ">b2"};
    static const char *const errors[] = {">b0_error", ">b1_error", ">b2_error"};
    static const char *const power[] = {">a", ">b", ">c", ">d"};
    const char *const last[] = {">tends to", ">points", ">R2",
                                is_json ? ">error_percent" : ">error %"};
    const char *headers[G_N_ELEMENTS(first) + G_N_ELEMENTS(optimus) + G_N_ELEMENTS(errors) +
                        G_N_ELEMENTS(power) + G_N_ELEMENTS(last) + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        headers[count++] = first[i];
    for (size_t i = 0; has_form(answer, ORCH_CURVE_OPTIMUS) && i < G_N_ELEMENTS(optimus); i++)
        headers[count++] = optimus[i];
    for (size_t i = 0; is_json && has_form(answer, ORCH_CURVE_OPTIMUS) && i < G_N_ELEMENTS(errors);
         i++)
        headers[count++] = errors[i];
    for (size_t i = 0; has_form(answer, ORCH_CURVE_POWER) && i < G_N_ELEMENTS(power); i++)
        headers[count++] = power[i];
    for (size_t i = 0; i < G_N_ELEMENTS(last); i++)
        headers[count++] = last[i];
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < answer->curves->len; i++)
        for (size_t s = 0; s < result_of(answer, i)->stages->count; s++)
            add_stage(table, answer, i, s, is_json);
    return table;
}

/* Returns a run's short key, or the name of a network that was not run. */
static const char *label_of(const char *key)
{
    return g_uuid_string_is_valid(key) ? orch_cli_short_key(key) : key;
}

static void add_target(struct orch_table *table, const struct orch_curve_target *t)
{
    g_autofree char *time = isnan(t->seconds) ? g_strdup("-") : orch_duration_format(t->seconds);
    orch_table_add(table, label_of(t->key), json_string(t->key));
    orch_table_add(table, t->target, NULL);
    orch_table_add_real(table, t->loss);
    orch_table_add(table, t->why_not ? t->why_not : "yes", NULL);
    orch_table_add_real(table, t->steps);
    orch_table_add_real(table, t->epochs);
    orch_table_add(table, time, orch_json_real_or_null(t->seconds));
    orch_table_add_real(table, t->seen_epoch);
}

static struct orch_table *target_table(const struct orch_curve_answer *answer,
                                       const struct orch_curve_ask *a, bool is_json)
{
    const char *const headers[] = {"run",
                                   "target",
                                   ">loss",
                                   "reached",
                                   ">step",
                                   ">epochs",
                                   is_json ? ">time_s" : ">time",
                                   ">seen at epoch",
                                   NULL};
    struct orch_table *table = orch_table_new(headers);
    g_autoptr(GPtrArray) targets = orch_curve_answer_targets(answer, a);
    for (guint i = 0; i < targets->len; i++)
        add_target(table, targets->pdata[i]);
    return table;
}

/* Returns at most BRIDGE_ROWS of its steps, evenly spaced, including both ends. */
static struct orch_table *bridge_table(const struct orch_isotonic *bridge)
{
    static const char *const headers[] = {">loss", ">accuracy", NULL};
    struct orch_table *table = orch_table_new(headers);
    size_t rows = MIN(bridge->count, BRIDGE_ROWS);
    for (size_t i = 0; i < rows; i++) {
        size_t at = rows > 1 ? i * (bridge->count - 1) / (rows - 1) : 0;
        orch_table_add_real(table, bridge->x[at]);
        orch_table_add_real(table, bridge->y[at]);
    }
    return table;
}

/* ---- printing ---------------------------------------------------------------------------------
 */

static void print_notes(const struct orch_curve_answer *answer, const struct orch_curve_ask *a)
{
    const struct orch_run_curve *first = curve_of(answer, 0);
    bool is_mixed = false;
    for (guint i = 1; i < answer->curves->len; i++)
        is_mixed = is_mixed || curve_of(answer, i)->is_by_epoch != first->is_by_epoch;
    if (has_form(answer, ORCH_CURVE_OPTIMUS))
        printf("optimus: loss = 1/(b0 k + b1) + b2, all b >= 0 (Peng et al. 2018, equation 1)\n");
    if (has_form(answer, ORCH_CURVE_OPTIMUS) && answer->has_errors)
        printf("in brackets: standard errors, as if each point's error were independent\n");
    if (has_form(answer, ORCH_CURVE_POWER))
        printf("power: loss = a + b (k + d)^-c; chosen where it fits much better than optimus\n");
    orch_cli_print("k counts %s, from the start of its learning-rate stage ('from'); losses %s",
                   is_mixed             ? "steps or epochs, as the series does"
                   : first->is_by_epoch ? "epochs"
                                        : "steps",
                   a->fit.is_normalised ? "are divided by each run's largest" : "as recorded");
    printf("R2 and error (mean of |fitted - measured| / measured) are over all of the run's "
           "points\n");
    if (a->fit.neighbours)
        for (guint i = 0; i < answer->curves->len; i++) {
            const struct orch_stages *stages = result_of(answer, i)->stages;
            size_t replaced = 0;
            for (size_t s = 0; s < stages->count; s++)
                replaced += stages->curves[s].replaced;
            orch_cli_print("%s: %zu outlier%s replaced",
                           orch_cli_short_key(curve_of(answer, i)->key), replaced,
                           orch_plural(replaced));
        }
}

static void print_target_notes(const struct orch_curve_answer *answer,
                               const struct orch_curve_ask *a)
{
    const char *from = NULL;
    for (guint i = 0; i < answer->curves->len && !from; i++)
        from = curve_of(answer, i)->s_from;
    if (!isnan(a->accuracy) && !isnan(answer->bridge_loss))
        printf("accuracy %g is crossed at loss %g: isotonic fit of accuracy on loss, over %zu "
               "points of all these runs\n",
               a->accuracy, answer->bridge_loss, answer->bridge->count);
    if (from)
        orch_cli_print("time: at the run's own speed, from %s",
                       strcmp(from, "epoch_time") == 0 ? "epoch_time (validation left out)"
                                                       : "the times at which its points came");
}

static void print_text(struct orch_cli *cli, const struct orch_curve_answer *answer,
                       const struct orch_curve_ask *a, bool has_targets)
{
    orch_cli_table_print(cli, fit_table(answer, false), "curves");
    print_notes(answer, a);
    if (answer->predicted)
        predicted_curve_print(cli, answer->predicted);
    if (!has_targets)
        return;
    printf("\n");
    orch_cli_table_print(cli, target_table(answer, a, false), "targets");
    print_target_notes(answer, a);
    if (!answer->bridge)
        return;
    printf("\n");
    orch_cli_table_print(cli, bridge_table(answer->bridge), "bridge");
}

static void print(struct orch_cli *cli, const struct orch_curve_answer *answer,
                  const struct orch_curve_ask *a, const char *format)
{
    bool has_targets = !isnan(a->loss) || !isnan(a->accuracy) || a->epochs;
    if (cli->json) {
        json_t *out = json_pack("{s:i s:o}", "schema_version", 1, "curves",
                                orch_cli_table_to_json(fit_table(answer, true)));
        if (answer->predicted)
            json_object_set_new(out, "predicted", predicted_curve_json(answer->predicted));
        if (has_targets)
            json_object_set_new(out, "targets",
                                orch_cli_table_to_json(target_table(answer, a, true)));
        if (answer->bridge)
            json_object_set_new(out, "bridge",
                                orch_cli_table_to_json(bridge_table(answer->bridge)));
        orch_cli_print_json(out);
    } else if (format && strcmp(format, "text") != 0) {
        if (has_targets)
            orch_cli_table_print_as(cli, target_table(answer, a, false), "targets", format);
        else if (answer->predicted)
            orch_cli_table_print_as(cli, predicted_curve_table(answer->predicted), "curve", format);
        else
            orch_cli_table_print_as(cli, fit_table(answer, false), "curves", format);
    } else {
        print_text(cli, answer, a, has_targets);
    }
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
        orch_cli_info(cli, "%u run%s without such a series %s left out", answer->without,
                      orch_plural(answer->without), answer->without == 1 ? "is" : "are");
    return answer;
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
        orch_error_set(error, ORCH_ERROR_USAGE, "choose one of them",
                       "--json and --format cannot be combined");
    else if (idle)
        orch_error_set(error, ORCH_ERROR_USAGE, "add --net NAME, the network that was not run",
                       "option '--%s' does nothing without --net", idle);
    else
        return true;
    return false;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct curve_options *o = options;
    struct orch_curve_ask ask;
    int64_t classes = 0;
    if (!options_fit(cli, o, error) || !read_ask(o, &ask, error) ||
        !orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return -1;
    const struct orch_curve_question other = {
        {.name = o->net, .input = o->input, .classes = (int)classes}, o->gpu, ask.epochs};
    ask.other = o->net ? &other : NULL;
    struct orch_curve_answer *answer = answer_of(cli, o->where, &ask, error);
    if (answer)
        print(cli, answer, &ask, o->format);
    orch_curve_answer_free(answer);
    return answer ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_CURVE = {
    .name = "curve",
    .group = "Networks and hardware",
    .summary = "fit the loss curves of runs, and predict when they reach a target",
    .usage = "[RUN...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct curve_options),
    .about =
        "Fits the loss of stored runs, one curve for each stage of the learning rate, and prints\n"
        "when they reach a loss or an accuracy, in steps, epochs and time at the run's own speed\n"
        "(docs/curves.md). With --net it also predicts the curve of a network that was not run,\n"
        "from the curves of the runs' networks.",
    .examples =
        "orch curve @last --target-accuracy 92%   # how long until 92 %?\n"
        "orch curve --where 'recipe=hw4 and net~resnet' --format csv\n"
        "orch curve --where 'recipe=hw4' --net resnet-cifar:44   # a network that was not run",
    .run = run,
};
