/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a group shares through, as it is named on the command line: a git remote or a folder. */
#ifndef ORCH_CORE_CLI_REMOTE_H
#define ORCH_CORE_CLI_REMOTE_H

#include "core/cli/cli.h"
#include "store/exchange/results_ref.h"

struct cli_remote {
    char *name;     /* of a git remote, a URL, or a path */
    bool is_folder; /* a plain one */
};
/** `said` NULL: the default (git config orch.remote, the branch's, origin). Release with
 * cli_remote_clear. ORCH_ERROR_IO: there is none. */
bool cli_remote_choose(struct orch_cli *cli, const char *said, struct cli_remote *out,
                       GError **error);
void cli_remote_clear(struct cli_remote *remote);

/** Pulls, pushes or looks by the kind of remote. `store` may be open for reading for a look. */
bool cli_remote_exchange(struct orch_cli *cli, struct orch_store *store,
                         const struct cli_remote *remote, enum orch_exchange_way way,
                         struct orch_git_exchange *how, struct orch_exchanged *out,
                         GArray **out_outgoing, GError **error);

/** --artifacts: "all", "none" or bytes ("4MiB"); NULL: the default. */
bool cli_artifact_bytes(const char *text, int64_t *out, GError **error);

#endif
