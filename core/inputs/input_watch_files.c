/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files a trial depends on. */
#include "core/inputs/input_watch_private.h"

#include "lib/base/file.h"

#include <dirent.h>
#include <string.h>

/* At most so many files are watched because runs of an experiment have read them. */
enum { READS_MAX = 20000 };

bool orch_watched_is_captured(const struct orch_input_watch *watch, const char *path)
{
    return orch_inputs_is_captured(watch->all, path);
}

struct watched_input *orch_watched_get(struct orch_input_watch *watch, const char *path)
{
    struct watched_input *input = g_hash_table_lookup(watch->inputs, path);
    if (!input) {
        input = g_new0(struct watched_input, 1);
        input->path = g_strdup(path);
        g_hash_table_insert(watch->inputs, input->path, input);
    }
    return input;
}

static void add(struct orch_input_watch *watch, GPtrArray *list, const char *path)
{
    struct watched_input *input = orch_watched_get(watch, path);
    if (input->list == list) /* a list is filled in one go */
        return;
    input->list = list;
    g_ptr_array_add(list, input);
}

/* Adds the files of a captured tree. */
static bool add_tree(struct orch_input_watch *watch, GPtrArray *list, const char *tree,
                     GError **error)
{
    g_autoptr(GPtrArray) paths = orch_vcs_list(watch->all->workspace->vcs, tree, "", error);
    for (guint i = 0; paths && i < paths->len; i++)
        add(watch, list, paths->pdata[i]);
    return paths != NULL;
}

/* The files that all trials of an experiment depend on. Borrowed. */
static GPtrArray *of_experiment(struct orch_input_watch *watch,
                                const struct orch_experiment *experiment, GError **error)
{
    struct orch_inputs *all = watch->all;
    const struct orch_source *source = all->workspace->source;
    GPtrArray *list = g_hash_table_lookup(watch->by_experiment, experiment);
    if (list)
        return list;
    g_autoptr(GPtrArray) paths = orch_inputs_paths(all, experiment, error);
    g_autoptr(GPtrArray) made = g_ptr_array_new();
    const char *id = g_hash_table_lookup(all->ids, experiment);
    if (!paths || (paths->len && source && source->tree && !add_tree(watch, made, id, error)))
        return NULL;
    for (guint i = 0; i < paths->len && !(source && source->tree); i++)
        add(watch, made, paths->pdata[i]);
    list = g_steal_pointer(&made);
    g_hash_table_insert(watch->by_experiment, (gpointer)(uintptr_t)experiment, list);
    return list;
}

/* Adds a file that a trial names, or the files below a folder of the captured tree. */
static void add_named(struct orch_input_watch *watch, GPtrArray *list, const char *path)
{
    guint first, count = orch_inputs_below(watch->all, path, &first);
    add(watch, list, path);
    for (guint i = 0; i < count; i++)
        add(watch, list, watch->all->files.tree_paths->pdata[first + i]);
}

/* The files that a trial depends on besides those of its experiment. Borrowed. */
static GPtrArray *of_trial(struct orch_input_watch *watch, const struct orch_trial_inputs *trial)
{
    GPtrArray *list = g_hash_table_lookup(watch->by_trial, trial);
    if (list)
        return list;
    list = g_ptr_array_new();
    for (guint i = 0; trial->list && i < trial->list->len; i++)
        add_named(watch, list, ((const struct orch_checked_input *)trial->list->pdata[i])->name);
    g_hash_table_insert(watch->by_trial, (gpointer)(uintptr_t)trial, list);
    return list;
}

/* Adds a file that a run has read, with its digest then; NULL: not known. */
struct watched_input *orch_watched_add_read(struct orch_input_watch *watch, GPtrArray *reads,
                                            const char *path, const char *sha256)
{
    struct watched_input *input = orch_watched_get(watch, path);
    if (input->is_read || reads->len >= READS_MAX)
        return NULL;
    input->is_read = true;
    g_strlcpy(input->sha256, sha256 && !orch_watched_is_captured(watch, path) ? sha256 : "",
              sizeof input->sha256);
    g_ptr_array_add(reads, input);
    return input;
}

/* Adds the files directly in a folder of which a run has read many. */
static void add_read_folder(struct orch_input_watch *watch, GPtrArray *reads, const char *folder)
{
    g_autofree char *absolute = orch_path_absolute(folder, watch->all->workspace->root);
    DIR *dir = opendir(absolute);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        g_autofree char *path = g_strconcat(folder, entry->d_name, NULL);
        if (*entry->d_name != '.')
            orch_watched_add_read(watch, reads, path, NULL);
    }
    if (dir)
        closedir(dir);
}

/* The files that runs of an experiment have read. Borrowed. */
GPtrArray *orch_watched_reads(struct orch_input_watch *watch,
                              const struct orch_experiment *experiment)
{
    struct orch_workspace *workspace = watch->all->workspace;
    GPtrArray *reads = g_hash_table_lookup(watch->reads, experiment);
    if (reads)
        return reads;
    reads = g_ptr_array_new();
    g_hash_table_insert(watch->reads, (gpointer)(uintptr_t)experiment, reads);
    g_autoptr(GPtrArray) known =
        workspace->store
            ? orch_store_inputs_of_experiment(workspace->store, watch->all->expansion->name,
                                              experiment->name,
                                              orch_workspace_machine_key(workspace), NULL)
            : NULL;
    for (guint i = 0; known && i < known->len; i++) {
        const struct orch_stored_input *input = known->pdata[i];
        if (g_str_has_suffix(input->name, "/"))
            add_read_folder(watch, reads, input->name);
        else if (!strstr(input->name, "/*"))
            orch_watched_add_read(watch, reads, input->name, input->sha256);
    }
    return reads;
}

static void take(struct orch_input_watch *watch, const GPtrArray *list, bool is_read, GPtrArray *to)
{
    for (guint i = 0; i < list->len; i++) {
        struct watched_input *input = list->pdata[i];
        if (input->round == watch->round)
            continue;
        input->round = watch->round;
        input->is_only_read = is_read;
        g_ptr_array_add(to, input);
    }
}

/* All files that a trial depends on. NULL on error. The caller unrefs. */
GPtrArray *orch_watched_inputs(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial, GError **error)
{
    const GPtrArray *common = of_experiment(watch, trial->cell->experiment, error);
    if (!common)
        return NULL;
    GPtrArray *to = g_ptr_array_sized_new(common->len);
    watch->round++;
    take(watch, common, false, to);
    take(watch, of_trial(watch, trial), false, to);
    take(watch, orch_watched_reads(watch, trial->cell->experiment), true, to);
    return to;
}
