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

#include "core/inputs/content_digest.h"
#include "core/inputs/inputs.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <dirent.h>
#include <string.h>

/* At most so many files are watched because runs of an experiment have read them. */
enum { READS_MAX = 20000 };

struct input {
    char *path; /* relative to the workspace's root, or absolute */
    bool is_known;
    bool is_accepted;             /* a trial has written it, or may have */
    GHashTable *suspects;         /* trials that ran when it changed; NULL: none */
    bool is_read;                 /* it is in a list of `reads` */
    bool is_only_read;            /* of the trial that is looked at: nothing names it */
    struct orch_file_id captured; /* not known: the file did not exist */
    struct orch_file_id seen;     /* by the last look */
    uint64_t rewrites;            /* how often it was written again with the same content */
    uint64_t round;               /* in which it was taken last (inputs_of) */
    const GPtrArray *list;        /* the last one that it was added to */
    char sha256[65];              /* of a read file that is not captured; "": not known */
};

struct orch_input_watch {
    struct orch_inputs *all;
    GHashTable *inputs;        /* path -> struct input * */
    GHashTable *by_experiment; /* experiment -> GPtrArray of struct input *, borrowed */
    GHashTable *by_trial;      /* struct orch_trial_inputs -> the same */
    GHashTable *reads;         /* experiment -> the same: what its runs have read */
    GPtrArray *suspected;      /* struct input *: those with suspects */
    GHashTable *verified; /* "NAME TIME": a file that changed then and had the captured content */
    uint64_t round;
    int64_t captured_ns;
};

static void input_free(gpointer pointer)
{
    struct input *input = pointer;
    g_free(input->path);
    g_clear_pointer(&input->suspects, g_hash_table_unref);
    g_free(input);
}

static GHashTable *lists_new(void)
{
    return g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
}

struct orch_input_watch *orch_input_watch_new(struct orch_inputs *all)
{
    struct orch_input_watch *watch = g_new0(struct orch_input_watch, 1);
    const struct orch_source *source = all->workspace->source;
    watch->all = all;
    watch->inputs = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, input_free);
    watch->by_experiment = lists_new();
    watch->by_trial = lists_new();
    watch->reads = lists_new();
    watch->suspected = g_ptr_array_new();
    watch->verified = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    watch->captured_ns = source && source->captured_ns ? source->captured_ns : all->made_ns;
    return watch;
}

void orch_input_watch_free(struct orch_input_watch *watch)
{
    if (!watch)
        return;
    g_hash_table_unref(watch->by_trial);
    g_hash_table_unref(watch->by_experiment);
    g_hash_table_unref(watch->reads);
    g_ptr_array_unref(watch->suspected);
    g_hash_table_unref(watch->verified);
    g_hash_table_unref(watch->inputs);
    g_free(watch);
}

/* ---- which files ------------------------------------------------------------------------------
 */

static struct input *get(struct orch_input_watch *watch, const char *path)
{
    struct input *input = g_hash_table_lookup(watch->inputs, path);
    if (!input) {
        input = g_new0(struct input, 1);
        input->path = g_strdup(path);
        g_hash_table_insert(watch->inputs, input->path, input);
    }
    return input;
}

static void add(struct orch_input_watch *watch, GPtrArray *list, const char *path)
{
    struct input *input = get(watch, path);
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

static bool is_captured(const struct orch_input_watch *watch, const char *path)
{
    return orch_inputs_is_captured(watch->all, path);
}

/* Adds a file that a run has read, with its digest then; NULL: not known. */
static struct input *add_read(struct orch_input_watch *watch, GPtrArray *reads, const char *path,
                              const char *sha256)
{
    struct input *input = get(watch, path);
    if (input->is_read || reads->len >= READS_MAX)
        return NULL;
    input->is_read = true;
    g_strlcpy(input->sha256, sha256 && !is_captured(watch, path) ? sha256 : "",
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
            add_read(watch, reads, path, NULL);
    }
    if (dir)
        closedir(dir);
}

/* The files that runs of an experiment have read. Borrowed. */
static GPtrArray *reads_of(struct orch_input_watch *watch, const struct orch_experiment *experiment)
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
            add_read(watch, reads, input->name, input->sha256);
    }
    return reads;
}

static void take(struct orch_input_watch *watch, const GPtrArray *list, bool is_read, GPtrArray *to)
{
    for (guint i = 0; i < list->len; i++) {
        struct input *input = list->pdata[i];
        if (input->round == watch->round)
            continue;
        input->round = watch->round;
        input->is_only_read = is_read;
        g_ptr_array_add(to, input);
    }
}

/* All files that a trial depends on. NULL on error. The caller unrefs. */
static GPtrArray *inputs_of(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            GError **error)
{
    const GPtrArray *common = of_experiment(watch, trial->cell->experiment, error);
    if (!common)
        return NULL;
    GPtrArray *to = g_ptr_array_sized_new(common->len);
    watch->round++;
    take(watch, common, false, to);
    take(watch, of_trial(watch, trial), false, to);
    take(watch, reads_of(watch, trial->cell->experiment), true, to);
    return to;
}

/* ---- looks ------------------------------------------------------------------------------------
 */

/* A folder's own times change with every file that a trial makes in it, so only its inode counts.
 */
static struct orch_file_id look_at(const struct orch_input_watch *watch, const char *name)
{
    struct stat info;
    g_autofree char *path = orch_path_absolute(name, watch->all->workspace->root);
    if (stat(path, &info) != 0)
        return (struct orch_file_id){0};
    if (S_ISDIR(info.st_mode))
        return (struct orch_file_id){.is_known = true, .inode = (int64_t)info.st_ino};
    return orch_file_id_of(&info);
}

/* True when a file may have changed after the tree was captured and before its first look. */
static bool is_too_new(const struct orch_input_watch *watch, const struct orch_file_id *look)
{
    return orch_file_may_have_changed(look->changed_ns, watch->captured_ns - ORCH_FILE_TIME_LAG_NS);
}

/* Whether the first look at a file leaves open that it has changed since the capture. */
static bool is_doubtful(const struct orch_input_watch *watch, const struct input *input)
{
    const struct orch_file_id *now = &input->seen;
    if (input->is_only_read && !is_captured(watch, input->path))
        return false;
    return !now->is_known ? !input->is_only_read : is_too_new(watch, now);
}

/* ---- contents ---------------------------------------------------------------------------------
 */

/* True when the files of the experiment have the captured contents, according to a new capture. */
static bool is_same_code(struct orch_input_watch *watch, const struct orch_trial_inputs *trial)
{
    g_autofree char *id = orch_inputs_id(watch->all, trial->cell->experiment, NULL, NULL);
    return id && strcmp(id, trial->id ? trial->id : "") == 0;
}

/* True when the files and folders that the trial names have the digests of the plan. */
static bool is_same_data(struct orch_input_watch *watch, const struct orch_trial_inputs *trial)
{
    g_autoptr(GPtrArray) now = g_ptr_array_new_with_free_func(g_free);
    if (!orch_cell_inputs(watch->all, trial->cell, now, NULL))
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

/* True when two captured trees have the same file at a path. */
static bool has_same_file(const struct orch_input_watch *watch, const char *tree, const char *other,
                          const char *path)
{
    struct orch_vcs *vcs = watch->all->workspace->vcs;
    const char *const paths[] = {path, NULL};
    g_autofree char *a = vcs && tree ? orch_vcs_subtree(vcs, tree, paths, NULL) : NULL;
    g_autofree char *b = a && other ? orch_vcs_subtree(vcs, other, paths, NULL) : NULL;
    return b && strcmp(a, b) == 0;
}

/* What was captured before the tree is captured again. */
struct then {
    struct orch_source *source;
    struct orch_known_files files;
};

/* Captures the tree again; give_back ends that. False on error. */
static bool capture_again(struct orch_input_watch *watch, struct then *out)
{
    struct orch_inputs *all = watch->all;
    *out = (struct then){g_steal_pointer(&all->workspace->source), all->files};
    orch_known_files_init(&all->files);
    return orch_workspace_source(all->workspace, NULL) != NULL;
}

static void give_back(struct orch_input_watch *watch, const struct then *then)
{
    struct orch_inputs *all = watch->all;
    orch_known_files_clear(&all->files);
    orch_source_free(all->workspace->source);
    all->workspace->source = then->source;
    all->files = then->files;
}

/* True when the files that runs have read hold what they held. */
static bool are_same_reads(struct orch_input_watch *watch, const GPtrArray *changed,
                           const struct then *then)
{
    const struct orch_workspace *workspace = watch->all->workspace;
    for (guint i = 0; i < changed->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        const struct input *input = changed->pdata[i];
        g_autofree char *path = orch_path_absolute(input->path, workspace->root);
        if (!input->is_only_read)
            continue;
        if (then->files.tree_files && g_hash_table_contains(then->files.tree_files, input->path)
                ? !has_same_file(watch, then->source->tree, workspace->source->tree, input->path)
                : !*input->sha256 ||
                      !orch_reads_digest(watch->all->digests, path, NULL, digest, NULL) ||
                      strcmp(digest, input->sha256) != 0)
            return false;
    }
    return true;
}

/* Captures the tree again and compares the trial's inputs with those of the plan. */
static bool has_captured_contents(struct orch_input_watch *watch,
                                  const struct orch_trial_inputs *trial, const GPtrArray *changed)
{
    struct then then;
    bool is_same = capture_again(watch, &then) && is_same_code(watch, trial) &&
                   is_same_data(watch, trial) && are_same_reads(watch, changed, &then);
    give_back(watch, &then);
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
        struct orch_file_id now = input->seen = look_at(watch, input->path);
        bool is_first = !input->is_known;
        /* a file that was read and comes into being is made by a trial */
        bool is_made = input->is_only_read && !input->captured.is_known;
        bool is_same = orch_file_id_equal(&input->captured, &now) ||
                       (!input->captured.is_known && !now.is_known);
        input->is_known = true;
        if (is_first || is_made)
            input->captured = now;
        if (is_first ? is_doubtful(watch, input) : !is_same && !is_made)
            g_ptr_array_add(changed, input);
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

/* Whether the content that a changed input had can still be had. Outside of a repository nothing
 * can, and the sweep ends. */
static bool is_kept(const struct orch_input_watch *watch, const struct input *input)
{
    const struct orch_source *source = watch->all->workspace->source;
    return !source || !source->tree || is_captured(watch, input->path);
}

bool orch_input_watch_before(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                             uint64_t *out_stamp, struct orch_input_change *out, GError **error)
{
    g_autoptr(GPtrArray) inputs = inputs_of(watch, trial, error);
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    *out = (struct orch_input_change){0};
    if (!inputs)
        return false;
    compare(watch, inputs, changed);
    for (guint i = changed->len; i-- > 0;) {
        struct input *input = changed->pdata[i];
        if (!input->is_accepted && !input->suspects)
            continue;
        input->captured = input->seen;
        g_ptr_array_remove_index(changed, i);
    }
    if (changed->len && has_captured_contents(watch, trial, changed)) {
        accept(changed);
        g_ptr_array_set_size(changed, 0);
    }
    for (guint i = 0; i < changed->len; i++) {
        out->is_captured = out->is_captured || is_kept(watch, changed->pdata[i]);
        out->is_code = out->is_code || is_code(watch, changed->pdata[i]);
    }
    if (changed->len)
        out->names =
            orch_input_names(((const struct input *)changed->pdata[0])->path, changed->len);
    *out_stamp = stamp_of(inputs);
    return true;
}

void orch_input_watch_take_new(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial)
{
    g_autoptr(GPtrArray) inputs = inputs_of(watch, trial, NULL);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        struct input *input = inputs->pdata[i];
        if (is_kept(watch, input))
            continue;
        input->captured = input->seen;
        *input->sha256 = 0;
    }
}

static void add_name(GPtrArray *names, const char *name)
{
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, g_strdup(name));
}

/* A trial that runs may have written a file that has changed. */
static void suspect(struct orch_input_watch *watch, struct input *input,
                    const struct orch_trial_inputs *trial)
{
    if (!input->suspects) {
        input->suspects = g_hash_table_new(NULL, NULL);
        g_ptr_array_add(watch->suspected, input);
    }
    g_hash_table_add(input->suspects, (gpointer)(uintptr_t)trial);
}

void orch_input_watch_after(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            uint64_t stamp, enum orch_trial_stage stage, GPtrArray *code,
                            GPtrArray *data)
{
    g_autoptr(GPtrArray) inputs = inputs_of(watch, trial, NULL);
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    if (!inputs)
        return;
    bool is_rewritten = stamp_of(inputs) != stamp;
    for (guint i = stage == ORCH_TRIAL_NOTED ? inputs->len : 0; i-- > 0;)
        if (((const struct input *)inputs->pdata[i])->is_only_read)
            g_ptr_array_remove_index_fast(inputs, i); /* what it has opened says more */
    compare(watch, inputs, changed);
    for (guint i = 0; is_rewritten && !changed->len && i < inputs->len; i++)
        if (((const struct input *)inputs->pdata[i])->rewrites)
            g_ptr_array_add(changed, inputs->pdata[i]);
    for (guint i = 0; i < changed->len; i++) {
        struct input *input = changed->pdata[i];
        bool is_data = input->is_accepted || input->suspects || !is_code(watch, input);
        add_name(is_data ? data : code, input->path);
        if (is_data && stage == ORCH_TRIAL_RUNS)
            suspect(watch, input, trial);
    }
    for (guint i = 0; i < inputs->len; i++) {
        const struct input *input = inputs->pdata[i];
        if (input->is_accepted && !input->is_only_read)
            add_name(data, input->path);
    }
}

/* ---- what was really read ---------------------------------------------------------------------
 */

static bool is_accepted(const struct orch_input_watch *watch, const char *name)
{
    const struct input *input = g_hash_table_lookup(watch->inputs, name);
    return input && input->is_accepted;
}

/* What `verified` has for a file. The caller frees. */
static char *verified_key(const struct orch_opened_file *file)
{
    return g_strdup_printf("%s %" G_GINT64_FORMAT, file->name, file->read.changed_ns);
}

/* Whether a captured file may have been read with another content than the captured one. */
static bool is_read_too_new(const struct orch_input_watch *watch,
                            const struct orch_opened_file *file)
{
    g_autofree char *key = verified_key(file);
    return file->read.is_known && is_too_new(watch, &file->read) &&
           !g_hash_table_contains(watch->verified, key);
}

/* Adds the names of those files that differ from the captured ones, according to a new capture. */
static void add_differing(struct orch_input_watch *watch, const GPtrArray *files, GPtrArray *names)
{
    struct then then;
    bool ok = capture_again(watch, &then);
    const struct orch_source *now = watch->all->workspace->source;
    for (guint i = 0; i < files->len; i++) {
        const struct orch_opened_file *file = files->pdata[i];
        if (ok && has_same_file(watch, then.source->tree, now->tree, file->name))
            g_hash_table_add(watch->verified, verified_key(file));
        else
            add_name(names, file->name);
    }
    give_back(watch, &then);
}

/* Adds the captured files that a trial has read and that were not, or are not any more, as they
 * were captured. */
static void add_read_otherwise(struct orch_input_watch *watch, const struct orch_opened *opened,
                               int64_t started_ns, GPtrArray *names)
{
    g_autoptr(GPtrArray) doubtful = g_ptr_array_new();
    for (guint i = 0; i < opened->read->len; i++) {
        struct orch_opened_file *file = opened->read->pdata[i];
        if (!is_captured(watch, file->name) || is_accepted(watch, file->name))
            continue;
        if (!orch_opened_is_same(opened, file, started_ns))
            add_name(names, file->name);
        else if (is_read_too_new(watch, file))
            g_ptr_array_add(doubtful, file);
    }
    if (doubtful->len)
        add_differing(watch, doubtful, names);
}

static void accept_name(struct orch_input_watch *watch, const char *name)
{
    get(watch, name)->is_accepted = true;
}

/* Moves from `names` to `outputs` what the trial has written. */
static void take_outputs(struct orch_input_watch *watch, GPtrArray *names, GHashTable *written,
                         GHashTable *outputs)
{
    for (guint i = names->len; i-- > 0;) {
        const char *name = names->pdata[i];
        if (!g_hash_table_contains(written, name))
            continue;
        accept_name(watch, name);
        g_hash_table_add(outputs, g_strdup(name));
        g_ptr_array_remove_index(names, i);
    }
}

/* Lets the next look compare the content of files that a trial has read otherwise. */
static void doubt(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                  const GPtrArray *names)
{
    GPtrArray *reads = reads_of(watch, trial->cell->experiment);
    for (guint i = 0; i < names->len; i++) {
        struct input *input = add_read(watch, reads, names->pdata[i], NULL);
        if (!input || input->is_known)
            continue;
        input->is_known = true;
        input->captured = (struct orch_file_id){.is_known = true, .inode = -1}; /* of no file */
    }
}

/* A trial has ended that may have written files. Adds to `others` those of which all trials that
 * ran then have ended, and none has written them. */
static void clear_of_suspicion(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial,
                               const struct orch_opened *opened, GPtrArray *others)
{
    for (guint i = watch->suspected->len; i-- > 0;) {
        struct input *input = watch->suspected->pdata[i];
        if (!g_hash_table_remove(input->suspects, trial))
            continue;
        input->is_accepted = input->is_accepted || !orch_opened_is_whole(opened) ||
                             g_hash_table_contains(opened->written, input->path);
        if (g_hash_table_size(input->suspects) && !input->is_accepted)
            continue;
        if (!input->is_accepted)
            add_name(others, input->path);
        g_clear_pointer(&input->suspects, g_hash_table_unref);
        g_ptr_array_remove_index(watch->suspected, i);
    }
}

void orch_input_watch_judge(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            const struct orch_opened *opened, int64_t started_ns,
                            const struct orch_input_judgement *out)
{
    GPtrArray *code = out->code, *data = out->data;
    take_outputs(watch, code, opened->written, out->outputs);
    take_outputs(watch, data, opened->written, out->outputs);
    clear_of_suspicion(watch, trial, opened, out->others);
    if (orch_opened_is_whole(opened)) {
        add_read_otherwise(watch, opened, started_ns, code);
        doubt(watch, trial, code);
        g_ptr_array_set_size(data, 0);
    }
    for (guint i = 0; i < data->len; i++)
        accept_name(watch, data->pdata[i]);
}

void orch_input_watch_learn(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            const struct orch_opened *opened, int64_t started_ns)
{
    GPtrArray *reads = reads_of(watch, trial->cell->experiment);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, opened->written);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        accept_name(watch, name);
    for (guint i = 0; i < opened->read->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        const struct orch_opened_file *file = opened->read->pdata[i];
        g_autofree char *path = orch_opened_path(opened, file->name);
        const struct input *known = g_hash_table_lookup(watch->inputs, file->name);
        bool is_new = !known || !known->is_read;
        if (!is_new || !orch_opened_is_same(opened, file, started_ns))
            continue;
        bool has_digest = !is_captured(watch, file->name) &&
                          orch_reads_digest(watch->all->digests, path, NULL, digest, NULL);
        struct input *input = add_read(watch, reads, file->name, has_digest ? digest : NULL);
        if (!input || input->is_known)
            continue;
        input->is_known = true;
        input->captured = file->read.is_known ? file->read : look_at(watch, file->name);
    }
}
