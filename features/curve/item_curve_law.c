/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `curve_law`: regresses the curves' parameters on network size and device, and compares
 * the predicted curve with the measured one of a network that was left out. */
#include "features/curve/curve_items.h"

#include "core/report/answer.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Number of ranges of steps over which measured and predicted losses are compared. */
#define RANGES 10

enum { COEFFICIENTS = 3 }; /* b0, b1, b2 of the first stage */

/* ---- against the measured -------------------------------------------------------------------- */

/* A network that was left out, on one device. */
struct held {
    const struct orch_curve_set_cell *cell;
    const char *net, *device;
    struct orch_stages *predicted;
    double from_k; /* after warm-up */
    struct orch_goodness predicted_good, own_good, nearest_good, mean_good;
    double plain_error;  /* of the regression on layers and device; NaN: no such regression */
    const char *nearest; /* the network of the family with the nearest log FLOPs */
    struct {
        double from, to, measured, predicted;
    } ranges[RANGES];
    int range_count;
    double range_error; /* mean of |predicted - measured| / measured over the ranges' means */
};

static void held_clear(void *pointer)
{
    orch_stages_free(((struct held *)pointer)->predicted);
}

/* The fitted curve of the nearest network, on the same device where there is one. */
static const struct orch_curve_set_cell *nearest_cell(const struct orch_curve_set *set,
                                                      const struct orch_curve_set_network *net,
                                                      const char *where)
{
    const struct orch_curve_set_cell *best = NULL;
    double least = HUGE_VAL;
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        double off = fabs(orch_curve_set_net(set, cell->net)->features[2] - net->features[2]);
        bool is_here = g_strcmp0(set->devices->pdata[cell->device], where) == 0;
        if (cell->fit.stages && (off < least || (off == least && is_here))) {
            least = off;
            best = cell;
        }
    }
    return best;
}

/* Evaluates the mean of the family's fitted curves as a prediction of this curve. */
static struct orch_goodness judge_mean(const struct orch_curve_set *set,
                                       const struct orch_run_curve *c, double from_k)
{
    struct orch_goodness good = {.relative_error = NAN};
    double sum = 0;
    size_t points = 0;
    for (size_t i = 0; i < c->count; i++) {
        double loss = 0;
        int curves = 0;
        for (guint j = 0; j < set->cells->len; j++) {
            const struct orch_curve_set_cell *cell = set->cells->pdata[j];
            if (cell->fit.stages && !cell->copy_of) {
                loss += orch_stages_loss(cell->fit.stages, c->k[i]);
                curves++;
            }
        }
        if (c->k[i] < from_k || !curves || !(c->loss[i] > 0))
            continue;
        sum += fabs(loss / curves - c->loss[i]) / c->loss[i];
        points++;
    }
    if (points)
        good.relative_error = sum / (double)points;
    good.points = points;
    return good;
}

static void fill_ranges(struct held *h, const struct orch_run_curve *c)
{
    double last = c->k[c->count - 1], width = (last - h->from_k) / RANGES, errors = 0;
    for (int r = 0; r < RANGES; r++) {
        double low = h->from_k + r * width, high = low + width, measured = 0, predicted = 0;
        int points = 0;
        for (size_t i = 0; i < c->count; i++) {
            if (c->k[i] < low || c->k[i] > high || (c->k[i] == high && r + 1 < RANGES))
                continue;
            measured += c->loss[i];
            predicted += orch_stages_loss(h->predicted, c->k[i]);
            points++;
        }
        if (!points)
            continue;
        h->ranges[h->range_count].from = ceil(low);
        h->ranges[h->range_count].to = r + 1 < RANGES ? ceil(high) - 1 : floor(high);
        h->ranges[h->range_count].measured = measured / points;
        h->ranges[h->range_count++].predicted = predicted / points;
        errors += fabs(predicted - measured) / measured;
    }
    h->range_error = h->range_count ? errors / h->range_count : (double)NAN;
}

static void compare(struct held *h, const struct orch_curve_set *set,
                    const struct orch_curve_set_law *law, const struct orch_curve_set *held_set,
                    const struct orch_curve_set_cell *cell, double warmup)
{
    const struct orch_curve_set_network *net = orch_curve_set_net(held_set, cell->net);
    const char *where = held_set->devices->pdata[cell->device];
    const struct orch_run_curve *c = cell->curve;
    int device = -1;
    for (guint i = 0; i < set->devices->len; i++)
        if (strcmp(set->devices->pdata[i], where) == 0)
            device = (int)i;
    h->cell = cell;
    h->net = net->name;
    h->device = orch_curve_set_device(held_set, cell->device);
    h->predicted = orch_curve_set_law_curve(law, net->features, device);
    h->from_k = fmax(c->warmup_k, warmup * c->k[c->count - 1]);
    h->predicted_good = orch_stages_goodness(h->predicted, c->k, c->loss, c->count, h->from_k);
    struct orch_stages *plain = orch_curve_ols_curve(law, net->features, device);
    h->plain_error =
        plain ? orch_stages_goodness(plain, c->k, c->loss, c->count, h->from_k).relative_error
              : (double)NAN;
    orch_stages_free(plain);
    h->own_good = orch_stages_goodness(cell->fit.stages, c->k, c->loss, c->count, h->from_k);
    h->mean_good = judge_mean(set, c, h->from_k);
    const struct orch_curve_set_cell *near = nearest_cell(set, net, where);
    if (near) {
        h->nearest = orch_curve_set_net(set, near->net)->name;
        h->nearest_good =
            orch_stages_goodness(near->fit.stages, c->k, c->loss, c->count, h->from_k);
    }
    fill_ranges(h, c);
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Warns about each regression whose single coefficients are not determined (ill-conditioned). */
static void add_conditions(struct orch_section *section, const struct orch_curve_set_law *law)
{
    for (int i = 0; i < law->law->outputs; i++) {
        const struct orch_law_line *line = &law->law->lines[i];
        g_autofree char *name = orch_curve_set_law_param(law, i);
        if (line->condition >= ORCH_LAW_CONDITION_MOST)
            orch_section_text(section,
                              "the law of %s is ill-conditioned (condition number %.2g, %g or "
                              "more): do not trust its single coefficients, or its predictions "
                              "outside of the range of these networks",
                              name, line->condition, ORCH_LAW_CONDITION_MOST);
    }
}

static bool r2_counts(const struct orch_curve_set_law *law, const struct orch_law_line *line)
{
    return orch_law_r2_counts(law->law->networks, orch_law_coefficients(line));
}

/* Names the parameters whose R2 is not shown, because their line has too many coefficients. */
static void add_few_networks(struct orch_section *section, const struct orch_curve_set_law *law)
{
    const int networks = law->law->networks;
    for (int i = 0; i < law->law->outputs; i++) {
        const struct orch_law_line *line = &law->law->lines[i];
        const int coefficients = orch_law_coefficients(line);
        g_autofree char *name = orch_curve_set_law_param(law, i);
        if (coefficients > 1 && !r2_counts(law, line))
            orch_section_note(section,
                              "no R2 of %s: %d coefficients on %d networks leave %d degree%s of "
                              "freedom, so even random data would give a large R2",
                              name, coefficients, networks, MAX(networks - coefficients, 0),
                              orch_plural(MAX(networks - coefficients, 0)));
    }
}

static void add_law(struct orch_section *section, const struct orch_curve_set_law *law)
{
    static const char *const headers[] = {
        "of",           "scale", ">constant",         ">layers",    ">log10 params",
        ">log10 FLOPs", ">R2",   ">left-out error %", ">condition", NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_set_heading(table, 0, NULL, "parameter");
    orch_table_set_heading(table, 8, NULL, "condition number");
    for (int i = 0; i < law->law->outputs; i++) {
        const struct orch_law_line *line = &law->law->lines[i];
        g_autofree char *name = orch_curve_set_law_param(law, i);
        orch_table_add(table, name, NULL);
        orch_table_add(table, line->is_log ? "ln" : "as it is", NULL);
        orch_table_add_estimate(table, line->intercept, line->intercept_se);
        for (int f = 0; f < ORCH_LAW_FEATURES; f++)
            orch_table_add_estimate(table, line->uses[f] ? line->slopes[f] : (double)NAN,
                                    line->slope_se[f]);
        orch_table_add_real(table, r2_counts(law, line) ? line->r2 : (double)NAN);
        orch_table_add_real(table, 100 * line->left_out_error);
        orch_table_add_real(table, line->condition);
    }
    orch_section_table(section, table);
    orch_section_note(
        section,
        "these terms are fitted to %d independent curve%s of %d network%s. Each parameter uses the "
        "features (layers, params, FLOPs) that best predict a network left out of the fit. '-': a "
        "feature that is not used%s",
        law->used, orch_plural(law->used), law->law->networks, orch_plural(law->law->networks),
        law->law->networks < 3 ? ". With fewer than 3 networks each parameter is a constant" : "");
    if (law->copies)
        orch_section_note(
            section, "%d further curve%s equal%s one of these exactly, %s, and %s not used twice",
            law->copies, orch_plural(law->copies), law->copies == 1 ? "s" : "", law->copies_why,
            law->copies == 1 ? "is" : "are");
    orch_section_note(
        section,
        "in brackets: the standard error, which counts all curves of a network as one. Scale 'ln': "
        "constant + each term x its feature is the natural logarithm of the parameter. The "
        "left-out error is the error for networks that were used neither to choose features nor to "
        "fit. From a condition number of %g on, small errors of the data change the terms much",
        ORCH_LAW_CONDITION_MOST);
    add_few_networks(section, law);
    add_conditions(section, law);
    if (law->passed)
        orch_section_note(section,
                          "%d curve%s left out: other learning-rate stages, or a network whose "
                          "layers cannot be counted",
                          law->passed, orch_plural(law->passed));
}

/* Says why no F test is possible although there are several devices. */
static void add_untested(struct orch_section *section, const struct orch_curve_set_law *law)
{
    if (law->copies)
        orch_section_text(section,
                          "whether the device matters cannot be tested: the losses on the devices "
                          "are equal to the last bit, %s. With 'seed: device' in the recipe's "
                          "experiments each device has seeds of its own",
                          law->copies_why);
    else
        orch_section_note(section, "the device's effect cannot be tested: each of several networks "
                                   "needs independent curves on two devices");
}

static void add_test(struct orch_section *section, const struct orch_curve_set_law *law)
{
    static const char *const headers[] = {
        "of", ">mean difference between devices %", ">F", ">p", "does the device matter?", NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_set_heading(table, 0, NULL, "parameter");
    bool any = false, tested = false;
    for (int i = 0; i < law->law->outputs; i++) {
        const struct orch_law_test *test = &law->law->lines[i].test;
        g_autofree char *name = orch_curve_set_law_param(law, i);
        g_autofree char *f = isnan(test->f) ? g_strdup("-")
                                            : g_strdup_printf("F(%d, %d) = %.3g", test->df_device,
                                                              test->df_rest, test->f);
        any = any || test->matters;
        tested = tested || !isnan(test->p);
        orch_table_add(table, name, NULL);
        orch_table_add_real(table, 100 * test->largest);
        orch_table_add(table, f, orch_json_real_or_null(test->f));
        orch_table_add_real(table, test->p);
        orch_table_add(table,
                       isnan(test->p)  ? "cannot be tested"
                       : test->matters ? "yes"
                                       : "no",
                       NULL);
    }
    if (law->law->devices < 2) {
        orch_table_free(table);
        orch_section_note(
            section, "there is only one device, so whether the device matters cannot be tested");
        return;
    }
    if (!tested) {
        orch_table_free(table);
        add_untested(section, law);
        return;
    }
    orch_section_table(section, table);
    orch_section_note(
        section,
        "the devices are compared on the same networks (F test, significant if p < 0.05 / %d). %s",
        law->law->outputs,
        any ? "The prediction includes a significant effect. Steps to a loss should not depend on "
              "the device: look for what else differs"
            : "No effect of the device is found, so the model has no term for it");
}

void orch_curve_law_describe(struct orch_section *section, const struct orch_curve_set_law *law)
{
    add_law(section, law);
    add_test(section, law);
}

static void add_ranges(struct orch_section *section, const GArray *held)
{
    const struct held *first = &g_array_index(held, struct held, 0);
    static const char *const headers[] = {">steps", ">measured", ">predicted", ">error %", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (int r = 0; r < first->range_count; r++) {
        g_autofree char *steps =
            g_strdup_printf("%.0f-%.0f", first->ranges[r].from, first->ranges[r].to);
        double measured = first->ranges[r].measured, predicted = first->ranges[r].predicted;
        orch_table_add(table, steps, NULL);
        orch_table_add_real(table, measured);
        orch_table_add_real(table, predicted);
        orch_table_add_real(table, 100 * (predicted - measured) / measured);
    }
    orch_section_table(section, table);
    orch_section_note(section, "each row is the mean loss over a range of steps of %s on %s",
                      first->net, first->device);
}

static void add_errors(struct orch_section *section, const GArray *held)
{
    static const char *const headers[] = {"left out",
                                          "device",
                                          ">b0",
                                          ">b1",
                                          ">b2",
                                          ">predicted %",
                                          ">by ranges %",
                                          ">layers + device %",
                                          ">its own fit %",
                                          ">nearest network %",
                                          ">mean curve %",
                                          NULL};
    struct orch_table *table = orch_table_new(headers);
    static const char *const curves[] = {"predicted",   "by ranges",       "layers + device",
                                         "its own fit", "nearest network", "mean curve",
                                         NULL};
    for (unsigned i = 0; curves[i]; i++)
        orch_table_set_heading(table, 5 + i, "error (%)", curves[i]);
    for (guint i = 0; i < held->len; i++) {
        const struct held *h = &g_array_index(held, struct held, i);
        orch_table_add(table, h->net, NULL);
        orch_table_add(table, h->device, NULL);
        for (int j = 0; j < COEFFICIENTS; j++)
            orch_table_add_real(table, h->predicted->curves[0].b[j]);
        orch_table_add_real(table, 100 * h->predicted_good.relative_error);
        orch_table_add_real(table, 100 * h->range_error);
        orch_table_add_real(table, 100 * h->plain_error);
        orch_table_add_real(table, 100 * h->own_good.relative_error);
        orch_table_add_real(table, 100 * h->nearest_good.relative_error);
        orch_table_add_real(table, 100 * h->mean_good.relative_error);
    }
    orch_section_table(section, table);
    const struct held *h = &g_array_index(held, struct held, 0);
    orch_section_note(
        section,
        "b0 to b2 are predicted%s. Each error is the mean of |predicted - measured| / measured "
        "from step %.0f on. The columns of errors: 'predicted' compares the predicted curve at "
        "each step. 'by ranges' compares its means over %d ranges of steps. 'layers + device' is "
        "the second model. 'its own fit' is fitted to the network itself. 'nearest "
        "network' is the curve of %s. 'mean curve' is the mean of all fitted curves",
        h->predicted->count > 1 ? " (first stage)" : "", ceil(h->from_k), RANGES,
        h->nearest ? h->nearest : "the nearest network");
}

/* "error of the predicted curve: 4.5 % (resnet-cifar:20 on 1 thread); of its own fit: 2 %; ..." */
static void add_answer(struct orch_section *section, const GArray *held)
{
    g_autoptr(GArray) predicted = orch_answer_entries_new(), own = orch_answer_entries_new(),
                      near = orch_answer_entries_new();
    g_autoptr(GString) text = g_string_new(NULL);
    const double none = (double)NAN;
    for (guint i = 0; i < held->len; i++) {
        const struct held *h = &g_array_index(held, struct held, i);
        g_autofree char *label = g_strdup_printf("%s on %s", h->net, h->device);
        g_autofree char *nearest =
            g_strdup_printf("%s (nearest: %s)", label, h->nearest ? h->nearest : "-");
        orch_answer_entries_add(predicted, label, 100 * h->predicted_good.relative_error, none,
                                none);
        orch_answer_entries_add(own, label, 100 * h->own_good.relative_error, none, none);
        orch_answer_entries_add(near, nearest, 100 * h->nearest_good.relative_error, none, none);
    }
    orch_answer_entries_append(text, predicted, "error of the predicted curve", "%");
    orch_answer_entries_append(text, own, "error of the curve fitted to the network itself", "%");
    orch_answer_entries_append(
        text, near, "error if the curve of the network nearest in FLOPs is used instead", "%");
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}

static void draw_held(struct orch_section *section, const struct orch_curve_set *set,
                      const struct orch_curve_set_law *law, const GArray *held)
{
    struct orch_heldout_error error = orch_curve_set_law_leave_out(set, law);
    g_autofree struct orch_heldout_curve *curves = g_new0(struct orch_heldout_curve, held->len);
    for (guint i = 0; i < held->len; i++) {
        const struct held *h = &g_array_index(held, struct held, i);
        curves[i] = (struct orch_heldout_curve){h->net, h->device, h->cell->curve, h->predicted};
    }
    orch_heldout_curves_chart(curves, held->len, isnan(error.mean) ? (double)NAN : error.worst,
                              section);
}

static void add_held(struct orch_section *section, const struct orch_report_item *item,
                     const struct orch_curve_set *set, const struct orch_curve_set_law *law,
                     const struct orch_curve_set *held_set)
{
    GArray *held = g_array_new(FALSE, TRUE, sizeof(struct held));
    double warmup = ORCH_SET_WARMUP;
    const char *text = orch_json_text(item->spec, "warmup", NULL);
    unsigned missing = 0;
    g_array_set_clear_func(held, held_clear);
    if (text)
        orch_real_parse(text, &warmup);
    for (guint i = 0; i < held_set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = held_set->cells->pdata[i];
        struct held h = {0};
        if (!cell->fit.stages || !isfinite(orch_curve_set_net(held_set, cell->net)->features[0])) {
            missing++;
            continue;
        }
        compare(&h, set, law, held_set, cell, warmup);
        g_array_append_val(held, h);
    }
    if (held->len) {
        add_errors(section, held);
        add_answer(section, held);
        draw_held(section, set, law, held);
        add_ranges(section, held);
    }
    const int own = orch_curve_set_independent(held_set), copies = orch_curve_set_copies(held_set);
    if (copies)
        orch_section_note(
            section, "the %d curves of left-out networks count as %d: some are exactly equal, %s",
            own + copies, own, orch_curve_set_copies_why(held_set));
    if (!held_set->cells->len)
        orch_section_note(section,
                          "the left-out network is not among the trials that were asked for");
    else if (missing)
        orch_section_note(section, "of the left-out network's own curves, %u of %u are missing",
                          missing, held_set->cells->len);
    g_array_unref(held);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    (void)error;
    GError *problem = NULL;
    struct orch_curve_set *set = orch_curve_set_gather(a->plan, a->item, "experiments");
    struct orch_curve_set *held_set = orch_curve_set_gather(a->plan, a->item, "held_out");
    struct orch_curve_set_law *law = orch_curve_set_law_fit(set, &problem);
    orch_curve_set_note(set, a, "experiments");
    orch_curve_set_note(held_set, a, "held_out");
    if (law) {
        orch_curve_law_describe(a->section, law);
        orch_curve_ols_describe(a->section, law, set);
        add_held(a->section, a->item, set, law, held_set);
    } else {
        static const char *const keys[] = {"experiments", NULL};
        g_autofree char *hint = orch_section_hint(a, keys);
        orch_section_missing(a->section, hint, "%s", problem->message);
    }
    g_clear_error(&problem);
    orch_curve_set_law_free(law);
    orch_curve_set_free(held_set);
    orch_curve_set_free(set);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "held_out", .shape = ORCH_SHAPE_OTHER_EXPERIMENTS, .is_required = true},
    {.name = "value", .shape = ORCH_SHAPE_SERIES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "devices", .shape = ORCH_SHAPE_TEXTS},
    {.name = "warmup", .shape = ORCH_SHAPE_NUMBERS},
    {0}};

const struct orch_report_kind ORCH_REPORT_CURVE_LAW = {
    .name = "curve_law",
    .keys = KEYS,
    .is_slow = true,
    .place = "gpu",
    .fill = fill,
};
