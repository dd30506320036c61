/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/source_copy.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "store/exchange/results_ref.h"

#include <string.h>
#include <unistd.h>

/* Excludes a copy inside the repository from the source. Its files would otherwise count as code
 * that runs depend on, and make every run stale. False when that is not possible. */
static bool keep_out_of_source(const char *root, const char *dest)
{
    static const char text[] =
        "# written by 'orch checkout': this copy is no part of the source\n*\n";
    g_autofree char *folder = g_canonicalize_filename(dest, NULL);
    g_autofree char *file = g_build_filename(folder, ".gitignore", NULL);
    return !orch_path_below(folder, root) ||
           (access(file, F_OK) != 0 && orch_file_write(file, text, strlen(text), false, NULL));
}

static bool write_source(struct orch_vcs *vcs, const struct orch_run *run,
                         struct orch_source_copy *out, GError **error)
{
    const char *key = orch_run_short_key(run->key);
    if (!run->source_tree) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "run %s is unversioned: it was not made in a git repository", key);
        return false;
    }
    out->is_whole = vcs && orch_vcs_has_tree(vcs, run->source_tree);
    g_autofree char *part =
        vcs && !out->is_whole ? orch_git_shared_source(orch_vcs_root(vcs), run->source_tree) : NULL;
    if (!out->is_whole && !part) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       orch_advice(ORCH_ADVICE_NO_SOURCE, "ask its author to share the source"),
                       "tree %s of run %s (by %s) is not in this repository", run->source_tree, key,
                       run->who);
        return false;
    }
    if (!orch_vcs_checkout(vcs, out->is_whole ? run->source_tree : part, out->folder, error))
        return false;
    out->counts_as_source = !keep_out_of_source(orch_vcs_root(vcs), out->folder);
    return true;
}

bool orch_source_copy_write(struct orch_workspace *workspace, const char *named, const char *folder,
                            struct orch_source_copy *out, GError **error)
{
    struct orch_run *run = orch_store_run(workspace->store, named, error);
    if (!run)
        return false;
    *out = (struct orch_source_copy){
        .run_key = g_strdup(run->key),
        .tree = g_strdup(run->source_tree),
        .folder =
            folder ? g_strdup(folder) : g_strdup_printf("run-%s", orch_run_short_key(run->key))};
    bool ok = write_source(workspace->vcs, run, out, error);
    orch_run_free(run);
    if (!ok)
        orch_source_copy_clear(out);
    return ok;
}

void orch_source_copy_clear(struct orch_source_copy *copy)
{
    g_free(copy->run_key);
    g_free(copy->tree);
    g_free(copy->folder);
    *copy = (struct orch_source_copy){0};
}
