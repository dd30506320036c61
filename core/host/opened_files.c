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
    char *library;
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

struct opened_files *orch_opened_files_begin(const struct orch_trial_spec *trial,
                                             const struct apart *apart)
{
    const json_t *roots = json_object_get(trial->watch, "roots");
    const char *root = json_string_value(json_array_get(roots, 0));
    if (!root || trial->manifest->kind != ORCH_PLUGIN_WRAPPED)
        return NULL;
    struct opened_files *opened = g_new0(struct opened_files, 1);
    opened->root = g_strdup(root);
    char *real = realpath(root, NULL);
    opened->real_root = g_strdup(real && strcmp(real, root) != 0 ? real : NULL);
    free(real);
    opened->library = orch_program_path("orch-watch.so", NULL);
    if (!opened->library)
        opened->why = "orch-watch.so is not installed beside orch";
    else if (strpbrk(opened->library, " :"))
        opened->why = "the path of orch-watch.so has a space or a colon";
    else if (is_container(trial))
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
    return opened && opened->memory
               ? orch_watch_memory_environment(opened->memory, opened->library, env)
               : env;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

struct writing {
    const struct opened_files *opened;
    const char *copy; /* the trial's own copy of the folder, or NULL */
    const char *seen; /* where the trial's processes see that copy */
    json_t *files;
};

static const char *below(const char *path, const char *folder)
{
    return folder ? orch_path_below(path, folder) : NULL;
}

static void add_file(void *ctx, enum orch_watch_kind kind, const char *path)
{
    static const char *const kinds[] = {[ORCH_WATCH_READ] = "r",
                                        [ORCH_WATCH_WRITE] = "w",
                                        [ORCH_WATCH_UPDATE] = "u",
                                        [ORCH_WATCH_LOOK] = "s",
                                        [ORCH_WATCH_LIST] = "d"};
    struct writing *w = ctx;
    const char *const folders[] = {w->copy, w->seen, w->opened->root, w->opened->real_root};
    const char *name = NULL;
    for (size_t i = 0; !name && i < G_N_ELEMENTS(folders); i++)
        name = below(path, folders[i]);
    name = name ? name : path;
    if (g_utf8_validate(name, -1, NULL))
        json_array_append_new(w->files, json_pack("[ss]", kinds[kind], name));
}

void orch_opened_files_write(const struct opened_files *opened, const struct apart *apart,
                             const char *trial_dir)
{
    if (!opened)
        return;
    const char *copy = orch_apart_copy(apart);
    g_autofree char *seen = copy ? orch_apart_inside(apart, copy) : NULL;
    struct writing w = {opened, copy, seen, json_array()};
    const char *why = opened->why;
    json_int_t left_out = 0;
    if (opened->memory) {
        orch_watch_memory_visit(opened->memory, add_file, &w);
        left_out = (json_int_t)orch_watch_memory_left_out(opened->memory);
        if (!orch_watch_memory_attached(opened->memory))
            why = "the program did not load orch-watch.so (is it static?)";
    }
    g_autoptr(json_t) all = json_pack("{s:s s:I s:o}", "folder", copy ? copy : opened->root,
                                      "left_out", left_out, "files", w.files);
    if (all && why)
        json_object_set_new(all, "why", json_string(why));
    g_autofree char *text = all ? orch_json_canonical(all) : NULL;
    g_autofree char *path = g_build_filename(trial_dir, ORCH_OPENED_FILES, NULL);
    if (text)
        orch_file_write(path, text, strlen(text), false, NULL);
}
