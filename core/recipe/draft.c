/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The draft: the state while a recipe is read, and the functions that add findings. */
#include "core/recipe/internal.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/space/repeat_rule.h"

#include <stdarg.h>
#include <string.h>

/* A setting of the whole recipe is read for every experiment, and again when it is resolved. Its
 * errors are added once, but counted each time. */
static void complain_v(struct recipe_draft *draft, struct recipe_place place, const char *hint,
                       const char *format, va_list args) G_GNUC_PRINTF(4, 0);
static void complain_v(struct recipe_draft *draft, struct recipe_place place, const char *hint,
                       const char *format, va_list args)
{
    g_autofree char *what = g_strdup_vprintf(format, args);
    draft->complaint_count++;
    char *key = g_strdup_printf("%s:%d:%d:%s", place.file, place.line, place.column, what);
    if (g_hash_table_add(draft->said, key))
        orch_diags_add(draft->diags, false, place.file, place.line, place.column, hint, "%s", what);
}

void orch_recipe_error(struct recipe_draft *draft, struct recipe_place place, const char *hint,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_v(draft, place, hint, format, args);
    va_end(args);
}

void orch_recipe_error_at(struct recipe_draft *draft, const struct orch_yaml *node,
                          const char *hint, const char *format, ...)
{
    struct recipe_place place = {draft->path, node->line, node->column};
    va_list args;
    va_start(args, format);
    complain_v(draft, place, hint, format, args);
    va_end(args);
}

void orch_recipe_error_from(struct recipe_draft *draft, struct recipe_place place,
                            const GError *error)
{
    g_autofree char *what = orch_error_what(error);
    guint before = draft->diags->items->len;
    orch_recipe_error(draft, place, orch_error_hint(error), "%s", what);
    bool is_plugin = error->code == ORCH_ERROR_PLUGIN || error->code == ORCH_ERROR_TRUST ||
                     error->code == ORCH_ERROR_NO_PLUGIN;
    if (draft->diags->items->len > before && is_plugin)
        orch_diags_set_code(draft->diags, ORCH_ERROR_PLUGIN);
}

struct recipe_place orch_recipe_key_place(const struct recipe_setting *setting)
{
    return (struct recipe_place){setting->file, setting->key->line, setting->key->column};
}

struct recipe_place orch_recipe_value_place(const struct recipe_setting *setting,
                                            const struct orch_yaml *node)
{
    return (struct recipe_place){setting->file, node->line, node->column};
}

const char *orch_recipe_node_kind(const struct orch_yaml *node)
{
    static const char *const kinds[] = {"a text", "a list", "a map"};
    return orch_yaml_is_null(node) ? "nothing" : kinds[node->kind];
}

#define NAMED_MAX 12 /* names in a hint */

char *orch_recipe_hint_names(const struct recipe_draft *draft, const char *word,
                             const char *const *known)
{
    if (draft->diags->items->len >= ORCH_DIAGS_MAX)
        return NULL;
    char *hint = orch_suggest_hint(word, known);
    if (hint || !known || !*known)
        return hint;
    GString *all = g_string_new("known are: ");
    for (guint i = 0; known[i] && i < NAMED_MAX; i++)
        g_string_append_printf(all, "%s%s", i ? ", " : "", known[i]);
    if (g_strv_length((char **)(uintptr_t)known) > NAMED_MAX)
        g_string_append(all, ", ...");
    return g_string_free(all, FALSE);
}

/* ---- life --------------------------------------------------------------------------------------
 */

static GArray *settings_new(void)
{
    return g_array_new(FALSE, TRUE, sizeof(struct recipe_setting));
}

void orch_recipe_block_init(struct recipe_block *block)
{
    block->with = settings_new();
    block->sweep = settings_new();
    block->zip = settings_new();
    block->search = settings_new();
}

static void part_clear(struct recipe_part *part)
{
    g_array_unref(part->block.with);
    g_array_unref(part->block.sweep);
    g_array_unref(part->block.zip);
    g_array_unref(part->block.search);
    g_free(part->skip_reason);
    orch_repeat_rule_free(part->repeat_rule);
}

void orch_recipe_part_free(struct recipe_part *part)
{
    part_clear(part);
    g_free(part);
}

void orch_recipe_value_clear(struct recipe_value *value)
{
    json_decref(value->json);
    orch_recipe_reference_free(value->reference);
    *value = (struct recipe_value){0};
}

void orch_recipe_dimension_free(void *pointer)
{
    struct recipe_dimension *dimension = pointer;
    for (guint i = 0; i < dimension->members->len; i++)
        g_array_unref(g_array_index(dimension->members, struct recipe_swept, i).values);
    g_array_unref(dimension->members);
    g_free(dimension);
}

static void fixed_clear(void *fixed)
{
    orch_recipe_value_clear(&((struct recipe_fixed *)fixed)->value);
}

static void experiment_free(void *pointer)
{
    struct recipe_experiment *experiment = pointer;
    part_clear(&experiment->own);
    g_free(experiment->lacks_plugin);
    g_array_unref(experiment->fixed);
    g_array_unref(experiment->searched);
    if (experiment->assumed)
        g_ptr_array_unref(experiment->assumed);
    g_ptr_array_unref(experiment->dimensions);
    g_free(experiment);
}

static void profile_free(void *pointer)
{
    struct recipe_profile *profile = pointer;
    g_array_unref(profile->with);
    g_hash_table_unref(profile->parts);
    g_free(profile);
}

struct recipe_draft *orch_recipe_draft_new(void)
{
    struct recipe_draft *draft = g_new0(struct recipe_draft, 1);
    draft->with = settings_new();
    draft->experiments = g_ptr_array_new_with_free_func(experiment_free);
    draft->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    draft->profiles = g_ptr_array_new_with_free_func(profile_free);
    draft->problems =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);
    draft->option_list = g_ptr_array_new(); /* overrides.c frees its own */
    draft->experiment_names = g_ptr_array_new();
    draft->said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return draft;
}

void orch_recipe_draft_free(struct recipe_draft *draft)
{
    if (!draft)
        return;
    for (guint i = 0; i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        g_array_set_clear_func(experiment->fixed, fixed_clear);
    }
    g_ptr_array_unref(draft->experiments);
    g_hash_table_unref(draft->by_name);
    g_ptr_array_unref(draft->profiles);
    g_hash_table_unref(draft->problems);
    g_ptr_array_unref(draft->option_list);
    g_ptr_array_unref(draft->experiment_names);
    g_hash_table_unref(draft->said);
    g_array_unref(draft->with);
    orch_yaml_free(draft->root);
    g_free(draft);
}

const struct recipe_setting *orch_recipe_setting_find(const GArray *settings, const char *name)
{
    for (guint i = 0; i < settings->len; i++) {
        const struct recipe_setting *setting = &g_array_index(settings, struct recipe_setting, i);
        if (strcmp(setting->name, name) == 0)
            return setting;
    }
    return NULL;
}

void orch_recipe_reference_free(struct recipe_reference *reference)
{
    if (!reference)
        return;
    g_free(reference->text);
    g_free(reference->experiment);
    g_free(reference->metric);
    g_free(reference->artifact);
    g_ptr_array_unref(reference->selector_names);
    g_ptr_array_unref(reference->selector_values);
    json_decref(reference->selected);
    if (reference->index)
        g_hash_table_unref(reference->index);
    if (reference->shared)
        g_ptr_array_unref(reference->shared);
    g_free(reference);
}

GPtrArray *orch_recipe_split(const char *text)
{
    GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
    const char *start = text;
    int depth = 0;
    char quote = 0;
    for (const char *p = text;; p++) {
        if (*p && quote) {
            quote = *p == quote ? 0 : quote;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (*p && strchr("[(", *p)) {
            depth++;
        } else if (*p && strchr("])", *p)) {
            depth--;
        } else if (!*p || (*p == ',' && depth <= 0)) {
            g_ptr_array_add(parts, g_strstrip(g_strndup(start, (size_t)(p - start))));
            start = p + 1;
        }
        if (!*p)
            return parts;
    }
}

void orch_recipe_leave_out(struct recipe_experiment *experiment,
                           const struct recipe_experiment *need)
{
    struct orch_experiment *made = experiment->made;
    if (made->is_unavailable)
        return;
    made->skipped = made->is_unavailable = true;
    g_free(made->skip_reason);
    g_free(made->skip_hint);
    made->skip_reason = need->plugin_node
                            ? g_strdup_printf("needs '%s', whose plugin is not %s", need->name,
                                              need->lacks_plugin ? "here" : "trusted")
                            : g_strdup_printf("needs '%s', which is skipped", need->name);
    made->skip_hint = g_strdup(need->made->skip_hint);
}
