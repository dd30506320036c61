/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "store/exchange/results_ref.h"

#include <string.h>
#include <unistd.h>

/* Excludes a checkout inside the repository from the source. Its files would otherwise count as
 * code that runs depend on, and make every run stale. */
static void keep_out_of_source(struct orch_cli *cli, const char *root, const char *dest)
{
    static const char text[] =
        "# written by 'orch checkout': this copy is no part of the source\n*\n";
    g_autofree char *folder = g_canonicalize_filename(dest, NULL);
    g_autofree char *file = g_build_filename(folder, ".gitignore", NULL);
    size_t length = strlen(root);
    bool is_inside = strncmp(folder, root, length) == 0 &&
                     (folder[length] == '/' || (length && root[length - 1] == '/'));
    if (!is_inside)
        return;
    if (access(file, F_OK) == 0 || !orch_file_write(file, text, strlen(text), false, NULL))
        orch_cli_warn(cli,
                      "'%s' lies in the repository, so its files count as part of its source\n"
                      "  hint: add '%s/' to .gitignore, or remove it when you have seen it",
                      dest, dest);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_run *run = store ? orch_store_run(store, cli->args[0], error) : NULL;
    if (!run)
        return -1;
    g_autofree char *dest = cli->arg_count > 1
                                ? g_strdup(cli->args[1])
                                : g_strdup_printf("run-%s", orch_cli_short_key(run->key));
    struct orch_vcs *vcs = cli->workspace->vcs;
    bool is_whole = run->source_tree && vcs && orch_vcs_has_tree(vcs, run->source_tree);
    g_autofree char *part = run->source_tree && vcs && !is_whole
                                ? orch_git_shared_source(orch_vcs_root(vcs), run->source_tree)
                                : NULL;
    int status = -1;
    if (!run->source_tree) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "run %s is unversioned: it was made in no git repository",
                       orch_cli_short_key(run->key));
    } else if (!is_whole && !part) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "its source stays where it was run unless it is shared ('orch push "
                       "--with-source'); ask its author",
                       "tree %s of run %s (by %s) is not in this repository", run->source_tree,
                       orch_cli_short_key(run->key), run->who);
    } else if (orch_vcs_checkout(vcs, is_whole ? run->source_tree : part, dest, error)) {
        keep_out_of_source(cli, orch_vcs_root(vcs), dest);
        if (cli->json)
            orch_cli_print_json(json_pack("{s:s s:s s:s s:b}", "run", run->key, "tree",
                                          run->source_tree, "folder", dest, "whole", is_whole));
        else
            printf("%s\n", dest);
        orch_cli_say(cli,
                     is_whole ? "the source of run %s is in '%s'"
                              : "the inputs of run %s are in '%s': they are all of its source "
                                "that was shared",
                     orch_cli_short_key(run->key), dest);
        status = ORCH_EXIT_OK;
    }
    orch_run_free(run);
    return status;
}

const struct orch_command ORCH_COMMAND_CHECKOUT = {
    .name = "checkout",
    .group = "Looking",
    .summary = "write the source tree that a run was made from into a folder",
    .usage = "RUN [DIR]",
    .min_args = 1,
    .max_args = 2,
    .about =
        "Includes uncommitted and untracked files as they were when the run started. Your own work "
        "tree, index and branches are not touched. DIR must be empty or absent; default: run-KEY.",
    .examples = "  orch checkout @last /tmp/then",
    .run = run,
};
