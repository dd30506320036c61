/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ${...} in a value. Variables (environment, folder of the recipe) are replaced anywhere in a text;
 * a reference to another experiment must be the whole value. The parser is hand-written, because
 * the grammar is only five lines long and every kind of mistake gets its own message.
 *
 *   variable  = "${env:" NAME [ ":-" default ] "}" | "${recipe.dir}"
 *   reference = "${" target "." artifact "}"
 *   target    = trials | "best(" trials "," metric ")"
 *   trials    = experiment [ "[" name "=" value { "," name "=" value } "]" ]
 *   "$$" is a dollar sign */
#include "core/recipe/internal.h"

#include "lib/wire/value.h"

#include <string.h>

static const char FORMS_HINT[] =
    "there are ${experiment.artifact}, ${experiment[name=value].artifact}, "
    "${best(experiment, metric).artifact}, ${env:NAME}, ${recipe.dir}, and $$ for a dollar sign";

/* ---- reading -----------------------------------------------------------------------------------
 */

/* `text` up to `end` without the space around it. */
static char *word(const char *text, const char *end)
{
    return g_strstrip(g_strndup(text, (size_t)(end - text)));
}

/* "net=resnet20, lr=0.1" */
static bool read_selectors(const char *text, struct recipe_reference *reference)
{
    g_autoptr(GPtrArray) parts = orch_recipe_split(text);
    for (guint i = 0; i < parts->len; i++) {
        const char *part = parts->pdata[i], *equals = strchr(part, '=');
        if (!equals || equals == part || !equals[1])
            return false;
        g_ptr_array_add(reference->selector_names, word(part, equals));
        g_ptr_array_add(reference->selector_values, word(equals + 1, part + strlen(part)));
    }
    return true;
}

/* Parses all of `text` as "pretrain[net=resnet20]". */
static bool read_trials(const char *text, struct recipe_reference *reference)
{
    const char *bracket = strchr(text, '['), *end = text + strlen(text);
    reference->experiment = word(text, bracket ? bracket : end);
    if (bracket) {
        if (end[-1] != ']')
            return false;
        g_autofree char *inside = g_strndup(bracket + 1, (size_t)(end - bracket - 2));
        if (!read_selectors(inside, reference))
            return false;
    }
    return *reference->experiment != 0;
}

/* Parses the inside of best(..): "pretrain, val_accuracy". */
static bool read_best(const char *text, struct recipe_reference *reference)
{
    g_autoptr(GPtrArray) parts = orch_recipe_split(text);
    if (parts->len != 2 || !*(char *)parts->pdata[1] || strchr(parts->pdata[1], '='))
        return false;
    reference->metric = g_strdup(parts->pdata[1]);
    return read_trials(parts->pdata[0], reference);
}

/* Parses the inside of "${...}"; NULL when it is not a reference. */
static struct recipe_reference *read_reference(const char *text)
{
    struct recipe_reference *reference = g_new0(struct recipe_reference, 1);
    reference->selector_names = g_ptr_array_new_with_free_func(g_free);
    reference->selector_values = g_ptr_array_new_with_free_func(g_free);
    reference->text = g_strdup_printf("${%s}", text);
    const char *bracket = strrchr(text, ']'), *parenthesis = strrchr(text, ')');
    const char *from = MAX(MAX(bracket, parenthesis), text);
    const char *dot = strchr(from, '.');
    bool is_well = dot && dot > text && dot[1];
    if (is_well) {
        reference->artifact = word(dot + 1, dot + strlen(dot));
        g_autofree char *target = word(text, dot);
        size_t length = strlen(target);
        if (g_str_has_prefix(target, "best(") && target[length - 1] == ')') {
            target[length - 1] = 0;
            is_well = read_best(target + strlen("best("), reference);
        } else {
            is_well = !strpbrk(target, "()") && read_trials(target, reference);
        }
    }
    if (is_well)
        return reference;
    orch_recipe_reference_free(reference);
    return NULL;
}

/* The value of "env:NAME", "env:NAME:-default" or "recipe.dir". NULL when it is none of these, or,
 * after a finding, not set; `*out_is_variable` distinguishes the two. */
static char *read_variable(struct recipe_draft *draft, struct recipe_place place, const char *text,
                           bool *out_is_variable)
{
    *out_is_variable = true;
    if (strcmp(text, "recipe.dir") == 0)
        return g_strdup(draft->out->folder);
    *out_is_variable = g_str_has_prefix(text, "env:");
    if (!*out_is_variable)
        return NULL;
    const char *name = text + strlen("env:"), *dash = strstr(name, ":-");
    g_autofree char *key = dash ? g_strndup(name, (size_t)(dash - name)) : g_strdup(name);
    const char *value = g_getenv(key);
    if (value && (*value || !dash) && g_utf8_validate(value, -1, NULL))
        return g_strdup(value);
    if (dash)
        return g_strdup(dash + 2);
    g_autofree char *hint = g_strdup_printf("set it, or give a default: ${env:%s:-...}", key);
    orch_recipe_error(draft, place, hint, "environment variable '%s' is not set%s", key,
                      value ? " to UTF-8 text" : "");
    return NULL;
}

/* Appends one "${...}" inside a longer text, or a variable that is the whole text. False after a
 * finding. */
static bool append_variable(struct recipe_draft *draft, struct recipe_place place,
                            const char *inside, const struct orch_manifest *names, GString *out)
{
    if (names &&
        (orch_manifest_param(names, inside) || g_strv_contains(ORCH_TRIAL_VALUES, inside) ||
         g_str_has_prefix(inside, ORCH_BYTE_PREFIX))) {
        g_string_append_printf(out, "${%s}", inside);
        return true;
    }
    bool is_variable;
    g_autofree char *value = read_variable(draft, place, inside, &is_variable);
    if (value) {
        for (const char *p = value; *p; p++) {
            g_string_append_c(out, *p);
            if (names && *p == '$') /* it is expanded again when the trial starts */
                g_string_append_c(out, '$');
        }
        return true;
    }
    if (is_variable)
        return false;
    struct recipe_reference *reference = read_reference(inside);
    if (names)
        orch_recipe_error(draft, place,
                          names->path ? "a program can use its parameters as ${param}, and "
                                        "${seed}, ${seed64}, ${repeat}, ${checkpoint_dir}, "
                                        "${trial_dir}, ${env:NAME}, ${recipe.dir}"
                                      : "give the parameter a value under 'with:' or 'sweep:'",
                          names->path ? "plugin '%s' has no parameter '%s'"
                                      : "the program of '%s' has no parameter '%s'",
                          names->name, inside);
    else if (reference)
        orch_recipe_error(
            draft, place, "pass the reference alone, as the whole value of one parameter",
            "the reference '%s' must be the whole value of a parameter", reference->text);
    else
        orch_recipe_error(draft, place, FORMS_HINT, "'${%s}' is not a reference", inside);
    orch_recipe_reference_free(reference);
    return false;
}

/* "$pretrain.weights" as a whole value: a reference without its braces, which would pass as a path.
 * True: complained. */
static bool lacks_braces(struct recipe_draft *draft, struct recipe_place place, const char *text)
{
    if (text[0] != '$' || text[1] == '$' || strpbrk(text, "{}/ "))
        return false;
    struct recipe_reference *reference = read_reference(text + 1);
    if (!reference)
        return false;
    orch_recipe_reference_free(reference);
    g_autofree char *hint = g_strdup_printf("write '${%s}'; for a plain '$' write '$$'", text + 1);
    orch_recipe_error(draft, place, hint, "'%s' is a reference without braces", text);
    return true;
}

char *orch_recipe_expand_variables(struct recipe_draft *draft, struct recipe_place place,
                                   const char *text, const struct orch_manifest *names,
                                   struct recipe_reference **out_reference)
{
    g_autoptr(GString) out = g_string_new(NULL);
    bool is_well = true;
    if (out_reference && lacks_braces(draft, place, text))
        return NULL;
    for (const char *p = text; *p;) {
        if (p[0] == '$' && p[1] == '$') {
            g_string_append(out, names ? "$$" : "$");
            p += 2;
            continue;
        }
        if (p[0] != '$' || p[1] != '{') {
            g_string_append_c(out, *p++);
            continue;
        }
        const char *end = strchr(p, '}');
        if (!end) {
            orch_recipe_error(draft, place, FORMS_HINT, "'${' without '}' in '%s'", text);
            return NULL;
        }
        g_autofree char *inside = word(p + 2, end);
        bool is_whole = p == text && !end[1];
        bool may_be_reference = is_whole && out_reference && !g_str_has_prefix(inside, "env:") &&
                                strcmp(inside, "recipe.dir") != 0;
        if (may_be_reference && (*out_reference = read_reference(inside))) {
            (*out_reference)->place = place;
            return NULL;
        }
        is_well = append_variable(draft, place, inside, names, out) && is_well;
        p = end + 1;
    }
    return is_well ? g_strdup(out->str) : NULL;
}

/* ---- what it refers to -------------------------------------------------------------------------
 */

static bool is_number(uint32_t type)
{
    return type == ORCH_INT || type == ORCH_REAL || type == ORCH_DURATION || type == ORCH_BYTES ||
           type == ORCH_MONEY;
}

static char *hint_artifacts(const struct recipe_draft *draft, const struct orch_manifest *manifest,
                            const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < manifest->artifacts->len; i++)
        g_ptr_array_add(names, ((struct orch_artifact_spec *)manifest->artifacts->pdata[i])->name);
    for (guint i = 0; i < manifest->metrics->len; i++)
        g_ptr_array_add(names, ((struct orch_metric_spec *)manifest->metrics->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    return orch_recipe_hint_names(draft, name, (const char *const *)names->pdata);
}

/* Checks the artifact, or for a numeric parameter the metric or result. */
static bool check_artifact(struct recipe_draft *draft, const struct orch_param_spec *spec,
                           struct recipe_reference *reference)
{
    const struct orch_manifest *manifest = reference->target->manifest;
    bool is_artifact = orch_manifest_artifact(manifest, reference->artifact) != NULL;
    reference->is_result = !is_artifact && orch_manifest_metric(manifest, reference->artifact);
    g_autofree char *type = orch_type_format(spec->type);
    if (!is_artifact && !reference->is_result) {
        g_autofree char *hint = hint_artifacts(draft, manifest, reference->artifact);
        orch_recipe_error(draft, reference->place, hint,
                          "plugin '%s' of experiment '%s' has no artifact or result '%s'",
                          manifest->name, reference->experiment, reference->artifact);
        return false;
    }
    if (is_artifact ? spec->type == ORCH_ARTIFACT || spec->type == ORCH_PATH
                    : is_number(spec->type))
        return true;
    orch_recipe_error(draft, reference->place, NULL,
                      "parameter '%s' (%s) cannot have the value '%s', which is %s", spec->name,
                      type, reference->text, is_artifact ? "a file" : "a number");
    return false;
}

static bool check_selector(struct recipe_draft *draft, struct recipe_reference *reference, guint i)
{
    const char *name = reference->selector_names->pdata[i];
    const struct orch_manifest *manifest = reference->target->manifest;
    struct orch_param_spec repeat = {
        .name = (char *)(uintptr_t) "repeat", .type = ORCH_INT, .min = (char *)(uintptr_t) "1"};
    const struct orch_param_spec *spec = orch_manifest_param(manifest, name);
    if (!spec && strcmp(name, "repeat") == 0)
        spec = &repeat;
    if (!spec) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        for (guint j = 0; j < manifest->params->len; j++)
            g_ptr_array_add(names, ((struct orch_param_spec *)manifest->params->pdata[j])->name);
        g_ptr_array_add(names, repeat.name);
        g_ptr_array_add(names, NULL);
        g_autofree char *hint =
            orch_recipe_hint_names(draft, name, (const char *const *)names->pdata);
        orch_recipe_error(draft, reference->place, hint,
                          "plugin '%s' of experiment '%s' has no parameter '%s'", manifest->name,
                          reference->experiment, name);
        return false;
    }
    g_autoptr(GError) error = NULL;
    json_t *value = orch_value_parse(spec, reference->selector_values->pdata[i], &error);
    if (!value) {
        orch_recipe_error_from(draft, reference->place, error);
        return false;
    }
    json_array_append_new(reference->selected, value);
    return true;
}

/* Checks that it is known which values of the metric of best(..) are better. */
static bool check_metric(struct recipe_draft *draft, struct recipe_reference *reference)
{
    const struct orch_manifest *manifest = reference->target->manifest;
    const struct orch_metric_spec *metric = orch_manifest_metric(manifest, reference->metric);
    if (metric && orch_metric_spec_better(metric) != ORCH_BETTER_NONE) {
        reference->best_is_max = orch_metric_spec_better(metric) == ORCH_BETTER_MAX;
        return true;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < manifest->metrics->len; i++) {
        const struct orch_metric_spec *row = manifest->metrics->pdata[i];
        if (orch_metric_spec_better(row) != ORCH_BETTER_NONE)
            g_ptr_array_add(names, row->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint =
        orch_recipe_hint_names(draft, reference->metric, (const char *const *)names->pdata);
    if (metric)
        orch_recipe_error(
            draft, reference->place, hint,
            "it is not known whether larger values of metric '%s' of plugin '%s' are better",
            reference->metric, manifest->name);
    else
        orch_recipe_error(draft, reference->place, hint,
                          "plugin '%s' of experiment '%s' has no metric '%s'", manifest->name,
                          reference->experiment, reference->metric);
    return false;
}

bool orch_recipe_reference_check(struct recipe_draft *draft,
                                 const struct recipe_experiment *experiment,
                                 const struct orch_param_spec *spec,
                                 struct recipe_reference *reference)
{
    reference->target = g_hash_table_lookup(draft->by_name, reference->experiment);
    if (!reference->target) {
        g_autofree char *hint = orch_recipe_hint_names(
            draft, reference->experiment, (const char *const *)draft->experiment_names->pdata);
        orch_recipe_error(draft, reference->place, hint, "unknown experiment '%s' in '%s'",
                          reference->experiment, reference->text);
        return false;
    }
    if (reference->target == experiment) {
        orch_recipe_error(draft, reference->place,
                          "move the part that it refers to into a separate experiment",
                          "experiment '%s' refers to itself", experiment->name);
        return false;
    }
    if (reference->target->made->is_unavailable)
        orch_recipe_leave_out(g_hash_table_lookup(draft->by_name, experiment->name),
                              reference->target);
    if (!reference->target->manifest) /* its plugin was not found, which is reported there */
        return false;
    bool is_well = check_artifact(draft, spec, reference);
    reference->selected = json_array();
    for (guint i = 0; i < reference->selector_names->len; i++)
        is_well = check_selector(draft, reference, i) && is_well;
    if (reference->metric)
        is_well = check_metric(draft, reference) && is_well;
    return is_well;
}
