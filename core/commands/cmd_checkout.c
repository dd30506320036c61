/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/results/source_copy.h"

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_source_copy copy;
    if (!orch_cli_store(cli, ORCH_STORE_READ, error) ||
        !orch_source_copy_write(cli->workspace, cli->args[0],
                                cli->arg_count > 1 ? cli->args[1] : NULL, &copy, error))
        return -1;
    if (copy.counts_as_source)
        orch_cli_warn(cli,
                      "'%s' lies in the repository, so its files count as part of its source\n"
                      "  hint: add '%s/' to .gitignore, or remove it when you have seen it",
                      copy.folder, copy.folder);
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s s:s s:s s:b}", "run", copy.run_key, "tree", copy.tree,
                                      "folder", copy.folder, "whole", copy.is_whole));
    else
        printf("%s\n", copy.folder);
    orch_cli_info(cli,
                  copy.is_whole ? "the source of run %s is in '%s'"
                                : "the inputs of run %s are in '%s': they are all of its source "
                                  "that was shared",
                  orch_cli_short_key(copy.run_key), copy.folder);
    orch_source_copy_clear(&copy);
    return ORCH_EXIT_OK;
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
