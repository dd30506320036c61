/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/run/fingerprint.h"

#include "core/plugin/search.h"
#include "core/run/command_files.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/local_key.h"
#include "lib/base/text.h"
#include "lib/wire/secret.h"

#include <string.h>

#define FINGERPRINT_FORMAT "orch fingerprint 1"

bool orch_plugin_is_ours(const struct orch_manifest *manifest)
{
    return manifest->path && orch_search_is_own(manifest->path);
}

/* ---- the code of a wrapped program ------------------------------------------------------------
 */

/* Path of `absolute` relative to `root`, or NULL when it lies elsewhere. Borrowed from `absolute`.
 */
static const char *below(const char *root, const char *absolute)
{
    size_t n = strlen(root);
    if (strncmp(absolute, root, n) != 0 || absolute[n] != '/')
        return NULL;
    return absolute + n + 1;
}

static bool set_has(GPtrArray *sorted_files, const char *path)
{
    for (guint i = 0; i < sorted_files->len; i++)
        if (strcmp(sorted_files->pdata[i], path) == 0)
            return true;
    return false;
}

/* The manifest and the files that a command uses, relative to `root`; `files`: the files of the
 * tree. */
static GPtrArray *command_files(const char *root, const char *folder, const char *manifest_path,
                                char *const *argv, GPtrArray *files)
{
    g_autoptr(GHashTable) chosen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *manifest = manifest_path ? below(root, manifest_path) : NULL;
    if (manifest && set_has(files, manifest))
        g_hash_table_add(chosen, g_strdup(manifest));
    orch_command_files(root, folder, argv, files, chosen);
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, chosen);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        g_ptr_array_add(out, g_strdup(key));
    g_ptr_array_sort(out, orch_compare_texts);
    return out;
}

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
        } else if (below(root, path)) {
            g_ptr_array_add(out, g_strdup(below(root, path)));
        }
    }
    g_ptr_array_sort(out, orch_compare_texts);
    return out;
}

static char *digest_of_files(const char *root, const GPtrArray *paths, GError **error)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < paths->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        g_autofree char *path = g_build_filename(root, paths->pdata[i], NULL);
        if (!orch_file_sha256(path, digest, NULL, error)) {
            g_string_free(text, TRUE);
            return NULL;
        }
        g_string_append_printf(text, "%s %s\n", digest, (char *)paths->pdata[i]);
    }
    char all[ORCH_SHA256_CHARS];
    orch_sha256(text->str, text->len, all);
    g_string_free(text, TRUE);
    return g_strdup(all);
}

/* Converts `inputs:` from paths relative to the recipe to paths relative to the tree's root. */
static GPtrArray *declared_paths(const char *root, const char *folder, char *const *inputs,
                                 GError **error)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; inputs[i]; i++) {
        g_autofree char *absolute = orch_path_absolute(inputs[i], folder);
        const char *path = below(root, absolute);
        if (!path) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "move it into the repository, or pass its path as a parameter",
                           "input '%s' is outside '%s'", inputs[i], root);
            g_ptr_array_unref(out);
            return NULL;
        }
        g_ptr_array_add(out, g_strdup(path));
    }
    return out;
}

static char *tree_of(struct orch_workspace *workspace, GPtrArray *paths, GError **error)
{
    const struct orch_source *source = orch_workspace_source(workspace, error);
    if (!source)
        return NULL;
    if (paths->len == 0)
        return g_strdup("");
    if (!source->tree)
        return digest_of_files(workspace->root, paths, error);
    g_ptr_array_add(paths, NULL);
    char *id =
        orch_vcs_subtree(workspace->vcs, source->tree, (const char *const *)paths->pdata, error);
    g_ptr_array_set_size(paths, (int)paths->len - 1);
    return id;
}

/* The files of a wrapped program, relative to `*out_root`. */
static GPtrArray *wrapped_paths(struct orch_workspace *workspace,
                                const struct orch_expansion *expansion,
                                const struct orch_experiment *experiment, bool *out_inside,
                                char **out_root, GError **error)
{
    const struct orch_manifest *manifest = experiment->manifest;
    const struct orch_source *source = orch_workspace_source(workspace, error);
    if (!source)
        return NULL;
    g_autofree char *folder = orch_experiment_folder(expansion, experiment);
    *out_inside = strcmp(folder, workspace->root) == 0 || below(workspace->root, folder);
    const char *root =
        *out_inside ? workspace->root : folder; /* else the manifest comes from the search path */
    g_autoptr(GPtrArray) files = *out_inside && source->tree
                                     ? orch_vcs_list(workspace->vcs, source->tree, "", error)
                                     : files_below(root, folder, 8);
    if (!files)
        return NULL;
    *out_root = g_strdup(root);
    return command_files(root, folder, experiment->program ? NULL : manifest->path, manifest->argv,
                         files);
}

static bool has_code_of_ours(const struct orch_experiment *experiment)
{
    return !experiment->program && orch_plugin_is_ours(experiment->manifest);
}

/* Moves the texts of `more` to `paths` and frees `more`. */
static void append_paths(GPtrArray *paths, GPtrArray *more)
{
    for (guint i = 0; i < more->len; i++)
        if (!g_ptr_array_find_with_equal_func(paths, more->pdata[i], g_str_equal, NULL))
            g_ptr_array_add(paths, g_strdup(more->pdata[i]));
    g_ptr_array_unref(more);
}

/* The paths that `inputs:` names; empty without `inputs:`. */
static GPtrArray *paths_of_inputs(struct orch_workspace *workspace,
                                  const struct orch_expansion *expansion,
                                  const struct orch_experiment *experiment, GError **error)
{
    return experiment->inputs
               ? declared_paths(workspace->root, expansion->folder, experiment->inputs, error)
               : g_ptr_array_new_with_free_func(g_free);
}

static bool has_command(const struct orch_experiment *experiment)
{
    return !has_code_of_ours(experiment) && experiment->manifest->kind != ORCH_PLUGIN_COMPILED;
}

GPtrArray *orch_inputs_paths(struct orch_workspace *workspace,
                             const struct orch_expansion *expansion,
                             const struct orch_experiment *experiment, GError **error)
{
    g_autoptr(GPtrArray) out = paths_of_inputs(workspace, expansion, experiment, error);
    if (!out || !has_command(experiment))
        return g_steal_pointer(&out);
    bool inside = false;
    g_autofree char *root = NULL;
    GPtrArray *used = wrapped_paths(workspace, expansion, experiment, &inside, &root, error);
    if (!used)
        return NULL;
    if (inside)
        append_paths(out, used);
    else
        g_ptr_array_unref(used);
    return g_steal_pointer(&out);
}

char *orch_inputs_declared_id(struct orch_workspace *workspace,
                              const struct orch_expansion *expansion,
                              const struct orch_experiment *experiment, GError **error)
{
    g_autoptr(GPtrArray) paths = paths_of_inputs(workspace, expansion, experiment, error);
    return paths ? tree_of(workspace, paths, error) : NULL;
}

/* The id for a command whose manifest is outside the repository: a digest of its files and, with
 * `inputs:`, of their tree. */
static char *outside_id(struct orch_workspace *workspace, const struct orch_expansion *expansion,
                        const struct orch_experiment *experiment, const char *root,
                        const GPtrArray *used, GError **error)
{
    char *code = digest_of_files(root, used, error);
    if (!code || !experiment->inputs)
        return code;
    g_autofree char *declared = orch_inputs_declared_id(workspace, expansion, experiment, error);
    g_autofree char *both = declared ? g_strdup_printf("%s %s", code, declared) : NULL;
    g_free(code);
    if (!both)
        return NULL;
    char id[ORCH_SHA256_CHARS];
    orch_sha256(both, strlen(both), id);
    return g_strdup(id);
}

char *orch_inputs_id(struct orch_workspace *workspace, const struct orch_expansion *expansion,
                     const struct orch_experiment *experiment, GError **error)
{
    const struct orch_manifest *manifest = experiment->manifest;
    if (!has_command(experiment)) {
        const char *code = has_code_of_ours(experiment) ? NULL : manifest->code_id;
        return experiment->inputs ? orch_inputs_declared_id(workspace, expansion, experiment, error)
                                  : g_strdup(code ? code : "");
    }
    bool inside = false;
    g_autofree char *root = NULL;
    g_autoptr(GPtrArray) used =
        wrapped_paths(workspace, expansion, experiment, &inside, &root, error);
    if (!used)
        return NULL;
    if (!inside)
        return outside_id(workspace, expansion, experiment, root, used, error);
    GPtrArray *declared = paths_of_inputs(workspace, expansion, experiment, error);
    if (!declared)
        return NULL;
    append_paths(used, declared);
    g_ptr_array_sort(used, orch_compare_texts);
    return tree_of(workspace, used, error);
}

/* ---- the fingerprint --------------------------------------------------------------------------
 */

static json_t *public_params(const struct orch_cell *cell)
{
    json_t *out = json_object();
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        if (!spec || orch_cell_identifies(cell, spec))
            json_object_set(out, name, value);
    }
    return out;
}

static int compare_inputs(const void *a, const void *b)
{
    const struct orch_checked_input *x = *(struct orch_checked_input *const *)a;
    const struct orch_checked_input *y = *(struct orch_checked_input *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->sha256, y->sha256);
}

/* A word of a command with a secret in it. Digests over the words are published, and would betray a
 * short secret; so it enters as a digest with the key of this machine. New reference. */
static json_t *keyed_word(const char *word, const char *secret)
{
    g_autofree char *digest = orch_local_key_digest(secret);
    return json_sprintf("%.*s%s", (int)(secret - word), word, digest);
}

/* The words of an experiment's own command (`program:`): they are in the recipe, which is not part
 * of the inputs' tree. Paths below `root` are made relative to it, because its location differs
 * between machines. NULL when the command comes from a manifest, which is among the inputs. New
 * reference. */
static json_t *command_json(const struct orch_experiment *experiment, const char *root)
{
    if (!experiment->program)
        return NULL;
    json_t *words = json_array();
    char *const *argv = experiment->manifest->argv;
    for (size_t i = 0; argv && argv[i]; i++) {
        const char *secret = orch_secret_in_word((const char *const *)argv, i);
        const char *relative = root ? below(root, argv[i]) : NULL;
        json_array_append_new(words, secret ? keyed_word(argv[i], secret)
                                            : json_string(relative ? relative : argv[i]));
    }
    return words;
}

char *orch_command_id(const struct orch_experiment *experiment, const char *root)
{
    g_autoptr(json_t) words = command_json(experiment, root);
    if (!words)
        return NULL;
    g_autofree char *text = orch_json_canonical(words);
    char id[ORCH_SHA256_CHARS];
    orch_sha256(text, strlen(text), id);
    return g_strdup(id);
}

void orch_fingerprint(const struct orch_cell *cell, const GPtrArray *inputs, const char *inputs_id,
                      const char *root, const struct orch_fingerprint_ref *refs, size_t ref_count,
                      char out[65])
{
    const struct orch_manifest *manifest = cell->experiment->manifest;
    g_autoptr(json_t) read = json_array();
    if (inputs && inputs->len) {
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();
        for (guint i = 0; i < inputs->len; i++)
            g_ptr_array_add(sorted, inputs->pdata[i]);
        g_ptr_array_sort(sorted, compare_inputs);
        for (guint i = 0; i < sorted->len; i++) {
            const struct orch_checked_input *input = sorted->pdata[i];
            json_array_append_new(read, json_pack("[ss]", input->name, input->sha256));
        }
    }
    g_autoptr(json_t) referred = json_array();
    for (size_t i = 0; i < ref_count; i++)
        json_array_append_new(
            referred, json_pack("[sss]", refs[i].param, refs[i].artifact, refs[i].fingerprint));
    g_autoptr(json_t) command = command_json(cell->experiment, root);
    g_autoptr(json_t) all = json_pack(
        "[s s s o o O O s]", FINGERPRINT_FORMAT, manifest->name, manifest->version,
        public_params(cell), orch_json_u64(cell->seed), read, referred, inputs_id ? inputs_id : "");
    if (command)
        json_array_append(all, command);
    if (manifest->kind == ORCH_PLUGIN_WRAPPED && manifest->metrics_on)
        json_array_append_new(
            all, json_pack("{s:s}", "metrics_on", ORCH_METRICS_ON_NAMES[manifest->metrics_on]));
    if (cell->experiment->ranks) /* ranks that follow from the parameters are in those */
        json_array_append_new(all, json_pack("{s:i}", "ranks", (int)cell->experiment->ranks));
    g_autofree char *text = orch_json_canonical(all);
    orch_sha256(text, strlen(text), out);
}
