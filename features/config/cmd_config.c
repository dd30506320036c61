/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "features/config/key_schema.h"
#include "features/config/recipe_schema.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/wire/value.h"

#include <string.h>

#define SCHEMAS_BYTES_MAX ((size_t)4 << 20)

struct config_options {
    struct orch_variant variant;
    bool origin, schema;
};

static const struct orch_option OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct config_options, variant),
    ORCH_OPTION(struct config_options, origin, FLAG, "origin",
                .help = "show the line that set each value"),
    ORCH_OPTION(struct config_options, schema, FLAG, "schema",
                .help = "print the JSON Schema of recipes, manifests ('plugin') or COMMAND's JSON"),
    {0}};

/* Returns the distinct values of a parameter over an experiment's cells, in order. */
static json_t *values_of(const struct orch_expansion *expansion,
                         const struct orch_experiment *experiment, const char *name)
{
    json_t *values = json_array();
    for (guint i = 0; i < expansion->cells->len; i++) {
        const struct orch_cell *cell = expansion->cells->pdata[i];
        if (cell->experiment != experiment)
            continue;
        json_t *value = json_object_get(cell->params, name);
        json_t *text = NULL;
        for (guint j = 0; !value && j < cell->refs->len; j++) {
            const struct orch_ref *ref = cell->refs->pdata[j];
            if (strcmp(ref->param, name) == 0)
                value = text = json_string(ref->text);
        }
        bool known = !value;
        for (size_t j = 0; !known && j < json_array_size(values); j++)
            known = json_equal(json_array_get(values, j), value);
        if (!known)
            json_array_append(values, value);
        json_decref(text);
    }
    return values;
}

static void add_rows(struct orch_table *table, const struct orch_expansion *expansion,
                     const struct orch_experiment *experiment, bool origin)
{
    for (guint i = 0; i < experiment->manifest->params->len; i++) {
        const struct orch_param_spec *spec = experiment->manifest->params->pdata[i];
        bool secret = orch_param_is_secret(spec);
        json_t *values = values_of(expansion, experiment, spec->name);
        GString *text = g_string_new(NULL);
        for (size_t j = 0; j < json_array_size(values); j++) {
            g_autofree char *one =
                secret ? g_strdup("(secret)") : orch_value_format(spec, json_array_get(values, j));
            g_string_append_printf(text, "%s%s", j ? ", " : "", one);
        }
        orch_table_add(table, experiment->name, NULL);
        orch_table_add(table, spec->name, NULL);
        orch_table_add(table, text->str, secret ? NULL : json_incref(values));
        orch_table_add(table, spec->unit, NULL);
        if (origin) {
            const char *where =
                experiment->origins ? g_hash_table_lookup(experiment->origins, spec->name) : NULL;
            orch_table_add(table, where ? where : "", NULL);
        }
        g_string_free(text, TRUE);
        json_decref(values);
    }
}

/* ---- schemas ----------------------------------------------------------------------------------
 */

/* Reads the schema of what a command prints with --json, from share/schemas. */
static json_t *output_schema(const char *command, GError **error)
{
    g_autofree char *share = orch_program_path("share", error);
    g_autofree char *path = share ? g_build_filename(share, "schemas", "output.json", NULL) : NULL;
    g_autofree char *text = NULL;
    size_t length;
    if (!path || !orch_file_read(path, SCHEMAS_BYTES_MAX, &text, &length, error))
        return NULL;
    g_autoptr(json_t) all = orch_json_parse(text, length, SCHEMAS_BYTES_MAX, error);
    json_t *one = json_object_get(json_object_get(all, "$defs"), command);
    if (!one) {
        const char *prints =
            json_string_value(json_object_get(json_object_get(all, "x-no-schema"), command));
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch help -a' lists the commands",
                       "there is no JSON Schema for the output of '%s'%s%s", command,
                       prints ? ": it prints " : "", prints ? prints : "");
        return NULL;
    }
    one = json_deep_copy(one);
    json_object_set(one, "$schema", json_object_get(all, "$schema"));
    return one;
}

/* Prints the schema of recipes, of plugins, or of what the named command prints with --json. */
static int print_schema(const struct orch_cli *cli, GError **error)
{
    g_autofree char *what =
        cli->arg_count ? g_strjoinv(" ", (char **)(uintptr_t)cli->args) : g_strdup("recipe");
    json_t *schema = strcmp(what, "recipe") == 0   ? orch_recipe_schema()
                     : strcmp(what, "plugin") == 0 ? orch_manifest_schema()
                                                   : output_schema(what, error);
    if (!schema)
        return -1;
    orch_cli_print_json_bare(schema);
    json_decref(schema);
    return ORCH_EXIT_OK;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct config_options *o = options;
    if (o->schema)
        return print_schema(cli, error);
    if (!cli->arg_count) {
        orch_error_set(error, ORCH_ERROR_USAGE, "usage: orch config RECIPE [PROBLEM|EXPERIMENT...]",
                       "'config' needs a recipe");
        return -1;
    }
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    if (!expansion)
        return -1;
    static const char *const headers[] = {"experiment", "parameter", "values",
                                          "unit",       "origin",    NULL};
    static const char *const short_headers[] = {"experiment", "parameter", "values", "unit", NULL};
    struct orch_table *table = orch_table_new(o->origin ? headers : short_headers);
    for (guint i = 0; i < expansion->experiments->len; i++)
        add_rows(table, expansion, expansion->experiments->pdata[i], o->origin);
    orch_cli_table_print(cli, table, "parameters");
    orch_expansion_free(expansion);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_CONFIG = {
    .name = "config",
    .group = "Run",
    .pages = true,
    .summary = "show the value of each parameter of a recipe and where it comes from",
    .usage = "[RECIPE [PROBLEM|EXPERIMENT...]]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct config_options),
    .about = "A value comes from the last of these places that sets it: the plugin's default; "
             "'with:' of the recipe, of the experiment, of the profile, of the experiment in the "
             "profile; -s and -x.\n"
             "\n--schema prints a JSON Schema. Editors use it to complete and check recipes and "
             "manifests.",
    .examples = "  orch config recipes/hw4.recipe --origin\n"
                "  orch config recipes/hw4.recipe finetune -s epochs=3 --origin\n"
                "  orch config --schema >recipe.schema.json\n"
                "  orch config --schema ls",
    .run = run,
};
