/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves settings that break a limit of their search (`subject to`) out of what is ranked. */
#ifndef ORCH_FEATURES_COMPARE_ALLOWED_SETTINGS_H
#define ORCH_FEATURES_COMPARE_ALLOWED_SETTINGS_H

#include "core/report/items.h"

/** Removes from `runs` (struct orch_run *) all runs of a setting of which one breaks a limit of the
 * search that made it. `*out_text`: what was left out; NULL: nothing was. Caller frees. */
bool orch_allowed_runs_keep(struct orch_store *store, GPtrArray *runs, char **out_text,
                            GError **error);
/** As orch_section_grid, but without the trials of such settings: of them none is the best. A
 * search's settings are grouped by their values where the item has no axis. */
struct orch_section_grid *orch_allowed_grid(struct orch_section_context *a, const char *rows_key,
                                            const char *columns_key, GError **error);

#endif
