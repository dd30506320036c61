/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/compare_sides.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/vcs/vcs.h"
#include "store/read/find_runs.h"
#include "store/store.h"

#include <string.h>

/* ---- runs of the same code ------------------------------------------------------------------- */

/* Computing the fingerprint would need the recipe and the plugins of that commit. Comparing the two
 * trees is enough here, as long as doubtful cases count as changed code: a file added beside the
 * program with the extension of one of its files counts as a change, since it would be counted as
 * code (core/plan/fingerprint.c); so does any edited recipe. */

struct request {
    struct orch_vcs *vcs;
    const char *tree;
    GHashTable *changes; /* tree of a run -> GPtrArray of struct orch_left_out, or NULL: unknown */
    GHashTable *files;   /* id of inputs -> GPtrArray of paths, or NULL: not in the repository */
};

static void unref_list(gpointer list)
{
    if (list)
        g_ptr_array_unref(list);
}

static const GPtrArray *changes_since(struct request *r, const char *tree)
{
    gpointer list;
    if (!tree)
        return NULL;
    if (!g_hash_table_lookup_extended(r->changes, tree, NULL, &list)) {
        list = orch_vcs_diff(r->vcs, tree, r->tree, NULL);
        g_hash_table_insert(r->changes, g_strdup(tree), list);
    }
    return list;
}

/* The code files of that id; NULL when they are outside the repository. */
static const GPtrArray *files_of(struct request *r, const char *id)
{
    gpointer list;
    if (!g_hash_table_lookup_extended(r->files, id, NULL, &list)) {
        list = *id && orch_vcs_has_tree(r->vcs, id) ? orch_vcs_list(r->vcs, id, "", NULL) : NULL;
        g_hash_table_insert(r->files, g_strdup(id), list);
    }
    return list;
}

static const char *extension_of(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

/* True when an added file is beside or below a code file and has its extension. */
static bool may_be_code(const char *added, const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t folder = slash ? (size_t)(slash - file) + 1 : 0;
    return strncmp(added, file, folder) == 0 &&
           strcmp(extension_of(added), extension_of(file)) == 0;
}

static bool is_of_code(const struct orch_left_out *change, const GPtrArray *files)
{
    bool is_added = strcmp(change->why, "added") == 0;
    for (guint i = 0; files && i < files->len; i++)
        if (is_added ? may_be_code(change->path, files->pdata[i])
                     : strcmp(change->path, files->pdata[i]) == 0)
            return true;
    return false;
}

/* True when the path is an input, or is below an input that is a folder. */
static bool is_read(const char *path, const GPtrArray *inputs)
{
    for (guint i = 0; i < inputs->len; i++) {
        const char *name = ((const struct orch_stored_input *)inputs->pdata[i])->name;
        size_t length = strlen(name);
        if (strncmp(path, name, length) == 0 && (!path[length] || path[length] == '/'))
            return true;
    }
    return false;
}

static bool could_be_of_tree(struct request *r, const struct orch_run *run, const GPtrArray *inputs)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    const char *id = facts ? orch_json_text(facts, "inputs_id", NULL) : NULL;
    const GPtrArray *changes = id ? changes_since(r, run->source_tree) : NULL;
    if (!changes)
        return false;
    const GPtrArray *files = files_of(r, id);
    for (guint i = 0; i < changes->len; i++) {
        const struct orch_left_out *change = changes->pdata[i];
        bool is_new = strcmp(change->why, "added") == 0;
        if (is_of_code(change, files) || is_read(change->path, inputs) ||
            (!is_new && g_str_has_suffix(change->path, ".recipe")))
            return false;
    }
    return true;
}

/* Selects from `runs` (struct orch_run *, any order; taken over) those that could equally have
 * been made from `tree`: between their tree and `tree` no file of their code, no file that they
 * read and no recipe differs. Runs whose code is unknown (recorded by hand, imported) are never
 * selected. The caller unrefs. NULL when the store cannot be read. */
static GPtrArray *keep_same_code(struct orch_vcs *vcs, struct orch_store *store, const char *tree,
                                 GPtrArray *runs, GError **error)
{
    g_autoptr(GHashTable) changes =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref_list);
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref_list);
    struct request r = {vcs, tree, changes, files};
    for (guint i = runs->len; i > 0; i--) {
        const struct orch_run *run = runs->pdata[i - 1];
        g_autoptr(GPtrArray) inputs = orch_store_inputs(store, run->id, error);
        if (!inputs) {
            g_ptr_array_unref(runs);
            return NULL;
        }
        if (!could_be_of_tree(&r, run, inputs))
            g_ptr_array_remove_index(runs, i - 1);
    }
    return runs;
}

/* ---- sides ----------------------------------------------------------------------------------- */

bool orch_compare_range_split(const char *text, char **out_a, char **out_b)
{
    const char *dots = strstr(text, "..");
    if (!dots || strpbrk(text, "=<>") || strstr(dots + 1, "..") == dots + 1)
        return false;
    *out_a = dots == text ? g_strdup("HEAD") : g_strndup(text, (gsize)(dots - text));
    *out_b = g_strdup(dots[2] ? dots + 2 : "HEAD");
    return true;
}

/* Returns the runs that match a filter and, unless it is NULL, a second filter; NULL with an
 * error. */
static GPtrArray *query_runs(struct orch_store *store, const char *recipe, const char *experiment,
                             const char *filter, GError **error)
{
    struct orch_where *where = filter ? orch_where_parse(filter, error) : NULL;
    if (filter && !where)
        return NULL;
    struct orch_run_query query = {.recipe = recipe,
                                   .experiment = experiment,
                                   .where = where,
                                   .ended_well = true,
                                   .with_counted = true};
    GPtrArray *runs = orch_store_runs(store, &query, NULL, error);
    orch_where_free(where);
    return runs;
}

/* Keeps the runs for which `keeps` is true, in their order and in one pass. */
static void keep(GPtrArray *runs, bool (*keeps)(const struct orch_run *run, const void *ctx),
                 const void *ctx)
{
    guint kept = 0;
    for (guint i = 0; i < runs->len; i++) {
        gpointer run = runs->pdata[i];
        if (!keeps(run, ctx))
            continue;
        runs->pdata[i] = runs->pdata[kept];
        runs->pdata[kept++] = run;
    }
    g_ptr_array_set_size(runs, (gint)kept);
}

static bool is_among(const struct orch_run *run, const void *keys)
{
    return g_hash_table_contains((GHashTable *)(uintptr_t)keys, run->key);
}

static bool is_of_tree(const struct orch_run *run, const void *tree)
{
    return g_strcmp0(run->source_tree, tree) == 0;
}

/* Drops the runs that do not match `where`. */
static bool narrow(struct orch_store *store, GPtrArray *runs, const char *where, GError **error)
{
    if (!where)
        return true;
    g_autoptr(GPtrArray) kept = query_runs(store, NULL, NULL, where, error);
    if (!kept)
        return false;
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < kept->len; i++)
        g_hash_table_add(keys, ((const struct orch_run *)kept->pdata[i])->key);
    keep(runs, is_among, keys);
    return true;
}

/* ---- experiments ----------------------------------------------------------------------------- */

/* Returns whether all runs are of one recipe; otherwise sets ORCH_ERROR_USAGE. */
static bool is_unique(const GPtrArray *runs, const char *experiment, GError **error)
{
    g_autoptr(GPtrArray) recipes = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        const char *recipe = run->recipe ? run->recipe : "";
        if (!g_ptr_array_find_with_equal_func(recipes, recipe, g_str_equal, NULL))
            g_ptr_array_add(recipes, (gpointer)(uintptr_t)recipe);
    }
    if (recipes->len < 2)
        return true;
    g_autofree char *hint = g_strdup_printf("write %s/%s or %s/%s", (char *)recipes->pdata[0],
                                            experiment, (char *)recipes->pdata[1], experiment);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "%u recipes have an experiment '%s'",
                   recipes->len, experiment);
    return false;
}

/* Returns the runs of "recipe/experiment" or "experiment"; empty when there are none. */
static GPtrArray *runs_of_experiment(struct orch_store *store, const char *text, char **out_what,
                                     GError **error)
{
    const char *slash = strchr(text, '/');
    g_autofree char *recipe = slash ? g_strndup(text, (gsize)(slash - text)) : NULL;
    const char *experiment = slash ? slash + 1 : text;
    GPtrArray *runs = query_runs(store, recipe, experiment, NULL, error);
    if (runs && !is_unique(runs, experiment, error))
        g_clear_pointer(&runs, g_ptr_array_unref);
    if (runs && runs->len)
        *out_what = g_strdup_printf("experiment '%s' of recipe '%s'", experiment,
                                    ((const struct orch_run *)runs->pdata[0])->recipe);
    return runs;
}

/* ---- commits --------------------------------------------------------------------------------- */

/* Keeps only the runs whose source tree is the commit's. When there is none, all are kept, with a
 * warning that they had uncommitted changes. */
static void prefer_clean(GPtrArray *notes, GPtrArray *runs, const char *tree, const char *text)
{
    guint clean = 0;
    for (guint i = 0; i < runs->len; i++)
        clean += is_of_tree(runs->pdata[i], tree);
    if (!clean && runs->len)
        g_ptr_array_add(notes, g_strdup_printf("the %u run%s of '%s' had uncommitted changes",
                                               runs->len, orch_plural(runs->len), text));
    if (clean)
        keep(runs, is_of_tree, tree);
}

/* Returns the runs that 'orch run' would reuse at a commit that has no runs of its own. */
static GPtrArray *runs_of_same_code(struct orch_workspace *workspace, struct orch_store *store,
                                    const char *tree, GError **error)
{
    GPtrArray *all = query_runs(store, NULL, NULL, NULL, error);
    return all ? keep_same_code(workspace->vcs, store, tree, all, error) : NULL;
}

static GPtrArray *runs_of_tree(struct orch_workspace *workspace, struct orch_store *store,
                               const char *text, const char *commit, const char *tree,
                               char **out_what, GPtrArray *notes, GError **error)
{
    bool is_work_tree = strcmp(text, ".") == 0;
    g_autofree char *filter = is_work_tree || !commit
                                  ? g_strdup_printf("tree = %s", tree)
                                  : g_strdup_printf("commit = %s or tree = %s", commit, tree);
    GPtrArray *runs = query_runs(store, NULL, NULL, filter, error);
    if (!runs)
        return NULL;
    prefer_clean(notes, runs, tree, text);
    g_autofree char *name =
        is_work_tree ? g_strdup("the work tree") : g_strdup_printf("commit %.8s", commit);
    if (runs->len) {
        *out_what = g_steal_pointer(&name);
        return runs;
    }
    g_ptr_array_unref(runs);
    runs = runs_of_same_code(workspace, store, tree, error);
    if (!runs || runs->len) {
        *out_what = g_strdup_printf("%s, with runs of other commits that have the same code", name);
        return runs;
    }
    g_ptr_array_unref(runs);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "add --run RECIPE to run both sides now",
                   "no run that ended well was made from '%s' (tree %.8s) or from the same code",
                   text, tree);
    return NULL;
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* Tells a filter such as 'net ~ res' from a revision such as 'HEAD~2'. */
static bool is_filter(const char *text)
{
    const char *tilde = strchr(text, '~');
    return strpbrk(text, "=<>") || (tilde && tilde[1] && !strchr("0123456789~^", tilde[1]));
}

/* Resolves `text` in the order that the header documents. */
static GPtrArray *find(struct orch_workspace *workspace, struct orch_store *store, const char *text,
                       char **out_what, GPtrArray *notes, GError **error)
{
    if (is_filter(text)) {
        *out_what = g_strdup("filter");
        return orch_store_filter_runs(store, text, error);
    }
    struct orch_run *run = strcmp(text, ".") == 0 ? NULL : orch_store_run(store, text, NULL);
    if (run) {
        GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
        g_ptr_array_add(runs, run);
        *out_what = g_strdup("run");
        return runs;
    }
    GPtrArray *runs = runs_of_experiment(store, text, out_what, error);
    if (!runs || runs->len)
        return runs;
    g_ptr_array_unref(runs);
    g_autofree char *commit = NULL, *tree = NULL;
    if (orch_workspace_commit(workspace, text, &commit, &tree, NULL))
        return runs_of_tree(workspace, store, text, commit, tree, out_what, notes, error);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists runs and experiments",
                   "'%s' is not a run, an experiment that was run, or a commit", text);
    return NULL;
}

static bool settle(struct orch_store *store, const char *text, const char *where, GPtrArray *runs,
                   char *what, struct orch_compare_side *out, GError **error)
{
    struct orch_compare_side side = {g_strdup(text), what, runs};
    bool ok = runs && narrow(store, runs, where, error);
    if (ok && !runs->len) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls --where FILTER' lists matching runs",
                       "no run of '%s' matches --where '%s'", text, where);
        ok = false;
    }
    if (ok)
        *out = side;
    else
        orch_compare_side_clear(&side);
    return ok;
}

bool orch_compare_side_find(struct orch_workspace *workspace, struct orch_store *store,
                            const char *text, const char *where, struct orch_compare_side *out,
                            GPtrArray *notes, GError **error)
{
    char *what = NULL;
    GPtrArray *runs = find(workspace, store, text, &what, notes, error);
    return settle(store, text, where, runs, what, out, error);
}

bool orch_compare_side_of_commit(struct orch_workspace *workspace, struct orch_store *store,
                                 const char *text, const char *where, struct orch_compare_side *out,
                                 GPtrArray *notes, GError **error)
{
    char *what = NULL;
    g_autofree char *commit = NULL, *tree = NULL;
    GPtrArray *runs = orch_workspace_commit(workspace, text, &commit, &tree, error)
                          ? runs_of_tree(workspace, store, text, commit, tree, &what, notes, error)
                          : NULL;
    return settle(store, text, where, runs, what, out, error);
}
