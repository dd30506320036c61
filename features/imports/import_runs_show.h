/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_FEATURES_IMPORTS_IMPORT_RUNS_SHOW_H
#define ORCH_FEATURES_IMPORTS_IMPORT_RUNS_SHOW_H

#include "core/cli/cli.h"

/** Runs `orch import --runs PATH`: reads the runs at cli->args[0], adds them to the store, and
 * prints a row for each. Returns the exit status. */
int orch_cli_import_runs(struct orch_cli *cli, const char **params, bool dry_run, GError **error);

#endif
