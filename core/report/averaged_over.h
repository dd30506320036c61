/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means over trials of several settings: in what the trials differ besides the axes. */
#ifndef ORCH_CORE_REPORT_AVERAGED_OVER_H
#define ORCH_CORE_REPORT_AVERAGED_OVER_H

#include "core/report/grid.h"

/** Adds to `names` (char *, owned) what distinguishes trials that are averaged: "experiments", what
 * was swept, and for runs of a filter also the values that were set for a whole sweep, and the
 * command. `trials`: struct orch_report_trial *; those without a run are skipped. Names in `axes`
 * (NULL-terminated) are not added. */
void orch_mixed_add(const struct orch_trials *of, const GPtrArray *trials, const char *const *axes,
                    GPtrArray *names);
/** Formats "means include runs that differ in epochs, batch" in the words of plugins. NULL without
 * names. The caller frees. */
char *orch_mixed_text(const struct orch_trials *of, const GPtrArray *names);
/** The same for the cells of a grid. The caller frees. */
char *orch_grid_mixed(const struct orch_grid *grid);

#endif
