/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bounds that plugins declare for their metrics: 0 and 1 of an accuracy. */
#ifndef ORCH_CORE_REPORT_METRIC_BOUNDS_H
#define ORCH_CORE_REPORT_METRIC_BOUNDS_H

#include "core/report/trials.h"

/** Returns an empty table of bounds, name -> struct orch_bounds. The caller unrefs. */
GHashTable *orch_bounds_new(void);
/** Adds the bounds of a plugin's metrics. Where two plugins declare different bounds for one name,
 * the name has none. */
void orch_bounds_add(GHashTable *bounds, const struct orch_manifest *manifest);
/** Computes the spread of a value of the trials, within its metric's bounds. `unit` may be NULL. */
struct orch_spread orch_trials_spread(const struct orch_trials *trials,
                                      const struct orch_item_value *value, const char *unit,
                                      const GArray *numbers);

#endif
