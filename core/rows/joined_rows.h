/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training rows of several sources, the runs and data sets of a store, as one table. */
#ifndef ORCH_CORE_ROWS_JOINED_ROWS_H
#define ORCH_CORE_ROWS_JOINED_ROWS_H

#include "core/rows/training_rows.h"
#include "lib/base/csv.h"

/** All requested rows as one table with the columns of all sources; missing values are "". GPUs
 * have their name in the hardware table where it lists them. `keys` gets the run key or data set
 * name of each row, `readings` (char *) how data sets are understood where their columns do not say
 * it. The caller frees. */
struct orch_csv *orch_joined_rows(struct orch_store *store,
                                  const struct orch_training_request *request, GPtrArray *keys,
                                  GPtrArray *readings, GError **error);

#endif
