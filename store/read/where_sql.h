/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A filter and the columns of runs as SQL.
 */
#ifndef ORCH_STORE_WHERE_SQL_H
#define ORCH_STORE_WHERE_SQL_H

#include "store/handle/handle.h"

/** The SQL condition over `run r`, `source s`, `machine m`; owned by `where`. */
const char *orch_store_where_sql(const struct orch_where *where);
/** Binds the values of the condition from parameter `first` on. Returns the next free parameter. */
int orch_store_where_bind(const struct orch_where *where, sqlite3_stmt *statement, int first);
/** Fails with ORCH_ERROR_USAGE when the filter uses a bare name that does not occur in any run. */
bool orch_store_where_check_names(struct orch_store *store, const struct orch_where *where,
                                  GError **error);
/** A column of runs, as SQL over `run r`, `source s`, `machine m`. */
struct store_column {
    const char *sql; /* its next `name_count` parameters are bound to `name` */
    char *name;      /* owned, or NULL */
    int name_count;
};
/** Finds a column by its name as in a condition, or by min(metric) or max(metric). False when
 * `text` is not a valid name. */
bool orch_store_column_of(const char *text, struct store_column *out);
/** The name of built-in column `index` of a run; NULL after the last. */
const char *orch_store_column_name(size_t index);
/** SQL that lists all names of a scope ("param", "result" or "metric"). */
const char *orch_store_scope_names_sql(const char *prefix);

#endif
