/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/remote_warn.h"

#include <unistd.h>

bool orch_cli_remote_warn(struct orch_cli *cli, const struct orch_remote *remote)
{
    const GPtrArray *names = remote->ignored;
    for (guint i = 0; names && i < names->len; i++)
        orch_cli_warn(cli,
                      "git's '%s' is ignored, because it names a program and is set only in this "
                      "repository\n  hint: if you trust this program: git config --global %s "
                      "\"$(git config %s)\"",
                      (const char *)names->pdata[i], (const char *)names->pdata[i],
                      (const char *)names->pdata[i]);
    return true;
}

bool orch_cli_may_prompt(const struct orch_cli *cli)
{
    return isatty(STDIN_FILENO) && cli->stderr_is_tty;
}
