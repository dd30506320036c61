/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the report's items. One table defines the keys of each kind and their types. Names are
 * checked against the plugins of the experiments that an item covers, so that a misspelt metric is
 * found before a night of training and not after it. The metrics read also determine the default of
 * `reuse`, because times and rates from another machine are not valid here. */
#include "core/recipe/report_shapes.h"

#include "lib/base/text.h"
#include "lib/wire/system_metrics.h"

#include <string.h>

struct key_row {
    const char *name;
    enum report_shape shape;
    bool is_required;
};

#define KEYS_MAX 16
static const struct kind_row {
    const char *name;
    enum orch_report_kind kind;
    bool may_be_bare; /* `- coverage:` without keys */
    struct key_row keys[KEYS_MAX];
} KINDS[] = {
    {"text", ORCH_REPORT_TEXT, false, {{NULL, REPORT_SHAPE_TEXT, false}}},
    {"table",
     ORCH_REPORT_TABLE,
     false,
     {{"rows", REPORT_SHAPE_AXES, true},
      {"columns", REPORT_SHAPE_AXES, false},
      {"value", REPORT_SHAPE_VALUES, true},
      {"deviation", REPORT_SHAPE_FLAG, false},
      {"labels", REPORT_SHAPE_TEXTS, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"plot",
     ORCH_REPORT_PLOT,
     false,
     {{"kind", REPORT_SHAPE_KIND, false},
      {"x", REPORT_SHAPE_X, true},
      {"y", REPORT_SHAPE_VALUES, true},
      {"by", REPORT_SHAPE_AXES, false},
      {"facet", REPORT_SHAPE_AXIS, false},
      {"log_x", REPORT_SHAPE_FLAG, false},
      {"log_y", REPORT_SHAPE_FLAG, false},
      {"ideal", REPORT_SHAPE_FLAG, false},
      {"predicted", REPORT_SHAPE_FLAG, false},
      {"z", REPORT_SHAPE_VALUES, false},
      {"reference", REPORT_SHAPE_REFERENCE, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"images",
     ORCH_REPORT_IMAGES,
     false,
     {{"artifact", REPORT_SHAPE_ARTIFACT, true},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"best",
     ORCH_REPORT_BEST,
     false,
     {{"value", REPORT_SHAPE_BETTER, true},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"compare",
     ORCH_REPORT_COMPARE,
     false,
     {{"value", REPORT_SHAPE_VALUES, false},
      {"by", REPORT_SHAPE_AXES, true},
      {"predicted", REPORT_SHAPE_SIDE, false},
      {"measured", REPORT_SHAPE_SIDE, false},
      {"best_of", REPORT_SHAPE_AXES, false},
      {"baseline", REPORT_SHAPE_TEXT, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"coverage",
     ORCH_REPORT_COVERAGE,
     true,
     {{"rows", REPORT_SHAPE_AXES, false},
      {"columns", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"work",
     ORCH_REPORT_WORK,
     true,
     {{"value", REPORT_SHAPE_VALUES, false},
      {"formula", REPORT_SHAPE_FORMULAS, false},
      {"columns", REPORT_SHAPE_TEXTS, false},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"collaborators",
     ORCH_REPORT_COLLABORATORS,
     true,
     {{"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"converged",
     ORCH_REPORT_CONVERGED,
     false,
     {{"value", REPORT_SHAPE_SERIES, true},
      {"by", REPORT_SHAPE_AXES, false},
      {"within", REPORT_SHAPE_NUMBERS, false},
      {"over", REPORT_SHAPE_SHARE, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"gain",
     ORCH_REPORT_GAIN,
     false,
     {{"value", REPORT_SHAPE_VALUE, true},
      {"cost", REPORT_SHAPE_VALUE, true},
      {"by", REPORT_SHAPE_AXES, true},
      {"baseline", REPORT_SHAPE_TEXT, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"correlate",
     ORCH_REPORT_CORRELATE,
     false,
     {{"x", REPORT_SHAPE_VALUE, true},
      {"y", REPORT_SHAPE_VALUE, true},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"speedup",
     ORCH_REPORT_SPEEDUP,
     false,
     {{"value", REPORT_SHAPE_VALUE, true},
      {"workers", REPORT_SHAPE_AXIS, false},
      {"by", REPORT_SHAPE_AXES, false},
      {"bytes", REPORT_SHAPE_VALUE, false},
      {"columns", REPORT_SHAPE_SPEEDUP, false},
      {"oversubscribed", REPORT_SHAPE_FLAG, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"speed_model",
     ORCH_REPORT_SPEED_MODEL,
     false,
     {{"value", REPORT_SHAPE_VALUE, true},
      {"servers", REPORT_SHAPE_AXIS, false},
      {"workers", REPORT_SHAPE_AXIS, false},
      {"mode", REPORT_SHAPE_SPEED_MODE, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"roofline",
     ORCH_REPORT_ROOFLINE,
     true,
     {{"artifact", REPORT_SHAPE_ARTIFACT, false},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"listing",
     ORCH_REPORT_LISTING,
     false,
     {{"artifact", REPORT_SHAPE_ARTIFACT, true},
      {"columns", REPORT_SHAPE_TEXTS, false},
      {"bars", REPORT_SHAPE_TEXTS, false},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"curve",
     ORCH_REPORT_CURVE,
     true,
     {{"value", REPORT_SHAPE_SERIES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"devices", REPORT_SHAPE_TEXTS, false}}},
    {"curve_law",
     ORCH_REPORT_CURVE_LAW,
     false,
     {{"held_out", REPORT_SHAPE_EXPERIMENTS, true},
      {"value", REPORT_SHAPE_SERIES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"devices", REPORT_SHAPE_TEXTS, false},
      {"warmup", REPORT_SHAPE_NUMBERS, false}}},
    {"time_to",
     ORCH_REPORT_TIME_TO,
     false,
     {{"accuracy", REPORT_SHAPE_BY_PROFILE, true},
      {"held_out", REPORT_SHAPE_EXPERIMENTS, true},
      {"speed", REPORT_SHAPE_EXPERIMENTS, true},
      {"servers", REPORT_SHAPE_COUNTS, true},
      {"workers", REPORT_SHAPE_COUNTS, true},
      {"link", REPORT_SHAPE_TEXT, true},
      {"value", REPORT_SHAPE_SERIES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false}}},
    {"time_to_accuracy",
     ORCH_REPORT_TIME_TO_ACCURACY,
     false,
     {{"value", REPORT_SHAPE_VALUES, true},
      {"reached", REPORT_SHAPE_VALUE, false},
      {"by", REPORT_SHAPE_AXES, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"learn",
     ORCH_REPORT_LEARN,
     false,
     {{"value", REPORT_SHAPE_VALUES, false},
      {"artifact", REPORT_SHAPE_ARTIFACT, false},
      {"dataset", REPORT_SHAPE_TEXT, false},
      {"target", REPORT_SHAPE_TEXT, false},
      {"features", REPORT_SHAPE_COLUMNS, false},
      {"drop", REPORT_SHAPE_COLUMNS, false},
      {"models", REPORT_SHAPE_MODELS, false},
      {"hold_out", REPORT_SHAPE_COLUMN, false},
      {"model", REPORT_SHAPE_MODEL, false},
      {"most", REPORT_SHAPE_COUNT, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false}}},
    {"layerwise",
     ORCH_REPORT_LAYERWISE,
     false,
     {{"conv", REPORT_SHAPE_ARTIFACT, false},
      {"dense", REPORT_SHAPE_ARTIFACT, false},
      {"rows", REPORT_SHAPE_ARTIFACT, false},
      {"value", REPORT_SHAPE_VALUES, true},
      {"target", REPORT_SHAPE_TEXT, false},
      {"features", REPORT_SHAPE_COLUMNS, false},
      {"hold_out", REPORT_SHAPE_COLUMN, false},
      {"model", REPORT_SHAPE_MODEL, false},
      {"images", REPORT_SHAPE_COUNT, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false}}},
    {"paleo",
     ORCH_REPORT_PALEO,
     false,
     {{"nets", REPORT_SHAPE_TEXTS, true},
      {"gpu", REPORT_SHAPE_TEXT, false},
      {"batch", REPORT_SHAPE_COUNT, false},
      {"ppp", REPORT_SHAPE_NUMBERS, false},
      {"peak_tflops", REPORT_SHAPE_NUMBERS, false}}},
    {"paleo_passes",
     ORCH_REPORT_PALEO_PASSES,
     false,
     {{"nets", REPORT_SHAPE_TEXTS, true},
      {"gpu", REPORT_SHAPE_TEXT, false},
      {"batch", REPORT_SHAPE_COUNT, false},
      {"ppp", REPORT_SHAPE_NUMBERS, false},
      {"published", REPORT_SHAPE_TEXTS, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"where", REPORT_SHAPE_WHERE, false}}},
    {"paleo_hybrid",
     ORCH_REPORT_PALEO_HYBRID,
     false,
     {{"net", REPORT_SHAPE_TEXT, true},
      {"split", REPORT_SHAPE_TEXTS, true},
      {"workers", REPORT_SHAPE_COUNTS, true},
      {"gpu", REPORT_SHAPE_TEXT, false},
      {"batch", REPORT_SHAPE_COUNT, false},
      {"link", REPORT_SHAPE_TEXT, false},
      {"ppp", REPORT_SHAPE_NUMBERS, false},
      {"ppp_comm", REPORT_SHAPE_NUMBERS, false},
      {"images", REPORT_SHAPE_COUNT, false},
      {"epochs", REPORT_SHAPE_COUNT, false},
      {"published", REPORT_SHAPE_TEXTS, false}}},
    {"paleo_scaling",
     ORCH_REPORT_PALEO_SCALING,
     false,
     {{"net", REPORT_SHAPE_TEXT, true},
      {"workers", REPORT_SHAPE_COUNTS, true},
      {"gpu", REPORT_SHAPE_TEXT, false},
      {"batch", REPORT_SHAPE_COUNT, false},
      {"scaling", REPORT_SHAPE_TEXT, false},
      {"scheme", REPORT_SHAPE_TEXT, false},
      {"link", REPORT_SHAPE_TEXT, false},
      {"ppp", REPORT_SHAPE_NUMBERS, false},
      {"ppp_comm", REPORT_SHAPE_NUMBERS, false},
      {"calibrate", REPORT_SHAPE_FLAG, false},
      {"images", REPORT_SHAPE_COUNT, false},
      {"price", REPORT_SHAPE_NUMBERS, false},
      {"show", REPORT_SHAPE_TEXT, false},
      {"experiments", REPORT_SHAPE_EXPERIMENTS, false},
      {"simulated", REPORT_SHAPE_EXPERIMENTS, true}}},
    {"student", ORCH_REPORT_STUDENT, true, {{NULL, REPORT_SHAPE_TEXT, false}}},
};

/* Keys that name experiments. */
static const char *const EXPERIMENT_KEYS[] = {"experiments", "held_out", "speed", "simulated"};

static const char *const COMMON_KEYS[] = {"question", "title", "points"};
static const char *const TIME_UNITS[] = {"s", "ms", "us", "ns", "min", "h", NULL};

/* ---- items -------------------------------------------------------------------------------------
 */

/* Adds the experiments that a key names; false when the key is absent. */
static bool add_named(struct report_item *item, const char *key)
{
    struct recipe_draft *draft = item->draft;
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(draft, item->spec, key);
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        struct recipe_experiment *experiment = g_hash_table_lookup(draft->by_name, node->text);
        g_autofree char *hint = orch_recipe_hint_names(
            draft, node->text, (const char *const *)draft->experiment_names->pdata);
        if (!experiment)
            orch_recipe_error_at(draft, node, hint, "unknown experiment '%s' in the report",
                                 node->text);
        else if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
        else
            item->has_unknown = true;
    }
    return texts;
}

/* Adds experiments that are a side of a comparison; a side may also be a value. */
static void add_sides(struct report_item *item)
{
    static const char *const keys[] = {"predicted", "measured"};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        const struct orch_yaml *node = orch_yaml_get(item->spec, keys[i]);
        if (!node || !orch_report_names_experiment(item, node))
            continue;
        struct recipe_experiment *experiment =
            g_hash_table_lookup(item->draft->by_name, node->text);
        item->is_listed = true;
        item->has_unknown = item->has_unknown || !experiment->manifest;
        if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
    }
}

/* Finds the experiments that the item covers: its own list, or all that can be checked. */
static void find_experiments(struct report_item *item)
{
    struct recipe_draft *draft = item->draft;
    for (guint i = 0; i < G_N_ELEMENTS(EXPERIMENT_KEYS); i++) {
        bool is_there = add_named(item, EXPERIMENT_KEYS[i]);
        bool lists = i == 0 || strcmp(EXPERIMENT_KEYS[i], "simulated") == 0;
        item->is_listed = item->is_listed || (lists && is_there);
    }
    add_sides(item);
    for (guint i = 0; !item->is_listed && i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
    }
}

static bool is_heat_map(const struct report_item *item)
{
    const struct orch_yaml *kind = orch_yaml_get(item->spec, "kind");
    return kind && kind->kind == ORCH_YAML_SCALAR && strcmp(kind->text, "heat") == 0;
}

static void check_key(struct report_item *item, const struct kind_row *kind,
                      const struct key_row *row)
{
    const struct orch_yaml *node = orch_yaml_get(item->spec, row->name);
    if (!node) {
        if (row->is_required)
            orch_recipe_error_at(item->draft, item->spec, "see docs/recipes.md, 'Report'",
                                 "'%s' needs '%s'", kind->name, row->name);
        return;
    }
    if (row->shape == REPORT_SHAPE_BY_PROFILE && node->kind != ORCH_YAML_LIST) {
        orch_report_check_by_profile(item, node);
        return;
    }
    if (row->shape == REPORT_SHAPE_REFERENCE) {
        orch_report_check_reference(item, node);
        return;
    }
    if (node->kind == ORCH_YAML_LIST && !orch_report_takes_list(row->shape)) {
        orch_recipe_error_at(item->draft, node, NULL, "'%s' takes one value, found a list",
                             row->name);
        return;
    }
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(item->draft, item->spec, row->name);
    if (item->experiments->len == 0) /* nothing to check names against; reported elsewhere */
        return;
    bool is_row = strcmp(row->name, "y") == 0 && is_heat_map(item); /* its value is z */
    for (guint i = 0; texts && i < texts->len; i++)
        orch_report_check(item, is_row ? REPORT_SHAPE_AXIS : row->shape, texts->pdata[i]);
}

static bool is_true(const struct orch_yaml *node)
{
    static const char *const yes[] = {"true", "yes", "on", NULL};
    return node && node->kind == ORCH_YAML_SCALAR && g_strv_contains(yes, node->text);
}

/* Checks that predictions are of wall time, because only forecasts of wall time are stored. */
static void check_predicted(struct report_item *item)
{
    const struct orch_yaml *y = orch_yaml_get(item->spec, "y");
    if (is_true(orch_yaml_get(item->spec, "predicted")) &&
        !(y && y->kind == ORCH_YAML_SCALAR && strcmp(y->text, "wall_s") == 0))
        orch_recipe_error_at(item->draft, orch_yaml_get(item->spec, "predicted"),
                             "write 'y: wall_s'",
                             "'predicted' needs 'y: wall_s', because forecasts are of wall time");
}

/* Checks that a table with deviations has a column for each value. */
static void check_deviation(struct report_item *item)
{
    const struct orch_yaml *deviation = orch_yaml_get(item->spec, "deviation");
    if (is_true(deviation) && orch_yaml_get(item->spec, "columns"))
        orch_recipe_error_at(item->draft, deviation, "move the names of 'columns' to 'rows'",
                             "'deviation' needs a table without 'columns'");
}

/* Checks that a table with labels has a row for each value, with its label. */
static void check_labels(struct report_item *item)
{
    const struct orch_yaml *labels = orch_yaml_get(item->spec, "labels");
    static const char *const others[] = {"columns", "deviation"};
    if (!labels)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        if (orch_yaml_get(item->spec, others[i]))
            orch_recipe_error_at(item->draft, labels, "remove one of them",
                                 "'labels' needs a table without '%s'", others[i]);
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(item->draft, item->spec, "labels");
    g_autoptr(GPtrArray) values = orch_recipe_get_texts(item->draft, item->spec, "value");
    if (texts && values && texts->len != values->len)
        orch_recipe_error_at(item->draft, labels, "write one label for each value",
                             "the table has %u labels for %u values", texts->len, values->len);
}

/* Checks that a heat map has `z` and a single `y`, and that other plots have no `z`. */
static void check_heat_map(struct report_item *item)
{
    const struct orch_yaml *y = orch_yaml_get(item->spec, "y"), *z = orch_yaml_get(item->spec, "z");
    if (is_heat_map(item) && !z)
        orch_recipe_error_at(item->draft, item->spec, "for example 'z: best val_accuracy'",
                             "a heat map needs 'z', the value that its colours show");
    if (!is_heat_map(item) && z)
        orch_recipe_error_at(item->draft, z, "write 'kind: heat', or remove 'z'",
                             "'z' is only for heat maps");
    if (is_heat_map(item) && y && y->kind == ORCH_YAML_LIST)
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
            orch_recipe_error_at(item->draft, x, "show it in a table",
                                 "metric '%s' has one value per trial, so it has no curve by %s",
                                 metric->name, x->text);
        else if (strcmp(x->text, "step") != 0 && strcmp(metric->step_unit, x->text) != 0)
            orch_recipe_error_at(item->draft, x, NULL, "'%s' is recorded by %s, not by %s",
                                 metric->name, metric->step_unit, x->text);
    }
}

/* Checks that training rows have exactly one source, that a table has `target` and that runs have
 * `features`. */
static void check_learn(struct report_item *item)
{
    static const char *const sources[] = {"value", "artifact", "dataset"};
    int count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
        count += orch_yaml_get(item->spec, sources[i]) != NULL;
    if (count != 1)
        orch_recipe_error_at(item->draft, item->spec,
                             "value: a metric of runs; artifact: a CSV that runs write; dataset: a "
                             "table from 'orch import'",
                             "'learn' needs one of 'value', 'artifact' and 'dataset', found %d",
                             count);
    else if (!orch_yaml_get(item->spec, "value") && !orch_yaml_get(item->spec, "target"))
        orch_recipe_error_at(item->draft, item->spec, "add 'target: COLUMN', the column to predict",
                             "'learn' from a table needs 'target'");
    else if (orch_yaml_get(item->spec, "value") && !orch_yaml_get(item->spec, "features"))
        orch_recipe_error_at(item->draft, item->spec, "for example 'features: [net, batch]'",
                             "'learn' from runs needs 'features'");
}

/* Checks that a comparison has a baseline or two sides. */
static void check_compare(struct report_item *item)
{
    const struct orch_yaml *predicted = orch_yaml_get(item->spec, "predicted");
    const struct orch_yaml *measured = orch_yaml_get(item->spec, "measured");
    bool value = orch_yaml_get(item->spec, "value");
    if (!predicted != !measured)
        orch_recipe_error_at(item->draft, predicted ? predicted : measured,
                             "add the other one; each takes a value or an experiment",
                             "'compare' needs both 'predicted' and 'measured', or neither");
    else if (!value && (!predicted || orch_report_names_experiment(item, predicted) ||
                        orch_report_names_experiment(item, measured)))
        orch_recipe_error_at(item->draft, item->spec, "see docs/reports.md",
                             "'compare' needs 'value'");
    if (predicted &&
        (orch_yaml_get(item->spec, "baseline") || orch_yaml_get(item->spec, "best_of")))
        orch_recipe_error_at(
            item->draft, predicted, "leave 'baseline' and 'best_of' out",
            "'compare' takes either a baseline or 'predicted' and 'measured', not both");
    const struct orch_yaml *best_of = orch_yaml_get(item->spec, "best_of");
    for (guint i = 0; best_of && i < item->metrics->len; i++)
        orch_report_check_better(item, best_of, item->metrics->pdata[i]);
}

static void check_layerwise(struct report_item *item)
{
    bool has_tables = orch_yaml_get(item->spec, "conv") || orch_yaml_get(item->spec, "dense");
    const struct orch_yaml *rows = orch_yaml_get(item->spec, "rows");
    if (!has_tables && !rows)
        orch_recipe_error_at(item->draft, item->spec, "name the artifact with the measured layers",
                             "'layerwise' needs 'conv', 'dense' or both, or 'rows'");
    if (rows && (has_tables || orch_yaml_get(item->spec, "hold_out")))
        orch_recipe_error_at(item->draft, rows, "leave 'conv', 'dense' and 'hold_out' out",
                             "'layerwise' with 'rows' sums the parts measured on the same device");
}

static bool unit_is_of_a_place(const char *unit)
{
    return unit && (g_strv_contains(TIME_UNITS, unit) || g_str_has_suffix(unit, "/s"));
}

/* Marks the experiments whose values in this item depend on the device. */
static void mark_where(const struct report_item *item)
{
    for (guint i = 0; i < item->experiments->len; i++) {
        const struct recipe_experiment *experiment = item->experiments->pdata[i];
        struct orch_experiment *made = experiment->made;
        bool has_metric = item->metrics->len == 0;
        for (guint j = 0; j < item->metrics->len; j++) {
            const struct orch_metric_spec *read = item->metrics->pdata[j];
            const struct orch_metric_spec *metric =
                orch_manifest_metric(experiment->manifest, read->name);
            has_metric = has_metric || metric;
            if (orch_metric_is_system(read->name) && !made->reuse_why) {
                made->reuse = ORCH_RECIPE_REUSE_DEVICE;
                made->reuse_why = g_strdup_printf("report reads %s", read->name);
            }
            if (metric && unit_is_of_a_place(metric->unit) && !made->reuse_why) {
                made->reuse = ORCH_RECIPE_REUSE_DEVICE;
                made->reuse_why =
                    g_strdup_printf("report reads %s (%s)", metric->name, metric->unit);
            }
        }
        if (item->place && has_metric && !made->reuse_why) {
            made->reuse = ORCH_RECIPE_REUSE_DEVICE;
            made->reuse_why = g_strdup_printf("report groups by %s", item->place);
        }
    }
}

static void check_spec(struct recipe_draft *draft, const struct kind_row *kind,
                       const struct orch_yaml *spec)
{
    struct report_item item = {.draft = draft, .spec = spec};
    const char *known[KEYS_MAX + 1] = {NULL};
    for (guint i = 0; i < KEYS_MAX && kind->keys[i].name; i++)
        known[i] = kind->keys[i].name;
    g_autofree char *where = g_strdup_printf("'%s'", kind->name);
    orch_yaml_check_keys(spec, draft->path, where, known, draft->diags);
    item.experiments = g_ptr_array_new();
    item.metrics = g_ptr_array_new();
    find_experiments(&item);
    for (guint i = 0; i < KEYS_MAX && kind->keys[i].name; i++)
        check_key(&item, kind, &kind->keys[i]);
    if (kind->kind == ORCH_REPORT_PLOT) {
        check_steps(&item);
        check_predicted(&item);
        check_heat_map(&item);
    }
    if (kind->kind == ORCH_REPORT_CURVE || kind->kind == ORCH_REPORT_CURVE_LAW ||
        kind->kind == ORCH_REPORT_TIME_TO)
        item.place = "gpu";
    if (kind->kind == ORCH_REPORT_TABLE)
        check_deviation(&item);
    check_labels(&item);
    if (kind->kind == ORCH_REPORT_LEARN)
        check_learn(&item);
    if (kind->kind == ORCH_REPORT_LAYERWISE)
        check_layerwise(&item);
    if (kind->kind == ORCH_REPORT_COMPARE)
        check_compare(&item);
    mark_where(&item);
    g_ptr_array_unref(item.experiments);
    g_ptr_array_unref(item.metrics);
}

/* Converts a node as written: texts, lists, objects. The YAML reader bounds the depth. */
static json_t *as_written(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return json_string(node->text);
    json_t *json = node->kind == ORCH_YAML_LIST ? json_array() : json_object();
    for (guint i = 0; i < node->items->len; i++) {
        json_t *value = as_written(node->items->pdata[i]);
        if (node->kind == ORCH_YAML_LIST)
            json_array_append_new(json, value);
        else
            json_object_set_new(json, ((const struct orch_yaml *)node->keys->pdata[i])->text,
                                value);
    }
    return json;
}

/* Finds the item's kind; there must be exactly one. */
static const struct kind_row *find_kind(struct recipe_draft *draft, const struct orch_yaml *map)
{
    const struct kind_row *found = NULL;
    const char *known[G_N_ELEMENTS(COMMON_KEYS) + G_N_ELEMENTS(KINDS) + 1] = {NULL};
    guint count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(COMMON_KEYS); i++)
        known[count++] = COMMON_KEYS[i];
    for (guint i = 0; i < G_N_ELEMENTS(KINDS); i++)
        known[count++] = KINDS[i].name;
    unsigned before = draft->diags->error_count;
    orch_yaml_check_keys(map, draft->path, "a report item", known, draft->diags);
    bool has_unknown = draft->diags->error_count > before;
    for (guint i = 0; i < G_N_ELEMENTS(KINDS); i++) {
        const struct orch_yaml *key = orch_yaml_get_key(map, KINDS[i].name);
        if (key && found) {
            orch_recipe_error_at(draft, key, "split it into two items",
                                 "a report item has one kind, found '%s' and '%s'", found->name,
                                 key->text);
            return NULL;
        }
        found = key ? &KINDS[i] : found;
    }
    if (!found && !has_unknown)
        orch_recipe_error_at(draft, map,
                             "add one of: text, table, plot, images, best, compare, coverage, "
                             "gain, work, collaborators, converged, correlate, speedup, "
                             "speed_model, roofline, listing, "
                             "curve, curve_law, time_to, learn, layerwise, "
                             "student",
                             "a report item has no content");
    return found;
}

/* True for `- coverage:` without keys. */
static bool is_bare(const struct kind_row *kind, const struct orch_yaml *spec)
{
    return kind->may_be_bare && spec->kind == ORCH_YAML_SCALAR &&
           (orch_yaml_is_null(spec) || strcmp(spec->text, "true") == 0);
}

/* True when the item's value has the type that its kind needs. */
static bool spec_fits(struct recipe_draft *draft, const struct kind_row *kind,
                      const struct orch_yaml *spec)
{
    bool is_text = kind->kind == ORCH_REPORT_TEXT || kind->kind == ORCH_REPORT_STUDENT;
    if (is_bare(kind, spec) || (is_text && spec->kind == ORCH_YAML_SCALAR && *spec->text) ||
        (!is_text && spec->kind == ORCH_YAML_MAP))
        return true;
    orch_recipe_error_at(draft, spec, "see docs/recipes.md, 'Report'", "'%s' takes %s, found %s",
                         kind->name, is_text ? "a text" : "a map", orch_recipe_node_kind(spec));
    return false;
}

static void read_item(struct recipe_draft *draft, const struct orch_yaml *map)
{
    if (map->kind != ORCH_YAML_MAP) {
        orch_recipe_error_at(draft, map, "write '- { title: ..., table: { ... } }'",
                             "a report item is a map, found %s", orch_recipe_node_kind(map));
        return;
    }
    struct orch_report_item *item = g_new0(struct orch_report_item, 1);
    g_ptr_array_add(draft->out->report, item);
    item->line = map->line;
    item->column = map->column;
    orch_recipe_get_text(draft, map, "question", &item->question);
    orch_recipe_get_text(draft, map, "title", &item->title);
    g_autofree char *points = NULL;
    if (orch_recipe_get_text(draft, map, "points", &points) &&
        (!orch_real_parse(points, &item->points) || item->points < 0))
        orch_recipe_error_at(draft, orch_yaml_get(map, "points"), NULL,
                             "'points': '%s' is not a number", points);
    const struct kind_row *kind = find_kind(draft, map);
    const struct orch_yaml *spec = kind ? orch_yaml_get(map, kind->name) : NULL;
    if (!spec || !spec_fits(draft, kind, spec))
        return;
    item->kind = kind->kind;
    item->spec = is_bare(kind, spec) ? json_object() : as_written(spec);
    if (spec->kind == ORCH_YAML_MAP)
        check_spec(draft, kind, spec);
}

/* ---- reuse -------------------------------------------------------------------------------------
 */

/* Precedence: the recipe's `reuse`, the plugin's, the metrics that the report reads (already
 * recorded), else any. */
static void decide_reuse(struct recipe_experiment *experiment)
{
    struct orch_experiment *made = experiment->made;
    bool is_timing = experiment->manifest && experiment->manifest->flags & ORCH_PLUGIN_TIMING;
    if (experiment->has_reuse) {
        g_free(made->reuse_why);
        made->reuse = experiment->reuse;
        made->reuse_why = g_strdup("says the recipe");
    } else if (is_timing) {
        g_free(made->reuse_why);
        made->reuse = ORCH_RECIPE_REUSE_DEVICE;
        made->reuse_why =
            g_strdup_printf("plugin '%s' is a timing plugin", experiment->manifest->name);
    } else if (!made->reuse_why) {
        made->reuse = ORCH_RECIPE_REUSE_ANY;
        made->reuse_why = g_strdup("default");
    }
}

void orch_recipe_read_report(struct recipe_draft *draft)
{
    const struct orch_yaml *list = orch_yaml_get(draft->root, "report");
    if (list && list->kind != ORCH_YAML_LIST && !orch_yaml_is_null(list))
        orch_recipe_error_at(draft, list, "begin each item with '- '",
                             "'report' takes a list, found %s", orch_recipe_node_kind(list));
    guint count = list && list->kind == ORCH_YAML_LIST ? list->items->len : 0;
    if (count > RECIPE_REPORT_MAX)
        orch_recipe_error_at(draft, list, "split the recipe",
                             "a report has at most %d items, found %u", RECIPE_REPORT_MAX, count);
    for (guint i = 0; i < MIN(count, RECIPE_REPORT_MAX); i++)
        read_item(draft, list->items->pdata[i]);
    for (guint i = 0; i < draft->experiments->len; i++)
        decide_reuse(draft->experiments->pdata[i]);
}
