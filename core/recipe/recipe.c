/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a recipe through the steps of internal.h and returns the expansion. */
#include "core/recipe/internal.h"
#include "core/recipe/trial_environment.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/space/repeat_rule.h"
#include "lib/wire/value.h"

#include <string.h>

/* ---- life of the expansion ---------------------------------------------------------------------
 */

static void made_free(void *pointer)
{
    struct orch_experiment *made = pointer;
    g_free(made->name);
    orch_search_free(made->search);
    orch_repeat_rule_free(made->repeats);
    g_strfreev(made->program);
    orch_trial_environment_free(made->environment);
    g_strfreev(made->inputs);
    g_strfreev(made->keep);
    g_free(made->skip_reason);
    g_free(made->skip_hint);
    g_free(made->reuse_why);
    g_hash_table_unref(made->origins);
    orch_manifest_free(made->own_manifest);
    g_free(made);
}

static void item_free(void *pointer)
{
    struct orch_report_item *item = pointer;
    g_free(item->question);
    g_free(item->title);
    json_decref(item->spec);
    g_free(item);
}

static struct orch_expansion *expansion_new(const char *path, const char *text, size_t length,
                                            bool smoke)
{
    struct orch_expansion *out = g_new0(struct orch_expansion, 1);
    out->path = g_strdup(path);
    out->folder = orch_path_folder(path);
    out->verbatim = g_strndup(text, length);
    out->smoke = smoke;
    out->experiments = g_ptr_array_new_with_free_func(made_free);
    out->cells = g_ptr_array_new();
    out->points = g_ptr_array_new_with_free_func(g_free);
    out->report = g_ptr_array_new_with_free_func(item_free);
    out->problems = g_ptr_array_new_with_free_func(g_free);
    return out;
}

char *orch_experiment_folder(const struct orch_expansion *expansion,
                             const struct orch_experiment *experiment)
{
    const char *manifest = experiment->program ? NULL : experiment->manifest->path;
    return manifest ? g_path_get_dirname(manifest) : g_strdup(expansion->folder);
}

void orch_expansion_free(struct orch_expansion *expansion)
{
    if (!expansion)
        return;
    g_ptr_array_unref(expansion->cells);
    g_ptr_array_unref(expansion->points);
    g_ptr_array_unref(expansion->experiments);
    g_ptr_array_unref(expansion->report);
    g_ptr_array_unref(expansion->problems);
    g_free(expansion->path);
    g_free(expansion->name);
    g_free(expansion->about);
    json_decref(expansion->alerts);
    g_free(expansion->profile);
    g_free(expansion->folder);
    g_free(expansion->key);
    g_free(expansion->canonical);
    g_free(expansion->verbatim);
    orch_recipe_feature_values_free(expansion->values);
    g_free(expansion);
}

/* ---- the steps ---------------------------------------------------------------------------------
 */

static void run_steps(struct recipe_draft *draft)
{
    orch_recipe_parse(draft);
    if (draft->root->kind != ORCH_YAML_MAP)
        return;
    orch_recipe_read_options(draft);
    orch_recipe_check_values(draft);
    orch_recipe_resolve(draft);
    orch_recipe_check_circles(draft);
    orch_recipe_leave_out_needing(draft);
    orch_recipe_read_report(draft);
    orch_recipe_make_cells(draft);
    if (!draft->diags->error_count)
        orch_recipe_make_canonical(draft);
}

static void move_findings(struct orch_diags *from, struct orch_diags *to)
{
    for (guint i = 0; i < from->items->len; i++) {
        const struct orch_diag *diag = from->items->pdata[i];
        orch_diags_add(to, diag->warning, diag->file, diag->line, diag->column, diag->hint, "%s",
                       diag->what);
        orch_diags_set_code(to, diag->code);
    }
    to->dropped_count += from->dropped_count;
}

struct orch_expansion *orch_recipe_expand_text(const char *path, const char *text, size_t length,
                                               struct orch_plugins *plugins,
                                               const struct orch_recipe_options *options,
                                               struct orch_diags *diags)
{
    static const struct orch_recipe_options none;
    struct orch_yaml *root = orch_yaml_parse(path, text, length, diags);
    if (!root)
        return NULL;
    struct recipe_draft *draft = orch_recipe_draft_new();
    draft->path = path;
    draft->root = root;
    draft->plugins = plugins;
    draft->options = options ? options : &none;
    draft->diags = orch_diags_new();
    draft->out = expansion_new(path, text, length, draft->options->smoke);
    draft->out->part = draft->options->part;
    draft->out->part_count = draft->options->part_count;
    run_steps(draft);
    orch_diags_sort(draft->diags);
    bool is_well = draft->diags->error_count == 0;
    move_findings(draft->diags, diags);
    struct orch_expansion *out = draft->out;
    orch_diags_free(draft->diags);
    orch_recipe_draft_free(draft);
    if (is_well)
        return out;
    orch_expansion_free(out);
    return NULL;
}

struct orch_expansion *orch_recipe_expand(const char *path, struct orch_plugins *plugins,
                                          const struct orch_recipe_options *options,
                                          struct orch_diags *diags)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    g_autoptr(GError) error = NULL;
    if (orch_file_read(path, ORCH_YAML_BYTES_MAX, &text, &length, &error))
        return orch_recipe_expand_text(path, text, length, plugins, options, diags);
    /* the YAML reader reports the error with a hint, as for any other file */
    struct orch_yaml *root = orch_yaml_parse_file(path, diags);
    orch_yaml_free(root);
    if (root) /* the second attempt succeeded: the file changed in between */
        orch_diags_add(diags, false, path, 0, 0, "run the command again",
                       "'%s' changed while it was read", path);
    return NULL;
}
