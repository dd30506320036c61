/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolves precedence. The levels are applied in ascending order; each replaces the value or sweep
 * of a lower level for the same name. The exception is a `with` of the whole recipe or profile,
 * which does not replace a sweep, so that a profile's `net: resnet20` does not affect the
 * experiment that compares networks. Values were checked before (values.c), so no error is reported
 * twice. */
#include "core/recipe/auto_repeat.h"
#include "core/recipe/internal.h"

#include "lib/wire/value.h"

#include <string.h>

/* The settings of an experiment so far. */
struct state {
    struct recipe_draft *draft;
    struct recipe_experiment *experiment;
    GHashTable *faulty; /* names whose sweep has an error, which was reported */
    GHashTable *fixed;  /* name -> struct recipe_fixed *, owned; values not read yet */
};

static bool is_swept(const struct recipe_experiment *experiment, const char *name)
{
    for (guint i = 0; i < experiment->dimensions->len; i++) {
        const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        for (guint j = 0; j < dimension->members->len; j++)
            if (strcmp(g_array_index(dimension->members, struct recipe_swept, j).spec->name,
                       name) == 0)
                return true;
    }
    return false;
}

/* The range of a parameter, or NULL. */
static struct recipe_searched *find_searched(const struct recipe_experiment *experiment,
                                             const char *name)
{
    for (guint i = 0; i < experiment->searched->len; i++) {
        struct recipe_searched *searched =
            &g_array_index(experiment->searched, struct recipe_searched, i);
        if (strcmp(searched->spec->name, name) == 0)
            return searched;
    }
    return NULL;
}

static void drop_searched(struct recipe_experiment *experiment, const char *name)
{
    struct recipe_searched *searched = find_searched(experiment, name);
    experiment->was_searched |= searched != NULL;
    if (searched)
        g_array_remove_index(
            experiment->searched,
            (guint)(searched - &g_array_index(experiment->searched, struct recipe_searched, 0)));
}

/* Removes a name from the dimensions. Returns the index of the dimension that was removed with it,
 * or -1. */
static int drop_swept(struct recipe_experiment *experiment, const char *name)
{
    for (guint i = 0; i < experiment->dimensions->len; i++) {
        struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        for (guint j = 0; j < dimension->members->len; j++) {
            struct recipe_swept *swept = &g_array_index(dimension->members, struct recipe_swept, j);
            if (strcmp(swept->spec->name, name) != 0)
                continue;
            g_array_unref(swept->values);
            g_array_remove_index(dimension->members, j);
            if (dimension->members->len)
                return -1;
            g_ptr_array_remove_index(experiment->dimensions, i);
            return (int)i;
        }
    }
    return -1;
}

static void apply_value(struct state *state, const struct recipe_setting *setting,
                        enum recipe_level level)
{
    bool is_wide = level == RECIPE_LEVEL_RECIPE || level == RECIPE_LEVEL_PROFILE;
    const struct orch_param_spec *spec =
        orch_manifest_param(state->experiment->manifest, setting->name);
    if (!spec || (is_wide && (is_swept(state->experiment, setting->name) ||
                              find_searched(state->experiment, setting->name))))
        return;
    drop_swept(state->experiment, setting->name);
    drop_searched(state->experiment, setting->name);
    struct recipe_fixed *fixed = g_new0(struct recipe_fixed, 1);
    *fixed = (struct recipe_fixed){.spec = spec, .setting = setting, .level = level};
    g_hash_table_replace(state->fixed, spec->name, fixed);
}

static void apply_with(struct state *state, const GArray *settings, enum recipe_level level)
{
    for (guint i = 0; i < settings->len; i++)
        apply_value(state, &g_array_index(settings, struct recipe_setting, i), level);
}

/* Checks that the lists of a zip, with ranges expanded, have equal lengths. */
static void check_length(struct recipe_draft *draft, struct recipe_dimension *dimension)
{
    const struct recipe_swept *first = &g_array_index(dimension->members, struct recipe_swept, 0);
    const struct recipe_swept *last = first + dimension->members->len - 1;
    dimension->count = MIN(first->values->len, last->values->len);
    if (first->values->len != last->values->len)
        orch_recipe_error(
            draft, orch_recipe_value_place(last->setting, last->setting->value),
            "lists under 'zip' must have equal length; 'sweep' runs every combination",
            "zip '%s' has %u values, '%s' has %u", last->setting->name, last->values->len,
            first->setting->name, first->values->len);
}

/* Makes one dimension of all given settings. It is placed where the first dimension it replaces
 * was. */
static void apply_sweep(struct state *state, const struct recipe_setting *settings, guint count,
                        enum recipe_level level, bool is_zip)
{
    struct recipe_experiment *experiment = state->experiment;
    struct recipe_dimension *dimension = g_new0(struct recipe_dimension, 1);
    dimension->members = g_array_new(FALSE, TRUE, sizeof(struct recipe_swept));
    int at = -1;
    for (guint i = 0; i < count; i++) {
        const struct orch_param_spec *spec =
            orch_manifest_param(experiment->manifest, settings[i].name);
        GArray *values =
            spec ? orch_recipe_read_sweep(state->draft, experiment, spec, &settings[i], is_zip)
                 : NULL;
        if (!values && spec)
            g_hash_table_add(state->faulty, spec->name);
        if (!values)
            continue;
        drop_searched(experiment, spec->name);
        int freed = drop_swept(experiment, spec->name);
        at = at < 0 ? freed : at;
        g_hash_table_remove(state->fixed, spec->name);
        struct recipe_swept swept = {spec, &settings[i], level, values};
        g_array_append_val(dimension->members, swept);
        check_length(state->draft, dimension);
    }
    if (dimension->members->len)
        g_ptr_array_insert(experiment->dimensions, at, dimension);
    else
        orch_recipe_dimension_free(dimension);
}

/* A range stays where the range that it replaces was: conditions name earlier ones. */
static void apply_search(struct state *state, const struct recipe_setting *setting,
                         enum recipe_level level)
{
    struct recipe_experiment *experiment = state->experiment;
    const struct orch_param_spec *spec = orch_manifest_param(experiment->manifest, setting->name);
    if (!spec)
        return;
    drop_swept(experiment, spec->name);
    g_hash_table_remove(state->fixed, spec->name);
    const struct recipe_searched searched = {spec, setting, level};
    struct recipe_searched *before = find_searched(experiment, spec->name);
    if (before)
        *before = searched;
    else
        g_array_append_val(experiment->searched, searched);
}

static void apply_block(struct state *state, const struct recipe_block *block,
                        enum recipe_level level)
{
    apply_with(state, block->with, level);
    for (guint i = 0; i < block->sweep->len; i++)
        apply_sweep(state, &g_array_index(block->sweep, struct recipe_setting, i), 1, level, false);
    if (block->zip->len)
        apply_sweep(state, (const struct recipe_setting *)(void *)block->zip->data, block->zip->len,
                    level, true);
    for (guint i = 0; i < block->search->len; i++)
        apply_search(state, &g_array_index(block->search, struct recipe_setting, i), level);
}

static void apply_options(struct state *state, enum recipe_level level)
{
    const GPtrArray *list = state->draft->option_list;
    for (guint i = 0; i < list->len; i++) {
        const struct recipe_option *option = list->pdata[i];
        bool is_one = level == RECIPE_LEVEL_OPTION_ONE;
        if (is_one != (option->experiment != NULL) ||
            (is_one && strcmp(option->experiment, state->experiment->name) != 0))
            continue;
        if (option->is_sweep && orch_recipe_is_range(&option->setting))
            apply_search(state, &option->setting, level);
        else if (option->is_sweep)
            apply_sweep(state, &option->setting, 1, level, false);
        else
            apply_value(state, &option->setting, level);
    }
}

/* ---- what came out -----------------------------------------------------------------------------
 */

/* The text shown by `orch config --origin`. */
static char *origin_of(const struct recipe_setting *setting, enum recipe_level level,
                       const struct orch_manifest *manifest)
{
    if (!setting)
        return g_strdup_printf("default of plugin '%s' %s", manifest->name, manifest->version);
    if (level >= RECIPE_LEVEL_OPTION)
        return g_strndup(setting->file, 2);
    return g_strdup_printf("%s:%d:%d", setting->file, setting->key->line, setting->key->column);
}

static void complain_missing(struct state *state, const struct orch_param_spec *spec)
{
    const struct recipe_experiment *experiment = state->experiment;
    g_autofree char *hint =
        g_strdup_printf("add '%s: ...' under 'with:'; see 'orch plugin show %s'", spec->name,
                        experiment->manifest->name);
    orch_recipe_error_at(state->draft, experiment->key, hint,
                         "experiment '%s': parameter '%s' of plugin '%s' has no value",
                         experiment->name, spec->name, experiment->manifest->name);
}

/* Sets a parameter that is not swept: its setting's value, or the default. */
static void settle(struct state *state, const struct orch_param_spec *spec)
{
    struct recipe_experiment *experiment = state->experiment;
    struct recipe_fixed *chosen = g_hash_table_lookup(state->fixed, spec->name);
    struct recipe_fixed fixed = chosen ? *chosen : (struct recipe_fixed){.spec = spec};
    if (!chosen && g_hash_table_contains(state->faulty, spec->name))
        return;
    if (!chosen) {
        fixed.value.json = orch_value_default(spec);
        if (!fixed.value.json) {
            complain_missing(state, spec);
            return;
        }
    } else if (!orch_recipe_read_value(state->draft, experiment, spec, fixed.setting,
                                       &fixed.value)) {
        return;
    }
    g_array_append_val(experiment->fixed, fixed);
    g_hash_table_insert(experiment->made->origins, g_strdup(spec->name),
                        origin_of(fixed.setting, fixed.level, experiment->manifest));
}

static void note_swept_origins(struct recipe_experiment *experiment)
{
    for (guint i = 0; i < experiment->dimensions->len; i++) {
        const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        for (guint j = 0; j < dimension->members->len; j++) {
            const struct recipe_swept *swept =
                &g_array_index(dimension->members, struct recipe_swept, j);
            g_hash_table_insert(experiment->made->origins, g_strdup(swept->spec->name),
                                origin_of(swept->setting, swept->level, experiment->manifest));
        }
    }
    for (guint i = 0; i < experiment->searched->len; i++) {
        const struct recipe_searched *searched =
            &g_array_index(experiment->searched, struct recipe_searched, i);
        g_hash_table_insert(experiment->made->origins, g_strdup(searched->spec->name),
                            origin_of(searched->setting, searched->level, experiment->manifest));
    }
}

/* Resolves the settings that are not parameters, but for repeat: timeout, skip. */
static void resolve_rest(const struct recipe_experiment *experiment, const struct recipe_part *part)
{
    struct orch_experiment *made = experiment->made;
    made->timeout_s = MAX(experiment->own.timeout_s, 0);
    if (!part)
        return;
    if (part->timeout_s >= 0)
        made->timeout_s = part->timeout_s;
    if (made->is_unavailable && !part->skip)
        return;
    made->skipped = part->skip;
    g_free(made->skip_reason);
    made->skip_reason = g_strdup(part->skip_reason);
    if (part->skip) /* wherever its plugin is */
        g_clear_pointer(&made->skip_hint, g_free);
}

static void resolve_params(struct recipe_draft *draft, struct recipe_experiment *experiment,
                           const struct recipe_part *part)
{
    const struct recipe_profile *profile = draft->profile;
    struct state state = {.draft = draft, .experiment = experiment};
    state.faulty = g_hash_table_new(g_str_hash, g_str_equal);
    state.fixed = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    apply_with(&state, draft->with, RECIPE_LEVEL_RECIPE);
    apply_block(&state, &experiment->own.block, RECIPE_LEVEL_EXPERIMENT);
    if (profile)
        apply_with(&state, profile->with, RECIPE_LEVEL_PROFILE);
    if (part)
        apply_block(&state, &part->block, RECIPE_LEVEL_PART);
    apply_options(&state, RECIPE_LEVEL_OPTION);
    apply_options(&state, RECIPE_LEVEL_OPTION_ONE);
    for (guint i = 0; i < experiment->manifest->params->len; i++) {
        const struct orch_param_spec *spec = experiment->manifest->params->pdata[i];
        if (!is_swept(experiment, spec->name) && !find_searched(experiment, spec->name))
            settle(&state, spec);
    }
    note_swept_origins(experiment);
    g_hash_table_unref(state.fixed);
    g_hash_table_unref(state.faulty);
}

static void resolve_experiment(struct recipe_draft *draft, struct recipe_experiment *experiment)
{
    const struct recipe_part *part =
        draft->profile ? g_hash_table_lookup(draft->profile->parts, experiment->name) : NULL;
    unsigned before = draft->complaint_count;
    resolve_rest(experiment, part);
    if (experiment->manifest) {
        resolve_params(draft, experiment, part);
        orch_recipe_make_search(draft, experiment);
    }
    orch_recipe_resolve_repeat(draft, experiment, part);
    if (draft->complaint_count > before)
        experiment->is_broken = true;
}

void orch_recipe_resolve(struct recipe_draft *draft)
{
    for (guint i = 0; i < draft->experiments->len; i++)
        resolve_experiment(draft, draft->experiments->pdata[i]);
}

/* ---- unavailable experiments ------------------------------------------------------------------
 */

/* The unavailable experiment that a value refers to, or NULL. */
static const struct recipe_experiment *unavailable_target(const struct recipe_reference *reference)
{
    bool is_unavailable = reference && reference->target && reference->target->made->is_unavailable;
    return is_unavailable ? reference->target : NULL;
}

static const struct recipe_experiment *unavailable_need(const struct recipe_experiment *experiment)
{
    const struct recipe_experiment *found = NULL;
    for (guint i = 0; i < experiment->fixed->len && !found; i++)
        found = unavailable_target(
            g_array_index(experiment->fixed, struct recipe_fixed, i).value.reference);
    for (guint i = 0; i < experiment->dimensions->len && !found; i++) {
        const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        for (guint j = 0; j < dimension->members->len && !found; j++) {
            const struct recipe_swept *swept =
                &g_array_index(dimension->members, struct recipe_swept, j);
            for (guint k = 0; k < swept->values->len && !found; k++)
                found = unavailable_target(
                    g_array_index(swept->values, struct recipe_value, k).reference);
        }
    }
    return found;
}

void orch_recipe_leave_out_needing(struct recipe_draft *draft)
{
    bool has_changed = draft->has_unknown_plugin;
    while (has_changed) {
        has_changed = false;
        for (guint i = 0; i < draft->experiments->len; i++) {
            struct recipe_experiment *experiment = draft->experiments->pdata[i];
            const struct recipe_experiment *need =
                experiment->made->skipped ? NULL : unavailable_need(experiment);
            if (!need)
                continue;
            orch_recipe_leave_out(experiment, need);
            has_changed = true;
        }
    }
}

/* ---- circles -----------------------------------------------------------------------------------
 */

static void complain_circle(struct recipe_draft *draft, GPtrArray *path,
                            const struct recipe_reference *reference)
{
    GString *text = g_string_new(NULL);
    bool is_inside = false;
    for (guint i = 0; i < path->len; i++) {
        const struct recipe_experiment *experiment = path->pdata[i];
        is_inside = is_inside || experiment == reference->target;
        if (is_inside)
            g_string_append_printf(text, "%s -> ", experiment->name);
    }
    g_string_append(text, reference->target->name);
    orch_recipe_error(draft, reference->place, "remove one of these references",
                      "references form a cycle: %s", text->str);
    g_string_free(text, TRUE);
}

static void visit(struct recipe_draft *draft, struct recipe_experiment *experiment,
                  GPtrArray *path);

static void follow(struct recipe_draft *draft, const struct recipe_reference *reference,
                   GPtrArray *path)
{
    if (!reference || !reference->target)
        return;
    if (reference->target->visit == 1) {
        complain_circle(draft, path, reference);
        for (guint i = 0; i < path->len; i++)
            ((struct recipe_experiment *)path->pdata[i])->is_broken = true;
    } else if (reference->target->visit == 0) {
        visit(draft, reference->target, path);
    }
}

/* Depth-first search; visit is 1 on the current path and 2 when done. A chain is at most as long as
 * the number of experiments; the bound below keeps the stack small for a hostile file. */
static void visit(struct recipe_draft *draft, struct recipe_experiment *experiment, GPtrArray *path)
{
    experiment->visit = 1;
    g_ptr_array_add(path, experiment);
    if (path->len > 1000) {
        orch_recipe_error_at(draft, experiment->key, NULL,
                             "a chain of references is longer than 1000 experiments");
        experiment->is_broken = true;
    } else {
        for (guint i = 0; i < experiment->fixed->len; i++)
            follow(draft, g_array_index(experiment->fixed, struct recipe_fixed, i).value.reference,
                   path);
        for (guint i = 0; i < experiment->dimensions->len; i++) {
            const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
            for (guint j = 0; j < dimension->members->len; j++) {
                const GArray *values =
                    g_array_index(dimension->members, struct recipe_swept, j).values;
                for (guint k = 0; k < values->len; k++)
                    follow(draft, g_array_index(values, struct recipe_value, k).reference, path);
            }
        }
    }
    g_ptr_array_set_size(path, (int)path->len - 1);
    experiment->visit = 2;
}

void orch_recipe_check_circles(struct recipe_draft *draft)
{
    g_autoptr(GPtrArray) path = g_ptr_array_new();
    for (guint i = 0; i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->visit == 0)
            visit(draft, experiment, path);
    }
}
