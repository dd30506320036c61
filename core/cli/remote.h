/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The place through which a group shares results: a git remote or a folder, as named on the
 * command line. */
#ifndef ORCH_CORE_CLI_REMOTE_H
#define ORCH_CORE_CLI_REMOTE_H

#include "core/cli/cli.h"
#include "store/exchange/results_ref.h"

struct cli_remote {
    char *name;     /* a git remote's name, a URL, or a path */
    bool is_folder; /* a plain folder */
};
/** Resolves a remote. `said` NULL selects the default (git config orch.remote, the branch's remote,
 * origin). Release with cli_remote_clear. ORCH_ERROR_IO when there is none. */
bool cli_remote_choose(struct orch_cli *cli, const char *said, struct cli_remote *out,
                       GError **error);
void cli_remote_clear(struct cli_remote *remote);

/** Pulls, pushes or compares, with a git remote or a folder. For a comparison `store` may be open
 * for reading. */
bool cli_remote_exchange(struct orch_cli *cli, struct orch_store *store,
                         const struct cli_remote *remote, enum orch_exchange_way way,
                         struct orch_git_exchange *how, struct orch_exchanged *out,
                         GArray **out_outgoing, GError **error);

/** Parses --artifacts: "all", "none" or a size ("4MiB"); NULL: the default. */
bool cli_artifact_bytes(const char *text, int64_t *out, GError **error);

#endif
