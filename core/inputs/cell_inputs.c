/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the captured tree holds counts by the tree, everything else by its own digest
 * (content_digest.h). Digests are cached by path. */
#include "core/inputs/inputs.h"

#include "core/inputs/content_digest.h"
#include "core/inputs/scripts.h"
#include "core/recipe/output_words.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The search for the inputs of one trial. */
struct naming {
    struct orch_inputs *all;
    const char *experiment; /* its name */
    const char *tree;       /* NULL outside of a repository */
    GHashTable *files;
    struct orch_own_outputs *outputs;
    GPtrArray *inputs;
    GPtrArray *elsewhere; /* char *; not NULL: only paths outside that are no inputs are added */
};

static bool is_folder(const struct orch_inputs *all, const char *path)
{
    guint first;
    return orch_inputs_below(all, path, &first) > 0;
}

/* Digest of a file's bytes, or of a folder's tree id. NULL: the tree has no such path, or it cannot
 * be read. The caller frees. */
static char *digest_of(struct orch_inputs *all, const char *tree, GHashTable *files,
                       const char *path)
{
    char digest[ORCH_SHA256_CHARS];
    if (g_hash_table_contains(files, path)) {
        g_autofree char *full = g_build_filename(all->workspace->root, path, NULL);
        return orch_file_sha256(full, digest, NULL, NULL) ? g_strdup(digest) : NULL;
    }
    if (!tree || !is_folder(all, path))
        return NULL;
    const char *const paths[] = {path, NULL};
    g_autofree char *id = orch_vcs_subtree(all->workspace->vcs, tree, paths, NULL);
    if (!id)
        return NULL;
    orch_sha256(id, strlen(id), digest);
    return g_strdup(digest);
}

static bool has_input(const GPtrArray *inputs, const char *name)
{
    for (guint i = 0; inputs && i < inputs->len; i++)
        if (strcmp(((const struct orch_checked_input *)inputs->pdata[i])->name, name) == 0)
            return true;
    return false;
}

static void add_input(GPtrArray *inputs, const char *path, const char *sha256)
{
    if (has_input(inputs, path))
        return;
    /* one allocation, like the other elements: the name follows the struct */
    struct orch_checked_input *input = g_malloc0(sizeof *input + strlen(path) + 1);
    input->name = strcpy((char *)(input + 1), path);
    g_strlcpy(input->sha256, sha256, sizeof input->sha256);
    g_ptr_array_add(inputs, input);
}

/* Adds a path of the tree with the digest of its content, when the tree has it. */
static void add_content(struct naming *n, const char *path)
{
    struct orch_inputs *all = n->all;
    const char *known = g_hash_table_lookup(all->files.path_digests, path);
    if (!known) {
        char *digest = digest_of(all, n->tree, n->files, path);
        known = digest ? digest : g_strdup("");
        g_hash_table_insert(all->files.path_digests, g_strdup(path), (gpointer)(uintptr_t)known);
    }
    if (*known)
        add_input(n->inputs, path, known);
}

/* The name of an input: relative to the repository when it lies there. Borrowed. */
static const char *name_of(const struct naming *n, const char *absolute)
{
    const char *relative = orch_path_below(absolute, n->all->workspace->root);
    return relative ? relative : absolute;
}

/* Keeps among the digests what is not compared of an input. */
static void note_extent(struct orch_inputs *all, const char *name, const char *absolute,
                        enum orch_digest_extent extent)
{
    bool is_folder = g_file_test(absolute, G_FILE_TEST_IS_DIR);
    g_autofree char *part = extent == ORCH_DIGEST_PART
                                ? g_strdup_printf("; only its first %d files", ORCH_DIGEST_ENTRIES)
                                : g_strdup("");
    char *text = g_strdup_printf("%s is too large to be read: compared by %s%s", name,
                                 is_folder ? "names, sizes and times" : "size and time", part);
    g_hash_table_insert(all->files.path_digests, g_strconcat(ORCH_KNOWN_EXTENT, name, NULL), text);
}

char *orch_cell_inputs_not_checked(const struct orch_inputs *all, const GPtrArray *inputs)
{
    const char *first = NULL;
    unsigned count = 0;
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_checked_input *input = inputs->pdata[i];
        g_autofree char *key = g_strconcat(ORCH_KNOWN_EXTENT, input->name, NULL);
        const char *text = g_hash_table_lookup(all->files.path_digests, key);
        count += text != NULL;
        first = first ? first : text;
    }
    return count > 1 ? g_strdup_printf("%s (and %u more)", first, count - 1) : g_strdup(first);
}

/* Adds a file, or the files below a folder, that the captured tree does not have. */
static void add_others(struct naming *n, const char *absolute)
{
    const char *name = name_of(n, absolute);
    g_autofree char *key = g_strconcat(absolute, "\n", n->experiment, NULL); /* whose outputs */
    const char *known = g_hash_table_lookup(n->all->files.path_digests, key);
    if (g_hash_table_contains(n->files, name))
        return;
    bool is_shared = name != absolute && is_folder(n->all, name);
    g_autofree char *rest = is_shared ? g_strconcat(name, "/", NULL) : g_strdup(name);
    if (!known) {
        enum orch_digest_extent extent;
        bool is_output = !g_file_test(absolute, G_FILE_TEST_IS_DIR) &&
                         orch_own_outputs_has(n->outputs, absolute, name);
        char *digest = is_output ? NULL
                                 : orch_named_digest(absolute, n->all->workspace->root, n->files,
                                                     n->outputs, n->all->digests, &extent);
        known = digest ? digest : g_strdup("");
        g_hash_table_insert(n->all->files.path_digests, g_steal_pointer(&key),
                            (gpointer)(uintptr_t)known);
        if (digest && extent != ORCH_DIGEST_WHOLE)
            note_extent(n->all, rest, absolute, extent);
    }
    if (*known)
        add_input(n->inputs, rest, known);
}

/* The files that a command uses besides those that it names: a set of paths, relative for those of
 * the tree and absolute for others. `name` stands for the command. Borrowed. */
static GHashTable *used_files(struct naming *n, const char *name, char *const *words,
                              const char *folder)
{
    struct orch_inputs *all = n->all;
    g_autofree char *key = g_strconcat(name, "\n", n->experiment, NULL); /* whose outputs */
    GHashTable *set = g_hash_table_lookup(all->files.script_files, key);
    if (set)
        return set;
    struct orch_used_files used;
    orch_used_files_init(&used);
    orch_command_files(all->workspace->root, folder, words, all->files.tree_paths,
                       all->files.tree_files, &used);
    set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTable *const sets[] = {used.code, used.ignored, used.data};
    for (size_t i = 0; i < G_N_ELEMENTS(sets); i++) {
        GHashTableIter iter;
        gpointer path;
        g_hash_table_iter_init(&iter, sets[i]);
        while (g_hash_table_iter_next(&iter, &path, NULL))
            if (sets[i] != used.data || !orch_own_outputs_has(n->outputs, path, NULL))
                g_hash_table_add(set, g_strdup(path));
    }
    orch_used_files_clear(&used);
    g_hash_table_insert(all->files.script_files, g_strdup(key), set);
    return set;
}

/* Adds the files of such a set: all of them, or only those that the tree does not have. */
static void add_used(struct naming *n, GHashTable *used, bool has_tree)
{
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, used);
    while (g_hash_table_iter_next(&iter, &path, NULL)) {
        const char *name = name_of(n, path);
        if (!g_hash_table_contains(n->files, name))
            add_others(n, path);
        else if (has_tree)
            add_content(n, name);
    }
}

/* Adds the file or folder at an absolute path, and for a script the files it uses. `has_tree`: also
 * when the tree has it. */
static void add_path(struct naming *n, const char *absolute, bool has_tree)
{
    const char *name = name_of(n, absolute);
    if (n->elsewhere) {
        if (name == absolute && !has_input(n->inputs, name) &&
            !orch_input_is_excluded(absolute, n->all->workspace->root))
            g_ptr_array_add(n->elsewhere, g_strdup(absolute));
        return;
    }
    if (name != absolute && has_tree)
        add_content(n, name);
    add_others(n, absolute);
    if (orch_script_language_of(name) == ORCH_SCRIPT_NONE || name == absolute || !has_tree)
        return;
    char *words[] = {(char *)(uintptr_t)absolute, NULL};
    add_used(n, used_files(n, name, words, n->all->expansion->folder), true);
}

json_t *orch_cell_absolute_params(const struct orch_inputs *all, const struct orch_cell *cell)
{
    json_t *params = json_copy(cell->params);
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        const char *text = json_string_value(value);
        if (!spec || (spec->type != ORCH_PATH && spec->type != ORCH_ARTIFACT) || !text || !*text)
            continue;
        g_autofree char *absolute = orch_path_absolute(text, all->expansion->folder);
        json_object_set_new(params, name, json_string(absolute));
    }
    return params;
}

/* A path without links; NULL when nothing lies there. The caller frees. */
static char *real_path(const char *path)
{
    char *found = realpath(path, NULL), *real = g_strdup(found);
    free(found);
    return real;
}

/* The path of what a word names, as the program finds it: '..' behind a link is that of the link's
 * target, and a file of the repository that is named by another path, as through a link, has the
 * repository's. The caller frees. */
static char *path_of(const struct naming *n, const char *text, const char *folder)
{
    const char *root = n->all->workspace->root;
    g_autofree char *plain = orch_path_absolute(text, folder);
    bool is_below = orch_path_within(plain, root);
    if (is_below && !strstr(text, ".."))
        return g_steal_pointer(&plain);
    g_autofree char *joined =
        g_path_is_absolute(text) ? g_strdup(text) : g_build_filename(folder, text, NULL);
    g_autofree char *real = real_path(joined), *real_plain = real_path(plain);
    g_autofree char *real_root = real_path(root);
    const char *inside = real && real_root ? orch_path_within(real, real_root) : NULL;
    bool is_meant = g_strcmp0(real, real_plain) == 0;
    if (!real || (is_meant && (is_below || !inside)))
        return g_steal_pointer(&plain);
    return inside ? g_build_filename(root, inside, NULL) : g_steal_pointer(&real);
}

/* Adds the path that a word of the command names after substitution: the word itself, or the part
 * after "--data=". Words without parameters and without "=" are the same in every trial, so files
 * of the tree that they name are covered by orch_inputs_id. */
static void add_word(struct naming *n, const char *word, const char *folder, const json_t *params)
{
    g_autofree char *text = orch_value_expand(word, params, NULL);
    if (!text || !*text)
        return;
    g_autofree char *whole = path_of(n, text, folder);
    const char *equals = strchr(text, '=');
    bool varies = strstr(word, "${") || equals;
    add_path(n, whole, varies);
    if (equals && equals[1]) {
        g_autofree char *behind = path_of(n, equals + 1, folder);
        add_path(n, behind, true);
    }
}

/* True for the interpreter that a command begins with: the environment record describes it. */
static bool is_interpreter(const char *word)
{
    static const char *const names[] = {"python", "pypy", "Rscript", "julia", "bash", "sh", "env"};
    g_autofree char *name = g_path_get_basename(word);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_has_prefix(name, names[i]) && orch_script_language_of(name) == ORCH_SCRIPT_NONE)
            return true;
    return false;
}

/* Adds the paths that the parameters of type path and the words of the command name. */
static void add_paths(struct naming *n, const struct orch_cell *cell)
{
    const struct orch_experiment *experiment = cell->experiment;
    const struct orch_manifest *manifest = experiment->manifest;
    g_autoptr(json_t) params = orch_cell_absolute_params(n->all, cell);
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        const char *text = json_string_value(json_object_get(params, spec->name));
        g_autofree char *option = g_strconcat("--", spec->name, NULL);
        bool is_path = spec->type == ORCH_PATH || (n->elsewhere && spec->type == ORCH_ARTIFACT);
        if (is_path && text && *text && !(spec->flags & ORCH_PARAM_NEUTRAL) &&
            !orch_word_is_output(option, text))
            add_path(n, text, true);
    }
    g_autofree char *folder = orch_experiment_folder(n->all->expansion, experiment);
    for (char **word = manifest->argv; word && *word; word++)
        if (word == manifest->argv ? !is_interpreter(*word) : !orch_word_is_output(word[-1], *word))
            add_word(n, *word, folder, params);
}

/* Adds these, and the files that the command's scripts use. */
static void add_named(struct naming *n, const struct orch_cell *cell)
{
    const struct orch_experiment *experiment = cell->experiment;
    const struct orch_manifest *manifest = experiment->manifest;
    add_paths(n, cell);
    g_autofree char *folder = orch_experiment_folder(n->all->expansion, experiment);
    bool is_inside = strcmp(folder, n->all->workspace->root) == 0 || *name_of(n, folder) != '/';
    if (n->tree && !orch_plugin_is_ours(manifest) && is_inside)
        add_used(n, used_files(n, "", manifest->argv, folder), false);
}

/* The files and folders of `inputs:` that the captured tree does not have: a set of paths, looked
 * up once for an experiment. Borrowed; NULL on error. */
static GHashTable *declared(struct orch_inputs *all, const struct orch_experiment *experiment,
                            GError **error)
{
    g_autofree char *key = g_strconcat("inputs of ", experiment->name, NULL);
    GHashTable *set = g_hash_table_lookup(all->files.script_files, key);
    if (set)
        return set;
    g_autoptr(GPtrArray) paths = orch_inputs_not_captured(all, experiment, error);
    if (!paths)
        return NULL;
    set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < paths->len; i++)
        g_hash_table_add(set, g_strdup(paths->pdata[i]));
    g_hash_table_insert(all->files.script_files, g_strdup(key), set);
    return set;
}

bool orch_cell_inputs(struct orch_inputs *all, const struct orch_cell *cell, GPtrArray *inputs,
                      GError **error)
{
    const struct orch_experiment *experiment = cell->experiment;
    bool is_wrapped = experiment->manifest->kind == ORCH_PLUGIN_WRAPPED;
    if (!is_wrapped && !experiment->inputs)
        return true;
    const struct orch_source *source = orch_workspace_source(all->workspace, error);
    bool is_read = source && orch_inputs_read_tree(all, error);
    GHashTable *others = is_read ? declared(all, experiment, error) : NULL;
    if (!others)
        return false;
    struct naming n = {.all = all,
                       .experiment = experiment->name,
                       .tree = source->tree,
                       .files = all->files.tree_files,
                       .outputs = orch_inputs_outputs(all, experiment),
                       .inputs = inputs};
    if (is_wrapped)
        add_named(&n, cell);
    add_used(&n, others, false);
    return true;
}

void orch_cell_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                         GPtrArray *paths)
{
    struct naming n = {.all = all, .inputs = trial->list, .elsewhere = paths};
    add_paths(&n, trial->cell);
}

char *orch_input_names(const char *first, unsigned count)
{
    return count == 1 ? g_strdup(first) : g_strdup_printf("%s and %u more", first, count - 1);
}

bool orch_input_is_code(const char *absolute)
{
    static const char *const sources[] = {".c",  ".cc", ".cpp", ".cu",   ".cuh",  ".f90",   ".go",
                                          ".h",  ".hh", ".hpp", ".java", ".m",    ".ipynb", ".pyx",
                                          ".rs", ".so", ".nf",  ".smk",  ".scala"};
    if (orch_script_language_of(absolute) != ORCH_SCRIPT_NONE)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
        if (g_str_has_suffix(absolute, sources[i]))
            return true;
    char start[3] = "";
    FILE *file = orch_file_open_stream(absolute, NULL);
    if (!file)
        return false;
    bool is_script = fread(start, 1, 2, file) == 2 && strcmp(start, "#!") == 0;
    fclose(file);
    return is_script || access(absolute, X_OK) == 0;
}
