/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look is a stat of each input: its size, inode, and times of modification and change. Only when
 * one of them differs, or changed so late that the capture may have missed it, the tree is captured
 * again and the inputs' contents are compared.
 *
 * Rejected: inotify, which loses events, does not work on network file systems and needs a watch
 * for each folder; comparing contents before and after each trial, which reads large inputs
 * thousands of times and misses a change that was taken back in between.
 *
 * Files that are new since the capture do not count: a trial may have made them. The next command
 * captures them. */
#include "core/inputs/input_watch.h"

#include "core/inputs/cell_inputs.h"
#include "core/inputs/inputs_id.h"
#include "core/inputs/scripts.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct look {
    ino_t inode;
    off_t bytes;
    struct timespec modified, changed;
};

struct input {
    char *path; /* relative to the workspace's root, or absolute */
    bool is_known;
    bool is_rewritten;     /* changed while a trial ran, and is no code */
    struct look captured;  /* zero: the file did not exist */
    struct look seen;      /* by the last look */
    uint64_t rewrites;     /* how often it was written again with the same content */
    const GPtrArray *list; /* the last one that it was added to */
};

struct orch_input_watch {
    struct orch_inputs *all;
    GHashTable *inputs;        /* path -> struct input * */
    GHashTable *by_experiment; /* experiment -> GPtrArray of struct input *, borrowed */
    GHashTable *by_trial;      /* struct orch_trial_inputs -> the same */
    int64_t captured_ns;
};

static void input_free(gpointer pointer)
{
    struct input *input = pointer;
    g_free(input->path);
    g_free(input);
}

struct orch_input_watch *orch_input_watch_new(struct orch_inputs *all)
{
    struct orch_input_watch *watch = g_new0(struct orch_input_watch, 1);
    const struct orch_source *source = all->workspace->source;
    watch->all = all;
    watch->inputs = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, input_free);
    watch->by_experiment =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    watch->by_trial = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    watch->captured_ns = source && source->captured_ns ? source->captured_ns : all->made_ns;
    return watch;
}

void orch_input_watch_free(struct orch_input_watch *watch)
{
    if (!watch)
        return;
    g_hash_table_unref(watch->by_trial);
    g_hash_table_unref(watch->by_experiment);
    g_hash_table_unref(watch->inputs);
    g_free(watch);
}

/* ---- which files ------------------------------------------------------------------------------
 */

static void add(struct orch_input_watch *watch, GPtrArray *list, const char *path)
{
    struct input *input = g_hash_table_lookup(watch->inputs, path);
    if (!input) {
        input = g_new0(struct input, 1);
        input->path = g_strdup(path);
        g_hash_table_insert(watch->inputs, input->path, input);
    }
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
    g_autoptr(GPtrArray) paths =
        orch_inputs_paths(all->workspace, all->expansion, experiment, error);
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
    const struct orch_inputs *all = watch->all;
    g_autofree char *below = g_strconcat(path, "/", NULL);
    add(watch, list, path);
    for (guint i = 0; all->files.tree_paths && i < all->files.tree_paths->len; i++)
        if (g_str_has_prefix(all->files.tree_paths->pdata[i], below))
            add(watch, list, all->files.tree_paths->pdata[i]);
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

/* All files that a trial depends on. NULL on error. The caller unrefs. */
static GPtrArray *inputs_of(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            GError **error)
{
    const GPtrArray *common = of_experiment(watch, trial->cell->experiment, error);
    if (!common)
        return NULL;
    const GPtrArray *own = of_trial(watch, trial);
    GPtrArray *all = g_ptr_array_sized_new(common->len + own->len);
    for (guint i = 0; i < common->len; i++)
        g_ptr_array_add(all, common->pdata[i]);
    for (guint i = 0; i < own->len; i++)
        g_ptr_array_add(all, own->pdata[i]);
    return all;
}

/* ---- looks ------------------------------------------------------------------------------------
 */

/* A folder's own times change with every file that a trial makes in it, so only its inode counts.
 */
static struct look look_at(const struct orch_input_watch *watch, const struct input *input)
{
    struct stat info;
    g_autofree char *path = orch_path_absolute(input->path, watch->all->workspace->root);
    if (stat(path, &info) != 0)
        return (struct look){0};
    if (S_ISDIR(info.st_mode))
        return (struct look){.inode = info.st_ino};
    return (struct look){info.st_ino, info.st_size, info.st_mtim, info.st_ctim};
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const struct look *a, const struct look *b)
{
    return a->inode == b->inode && a->bytes == b->bytes && is_same_time(a->modified, b->modified) &&
           is_same_time(a->changed, b->changed);
}

/* True when the file may have changed after the tree was captured and before its first look. */
static bool is_too_new(const struct orch_input_watch *watch, const struct look *look)
{
    int64_t changed_ns = orch_timespec_ns(look->changed);
    return changed_ns > watch->captured_ns - 2 * ORCH_FILE_TIME_LAG_NS;
}

/* ---- contents ---------------------------------------------------------------------------------
 */

/* True when the files of the experiment have the captured contents, according to a new capture. */
static bool is_same_code(struct orch_input_watch *watch, const struct orch_trial_inputs *trial)
{
    struct orch_inputs *all = watch->all;
    g_autofree char *id =
        orch_inputs_id(all->workspace, all->expansion, trial->cell->experiment, NULL, NULL);
    return id && strcmp(id, trial->id ? trial->id : "") == 0;
}

/* True when the files and folders that the trial names have the digests of the plan. */
static bool is_same_data(struct orch_input_watch *watch, const struct orch_trial_inputs *trial)
{
    struct orch_inputs *all = watch->all;
    g_autoptr(GPtrArray) now = g_ptr_array_new_with_free_func(g_free);
    if (!orch_cell_inputs_now(all, trial->cell, now, NULL))
        return false;
    for (guint i = 0; trial->list && i < trial->list->len; i++) {
        const struct orch_checked_input *then = trial->list->pdata[i], *found = NULL;
        for (guint j = 0; j < now->len && !found; j++)
            if (strcmp(((struct orch_checked_input *)now->pdata[j])->name, then->name) == 0)
                found = now->pdata[j];
        if (!found || strcmp(found->sha256, then->sha256) != 0)
            return false;
    }
    return true;
}

/* Captures the tree again and compares the trial's inputs with those of the plan. */
static bool has_captured_contents(struct orch_input_watch *watch,
                                  const struct orch_trial_inputs *trial)
{
    struct orch_workspace *workspace = watch->all->workspace;
    struct orch_source *captured = workspace->source;
    workspace->source = NULL;
    bool is_same = orch_workspace_source(workspace, NULL) && is_same_code(watch, trial) &&
                   is_same_data(watch, trial);
    orch_source_free(workspace->source);
    workspace->source = captured;
    return is_same;
}

/* ---- before and after a trial -----------------------------------------------------------------
 */

static bool is_code(const struct orch_input_watch *watch, const struct input *input)
{
    g_autofree char *path = orch_path_absolute(input->path, watch->all->workspace->root);
    return orch_input_is_code(path);
}

/* Looks at files, and collects those that changed since their first look, or that may have changed
 * between the capture and their first look. */
static void compare(struct orch_input_watch *watch, const GPtrArray *inputs, GPtrArray *changed)
{
    for (guint i = 0; i < inputs->len; i++) {
        struct input *input = inputs->pdata[i];
        struct look now = input->seen = look_at(watch, input);
        if (!input->is_known) {
            input->is_known = true;
            input->captured = now;
            if (is_too_new(watch, &now) || !now.inode)
                g_ptr_array_add(changed, input);
        } else if (!is_same(&input->captured, &now)) {
            g_ptr_array_add(changed, input);
        }
    }
}

/* Takes what the last look saw as captured. */
static void accept(const GPtrArray *inputs)
{
    for (guint i = 0; i < inputs->len; i++) {
        struct input *input = inputs->pdata[i];
        input->captured = input->seen;
        input->rewrites++;
    }
}

static uint64_t stamp_of(const GPtrArray *inputs)
{
    uint64_t stamp = 0;
    for (guint i = 0; i < inputs->len; i++)
        stamp += ((const struct input *)inputs->pdata[i])->rewrites;
    return stamp;
}

bool orch_input_watch_before(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                             uint64_t *out_stamp, char **out_changed, GError **error)
{
    g_autoptr(GPtrArray) inputs = inputs_of(watch, trial, error);
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    *out_changed = NULL;
    if (!inputs)
        return false;
    compare(watch, inputs, changed);
    for (guint i = changed->len; i-- > 0;) {
        struct input *input = changed->pdata[i];
        if (!input->is_rewritten)
            continue;
        input->captured = input->seen;
        g_ptr_array_remove_index(changed, i);
    }
    if (changed->len && has_captured_contents(watch, trial)) {
        accept(changed);
        g_ptr_array_set_size(changed, 0);
    }
    if (changed->len)
        *out_changed =
            orch_input_names(((const struct input *)changed->pdata[0])->path, changed->len);
    *out_stamp = stamp_of(inputs);
    return true;
}

static void add_name(GPtrArray *names, const char *name)
{
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, g_strdup(name));
}

void orch_input_watch_after(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            uint64_t stamp, GPtrArray *code, GPtrArray *data)
{
    g_autoptr(GPtrArray) inputs = inputs_of(watch, trial, NULL);
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    if (!inputs)
        return;
    compare(watch, inputs, changed);
    bool is_rewritten = stamp_of(inputs) != stamp;
    for (guint i = 0; is_rewritten && !changed->len && i < inputs->len; i++)
        if (((const struct input *)inputs->pdata[i])->rewrites)
            g_ptr_array_add(changed, inputs->pdata[i]);
    for (guint i = 0; i < changed->len; i++) {
        struct input *input = changed->pdata[i];
        if (!input->is_rewritten && is_code(watch, input))
            add_name(code, input->path);
        else
            input->is_rewritten = true;
    }
    for (guint i = 0; i < inputs->len; i++)
        if (((const struct input *)inputs->pdata[i])->is_rewritten)
            add_name(data, ((const struct input *)inputs->pdata[i])->path);
}

void orch_input_watch_accept(struct orch_input_watch *watch, const char *name)
{
    struct input *input = g_hash_table_lookup(watch->inputs, name);
    if (input)
        input->is_rewritten = true;
}
