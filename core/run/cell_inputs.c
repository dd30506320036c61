/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only what the captured tree holds counts: a data set that git ignores may be of any size, and is
 * named by inputs of its own. Digests are remembered by path for the whole plan. */
#include "core/run/cell_inputs.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* The files of the captured tree as a set of paths; empty outside of a repository. Borrowed. */
static GHashTable *tree_files(struct orch_plan *plan, const char *tree, GError **error)
{
    if (plan->tree_files)
        return plan->tree_files;
    g_autoptr(GPtrArray) files = orch_vcs_list(plan->workspace->vcs, tree, "", error);
    if (!files)
        return NULL;
    plan->tree_files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < files->len; i++)
        g_hash_table_insert(plan->tree_files, g_strdup(files->pdata[i]), NULL);
    return plan->tree_files;
}

static bool is_folder_in(GHashTable *files, const char *path)
{
    g_autofree char *prefix = g_strconcat(path, "/", NULL);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (g_str_has_prefix(name, prefix))
            return true;
    return false;
}

/* Digest of a file's bytes, or of a folder's tree id. NULL: the tree has no such path, or it cannot
 * be read. The caller frees. */
static char *digest_of(struct orch_plan *plan, const char *tree, GHashTable *files,
                       const char *path)
{
    char digest[ORCH_SHA256_CHARS];
    if (g_hash_table_contains(files, path)) {
        g_autofree char *full = g_build_filename(plan->workspace->root, path, NULL);
        return orch_file_sha256(full, digest, NULL, NULL) ? g_strdup(digest) : NULL;
    }
    if (!is_folder_in(files, path))
        return NULL;
    const char *const paths[] = {path, NULL};
    g_autofree char *id = orch_vcs_subtree(plan->workspace->vcs, tree, paths, NULL);
    if (!id)
        return NULL;
    orch_sha256(id, strlen(id), digest);
    return g_strdup(digest);
}

static void add_input(GPtrArray *inputs, const char *path, const char *sha256)
{
    for (guint i = 0; i < inputs->len; i++)
        if (strcmp(((struct orch_checked_input *)inputs->pdata[i])->name, path) == 0)
            return;
    /* one block, as the others of the list: the name lies behind the struct */
    struct orch_checked_input *input = g_malloc0(sizeof *input + strlen(path) + 1);
    input->name = strcpy((char *)(input + 1), path);
    g_strlcpy(input->sha256, sha256, sizeof input->sha256);
    g_ptr_array_add(inputs, input);
}

/* Adds what an absolute path names, when it lies in the tree. */
static void add_path(struct orch_plan *plan, const char *tree, GHashTable *files,
                     const char *absolute, GPtrArray *inputs)
{
    const char *root = plan->workspace->root;
    size_t length = strlen(root);
    if (strncmp(absolute, root, length) != 0 || absolute[length] != '/')
        return;
    const char *path = absolute + length + 1;
    const char *known = g_hash_table_lookup(plan->path_digests, path);
    if (!known) {
        char *digest = digest_of(plan, tree, files, path);
        known = digest ? digest : g_strdup("");
        g_hash_table_insert(plan->path_digests, g_strdup(path), (gpointer)(uintptr_t)known);
    }
    if (*known)
        add_input(inputs, path, known);
}

/* The parameters with paths made absolute, as the command will get them. */
static json_t *absolute_params(const struct orch_plan *plan, const struct orch_cell *cell)
{
    json_t *params = json_copy(cell->params);
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        const char *text = json_string_value(value);
        if (!spec || spec->type != ORCH_PATH || !text || !*text)
            continue;
        g_autofree char *absolute = orch_path_absolute(text, plan->expansion->folder);
        json_object_set_new(params, name, json_string(absolute));
    }
    return params;
}

/* A word of the command, filled in: itself, or behind "--data=". Words without parameters and
 * without
 * "=" are the same in every trial, and counted there. */
static void add_word(struct orch_plan *plan, const char *tree, GHashTable *files, const char *word,
                     const char *folder, const json_t *params, GPtrArray *inputs)
{
    if (!strstr(word, "${") && !strchr(word, '='))
        return;
    g_autofree char *text = orch_value_expand(word, params, NULL);
    const char *equals = text ? strchr(text, '=') : NULL;
    if (!text || !*text)
        return;
    g_autofree char *whole = orch_path_absolute(text, folder);
    add_path(plan, tree, files, whole, inputs);
    if (equals && equals[1]) {
        g_autofree char *behind = orch_path_absolute(equals + 1, folder);
        add_path(plan, tree, files, behind, inputs);
    }
}

bool orch_cell_inputs(struct orch_plan *plan, const struct orch_cell *cell, GPtrArray *inputs,
                      GError **error)
{
    const struct orch_experiment *experiment = cell->experiment;
    const struct orch_manifest *manifest = experiment->manifest;
    if (manifest->kind != ORCH_PLUGIN_WRAPPED)
        return true;
    const struct orch_source *source = orch_workspace_source(plan->workspace, error);
    if (!source || !source->tree)
        return source != NULL;
    GHashTable *files = tree_files(plan, source->tree, error);
    if (!files)
        return false;
    g_autoptr(json_t) params = absolute_params(plan, cell);
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        const char *text = json_string_value(json_object_get(params, spec->name));
        if (spec->type == ORCH_PATH && text && *text && !(spec->flags & ORCH_PARAM_NEUTRAL))
            add_path(plan, source->tree, files, text, inputs);
    }
    g_autofree char *folder = !experiment->program && manifest->path
                                  ? g_path_get_dirname(manifest->path)
                                  : g_strdup(plan->expansion->folder);
    for (char **word = manifest->argv; word && *word && !experiment->inputs; word++)
        add_word(plan, source->tree, files, *word, folder, params, inputs);
    return true;
}
