/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a simulation leaves: CSV tables, and sums over its updates. */
#ifndef ORCH_PLUGINS_STALENESS_UPDATE_TABLE_H
#define ORCH_PLUGINS_STALENESS_UPDATE_TABLE_H

#include "plugins/staleness/learner_model.h"

/** The table of updates, in the order of their application, with what proves each staleness: the
 * versions that were read and updated, and the updates in between by name. Caller frees. */
GString *orch_staleness_table(const struct orch_staleness_run *run);
/** Counts the updates of each staleness: element s is the number of updates of staleness s. Caller
 * unrefs. */
GArray *orch_staleness_counts(const struct orch_staleness_run *run);
/** The counts as a table: staleness, updates, share. Caller frees. */
GString *orch_staleness_histogram(const GArray *counts);
/** "mean_staleness = (0 + 0 + 2) / 3 = 0.66667". Caller frees. */
char *orch_staleness_working(const struct orch_staleness_run *run, double mean);
/** "staleness of g[L1,1], g[L1,2]: 0, 0". Caller frees. */
char *orch_staleness_by_learner(const struct orch_staleness_run *run, int learner);

#endif
