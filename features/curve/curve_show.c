/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answers of `orch curve` as tables, text and JSON. */
#include "core/cli/cli.h"
#include "core/cli/recipe_plan.h"
#include "features/curve/curve_answer.h"
#include "features/curve/curve_items.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- the curve of a network that was not run ------------------------------------------------- */

/* Rows of the relation between loss and accuracy that are shown. */
#define BRIDGE_ROWS 8
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
    g_autofree char *title = g_strdup_printf("predicted for %s from the runs' networks", p->net);
    struct orch_section *section = orch_document_add(document, "curve_law", NULL, title);
    orch_curve_law_describe(section, p->law);
    orch_section_table(section, params_table(p));
    orch_section_table(section, predicted_curve_table(p));
    orch_section_note(section, "%s",
                      p->device ? p->device : "mean over all devices (one device: --gpu GPU)");
    if (p->left_out.networks)
        orch_section_note(section,
                          "error when each of %d networks is left out and predicted from the "
                          "others: %.3g %% on average, %.3g %% at worst",
                          p->left_out.networks, 100 * p->left_out.mean, 100 * p->left_out.worst);
    else
        orch_section_note(section, "the error of this prediction is unknown, because it needs runs "
                                   "of at least 3 networks");
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

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct orch_run_curve *curve_of(const struct orch_curve_answer *answer, guint i)
{
    return answer->curves->pdata[i];
}

static const struct orch_curve_result *result_of(const struct orch_curve_answer *answer, guint i)
{
    return &g_array_index(answer->results, struct orch_curve_result, i);
}

/* The forms, and what is said beside them. */
static const struct {
    const char *name, *meaning;
} FORMS[] = {
    [ORCH_CURVE_OPTIMUS] = {"optimus",
                            "loss = 1/(b0 k + b1) + b2, all b >= 0 (Peng et al. 2018, equation 1)"},
    [ORCH_CURVE_POWER] = {"power", "loss = a + b (k + d)^-c"},
    [ORCH_CURVE_EXPONENTIAL] = {"exponential", "loss = a + b e^(-c k)"},
    [ORCH_CURVE_LINE] = {"line", "loss = a - b k, which has no limit"},
    {"flat", "the mean of a stage of the learning rate in which the loss does not fall"},
    {"relative", "fitted to relative errors, without the first fifth of the points"},
};
enum { FLAT = ORCH_CURVE_LINE + 1, RELATIVE };

/* Those that are there, as bits. */
static int forms_of(const struct orch_curve_answer *answer)
{
    int found = 0;
    for (guint i = 0; i < answer->results->len; i++)
        for (size_t s = 0; s < result_of(answer, i)->stages->count; s++) {
            const struct orch_curve *curve = &result_of(answer, i)->stages->curves[s];
            found |= 1 << curve->form | curve->is_flat << FLAT | curve->is_relative << RELATIVE;
        }
    return found;
}

static bool has_form(const struct orch_curve_answer *answer, enum orch_curve_form form)
{
    int optimus = 1 << ORCH_CURVE_OPTIMUS, others = (1 << FLAT) - 1 - optimus;
    return forms_of(answer) & (form == ORCH_CURVE_OPTIMUS ? optimus : others);
}

static void add_form(struct orch_table *table, const struct orch_curve *curve)
{
    g_autofree char *text =
        g_strconcat(FORMS[curve->is_flat ? FLAT : (int)curve->form].name,
                    curve->is_relative && !curve->is_flat ? ", relative" : NULL, NULL);
    orch_table_add(table, text, NULL);
}

static void add_params(struct orch_table *table, const struct orch_curve *curve,
                       enum orch_curve_form form)
{
    bool is_same = (curve->form == ORCH_CURVE_OPTIMUS) == (form == ORCH_CURVE_OPTIMUS);
    for (int j = 0; j < orch_curve_params(form); j++)
        orch_table_add_real(table, is_same && j < orch_curve_params(curve->form) ? curve->b[j]
                                                                                 : (double)NAN);
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

/* "0.31 (0.28 to 0.33)"; in JSON the ends are columns of their own. */
static void add_limit(struct orch_table *table, struct orch_interval limit, bool is_json)
{
    if (is_json) {
        orch_table_add_real(table, limit.mid);
        orch_table_add_real(table, limit.low);
        orch_table_add_real(table, limit.high);
        return;
    }
    g_autofree char *text =
        isfinite(limit.low) && isfinite(limit.high)
            ? g_strdup_printf("%.4g (%.3g to %.3g)", limit.mid, limit.low, limit.high)
            : g_strdup_printf(isnan(limit.mid) ? "-" : "%.4g", limit.mid);
    orch_table_add(table, text, NULL);
}

static void add_stage(struct orch_table *table, const struct orch_curve_answer *answer, guint i,
                      size_t s, bool is_json)
{
    const struct orch_run_curve *c = curve_of(answer, i);
    const struct orch_curve_result *r = result_of(answer, i);
    const struct orch_curve *curve = &r->stages->curves[s];
    orch_table_add(table, orch_run_short_key(c->key), json_string(c->key));
    orch_table_add(table, c->net ? c->net : "-", orch_json_text_or_null(c->net));
    orch_table_add(table, orch_place_short(c->where, answer->places), json_string(c->where));
    g_autofree char *metric =
        c->is_accuracy ? g_strdup_printf("1 - %s", c->metric) : g_strdup(c->metric);
    orch_table_add(table, metric, NULL);
    add_form(table, curve);
    orch_table_add_real(table, r->stages->starts[s]);
    if (has_form(answer, ORCH_CURVE_OPTIMUS))
        add_estimates(table, answer, i, s, is_json);
    if (has_form(answer, ORCH_CURVE_POWER))
        add_params(table, curve, ORCH_CURVE_POWER);
    add_limit(table, r->limits[s], is_json);
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
    static const char *const limits[] = {">tends to", ">tends_to_low", ">tends_to_high"};
    const char *const last[] = {">points", ">R2", is_json ? ">error_percent" : ">error %"};
    const char *headers[G_N_ELEMENTS(first) + G_N_ELEMENTS(optimus) + G_N_ELEMENTS(errors) +
                        G_N_ELEMENTS(power) + G_N_ELEMENTS(limits) + G_N_ELEMENTS(last) + 1] = {
        NULL};
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
    for (size_t i = 0; i < (is_json ? G_N_ELEMENTS(limits) : 1); i++)
        headers[count++] = limits[i];
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
    return g_uuid_string_is_valid(key) ? orch_run_short_key(key) : key;
}

/* "1200 to 1900", "from 1200" (perhaps never), or "-". The caller frees. */
static char *step_interval_text(struct orch_interval step)
{
    if (isnan(step.low))
        return g_strdup("-");
    if (!isfinite(step.high))
        return isfinite(step.low) ? g_strdup_printf("from %.0f", step.low) : g_strdup("-");
    return g_strdup_printf("%.0f to %.0f", step.low, step.high);
}

static void add_target(struct orch_table *table, const struct orch_curve_target *t, bool is_json)
{
    g_autofree char *time = isnan(t->seconds) ? g_strdup("-") : orch_duration_format(t->seconds);
    orch_table_add(table, label_of(t->key), json_string(t->key));
    orch_table_add(table, t->target, NULL);
    g_autofree char *interval = step_interval_text(t->step);
    g_autofree char *at =
        isnan(t->at.low) ? NULL
                         : g_strdup_printf("%.4g (%.3g to %.3g)", t->loss, t->at.low, t->at.high);
    if (at && !is_json)
        orch_table_add(table, at, NULL);
    else
        orch_table_add_real(table, t->loss);
    orch_table_add(table, t->why_not ? t->why_not : "yes", NULL);
    orch_table_add_real(table, t->steps);
    if (is_json) {
        orch_table_add_real(table, t->step.low);
        orch_table_add_real(table, t->step.high);
        orch_table_add_real(table, t->at.low);
        orch_table_add_real(table, t->at.high);
    } else {
        orch_table_add(table, interval, NULL);
    }
    orch_table_add_real(table, t->epochs);
    orch_table_add(table, time, orch_json_real_or_null(t->seconds));
    orch_table_add_real(table, t->seen_epoch);
}

static struct orch_table *target_table(const struct orch_curve_answer *answer,
                                       const struct orch_curve_ask *a, bool is_json)
{
    static const char *const text[] = {
        "run",     "target", ">loss",          "reached", ">step", ">90 % interval",
        ">epochs", ">time",  ">seen at epoch", NULL};
    static const char *const json[] = {"run",        "target",    ">loss",      "reached",
                                       ">step",      ">step_low", ">step_high", ">loss_low",
                                       ">loss_high", ">epochs",   ">time_s",    ">seen at epoch",
                                       NULL};
    const char *const *headers = is_json ? json : text;
    struct orch_table *table = orch_table_new(headers);
    g_autoptr(GPtrArray) targets = orch_curve_answer_targets(answer, a);
    for (guint i = 0; i < targets->len; i++)
        add_target(table, targets->pdata[i], is_json);
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

/* ---- printing -------------------------------------------------------------------------------- */

static void print_notes(const struct orch_curve_answer *answer, const struct orch_curve_ask *a)
{
    const struct orch_run_curve *first = curve_of(answer, 0);
    int forms = forms_of(answer);
    bool is_mixed = false;
    for (guint i = 1; i < answer->curves->len; i++)
        is_mixed = is_mixed || curve_of(answer, i)->is_by_epoch != first->is_by_epoch;
    for (size_t f = 0; f < G_N_ELEMENTS(FORMS); f++)
        if (forms & 1 << f)
            printf("%s: %s\n", FORMS[f].name, FORMS[f].meaning);
    if (has_form(answer, ORCH_CURVE_OPTIMUS) && answer->has_errors)
        printf("in brackets: standard errors\n");
    if (a->choice == ORCH_CURVE_AUTO)
        printf("form: the one that forecast the end of the curve best from its earlier parts\n");
    printf("tends to: the loss after very many steps, in brackets its 90 %% interval\n");
    orch_cli_print("k counts %s since the last change of the learning rate ('from'); losses %s",
                   is_mixed             ? "steps or epochs"
                   : first->is_by_epoch ? "epochs"
                                        : "steps",
                   a->fit.is_normalised ? "are divided by each run's largest loss" : "as recorded");
    printf("error: the mean of |fitted - measured| / measured over all points of the run\n");
    if (a->fit.neighbours)
        for (guint i = 0; i < answer->curves->len; i++) {
            const struct orch_stages *stages = result_of(answer, i)->stages;
            size_t replaced = 0;
            for (size_t s = 0; s < stages->count; s++)
                replaced += stages->curves[s].replaced;
            orch_cli_print("%s: %zu outlier%s replaced",
                           orch_run_short_key(curve_of(answer, i)->key), replaced,
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
        printf("accuracy %g is reached at loss %g (isotonic regression, %zu points of all these "
               "runs)\n",
               a->accuracy, answer->bridge_loss, answer->bridge->count);
    if (answer->bridge && isnan(answer->bridge_loss))
        printf(
            "no run reached accuracy %g, so only a curve of 1 - accuracy can forecast the step\n",
            a->accuracy);
    if (from)
        orch_cli_print("time: computed from %s", strcmp(from, "epoch_time") == 0
                                                     ? "epoch_time (validation left out)"
                                                     : "the times of the run's points");
}

static void print_text(struct orch_cli *cli, const struct orch_curve_answer *answer,
                       const struct orch_curve_ask *a, bool has_targets)
{
    if (answer->curves->len) {
        orch_cli_table_print(cli, fit_table(answer, false), "curves");
        print_notes(answer, a);
    }
    if (answer->predicted)
        predicted_curve_print(cli, answer->predicted);
    if (!has_targets)
        return;
    printf(answer->curves->len ? "\n" : "");
    orch_cli_table_print(cli, target_table(answer, a, false), "targets");
    print_target_notes(answer, a);
    if (!answer->bridge)
        return;
    printf("\n");
    orch_cli_table_print(cli, bridge_table(answer->bridge), "bridge");
}

void orch_cli_curve_print(struct orch_cli *cli, const struct orch_curve_answer *answer,
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
