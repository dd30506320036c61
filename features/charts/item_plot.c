/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `plot`. */
#include "core/recipe/report_shapes.h"
#include "core/report/answer.h"
#include "core/report/items.h"
#include "features/charts/plot.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

/* Whether x is a setting of the trials, not a step or a value of theirs. */
static bool is_over_settings(const struct orch_trials *trials, const char *x)
{
    g_autofree char *value =
        trials->all->len ? orch_trial_value(trials, trials->all->pdata[0], x) : NULL;
    return value;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    const json_t *spec = a->item->spec;
    struct orch_plot plot = {
        .title = a->item->title,
        .kind = ORCH_PLOT_KIND_OF_X,
        .x = orch_json_text(spec, "x", "step"),
        .facet = orch_json_text(spec, "facet", NULL),
        .log_x = orch_item_flag(spec, "log_x"),
        .log_y = orch_item_flag(spec, "log_y"),
        .ideal = orch_item_flag(spec, "ideal"),
        .predicted = orch_item_flag(spec, "predicted"),
        .reference = json_object_get(spec, "reference"),
    };
    orch_plot_kind_parse(orch_json_text(spec, "kind", ""), &plot.kind);
    bool is_heat = plot.kind == ORCH_CHART_HEAT;
    plot.row = is_heat ? orch_json_text(spec, "y", NULL) : NULL;
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    if (!trials)
        return false;
    g_autoptr(GPtrArray) y = orch_item_values_parse(json_object_get(spec, is_heat ? "z" : "y"));
    g_autoptr(GPtrArray) by =
        json_object_get(spec, "by") ? orch_texts_from_json(json_object_get(spec, "by")) : NULL;
    plot.y = y;
    plot.by = by;
    g_autoptr(GError) failed = NULL;
    bool ok = orch_plot_draw(trials, &plot, a->section, &failed);
    if (!ok && g_error_matches(failed, ORCH_ERROR, ORCH_ERROR_USAGE)) {
        orch_section_missing(a->section, NULL, "%s", failed->message);
        ok = true;
    } else if (!ok) {
        g_propagate_error(error, g_steal_pointer(&failed));
    }
    if (ok)
        orch_answer_of_chart(a->section);
    if (ok && is_over_settings(trials, plot.x))
        orch_answer_note_tests(a->section);
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return ok;
}

static const char *const KIND_WORDS[] = {"line", "scatter", "bar", "histogram",
                                         "box",  "heat",    NULL};
static const struct orch_report_words PLOT_KINDS = {.words = KIND_WORDS, .what = "kind of plot"};

static const struct orch_report_key KEYS[] = {
    {.name = "kind", .shape = ORCH_SHAPE_WORD, .words = &PLOT_KINDS},
    {.name = "x", .shape = ORCH_SHAPE_X, .is_required = true},
    {.name = "y", .shape = ORCH_SHAPE_Y, .is_required = true},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "facet", .shape = ORCH_SHAPE_AXIS},
    {.name = "log_x", .shape = ORCH_SHAPE_FLAG},
    {.name = "log_y", .shape = ORCH_SHAPE_FLAG},
    {.name = "ideal", .shape = ORCH_SHAPE_FLAG},
    {.name = "predicted", .shape = ORCH_SHAPE_FLAG},
    {.name = "z", .shape = ORCH_SHAPE_VALUES},
    {.name = "reference", .shape = ORCH_SHAPE_REFERENCE},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

/* Checks that predictions are of wall time, because only forecasts of wall time are stored. */
static void check_predicted(struct report_item *item)
{
    const struct orch_yaml *y = orch_yaml_get(item->spec, "y");
    if (orch_report_flag(item, "predicted") &&
        !(y && y->kind == ORCH_YAML_SCALAR && strcmp(y->text, "wall_s") == 0))
        orch_recipe_error_at(item->draft, orch_yaml_get(item->spec, "predicted"),
                             "write 'y: wall_s'", "'predicted' needs 'y: wall_s'");
}

/* Checks that a heat map has `z` and a single `y`, and that other plots have no `z`. */
static void check_heat_map(struct report_item *item)
{
    const struct orch_yaml *y = orch_yaml_get(item->spec, "y"), *z = orch_yaml_get(item->spec, "z");
    if (orch_report_is_heat_map(item) && !z)
        orch_recipe_error_at(item->draft, item->spec, "for example 'z: best val_accuracy'",
                             "a heat map needs 'z', the value that its colours show");
    if (!orch_report_is_heat_map(item) && z)
        orch_recipe_error_at(item->draft, z, "write 'kind: heat'", "'z' needs 'kind: heat'");
    if (orch_report_is_heat_map(item) && y && y->kind == ORCH_YAML_LIST)
        orch_recipe_error_at(item->draft, y, NULL,
                             "'y' of a heat map takes one parameter, not a list");
}

/* Checks that a curve over epochs uses a metric by epoch. */
static void check_steps(struct report_item *item)
{
    const struct orch_yaml *x = orch_yaml_get(item->spec, "x");
    if (!x || x->kind != ORCH_YAML_SCALAR || orch_report_holder(item, REPORT_NAME_PARAM, x->text) ||
        !(strcmp(x->text, "step") == 0 || orch_report_holder(item, REPORT_NAME_STEP_UNIT, x->text)))
        return;
    for (guint i = 0; i < item->metrics->len; i++) {
        const struct orch_metric_spec *metric = item->metrics->pdata[i];
        if (!metric->step_unit)
            orch_recipe_error_at(item->draft, x, "show the metric in a table",
                                 "metric '%s' has one value per trial, so it has no curve by %s",
                                 metric->name, x->text);
        else if (strcmp(x->text, "step") != 0 && strcmp(metric->step_unit, x->text) != 0)
            orch_recipe_error_at(item->draft, x, NULL, "'%s' is recorded per %s, not per %s",
                                 metric->name, metric->step_unit, x->text);
    }
}

static void check(struct report_item *item)
{
    check_steps(item);
    check_predicted(item);
    check_heat_map(item);
}

const struct orch_report_kind ORCH_REPORT_PLOT = {
    .name = "plot",
    .keys = KEYS,
    .check = check,
    .fill = fill,
};
