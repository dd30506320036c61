/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/remote.h"

#include "lib/base/error.h"
#include "lib/wire/value.h"

#include <string.h>
#include <unistd.h>

bool cli_remote_choose(struct orch_cli *cli, const char *said, struct cli_remote *out,
                       GError **error)
{
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return false;
    out->name = said ? g_strdup(said) : orch_git_remote_default(workspace->root, error);
    if (!out->name)
        return false;
    out->is_folder = orch_folder_is(out->name) && !orch_git_remote_is(workspace->root, out->name);
    return true;
}

void cli_remote_clear(struct cli_remote *remote)
{
    g_clear_pointer(&remote->name, g_free);
}

/* Warns of programs that the repository's own configuration makes git run. */
static void warn_of_programs(struct orch_cli *cli)
{
    const GPtrArray *names = orch_vcs_programs_not_run(cli->workspace->root);
    for (guint i = 0; i < names->len; i++)
        orch_cli_warn(cli,
                      "git's '%s' is not followed: it names a program, and only this repository's "
                      "own settings have it\n  hint: if it is yours: git config --global %s "
                      "\"$(git config %s)\"",
                      (const char *)names->pdata[i], (const char *)names->pdata[i],
                      (const char *)names->pdata[i]);
}

bool cli_remote_exchange(struct orch_cli *cli, struct orch_store *store,
                         const struct cli_remote *remote, enum orch_exchange_way way,
                         struct orch_git_exchange *how, struct orch_exchanged *out,
                         GArray **out_outgoing, GError **error)
{
    if (remote->is_folder) {
        if (out_outgoing)
            *out_outgoing = NULL;
        return orch_folder_exchange(store, remote->name, way, &how->choice, out, error);
    }
    warn_of_programs(cli);
    how->repository = cli->workspace->root;
    how->remote = remote->name;
    how->may_ask = isatty(STDIN_FILENO) && cli->stderr_is_tty;
    return orch_git_exchange(store, how, way, out, out_outgoing, error);
}

bool cli_artifact_bytes(const char *text, int64_t *out, GError **error)
{
    static const struct orch_param_spec spec = {.name = "artifacts", .type = ORCH_BYTES};
    *out = ORCH_ARTIFACT_BYTES_DEFAULT;
    if (!text)
        return true;
    bool is_all = strcmp(text, "all") == 0;
    if (is_all || strcmp(text, "none") == 0) {
        *out = is_all ? -1 : 0;
        return true;
    }
    json_t *value = orch_value_parse(&spec, text, NULL);
    bool ok = json_is_integer(value) && json_integer_value(value) >= 0;
    if (ok)
        *out = json_integer_value(value);
    else
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --artifacts 4MiB, all or none",
                       "option '--artifacts': '%s' is no number of bytes", text);
    json_decref(value);
    return ok;
}
