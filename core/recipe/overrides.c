/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads -s and -x, the settings of the highest precedence. In `-s k=a,b` the comma is part of the
 * text; in `-x k=a,b` it separates the values of a sweep, and in `-x k=a,b,n=1` parameters. */
#include "core/recipe/internal.h"

#include "lib/base/text.h"

#include <string.h>

static struct orch_yaml *text_node(const char *text)
{
    struct orch_yaml *node = g_new0(struct orch_yaml, 1);
    node->kind = ORCH_YAML_SCALAR;
    node->quoted = true;
    node->text = g_strdup(text);
    return node;
}

static struct orch_yaml *list_node(const char *text)
{
    struct orch_yaml *node = g_new0(struct orch_yaml, 1);
    node->kind = ORCH_YAML_LIST;
    node->items = g_ptr_array_new_with_free_func((GDestroyNotify)orch_yaml_free);
    if (!*text)
        return node;
    g_autoptr(GPtrArray) parts = orch_recipe_split(text);
    for (guint i = 0; i < parts->len; i++)
        g_ptr_array_add(node->items, text_node(parts->pdata[i]));
    return node;
}

/* Adds an error when two options, at least one of them -x, set the same name. */
static void check_repeated(struct recipe_draft *draft, const struct recipe_option *option)
{
    for (guint i = 0; i < draft->option_list->len; i++) {
        const struct recipe_option *other = draft->option_list->pdata[i];
        if (strcmp(other->name, option->name) == 0 &&
            g_strcmp0(other->experiment, option->experiment) == 0 &&
            (other->is_sweep || option->is_sweep))
            orch_recipe_error(draft, (struct recipe_place){.file = option->file},
                              "remove one of the two options", "'%s' is also set by '%s'",
                              option->name, other->file);
    }
}

static void option_free(void *pointer)
{
    struct recipe_option *option = pointer;
    g_free(option->file);
    g_free(option->experiment);
    g_free(option->name);
    orch_yaml_free(option->value);
    g_free(option);
}

static bool has_param(const struct recipe_draft *draft, const char *name)
{
    for (guint i = 0; i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->manifest && orch_manifest_param(experiment->manifest, name))
            return true;
    }
    return false;
}

/* The dot after the experiment in "experiment.param"; NULL in a parameter's name ("optimizer.lr").
 */
static const char *experiment_dot(const struct recipe_draft *draft, const char *name)
{
    const char *dot = draft->options->is_ad_hoc ? NULL : strchr(name, '.');
    g_autofree char *experiment = dot ? g_strndup(name, (size_t)(dot - name)) : NULL;
    bool is_experiment = dot && g_hash_table_contains(draft->by_name, experiment);
    return !is_experiment && has_param(draft, name) ? NULL : dot;
}

static void read_option(struct recipe_draft *draft, const char *text, bool is_sweep)
{
    struct recipe_option *option = g_new0(struct recipe_option, 1);
    option->is_sweep = is_sweep;
    option->file = g_strdup_printf("%s %s", is_sweep ? "-x" : "-s", text);
    const char *equals = strchr(text, '=');
    g_autofree char *name = equals ? g_strndup(text, (size_t)(equals - text)) : g_strdup(text);
    const char *dot = experiment_dot(draft, name);
    option->name = g_strdup(dot ? dot + 1 : name);
    option->experiment = dot ? g_strndup(name, (size_t)(dot - name)) : NULL;
    option->value =
        is_sweep ? list_node(equals ? equals + 1 : "") : text_node(equals ? equals + 1 : "");
    option->setting =
        (struct recipe_setting){option->name, option->file, option->value, option->value};
    bool is_well = equals && *option->name;
    if (!is_well) {
        orch_recipe_error(draft, (struct recipe_place){.file = option->file},
                          is_sweep ? "for example -x lr=0.1,0.01" : "for example -s lr=0.1",
                          "'%s' is not param=value", text);
    } else if (option->experiment && !g_hash_table_contains(draft->by_name, option->experiment)) {
        g_autofree char *hint = orch_recipe_hint_names(
            draft, option->experiment, (const char *const *)draft->experiment_names->pdata);
        orch_recipe_error(draft, (struct recipe_place){.file = option->file}, hint,
                          "unknown experiment '%s'", option->experiment);
    } else {
        check_repeated(draft, option);
    }
    if (is_well)
        g_ptr_array_add(draft->option_list, option);
    else
        option_free(option);
}

/* True if the text begins as "name=", "name:type=" or "experiment.name=". */
static bool begins_param(const char *text)
{
    size_t length = orch_setting_name_bytes(text);
    const char *end = text + length + orch_option_type_bytes(text + length);
    return length && *end == '=';
}

size_t orch_option_type_bytes(const char *at)
{
    static const char *const types[] = {":text", ":int", ":real"};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
        if (g_str_has_prefix(at, types[i]) && at[strlen(types[i])] == '=')
            return strlen(types[i]);
    return 0;
}

GPtrArray *orch_sweep_split(const char *text)
{
    g_autoptr(GPtrArray) words = orch_recipe_split(text);
    GPtrArray *params = g_ptr_array_new_with_free_func(g_free);
    GString *param = g_string_new(words->pdata[0]);
    for (guint i = 1; i < words->len; i++) {
        if (begins_param(words->pdata[i])) {
            g_ptr_array_add(params, g_strdup(param->str));
            g_string_assign(param, words->pdata[i]);
        } else {
            g_string_append_printf(param, ",%s", (const char *)words->pdata[i]);
        }
    }
    g_ptr_array_add(params, g_string_free(param, FALSE));
    return params;
}

void orch_recipe_read_options(struct recipe_draft *draft)
{
    g_ptr_array_set_free_func(draft->option_list, option_free);
    const char *const *settings = draft->options->settings;
    for (; settings && *settings; settings++)
        read_option(draft, *settings, false);
    const char *const *sweeps = draft->options->sweeps;
    for (; sweeps && *sweeps; sweeps++) {
        g_autoptr(GPtrArray) params = orch_sweep_split(*sweeps);
        for (guint i = 0; i < params->len; i++)
            read_option(draft, params->pdata[i], true);
    }
}
