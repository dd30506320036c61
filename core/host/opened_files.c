/* SPDX-License-Identifier: MIT */
#include "core/host/opened_files.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/watch/watch_memory.h"

#include <stdlib.h>
#include <string.h>

struct opened_files {
    struct orch_watch_memory *memory; /* NULL: nothing is noted */
    const char *why;                  /* nothing is noted; NULL: no such reason */
    bool is_plugin;
    char *library;          /* of a program */
    char *root, *real_root; /* the workspace's folder, as named and without links */
};

/* Programs that run others where the library does not lie. */
static bool is_container(const struct orch_trial_spec *trial)
{
    static const char *const names[] = {"apptainer", "bwrap",   "chroot", "docker",
                                        "enroot",    "flatpak", "podman", "singularity"};
    char **argv = trial->manifest->argv;
    g_autofree char *name = argv && argv[0] ? g_path_get_basename(argv[0]) : g_strdup("");
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static GPtrArray *roots_of(const struct opened_files *opened, const struct orch_trial_spec *trial,
                           const struct apart *apart)
{
    GPtrArray *roots = g_ptr_array_new_with_free_func(g_free);
    const json_t *list = json_object_get(trial->watch, "roots");
    if (apart) { /* first, because it lies in a folder of orch that is itself left out */
        g_ptr_array_add(roots, g_strdup(orch_apart_copy(apart)));
        g_ptr_array_add(roots, orch_apart_inside(apart, orch_apart_copy(apart)));
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i)))
            g_ptr_array_add(roots, g_strdup(json_string_value(json_array_get(list, i))));
    if (opened->real_root)
        g_ptr_array_add(roots, g_strdup(opened->real_root));
    return roots;
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
    const json_t *roots = json_object_get(trial->watch, "roots");
    const char *root = json_string_value(json_array_get(roots, 0));
    if (!root)
        return NULL;
    struct opened_files *opened = g_new0(struct opened_files, 1);
    opened->is_plugin = trial->manifest->kind == ORCH_PLUGIN_COMPILED;
    opened->root = g_strdup(root);
    char *real = realpath(root, NULL);
    opened->real_root = g_strdup(real && strcmp(real, root) != 0 ? real : NULL);
    free(real);
    if (!opened->is_plugin)
        opened->library = find_library(&opened->why);
    if (!opened->is_plugin && !opened->why && is_container(trial))
        opened->why = "the command starts a container";
    if (opened->why)
        return opened;
    g_autoptr(GPtrArray) all = roots_of(opened, trial, apart);
    opened->memory = orch_watch_memory_new(all);
    if (!opened->memory)
        opened->why = "this system gives no shared memory (memfd)";
    return opened;
}

void orch_opened_files_free(struct opened_files *opened)
{
    if (!opened)
        return;
    orch_watch_memory_free(opened->memory);
    g_free(opened->library);
    g_free(opened->root);
    g_free(opened->real_root);
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

/* ---- the end ----------------------------------------------------------------------------------
 */

struct writing {
    const struct opened_files *opened;
    const char *copy; /* the trial's own copy of the folder, or NULL */
    const char *seen; /* where the trial's processes see that copy */
    const char *trial_dir;
    GPtrArray *own; /* char *: folders whose files are no data of a plugin; NULL: not asked yet */
    json_t *files;
    unsigned bad_names; /* not UTF-8 */
};

static const char *below(const char *path, const char *folder)
{
    return folder ? orch_path_below(path, folder) : NULL;
}

/* What comes with orch counts by the plugin's build, and the trial's folder is its own. */
static bool is_own(struct writing *w, const char *path)
{
    static const char *const parts[] = {"share", "plugins"};
    if (!w->own) {
        w->own = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(w->own, g_strdup(w->trial_dir));
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
            char *folder = orch_program_path(parts[i], NULL);
            if (folder)
                g_ptr_array_add(w->own, folder);
        }
    }
    for (guint i = 0; i < w->own->len; i++)
        if (below(path, w->own->pdata[i]))
            return true;
    return false;
}

static void add_file(void *ctx, enum orch_watch_kind kind, const char *path)
{
    static const char *const kinds[] = {[ORCH_WATCH_READ] = "r",
                                        [ORCH_WATCH_WRITE] = "w",
                                        [ORCH_WATCH_UPDATE] = "u",
                                        [ORCH_WATCH_LOOK] = "s",
                                        [ORCH_WATCH_LIST] = "d"};
    struct writing *w = ctx;
    if (w->opened->is_plugin && is_own(w, path))
        return;
    const char *const folders[] = {w->copy, w->seen, w->opened->root, w->opened->real_root};
    const char *name = NULL;
    for (size_t i = 0; !name && i < G_N_ELEMENTS(folders); i++)
        name = below(path, folders[i]);
    name = name ? name : path;
    if (g_utf8_validate(name, -1, NULL))
        json_array_append_new(w->files, json_pack("[ss{}]", kinds[kind], name));
    else
        w->bad_names++;
}

static void add_gap(json_t *gaps, uint64_t count, const char *one, const char *many)
{
    if (count)
        json_array_append_new(
            gaps, json_sprintf("%" G_GUINT64_FORMAT " %s", count, count == 1 ? one : many));
}

void orch_opened_files_write(const struct opened_files *opened, const struct apart *apart,
                             const char *trial_dir)
{
    if (!opened)
        return;
    const char *copy = orch_apart_copy(apart);
    g_autofree char *seen = copy ? orch_apart_inside(apart, copy) : NULL;
    struct writing w = {opened, copy, seen, trial_dir, NULL, json_array(), 0};
    const char *why = opened->why;
    json_int_t left_out = 0;
    if (opened->memory) {
        orch_watch_memory_visit(opened->memory, add_file, &w);
        left_out = (json_int_t)orch_watch_memory_left_out(opened->memory);
        if (!opened->is_plugin && !orch_watch_memory_attached(opened->memory))
            why = "the program did not load orch-watch.so (is it static?)";
    }
    bool is_empty = opened->is_plugin && !json_array_size(w.files) && !left_out && !why;
    json_t *gaps = json_array();
    add_gap(gaps, (uint64_t)left_out, "file found no room", "files found no room");
    add_gap(gaps, w.bad_names, "name is not UTF-8", "names are not UTF-8");
    g_autoptr(json_t) all = json_pack("{s:s s:I s:o s:o}", "folder", copy ? copy : opened->root,
                                      "left_out", left_out, "gaps", gaps, "files", w.files);
    if (all && why)
        json_object_set_new(all, "why", json_string(why));
    g_autofree char *text = all ? orch_json_canonical(all) : NULL;
    g_autofree char *path = g_build_filename(trial_dir, ORCH_OPENED_FILES, NULL);
    if (text && !is_empty)
        orch_file_write(path, text, strlen(text), false, NULL);
    if (w.own)
        g_ptr_array_unref(w.own);
}
