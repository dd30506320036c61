/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signs runs after a command, and verifies and shows signatures. */
#ifndef ORCH_FEATURES_SHARE_SIGNATURES_H
#define ORCH_FEATURES_SHARE_SIGNATURES_H

#include "core/cli/cli.h"

/** Signs the user's unsigned runs when `asked` (--sign), or when git's orch.sign is set. The store
 * must be open for writing. Prints and returns the number of new signatures. Returns -1 with an
 * error only when `asked`; otherwise a failure is a warning. */
int orch_cli_signatures_make(struct orch_cli *cli, struct orch_store *store, bool is_requested,
                             GError **error);

/** Verifies the signatures of a run. Returns one text for each: "signed by ada@example.org",
 * "signed by a key that nobody here knows, SHA256:...". The caller unrefs. NULL with an error. */
GPtrArray *orch_cli_signatures_of(struct orch_cli *cli, struct orch_store *store,
                                  const char *run_key, GError **error);
/** The same as JSON: [{state, signer, fits}]. New reference, NULL with an error. */
json_t *orch_cli_signatures_json(struct orch_cli *cli, struct orch_store *store,
                                 const char *run_key, GError **error);

/** Verifies all signatures of a store. Problems are added to `findings` and all results to `json`;
 * they are printed unless --json. */
bool orch_cli_signatures_check(struct orch_cli *cli, struct orch_store *store, GPtrArray *findings,
                               json_t *json, GError **error);

#endif
