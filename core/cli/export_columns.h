/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of exported runs: what they are called and where their values come from. */
#ifndef ORCH_CORE_CLI_EXPORT_COLUMNS_H
#define ORCH_CORE_CLI_EXPORT_COLUMNS_H

#include "core/report/group.h"

struct export_columns;

/** `names`: "lr,val_accuracy" as a user types them, NULL: all that the runs of `query` have. A name
 * is one of a run itself (run, state, experiment, ...), else param.NAME, result.NAME, metric.NAME
 * (its last value), best.NAME, min.NAME, ...; a bare one is looked for in this order. NULL with
 * ORCH_ERROR_USAGE for what no run has. */
struct export_columns *export_columns_new(struct orch_store *store,
                                          const struct orch_run_query *query, const char *names,
                                          GError **error);
void export_columns_free(struct export_columns *columns);

guint export_columns_count(const struct export_columns *columns);
const char *export_columns_header(const struct export_columns *columns, guint column);

/** A run's values: json_t * (null where it has none), one a column; the caller unrefs. NULL on an
 * error of the store. */
GPtrArray *export_columns_values(const struct export_columns *columns, struct orch_store *store,
                                 const struct orch_run *run, GError **error);

#endif
