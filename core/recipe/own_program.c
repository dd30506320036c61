/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/own_program.h"

#include "core/recipe/command_words.h"
#include "core/recipe/setting_type.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

/* ---- types ------------------------------------------------------------------------------------
 */

/* The type that both have. */
static uint32_t common_type(uint32_t a, uint32_t b)
{
    static const uint32_t order[] = {ORCH_INT, ORCH_REAL};
    if (!a || a == b)
        return b;
    if ((a | b) & ORCH_LIST)
        return a & b & ORCH_LIST
                   ? common_type(a & ~(uint32_t)ORCH_LIST, b & ~(uint32_t)ORCH_LIST) | ORCH_LIST
                   : ORCH_STRING;
    bool is_number = (a == order[0] || a == order[1]) && (b == order[0] || b == order[1]);
    return is_number ? ORCH_REAL : ORCH_STRING;
}

/* The type of a text; a reference is a file, unless 'types' says that it is a number. */
static uint32_t type_of_text(struct recipe_draft *draft, const struct orch_yaml *node,
                             bool is_range)
{
    if (!is_range && strstr(node->text, "${")) {
        struct recipe_reference *reference = NULL;
        g_autofree char *text = orch_recipe_expand_variables(
            draft, (struct recipe_place){draft->path, node->line, node->column}, node->text, NULL,
            &reference);
        bool is_reference = reference != NULL;
        orch_recipe_reference_free(reference);
        return is_reference ? ORCH_PATH
                            : orch_type_parse(orch_setting_type(text ? text : "", false));
    }
    return orch_type_parse(orch_setting_type(node->text, is_range));
}

/* `is_swept`: a list is one of values, else a value itself. */
static uint32_t type_of_node(struct recipe_draft *draft, const struct orch_yaml *node,
                             bool is_swept, bool is_search)
{
    bool is_range = is_search || g_str_has_prefix(node->text ? node->text : "", "range(");
    if (node->kind == ORCH_YAML_SCALAR)
        return orch_yaml_is_null(node) ? 0 : type_of_text(draft, node, is_swept && is_range);
    uint32_t type = 0;
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++)
        type = common_type(type, type_of_node(draft, node->items->pdata[i], false, false));
    return is_swept || !type ? type : type | ORCH_LIST;
}

/* ---- parameters -------------------------------------------------------------------------------
 */

/* The parameters of one program. */
struct collecting {
    struct recipe_draft *draft;
    struct orch_manifest *manifest;
    const struct orch_yaml *types; /* the map, or NULL */
    const char *command;           /* its words as one text: a `with` of the whole recipe reaches
                                      what it names */
};

static struct orch_param_spec *find_param(const struct collecting *c, const char *name)
{
    return (struct orch_param_spec *)(uintptr_t)orch_manifest_param(c->manifest, name);
}

static void add_param(const struct collecting *c, const struct orch_yaml *key, uint32_t type)
{
    struct orch_param_spec *spec = find_param(c, key->text);
    if (!orch_setting_name_is_valid(key->text))
        orch_recipe_error_at(
            c->draft, key,
            "begin it with a letter or _, and use only letters, digits and _ . - / @ +",
            "'%s' cannot be the name of a parameter", key->text);
    else if (!spec)
        orch_manifest_add_param(c->manifest, key->text, type);
    else if (!c->types || !orch_yaml_get(c->types, key->text))
        spec->type = common_type(spec->type, type);
}

static void add_settings(const struct collecting *c, const struct orch_yaml *map, const char *under,
                         bool if_named)
{
    const struct orch_yaml *block = orch_yaml_get(map, under);
    bool is_search = strcmp(under, "search") == 0, is_swept = strcmp(under, "with") != 0;
    for (guint i = 0; block && block->kind == ORCH_YAML_MAP && i < block->keys->len; i++) {
        const struct orch_yaml *key = block->keys->pdata[i];
        g_autofree char *word = g_strdup_printf("${%s}", key->text);
        if (!if_named || find_param(c, key->text) || strstr(c->command, word))
            add_param(c, key, type_of_node(c->draft, block->items->pdata[i], is_swept, is_search));
    }
}

static void add_block(const struct collecting *c, const struct orch_yaml *map)
{
    static const char *const blocks[] = {"with", "sweep", "zip", "search"};
    for (unsigned i = 0; i < G_N_ELEMENTS(blocks); i++)
        add_settings(c, map, blocks[i], false);
}

/* The types that the recipe gives: 'types: { zip: text }'. */
static void add_types(const struct collecting *c)
{
    for (guint i = 0; c->types && i < c->types->keys->len; i++) {
        const struct orch_yaml *key = c->types->keys->pdata[i], *value = c->types->items->pdata[i];
        const char *word = value->kind == ORCH_YAML_SCALAR ? value->text : "";
        uint32_t type = orch_type_parse(strcmp(word, "text") == 0 ? "string" : word);
        if (type && (type & ~(uint32_t)ORCH_LIST) != ORCH_ENUM)
            add_param(c, key, type);
        else
            orch_recipe_error_at(c->draft, value,
                                 "write text, int, real, bool, path, duration, bytes, money, "
                                 "secret, or 'list of' and one of these",
                                 "'types': '%s' is not a type of a parameter", word);
    }
}

/* A value on the command line may be of a wider type than those of the recipe. */
static void add_options(const struct collecting *c, const char *experiment,
                        const char *const *options, bool is_swept)
{
    g_autofree char *scope = g_strconcat(experiment, ".", NULL);
    for (; options && *options; options++) {
        g_autoptr(GPtrArray) parts =
            is_swept ? orch_sweep_split(*options) : g_ptr_array_new_with_free_func(g_free);
        if (!is_swept)
            g_ptr_array_add(parts, g_strdup(*options));
        for (guint i = 0; i < parts->len; i++) {
            const char *text = parts->pdata[i];
            text += g_str_has_prefix(text, scope) ? strlen(scope) : 0;
            g_autofree char *name = g_strndup(text, strcspn(text, "="));
            struct orch_param_spec *spec = find_param(c, name);
            bool is_told = c->types && orch_yaml_get(c->types, name);
            if (spec && !is_told && text[strlen(name)] == '=' && !(spec->type & ORCH_LIST))
                spec->type = common_type(spec->type, orch_type_parse(orch_setting_type(
                                                         text + strlen(name) + 1, is_swept)));
        }
    }
}

static void add_profiles(const struct collecting *c, const char *experiment)
{
    const struct orch_yaml *profiles = orch_yaml_get(c->draft->root, "profiles");
    for (guint i = 0; profiles && profiles->kind == ORCH_YAML_MAP && i < profiles->keys->len; i++) {
        const struct orch_yaml *profile = profiles->items->pdata[i];
        const struct orch_yaml *parts = orch_yaml_get(profile, "experiments");
        add_block(c, orch_yaml_get(parts, experiment));
        add_settings(c, profile, "with", true);
    }
}

/* The words of the command as one text. The caller frees. */
static char *command_text(const struct orch_yaml *map)
{
    const struct orch_yaml *node = orch_yaml_get(map, "program");
    GString *out = g_string_new(node && node->kind == ORCH_YAML_SCALAR ? node->text : "");
    for (guint i = 0; node && node->kind == ORCH_YAML_LIST && i < node->items->len; i++) {
        const struct orch_yaml *word = node->items->pdata[i];
        g_string_append_printf(out, "%s ", word->kind == ORCH_YAML_SCALAR ? word->text : "");
    }
    return g_string_free(out, FALSE);
}

void orch_recipe_make_manifest(struct recipe_draft *draft, const struct orch_yaml *map,
                               struct recipe_experiment *experiment)
{
    struct orch_manifest *own = orch_manifest_new();
    own->kind = ORCH_PLUGIN_WRAPPED;
    own->name = g_strdup(experiment->name);
    own->version = g_strdup("1.0.0");
    own->summary = g_strdup("a program of the user's own");
    own->any_metric = true;
    own->metrics_from = ORCH_METRICS_LINES;
    g_autofree char *command = command_text(map);
    const struct collecting c = {draft, own, orch_recipe_get_map(draft, map, "types"), command};
    add_types(&c);
    add_block(&c, map);
    add_profiles(&c, experiment->name);
    add_settings(&c, draft->root, "with", true);
    if (!draft->options->is_ad_hoc) { /* whose types say all */
        add_options(&c, experiment->name, draft->options->settings, false);
        add_options(&c, experiment->name, draft->options->sweeps, true);
    }
    for (guint i = 0; i < own->params->len; i++) {
        struct orch_param_spec *spec = own->params->pdata[i];
        spec->type = spec->type ? spec->type : ORCH_STRING;
    }
    if (orch_yaml_get(map, "metrics"))
        orch_manifest_read_metrics(draft->path, orch_yaml_get(map, "metrics"), own, draft->diags);
    for (guint i = 0; i < own->metrics->len; i++) {
        struct orch_metric_spec *spec = own->metrics->pdata[i];
        spec->step_unit = spec->step_unit ? spec->step_unit : g_strdup("step");
    }
    experiment->made->own_manifest = own;
    experiment->made->is_own_program = true;
    experiment->manifest = own;
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* `program:` is one text, split as a shell would without expanding, or a list. */
static char **read_argv(struct recipe_draft *draft, const struct orch_yaml *map,
                        const struct recipe_experiment *experiment)
{
    g_autoptr(GPtrArray) words = orch_recipe_get_texts(draft, map, "program");
    if (!words || !experiment->manifest) /* the command may name the plugin's parameters */
        return NULL;
    const struct orch_yaml *node = orch_yaml_get(map, "program");
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) split = NULL;
    g_autoptr(GError) error = NULL;
    if (node->kind == ORCH_YAML_SCALAR && !g_shell_parse_argv(node->text, NULL, &split, &error)) {
        bool is_empty = error->code == G_SHELL_ERROR_EMPTY_STRING;
        orch_recipe_error_at(draft, node, "write the command as a list: [python3, mine.py]",
                             is_empty ? "'program' is empty"
                                      : "'program' cannot be read as a command: a quote is not "
                                        "closed");
        return NULL;
    }
    guint count = split ? g_strv_length(split) : words->len;
    bool is_well = count > 0;
    if (!is_well)
        orch_recipe_error_at(draft, node, "write the command as a list: [python3, mine.py]",
                             "'program' is empty");
    for (guint i = 0; i < count; i++) {
        const struct orch_yaml *at = split ? node : words->pdata[i];
        char *word = orch_recipe_expand_variables(
            draft, (struct recipe_place){draft->path, at->line, at->column},
            split ? split[i] : at->text, experiment->manifest, NULL);
        is_well = is_well && word;
        g_ptr_array_add(argv, word ? word : g_strdup(""));
    }
    if (!is_well)
        return NULL;
    g_ptr_array_add(argv, NULL);
    return g_strdupv((char **)argv->pdata);
}

static void read_artifact(struct recipe_draft *draft, const struct orch_yaml *key,
                          const struct orch_yaml *value, struct orch_manifest *own)
{
    struct recipe_place place = {draft->path, value->line, value->column};
    if (!orch_artifact_name_is_valid(key->text)) {
        orch_recipe_error_at(draft, key, "use a name without blanks, quotes and '/'",
                             "'%s' cannot be the name of an artifact", key->text);
        return;
    }
    if (value->kind != ORCH_YAML_SCALAR || orch_yaml_is_null(value)) {
        orch_recipe_error_at(draft, value, "for example artifacts: { weights: out/${lr}.pt }",
                             "artifact '%s' must be the path of a file, found %s", key->text,
                             orch_recipe_node_kind(value));
        return;
    }
    g_autofree char *path = orch_recipe_expand_variables(draft, place, value->text, own, NULL);
    if (path && !orch_artifact_path_is_inside(path))
        orch_recipe_error_at(draft, value, "give a path inside the recipe's folder",
                             "artifact '%s': '%s' lies outside of the working folder", key->text,
                             path);
    struct orch_artifact_spec *spec =
        (struct orch_artifact_spec *)(uintptr_t)orch_manifest_artifact(own, key->text);
    spec = spec ? spec : orch_manifest_add_artifact(own, key->text);
    g_free(spec->path);
    spec->path = g_steal_pointer(&path);
}

/* Warns of a parameter that does not reach the program. */
static void check_used(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                       char *const *argv)
{
    g_autofree char *command = g_strjoinv(" ", (char **)(uintptr_t)argv);
    const struct orch_manifest *manifest = experiment->manifest;
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        g_autofree char *word = g_strdup_printf("${%s}", spec->name);
        if (strstr(command, word) ||
            orch_command_may_read_elsewhere((const char *const *)argv, draft->out->folder))
            continue;
        g_autofree char *hint =
            g_strdup_printf("write %s in 'program' where its value belongs", word);
        orch_diags_add(draft->diags, true, draft->path, experiment->key->line,
                       experiment->key->column, hint,
                       "experiment '%s': its command does not use parameter '%s'", experiment->name,
                       spec->name);
    }
}

static void read_metrics_files(struct recipe_draft *draft, const struct orch_yaml *map,
                               struct orch_manifest *own)
{
    g_autoptr(GPtrArray) texts = orch_yaml_get(map, "metrics_files")
                                     ? orch_recipe_get_texts(draft, map, "metrics_files")
                                     : NULL;
    g_autoptr(GStrvBuilder) patterns = g_strv_builder_new();
    for (guint i = 0; texts && i < texts->len; i++)
        g_strv_builder_add(patterns, ((const struct orch_yaml *)texts->pdata[i])->text);
    if (!texts)
        return;
    g_strfreev(own->metrics_files);
    own->metrics_files = g_strv_builder_end(patterns);
}

void orch_recipe_use_program(struct recipe_draft *draft, const struct orch_yaml *map,
                             struct recipe_experiment *experiment)
{
    char **argv = read_argv(draft, map, experiment);
    experiment->made->program = argv;
    if (!argv)
        return;
    g_autoptr(GError) error = NULL;
    json_t *json = orch_manifest_encode(experiment->manifest);
    struct orch_manifest *own = orch_manifest_decode(json, &error);
    json_decref(json);
    if (!own) {
        const struct orch_yaml *node = orch_yaml_get(map, "program");
        orch_recipe_error_from(draft, (struct recipe_place){draft->path, node->line, node->column},
                               error);
        return;
    }
    bool speaks_protocol =
        own->kind == ORCH_PLUGIN_COMPILED || own->metrics_from == ORCH_METRICS_PROTOCOL;
    own->kind = ORCH_PLUGIN_WRAPPED;
    own->metrics_from = speaks_protocol ? ORCH_METRICS_LINES : own->metrics_from;
    own->any_metric = own->metrics_from == ORCH_METRICS_LINES;
    own->has_check = own->has_cost = false;
    g_clear_pointer(&own->path, g_free);
    g_free(own->build);
    own->build = NULL;
    g_strfreev(own->argv);
    own->argv = g_strdupv(argv);
    for (guint i = 0; i < own->params->len; i++)
        ((struct orch_param_spec *)own->params->pdata[i])->keeps_text = true;
    unsigned on;
    if (orch_recipe_get_choice(draft, map, "metrics_on", ORCH_METRICS_ON_NAMES, &on))
        own->metrics_on = (enum orch_metrics_on)on;
    read_metrics_files(draft, map, own);
    const struct orch_yaml *artifacts = orch_recipe_get_map(draft, map, "artifacts");
    for (guint i = 0; artifacts && i < artifacts->keys->len; i++)
        read_artifact(draft, artifacts->keys->pdata[i], artifacts->items->pdata[i], own);
    own->path = orch_path_absolute(draft->path, NULL);
    orch_manifest_free(experiment->made->own_manifest);
    experiment->made->own_manifest = own;
    experiment->manifest = own;
    if (experiment->made->is_own_program && !draft->options->is_ad_hoc)
        check_used(draft, experiment, argv);
}
