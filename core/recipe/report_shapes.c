/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/report_shapes.h"

#include "core/recipe/internal.h"
#include "lib/base/formula.h"
#include "lib/base/text.h"
#include "lib/wire/aggregate.h"
#include "lib/wire/system_metrics.h"
#include "store/store.h"

#include <string.h>

static const char *const PLACES[] = {"machine", "gpu", "threads", "device_key", NULL};
static const char *const OTHER_AXES[] = {"experiment", "repeat", "step", NULL};

bool orch_report_is_curve_summary(const char *word)
{
    enum orch_aggregate aggregate;
    return orch_aggregate_parse(word, &aggregate) && orch_aggregate_is_of_curve(aggregate);
}

/* "result x" is the value of a result, every other word an aggregate of a metric's points. */
static bool is_summary(const char *word)
{
    enum orch_aggregate aggregate;
    return strcmp(word, "result") == 0 || orch_aggregate_parse(word, &aggregate);
}

/* ---- names -------------------------------------------------------------------------------------
 */

static bool manifest_has_step_unit(const struct orch_manifest *manifest, const char *name)
{
    for (guint i = 0; i < manifest->metrics->len; i++)
        if (g_strcmp0(((struct orch_metric_spec *)manifest->metrics->pdata[i])->step_unit, name) ==
            0)
            return true;
    return false;
}

/* Every experiment has the system metrics, by second. */
static bool is_of_system(enum report_name kind, const char *name)
{
    return kind == REPORT_NAME_METRIC      ? orch_system_metric_find(name) != NULL
           : kind == REPORT_NAME_STEP_UNIT ? strcmp(name, ORCH_SYSTEM_STEP_UNIT) == 0
                                           : false;
}

static bool manifest_has(const struct orch_manifest *manifest, enum report_name kind,
                         const char *name)
{
    switch (kind) {
    case REPORT_NAME_PARAM:
        return orch_manifest_param(manifest, name);
    case REPORT_NAME_METRIC:
        return orch_manifest_metric(manifest, name);
    case REPORT_NAME_ARTIFACT:
        return orch_manifest_artifact(manifest, name);
    case REPORT_NAME_STEP_UNIT:
        return manifest_has_step_unit(manifest, name);
    }
    return false;
}

/* The first of the item's experiments that has the name. */
const struct recipe_experiment *orch_report_holder(const struct report_item *item,
                                                   enum report_name kind, const char *name)
{
    for (guint i = 0; i < item->experiments->len; i++) {
        const struct recipe_experiment *experiment = item->experiments->pdata[i];
        if (is_of_system(kind, name) || manifest_has(experiment->manifest, kind, name))
            return experiment;
    }
    return NULL;
}

/* The metric of that name, as the first experiment that has it declares it. Every experiment has
 * the system metrics. */
static const struct orch_metric_spec *find_metric(const struct report_item *item, const char *name)
{
    const struct orch_metric_spec *system = orch_system_metric_find(name);
    if (system)
        return system;
    const struct recipe_experiment *experiment = orch_report_holder(item, REPORT_NAME_METRIC, name);
    return experiment ? orch_manifest_metric(experiment->manifest, name) : NULL;
}

static void add_names(GPtrArray *names, const struct orch_manifest *manifest, enum report_name kind)
{
    for (guint i = 0; kind == REPORT_NAME_PARAM && i < manifest->params->len; i++)
        g_ptr_array_add(names, ((struct orch_param_spec *)manifest->params->pdata[i])->name);
    for (guint i = 0; kind == REPORT_NAME_METRIC && i < manifest->metrics->len; i++)
        g_ptr_array_add(names, ((struct orch_metric_spec *)manifest->metrics->pdata[i])->name);
    for (guint i = 0; kind == REPORT_NAME_ARTIFACT && i < manifest->artifacts->len; i++)
        g_ptr_array_add(names, ((struct orch_artifact_spec *)manifest->artifacts->pdata[i])->name);
    for (guint i = 0; kind == REPORT_NAME_STEP_UNIT && i < manifest->metrics->len; i++) {
        char *unit = ((struct orch_metric_spec *)manifest->metrics->pdata[i])->step_unit;
        if (unit)
            g_ptr_array_add(names, unit);
    }
}

/* Distinct names of the given kinds over the item's experiments, NULL-terminated, with `more`. */
static GPtrArray *known_names(const struct report_item *item, const enum report_name *kinds,
                              guint count, const char *const *more)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < item->experiments->len; i++)
        for (guint j = 0; j < count; j++)
            add_names(all, ((struct recipe_experiment *)item->experiments->pdata[i])->manifest,
                      kinds[j]);
    for (; more && *more; more++)
        g_ptr_array_add(all, (char *)(uintptr_t)*more);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++)
        if (g_hash_table_add(seen, all->pdata[i]))
            g_ptr_array_add(names, all->pdata[i]);
    g_ptr_array_add(names, NULL);
    return names;
}

/* What to do about a metric of a plugin that takes any: a report has to know what there will be.
 * NULL: the item has no such plugin. The caller frees. */
static char *declare_hint(const struct report_item *item, const char *name)
{
    for (guint i = 0; i < item->experiments->len; i++) {
        const struct orch_manifest *manifest =
            ((const struct recipe_experiment *)item->experiments->pdata[i])->manifest;
        if (manifest->any_metric)
            return g_strdup_printf("declare it in plugin '%s', for example metrics: { %s: { "
                                   "better: max, step: epoch } }",
                                   manifest->name, name);
    }
    return NULL;
}

static bool has_kind(const enum report_name *kinds, guint count, enum report_name kind)
{
    for (guint i = 0; i < count; i++)
        if (kinds[i] == kind)
            return true;
    return false;
}

static void complain_name(const struct report_item *item, const struct orch_yaml *node,
                          const char *what, const char *name, const enum report_name *kinds,
                          guint count, const char *const *more)
{
    if (item->has_unknown || (item->draft->has_unknown_plugin && !item->is_listed))
        return;
    g_autoptr(GPtrArray) names = known_names(item, kinds, count, more);
    g_autofree char *declare =
        has_kind(kinds, count, REPORT_NAME_METRIC) ? declare_hint(item, name) : NULL;
    g_autofree char *hint =
        orch_recipe_hint_names(item->draft, name, (const char *const *)names->pdata);
    if (declare && !(hint && orch_is_suggestion(hint))) {
        g_free(hint);
        hint = g_steal_pointer(&declare);
    }
    orch_recipe_error_at(item->draft, node, hint, "unknown %s '%s' in the report", what, name);
}

/* ---- names of a program's own ------------------------------------------------------------------
 */

static void spec_free(void *pointer)
{
    struct orch_metric_spec *spec = pointer;
    g_free(spec->name);
    g_free(spec->step_unit);
    g_free(spec);
}

/* The metric of a program without a plugin, which may print any; its objective says its direction.
 * NULL when none of the item's experiments is one, or the name is none. */
static const struct orch_metric_spec *assume_metric(const struct report_item *item,
                                                    const char *name)
{
    struct recipe_experiment *experiment = NULL;
    for (guint i = 0; i < item->experiments->len && !experiment; i++) {
        struct recipe_experiment *one = item->experiments->pdata[i];
        experiment = one->made->is_own_program ? one : NULL;
    }
    if (!experiment || !orch_label_is_valid(name))
        return NULL;
    if (!experiment->assumed)
        experiment->assumed = g_ptr_array_new_with_free_func(spec_free);
    struct orch_metric_spec *spec = g_new0(struct orch_metric_spec, 1);
    const struct orch_search *search = experiment->made->search;
    *spec = (struct orch_metric_spec){.name = g_strdup(name), .step_unit = g_strdup("step")};
    if (search && g_strcmp0(search->metric, name) == 0)
        spec->better = search->is_max ? ORCH_BETTER_MAX : ORCH_BETTER_MIN;
    g_ptr_array_add(experiment->assumed, spec);
    return spec;
}

/* ---- shapes ------------------------------------------------------------------------------------
 */

/* Checks "last val_accuracy", "val_accuracy" or "count". Returns its metric; NULL when it has none,
 * or after a finding. */
static const struct orch_metric_spec *check_value(struct report_item *item,
                                                  const struct orch_yaml *node)
{
    static const enum report_name kinds[] = {REPORT_NAME_METRIC};
    const char *space = strchr(node->text, ' ');
    const char *name = space ? space + strspn(space, " ") : node->text;
    if (!space && strcmp(name, "count") == 0)
        return NULL;
    if (!space &&
        strcmp(name, "wall_s") == 0) { /* every run has it, and it depends on the machine */
        item->place = item->place ? item->place : "machine";
        return NULL;
    }
    g_autofree char *summary = space ? g_strndup(node->text, (size_t)(space - node->text)) : NULL;
    if (summary && !is_summary(summary)) {
        g_autofree char *hint =
            orch_recipe_hint_names(item->draft, summary, orch_aggregate_names());
        orch_recipe_error_at(item->draft, node, hint,
                             "'%s': '%s' is not a summary of a metric, such as last, best or mean",
                             node->text, summary);
        return NULL;
    }
    const struct orch_metric_spec *metric = find_metric(item, name);
    metric = metric ? metric : assume_metric(item, name);
    if (!metric) {
        complain_name(item, node, "metric", name, kinds, G_N_ELEMENTS(kinds), NULL);
        return NULL;
    }
    g_ptr_array_add(item->metrics, (struct orch_metric_spec *)(uintptr_t)metric);
    if (summary && strcmp(summary, "best") == 0 &&
        orch_metric_spec_better(metric) == ORCH_BETTER_NONE)
        orch_recipe_error_at(item->draft, node, "write 'min' or 'max' instead of 'best'",
                             "it is not known whether larger values of metric '%s' are better",
                             name);
    return metric;
}

void orch_report_check_better(struct report_item *item, const struct orch_yaml *node,
                              const struct orch_metric_spec *metric)
{
    if (orch_metric_spec_better(metric) == ORCH_BETTER_NONE)
        orch_recipe_error_at(item->draft, node, "use 'table' or 'plot', which accept any metric",
                             "it is not known whether larger values of metric '%s' are better",
                             metric->name);
}

static void check_better(struct report_item *item, const struct orch_yaml *node)
{
    const struct orch_metric_spec *metric = check_value(item, node);
    if (metric)
        orch_report_check_better(item, node, metric);
}

static bool axis_is_known(struct report_item *item, const char *name)
{
    if (g_strv_contains(PLACES, name)) {
        item->place = name;
        return true;
    }
    return g_strv_contains(OTHER_AXES, name) || orch_report_holder(item, REPORT_NAME_PARAM, name) ||
           orch_report_holder(item, REPORT_NAME_STEP_UNIT, name);
}

static void check_axis(struct report_item *item, const struct orch_yaml *node)
{
    static const enum report_name kinds[] = {REPORT_NAME_PARAM, REPORT_NAME_STEP_UNIT};
    static const char *const more[] = {"experiment", "repeat",     "machine", "gpu",
                                       "threads",    "device_key", NULL};
    if (!axis_is_known(item, node->text))
        complain_name(item, node, "parameter", node->text, kinds, G_N_ELEMENTS(kinds), more);
}

static void check_x(struct report_item *item, const struct orch_yaml *node)
{
    static const enum report_name kinds[] = {REPORT_NAME_PARAM, REPORT_NAME_STEP_UNIT,
                                             REPORT_NAME_METRIC};
    static const char *const more[] = {"experiment", "repeat",     "machine", "gpu",
                                       "threads",    "device_key", NULL};
    if (strchr(node->text, ' ') || strcmp(node->text, "wall_s") == 0 ||
        orch_report_holder(item, REPORT_NAME_METRIC, node->text))
        check_value(item, node);
    else if (!axis_is_known(item, node->text))
        complain_name(item, node, "parameter or metric", node->text, kinds, G_N_ELEMENTS(kinds),
                      more);
}

static void check_artifact(struct report_item *item, const struct orch_yaml *node)
{
    static const enum report_name kinds[] = {REPORT_NAME_ARTIFACT};
    if (!orch_report_holder(item, REPORT_NAME_ARTIFACT, node->text))
        complain_name(item, node, "artifact", node->text, kinds, G_N_ELEMENTS(kinds), NULL);
}

static void check_flag(struct report_item *item, const struct orch_yaml *node)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", NULL};
    if (!g_strv_contains(words, node->text))
        orch_recipe_error_at(item->draft, node, "write true or false", "'%s' is not true or false",
                             node->text);
}

static void check_number(struct report_item *item, const struct orch_yaml *node)
{
    double number;
    if (!orch_real_parse(node->text, &number))
        orch_recipe_error_at(item->draft, node, NULL, "'%s' is not a real number", node->text);
}

static void check_share(struct report_item *item, const struct orch_yaml *node)
{
    double share;
    if (!orch_real_parse(node->text, &share) || !(share > 0 && share <= 0.5))
        orch_recipe_error_at(item->draft, node, NULL,
                             "'%s' is not a fraction above 0 and at most 0.5", node->text);
}

static void check_series(struct report_item *item, const struct orch_yaml *node)
{
    const struct orch_metric_spec *metric = check_value(item, node);
    if (metric && !metric->step_unit)
        orch_recipe_error_at(item->draft, node, "show the metric in a table",
                             "metric '%s' has one value per trial, so it has no curve",
                             metric->name);
}

static void check_count(struct report_item *item, const struct orch_yaml *node)
{
    int64_t number;
    if (!orch_int_parse(node->text, &number) || number < 1 || number > 1000000)
        orch_recipe_error_at(item->draft, node, NULL, "'%s' is not a whole number of at least 1",
                             node->text);
}

/* Accepts 0.92 or { laptop: 0.75, course: 0.92 }. */
void orch_report_check_by_profile(struct report_item *item, const struct orch_yaml *node)
{
    struct recipe_draft *draft = item->draft;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < draft->profiles->len; i++)
        g_ptr_array_add(
            names, (char *)(uintptr_t)((struct recipe_profile *)draft->profiles->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    if (node->kind == ORCH_YAML_SCALAR) {
        check_number(item, node);
        return;
    }
    orch_yaml_check_keys(node, draft->path, "numbers by profile", (const char *const *)names->pdata,
                         draft->diags);
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *value = node->items->pdata[i];
        if (value->kind == ORCH_YAML_SCALAR)
            check_number(item, value);
        else
            orch_recipe_error_at(draft, value, NULL, "the value for a profile must be one number");
    }
}

/* Checks the numbers along one axis of a reference curve; x may also have names. Returns their
 * count. */
static guint check_reference_axis(struct report_item *item, const struct orch_yaml *map,
                                  const char *key)
{
    const struct orch_yaml *list = orch_yaml_get(map, key);
    if (!list || list->kind != ORCH_YAML_LIST || !list->items->len) {
        orch_recipe_error_at(item->draft, list ? list : map,
                             "for example 'x: [1, 2, 4]' and 'y: [100, 190, 350]'",
                             "a reference curve needs '%s', a list of numbers", key);
        return 0;
    }
    for (guint i = 0; i < list->items->len; i++) {
        const struct orch_yaml *node = list->items->pdata[i];
        if (node->kind != ORCH_YAML_SCALAR)
            orch_recipe_error_at(item->draft, node, NULL,
                                 "each value of 'x' and 'y' must be one number");
        else if (strcmp(key, "y") == 0)
            check_number(item, node);
    }
    return list->items->len;
}

static void check_reference_curve(struct report_item *item, const struct orch_yaml *map)
{
    static const char *const keys[] = {"name", "x", "y", "source", NULL};
    struct recipe_draft *draft = item->draft;
    orch_yaml_check_keys(map, draft->path, "a reference curve", keys, draft->diags);
    g_autofree char *name = NULL, *source = NULL;
    if (!orch_recipe_get_text(draft, map, "name", &name))
        orch_recipe_error_at(draft, map, "for example 'name: Goyal et al. 2017'",
                             "a reference curve needs 'name'");
    orch_recipe_get_text(draft, map, "source", &source);
    guint x = check_reference_axis(item, map, "x"), y = check_reference_axis(item, map, "y");
    if (x && y && x != y)
        orch_recipe_error_at(draft, map, NULL,
                             "a reference curve needs equally many x and y values, found %u and %u",
                             x, y);
}

void orch_report_check_reference(struct report_item *item, const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_MAP)
        check_reference_curve(item, node);
    else if (node->kind == ORCH_YAML_SCALAR)
        check_number(item, node);
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++) {
        const struct orch_yaml *one = node->items->pdata[i];
        if (one->kind == ORCH_YAML_LIST)
            orch_recipe_error_at(item->draft, one, NULL, "'reference' must be numbers or maps");
        else
            orch_report_check_reference(item, one);
    }
}

/* Checks a word of the key's own list. */
static void check_word(struct report_item *item, const struct orch_report_words *words,
                       const struct orch_yaml *node)
{
    const char *const *known = words->listed ? words->listed() : words->words;
    if (g_strv_contains(known, node->text))
        return;
    g_autofree char *near = orch_recipe_hint_names(item->draft, node->text, known);
    orch_recipe_error_at(item->draft, node, words->hint ? words->hint : near, "unknown %s '%s'%s",
                         words->what, node->text, words->of ? words->of : "");
}

bool orch_report_names_experiment(const struct report_item *item, const struct orch_yaml *node)
{
    return node->kind == ORCH_YAML_SCALAR &&
           g_hash_table_contains(item->draft->by_name, node->text);
}

/* Checks a name in a formula: a parameter, or a value as in a table. */
static void check_formula_name(struct report_item *item, const struct orch_yaml *node,
                               const char *text)
{
    static const enum report_name kinds[] = {REPORT_NAME_PARAM, REPORT_NAME_METRIC};
    const char *space = strchr(text, ' ');
    g_autofree char *summary = space ? g_strndup(text, (size_t)(space - text)) : NULL;
    const char *name = space ? space + strspn(space, " ") : text;
    const struct orch_metric_spec *metric = find_metric(item, name);
    if (metric)
        g_ptr_array_add(item->metrics, (struct orch_metric_spec *)(uintptr_t)metric);
    if (summary && !is_summary(summary))
        orch_recipe_error_at(item->draft, node, "for example mean epoch_time",
                             "'%s': '%s' is not a summary of a metric, such as last, best or mean",
                             text, summary);
    else if (!metric && strcmp(name, "wall_s") != 0 &&
             (summary || !orch_report_holder(item, REPORT_NAME_PARAM, name)))
        complain_name(item, node, "parameter or metric", name, kinds, G_N_ELEMENTS(kinds), NULL);
}

/* The first line of an error, without its hint. */
static char *first_line(const GError *error)
{
    const char *end = strchr(error->message, '\n');
    return end ? g_strndup(error->message, (gsize)(end - error->message))
               : g_strdup(error->message);
}

/* Checks a filter, whose names are the store's columns, parameters and metrics. */
static void check_where(struct report_item *item, const struct orch_yaml *node)
{
    static const enum report_name kinds[] = {REPORT_NAME_PARAM, REPORT_NAME_METRIC};
    g_autoptr(GError) problem = NULL;
    struct orch_where *where = orch_where_parse(node->text, &problem);
    if (!where) {
        g_autofree char *what = first_line(problem);
        orch_recipe_error_at(item->draft, node, "for example lr < 0.1 and net = resnet20", "%s",
                             what);
        return;
    }
    g_autoptr(GArray) names = orch_where_names(where);
    for (guint i = 0; i < names->len; i++) {
        const struct orch_where_name *name = &g_array_index(names, struct orch_where_name, i);
        const char *dot = strchr(name->name, '.'), *plain = dot ? dot + 1 : name->name;
        if (!name->is_column && !orch_report_holder(item, REPORT_NAME_PARAM, plain) &&
            !orch_report_holder(item, REPORT_NAME_METRIC, plain))
            complain_name(item, node, "parameter or metric", plain, kinds, G_N_ELEMENTS(kinds),
                          NULL);
    }
    orch_where_free(where);
}

static void check_formula(struct report_item *item, const struct orch_yaml *node)
{
    g_autoptr(GError) problem = NULL;
    struct orch_formula *formula = orch_formula_parse(node->text, &problem);
    g_autofree char *what = formula ? NULL : first_line(problem);
    if (!formula)
        orch_recipe_error_at(item->draft, node, "for example speedup = 100 / mean epoch_time", "%s",
                             what);
    const GPtrArray *names = formula ? orch_formula_names(formula) : NULL;
    for (guint i = 0; names && i < names->len; i++)
        check_formula_name(item, node, names->pdata[i]);
    orch_formula_free(formula);
}

/* True when the item reads a table while the report is made, so that its columns are unknown now.
 */
static bool reads_a_table(const struct report_item *item)
{
    return orch_yaml_get(item->spec, "dataset") || orch_yaml_get(item->spec, "artifact") ||
           orch_yaml_get(item->spec, "conv") || orch_yaml_get(item->spec, "dense");
}

bool orch_report_flag(const struct report_item *item, const char *key)
{
    static const char *const yes[] = {"true", "yes", "on", NULL};
    const struct orch_yaml *node = orch_yaml_get(item->spec, key);
    return node && node->kind == ORCH_YAML_SCALAR && g_strv_contains(yes, node->text);
}

bool orch_report_is_heat_map(const struct report_item *item)
{
    const struct orch_yaml *kind = orch_yaml_get(item->spec, "kind");
    return kind && kind->kind == ORCH_YAML_SCALAR && strcmp(kind->text, "heat") == 0;
}

void orch_report_check(struct report_item *item, const struct orch_report_key *key,
                       const struct orch_yaml *node)
{
    switch (key->shape) {
    case ORCH_SHAPE_AXES:
    case ORCH_SHAPE_AXIS:
        check_axis(item, node);
        break;
    case ORCH_SHAPE_Y:
        if (orch_report_is_heat_map(item))
            check_axis(item, node);
        else
            check_value(item, node);
        break;
    case ORCH_SHAPE_X:
        check_x(item, node);
        break;
    case ORCH_SHAPE_VALUES:
    case ORCH_SHAPE_VALUE:
        check_value(item, node);
        break;
    case ORCH_SHAPE_BETTER:
        check_better(item, node);
        break;
    case ORCH_SHAPE_ARTIFACT:
        check_artifact(item, node);
        break;
    case ORCH_SHAPE_WORDS:
    case ORCH_SHAPE_WORD:
        check_word(item, key->words, node);
        break;
    case ORCH_SHAPE_FLAG:
        check_flag(item, node);
        break;
    case ORCH_SHAPE_NUMBERS:
        check_number(item, node);
        break;
    case ORCH_SHAPE_SHARE:
        check_share(item, node);
        break;
    case ORCH_SHAPE_COUNTS:
    case ORCH_SHAPE_COUNT:
        check_count(item, node);
        break;
    case ORCH_SHAPE_COLUMNS:
    case ORCH_SHAPE_COLUMN:
        if (!reads_a_table(item))
            check_axis(item, node);
        break;
    case ORCH_SHAPE_SERIES:
        check_series(item, node);
        break;
    case ORCH_SHAPE_SIDE:
        if (!orch_report_names_experiment(item, node))
            check_value(item, node);
        break;
    case ORCH_SHAPE_FORMULAS:
        check_formula(item, node);
        break;
    case ORCH_SHAPE_WHERE:
        check_where(item, node);
        break;
    case ORCH_SHAPE_EXPERIMENTS: /* these two are read before all others */
    case ORCH_SHAPE_OTHER_EXPERIMENTS:
    case ORCH_SHAPE_REFERENCE:  /* checked as a whole */
    case ORCH_SHAPE_BY_PROFILE: /* checked as a whole */
    case ORCH_SHAPE_TEXTS:
    case ORCH_SHAPE_TEXT:
        break;
    }
}

bool orch_report_takes_list(enum orch_report_shape shape)
{
    return shape == ORCH_SHAPE_AXES || shape == ORCH_SHAPE_VALUES || shape == ORCH_SHAPE_Y ||
           shape == ORCH_SHAPE_EXPERIMENTS || shape == ORCH_SHAPE_OTHER_EXPERIMENTS ||
           shape == ORCH_SHAPE_NUMBERS || shape == ORCH_SHAPE_COUNTS || shape == ORCH_SHAPE_TEXTS ||
           shape == ORCH_SHAPE_COLUMNS || shape == ORCH_SHAPE_WORDS || shape == ORCH_SHAPE_FORMULAS;
}
