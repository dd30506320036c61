/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each side is a workspace at a copy of its tree (.orch/results.db.d/work/<tree>), with a recipe,
 * plugins and a plan of its own; both record into the store of the repository. The number of turns
 * is fixed beforehand: to stop as soon as a difference shows would make differences of noise. */
#include "core/cli/compare_run.h"

#include "core/run/versus.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

struct arm {
    struct orch_cli *cli;
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

/* ---- the places -------------------------------------------------------------------------------
 */

/* `path` in the copy, when it lies in the work tree; else itself. The caller frees. */
static char *in_copy(const struct orch_workspace *base, const char *copy, const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    size_t length = strlen(base->root);
    bool inside = strncmp(absolute, base->root, length) == 0 &&
                  (absolute[length] == '/' || !absolute[length]);
    return inside ? g_strconcat(copy, absolute + length, NULL) : g_steal_pointer(&absolute);
}

/* --plugin-path folders of the work tree are meant as each side has them. */
static struct orch_plugins *plugins_in_copy(struct orch_cli *cli, const char *copy)
{
    g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; cli->plugin_paths && cli->plugin_paths[i]; i++)
        g_ptr_array_add(folders, in_copy(cli->workspace, copy, cli->plugin_paths[i]));
    g_ptr_array_add(folders, NULL);
    return orch_plugins_new((const char *const *)folders->pdata);
}

/* Finds the commit, keeps and writes out its tree. */
static bool make_place(struct arm *arm, const char *recipe, char **out_recipe, GError **error)
{
    struct orch_cli *cli = arm->cli;
    struct orch_source *source = g_new0(struct orch_source, 1);
    source->left_out = g_ptr_array_new();
    g_autofree char *copy = NULL;
    if (compare_commit(cli, arm->name, &source->commit, &source->tree, error) &&
        orch_vcs_keep(cli->workspace->vcs, source->tree, error))
        copy = orch_workspace_copy(cli->workspace, source->tree, error);
    if (!copy) {
        orch_source_free(source);
        return false;
    }
    const struct orch_source *here = cli->workspace->source;
    source->dirty = strcmp(arm->name, ".") == 0 && here->dirty;
    *out_recipe = in_copy(cli->workspace, copy, recipe);
    g_autofree char *folder = g_path_get_dirname(*out_recipe);
    arm->workspace = orch_workspace_at(cli->workspace, copy, folder, source, error);
    arm->plugins = plugins_in_copy(cli, copy);
    return arm->workspace && orch_workspace_store(arm->workspace, ORCH_STORE_WRITE, error);
}

static bool is_in_work_tree(const struct orch_workspace *base, const char *recipe, GError **error)
{
    g_autofree char *there = in_copy(base, "", recipe);
    g_autofree char *absolute = orch_path_absolute(recipe, NULL);
    if (strcmp(there, absolute) != 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "give a recipe that both commits have",
                   "'%s' lies outside of the repository '%s'", recipe, base->root);
    return false;
}

/* ---- the plans --------------------------------------------------------------------------------
 */

static bool expand(struct arm *arm, const struct compare_run *wish, const char *recipe,
                   GError **error)
{
    if (!g_file_test(recipe, G_FILE_TEST_EXISTS)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "both sides must have the recipe, committed",
                       "'%s' has no '%s'", arm->name, wish->recipe);
        return false;
    }
    struct orch_recipe_options options = {.profile = wish->profile,
                                          .settings = wish->settings,
                                          .sweeps = wish->sweeps,
                                          .targets = wish->targets,
                                          .repeat = wish->repeat};
    struct orch_diags *diags = orch_diags_new();
    arm->expansion = orch_recipe_expand(recipe, arm->plugins, &options, diags);
    orch_cli_warnings(arm->cli, diags);
    if (!arm->expansion)
        orch_diags_to_error(diags, error);
    orch_diags_free(diags);
    return arm->expansion &&
           orch_store_put_recipe(arm->workspace->store, arm->expansion->key, arm->expansion->name,
                                 arm->expansion->canonical, arm->expansion->verbatim, error);
}

/* A trial that this machine will not run cannot be compared. */
static bool can_run_all(const struct arm *arm, GError **error)
{
    for (unsigned i = 0; i < arm->plan->count; i++) {
        const struct orch_plan_item *item = &arm->plan->items[i];
        if (!item->cell->wanted || item->state != ORCH_PLAN_SKIPPED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        orch_error_set(error, ORCH_ERROR_RECIPE, "name the experiments to compare behind A and B",
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
    orch_cli_warnings(arm->cli, diags);
    if (!arm->plan && !problem)
        orch_diags_to_error(diags, &problem);
    orch_diags_free(diags);
    if (problem)
        g_propagate_error(error, problem);
    return arm->plan && can_run_all(arm, error);
}

static bool make_arm(struct arm *arm, const struct compare_run *wish, GError **error)
{
    g_autofree char *recipe = NULL;
    return make_place(arm, wish->recipe, &recipe, error) && expand(arm, wish, recipe, error) &&
           make_plan(arm, error);
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
    orch_cli_say(arm->cli, "%c %s: %s, %s%s%s%s", arm->letter, label,
                 orch_verdict_name(collected->verdict), time, collected->reason ? ": " : "",
                 collected->reason ? collected->reason : "", again ? "; once more" : "");
}

static void on_message(void *ctx, const char *text)
{
    const struct arm *arm = ctx;
    orch_cli_say(arm->cli, "%c %s", arm->letter, text);
}

static bool run_turns(struct orch_cli *cli, struct arm arms[2], struct orch_versus *versus,
                      GError **error)
{
    g_autofree char *argv = orch_cli_argv_json(cli, arms[1].expansion);
    struct orch_run_options options = {.slots = 1, .argv_json = argv};
    struct orch_listener listeners[2];
    for (int i = 0; i < 2; i++)
        listeners[i] =
            (struct orch_listener){.ctx = &arms[i], .ended = on_ended, .message = on_message};
    struct orch_versus_end end;
    if (!orch_versus_run(versus, &options, listeners, &end, error))
        return false;
    if (end.failed)
        orch_error_set(error, ORCH_ERROR_TRIAL, "'orch log @last' shows what it printed",
                       "%s did not end well: nothing is compared", end.failed);
    else if (end.interrupted || end.terminated)
        orch_error_set(error, ORCH_ERROR_INTERRUPTED,
                       "the runs that ended are kept: 'orch compare' without --run compares them",
                       "stopped");
    bool ok = !end.failed && !end.interrupted && !end.terminated;
    g_free(end.failed);
    return ok;
}

/* The runs of a side, newest first as a store gives them. */
static bool read_side(struct orch_cli *cli, const struct arm *arm, const struct orch_versus *versus,
                      int which, struct compare_side *out, GError **error)
{
    out->name = g_strdup(arm->name);
    out->what = strcmp(arm->name, ".") == 0
                    ? g_strdup("the work tree")
                    : g_strdup_printf("commit %.8s", arm->workspace->source->commit);
    out->runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (guint i = versus->pairs->len; i > 0; i--) {
        unsigned index = g_array_index(versus->pairs, struct orch_versus_pair, i - 1).index[which];
        struct orch_run *run =
            orch_store_run(cli->workspace->store, arm->plan->items[index].run_key, error);
        if (!run)
            return false;
        g_ptr_array_add(out->runs, run);
    }
    return true;
}

static void say_outlook(struct orch_cli *cli, const struct orch_versus *versus)
{
    guint count = versus->pairs->len;
    orch_cli_say(cli, "%u trial%s of each side, in turns: A B B A", count, count == 1 ? "" : "s");
    for (int i = 0; i < 2; i++)
        if (versus->alone[i])
            orch_cli_warn(cli, "%u trial%s of %c alone %s left out", versus->alone[i],
                          versus->alone[i] == 1 ? "" : "s", 'A' + i,
                          versus->alone[i] == 1 ? "is" : "are");
    if (versus->is_same_code)
        orch_cli_warn(cli, "no trial reads anything that differs between A and B: both sides run "
                           "the same program\n  hint: a program that is built must be built by its "
                           "plugin's command; compiled plugins are not built from a commit");
}

bool compare_run_both(struct orch_cli *cli, const struct compare_run *wish,
                      const char *const names[2], struct compare_side sides[2], GError **error)
{
    struct arm arms[2] = {{.cli = cli, .letter = 'A', .name = names[0]},
                          {.cli = cli, .letter = 'B', .name = names[1]}};
    struct orch_versus versus = {0};
    unsigned closed, pending;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_CREATE, error);
    bool ok = store && orch_recover(store, &closed, &pending, error) &&
              is_in_work_tree(cli->workspace, wish->recipe, error) &&
              make_arm(&arms[0], wish, error) && make_arm(&arms[1], wish, error);
    if (ok) {
        orch_versus_init(&versus, arms[0].plan, arms[1].plan);
        if (!versus.pairs->len) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "'orch plan' lists the trials of a recipe",
                           "A and B have no trial in common");
            ok = false;
        }
    }
    if (ok) {
        say_outlook(cli, &versus);
        ok = run_turns(cli, arms, &versus, error);
    }
    for (int i = 0; ok && i < 2; i++)
        ok = read_side(cli, &arms[i], &versus, i, &sides[i], error);
    orch_versus_clear(&versus);
    arm_clear(&arms[0]);
    arm_clear(&arms[1]);
    return ok;
}
