/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access to the group's results and claims, and messages about them, for `run`, `plan` and
 * `coverage`. */
#ifndef ORCH_FEATURES_SHARE_SHARING_H
#define ORCH_FEATURES_SHARE_SHARING_H

#include "core/cli/cli.h"
#include "features/share/shared_run.h"

struct sharing;
/** Releases this user's claims. Accepts NULL. */
void orch_cli_sharing_close(struct sharing *sharing);
/** Opens the group's results and claims; `remote` NULL: the default. NULL with an error when there
 * is none. */
struct sharing *orch_cli_sharing_open(struct orch_cli *cli, const char *remote, GError **error);
/** Marks all trials that others are running on any machine. */
void orch_cli_sharing_mark_anywhere(struct sharing *sharing, struct orch_plan *plan);
/** Returns the claim of a HELD item; NULL when it is unknown. Borrowed. */
const struct orch_claim *orch_cli_sharing_holder(const struct sharing *sharing,
                                                 const struct orch_plan_item *item);

#endif
