/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of layers of a network that was read from a file, by the names of its parameters. */
#ifndef ORCH_FEATURES_PREDICT_NAME_GROUPS_H
#define ORCH_FEATURES_PREDICT_NAME_GROUPS_H

#include "lib/net/net.h"

/** The name up to its first number: "h.3" of "h.3.attn.c_attn"; else all of it. `has_number` may be
 * NULL. Caller frees. */
char *orch_net_block_name(const char *name, bool *has_number);
/** Sets the groups of a network that has none: layers whose names agree up to their first number,
 * with what lies behind them and has no parameters. Changes nothing where no name has a number. */
void orch_net_group_by_names(struct orch_net *net);

#endif
