/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `search:` and `objective:`, and gives cells the values of points. */
#include "core/recipe/recipe_search.h"

#include "core/recipe/auto_repeat.h"
#include "core/recipe/option_value.h"
#include "core/recipe/parse_parts.h"
#include "core/recipe/report_shapes.h"

#include "lib/base/condition.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

const struct orch_yaml_key ORCH_OBJECTIVE_KEYS[] = {
    {"metric", .type = "text"},
    {"metrics", .type = "texts"},
    {"subject to", .type = "texts"},
    {"trials", .type = "count", .min = 1, .max = 100000},
    {"sampler", .words = ORCH_SAMPLER_NAMES},
    {"seed", .type = "count"},
    {"until", .type = "texts"},
    {"stop", .type = "text"},
    {"budget", .type = "text"},
    {"deadline", .type = "duration"},
    {"try", .type = "settings"},
    {0}};

void orch_search_free(struct orch_search *search)
{
    if (!search)
        return;
    orch_space_free(search->space);
    g_free(search->metric);
    g_free(search->summary);
    g_free(search->sampler);
    g_free(search->stop);
    g_clear_pointer(&search->first, g_ptr_array_unref);
    for (unsigned i = 0; i < ORCH_SEARCH_GOALS_MAX - 1; i++) {
        g_free(search->more[i].metric);
        g_free(search->more[i].summary);
    }
    for (unsigned i = 0; i < search->bound_count; i++) {
        g_free(search->bounds[i].metric);
        g_free(search->bounds[i].text);
    }
    g_free(search);
}

/* ---- objective ------------------------------------------------------------------------------- */

/* Settles which values are better: as written, else as the plugin declares it, else by the name. */
static void settle_direction(struct recipe_draft *draft, const struct orch_yaml *node,
                             const struct recipe_experiment *experiment, enum orch_better written,
                             struct orch_goal *out)
{
    const struct orch_metric_spec *spec =
        experiment->manifest ? orch_manifest_metric(experiment->manifest, out->metric) : NULL;
    const enum orch_better declared = written || !spec ? written : spec->better;
    g_autoptr(GError) unknown = NULL;
    out->direction = orch_direction_of(out->metric, spec ? spec->unit : NULL, declared);
    out->is_max = out->direction.better == ORCH_BETTER_MAX;
    if (out->direction.better != ORCH_BETTER_NONE || !experiment->manifest)
        return; /* a plugin that was not found is reported elsewhere */
    g_autofree char *hint = g_strdup_printf("write 'max %s' or 'min %s'", out->metric, out->metric);
    orch_direction_unknown(out->metric, hint, &unknown);
    orch_recipe_error_from(draft, (struct recipe_place){draft->path, node->line, node->column},
                           unknown);
}

bool orch_objective_read(const char *text, enum orch_better *out_better, char **out_summary,
                         char **out_metric)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);
    g_autoptr(GPtrArray) plain = g_ptr_array_new();
    for (char **word = words; *word; word++)
        if (**word)
            g_ptr_array_add(plain, *word);
    const enum orch_better better =
        plain->len > 1 ? orch_better_parse(plain->pdata[0]) : ORCH_BETTER_NONE;
    if (better != ORCH_BETTER_NONE)
        g_ptr_array_remove_index(plain, 0);
    if (plain->len != 1 && (plain->len != 2 || !orch_report_is_curve_summary(plain->pdata[0])))
        return false;
    *out_better = better;
    *out_metric = g_strdup(plain->pdata[plain->len - 1]);
    *out_summary = g_strdup(plain->len == 2 ? plain->pdata[0] : "last");
    return true;
}

static void read_metric(struct recipe_draft *draft, const struct orch_yaml *node, const char *text,
                        const struct recipe_experiment *experiment, struct orch_goal *out)
{
    enum orch_better written;
    if (!orch_objective_read(text, &written, &out->summary, &out->metric)) {
        orch_recipe_error_at(draft, node, "for example 'max last val_accuracy' or 'min val_loss'",
                             "'metric': '%s' is not an objective", text);
        return;
    }
    if (orch_recipe_check_metric(draft, node, experiment, out->metric))
        settle_direction(draft, node, experiment, written, out);
}

/* "asha(min=4, factor=3)" */
static void read_stop(struct recipe_draft *draft, const struct orch_yaml *node, const char *text,
                      struct orch_search *out)
{
    g_autoptr(GError) problem = NULL;
    struct orch_stop_rule rule;
    size_t at = 0;
    if (orch_stop_rule_parse(text, &rule, &at, &problem)) {
        out->stop = g_memdup2(&rule, sizeof rule);
        return;
    }
    g_autofree char *what = orch_error_what(problem);
    bool is_cut = strchr(text, '(') && !strchr(text, ')');
    struct recipe_place place = {draft->path, node->line, node->column + node->quoted + (int)at};
    orch_recipe_error(draft, place,
                      is_cut ? "put the value in quotes: inside { }, YAML ends it at a comma"
                             : orch_error_hint(problem),
                      "'stop': %s", what);
}

/* "5usd", or "2h" of devices */
static void read_budget(struct recipe_draft *draft, const struct orch_yaml *objective,
                        struct orch_search *out)
{
    g_autofree char *text = NULL;
    if (!orch_recipe_get_text(draft, objective, "budget", &text) ||
        orch_option_device_time(text, &out->budget_s) ||
        orch_option_usd(text, 1e9, &out->budget_usd))
        return;
    orch_recipe_error_at(draft, orch_yaml_get(objective, "budget"),
                         "for example 'budget: 5usd', or 'budget: 2h' (device time)",
                         "'budget': '%s' is not an amount above 0", text);
}

static void read_deadline(struct recipe_draft *draft, const struct orch_yaml *objective,
                          struct orch_search *out)
{
    g_autofree char *text = NULL;
    if (!orch_recipe_get_text(draft, objective, "deadline", &text) ||
        (orch_option_seconds(text, &out->deadline_s) && out->deadline_s > 0))
        return;
    orch_recipe_error_at(draft, orch_yaml_get(objective, "deadline"),
                         "for a time of day use 'orch run --deadline 18:00'",
                         "'deadline': '%s' is not a duration such as 2h", text);
}

/* "0.9", or "90%": as values in per cent are stored, which is 90 where the metric declares the unit
 * %, and else 0.9. Programs that print per cent without the sign have values beyond 1. */
static void read_until(struct recipe_draft *draft, const struct orch_yaml *node,
                       const struct recipe_experiment *experiment, struct orch_goal *out)
{
    const struct orch_metric_spec *metric =
        out->metric && experiment->manifest
            ? orch_manifest_metric(experiment->manifest, out->metric)
            : NULL;
    double number, share;
    const bool is_percent = orch_percent_parse(node->text, &number, &share);
    if (is_percent)
        out->until = metric && g_strcmp0(metric->unit, "%") == 0 ? number : share;
    out->has_until = is_percent || orch_real_parse(node->text, &out->until);
    out->until_number = is_percent && fabs(share) <= 1 ? number : out->until;
    if (!out->has_until)
        orch_recipe_error_at(draft, node, "for example until: 0.95, or until: 95%",
                             "'until': '%s' is not a number", node->text);
}

/* Reads one value for each metric, in their order: the place that a setting must reach. */
static void read_untils(struct recipe_draft *draft, const struct orch_yaml *objective,
                        const struct recipe_experiment *experiment, struct orch_goal *goals,
                        unsigned count)
{
    const struct orch_yaml *node = orch_yaml_get(objective, "until");
    g_autoptr(GPtrArray) values = node ? orch_recipe_get_texts(draft, objective, "until") : NULL;
    if (values && count && values->len != count)
        orch_recipe_error_at(draft, node, "write one value for each metric: [0.95, 20]",
                             "'until' has %u value%s, but the objective has %u metric%s",
                             values->len, orch_plural(values->len), count, orch_plural(count));
    for (guint i = 0; values && values->len == count && i < count; i++)
        read_until(draft, values->pdata[i], experiment, &goals[i]);
}

/* Reads `metric`, or the list `metrics`. Returns how many goals it has written. */
static unsigned read_metrics(struct recipe_draft *draft, const struct orch_yaml *objective,
                             const struct recipe_experiment *experiment, struct orch_goal *out)
{
    const struct orch_yaml *one = orch_yaml_get(objective, "metric"),
                           *several = orch_yaml_get(objective, "metrics");
    const char *key = one ? "metric" : "metrics";
    g_autoptr(GPtrArray) texts =
        one || several ? orch_recipe_get_texts(draft, objective, key) : NULL;
    const guint most = one ? 1 : ORCH_SEARCH_GOALS_MAX;
    if (one && several)
        orch_recipe_error_at(draft, several, "leave out one of the two",
                             "an objective has either 'metric' or 'metrics'");
    if (texts && (!texts->len || texts->len > most)) {
        orch_recipe_error_at(draft, one ? one : several, NULL, "'%s': name 1 to %u metrics", key,
                             most);
        return 0;
    }
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        read_metric(draft, node, node->text, experiment, &out[i]);
        for (guint k = 0; k < i; k++)
            if (g_strcmp0(out[k].metric, out[i].metric) == 0 && out[i].metric)
                orch_recipe_error_at(draft, node, NULL, "'metrics': '%s' is there twice",
                                     out[i].metric);
    }
    return texts ? texts->len : 0;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The objective's limits while one of their texts is read. */
struct limits {
    struct orch_search *search;
    const char *text;
    bool is_optional; /* a comparison of it need not hold */
};

static void note_mark(void *ctx, enum orch_condition_mark mark)
{
    struct limits *limits = ctx;
    limits->is_optional |= mark == CONDITION_OR || mark == CONDITION_NOT;
}

/* "peak_memory < 16GiB" */
static bool add_bound(void *ctx, const struct orch_condition_term *c, GError **error)
{
    const struct limits *limits = ctx;
    struct orch_search *search = limits->search;
    double number, share;
    char *end;
    const double value = g_ascii_strtod(c->value, &end);
    const bool is_percent = orch_percent_parse(c->value, &number, &share);
    const struct orch_unit *unit = *end ? orch_unit_find(end, strlen(end)) : NULL;
    if (c->op != OP_LT && c->op != OP_LE && c->op != OP_GT && c->op != OP_GE)
        return orch_condition_fail(limits->text, c->name_at, error,
                                   "write <, <=, > or >=", "'%s' is no limit", c->sign);
    if (end == c->value || !isfinite(value) || (*end && !unit && !is_percent))
        return orch_condition_fail(limits->text, c->value_at, error,
                                   "for example 'peak_memory < 16GiB'", "'%s' is no number",
                                   c->value);
    if (search->bound_count == ORCH_SEARCH_BOUNDS_MAX)
        return orch_condition_fail(limits->text, c->name_at, error, NULL,
                                   "an objective has at most %d limits", ORCH_SEARCH_BOUNDS_MAX);
    search->bounds[search->bound_count++] =
        (struct orch_search_bound){.metric = g_strdup(c->name),
                                   .is_most = c->op == OP_LT || c->op == OP_LE,
                                   .is_strict = c->op == OP_LT || c->op == OP_GT,
                                   .value = is_percent ? share : value,
                                   .unit = unit ? unit->name : "",
                                   .text = g_strdup_printf("%s %s %s", c->name, c->sign, c->value)};
    return true;
}

bool orch_search_bounds_read(struct orch_search *search, const char *text, GError **error)
{
    struct limits limits = {.search = search, .text = text};
    const struct orch_condition_reader reader = {
        .ctx = &limits, .compare = add_bound, .mark = note_mark};
    if (!orch_condition_parse(text, &reader, error))
        return false;
    if (limits.is_optional)
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "for example 'peak_memory < 16GiB and wall_s < 60'",
                       "limits can be joined only by 'and'");
    return !limits.is_optional;
}

static void read_bounds(struct recipe_draft *draft, const struct orch_yaml *objective,
                        const struct recipe_experiment *experiment, struct orch_search *search)
{
    static const char *const measured[] = {"price", "peak_memory", NULL};
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(draft, objective, "subject to");
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        const unsigned before = search->bound_count;
        g_autoptr(GError) problem = NULL;
        if (!orch_search_bounds_read(search, node->text, &problem)) {
            g_autofree char *what = orch_error_what(problem);
            orch_recipe_error_at(draft, node, orch_error_hint(problem), "'subject to': %s", what);
        }
        for (unsigned k = before; k < search->bound_count; k++)
            if (!g_strv_contains(measured, search->bounds[k].metric))
                orch_recipe_check_metric(draft, node, experiment, search->bounds[k].metric);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The first metric is that of the search, the others stand beside it. */
static void take_goals(struct orch_search *search, const struct orch_goal *goals, unsigned count)
{
    search->metric = goals[0].metric;
    search->summary = goals[0].summary;
    search->is_max = goals[0].is_max;
    search->direction = goals[0].direction;
    search->has_until = goals[0].has_until;
    search->until = goals[0].until;
    search->until_number = goals[0].until_number;
    for (unsigned i = 1; i < count; i++)
        search->more[i - 1] = goals[i];
    search->more_count = count ? count - 1 : 0;
}

void orch_recipe_read_objective(struct recipe_draft *draft, const struct orch_yaml *map,
                                struct recipe_experiment *experiment)
{
    const struct orch_yaml *objective = orch_recipe_get_map(draft, map, "objective");
    if (!objective)
        return;
    struct orch_search *search = g_new0(struct orch_search, 1);
    experiment->made->search = search;
    experiment->objective = orch_yaml_get_key(map, "objective");
    experiment->first = orch_yaml_get(objective, "try");
    search->trials = ORCH_SEARCH_TRIALS;
    orch_recipe_check_keys(draft, objective, "'objective'", ORCH_OBJECTIVE_KEYS);
    g_autofree char *stop = NULL;
    int64_t count;
    unsigned word = 0;
    struct orch_goal goals[ORCH_SEARCH_GOALS_MAX] = {{0}};
    const unsigned goal_count = read_metrics(draft, objective, experiment, goals);
    read_untils(draft, objective, experiment, goals, goal_count);
    take_goals(search, goals, goal_count);
    read_bounds(draft, objective, experiment, search);
    if (orch_recipe_get_count(draft, objective, "trials", "1", "100000", &count))
        search->trials = (unsigned)count;
    if (orch_recipe_get_count(draft, objective, "seed", "0", "9223372036854775807", &count))
        search->seed = (uint64_t)count;
    orch_recipe_get_choice(draft, objective, "sampler", ORCH_SAMPLER_NAMES, &word);
    search->sampler = g_strdup(ORCH_SAMPLER_NAMES[word]);
    if (orch_recipe_get_text(draft, objective, "stop", &stop))
        read_stop(draft, orch_yaml_get(objective, "stop"), stop, search);
    if (search->stop && search->more_count &&
        (search->stop->kind != ORCH_STOP_FORECAST || search->stop->top > 1))
        orch_recipe_error_at(draft, orch_yaml_get(objective, "stop"),
                             "forecast(p=0.05) works with several metrics",
                             "'stop': this rule needs one metric, but the objective has several");
    read_budget(draft, objective, search);
    read_deadline(draft, objective, search);
}

/* ---- space ----------------------------------------------------------------------------------- */

/* The item of a list of one, as of an option, else the node itself. */
static const struct orch_yaml *only_item(const struct orch_yaml *node)
{
    return node->kind == ORCH_YAML_LIST && node->items->len == 1 ? node->items->pdata[0] : node;
}

/* The text of a range: as written, or that of a list. */
static char *range_text(const struct orch_yaml *node)
{
    const struct orch_yaml *only = only_item(node);
    if (only->kind == ORCH_YAML_SCALAR && (only == node || orch_space_is_meant(only->text)))
        return g_strdup(only->text);
    GString *text = g_string_new("[");
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        const char *word = item->kind == ORCH_YAML_SCALAR ? item->text : "";
        const char *quote = strchr(word, '"') ? "'" : "\"";
        g_string_append_printf(text, "%s%s%s%s", i ? ", " : "", quote, word, quote);
    }
    return g_string_free(g_string_append_c(text, ']'), FALSE);
}

bool orch_recipe_is_range(const struct recipe_setting *setting)
{
    const struct orch_yaml *node = only_item(setting->value);
    return node->kind == ORCH_YAML_SCALAR && orch_space_is_meant(node->text);
}

/* Checks that the parameter can have a value of its range. Returns it in its canonical form. */
static json_t *check_value(struct recipe_draft *draft, const struct recipe_searched *searched,
                           const char *text)
{
    g_autoptr(GError) problem = NULL;
    json_t *value = orch_value_parse(searched->spec, text, &problem);
    if (value)
        return value;
    orch_recipe_error(draft, orch_recipe_value_place(searched->setting, searched->setting->value),
                      problem ? orch_error_hint(problem) : NULL,
                      "search '%s': parameter '%s' cannot be %s%s%s", searched->spec->name,
                      searched->spec->name, text, problem ? ": " : "",
                      problem ? problem->message : "");
    return NULL;
}

/* Checks each choice, and that no two are one value, such as 1e-3 and 0.001. */
static void check_choices(struct recipe_draft *draft, const struct recipe_searched *searched,
                          const GPtrArray *choices)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    for (guint i = 0; i < choices->len; i++) {
        g_ptr_array_add(values, check_value(draft, searched, choices->pdata[i]));
        for (guint j = 0; j < i; j++)
            if (values->pdata[i] && values->pdata[j] &&
                json_equal(values->pdata[i], values->pdata[j]))
                orch_recipe_error(
                    draft, orch_recipe_value_place(searched->setting, searched->setting->value),
                    NULL, "search '%s': the choices '%s' and '%s' are the same value",
                    searched->spec->name, (const char *)choices->pdata[j],
                    (const char *)choices->pdata[i]);
    }
}

static void check_values(struct recipe_draft *draft, const struct recipe_searched *searched,
                         const struct orch_space_param *param)
{
    if (param->kind == ORCH_SPACE_CHOICE) {
        check_choices(draft, searched, param->choices);
    } else {
        g_autofree char *low = orch_space_text(param, 0), *high = orch_space_text(param, 1);
        json_decref(check_value(draft, searched, low));
        json_decref(check_value(draft, searched, high));
        if (param->kind == ORCH_SPACE_REAL && searched->spec->type == ORCH_INT)
            orch_recipe_error(
                draft, orch_recipe_value_place(searched->setting, searched->setting->value),
                "write int(LOW, HIGH) or int(LOW, HIGH, log)",
                "search '%s': the parameter takes only whole numbers", searched->spec->name);
    }
    if (param->otherwise)
        json_decref(check_value(draft, searched, param->otherwise));
    json_t *fallback =
        param->parent >= 0 && !param->otherwise ? orch_value_default(searched->spec) : json_null();
    if (!fallback)
        orch_recipe_error(draft,
                          orch_recipe_value_place(searched->setting, searched->setting->value),
                          "add the value for all other settings: '... if NAME = VALUE else 0'",
                          "search '%s': the parameter has no default for settings in which the "
                          "condition is false",
                          searched->spec->name);
    json_decref(fallback);
}

static void add_param(struct recipe_draft *draft, struct orch_space *space,
                      const struct recipe_searched *searched)
{
    const struct orch_yaml *node = searched->setting->value;
    g_autofree char *text = range_text(node);
    g_autoptr(GError) problem = NULL;
    size_t at = 0;
    if (orch_space_add(space, searched->spec->name, text, &at, &problem)) {
        check_values(draft, searched, orch_space_param(space, space->params->len - 1));
        return;
    }
    struct recipe_place place = orch_recipe_value_place(searched->setting, node);
    if (node->kind == ORCH_YAML_SCALAR && place.line)
        place.column += (int)at;
    g_autofree char *what = orch_error_what(problem);
    bool is_cut = node->kind == ORCH_YAML_SCALAR && strchr(text, '(') && !strchr(text, ')');
    orch_recipe_error(draft, place,
                      is_cut ? "put the value in quotes: inside { }, YAML ends it at a comma"
                             : orch_error_hint(problem),
                      "search '%s': %s", searched->spec->name, what);
}

/* Sets the coordinate of a parameter that a setting names. */
static void read_coordinate(struct recipe_draft *draft, const struct orch_space *space,
                            const struct orch_yaml *key, const struct orch_yaml *value, double *at)
{
    static const char *const where = "the objective's 'try'";
    const int i = orch_space_find(space, key->text);
    if (i < 0)
        orch_recipe_error_at(draft, key, NULL, "%s: '%s' is not searched", where, key->text);
    else if (value->kind != ORCH_YAML_SCALAR ||
             !orch_space_unit(orch_space_param(space, (unsigned)i), value->text, &at[i]))
        orch_recipe_error_at(draft, value, "name a value in its range", "%s: '%s' cannot be '%s'",
                             where, key->text, value->kind == ORCH_YAML_SCALAR ? value->text : "");
}

/* Reads the settings that a search begins with. A parameter that one does not name is in the middle
 * of its range. */
static void read_first(struct recipe_draft *draft, const struct orch_yaml *list,
                       struct orch_search *search)
{
    search->first = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; list->kind == ORCH_YAML_LIST && i < list->items->len; i++) {
        const struct orch_yaml *setting = list->items->pdata[i];
        double *at = g_new(double, ORCH_SPACE_PARAMS_MAX);
        g_ptr_array_add(search->first, at);
        for (unsigned k = 0; k < ORCH_SPACE_PARAMS_MAX; k++)
            at[k] = ORCH_SEARCH_MIDDLE;
        for (guint k = 0; setting->kind == ORCH_YAML_MAP && k < setting->keys->len; k++)
            read_coordinate(draft, search->space, setting->keys->pdata[k], setting->items->pdata[k],
                            at);
        orch_space_snap(search->space, at);
        if (setting->kind != ORCH_YAML_MAP)
            orch_recipe_error_at(draft, setting, "for example try: [{ lr: 0.1 }]",
                                 "'try' must be a list of settings");
    }
    if (list->kind != ORCH_YAML_LIST)
        orch_recipe_error_at(draft, list, "for example try: [{ lr: 0.1 }]",
                             "'try' must be a list of settings");
}

void orch_recipe_make_search(struct recipe_draft *draft, struct recipe_experiment *experiment)
{
    struct orch_search *search = experiment->made->search;
    if (!experiment->searched->len && !search)
        return;
    if (!search || !search->metric) {
        const struct recipe_searched *first =
            experiment->searched->len
                ? &g_array_index(experiment->searched, struct recipe_searched, 0)
                : NULL;
        struct recipe_place place = {draft->path, experiment->key->line, experiment->key->column};
        orch_recipe_error(draft, first ? orch_recipe_key_place(first->setting) : place,
                          draft->options->is_ad_hoc
                              ? "for example --search 'max val_accuracy'"
                              : "add 'objective: { metric: max last val_accuracy, trials: 30 }'",
                          "a search needs a metric to optimise");
        return;
    }
    if (!experiment->searched->len && experiment->was_searched) {
        g_clear_pointer(&experiment->made->search, orch_search_free); /* all have one value */
        return;
    }
    if (!experiment->searched->len) {
        orch_recipe_error_at(draft, experiment->objective ? experiment->objective : experiment->key,
                             draft->options->is_ad_hoc
                                 ? "for example -x lr='loguniform(1e-4, 1)'"
                                 : "add 'search:' with ranges, for example lr: loguniform(1e-4, 1)",
                             "an objective needs parameters to search");
        return;
    }
    search->space = orch_space_new();
    for (guint i = 0; i < experiment->searched->len; i++)
        add_param(draft, search->space,
                  &g_array_index(experiment->searched, struct recipe_searched, i));
    if (experiment->first && search->space->params->len == experiment->searched->len)
        read_first(draft, experiment->first, search);
}

/* ---- points ---------------------------------------------------------------------------------- */

bool orch_cell_is_open(const struct orch_cell *cell)
{
    return cell->point && !cell->point->is_chosen;
}

/* The canonical value of a parameter at a coordinate, or where it does not exist. New reference. */
static json_t *value_at(const struct orch_cell *cell, const struct orch_space_param *param,
                        double unit, bool exists)
{
    const struct orch_param_spec *spec =
        orch_manifest_param(cell->experiment->manifest, param->name);
    if (!exists && !param->otherwise)
        return orch_value_default(spec);
    g_autofree char *text = exists ? orch_space_text(param, unit) : g_strdup(param->otherwise);
    return orch_value_parse(spec, text, NULL);
}

/* Sets the parameters of a cell to a point; and its coordinates, if it is chosen. */
static void set_values(const struct orch_cell *cell, const double *at, bool is_chosen)
{
    const struct orch_space *space = cell->point->search->space;
    for (unsigned i = 0; i < space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(space, i);
        bool exists = orch_space_exists(space, i, at);
        json_t *value = value_at(cell, param, at[i], exists);
        if (exists && is_chosen)
            json_object_set(cell->coords, param->name, value);
        else
            json_object_del(cell->coords, param->name);
        json_object_set_new(cell->params, param->name, value);
    }
}

void orch_cell_take_point(const struct orch_cell *cell)
{
    set_values(cell, cell->point->at, true);
}

void orch_cell_open_point(const struct orch_cell *cell, double share)
{
    double at[ORCH_SPACE_PARAMS_MAX];
    for (unsigned i = 0; i < ORCH_SPACE_PARAMS_MAX; i++)
        at[i] = share;
    orch_space_snap(cell->point->search->space, at);
    set_values(cell, at, false);
}

/* Equal values; one that is not given is null, or is missing. */
static bool is_equal(const json_t *a, const json_t *b)
{
    bool has_a = a && !json_is_null(a), has_b = b && !json_is_null(b);
    return has_a && has_b ? json_equal(a, b) : has_a == has_b;
}

/* Whether a run has the cell's value of every parameter that is not searched. */
static bool has_fixed_values(const struct orch_cell *cell, const json_t *params)
{
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        if (orch_space_find(cell->point->search->space, name) < 0 &&
            orch_cell_identifies(cell, spec) && !is_equal(json_object_get(params, name), value))
            return false;
    }
    return true;
}

/* The coordinate of a canonical value. A choice may be written in another way: 1e-3 for 0.001. */
static bool unit_of(const struct orch_cell *cell, const struct orch_space_param *param,
                    const json_t *value, double *out)
{
    for (guint k = 0; param->kind == ORCH_SPACE_CHOICE && k < param->choices->len; k++) {
        *out = (k + 0.5) / param->choices->len;
        g_autoptr(json_t) choice = value_at(cell, param, *out, true);
        if (is_equal(choice, value))
            return true;
    }
    g_autofree char *text =
        value && param->kind != ORCH_SPACE_CHOICE ? orch_value_format_json(value) : NULL;
    return text && orch_space_unit(param, text, out);
}

bool orch_search_point_of(const struct orch_cell *cell, const json_t *params, double *out)
{
    const struct orch_space *space = cell->point->search->space;
    if (!has_fixed_values(cell, params))
        return false;
    for (unsigned i = 0; i < space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(space, i);
        const json_t *value = json_object_get(params, param->name);
        if (orch_space_exists(space, i, out)) {
            if (!unit_of(cell, param, value, &out[i]))
                return false;
            continue;
        }
        g_autoptr(json_t) elsewhere = value_at(cell, param, 0, false);
        out[i] = NAN;
        if (!is_equal(elsewhere, value))
            return false;
    }
    return true;
}

char *orch_search_values(const struct orch_search *search, const double *at)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < search->space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(search->space, i);
        g_autofree char *value = isnan(at[i]) ? NULL : orch_space_text(param, at[i]);
        if (value)
            g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", param->name, value);
    }
    return g_string_free(text, FALSE);
}
