/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch db adopt`: trusts a store from another machine as this user's own, after a confirmation. */
#include "core/cli/cli.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"

#include <stdio.h>
#include <unistd.h>

struct adopt_options {
    bool yes;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct adopt_options, yes, FLAG, "yes", .letter = 'y', .help = "do not ask"), {0}};

/* Asks for confirmation, which only a user at a terminal can give. */
static bool is_agreed(const struct adopt_options *o, const char *path, GError **error)
{
    char answer[16] = "";
    if (o->yes)
        return true;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        fprintf(stderr,
                "'%s': did you make this store? Its runs will count as yours, and your programs\n"
                "will load its checkpoints and artifacts. [y/N] ",
                path);
        if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
            return true;
    }
    orch_error_set(error, ORCH_ERROR_USAGE,
                   orch_advice(ORCH_ADVICE_OTHERS_STORE, "if you made this store, add --yes"),
                   "cannot adopt store '%s' without --yes", path);
    return false;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct adopt_options *o = options;
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return -1;
    const char *path = workspace->db_path;
    if (!is_agreed(o, path, error) || !orch_workspace_adopt_store(workspace, error))
        return -1;
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s}", "adopted", path));
    else
        orch_cli_print("%s", path);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_DB_ADOPT = {
    .name = "db adopt",
    .group = "Maintain",
    .summary = "allow writing to a store copied from another machine",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct adopt_options),
    .about = "A store that another user or another machine made can be read and merged into yours, "
             "but not changed. Adopt only a store that you made yourself: your programs will load "
             "its checkpoints and artifacts.",
    .examples = "  orch db adopt                  # this repository's store, copied from a laptop",
    .run = run,
};
