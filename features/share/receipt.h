/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the result of a merge or pull. */
#ifndef ORCH_FEATURES_SHARE_RECEIPT_H
#define ORCH_FEATURES_SHARE_RECEIPT_H

#include "core/cli/cli.h"
#include "features/share/merge.h"

/** Returns the result as an object; JSON null for NULL. New reference. */
json_t *orch_cli_receipt_json(const struct orch_receipt *receipt);
/** Prints who added what (stdout), and the totals and each problem (stderr). Not for --json. */
void orch_cli_receipt_print(struct orch_cli *cli, const struct orch_receipt *receipt);
/** Returns ORCH_EXIT_CHECK when a run conflicted or was refused, else ORCH_EXIT_OK, also for NULL.
 */
int orch_cli_receipt_status(const struct orch_receipt *receipt);

#endif
