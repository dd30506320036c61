/* SPDX-License-Identifier: MIT */
#include "core/host/opened_files.h"

#include "core/host/opened_rows.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"
#include "lib/loggers/homes.h"
#include "lib/watch/watch_memory.h"

#include <stdlib.h>
#include <string.h>

struct opened_files {
    struct orch_watch_memory *memory; /* NULL: nothing is noted */
    const char *why;                  /* nothing is noted; NULL: no such reason */
    bool is_plugin;
    char *library;     /* of a program */
    char *folder;      /* where names lie */
    GPtrArray *places; /* struct opened_place *, first those of the copy */
    guint copy_places;
    GPtrArray *roots; /* char *: their folders, and others that are watched */
};

/* ---- what is watched --------------------------------------------------------------------------
 */

static void free_place(gpointer data)
{
    struct opened_place *place = data;
    g_free(place->path);
    g_free(place->name);
    g_free(place);
}

static struct opened_place *new_place(const char *path, const char *name)
{
    struct opened_place *place = g_new0(struct opened_place, 1);
    place->path = g_strdup(path);
    place->name = g_strdup(name);
    return place;
}

static void add_place(struct opened_files *opened, const char *path, const char *name)
{
    g_ptr_array_add(opened->places, new_place(path, name));
    orch_texts_add_once(opened->roots, path);
}

/* A folder by its path and by that without links, which is what processes see as their folder. */
static void add_folder(struct opened_files *opened, const char *path, const char *name)
{
    char *real = realpath(path, NULL);
    add_place(opened, path, name);
    if (real && strcmp(real, path) != 0)
        add_place(opened, real, name);
    free(real);
}

/* First, because it lies in a folder of orch that is itself left out. */
static void add_copy(struct opened_files *opened, const struct apart *apart)
{
    const char *copy = orch_apart_copy(apart);
    g_autofree char *seen = copy ? orch_apart_inside(apart, copy) : NULL;
    if (copy) {
        add_folder(opened, copy, "");
        add_folder(opened, seen, "");
    }
    opened->copy_places = opened->places->len;
}

/* What comes with orch counts by the plugin's build, and the trial's folder is its own. Not before
 * there is a file, because looking for them takes longer than a small plugin. */
static void add_own(const struct opened_files *opened, const char *trial_dir)
{
    static const char *const parts[] = {"share", "plugins"};
    guint at = opened->copy_places;
    g_ptr_array_insert(opened->places, (gint)at, new_place(trial_dir, NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *folder = orch_program_path(parts[i], NULL);
        if (folder)
            g_ptr_array_insert(opened->places, (gint)at, new_place(folder, NULL));
    }
}

static void add_roots(struct opened_files *opened, const json_t *watch)
{
    const json_t *roots = json_object_get(watch, "roots"), *links = json_object_get(watch, "links");
    add_folder(opened, json_string_value(json_array_get(roots, 0)), "");
    for (size_t i = 0; i < json_array_size(links); i++) {
        const json_t *link = json_array_get(links, i);
        const char *name = json_string_value(json_array_get(link, 0));
        const char *real = json_string_value(json_array_get(link, 1));
        if (name && real)
            add_place(opened, real, name);
    }
    for (size_t i = 1; i < json_array_size(roots); i++) {
        const char *root = json_string_value(json_array_get(roots, i));
        char *real = root ? realpath(root, NULL) : NULL;
        if (root)
            orch_texts_add_once(opened->roots, root);
        if (real)
            orch_texts_add_once(opened->roots, real);
        free(real);
    }
}

/* Folders of loggers outside of what is watched. Their files are noted, because their values become
 * metrics, and are no files of the trial's. */
static void add_homes(struct opened_files *opened, char *const *trial_env)
{
    char **env = g_get_environ();
    for (; trial_env && *trial_env; trial_env++) {
        const char *equals = strchr(*trial_env, '=');
        g_autofree char *name = g_strndup(*trial_env, strcspn(*trial_env, "="));
        if (equals)
            env = g_environ_setenv(env, name, equals + 1, TRUE);
    }
    g_autoptr(GPtrArray) homes = orch_logger_homes(env);
    for (guint i = 0; i < homes->len; i++) {
        bool is_watched = false;
        for (guint k = 0; k < opened->roots->len; k++)
            is_watched = is_watched || orch_path_within(homes->pdata[i], opened->roots->pdata[k]);
        if (!is_watched)
            add_folder(opened, homes->pdata[i], NULL);
    }
    g_strfreev(env);
}

/* The library's path; the caller frees. NULL with the reason. */
static char *find_library(const char **out_why)
{
    g_autofree char *path = orch_program_path("orch-watch.so", NULL);
    *out_why = !path                 ? "orch-watch.so is not installed beside orch"
               : strpbrk(path, " :") ? "the path of orch-watch.so has a space or a colon"
                                     : NULL;
    return *out_why ? NULL : g_steal_pointer(&path);
}

struct opened_files *orch_opened_files_begin(const struct orch_trial_spec *trial,
                                             const struct apart *apart)
{
    const char *root = json_string_value(json_array_get(json_object_get(trial->watch, "roots"), 0));
    if (!root)
        return NULL;
    struct opened_files *opened = g_new0(struct opened_files, 1);
    const char *copy = orch_apart_copy(apart);
    opened->is_plugin = trial->manifest->kind == ORCH_PLUGIN_COMPILED;
    opened->folder = g_strdup(copy ? copy : root);
    opened->places = g_ptr_array_new_with_free_func(free_place);
    opened->roots = g_ptr_array_new_with_free_func(g_free);
    if (!opened->is_plugin)
        opened->library = find_library(&opened->why);
    add_copy(opened, apart);
    add_roots(opened, trial->watch);
    if (orch_manifest_reads_files(trial->manifest))
        add_homes(opened, trial->env);
    if (!opened->why)
        opened->memory = orch_watch_memory_new(opened->roots);
    if (!opened->why && !opened->memory)
        opened->why = "this system gives no shared memory (memfd)";
    return opened;
}

void orch_opened_files_free(struct opened_files *opened)
{
    if (!opened)
        return;
    orch_watch_memory_free(opened->memory);
    g_free(opened->library);
    g_free(opened->folder);
    g_ptr_array_unref(opened->places);
    g_ptr_array_unref(opened->roots);
    g_free(opened);
}

char **orch_opened_files_environment(const struct opened_files *opened, char **env)
{
    if (!opened || !opened->memory)
        return env;
    env = orch_watch_memory_environment(opened->memory, env);
    return opened->library ? orch_watch_library_environment(opened->library, env) : env;
}

void orch_opened_files_announce(const struct opened_files *opened)
{
    static const char *const names[] = {ORCH_WATCH_ENV, "LD_PRELOAD", "ASAN_OPTIONS"};
    const char *why;
    g_auto(GStrv) env = orch_opened_files_environment(opened, g_get_environ());
    if (!g_environ_getenv(env, ORCH_WATCH_ENV))
        return;
    g_autofree char *library = find_library(&why);
    if (library)
        env = orch_watch_library_environment(library, env);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_environ_getenv(env, names[i]))
            g_setenv(names[i], g_environ_getenv(env, names[i]), TRUE);
}

void orch_opened_files_attach(const struct opened_files *opened)
{
    orch_watch_attach(opened && opened->memory ? orch_watch_memory_map(opened->memory) : NULL);
}

const struct orch_watch_memory *orch_opened_files_memory(const struct opened_files *opened)
{
    return opened ? opened->memory : NULL;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

void orch_opened_files_write(const struct opened_files *opened, const char *trial_dir,
                             json_t *logged)
{
    if (!opened)
        return;
    const char *why = opened->why;
    if (opened->is_plugin && (why || orch_watch_memory_is_empty(opened->memory)))
        return;
    if (opened->is_plugin)
        add_own(opened, trial_dir);
    struct orch_watch_gaps counts = {0};
    g_autoptr(json_t) gaps = json_array();
    g_autofree char *files = NULL;
    if (opened->memory) {
        counts = orch_watch_memory_gaps(opened->memory);
        files = orch_opened_rows(opened->memory, opened->places, opened->folder, gaps);
        if (opened->library && !counts.attached)
            why = "the program did not load orch-watch.so (is it static?)";
    }
    bool has_files = files && strcmp(files, "[]") != 0;
    g_autoptr(json_t) rest = json_pack("{s:s s:O}", "folder", opened->folder, "gaps", gaps);
    if (json_array_size(logged))
        json_object_set(rest, "logged", logged);
    if (rest && why)
        json_object_set_new(rest, "why", json_string(why));
    g_autofree char *members = rest ? orch_json_canonical(rest) : NULL;
    g_autofree char *path = g_build_filename(trial_dir, ORCH_OPENED_FILES, NULL);
    if (!members || (!opened->library && !has_files && !json_array_size(gaps) && !why))
        return;
    g_autofree char *text =
        g_strconcat("{\"files\":", files ? files : "[]", ",", members + 1, NULL);
    orch_file_write(path, text, strlen(text), false, NULL);
}
