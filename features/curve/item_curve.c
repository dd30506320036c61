/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `curve`: a table of the fitted loss curves, network by device, with the user who ran
 * each. */
#include "features/curve/curve_items.h"

#include "core/report/answer.h"

#include <math.h>
#include <string.h>

/* Curves whose parameters a sentence lists one by one. */
enum { LISTED_MOST = 3 };

static bool is_repeated(const struct orch_curve_set *set)
{
    for (guint i = 0; i < set->cells->len; i++)
        if (((const struct orch_curve_set_cell *)set->cells->pdata[i])->repeat > 1)
            return true;
    return false;
}

static void add_missing(struct orch_table *table, const struct orch_curve_set_cell *cell)
{
    orch_table_add(table, "-", NULL);
    for (int i = 0; i < 3; i++)
        orch_table_add(table, "-", NULL);
    orch_table_add(table, "-", NULL);
    orch_table_add(table, "-", NULL);
    orch_table_add(table, "-", NULL);
    orch_table_add(table, cell->why_not ? cell->why_not : "missing", NULL);
}

static void add_fit(struct orch_table *table, const struct orch_curve_set_cell *cell, size_t stage)
{
    const struct orch_curve *curve = &cell->fit.stages->curves[stage];
    orch_table_add_real(table, cell->fit.stages->starts[stage]);
    double errors[3];
    orch_run_curve_errors(cell->curve, &cell->fit, stage, errors);
    for (int i = 0; i < 3; i++)
        orch_table_add_estimate(table, curve->b[i], errors[i]);
    orch_table_add_int(table, (int64_t)curve->points);
    orch_table_add_real(table, stage ? (double)NAN : cell->fit.good.r2);
    orch_table_add_real(table, stage ? (double)NAN : 100 * cell->fit.good.relative_error);
    orch_table_add_who(table, cell->curve->who);
}

static void add_names(struct orch_table *table, const struct orch_curve_set *set,
                      const struct orch_curve_set_cell *cell, bool with_repeat)
{
    const char *name = orch_curve_set_net(set, cell->net)->name;
    const char *variant = set->variants->pdata[cell->variant];
    g_autofree char *both = g_strdup_printf("%s %s", name, variant);
    orch_table_add(table, *variant ? both : name, NULL);
    orch_table_add(table, orch_curve_set_device(set, cell->device), NULL);
    if (with_repeat)
        orch_table_add_int(table, cell->repeat);
}

static struct orch_table *make_table(const struct orch_curve_set *set)
{
    static const char *const once[] = {"network", "device", ">from step", ">b0", ">b1", ">b2",
                                       ">points", ">R2",    ">error %",   "by",  NULL};
    static const char *const repeated[] = {"network", "device",   ">repeat", ">from step",
                                           ">b0",     ">b1",      ">b2",     ">points",
                                           ">R2",     ">error %", "by",      NULL};
    bool with_repeat = is_repeated(set);
    struct orch_table *table = orch_table_new(with_repeat ? repeated : once);
    orch_table_set_heading(table, with_repeat ? 10 : 9, NULL, "run by");
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (!cell->fit.stages) {
            add_names(table, set, cell, with_repeat);
            add_missing(table, cell);
        }
        for (size_t s = 0; cell->fit.stages && s < cell->fit.stages->count; s++) {
            add_names(table, set, cell, with_repeat);
            add_fit(table, cell, s);
        }
    }
    return table;
}

/* "b0: lowest 0.0031 (lenet5 on 1 thread), highest 0.0042 (lenet5 on 2 threads), of 8 curves" */
static void append_parameter(GString *out, const struct orch_curve_set *set, int parameter)
{
    g_autoptr(GArray) entries = orch_answer_entries_new();
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        g_autofree char *label =
            g_strdup_printf("%s on %s", orch_curve_set_net(set, cell->net)->name,
                            orch_curve_set_device(set, cell->device));
        if (cell->fit.stages)
            orch_answer_entries_add(entries, label, cell->fit.stages->curves[0].b[parameter],
                                    (double)NAN, (double)NAN);
    }
    g_autofree char *name = g_strdup_printf("parameter b%d", parameter);
    orch_answer_entries_append_of(out, entries, name, NULL, "curve", LISTED_MOST);
}

/* "4 of 4 curves could be fitted, with a mean error of 2.1 %. The largest error is 3 %, for lenet5
 * on 1 thread", and below it the parameters of the models' first stages */
static void add_answer(struct orch_section *section, const struct orch_curve_set *set)
{
    const struct orch_curve_set_cell *worst = NULL;
    double sum = 0;
    unsigned count = 0, models = 0;
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        const double error = cell->fit.stages ? cell->fit.good.relative_error : (double)NAN;
        models += cell->fit.stages != NULL;
        if (!isfinite(error))
            continue;
        sum += error;
        count++;
        worst = worst && worst->fit.good.relative_error >= error ? worst : cell;
    }
    g_autoptr(GString) parameters = g_string_new(NULL);
    for (int i = 0; i < 3; i++)
        append_parameter(parameters, set, i);
    if (!count)
        return;
    orch_section_answer(
        section,
        "%u of %u curves could be fitted, with a mean error of %.2g %%. The largest error is "
        "%.2g %%, for %s on %s",
        models, set->cells->len, 100 * sum / count, 100 * worst->fit.good.relative_error,
        orch_curve_set_net(set, worst->net)->name, orch_curve_set_device(set, worst->device));
    orch_section_text(section, "%s", parameters->str);
}

/* States how many of the models are observations of their own, and which are not. */
static void add_independence(struct orch_section *section, const struct orch_curve_set *set,
                             unsigned missing)
{
    const int models = (int)(set->cells->len - missing), own = orch_curve_set_independent(set);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *only =
        own < models ? g_strdup_printf(". They are %d different curve%s", own, own == 1 ? "" : "s")
                     : g_strdup("");
    if (*only || missing)
        orch_section_text(section, "%d of %u curves have a fitted model%s%s", models,
                          set->cells->len, only, missing ? ". The other curves are missing" : "");
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i], *first = cell->copy_of;
        if (first)
            g_string_append_printf(text, "%s%s on %s = on %s", text->len ? ", " : "",
                                   orch_curve_set_net(set, cell->net)->name,
                                   orch_curve_set_device(set, cell->device),
                                   orch_curve_set_device(set, first->device));
    }
    if (text->len)
        orch_section_note(section, "curves with exactly equal losses, %s, count as one: %s",
                          orch_curve_set_copies_why(set), text->str);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    (void)error;
    struct orch_curve_set *set = orch_curve_set_gather(a->plan, a->item, "experiments");
    unsigned missing = 0;
    const char *metric = NULL;
    bool is_by_epoch = false;
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        missing += !cell->fit.stages;
        metric = cell->curve ? cell->curve->metric : metric;
        is_by_epoch = cell->curve ? cell->curve->is_by_epoch : is_by_epoch;
    }
    if (set->cells->len) {
        orch_section_table(a->section, make_table(set));
        orch_curve_set_chart(set, a->section);
        orch_section_note(a->section,
                          "%s = 1/(b0 k + b1) + b2, with b0, b1 and b2 of at least 0. k is the "
                          "number of %s since the last change of the learning rate. Standard "
                          "errors are in brackets",
                          metric ? metric : "loss", is_by_epoch ? "epochs" : "steps");
        add_answer(a->section, set);
        add_independence(a->section, set, missing);
        for (guint i = 0; i < set->devices->len; i++)
            if (orch_curve_set_device(set, (int)i) != set->devices->pdata[i])
                orch_section_note(a->section, "device '%s': %s", orch_curve_set_device(set, (int)i),
                                  (char *)set->devices->pdata[i]);
    }
    if (!set->cells->len) {
        orch_section_missing(a->section, NULL, "this profile has no trial of this item");
        a->section->state = ORCH_SECTION_SKIPPED;
    }
    orch_curve_set_note(set, a, "experiments");
    orch_curve_set_free(set);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_SERIES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "devices", .shape = ORCH_SHAPE_TEXTS},
    {0}};

const struct orch_report_kind ORCH_REPORT_CURVE = {
    .name = "curve",
    .keys = KEYS,
    .may_be_bare = true,
    .is_slow = true,
    .place = "gpu",
    .fill = fill,
};
