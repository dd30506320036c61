/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What commands say before they exchange results with the group's remote. */
#ifndef ORCH_FEATURES_SHARE_REMOTE_WARN_H
#define ORCH_FEATURES_SHARE_REMOTE_WARN_H

#include "core/cli/cli.h"
#include "features/share/remote.h"

/** Warns of programs that the repository's own configuration would make git run. Returns true. */
bool orch_cli_remote_warn(struct orch_cli *cli, const struct orch_remote *remote);
/** Returns whether git may ask for a password: a user is at the terminal. */
bool orch_cli_may_prompt(const struct orch_cli *cli);

#endif
