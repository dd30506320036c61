/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/inputs.h"

#include "core/inputs/own_outputs.h"
#include "core/inputs/scripts.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <glob.h>
#include <string.h>

/* The files among which a command's are looked for. */
struct candidates {
    const char *root;
    const GPtrArray *paths; /* relative to it */
    GHashTable *set;        /* the same */
};

/* Adds a candidate to the list unless earlier runs wrote it. */
static void add_used(GPtrArray *out, const struct candidates *from, const char *path,
                     struct orch_own_outputs *outputs)
{
    g_autofree char *absolute = g_build_filename(from->root, path, NULL);
    bool is_code = orch_script_language_of(path) != ORCH_SCRIPT_NONE;
    if (g_hash_table_contains(from->set, path) &&
        (is_code || !orch_own_outputs_has(outputs, absolute, NULL)))
        orch_texts_add_once(out, path);
}

/* The manifest and the files that a command uses, relative to the candidates' root. */
static GPtrArray *command_files(const struct candidates *from, const char *folder,
                                const char *manifest_path, char *const *argv,
                                struct orch_own_outputs *outputs)
{
    struct orch_used_files used;
    orch_used_files_init(&used);
    orch_command_files(from->root, folder, argv, from->paths, from->set, &used);
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    const char *manifest = manifest_path ? orch_path_below(manifest_path, from->root) : NULL;
    if (manifest && g_hash_table_contains(from->set, manifest))
        g_ptr_array_add(out, g_strdup(manifest));
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, used.code);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        add_used(out, from, path, outputs);
    g_hash_table_iter_init(&iter, used.data);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        if (orch_path_below(path, from->root))
            add_used(out, from, orch_path_below(path, from->root), outputs);
    orch_used_files_clear(&used);
    g_ptr_array_sort(out, orch_compare_texts);
    return out;
}

enum { DEPTH_MAX = 8 };

/* Without git the files themselves are hashed. Lists the files below the command's folder, up to a
 * limit. */
static GPtrArray *files_below(const char *root, const char *folder, unsigned depth)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) && out->len < 10000) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (name[0] == '.' || g_file_test(path, G_FILE_TEST_IS_SYMLINK))
            continue;
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            g_autoptr(GPtrArray) inner = depth ? files_below(root, path, depth - 1) : NULL;
            for (guint i = 0; inner && i < inner->len; i++)
                g_ptr_array_add(out, g_strdup(inner->pdata[i]));
        } else if (orch_path_below(path, root)) {
            g_ptr_array_add(out, g_strdup(orch_path_below(path, root)));
        }
    }
    g_ptr_array_sort(out, orch_compare_texts);
    return out;
}

static char *digest_of_text(const char *text)
{
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(text, strlen(text), digest);
    return g_strdup(digest);
}

/* `*out_code` (or NULL): the same with Python scripts without comments. */
static char *digest_of_files(const char *root, const GPtrArray *paths, char **out_code,
                             GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL), code = g_string_new(NULL);
    for (guint i = 0; i < paths->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        g_autofree char *path = g_build_filename(root, paths->pdata[i], NULL);
        if (!orch_file_sha256(path, digest, NULL, error))
            return NULL;
        g_string_append_printf(text, "%s %s\n", digest, (char *)paths->pdata[i]);
        if (out_code)
            orch_script_file_digest(path, digest);
        g_string_append_printf(code, "%s %s\n", digest, (char *)paths->pdata[i]);
    }
    if (out_code)
        *out_code = digest_of_text(code->str);
    return digest_of_text(text->str);
}

/* True when the captured tree has what an input names. */
static bool is_captured(struct orch_workspace *workspace, const char *tree, const char *path)
{
    const char *const paths[] = {path, NULL};
    g_autofree char *id = orch_vcs_subtree(workspace->vcs, tree, paths, NULL);
    return id != NULL;
}

/* Adds the files and folders that a pattern (absolute) matches on disk. False for none. */
static bool add_matches(GPtrArray *out, const char *pattern)
{
    glob_t found;
    if (g_file_test(pattern, G_FILE_TEST_EXISTS)) {
        g_ptr_array_add(out, g_strdup(pattern));
        return true;
    }
    bool any = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; any && i < found.gl_pathc; i++)
        g_ptr_array_add(out, g_strdup(found.gl_pathv[i]));
    if (any)
        globfree(&found);
    return any;
}

/* Divides `inputs:`, which are relative to the recipe, into paths of the tree, relative to its
 * root, and absolute paths of other files and folders. */
static bool divide_inputs(struct orch_inputs *all, char *const *inputs, GPtrArray *captured,
                          GPtrArray *others, GError **error)
{
    struct orch_workspace *workspace = all->workspace;
    const struct orch_source *source = orch_workspace_source(workspace, error);
    for (int i = 0; source && inputs && inputs[i]; i++) {
        g_autofree char *absolute = orch_path_absolute(inputs[i], all->expansion->folder);
        const char *path = orch_path_below(absolute, workspace->root);
        /* a captured folder, or a pattern, may also hold or match files that git ignores */
        bool any = add_matches(others, absolute);
        bool is_in = path && (source->tree ? is_captured(workspace, source->tree, path)
                                           : !g_file_test(absolute, G_FILE_TEST_IS_DIR));
        if (is_in || (path && !any)) /* the latter fails with the tree's message */
            g_ptr_array_add(captured, g_strdup(path));
        else if (!any) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "paths of inputs are relative to the recipe's folder",
                           "input '%s' does not exist", inputs[i]);
            return false;
        }
    }
    return source != NULL;
}

static char *tree_of(struct orch_workspace *workspace, GPtrArray *paths, char **out_code,
                     GError **error)
{
    const struct orch_source *source = orch_workspace_source(workspace, error);
    if (!source)
        return NULL;
    if (paths->len == 0)
        return g_strdup("");
    if (!source->tree)
        return digest_of_files(workspace->root, paths, out_code, error);
    g_ptr_array_add(paths, NULL);
    char *id =
        orch_vcs_subtree(workspace->vcs, source->tree, (const char *const *)paths->pdata, error);
    g_ptr_array_set_size(paths, (int)paths->len - 1);
    return id;
}

/* The files of a wrapped program, relative to `*out_root`. */
static GPtrArray *wrapped_paths(struct orch_inputs *all, const struct orch_experiment *experiment,
                                bool *out_inside, char **out_root, GError **error)
{
    const struct orch_manifest *manifest = experiment->manifest;
    const struct orch_source *source = orch_workspace_source(all->workspace, error);
    if (!source || !orch_inputs_read_tree(all, error))
        return NULL;
    const char *root = all->workspace->root;
    g_autofree char *folder = orch_experiment_folder(all->expansion, experiment);
    *out_inside = orch_path_within(folder, root) != NULL;
    root = *out_inside ? root : folder; /* the manifest comes from the search path */
    g_autoptr(GPtrArray) below =
        *out_inside && source->tree ? NULL : files_below(root, folder, DEPTH_MAX);
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; below && i < below->len; i++)
        g_hash_table_add(set, below->pdata[i]);
    const struct candidates from = {root, below ? below : all->files.tree_paths,
                                    below ? set : all->files.tree_files};
    *out_root = g_strdup(root);
    return command_files(&from, folder, experiment->program ? NULL : manifest->path, manifest->argv,
                         orch_inputs_outputs(all, experiment));
}

static bool has_code_of_ours(const struct orch_experiment *experiment)
{
    return !experiment->program && orch_plugin_is_ours(experiment->manifest);
}

/* Moves the texts of `more` to `paths` and frees `more`. */
static void append_paths(GPtrArray *paths, GPtrArray *more)
{
    for (guint i = 0; i < more->len; i++)
        orch_texts_add_once(paths, more->pdata[i]);
    g_ptr_array_unref(more);
}

/* The paths of the tree that `inputs:` names; empty without `inputs:`. */
static GPtrArray *paths_of_inputs(struct orch_inputs *all, const struct orch_experiment *experiment,
                                  GError **error)
{
    GPtrArray *captured = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) others = g_ptr_array_new_with_free_func(g_free);
    if (divide_inputs(all, experiment->inputs, captured, others, error))
        return captured;
    g_ptr_array_unref(captured);
    return NULL;
}

GPtrArray *orch_inputs_not_captured(struct orch_inputs *all,
                                    const struct orch_experiment *experiment, GError **error)
{
    g_autoptr(GPtrArray) captured = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *others = g_ptr_array_new_with_free_func(g_free);
    if (divide_inputs(all, experiment->inputs, captured, others, error))
        return others;
    g_ptr_array_unref(others);
    return NULL;
}

static bool has_command(const struct orch_experiment *experiment)
{
    return !has_code_of_ours(experiment) && experiment->manifest->kind != ORCH_PLUGIN_COMPILED;
}

GPtrArray *orch_inputs_paths(struct orch_inputs *all, const struct orch_experiment *experiment,
                             GError **error)
{
    g_autoptr(GPtrArray) out = paths_of_inputs(all, experiment, error);
    if (!out || !has_command(experiment))
        return g_steal_pointer(&out);
    bool inside = false;
    g_autofree char *root = NULL;
    GPtrArray *used = wrapped_paths(all, experiment, &inside, &root, error);
    if (!used)
        return NULL;
    if (inside)
        append_paths(out, used);
    else
        g_ptr_array_unref(used);
    return g_steal_pointer(&out);
}

char *orch_inputs_declared_id(struct orch_inputs *all, const struct orch_experiment *experiment,
                              GError **error)
{
    g_autoptr(GPtrArray) paths = paths_of_inputs(all, experiment, error);
    return paths ? tree_of(all->workspace, paths, NULL, error) : NULL;
}

/* An id of the code of a tree of inputs, as it lies on disk, in which comments of Python scripts do
 * not count; an id that is no tree as it is. The caller frees. */
static char *code_id(struct orch_workspace *workspace, const char *inputs_id)
{
    struct orch_vcs *vcs = workspace->vcs;
    g_autoptr(GPtrArray) paths = vcs && *inputs_id ? orch_vcs_list(vcs, inputs_id, "", NULL) : NULL;
    g_autoptr(GPtrArray) others = g_ptr_array_new();
    g_autoptr(GString) code = g_string_new(NULL);
    for (guint i = 0; paths && i < paths->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        g_autofree char *path = g_build_filename(workspace->root, paths->pdata[i], NULL);
        if (orch_script_file_digest(path, digest))
            g_string_append_printf(code, "%s %s\n", digest, (char *)paths->pdata[i]);
        else
            g_ptr_array_add(others, paths->pdata[i]);
    }
    if (!code->len)
        return g_strdup(inputs_id);
    guint count = others->len;
    g_ptr_array_add(others, NULL);
    g_autofree char *rest =
        count ? orch_vcs_subtree(vcs, inputs_id, (const char *const *)others->pdata, NULL) : NULL;
    g_string_append(code, count ? (rest ? rest : inputs_id) : "");
    return digest_of_text(code->str);
}

/* The id for a command whose manifest is outside the repository: a digest of its files and, with
 * `inputs:`, of their tree. */
static char *outside_id(struct orch_inputs *all, const struct orch_experiment *experiment,
                        const char *root, const GPtrArray *used, char **out_code_id, GError **error)
{
    g_autofree char *code = NULL;
    g_autofree char *content = digest_of_files(root, used, &code, error);
    g_autofree char *declared =
        content && experiment->inputs ? orch_inputs_declared_id(all, experiment, error) : NULL;
    if (!content || (experiment->inputs && !declared))
        return NULL;
    g_autofree char *declared_code = declared ? code_id(all->workspace, declared) : NULL;
    g_autofree char *both = g_strdup_printf("%s %s", content, declared);
    g_autofree char *both_code = g_strdup_printf("%s %s", code, declared_code);
    if (out_code_id)
        *out_code_id = declared ? digest_of_text(both_code) : g_steal_pointer(&code);
    return declared ? digest_of_text(both) : g_steal_pointer(&content);
}

char *orch_inputs_id(struct orch_inputs *all, const struct orch_experiment *experiment,
                     char **out_code_id, GError **error)
{
    const struct orch_manifest *manifest = experiment->manifest;
    if (!has_command(experiment)) {
        const char *code = has_code_of_ours(experiment) ? NULL : manifest->code_id;
        return experiment->inputs ? orch_inputs_declared_id(all, experiment, error)
                                  : g_strdup(code ? code : "");
    }
    bool inside = false;
    g_autofree char *root = NULL;
    g_autoptr(GPtrArray) used = wrapped_paths(all, experiment, &inside, &root, error);
    if (!used)
        return NULL;
    if (!inside)
        return outside_id(all, experiment, root, used, out_code_id, error);
    GPtrArray *declared = paths_of_inputs(all, experiment, error);
    if (!declared)
        return NULL;
    append_paths(used, declared);
    g_ptr_array_sort(used, orch_compare_texts);
    return tree_of(all->workspace, used, out_code_id, error);
}

const char *orch_inputs_id_of(struct orch_inputs *inputs, const struct orch_experiment *experiment,
                              GError **error)
{
    char *id = g_hash_table_lookup(inputs->ids, experiment);
    if (id)
        return id;
    char *code_id = NULL;
    id = orch_inputs_id(inputs, experiment, &code_id, error);
    if (code_id)
        g_hash_table_insert(inputs->code_ids, g_strdup(id), code_id);
    if (id) {
        orch_inputs_keep_id(inputs, id);
        g_hash_table_insert(inputs->ids, (gpointer)(uintptr_t)experiment, id);
    }
    return id;
}

const char *orch_inputs_code_id_of(struct orch_inputs *inputs, const char *id)
{
    const char *known = g_hash_table_lookup(inputs->code_ids, id);
    if (!known) {
        known = code_id(inputs->workspace, id);
        g_hash_table_insert(inputs->code_ids, g_strdup(id), (gpointer)(uintptr_t)known);
    }
    return known;
}

const char *orch_inputs_code_digest(struct orch_inputs *inputs,
                                    const struct orch_checked_input *input)
{
    g_autofree char *key = g_strconcat(ORCH_KNOWN_CODE, input->name, NULL);
    const char *known = g_hash_table_lookup(inputs->files.path_digests, key);
    if (!known) {
        char digest[ORCH_SHA256_CHARS];
        g_autofree char *path = orch_path_absolute(input->name, inputs->workspace->root);
        known = g_strdup(orch_script_file_digest(path, digest) ? digest : "");
        g_hash_table_insert(inputs->files.path_digests, g_strdup(key), (gpointer)(uintptr_t)known);
    }
    return *known ? known : input->sha256;
}
