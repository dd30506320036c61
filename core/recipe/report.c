/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's items. One table says which keys each kind has and what they hold; names are checked
 * against the plugins of the experiments that an item is about, so that a misspelt metric is found
 * before a night of training and not after it. What the items read also decides the default of
 * `reuse`: a time or a rate is worth nothing from another machine. */
#include "core/recipe/internal.h"

#include "lib/base/text.h"

#include <string.h>

/* What a key holds. */
enum shape {
    SHAPE_AXES,        /* names to group by: one, or a list */
    SHAPE_AXIS,        /* one of them */
    SHAPE_X,           /* an axis, or a value (a metric against a metric) */
    SHAPE_VALUES,      /* "last val_accuracy": one, or a list */
    SHAPE_BETTER,      /* one whose metric says which way is better */
    SHAPE_EXPERIMENTS, /* one, or a list */
    SHAPE_ARTIFACT,
    SHAPE_KIND, /* of a plot */
    SHAPE_FLAG,
    SHAPE_NUMBERS,
    SHAPE_TEXT,
    SHAPE_COLUMNS, /* axes; of a data set or an artifact: columns, which are not known yet */
    SHAPE_COLUMN,  /* one of them */
    SHAPE_MODELS,  /* predictors: one, or a list */
    SHAPE_MODEL,   /* one that has intervals */
    SHAPE_COUNT,   /* a whole number above 0 */
};

struct key_row {
    const char *name;
    enum shape shape;
    bool is_required;
};

#define KEYS_MAX 12
static const struct kind_row {
    const char *name;
    enum orch_report_kind kind;
    bool may_be_bare; /* `- coverage:` without keys */
    struct key_row keys[KEYS_MAX];
} KINDS[] = {
    {"text", ORCH_REPORT_TEXT, false, {{NULL, SHAPE_TEXT, false}}},
    {"table",
     ORCH_REPORT_TABLE,
     false,
     {{"rows", SHAPE_AXES, true},
      {"columns", SHAPE_AXES, false},
      {"value", SHAPE_VALUES, true},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"plot",
     ORCH_REPORT_PLOT,
     false,
     {{"kind", SHAPE_KIND, false},
      {"x", SHAPE_X, true},
      {"y", SHAPE_VALUES, true},
      {"by", SHAPE_AXES, false},
      {"facet", SHAPE_AXIS, false},
      {"log_x", SHAPE_FLAG, false},
      {"log_y", SHAPE_FLAG, false},
      {"ideal", SHAPE_FLAG, false},
      {"reference", SHAPE_NUMBERS, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"images",
     ORCH_REPORT_IMAGES,
     false,
     {{"artifact", SHAPE_ARTIFACT, true},
      {"by", SHAPE_AXES, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"best",
     ORCH_REPORT_BEST,
     false,
     {{"value", SHAPE_BETTER, true},
      {"by", SHAPE_AXES, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"compare",
     ORCH_REPORT_COMPARE,
     false,
     {{"value", SHAPE_VALUES, true},
      {"by", SHAPE_AXES, true},
      {"best_of", SHAPE_AXES, false},
      {"baseline", SHAPE_TEXT, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"coverage",
     ORCH_REPORT_COVERAGE,
     true,
     {{"rows", SHAPE_AXES, false},
      {"columns", SHAPE_AXES, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"work",
     ORCH_REPORT_WORK,
     true,
     {{"value", SHAPE_VALUES, false},
      {"by", SHAPE_AXES, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"collaborators",
     ORCH_REPORT_COLLABORATORS,
     true,
     {{"by", SHAPE_AXES, false},
      {"experiments", SHAPE_EXPERIMENTS, false},
      {"where", SHAPE_TEXT, false}}},
    {"learn",
     ORCH_REPORT_LEARN,
     false,
     {{"value", SHAPE_VALUES, false},
      {"artifact", SHAPE_ARTIFACT, false},
      {"dataset", SHAPE_TEXT, false},
      {"target", SHAPE_TEXT, false},
      {"features", SHAPE_COLUMNS, false},
      {"drop", SHAPE_COLUMNS, false},
      {"models", SHAPE_MODELS, false},
      {"hold_out", SHAPE_COLUMN, false},
      {"model", SHAPE_MODEL, false},
      {"most", SHAPE_COUNT, false},
      {"experiments", SHAPE_EXPERIMENTS, false}}},
    {"layerwise",
     ORCH_REPORT_LAYERWISE,
     false,
     {{"conv", SHAPE_ARTIFACT, false},
      {"dense", SHAPE_ARTIFACT, false},
      {"value", SHAPE_VALUES, true},
      {"target", SHAPE_TEXT, false},
      {"features", SHAPE_COLUMNS, false},
      {"hold_out", SHAPE_COLUMN, false},
      {"model", SHAPE_MODEL, false},
      {"images", SHAPE_COUNT, false},
      {"experiments", SHAPE_EXPERIMENTS, false}}},
};

static const char *const COMMON_KEYS[] = {"question", "title", "points"};
static const char *const PLOT_KINDS[] = {"line", "scatter", "bar", "histogram", "box", NULL};
/* How a metric's points become one number. */
static const char *const SUMMARIES[] = {"last",  "best",   "mean",  "min", "max",
                                        "first", "result", "count", NULL};
/* Predictors as predictors/model.h names them; "aigauge" is the linear form of lecture 7. */
static const char *const MODELS[] = {"tree",   "forest", "boost",   "mlp",
                                     "linear", "knn",    "aigauge", NULL};
static const char *const MODELS_ALONE[] = {"auto", "tree",   "forest", "boost",
                                           "mlp",  "linear", "knn",    NULL};
static const char *const PLACES[] = {"machine", "gpu", "threads", NULL};
static const char *const OTHER_AXES[] = {"experiment", "repeat", "step", NULL};
static const char *const TIME_UNITS[] = {"s", "ms", "us", "ns", "min", "h", NULL};

/* An item while it is checked. */
struct item {
    struct recipe_draft *draft;
    const struct orch_yaml *spec;
    GPtrArray *experiments; /* struct recipe_experiment *: what it is about */
    bool is_listed;         /* by its own `experiments:`, else all */
    GPtrArray *metrics;     /* const struct orch_metric_spec *: what it reads */
    const char *place;      /* "gpu" when it groups by a place */
};

/* ---- names -------------------------------------------------------------------------------------
 */

/* How many of the item's experiments have the name, as what? */
enum name_kind { NAME_PARAM, NAME_METRIC, NAME_ARTIFACT, NAME_STEP_UNIT };

static bool manifest_has_step_unit(const struct orch_manifest *manifest, const char *name)
{
    for (guint i = 0; i < manifest->metrics->len; i++)
        if (g_strcmp0(((struct orch_metric_spec *)manifest->metrics->pdata[i])->step_unit, name) ==
            0)
            return true;
    return false;
}

static bool manifest_has(const struct orch_manifest *manifest, enum name_kind kind,
                         const char *name)
{
    switch (kind) {
    case NAME_PARAM:
        return orch_manifest_param(manifest, name);
    case NAME_METRIC:
        return orch_manifest_metric(manifest, name);
    case NAME_ARTIFACT:
        return orch_manifest_artifact(manifest, name);
    case NAME_STEP_UNIT:
        return manifest_has_step_unit(manifest, name);
    }
    return false;
}

/* The first of the item's experiments that has the name. */
static const struct recipe_experiment *holder(const struct item *item, enum name_kind kind,
                                              const char *name)
{
    for (guint i = 0; i < item->experiments->len; i++) {
        const struct recipe_experiment *experiment = item->experiments->pdata[i];
        if (manifest_has(experiment->manifest, kind, name))
            return experiment;
    }
    return NULL;
}

/* The metric of that name, as the first experiment that has it declares it. */
static const struct orch_metric_spec *find_metric(const struct item *item, const char *name)
{
    const struct recipe_experiment *experiment = holder(item, NAME_METRIC, name);
    return experiment ? orch_manifest_metric(experiment->manifest, name) : NULL;
}

static void add_names(GPtrArray *names, const struct orch_manifest *manifest, enum name_kind kind)
{
    for (guint i = 0; kind == NAME_PARAM && i < manifest->params->len; i++)
        g_ptr_array_add(names, ((struct orch_param_spec *)manifest->params->pdata[i])->name);
    for (guint i = 0; kind == NAME_METRIC && i < manifest->metrics->len; i++)
        g_ptr_array_add(names, ((struct orch_metric_spec *)manifest->metrics->pdata[i])->name);
    for (guint i = 0; kind == NAME_ARTIFACT && i < manifest->artifacts->len; i++)
        g_ptr_array_add(names, ((struct orch_artifact_spec *)manifest->artifacts->pdata[i])->name);
    for (guint i = 0; kind == NAME_STEP_UNIT && i < manifest->metrics->len; i++) {
        char *unit = ((struct orch_metric_spec *)manifest->metrics->pdata[i])->step_unit;
        if (unit)
            g_ptr_array_add(names, unit);
    }
}

/* Distinct names of the given kinds over the item's experiments, NULL-terminated, with `more`. */
static GPtrArray *known_names(const struct item *item, const enum name_kind *kinds, guint count,
                              const char *const *more)
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

static void complain_name(const struct item *item, const struct orch_yaml *node, const char *what,
                          const char *name, const enum name_kind *kinds, guint count,
                          const char *const *more)
{
    if (item->draft->has_unknown_plugin && !item->is_listed)
        return;
    g_autoptr(GPtrArray) names = known_names(item, kinds, count, more);
    g_autofree char *hint =
        orch_recipe_hint_names(item->draft, name, (const char *const *)names->pdata);
    orch_recipe_complain_at(item->draft, node, hint, "unknown %s '%s' in the report", what, name);
}

/* ---- shapes ------------------------------------------------------------------------------------
 */

/* "last val_accuracy", "val_accuracy", "count": its metric, or NULL (none, or complained). */
static const struct orch_metric_spec *check_value(struct item *item, const struct orch_yaml *node)
{
    static const enum name_kind kinds[] = {NAME_METRIC};
    const char *space = strchr(node->text, ' ');
    const char *name = space ? space + strspn(space, " ") : node->text;
    if (!space && strcmp(name, "count") == 0)
        return NULL;
    g_autofree char *summary = space ? g_strndup(node->text, (size_t)(space - node->text)) : NULL;
    if (summary && !g_strv_contains(SUMMARIES, summary)) {
        g_autofree char *hint = orch_recipe_hint_names(item->draft, summary, SUMMARIES);
        orch_recipe_complain_at(item->draft, node, hint, "'%s': '%s' is no summary of a metric",
                                node->text, summary);
        return NULL;
    }
    const struct orch_metric_spec *metric = find_metric(item, name);
    if (!metric) {
        complain_name(item, node, "metric", name, kinds, G_N_ELEMENTS(kinds), NULL);
        return NULL;
    }
    g_ptr_array_add(item->metrics, (struct orch_metric_spec *)(uintptr_t)metric);
    if (summary && strcmp(summary, "best") == 0 && metric->better == ORCH_BETTER_NONE)
        orch_recipe_complain_at(item->draft, node, "write 'min' or 'max'",
                                "metric '%s' does not say which way is better", name);
    return metric;
}

static void check_better(struct item *item, const struct orch_yaml *node)
{
    const struct orch_metric_spec *metric = check_value(item, node);
    if (metric && metric->better == ORCH_BETTER_NONE)
        orch_recipe_complain_at(item->draft, node, "choose a metric that is to be high or low",
                                "metric '%s' does not say which way is better", metric->name);
}

static bool axis_is_known(struct item *item, const char *name)
{
    if (g_strv_contains(PLACES, name)) {
        item->place = name;
        return true;
    }
    return g_strv_contains(OTHER_AXES, name) || holder(item, NAME_PARAM, name) ||
           holder(item, NAME_STEP_UNIT, name);
}

static void check_axis(struct item *item, const struct orch_yaml *node)
{
    static const enum name_kind kinds[] = {NAME_PARAM, NAME_STEP_UNIT};
    static const char *const more[] = {"experiment", "repeat", "machine", "gpu", "threads", NULL};
    if (!axis_is_known(item, node->text))
        complain_name(item, node, "parameter", node->text, kinds, G_N_ELEMENTS(kinds), more);
}

static void check_x(struct item *item, const struct orch_yaml *node)
{
    static const enum name_kind kinds[] = {NAME_PARAM, NAME_STEP_UNIT, NAME_METRIC};
    static const char *const more[] = {"experiment", "repeat", "machine", "gpu", "threads", NULL};
    if (strchr(node->text, ' ') || holder(item, NAME_METRIC, node->text))
        check_value(item, node);
    else if (!axis_is_known(item, node->text))
        complain_name(item, node, "parameter or metric", node->text, kinds, G_N_ELEMENTS(kinds),
                      more);
}

static void check_artifact(struct item *item, const struct orch_yaml *node)
{
    static const enum name_kind kinds[] = {NAME_ARTIFACT};
    if (!holder(item, NAME_ARTIFACT, node->text))
        complain_name(item, node, "artifact", node->text, kinds, G_N_ELEMENTS(kinds), NULL);
}

static void check_flag(struct item *item, const struct orch_yaml *node)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", NULL};
    if (!g_strv_contains(words, node->text))
        orch_recipe_complain_at(item->draft, node, "write true or false",
                                "'%s' is not true or false", node->text);
}

static void check_number(struct item *item, const struct orch_yaml *node)
{
    double number;
    if (!orch_real_parse(node->text, &number))
        orch_recipe_complain_at(item->draft, node, NULL, "'%s' is not a real number", node->text);
}

static void check_kind(struct item *item, const struct orch_yaml *node)
{
    g_autofree char *hint = orch_recipe_hint_names(item->draft, node->text, PLOT_KINDS);
    if (!g_strv_contains(PLOT_KINDS, node->text))
        orch_recipe_complain_at(item->draft, node, hint, "unknown kind of plot '%s'", node->text);
}

static void check_model(struct item *item, const struct orch_yaml *node, const char *const *names)
{
    g_autofree char *near = orch_recipe_hint_names(item->draft, node->text, names);
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)names);
    if (!g_strv_contains(names, node->text))
        orch_recipe_complain_at(item->draft, node, near ? near : all, "unknown model '%s'",
                                node->text);
}

static void check_count(struct item *item, const struct orch_yaml *node)
{
    int64_t count;
    if (!orch_int_parse(node->text, &count) || count < 1)
        orch_recipe_complain_at(item->draft, node, NULL, "'%s' is not a whole number above 0",
                                node->text);
}

/* Columns of a table that is read when the answer is made are not known before. */
static bool reads_a_table(const struct item *item)
{
    return orch_yaml_get(item->spec, "dataset") || orch_yaml_get(item->spec, "artifact") ||
           orch_yaml_get(item->spec, "conv") || orch_yaml_get(item->spec, "dense");
}

static void check_one(struct item *item, enum shape shape, const struct orch_yaml *node)
{
    switch (shape) {
    case SHAPE_COLUMNS:
    case SHAPE_COLUMN:
        if (!reads_a_table(item))
            check_axis(item, node);
        break;
    case SHAPE_MODELS:
        check_model(item, node, MODELS);
        break;
    case SHAPE_MODEL:
        check_model(item, node, MODELS_ALONE);
        break;
    case SHAPE_COUNT:
        check_count(item, node);
        break;
    case SHAPE_AXES:
    case SHAPE_AXIS:
        check_axis(item, node);
        break;
    case SHAPE_X:
        check_x(item, node);
        break;
    case SHAPE_VALUES:
        check_value(item, node);
        break;
    case SHAPE_BETTER:
        check_better(item, node);
        break;
    case SHAPE_ARTIFACT:
        check_artifact(item, node);
        break;
    case SHAPE_KIND:
        check_kind(item, node);
        break;
    case SHAPE_FLAG:
        check_flag(item, node);
        break;
    case SHAPE_NUMBERS:
        check_number(item, node);
        break;
    case SHAPE_EXPERIMENTS: /* read before all others */
    case SHAPE_TEXT:
        break;
    }
}

static bool shape_is_list(enum shape shape)
{
    return shape == SHAPE_AXES || shape == SHAPE_VALUES || shape == SHAPE_EXPERIMENTS ||
           shape == SHAPE_NUMBERS || shape == SHAPE_COLUMNS || shape == SHAPE_MODELS;
}

/* ---- items -------------------------------------------------------------------------------------
 */

/* What the item is about: its own list, or all that can be checked. */
static void find_experiments(struct item *item)
{
    struct recipe_draft *draft = item->draft;
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(draft, item->spec, "experiments");
    item->is_listed = texts != NULL;
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        struct recipe_experiment *experiment = g_hash_table_lookup(draft->by_name, node->text);
        g_autofree char *hint = orch_recipe_hint_names(
            draft, node->text, (const char *const *)draft->experiment_names->pdata);
        if (!experiment)
            orch_recipe_complain_at(draft, node, hint, "unknown experiment '%s' in the report",
                                    node->text);
        else if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
    }
    for (guint i = 0; !texts && i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
    }
}

static void check_key(struct item *item, const struct kind_row *kind, const struct key_row *row)
{
    const struct orch_yaml *node = orch_yaml_get(item->spec, row->name);
    if (!node) {
        if (row->is_required)
            orch_recipe_complain_at(item->draft, item->spec, "see docs/recipes.md, 'Report'",
                                    "'%s' needs '%s'", kind->name, row->name);
        return;
    }
    if (node->kind == ORCH_YAML_LIST && !shape_is_list(row->shape)) {
        orch_recipe_complain_at(item->draft, node, NULL, "'%s' takes one value, found a list",
                                row->name);
        return;
    }
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(item->draft, item->spec, row->name);
    if (item->experiments->len == 0) /* nothing to check names against: said elsewhere */
        return;
    for (guint i = 0; texts && i < texts->len; i++)
        check_one(item, row->shape, texts->pdata[i]);
}

/* A curve over epochs needs a metric by epoch. */
static void check_steps(struct item *item)
{
    const struct orch_yaml *x = orch_yaml_get(item->spec, "x");
    if (!x || x->kind != ORCH_YAML_SCALAR || holder(item, NAME_PARAM, x->text) ||
        !(strcmp(x->text, "step") == 0 || holder(item, NAME_STEP_UNIT, x->text)))
        return;
    for (guint i = 0; i < item->metrics->len; i++) {
        const struct orch_metric_spec *metric = item->metrics->pdata[i];
        if (!metric->step_unit)
            orch_recipe_complain_at(item->draft, x, "put it in a table",
                                    "'%s' is one value a trial: it has no curve by %s",
                                    metric->name, x->text);
        else if (strcmp(x->text, "step") != 0 && strcmp(metric->step_unit, x->text) != 0)
            orch_recipe_complain_at(item->draft, x, NULL, "'%s' is recorded by %s, not by %s",
                                    metric->name, metric->step_unit, x->text);
    }
}

/* Rows to learn from come from one place; a table's target has a name. */
static void check_learn(struct item *item)
{
    static const char *const sources[] = {"value", "artifact", "dataset"};
    int count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
        count += orch_yaml_get(item->spec, sources[i]) != NULL;
    if (count != 1)
        orch_recipe_complain_at(item->draft, item->spec,
                                "value: a metric of runs; artifact: a CSV "
                                "that runs leave; dataset: one that 'orch import' brought in",
                                "'learn' needs one of 'value', 'artifact' and 'dataset', found %d",
                                count);
    else if (!orch_yaml_get(item->spec, "value") && !orch_yaml_get(item->spec, "target"))
        orch_recipe_complain_at(item->draft, item->spec, "target: the column to predict",
                                "'learn' from a table needs 'target'");
    else if (orch_yaml_get(item->spec, "value") && !orch_yaml_get(item->spec, "features"))
        orch_recipe_complain_at(item->draft, item->spec, "features: [net, batch, ...]",
                                "'learn' from runs needs 'features'");
}

static void check_layerwise(struct item *item)
{
    if (!orch_yaml_get(item->spec, "conv") && !orch_yaml_get(item->spec, "dense"))
        orch_recipe_complain_at(item->draft, item->spec,
                                "the artifact that has the measured layers",
                                "'layerwise' needs 'conv', 'dense' or both");
}

static bool unit_is_of_a_place(const char *unit)
{
    return unit && (g_strv_contains(TIME_UNITS, unit) || g_str_has_suffix(unit, "/s"));
}

/* Experiments whose answer in this item depends on where they ran. */
static void mark_where(const struct item *item)
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
            if (metric && unit_is_of_a_place(metric->unit) && !made->reuse_why) {
                made->reuse = ORCH_RECIPE_REUSE_WHERE;
                made->reuse_why =
                    g_strdup_printf("report reads %s (%s)", metric->name, metric->unit);
            }
        }
        if (item->place && has_metric && !made->reuse_why) {
            made->reuse = ORCH_RECIPE_REUSE_WHERE;
            made->reuse_why = g_strdup_printf("report groups by %s", item->place);
        }
    }
}

static void check_spec(struct recipe_draft *draft, const struct kind_row *kind,
                       const struct orch_yaml *spec)
{
    struct item item = {.draft = draft, .spec = spec};
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
    if (kind->kind == ORCH_REPORT_PLOT)
        check_steps(&item);
    if (kind->kind == ORCH_REPORT_LEARN)
        check_learn(&item);
    if (kind->kind == ORCH_REPORT_LAYERWISE)
        check_layerwise(&item);
    mark_where(&item);
    g_ptr_array_unref(item.experiments);
    g_ptr_array_unref(item.metrics);
}

/* As written: texts, lists, objects. Depth is bounded by the reader. */
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

/* The one kind that an item has. */
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
            orch_recipe_complain_at(draft, key, "make two items of it",
                                    "a report item is one thing, found '%s' and '%s'", found->name,
                                    key->text);
            return NULL;
        }
        found = key ? &KINDS[i] : found;
    }
    if (!found && !has_unknown)
        orch_recipe_complain_at(draft, map,
                                "add one of: text, table, plot, images, best, compare, coverage, "
                                "work, collaborators, learn, layerwise",
                                "a report item without content");
    return found;
}

/* The part that belongs to the kind fits it? */
static bool spec_fits(struct recipe_draft *draft, const struct kind_row *kind,
                      const struct orch_yaml *spec)
{
    bool is_text = kind->kind == ORCH_REPORT_TEXT;
    if (is_text && spec->kind == ORCH_YAML_SCALAR && *spec->text)
        return true;
    if (!is_text && spec->kind == ORCH_YAML_MAP)
        return true;
    if (kind->may_be_bare && spec->kind == ORCH_YAML_SCALAR &&
        (orch_yaml_is_null(spec) || strcmp(spec->text, "true") == 0))
        return true;
    orch_recipe_complain_at(draft, spec, "see docs/recipes.md, 'Report'", "'%s' takes %s, found %s",
                            kind->name, is_text ? "a text" : "a map", orch_recipe_node_kind(spec));
    return false;
}

static void read_item(struct recipe_draft *draft, const struct orch_yaml *map)
{
    if (map->kind != ORCH_YAML_MAP) {
        orch_recipe_complain_at(draft, map, "write '- { title: ..., table: { ... } }'",
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
        orch_recipe_complain_at(draft, orch_yaml_get(map, "points"), NULL,
                                "'points': '%s' is not a number of points", points);
    const struct kind_row *kind = find_kind(draft, map);
    const struct orch_yaml *spec = kind ? orch_yaml_get(map, kind->name) : NULL;
    if (!spec || !spec_fits(draft, kind, spec))
        return;
    item->kind = kind->kind;
    bool is_bare = kind->may_be_bare && spec->kind == ORCH_YAML_SCALAR;
    item->spec = is_bare ? json_object() : as_written(spec);
    if (spec->kind == ORCH_YAML_MAP)
        check_spec(draft, kind, spec);
}

/* ---- reuse -------------------------------------------------------------------------------------
 */

/* The recipe's word, then the plugin's, then what the report reads (already noted), else any. */
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
        made->reuse = ORCH_RECIPE_REUSE_WHERE;
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
        orch_recipe_complain_at(draft, list, "begin each item with '- '",
                                "'report' takes a list, found %s", orch_recipe_node_kind(list));
    guint count = list && list->kind == ORCH_YAML_LIST ? list->items->len : 0;
    if (count > RECIPE_REPORT_MAX)
        orch_recipe_complain_at(draft, list, "split the recipe",
                                "a report has at most %d items, found %u", RECIPE_REPORT_MAX,
                                count);
    for (guint i = 0; i < MIN(count, RECIPE_REPORT_MAX); i++)
        read_item(draft, list->items->pdata[i]);
    for (guint i = 0; i < draft->experiments->len; i++)
        decide_reuse(draft->experiments->pdata[i]);
}
