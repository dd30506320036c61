/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modules are searched where Python would search: next to the script, in the command's folder, in
 * PYTHONPATH and, for packages installed in place (pip install -e), at the root and in its src
 * folder. A script that changes sys.path may import from any folder, so every file of the module's
 * name is added: a superfluous file costs a run, but a missing one gives a wrong result. */
#include "core/inputs/scripts.h"

#include "core/inputs/content_digest.h"
#include "core/recipe/output_words.h"
#include "lib/base/file.h"

#include <string.h>

enum { SCRIPT_BYTES_MAX = 1 << 20 };

/* The search for the files of one command. */
struct search {
    const char *root, *folder;
    const GPtrArray *files;
    GHashTable *known; /* the set of `files` */
    struct orch_used_files *found;
    GPtrArray *left; /* char *: files chosen but not read yet, */
    GPtrArray
        *script_folders; /* char *: and for each the folder of the script that it was found from */
    GPtrArray *folders;  /* char *: searched for modules after that folder */
    bool sets_path;
};

/* "a/b" of "a" and "b"; "" is the root. */
static char *joined(const char *folder, const char *name)
{
    return *folder ? g_strconcat(folder, "/", name, NULL) : g_strdup(name);
}

/* The folder of a file, "" for the root. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? g_strndup(path, (gsize)(slash - path)) : g_strdup("");
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* Adds a file below the root that is no candidate, because git ignores it; false when there is
 * none. */
static bool add_ignored(struct search *search, const char *path, bool *out_is_new)
{
    g_autofree char *full = g_build_filename(search->root, path, NULL);
    if (!*path || orch_input_is_excluded(full, search->root) ||
        !g_file_test(full, G_FILE_TEST_IS_REGULAR))
        return false;
    *out_is_new = g_hash_table_add(search->found->ignored, g_steal_pointer(&full));
    return true;
}

/* Adds a file of the repository; false when there is none. `home`: folder of the script it was
 * found from; NULL: the file is itself a started script. */
static bool choose(struct search *search, const char *path, const char *home)
{
    bool is_new = false;
    if (g_hash_table_contains(search->known, path))
        is_new = g_hash_table_add(search->found->code, g_strdup(path));
    else if (!add_ignored(search, path, &is_new))
        return false;
    if (is_new) {
        g_ptr_array_add(search->left, g_strdup(path));
        g_ptr_array_add(search->script_folders, home ? g_strdup(home) : folder_of(path));
    }
    return true;
}

/* Adds the file that a text names, relative to `folder` (absolute). */
static bool choose_from(struct search *search, const char *folder, const char *text)
{
    g_autofree char *absolute = orch_path_absolute(text, folder);
    const char *path = orch_path_within(absolute, search->root);
    return path && choose(search, path, NULL);
}

/* ---- modules ----------------------------------------------------------------------------------
 */

/* Suffixes that turn "a/b/c" into the files of that module. */
static const char *const MODULE_ENDS[] = {".py", "/__init__.py"};

/* Adds the files of module "a/b/c". */
static bool choose_module_file(struct search *search, const char *place, const char *home)
{
    bool is_found = false;
    for (size_t i = 0; i < G_N_ELEMENTS(MODULE_ENDS); i++) {
        g_autofree char *path = g_strconcat(place, MODULE_ENDS[i], NULL);
        is_found = choose(search, path, home) || is_found;
    }
    return is_found;
}

/* Adds the packages that contain a module, because Python runs them first. */
static void choose_parents(struct search *search, const char *folder, const char *module,
                           const char *home)
{
    for (const char *slash = strchr(module, '/'); slash; slash = strchr(slash + 1, '/')) {
        g_autofree char *package = g_strndup(module, (gsize)(slash - module));
        g_autofree char *place = joined(folder, package);
        g_autofree char *path = g_strconcat(place, "/__init__.py", NULL);
        choose(search, path, home);
    }
}

/* Adds every module directly in a package, for `from package import *`. */
static void choose_package(struct search *search, const char *place, const char *home)
{
    for (guint i = 0; i < search->files->len; i++) {
        g_autofree char *folder = folder_of(search->files->pdata[i]);
        if (strcmp(folder, place) == 0 && g_str_has_suffix(search->files->pdata[i], ".py"))
            choose(search, search->files->pdata[i], home);
    }
}

/* Adds module "a/b" of a folder, with the packages that contain it. */
static bool choose_module_in(struct search *search, const char *folder, const char *module,
                             bool is_whole, const char *home)
{
    g_autofree char *place = *module ? joined(folder, module) : g_strdup(folder);
    g_autofree char *package = joined(place, "__init__.py");
    bool is_found =
        *module ? choose_module_file(search, place, home) : choose(search, package, home);
    if (is_found)
        choose_parents(search, folder, module, home);
    if (is_whole && g_hash_table_contains(search->known, package))
        choose_package(search, place, home);
    return is_found;
}

/* Adds every file of the repository whose path ends like the module. */
static void choose_module_anywhere(struct search *search, const char *module, const char *home)
{
    for (size_t i = 0; i < G_N_ELEMENTS(MODULE_ENDS); i++) {
        g_autofree char *end = g_strconcat("/", module, MODULE_ENDS[i], NULL);
        for (guint j = 0; j < search->files->len; j++)
            if (g_str_has_suffix(search->files->pdata[j], end))
                choose(search, search->files->pdata[j], home);
    }
}

static void choose_absolute(struct search *search, const char *module, bool is_whole,
                            const char *home)
{
    if (choose_module_in(search, home, module, is_whole, home))
        return;
    for (guint i = 0; i < search->folders->len; i++)
        if (choose_module_in(search, search->folders->pdata[i], module, is_whole, home))
            return;
    if (search->sets_path)
        choose_module_anywhere(search, module, home);
}

/* Adds the files that `path`, found from a script in `home`, imports. */
static void choose_import(struct search *search, const struct orch_script_import *import,
                          const char *path, const char *home)
{
    g_autofree char *module = g_strdelimit(g_strdup(import->module), ".", '/');
    if (!import->level) {
        choose_absolute(search, module, import->is_whole, home);
        return;
    }
    g_autofree char *folder = folder_of(path);
    for (unsigned up = 1; up < import->level && *folder; up++) {
        char *outer = folder_of(folder);
        g_free(folder);
        folder = outer;
    }
    choose_module_in(search, folder, module, import->is_whole, home);
}

static void add_folder(struct search *search, const char *absolute)
{
    const char *path = orch_path_within(absolute, search->root);
    if (path && !g_ptr_array_find_with_equal_func(search->folders, path, g_str_equal, NULL))
        g_ptr_array_add(search->folders, g_strdup(path));
}

/* ---- data -------------------------------------------------------------------------------------
 */

/* Adds a file that a literal text of a script names. A folder is searched for modules, in case the
 * script adds it to sys.path. */
static bool add_data(struct search *search, const char *base, const char *text, bool sets_path)
{
    g_autofree char *absolute = orch_path_absolute(text, base);
    if (orch_input_is_excluded(absolute, search->root))
        return false;
    if (g_file_test(absolute, G_FILE_TEST_IS_REGULAR))
        return g_hash_table_add(search->found->data, g_steal_pointer(&absolute)), true;
    if (sets_path && g_file_test(absolute, G_FILE_TEST_IS_DIR))
        add_folder(search, absolute);
    return false;
}

/* ---- scripts ----------------------------------------------------------------------------------
 */

static void follow(struct search *search, const struct orch_script_uses *uses, const char *path,
                   const char *home)
{
    search->sets_path = search->sets_path || uses->sets_path;
    g_autofree char *folder = folder_of(path);
    g_autofree char *beside = g_build_filename(search->root, folder, NULL);
    for (guint i = 0; i < uses->data->len; i++)
        if (!add_data(search, search->folder, uses->data->pdata[i], uses->sets_path))
            add_data(search, beside, uses->data->pdata[i], uses->sets_path);
    for (guint i = 0; i < uses->imports->len; i++)
        choose_import(search, uses->imports->pdata[i], path, home);
    for (guint i = 0; i < uses->paths->len; i++)
        if (!choose_from(search, beside, uses->paths->pdata[i]))
            choose_from(search, search->folder, uses->paths->pdata[i]);
}

static void follow_text(struct search *search, enum orch_script_language language, const char *text,
                        const char *path, const char *home)
{
    struct orch_script_uses *uses = orch_script_uses_read(language, text);
    follow(search, uses, path, home);
    orch_script_uses_free(uses);
}

/* True for the suffix of a script, and for files without a suffix, whose first line may name an
 * interpreter. */
static bool may_be_script(const char *path)
{
    const char *slash = strrchr(path, '/');
    return orch_script_language_of(path) != ORCH_SCRIPT_NONE || !strchr(slash ? slash : path, '.');
}

static void follow_file(struct search *search, const char *path, const char *home)
{
    g_autofree char *full = g_build_filename(search->root, path, NULL);
    g_autofree char *text = NULL;
    enum orch_script_language language = orch_script_language_of(path);
    if (!may_be_script(path) || !orch_file_read(full, SCRIPT_BYTES_MAX, &text, NULL, NULL))
        return;
    if (language == ORCH_SCRIPT_NONE)
        language = orch_script_language_of_text(text);
    follow_text(search, language, text, path, home);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* Follows "-m package.module", "-c TEXT", and a word that names a file or a folder with
 * __main__.py. */
static void follow_word(struct search *search, const char *folder, char *const *argv, int index)
{
    const char *word = argv[index], *before = index ? argv[index - 1] : "";
    g_autofree char *absolute = orch_path_absolute(word, search->folder);
    const char *path = orch_path_within(absolute, search->root);
    g_autofree char *inside = path ? joined(path, "__main__.py") : NULL;
    if (strcmp(before, "-c") == 0) {
        g_autofree char *program = g_path_get_basename(argv[0]);
        g_autofree char *at = joined(folder, "command");
        bool is_python = g_str_has_prefix(program, "python");
        follow_text(search, is_python ? ORCH_SCRIPT_PYTHON : ORCH_SCRIPT_SHELL, word, at, folder);
    } else if (strcmp(before, "-m") == 0) {
        g_autofree char *module = g_strdelimit(g_strdup(word), ".", '/');
        g_autofree char *main = g_strconcat(module, "/__main__", NULL);
        choose_absolute(search, module, false, folder);
        choose_absolute(search, main, false, folder);
    } else if (path && !orch_word_is_output(before, word) && !choose(search, path, NULL)) {
        choose(search, inside, NULL);
    }
}

/* Sets the folders that are searched for modules besides the script's own. */
static void set_folders(struct search *search)
{
    g_auto(GStrv) listed =
        g_strsplit(g_getenv("PYTHONPATH") ? g_getenv("PYTHONPATH") : "", ":", -1);
    add_folder(search, search->folder);
    for (int i = 0; listed[i]; i++) {
        g_autofree char *absolute = orch_path_absolute(listed[i], search->folder);
        add_folder(search, absolute);
    }
    g_autofree char *near = g_build_filename(search->folder, "src", NULL);
    g_autofree char *far = g_build_filename(search->root, "src", NULL);
    add_folder(search, near);
    add_folder(search, search->root);
    add_folder(search, far);
}

static void search_once(struct search *search, char *const *argv)
{
    const char *folder = orch_path_within(search->folder, search->root);
    for (int i = 0; argv && argv[i]; i++)
        follow_word(search, folder ? folder : "", argv, i);
    while (search->left->len) {
        g_autofree char *path = g_ptr_array_steal_index(search->left, search->left->len - 1);
        g_autofree char *home =
            g_ptr_array_steal_index(search->script_folders, search->script_folders->len - 1);
        follow_file(search, path, home);
    }
}

void orch_used_files_init(struct orch_used_files *used)
{
    used->code = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    used->ignored = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    used->data = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void orch_used_files_clear(struct orch_used_files *used)
{
    g_clear_pointer(&used->code, g_hash_table_unref);
    g_clear_pointer(&used->ignored, g_hash_table_unref);
    g_clear_pointer(&used->data, g_hash_table_unref);
}

/* Copies the texts of a set to another. */
static void join_set(GHashTable *to, GHashTable *from)
{
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, from);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        g_hash_table_add(to, g_strdup(path));
}

void orch_command_files(const char *root, const char *folder, char *const *argv,
                        const GPtrArray *files, GHashTable *known, struct orch_used_files *used)
{
    struct search search = {.root = root, .folder = folder, .files = files, .known = known};
    search.left = g_ptr_array_new_with_free_func(g_free);
    search.script_folders = g_ptr_array_new_with_free_func(g_free);
    search.folders = g_ptr_array_new_with_free_func(g_free);
    set_folders(&search);
    bool set_before;
    do { /* a script that changes sys.path may be read after one that relies on the change */
        struct orch_used_files found;
        orch_used_files_init(&found);
        set_before = search.sets_path;
        search.found = &found;
        search_once(&search, argv);
        join_set(used->code, found.code);
        join_set(used->ignored, found.ignored);
        join_set(used->data, found.data);
        orch_used_files_clear(&found);
    } while (search.sets_path && !set_before);
    g_ptr_array_unref(search.left);
    g_ptr_array_unref(search.script_folders);
    g_ptr_array_unref(search.folders);
}
