/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Column names of exported runs, and the lookup of their values. */
#ifndef ORCH_FEATURES_EXPORT_EXPORT_COLUMNS_H
#define ORCH_FEATURES_EXPORT_EXPORT_COLUMNS_H

#include "core/stats/group.h"

struct orch_export_columns;

/** Parses a list of column names. `names` is "lr,val_accuracy" as a user types it; NULL selects
 * all columns that the runs of `query` have. A column is a field of the run (run, state,
 * experiment, ...), param.NAME, result.NAME, metric.NAME (the last value), best.NAME, min.NAME,
 * ...; a bare name is looked up in this order. NULL with ORCH_ERROR_USAGE when no run has such
 * a column. */
struct orch_export_columns *orch_export_columns_new(struct orch_store *store,
                                                    const struct orch_run_query *query,
                                                    const char *names, GError **error);
void orch_export_columns_free(struct orch_export_columns *columns);

guint orch_export_columns_count(const struct orch_export_columns *columns);
const char *orch_export_columns_header(const struct orch_export_columns *columns, guint column);

/** Returns a run's values as json_t *, one for each column (null: the run has none); the caller
 * unrefs. NULL when the store cannot be read. */
GPtrArray *orch_export_columns_values(const struct orch_export_columns *columns,
                                      struct orch_store *store, const struct orch_run *run,
                                      GError **error);

#endif
