/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signs runs after a command. */
#ifndef ORCH_FEATURES_SHARE_SIGNATURES_H
#define ORCH_FEATURES_SHARE_SIGNATURES_H

#include "core/cli/cli.h"

/** Signs the user's unsigned runs when `asked` (--sign), or when git's orch.sign is set. The store
 * must be open for writing. Prints and returns the number of new signatures. Returns -1 with an
 * error only when `asked`; otherwise a failure is a warning. */
int orch_cli_signatures_make(struct orch_cli *cli, struct orch_store *store, bool is_requested,
                             GError **error);

#endif
