/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few points of a series, found by seeking in the index. */
#ifndef ORCH_STORE_SPARK_H
#define ORCH_STORE_SPARK_H

#include "lib/base/thin_series.h"
#include "store/store.h"

/** Returns the first, the last and up to `count` - 2 points between them of a metric of a run
 * (struct orch_thin_point, by step): those at or behind steps that are spread evenly. Peaks between
 * them may be missing. Empty when the run has no such metric; NULL with an error. The caller
 * unrefs. */
GArray *orch_store_spark(struct orch_store *store, int64_t run_id, const char *metric,
                         unsigned count, GError **error);
/** Returns whether a metric of a run has more than `points` points: 1, 0, or -1 with an error. */
int orch_store_series_is_long(struct orch_store *store, int64_t run_id, const char *metric,
                              int64_t points, GError **error);

#endif
