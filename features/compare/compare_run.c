/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each side is a workspace at a copy of its tree (.orch/results.db.d/work/<tree>) with its own
 * recipe, plugins and plan; both record into the repository's store. The number of turns is fixed
 * beforehand, because stopping as soon as a difference shows would turn noise into differences. */
#include "features/compare/compare_run.h"

#include "core/record/collect.h"
#include "core/record/redirect.h"
#include "features/compare/interleave.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <string.h>

struct arm {
    struct orch_workspace *base; /* the command's workspace; borrowed */
    const struct orch_compare_listener *listener;
    char letter;
    const char *name;
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    struct orch_expansion *expansion;
    struct orch_plan *plan;
};

static void arm_clear(struct arm *arm)
{
    orch_plan_free(arm->plan);
    orch_expansion_free(arm->expansion);
    orch_plugins_free(arm->plugins);
    orch_workspace_free(arm->workspace);
}

/* ---- what is said ------------------------------------------------------------------------------
 */

static void G_GNUC_PRINTF(3, 4)
    format_message(void (*emit)(void *ctx, const char *text), void *ctx, const char *format, ...)
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

void orch_compare_side_clear(struct orch_compare_side *side)
{
    g_free(side->name);
    g_free(side->what);
    g_clear_pointer(&side->runs, g_ptr_array_unref);
    memset(side, 0, sizeof *side);
}

/* ---- the places -------------------------------------------------------------------------------
 */

/* Maps a path in the work tree to the copy; returns a duplicate of any other path. The caller
 * frees. */
static char *in_copy(const struct orch_workspace *base, const char *copy, const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    return orch_path_within(absolute, base->root)
               ? g_strconcat(copy, absolute + strlen(base->root), NULL)
               : g_steal_pointer(&absolute);
}

/* Maps --plugin-path folders in the work tree to the same folders of the copy. */
static struct orch_plugins *plugins_in_copy(const struct orch_workspace *base,
                                            const char *const *paths, const char *copy)
{
    g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; paths && paths[i]; i++)
        g_ptr_array_add(folders, in_copy(base, copy, paths[i]));
    g_ptr_array_add(folders, NULL);
    return orch_plugins_new((const char *const *)folders->pdata);
}

/* The files of the work tree that a recipe consists of: its own, and the plugins of its
 * repository. The caller unrefs. */
static GPtrArray *files_of_recipe(struct arm *arm, const char *const *plugin_paths,
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
static bool add_recipe(struct arm *arm, const char *const *plugin_paths,
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
    format_message(arm->listener->on_message, arm->listener->ctx,
                   "%c: %s has no '%s', and gets that of the work tree", arm->letter, arm->name,
                   request->recipe);
    return true;
}

/* Resolves the commit, keeps its tree and writes the tree out. */
static bool make_place(struct arm *arm, const char *const *plugin_paths,
                       const struct orch_compare_run *request, char **out_recipe, GError **error)
{
    struct orch_workspace *base = arm->base;
    struct orch_source *source = g_new0(struct orch_source, 1);
    source->left_out = g_ptr_array_new();
    g_autofree char *copy = NULL;
    if (orch_workspace_commit(base, arm->name, &source->commit, &source->tree, error) &&
        add_recipe(arm, plugin_paths, request, source, error) &&
        orch_vcs_keep(base->vcs, source->tree, error))
        copy = orch_workspace_copy(base, source->tree, error);
    if (!copy) {
        orch_source_free(source);
        return false;
    }
    const struct orch_source *here = base->source;
    source->dirty = source->dirty || (strcmp(arm->name, ".") == 0 && here->dirty);
    *out_recipe = in_copy(base, copy, request->recipe);
    g_autofree char *folder = g_path_get_dirname(*out_recipe);
    arm->workspace = orch_workspace_at(base, copy, folder, source, error);
    arm->plugins = plugins_in_copy(base, plugin_paths, copy);
    return arm->workspace && orch_workspace_store(arm->workspace, ORCH_STORE_WRITE, error);
}

static bool is_in_work_tree(const struct orch_workspace *base, const char *recipe, GError **error)
{
    g_autofree char *there = in_copy(base, "", recipe);
    g_autofree char *absolute = orch_path_absolute(recipe, NULL);
    if (strcmp(there, absolute) != 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "give a recipe that both commits have",
                   "'%s' is outside the repository '%s'", recipe, base->root);
    return false;
}

/* ---- the plans --------------------------------------------------------------------------------
 */

static bool expand(struct arm *arm, const struct orch_compare_run *request, const char *recipe,
                   GError **error)
{
    if (!g_file_test(recipe, G_FILE_TEST_EXISTS)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "paths are relative to the current folder",
                       "neither '%s' nor the work tree has '%s'", arm->name, request->recipe);
        return false;
    }
    struct orch_recipe_options options = {.profile = request->profile,
                                          .settings = request->settings,
                                          .sweeps = request->sweeps,
                                          .targets = request->targets,
                                          .repeat = request->repeat,
                                          .leaves_out_unnamed = true};
    struct orch_diags *diags = orch_diags_new();
    arm->expansion = orch_recipe_expand(recipe, arm->plugins, &options, diags);
    report_warnings(arm->listener, diags);
    if (!arm->expansion)
        orch_diags_to_error(diags, error);
    orch_diags_free(diags);
    return arm->expansion &&
           orch_store_put_recipe(arm->workspace->store, arm->expansion->key, arm->expansion->name,
                                 arm->expansion->canonical, arm->expansion->verbatim, error);
}

/* Fails when this machine cannot run one of the trials, because it cannot be compared then. */
static bool can_run_all(const struct arm *arm, GError **error)
{
    for (unsigned i = 0; i < arm->plan->count; i++) {
        const struct orch_plan_item *item = &arm->plan->items[i];
        if (item->cell->wanted && orch_cell_is_open(item->cell)) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "give values with -s in place of its ranges, or name other experiments "
                           "after A and B",
                           "experiment '%s' of %c (%s) is a search: its values follow from the "
                           "results, so the two sides would try different ones",
                           item->cell->experiment->name, arm->letter, arm->name);
            return false;
        }
        if (!item->cell->wanted || item->state != ORCH_PLAN_SKIPPED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        orch_error_set(error, ORCH_ERROR_RECIPE, "name the experiments to compare after A and B",
                       "%s of %c (%s) cannot be run here: %s", label, arm->letter, arm->name,
                       item->reason);
        return false;
    }
    return true;
}

static bool make_plan(struct arm *arm, GError **error)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_plan_options options = {.slots = 1, .force = true};
    GError *problem = NULL;
    arm->plan =
        orch_plan_new(arm->workspace, arm->plugins, arm->expansion, &options, diags, &problem);
    report_warnings(arm->listener, diags);
    if (!arm->plan && !problem)
        orch_diags_to_error(diags, &problem);
    orch_diags_free(diags);
    if (problem)
        g_propagate_error(error, problem);
    return arm->plan && can_run_all(arm, error);
}

/* Fails when a trial would use files of the work tree instead of its commit's, so that both sides
 * would run the same code. */
static bool is_redirected(const struct arm *arm, GError **error)
{
    for (guint i = 0; i < arm->expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = arm->expansion->experiments->pdata[i];
        if (!orch_trial_may_run_in_place(arm->plan, experiment))
            continue;
        g_autoptr(GPtrArray) faults = orch_redirect_faults(arm->plan, experiment);
        if (!faults->len)
            continue;
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "use relative paths; where mount namespaces are allowed ('orch doctor'), "
                       "absolute ones work, too",
                       "%s: both sides of the comparison would use the files of the work tree",
                       (char *)faults->pdata[0]);
        return false;
    }
    return true;
}

static bool make_arm(struct arm *arm, const char *const *plugin_paths,
                     const struct orch_compare_run *request, GError **error)
{
    g_autofree char *recipe = NULL;
    return make_place(arm, plugin_paths, request, &recipe, error) &&
           expand(arm, request, recipe, error) && make_plan(arm, error) &&
           is_redirected(arm, error);
}

/* ---- the turns --------------------------------------------------------------------------------
 */

static void on_ended(void *ctx, const struct orch_running *trial,
                     const struct orch_collected *collected, bool again,
                     const struct orch_totals *totals)
{
    (void)totals;
    const struct arm *arm = ctx;
    g_autofree char *label = orch_cell_label(trial->item->cell);
    g_autofree char *time = orch_duration_format(collected->wall_ms / 1e3);
    format_message(arm->listener->on_message, arm->listener->ctx, "%c %s: %s, %s%s%s%s",
                   arm->letter, label, orch_verdict_name(collected->verdict), time,
                   collected->reason ? ": " : "", collected->reason ? collected->reason : "",
                   again ? "; once more" : "");
}

static void on_message(void *ctx, const char *text)
{
    const struct arm *arm = ctx;
    format_message(arm->listener->on_message, arm->listener->ctx, "%c %s", arm->letter, text);
}

static bool run_turns(struct arm arms[2], struct orch_interleave *interleave, GError **error)
{
    g_autofree char *argv = arms[0].listener->argv_json(arms[0].listener->ctx, arms[1].expansion);
    struct orch_run_options options = {
        .slots = 1, .on_change = ORCH_ON_CHANGE_FROZEN, .argv_json = argv};
    struct orch_listener listeners[2];
    for (int i = 0; i < 2; i++)
        listeners[i] =
            (struct orch_listener){.ctx = &arms[i], .ended = on_ended, .message = on_message};
    struct orch_interleave_end end;
    if (!orch_interleave_run(interleave, &options, listeners, &end, error))
        return false;
    if (end.failed)
        orch_error_set(error, ORCH_ERROR_TRIAL, "'orch log @last' prints its output",
                       "%s did not end well, so nothing was compared", end.failed);
    else if (end.interrupted || end.terminated)
        orch_error_set(error, ORCH_ERROR_INTERRUPTED,
                       "the finished runs are kept: compare them with 'orch compare' without --run",
                       "stopped");
    bool ok = !end.failed && !end.interrupted && !end.terminated;
    g_free(end.failed);
    return ok;
}

/* Reads the runs of a side, newest first like store queries. */
static bool read_side(const struct arm *arm, const struct orch_interleave *interleave, int which,
                      struct orch_compare_side *out, GError **error)
{
    out->name = g_strdup(arm->name);
    out->what = strcmp(arm->name, ".") == 0
                    ? g_strdup("the work tree")
                    : g_strdup_printf("commit %.8s", arm->workspace->source->commit);
    out->runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (guint i = interleave->pairs->len; i > 0; i--) {
        unsigned index =
            g_array_index(interleave->pairs, struct orch_interleave_pair, i - 1).index[which];
        struct orch_run *run =
            orch_store_run(arm->base->store, arm->plan->items[index].run_key, error);
        if (!run)
            return false;
        g_ptr_array_add(out->runs, run);
    }
    return true;
}

static void report_outlook(const struct orch_compare_listener *l,
                           const struct orch_interleave *interleave)
{
    guint count = interleave->pairs->len;
    format_message(l->on_message, l->ctx, "%u trial%s of each side, in turns: A B B A", count,
                   orch_plural(count));
    for (int i = 0; i < 2; i++)
        if (interleave->alone[i])
            format_message(l->warn, l->ctx, "%u trial%s of %c alone %s left out",
                           interleave->alone[i], orch_plural(interleave->alone[i]), 'A' + i,
                           interleave->alone[i] == 1 ? "is" : "are");
    if (interleave->is_same_code)
        format_message(l->warn, l->ctx,
                       "no trial reads anything that differs between A and B: both sides run "
                       "the same program\n  hint: a program that is built must be built by its "
                       "plugin's command; compiled plugins are not built from a commit");
}

bool orch_compare_run_both(struct orch_workspace *workspace, const char *const *plugin_paths,
                           const struct orch_compare_run *request, const char *const names[2],
                           const struct orch_compare_listener *listener,
                           struct orch_compare_side sides[2], GError **error)
{
    struct arm arms[2] = {
        {.base = workspace, .listener = listener, .letter = 'A', .name = names[0]},
        {.base = workspace, .listener = listener, .letter = 'B', .name = names[1]}};
    struct orch_interleave interleave = {0};
    unsigned closed, pending;
    struct orch_store *store = orch_workspace_store(workspace, ORCH_STORE_CREATE, error);
    bool ok = store && orch_recover(store, &closed, &pending, error) &&
              is_in_work_tree(workspace, request->recipe, error) &&
              make_arm(&arms[0], plugin_paths, request, error) &&
              make_arm(&arms[1], plugin_paths, request, error);
    if (ok) {
        orch_interleave_init(&interleave, arms[0].plan, arms[1].plan);
        if (!interleave.pairs->len) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "'orch plan' lists the trials of a recipe",
                           "A and B have no trial in common");
            ok = false;
        }
    }
    if (ok) {
        report_outlook(listener, &interleave);
        ok = run_turns(arms, &interleave, error);
    }
    for (int i = 0; ok && i < 2; i++)
        ok = read_side(&arms[i], &interleave, i, &sides[i], error);
    orch_interleave_clear(&interleave);
    arm_clear(&arms[0]);
    arm_clear(&arms[1]);
    return ok;
}
