/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the source that a run was made from into a folder. */
#include "core/cli/parts.h"
#include "core/record/kept_files.h"
#include "core/workspace/workspace.h"
#include "features/share/remotes/results_ref.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

/* ---- the source of a run ------------------------------------------------------------------------
 */

struct source_copy {
    char *run_key, *tree, *folder;
    bool is_whole;         /* false: only the inputs, which is all that was shared */
    unsigned kept;         /* files that the run kept, which are there now, too */
    unsigned kept_away;    /* of those the ones whose content is not in this store */
    bool counts_as_source; /* the folder is in the repository and could not be kept out of its
                              source */
};

static void source_copy_clear(struct source_copy *copy)
{
    g_free(copy->run_key);
    g_free(copy->tree);
    g_free(copy->folder);
    *copy = (struct source_copy){0};
}

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

/* Writes a kept file into the folder, unless the source has one there. */
static bool write_kept(struct orch_store *store, const struct orch_stored_artifact *artifact,
                       const char *path, struct source_copy *out, GError **error)
{
    g_autofree char *object = orch_store_object_path(store, artifact->sha256);
    g_autofree char *to = g_build_filename(out->folder, path, NULL);
    g_autofree char *parent = g_path_get_dirname(to);
    if (!artifact->here || !object) {
        out->kept_away++;
        return true;
    }
    out->kept++;
    return access(to, F_OK) == 0 ||
           (orch_dir_make(parent, error) && orch_file_copy(object, to, error));
}

static bool write_all_kept(struct orch_store *store, const struct orch_run *run,
                           struct source_copy *out, GError **error)
{
    g_autoptr(GPtrArray) artifacts = orch_store_artifacts(store, run->id, error);
    bool ok = artifacts != NULL;
    for (guint i = 0; ok && i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        g_autofree char *path = orch_kept_file_path(artifact->name);
        ok = !path || write_kept(store, artifact, path, out, error);
    }
    return ok;
}

static bool write_source(struct orch_vcs *vcs, const struct orch_run *run, struct source_copy *out,
                         GError **error)
{
    const char *key = orch_run_short_key(run->key);
    if (!run->source_tree) {
        orch_error_set(
            error, ORCH_ERROR_NOT_FOUND, NULL,
            "run %s has no source code in the store: it was not made in a git repository", key);
        return false;
    }
    if (vcs && !orch_vcs_start(vcs, error))
        return false;
    out->is_whole = vcs && orch_vcs_has_tree(vcs, run->source_tree);
    g_autofree char *part =
        vcs && !out->is_whole ? orch_git_shared_source(orch_vcs_root(vcs), run->source_tree) : NULL;
    if (!out->is_whole && !part) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "ask the run's author to share the source ('orch push --with-source')",
                       "tree %s of run %s (by %s) is not in this repository", run->source_tree, key,
                       run->who);
        return false;
    }
    if (!orch_vcs_checkout(vcs, out->is_whole ? run->source_tree : part, out->folder, error))
        return false;
    out->counts_as_source = !keep_out_of_source(orch_vcs_root(vcs), out->folder);
    return true;
}

/* Writes the captured tree of the run that `named` names, or its shared part, into `folder` (NULL:
 * "run-KEY"), which must be empty or absent. A folder inside the repository gets a .gitignore, so
 * that it does not count as source. The workspace's store must be open. ORCH_ERROR_NOT_FOUND when
 * the run has no source or it is not here. Clear with source_copy_clear. */
static bool source_copy_write(struct orch_workspace *workspace, const char *named,
                              const char *folder, struct source_copy *out, GError **error)
{
    struct orch_run *run = orch_store_run(workspace->store, named, error);
    if (!run)
        return false;
    *out = (struct source_copy){
        .run_key = g_strdup(run->key),
        .tree = g_strdup(run->source_tree),
        .folder =
            folder ? g_strdup(folder) : g_strdup_printf("run-%s", orch_run_short_key(run->key))};
    bool ok = write_source(workspace->vcs, run, out, error) &&
              write_all_kept(workspace->store, run, out, error);
    orch_run_free(run);
    if (!ok)
        source_copy_clear(out);
    return ok;
}

/* Shows a part that stands alone, such as the run's environment in place of its source. */
static bool show_part(struct orch_cli *cli, GError **error)
{
    struct orch_run *run = orch_store_run(cli->workspace->store, cli->args[0], error);
    const struct orch_subject subject = {.store = cli->workspace->store, .run = run};
    bool ok = run && orch_cli_part_alone_show(cli, &subject, error);
    orch_run_free(run);
    return ok;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct source_copy copy;
    if (!orch_cli_store(cli, ORCH_STORE_READ, error))
        return -1;
    if (orch_cli_has_part_alone(cli))
        return show_part(cli, error) ? ORCH_EXIT_OK : -1;
    if (!source_copy_write(cli->workspace, cli->args[0], cli->arg_count > 1 ? cli->args[1] : NULL,
                           &copy, error))
        return -1;
    if (copy.counts_as_source)
        orch_cli_warn(cli,
                      "'%s' lies in the repository, so its files count as the repository's source\n"
                      "  hint: add '%s/' to .gitignore",
                      copy.folder, copy.folder);
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s s:s s:s s:b s:i s:i}", "run", copy.run_key, "tree",
                                      copy.tree, "folder", copy.folder, "whole", copy.is_whole,
                                      "kept", (int)copy.kept, "kept_away", (int)copy.kept_away));
    else
        printf("%s\n", copy.folder);
    orch_cli_info(cli,
                  copy.is_whole
                      ? "the source of run %s is in '%s'"
                      : "the inputs of run %s are in '%s': the rest of the source was not shared",
                  orch_run_short_key(copy.run_key), copy.folder);
    if (copy.kept_away)
        orch_cli_warn(cli, "this store lacks the content of %u file%s that the run kept",
                      copy.kept_away, orch_plural(copy.kept_away));
    source_copy_clear(&copy);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_CHECKOUT = {
    .name = "checkout",
    .group = "Look at results",
    .summary = "write the source tree of a run into a folder",
    .usage = "RUN [DIR]",
    .min_args = 1,
    .max_args = 2,
    .about = "The tree includes the files that were not committed when the run started. Your own "
             "files and branches are not touched. DIR must be empty or absent (default: run-KEY).",
    .examples = "  orch checkout @last /tmp/then",
    .run = run,
};
