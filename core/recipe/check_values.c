/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the values of all levels of all profiles, and finds settings that reach no experiment. */
#include "core/recipe/internal.h"

#include "lib/base/text.h"

#include <string.h>

static char *hint_params(const struct orch_manifest *manifest, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < manifest->params->len; i++)
        g_ptr_array_add(names, ((struct orch_param_spec *)manifest->params->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    const char *near = orch_suggest(name, (const char *const *)names->pdata);
    return near ? g_strdup_printf("did you mean '%s'? see 'orch plugin show %s'", near,
                                  manifest->name)
                : g_strdup_printf("see 'orch plugin show %s'", manifest->name);
}

/* How a setting is read, depending on its section. */
enum use { USE_VALUE, USE_SWEEP, USE_ZIP, USE_SEARCH };

/* `is_wide`: the setting applies only to experiments that have the parameter. */
static void check_setting(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                          const struct recipe_setting *setting, enum use use, bool is_wide)
{
    const struct orch_manifest *manifest = experiment->manifest;
    const struct orch_param_spec *spec = orch_manifest_param(manifest, setting->name);
    if (!spec) {
        g_autofree char *hint = experiment->made->is_own_program
                                    ? g_strdup_printf("give '%s' a value under 'with:' or 'sweep:' "
                                                      "of experiment '%s'",
                                                      setting->name, experiment->name)
                                    : hint_params(manifest, setting->name);
        if (!is_wide)
            orch_recipe_error(draft, orch_recipe_key_place(setting), hint,
                              "unknown parameter '%s' for %s '%s'", setting->name,
                              experiment->made->is_own_program ? "the program of" : "plugin",
                              manifest->name);
    } else if (use == USE_SEARCH) {
        if (orch_param_is_secret(spec))
            orch_recipe_error(draft, orch_recipe_key_place(setting), "set it under 'with:'",
                              "parameter '%s' is a secret and cannot be searched", spec->name);
    } else if (use == USE_VALUE) {
        struct recipe_value value;
        orch_recipe_read_value(draft, experiment, spec, setting, &value);
        orch_recipe_value_clear(&value);
    } else {
        GArray *values = orch_recipe_read_sweep(draft, experiment, spec, setting, use == USE_ZIP);
        if (values)
            g_array_unref(values);
    }
}

static void check_settings(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                           const GArray *settings, enum use use, bool is_wide)
{
    for (guint i = 0; i < settings->len; i++)
        check_setting(draft, experiment, &g_array_index(settings, struct recipe_setting, i), use,
                      is_wide);
}

/* Checks the lists of a zip as written; resolve.c checks lengths with ranges expanded. */
static void check_zip(struct recipe_draft *draft, const GArray *zip)
{
    const struct recipe_setting *first = NULL;
    for (guint i = 0; i < zip->len; i++) {
        const struct recipe_setting *setting = &g_array_index(zip, struct recipe_setting, i);
        const struct orch_yaml *list = setting->value;
        if (list->kind != ORCH_YAML_LIST || list->items->len == 0)
            continue;
        if (!first)
            first = setting;
        else if (list->items->len != first->value->items->len)
            orch_recipe_error(
                draft, orch_recipe_value_place(setting, list),
                "lists under 'zip' must have equal length; 'sweep' runs every combination",
                "zip '%s' has %u values, '%s' has %u", setting->name, list->items->len, first->name,
                first->value->items->len);
    }
}

static void check_block(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                        const struct recipe_block *block)
{
    check_settings(draft, experiment, block->with, USE_VALUE, false);
    check_settings(draft, experiment, block->sweep, USE_SWEEP, false);
    check_settings(draft, experiment, block->zip, USE_ZIP, false);
    check_settings(draft, experiment, block->search, USE_SEARCH, false);
    check_zip(draft, block->zip);
}

static void check_option(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                         const struct recipe_option *option)
{
    if (!option->experiment || strcmp(option->experiment, experiment->name) == 0)
        check_setting(draft, experiment, &option->setting,
                      !option->is_sweep                        ? USE_VALUE
                      : orch_recipe_is_range(&option->setting) ? USE_SEARCH
                                                               : USE_SWEEP,
                      !option->experiment);
}

static void check_experiment(struct recipe_draft *draft, struct recipe_experiment *experiment)
{
    unsigned before = draft->complaint_count;
    check_settings(draft, experiment, draft->with, USE_VALUE, true);
    check_block(draft, experiment, &experiment->own.block);
    for (guint i = 0; i < draft->profiles->len; i++) {
        const struct recipe_profile *profile = draft->profiles->pdata[i];
        const struct recipe_part *part = g_hash_table_lookup(profile->parts, experiment->name);
        check_settings(draft, experiment, profile->with, USE_VALUE, true);
        if (part)
            check_block(draft, experiment, &part->block);
    }
    for (guint i = 0; i < draft->option_list->len; i++)
        check_option(draft, experiment, draft->option_list->pdata[i]);
    if (draft->complaint_count > before)
        experiment->is_broken = true;
}

/* ---- settings that reach nothing ---------------------------------------------------------------
 */

static bool block_has(const struct recipe_block *block, const char *name, bool swept_only)
{
    return orch_recipe_setting_find(block->sweep, name) ||
           orch_recipe_setting_find(block->search, name) ||
           orch_recipe_setting_find(block->zip, name) ||
           (!swept_only && orch_recipe_setting_find(block->with, name));
}

static void complain_nobody(struct recipe_draft *draft, const struct recipe_setting *setting)
{
    if (draft->has_unknown_plugin)
        return;
    bool has_room =
        draft->diags->items->len < ORCH_DIAGS_MAX; /* the search for a similar name is expensive */
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; has_room && i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        const GPtrArray *params = experiment->manifest->params;
        for (guint j = 0; j < params->len; j++)
            g_ptr_array_add(names, ((struct orch_param_spec *)params->pdata[j])->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = orch_suggest_hint(setting->name, (const char *const *)names->pdata);
    orch_recipe_error(draft, orch_recipe_key_place(setting), hint,
                      "no experiment has a parameter '%s'", setting->name);
}

/* Checks that a `with` of the recipe (profile NULL) or of a profile applies to at least one
 * experiment. */
static void check_reach(struct recipe_draft *draft, const struct recipe_setting *setting,
                        const struct recipe_profile *profile, bool is_option)
{
    bool has_holder = false, reaches = is_option;
    for (guint i = 0; i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (!experiment->manifest || !orch_manifest_param(experiment->manifest, setting->name))
            continue;
        has_holder = true;
        const struct recipe_part *part =
            profile ? g_hash_table_lookup(profile->parts, experiment->name) : NULL;
        bool is_hidden = block_has(&experiment->own.block, setting->name, profile != NULL) ||
                         (part && block_has(&part->block, setting->name, false));
        reaches = reaches || !is_hidden;
    }
    if (!has_holder)
        complain_nobody(draft, setting);
    else if (!reaches && !draft->has_unknown_plugin)
        orch_recipe_error(
            draft, orch_recipe_key_place(setting), "remove this value, or those of the experiments",
            "'%s' has no effect: every experiment with this parameter %s", setting->name,
            profile ? "sweeps it or has a value of its own in this profile"
                    : "sets or sweeps it itself");
}

static void check_all_reach(struct recipe_draft *draft, const GArray *settings,
                            const struct recipe_profile *profile)
{
    for (guint i = 0; i < settings->len; i++)
        check_reach(draft, &g_array_index(settings, struct recipe_setting, i), profile, false);
}

void orch_recipe_check_values(struct recipe_draft *draft)
{
    for (guint i = 0; i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->manifest)
            check_experiment(draft, experiment);
    }
    check_all_reach(draft, draft->with, NULL);
    for (guint i = 0; i < draft->profiles->len; i++) {
        const struct recipe_profile *profile = draft->profiles->pdata[i];
        check_all_reach(draft, profile->with, profile);
    }
    for (guint i = 0; i < draft->option_list->len; i++) {
        const struct recipe_option *option = draft->option_list->pdata[i];
        if (!option->experiment)
            check_reach(draft, &option->setting, NULL, true);
    }
}
