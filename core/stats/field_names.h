/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that runs can be grouped by, for messages about a name that none of them has. */
#ifndef ORCH_CORE_STATS_FIELD_NAMES_H
#define ORCH_CORE_STATS_FIELD_NAMES_H

#include "store/store.h"

/** Returns what to write instead of `name`, which none of `runs` (struct orch_run *) has: the
 * nearest name, or that it is a metric, or the names that there are. The caller frees. */
char *orch_field_hint(struct orch_store *store, const GPtrArray *runs, const char *name);

#endif
