/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether files hold what was captured. */
#include "core/inputs/input_watch_private.h"

#include "core/inputs/content_digest.h"
#include "lib/base/file.h"

#include <string.h>

/* What `verified` has for a file. The caller frees. */
char *orch_watched_key(const struct orch_opened_file *file)
{
    return g_strdup_printf("%s %" G_GINT64_FORMAT, file->name, file->read.changed_ns);
}

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
        const struct watched_input *input = changed->pdata[i];
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
bool orch_watched_has_captured(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial, const GPtrArray *changed)
{
    struct then then;
    bool is_same = capture_again(watch, &then) && is_same_code(watch, trial) &&
                   is_same_data(watch, trial) && are_same_reads(watch, changed, &then);
    give_back(watch, &then);
    return is_same;
}

/* Adds the names of those files that differ from the captured ones, according to a new capture. */
void orch_watched_differing(struct orch_input_watch *watch, const GPtrArray *files,
                            GPtrArray *names)
{
    struct then then;
    bool ok = capture_again(watch, &then);
    const struct orch_source *now = watch->all->workspace->source;
    for (guint i = 0; i < files->len; i++) {
        const struct orch_opened_file *file = files->pdata[i];
        if (ok && has_same_file(watch, then.source->tree, now->tree, file->name))
            g_hash_table_add(watch->verified, orch_watched_key(file));
        else
            orch_texts_add_once(names, file->name);
    }
    give_back(watch, &then);
}
