/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A side's workspace is at a copy of its tree (.orch/results.db.d/work/<tree>) with its own recipe,
 * plugins and plan; both sides record into the repository's store. */
#include "features/compare/compare_arm.h"

#include "core/record/collect.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <string.h>

/* ---- what is said ---------------------------------------------------------------------------- */

void orch_compare_say(void (*emit)(void *ctx, const char *text), void *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    emit(ctx, text);
}

static void report_warnings(const struct orch_compare_listener *listener,
                            const struct orch_diags *diags)
{
    for (guint i = 0; i < diags->items->len; i++) {
        const struct orch_diag *diag = diags->items->pdata[i];
        g_autofree char *text = orch_diag_format(diag);
        if (diag->warning)
            listener->warn(listener->ctx, text);
    }
}

/* ---- the names ------------------------------------------------------------------------------- */

/* Reads "lr = 0.1 and mode = full" as settings, "lr=0.1" and "mode=full". A name without an
 * operator is a revision and has none. */
static bool read_settings(struct orch_compare_arm *arm, GError **error)
{
    arm->settings = g_ptr_array_new_with_free_func(g_free);
    if (!strpbrk(arm->name, "=<>"))
        return true;
    g_auto(GStrv) parts = g_strsplit(arm->name, " and ", -1);
    for (int i = 0; parts[i]; i++) {
        const char *equals = strchr(parts[i], '=');
        if (!equals || equals == parts[i] || strpbrk(parts[i], "<>!~") || strchr(equals + 1, '=')) {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "name a commit, or settings such as 'lr = 0.1 and mode = full'",
                           "'%s' is not of the form PARAMETER = VALUE, so side %c cannot be run",
                           g_strstrip(parts[i]), arm->letter);
            return false;
        }
        g_autofree char *name = g_strstrip(g_strndup(parts[i], (gsize)(equals - parts[i])));
        g_autofree char *value = g_strstrip(g_strdup(equals + 1));
        g_ptr_array_add(arm->settings, g_strdup_printf("%s=%s", name, value));
    }
    return true;
}

/* The revision whose tree the side runs: settings are those of the work tree. */
static const char *revision_of(const struct orch_compare_arm *arm)
{
    return arm->settings->len ? "." : arm->name;
}

char *orch_compare_arm_what(const struct orch_compare_arm *arm)
{
    if (arm->settings->len)
        return g_strdup("settings of the work tree");
    return strcmp(arm->name, ".") == 0
               ? g_strdup("the work tree")
               : g_strdup_printf("commit %.8s", arm->place.workspace->source->commit);
}

/* ---- the places ------------------------------------------------------------------------------ */

/* The files of the work tree that a recipe consists of: its own, and the plugins of its
 * repository. The caller unrefs. */
static GPtrArray *files_of_recipe(struct orch_compare_arm *arm, const char *const *plugin_paths,
                                  const struct orch_compare_run *request)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    struct orch_plugins *plugins = orch_plugins_new(plugin_paths);
    struct orch_diags *diags = orch_diags_new();
    struct orch_recipe_options options = {.profile = request->profile};
    g_autofree char *path = orch_path_absolute(request->recipe, NULL);
    struct orch_expansion *expansion = orch_recipe_expand(path, plugins, &options, diags);
    g_ptr_array_add(files, g_strdup(orch_path_below(path, arm->base->root)));
    g_autoptr(GPtrArray) found = orch_plugins_found(plugins);
    for (guint i = 0; i < found->len; i++) {
        const char *relative = orch_path_below(found->pdata[i], arm->base->root);
        if (relative)
            g_ptr_array_add(files, g_strdup(relative));
    }
    orch_expansion_free(expansion);
    orch_diags_free(diags);
    orch_plugins_free(plugins);
    return files;
}

static bool has_file(struct orch_vcs *vcs, const char *tree, const char *file)
{
    g_autoptr(GPtrArray) files = orch_vcs_list(vcs, tree, "", NULL);
    return files && g_ptr_array_find_with_equal_func(files, file, g_str_equal, NULL);
}

/* Gives a commit that lacks the recipe that of the work tree, so that commits from before the
 * recipe can be compared. */
static bool add_recipe(struct orch_compare_arm *arm, const char *const *plugin_paths,
                       const struct orch_compare_run *request, struct orch_source *source,
                       GError **error)
{
    struct orch_vcs *vcs = arm->base->vcs;
    g_autofree char *path = orch_path_absolute(request->recipe, NULL);
    const char *relative = orch_path_below(path, arm->base->root);
    if (!relative || has_file(vcs, source->tree, relative))
        return true;
    const struct orch_source *here = orch_workspace_source(arm->base, error);
    if (!here)
        return false;
    if (!has_file(vcs, here->tree, relative))
        return true; /* expand() names what is missing */
    g_autoptr(GPtrArray) files = files_of_recipe(arm, plugin_paths, request);
    char *tree = orch_vcs_tree_with(vcs, source->tree, here->tree, files, error);
    if (!tree)
        return false;
    g_free(source->tree);
    source->tree = tree;
    source->dirty = true;
    orch_compare_say(arm->listener->on_message, arm->listener->ctx,
                     "%c: %s has no '%s', so the one of the work tree is used", arm->letter,
                     arm->name, request->recipe);
    return true;
}

/* Resolves the revision and writes its tree out. */
static bool make_place(struct orch_compare_arm *arm, const char *const *plugin_paths,
                       const struct orch_compare_run *request, char **out_recipe, GError **error)
{
    struct orch_workspace *base = arm->base;
    const struct orch_source *here = orch_workspace_source(base, error);
    struct orch_source *source = g_new0(struct orch_source, 1);
    source->left_out = g_ptr_array_new();
    if (!here ||
        !orch_workspace_commit(base, revision_of(arm), &source->commit, &source->tree, error) ||
        !add_recipe(arm, plugin_paths, request, source, error)) {
        orch_source_free(source);
        return false;
    }
    bool is_here = strcmp(revision_of(arm), ".") == 0;
    source->dirty = source->dirty || (is_here && here->dirty);
    g_autofree char *recipe = orch_path_absolute(request->recipe, NULL);
    g_autofree char *folder = g_path_get_dirname(recipe);
    if (!orch_commit_place_open(&arm->place, base, source, is_here, folder, plugin_paths, error))
        return false;
    g_autofree char *built = orch_commit_place_built_text(&arm->place);
    if (built)
        orch_compare_say(arm->listener->on_message, arm->listener->ctx, "%c: %s", arm->letter,
                         built);
    *out_recipe = orch_commit_place_path(base, arm->place.root, recipe);
    return true;
}

static bool is_in_work_tree(const struct orch_workspace *base, const char *recipe, GError **error)
{
    g_autofree char *there = orch_commit_place_path(base, "", recipe);
    g_autofree char *absolute = orch_path_absolute(recipe, NULL);
    if (strcmp(there, absolute) != 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "give a recipe that both commits have",
                   "'%s' is outside the repository '%s'", recipe, base->root);
    return false;
}

/* ---- the plans ------------------------------------------------------------------------------- */

static bool expand(struct orch_compare_arm *arm, const struct orch_compare_run *request,
                   const char *recipe, GError **error)
{
    if (!g_file_test(recipe, G_FILE_TEST_EXISTS)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "paths are relative to the current folder",
                       "neither '%s' nor the work tree has '%s'", revision_of(arm),
                       request->recipe);
        return false;
    }
    g_autoptr(GPtrArray) settings = g_ptr_array_new();
    for (int i = 0; request->settings && request->settings[i]; i++)
        g_ptr_array_add(settings, (gpointer)(uintptr_t)request->settings[i]);
    for (guint i = 0; i < arm->settings->len; i++)
        g_ptr_array_add(settings, arm->settings->pdata[i]);
    g_ptr_array_add(settings, NULL);
    struct orch_recipe_options options = {.profile = request->profile,
                                          .settings = (const char *const *)settings->pdata,
                                          .sweeps = request->sweeps,
                                          .targets = request->targets,
                                          .repeat = request->repeat,
                                          .leaves_out_unnamed = true};
    struct orch_diags *diags = orch_diags_new();
    arm->expansion = orch_recipe_expand(recipe, arm->place.plugins, &options, diags);
    report_warnings(arm->listener, diags);
    if (!arm->expansion)
        orch_diags_to_error(diags, error);
    orch_diags_free(diags);
    return arm->expansion && orch_store_put_recipe(arm->place.workspace->store, arm->expansion->key,
                                                   arm->expansion->name, arm->expansion->canonical,
                                                   arm->expansion->verbatim, error);
}

/* Fails when this machine cannot run one of the trials, because it cannot be compared then. */
static bool can_run_all(const struct orch_compare_arm *arm, GError **error)
{
    for (unsigned i = 0; i < arm->plan->count; i++) {
        const struct orch_plan_item *item = &arm->plan->items[i];
        if (item->cell->wanted && orch_cell_is_open(item->cell)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "set the searched parameters with -s",
                           "experiment '%s' of side %c (%s) is a search: the two sides would try "
                           "different values",
                           item->cell->experiment->name, arm->letter, arm->name);
            return false;
        }
        if (!item->cell->wanted || item->state != ORCH_PLAN_SKIPPED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "list after A and B only the experiments to compare",
                       "%s of side %c (%s) cannot be run here: %s", label, arm->letter, arm->name,
                       item->reason);
        return false;
    }
    return true;
}

static bool make_plan(struct orch_compare_arm *arm, bool reuses, GError **error)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_plan_options options = {.slots = 1, .force = !reuses};
    GError *problem = NULL;
    arm->plan = orch_plan_new(arm->place.workspace, arm->place.plugins, arm->expansion, &options,
                              diags, &problem);
    report_warnings(arm->listener, diags);
    if (!arm->plan && !problem)
        orch_diags_to_error(diags, &problem);
    orch_diags_free(diags);
    if (problem)
        g_propagate_error(error, problem);
    return arm->plan && can_run_all(arm, error);
}

static bool make_arm(struct orch_compare_arm *arm, const char *const *plugin_paths,
                     const struct orch_compare_run *request, GError **error)
{
    g_autofree char *recipe = NULL;
    return read_settings(arm, error) && make_place(arm, plugin_paths, request, &recipe, error) &&
           expand(arm, request, recipe, error) && make_plan(arm, request->reuses, error) &&
           orch_commit_place_holds(arm->plan, "both sides of the comparison", error);
}

bool orch_compare_arms_make(struct orch_workspace *workspace, const char *const *plugin_paths,
                            const struct orch_compare_run *request, const char *const names[2],
                            const struct orch_compare_listener *listener,
                            struct orch_compare_arm arms[2], GError **error)
{
    unsigned closed, pending;
    for (int i = 0; i < 2; i++)
        arms[i] = (struct orch_compare_arm){
            .base = workspace, .listener = listener, .letter = (char)('A' + i), .name = names[i]};
    struct orch_store *store = orch_workspace_store(workspace, ORCH_STORE_CREATE, error);
    return store && orch_recover(store, &closed, &pending, error) &&
           is_in_work_tree(workspace, request->recipe, error) &&
           make_arm(&arms[0], plugin_paths, request, error) &&
           make_arm(&arms[1], plugin_paths, request, error);
}

void orch_compare_arms_clear(struct orch_compare_arm arms[2])
{
    for (int i = 0; i < 2; i++) {
        orch_plan_free(arms[i].plan);
        orch_expansion_free(arms[i].expansion);
        orch_commit_place_clear(&arms[i].place);
        g_clear_pointer(&arms[i].settings, g_ptr_array_unref);
    }
}

/* ---- the trials ------------------------------------------------------------------------------ */

static void on_ended(void *ctx, const struct orch_running *trial,
                     const struct orch_collected *collected, bool again,
                     const struct orch_totals *totals)
{
    (void)totals;
    const struct orch_compare_arm *arm = ctx;
    g_autofree char *label = orch_cell_label(trial->item->cell);
    g_autofree char *time = orch_duration_format(collected->wall_ms / 1e3);
    orch_compare_say(arm->listener->on_message, arm->listener->ctx, "%c %s: %s, %s%s%s%s",
                     arm->letter, label, orch_verdict_name(collected->verdict), time,
                     collected->reason ? ": " : "", collected->reason ? collected->reason : "",
                     again ? "; once more" : "");
}

static void on_message(void *ctx, const char *text)
{
    const struct orch_compare_arm *arm = ctx;
    orch_compare_say(arm->listener->on_message, arm->listener->ctx, "%c %s", arm->letter, text);
}

struct orch_listener orch_compare_arm_listener(struct orch_compare_arm *arm)
{
    return (struct orch_listener){.ctx = arm, .ended = on_ended, .message = on_message};
}

#define BUILT_HINT "\n  hint: a program that is built must be built by its plugin's command"

bool orch_compare_arms_pair(struct orch_compare_arm arms[2], struct orch_interleave *out,
                            GError **error)
{
    const struct orch_compare_listener *l = arms[0].listener;
    orch_interleave_init(out, arms[0].plan, arms[1].plan);
    if (!out->pairs->len) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "'orch plan' lists the trials of a recipe",
                       "A and B have no trial in common");
        return false;
    }
    for (int i = 0; i < 2; i++)
        if (out->alone[i])
            orch_compare_say(l->warn, l->ctx, "%u trial%s of %c alone %s left out", out->alone[i],
                             orch_plural(out->alone[i]), 'A' + i,
                             out->alone[i] == 1 ? "is" : "are");
    if (out->same_code == ORCH_SAME_CODE_YES)
        orch_compare_say(l->warn, l->ctx,
                         "nothing that a trial reads differs between A and B: both sides run the "
                         "same program" BUILT_HINT);
    else if (out->same_code == ORCH_SAME_CODE_UNKNOWN)
        orch_compare_say(l->warn, l->ctx,
                         "the commands and the files that they name are equal in A and B, so the "
                         "sides differ only if a command reads or builds other files" BUILT_HINT);
    return true;
}
