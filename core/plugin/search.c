/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The current folder is never searched, nor are relative or empty parts of a path variable, because
 * the plugin found must not depend on the current folder. A plugin may be in a subfolder of its own
 * name, so that a wrapped program and its manifest stay together. */
#include "core/plugin/search.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const ENDINGS[] = {".so", ".plugin"};

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static void add_folder(GPtrArray *folders, char *path)
{
    if (!path)
        return;
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_free(path);
    for (guint i = 0; i < folders->len; i++)
        if (strcmp(folders->pdata[i], absolute) == 0)
            return;
    g_ptr_array_add(folders, g_steal_pointer(&absolute));
}

/* The folders in order, absolute, each once: `first` (--plugin-path), `base` and `base`/plugins,
 * $ORCH_PLUGIN_PATH (its absolute parts), $XDG_DATA_HOME/orch/plugins, and the installation's
 * folder. char *; the caller unrefs. `first` and `base` may be NULL. */
static GPtrArray *folders_of(const char *const *first, const char *base)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    for (; first && *first; first++)
        add_folder(folders, g_strdup(*first));
    if (base) {
        add_folder(folders, g_strdup(base));
        add_folder(folders, g_build_filename(base, "plugins", NULL));
    }
    const char *variable = g_getenv("ORCH_PLUGIN_PATH");
    g_auto(GStrv) parts = g_strsplit(variable ? variable : "", ":", -1);
    for (char **part = parts; *part; part++)
        if (g_path_is_absolute(*part))
            add_folder(folders, g_strdup(*part));
    add_folder(folders, g_build_filename(g_get_user_data_dir(), "orch", "plugins", NULL));
    add_folder(folders, orch_program_path("plugins", NULL));
    return folders;
}

static char *real_path(const char *path)
{
    char *found = realpath(path, NULL);
    char *copy = g_strdup(found);
    free(found);
    return copy;
}

bool orch_search_is_own(const char *path)
{
    g_autofree char *folder = orch_program_path("plugins", NULL);
    g_autofree char *real = folder ? real_path(folder) : NULL;
    return real && orch_path_below(path, real);
}

/* FOLDER/NAME.so or FOLDER/NAME.plugin; NULL when there is neither. */
static char *find_in(const char *folder, const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(ENDINGS); i++) {
        g_autofree char *file = g_strconcat(folder, "/", name, ENDINGS[i], NULL);
        if (is_kind(file, S_IFREG))
            return real_path(file);
    }
    return NULL;
}

static char *find_in_folder(const char *folder, const char *name)
{
    char *path = find_in(folder, name);
    if (path)
        return path;
    g_autofree char *own = g_build_filename(folder, name, NULL);
    return find_in(own, name);
}

/* The plugin name of a file, or NULL when it does not have the suffix of a plugin. */
static char *name_of(const char *file)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(ENDINGS); i++)
        if (g_str_has_suffix(file, ENDINGS[i]) && strlen(file) > strlen(ENDINGS[i]))
            return g_strndup(file, strlen(file) - strlen(ENDINGS[i]));
    return NULL;
}

/* What to do when there is no plugin file at the path `absolute`: name the plugin's other file
 * (NAME.so, NAME.plugin), build the plugin whose source is there, or check what paths are relative
 * to. The caller frees. */
static char *no_file_hint(const char *absolute)
{
    g_autofree char *folder = g_path_get_dirname(absolute);
    g_autofree char *last = g_path_get_basename(absolute);
    g_autofree char *name = name_of(last);
    g_autofree char *other = name ? find_in(folder, name) : NULL;
    if (other)
        return g_strdup_printf("did you mean '%s'?", other);
    g_autofree char *source = g_strconcat(folder, "/", name ? name : last, ".c", NULL);
    g_autofree char *makefile = g_build_filename(folder, "Makefile", NULL);
    if (is_kind(source, S_IFREG) && is_kind(makefile, S_IFREG))
        return g_strdup_printf("build it: make -C '%s'", folder);
    return g_strdup(
        "paths in a recipe begin at its folder, paths on the command line at the current one");
}

static char *find_path(const char *path, const char *base, GError **error)
{
    g_autofree char *absolute = orch_path_absolute(path, base);
    g_autofree char *last = g_path_get_basename(absolute);
    if (is_kind(absolute, S_IFDIR)) {
        char *found = find_in(absolute, last);
        if (!found)
            orch_error_set(error, ORCH_ERROR_PLUGIN, "name the file itself",
                           "folder '%s' has neither '%s.so' nor '%s.plugin'", path, last, last);
        return found;
    }
    g_autofree char *name = name_of(last);
    if (is_kind(absolute, S_IFREG) && name)
        return real_path(absolute);
    if (is_kind(absolute, S_IFREG))
        orch_error_set(error, ORCH_ERROR_PLUGIN,
                       "a plugin is a NAME.so or a NAME.plugin; to run a program, use 'program:'",
                       "'%s' is not the name of a plugin file", path);
    if (is_kind(absolute, S_IFREG))
        return NULL;
    g_autofree char *hint = no_file_hint(absolute);
    orch_error_set(error, ORCH_ERROR_NO_PLUGIN, hint, "no plugin at '%s': there is no file '%s'",
                   path, absolute);
    return NULL;
}

/* A plugin in the folder 'plugins' beside the recipe's folder, where 'orch plugin new' puts it when
 * it is called at the top of a project. NULL when there is none. */
static char *beside_hint(const char *name, const char *base)
{
    g_autofree char *folder = base ? g_build_filename(base, "..", "plugins", NULL) : NULL;
    g_autofree char *found = folder ? find_in_folder(folder, name) : NULL;
    if (!found)
        return NULL;
    g_autofree char *file = find_in(folder, name);
    g_autofree char *last = file ? g_path_get_basename(file) : g_strdup(name);
    return g_strdup_printf("it is in the folder beside the recipe's: write 'plugin: ../plugins/%s'",
                           last);
}

/* What a list in the installation's own plugin folder says about a plugin: the rest of its line, or
 * NULL. The caller frees. */
static char *listed(const char *list, const char *name)
{
    g_autofree char *folder = orch_program_path("plugins", NULL);
    g_autofree char *path = folder ? g_build_filename(folder, list, NULL) : NULL, *text = NULL;
    if (!path || !orch_file_read(path, 65536, &text, NULL, NULL))
        return NULL;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        char *rest = strchr(*line, '\t');
        if (rest && g_str_has_prefix(*line, name) && *line + strlen(name) == rest)
            return g_strdup(rest + 1);
    }
    return NULL;
}

/* How to get a plugin that comes with orch and is not here: a build tree lists the command for
 * each, since './build.sh run' builds only those of its recipe, and an installation lists those
 * that link MPI. Returns NULL for any other name. */
static char *unbuilt_hint(const char *name)
{
    g_autofree char *command = listed("unbuilt.tsv", name);
    if (command)
        return g_strdup_printf("'%s' comes with orch and is not built: %s", name, command);
    g_autofree char *library = listed("needs.tsv", name);
    return library ? g_strdup_printf("'%s' comes with orch and needs %s: %s", name, library,
                                     orch_program_way(ORCH_PART_MPI))
                   : NULL;
}

static char *not_found_hint(const char *const *first, const char *name, const char *base)
{
    char *unbuilt = unbuilt_hint(name);
    if (unbuilt)
        return unbuilt;
    g_autoptr(GPtrArray) hits = orch_search_list(first, base);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < hits->len; i++) {
        const struct orch_search_hit *hit = hits->pdata[i];
        g_ptr_array_add(names, hit->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *bare = name_of(name);
    if (bare)
        return g_strdup_printf("write '%s' for a plugin on the search path, './%s' for a file",
                               bare, name);
    char *hint = beside_hint(name, base);
    if (!hint)
        hint = orch_suggest_hint(name, (const char *const *)names->pdata);
    return hint ? hint : g_strdup(orch_advice(ORCH_ADVICE_NO_PLUGIN, "see 'orch plugin ls'"));
}

/* Finds a name in the installation's own plugin folder. */
static char *find_own(const char *name)
{
    g_autofree char *folder = orch_program_path("plugins", NULL);
    return folder ? find_in_folder(folder, name) : NULL;
}

/* Fails for a file with the same name as one of orch's own plugins, so that neither silently
 * replaces the other. */
static void complain_of_twin(const char *name, const char *own, const char *other, const char *base,
                             GError **error)
{
    g_autofree char *real = base ? real_path(base) : NULL;
    bool is_beside = real && orch_path_below(other, real);
    g_autofree char *hint =
        g_strdup_printf("to use that file, write 'plugin: %s%s'", is_beside ? "." : "",
                        is_beside ? other + strlen(real) : other);
    orch_error_set(error, ORCH_ERROR_PLUGIN, hint,
                   "plugin '%s' comes with orch ('%s'), and the file '%s' has the same name", name,
                   own, other);
}

char *orch_search_find(const char *const *first, const char *name, const char *base, GError **error)
{
    if (strchr(name, '/'))
        return find_path(name, base, error);
    g_autoptr(GPtrArray) folders = folders_of(first, base);
    bool is_valid = orch_name_is_valid(name, true);
    g_autofree char *own = is_valid ? find_own(name) : NULL;
    for (guint i = 0; i < folders->len && is_valid; i++) {
        char *path = find_in_folder(folders->pdata[i], name);
        if (path && own && strcmp(path, own) != 0) {
            complain_of_twin(name, own, path, base, error);
            g_clear_pointer(&path, g_free);
            return NULL;
        }
        if (path)
            return path;
    }
    g_autofree char *hint = not_found_hint(first, name, base);
    g_ptr_array_add(folders, NULL);
    g_autofree char *where = g_strjoinv(", ", (char **)folders->pdata);
    orch_error_set(error, ORCH_ERROR_NO_PLUGIN, hint, "no plugin '%s' in %s", name, where);
    return NULL;
}

/* ---- listing ------------------------------------------------------------------------------ */

static void search_hit_free(void *pointer)
{
    struct orch_search_hit *hit = pointer;
    g_free(hit->name);
    g_free(hit->path);
    g_free(hit->shadowed_by);
    g_free(hit);
}

/* Adds a file unless the same file was added before. Takes over `path`. */
static void add_hit(GPtrArray *hits, const char *name, char *path)
{
    const char *winner = NULL;
    for (guint i = 0; path && i < hits->len; i++) {
        const struct orch_search_hit *hit = hits->pdata[i];
        if (strcmp(hit->name, name) != 0)
            continue;
        winner = winner ? winner : hit->path;
        if (strcmp(hit->path, path) == 0)
            g_clear_pointer(&path, g_free);
    }
    if (!path)
        return;
    struct orch_search_hit *hit = g_new0(struct orch_search_hit, 1);
    hit->name = g_strdup(name);
    hit->path = path;
    hit->shadowed_by = g_strdup(winner);
    g_ptr_array_add(hits, hit);
}

/* The distinct plugin names in a folder, sorted. */
static GPtrArray *names_in(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir))) {
        char *name = name_of(entry);
        if (!name)
            name = g_strdup(entry); /* possibly a subfolder of the plugin's own name */
        if (orch_name_is_valid(name, true) &&
            !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, name);
        else
            g_free(name);
    }
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

static void add_hits_of_folder(GPtrArray *hits, const char *folder)
{
    g_autoptr(GPtrArray) names = names_in(folder);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *own = g_build_filename(folder, name, NULL);
        const char *const places[] = {folder, own};
        for (unsigned j = 0; j < G_N_ELEMENTS(places) * G_N_ELEMENTS(ENDINGS); j++) {
            g_autofree char *file = g_strconcat(places[j / 2], "/", name, ENDINGS[j % 2], NULL);
            if (is_kind(file, S_IFREG))
                add_hit(hits, name, real_path(file));
        }
    }
}

static gint compare_hits(gconstpointer a, gconstpointer b)
{
    const struct orch_search_hit *x = *(struct orch_search_hit *const *)a;
    const struct orch_search_hit *y = *(struct orch_search_hit *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->shadowed_by != NULL) - (y->shadowed_by != NULL);
}

GPtrArray *orch_search_list(const char *const *first, const char *base)
{
    GPtrArray *hits = g_ptr_array_new_with_free_func(search_hit_free);
    g_autoptr(GPtrArray) folders = folders_of(first, base);
    g_autofree char *own = orch_program_path("plugins", NULL);
    if (own)
        add_hits_of_folder(hits, own);
    for (guint i = 0; i < folders->len; i++)
        if (g_strcmp0(folders->pdata[i], own) != 0)
            add_hits_of_folder(hits, folders->pdata[i]);
    g_ptr_array_sort(hits, compare_hits); /* stable: the rest stays in search order */
    return hits;
}

bool orch_search_is_safe(const char *path, GError **error)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        orch_error_set_errno(error, ORCH_ERROR_PLUGIN, errno, "cannot read plugin '%s'", path);
        return false;
    }
    if (!(st.st_mode & S_IWOTH))
        return true;
    g_autofree char *hint = g_strdup_printf("chmod o-w '%s'", path);
    orch_error_set(error, ORCH_ERROR_PLUGIN, hint,
                   "plugin '%s' was not loaded, because anyone may write to it", path);
    return false;
}
