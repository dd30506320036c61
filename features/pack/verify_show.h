/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the results of verifying packs. */
#ifndef ORCH_FEATURES_PACK_VERIFY_SHOW_H
#define ORCH_FEATURES_PACK_VERIFY_SHOW_H

#include "core/cli/cli.h"

/** Prints the outcome of a verification (orch_verified_json). */
void orch_cli_verify_show(struct orch_cli *cli, const char *path, const json_t *outcome);

/** Verifies every pack of a folder, each in a separate process, and compares them. Returns the exit
 * status; -1 with an error. */
int orch_cli_verify_class(struct orch_cli *cli, const char *folder, bool is_full, int jobs,
                          GError **error);

#endif
