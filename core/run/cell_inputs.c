/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data files count only when the captured tree holds them, because a data set that git ignores may
 * be of any size. Digests are cached by path for the whole plan. */
#include "core/run/cell_inputs.h"

#include "core/run/command_files.h"
#include "core/run/output_words.h"
#include "core/run/script_uses.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

void orch_plan_files_init(struct orch_plan_files *files)
{
    *files = (struct orch_plan_files){
        .script_files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                              (GDestroyNotify)g_hash_table_unref),
        .path_digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
    };
}

void orch_plan_files_clear(struct orch_plan_files *files)
{
    g_clear_pointer(&files->tree_files, g_hash_table_unref);
    g_clear_pointer(&files->tree_paths, g_ptr_array_unref);
    g_clear_pointer(&files->script_files, g_hash_table_unref);
    g_clear_pointer(&files->path_digests, g_hash_table_unref);
}

/* The files of the captured tree as a set of paths; empty outside of a repository. Borrowed. */
static GHashTable *tree_files(struct orch_plan *plan, const char *tree, GError **error)
{
    if (plan->files.tree_files)
        return plan->files.tree_files;
    plan->files.tree_paths = orch_vcs_list(plan->workspace->vcs, tree, "", error);
    if (!plan->files.tree_paths)
        return NULL;
    plan->files.tree_files = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < plan->files.tree_paths->len; i++)
        g_hash_table_add(plan->files.tree_files, plan->files.tree_paths->pdata[i]);
    return plan->files.tree_files;
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
    /* one allocation, like the other elements: the name follows the struct */
    struct orch_checked_input *input = g_malloc0(sizeof *input + strlen(path) + 1);
    input->name = strcpy((char *)(input + 1), path);
    g_strlcpy(input->sha256, sha256, sizeof input->sha256);
    g_ptr_array_add(inputs, input);
}

/* Adds a path of the tree with the digest of its content, when the tree has it. */
static void add_content(struct orch_plan *plan, const char *tree, GHashTable *files,
                        const char *path, GPtrArray *inputs)
{
    const char *known = g_hash_table_lookup(plan->files.path_digests, path);
    if (!known) {
        char *digest = digest_of(plan, tree, files, path);
        known = digest ? digest : g_strdup("");
        g_hash_table_insert(plan->files.path_digests, g_strdup(path), (gpointer)(uintptr_t)known);
    }
    if (*known)
        add_input(inputs, path, known);
}

/* The files that a script of the tree uses, including the script: a set of paths. Borrowed. */
static GHashTable *script_files(struct orch_plan *plan, const char *path, const char *absolute)
{
    GHashTable *used = g_hash_table_lookup(plan->files.script_files, path);
    if (used)
        return used;
    char *words[] = {(char *)(uintptr_t)absolute, NULL};
    used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    orch_command_files(plan->workspace->root, plan->expansion->folder, words,
                       plan->files.tree_paths, used);
    g_hash_table_insert(plan->files.script_files, g_strdup(path), used);
    return used;
}

/* Adds the file or folder at an absolute path when it lies in the tree, and for a script the files
 * it uses. */
static void add_path(struct orch_plan *plan, const char *tree, GHashTable *files,
                     const char *absolute, GPtrArray *inputs)
{
    const char *root = plan->workspace->root;
    size_t length = strlen(root);
    if (strncmp(absolute, root, length) != 0 || absolute[length] != '/')
        return;
    const char *path = absolute + length + 1;
    add_content(plan, tree, files, path, inputs);
    if (orch_script_language_of(path) == ORCH_SCRIPT_NONE || !g_hash_table_contains(files, path))
        return;
    GHashTableIter iter;
    gpointer used;
    g_hash_table_iter_init(&iter, script_files(plan, path, absolute));
    while (g_hash_table_iter_next(&iter, &used, NULL))
        add_content(plan, tree, files, used, inputs);
}

json_t *orch_cell_absolute_params(const struct orch_plan *plan, const struct orch_cell *cell)
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

/* Adds a script that is not in the captured tree, because git ignores it or it lies elsewhere. */
static void add_script_outside(struct orch_plan *plan, GHashTable *files, const char *absolute,
                               GPtrArray *inputs)
{
    const char *root = plan->workspace->root;
    size_t length = strlen(root);
    bool is_inside = strncmp(absolute, root, length) == 0 && absolute[length] == '/';
    const char *path = is_inside ? absolute + length + 1 : absolute;
    char digest[ORCH_SHA256_CHARS];
    if (orch_script_language_of(path) == ORCH_SCRIPT_NONE || g_hash_table_contains(files, path) ||
        !g_file_test(absolute, G_FILE_TEST_IS_REGULAR))
        return;
    const char *known = g_hash_table_lookup(plan->files.path_digests, absolute);
    if (!known) {
        known = g_strdup(orch_file_sha256(absolute, digest, NULL, NULL) ? digest : "");
        g_hash_table_insert(plan->files.path_digests, g_strdup(absolute),
                            (gpointer)(uintptr_t)known);
    }
    if (*known)
        add_input(inputs, path, known);
}

/* Adds the path that a word of the command names after substitution: the word itself, or the part
 * after "--data=". Words without parameters and without "=" are the same in every trial, so files
 * of the tree that they name are covered by orch_inputs_id. */
static void add_word(struct orch_plan *plan, const char *tree, GHashTable *files, const char *word,
                     const char *folder, const json_t *params, GPtrArray *inputs)
{
    g_autofree char *text = orch_value_expand(word, params, NULL);
    if (!text || !*text)
        return;
    g_autofree char *whole = orch_path_absolute(text, folder);
    add_script_outside(plan, files, whole, inputs);
    if (!strstr(word, "${") && !strchr(word, '='))
        return;
    const char *equals = strchr(text, '=');
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
    g_autoptr(json_t) params = orch_cell_absolute_params(plan, cell);
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        const char *text = json_string_value(json_object_get(params, spec->name));
        if (spec->type == ORCH_PATH && text && *text && !(spec->flags & ORCH_PARAM_NEUTRAL))
            add_path(plan, source->tree, files, text, inputs);
    }
    g_autofree char *folder = orch_experiment_folder(plan->expansion, experiment);
    for (char **word = manifest->argv; word && *word; word++)
        if (!orch_word_is_output(word > manifest->argv ? word[-1] : NULL, *word))
            add_word(plan, source->tree, files, *word, folder, params, inputs);
    return true;
}

bool orch_cell_inputs_now(struct orch_plan *plan, const struct orch_cell *cell, GPtrArray *inputs,
                          GError **error)
{
    struct orch_plan_files then = plan->files;
    orch_plan_files_init(&plan->files);
    bool ok = orch_cell_inputs(plan, cell, inputs, error);
    orch_plan_files_clear(&plan->files);
    plan->files = then;
    return ok;
}
