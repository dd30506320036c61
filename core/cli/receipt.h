/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a join did, as merge and pull print it. */
#ifndef ORCH_CORE_CLI_RECEIPT_H
#define ORCH_CORE_CLI_RECEIPT_H

#include "core/cli/cli.h"
#include "store/join.h"

/** As an object; NULL gives null. New reference. */
json_t *cli_receipt_json(const struct orch_receipt *receipt);
/** Prints who added what (stdout), the sums and each problem (stderr). Not for --json. */
void cli_receipt_print(struct orch_cli *cli, const struct orch_receipt *receipt);
/** ORCH_EXIT_CHECK when something conflicted or was refused; ORCH_EXIT_OK, also for NULL. */
int cli_receipt_status(const struct orch_receipt *receipt);

#endif
