/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computing the fingerprint would need the recipe and the plugins of that commit. Comparing the two
 * trees is enough here, as long as doubtful cases count as changed code: a file added beside the
 * program with the extension of one of its files counts as a change, since it would be counted as
 * code (core/plan/fingerprint.c); so does any edited recipe. */
#include "features/compare/same_code.h"

#include "lib/base/json.h"

#include <string.h>

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

GPtrArray *orch_runs_of_same_code(struct orch_vcs *vcs, struct orch_store *store, const char *tree,
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
