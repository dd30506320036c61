/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signatures of runs: made after a command, judged and shown. */
#ifndef ORCH_CORE_CLI_SIGNATURES_H
#define ORCH_CORE_CLI_SIGNATURES_H

#include "core/cli/cli.h"

/** Signs what the user ran and has not signed yet, when `asked` (--sign) or when git's orch.sign
 * says so; the store must be open for writing. Says and returns how many; -1 with an error only
 * when it was asked for: else what goes wrong is a warning. */
int cli_signatures_make(struct orch_cli *cli, struct orch_store *store, bool asked, GError **error);

/** What signatures of a run are worth, a text each: "signed by ada@example.org", "signed by a key
 * that nobody here knows, SHA256:...". The caller unrefs. NULL with an error. */
GPtrArray *cli_signatures_of(struct orch_cli *cli, struct orch_store *store, const char *run_key,
                             GError **error);
/** The same as JSON: [{state, signer, fits}]. New reference, NULL with an error. */
json_t *cli_signatures_json(struct orch_cli *cli, struct orch_store *store, const char *run_key,
                            GError **error);

/** All signatures of a store: what is wrong is added to `findings`, what there is to `json`, and
 * printed unless --json. */
bool cli_signatures_check(struct orch_cli *cli, struct orch_store *store, GPtrArray *findings,
                          json_t *json, GError **error);

#endif
