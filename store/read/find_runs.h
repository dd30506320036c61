/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds runs from what a user types: a key, a prefix of one, @last, or a filter. */
#ifndef ORCH_STORE_FIND_RUNS_H
#define ORCH_STORE_FIND_RUNS_H

#include "store/store.h"

/** The active row whose key begins or ends with `text` (4 or more characters), or NULL. The caller
 * frees. */
struct orch_active_row *orch_store_find_active(struct orch_store *store, const char *text);

/** Runs that match a filter and ended ok or diverged, newest first. Fails with ORCH_ERROR_NOT_FOUND
 * when there is none. struct orch_run *; the caller unrefs. */
GPtrArray *orch_store_filter_runs(struct orch_store *store, const char *filter, GError **error);

/** The runs that `text` names: one run when it is a key or @last; when it contains an operator, it
 * is a filter, and all matching runs that ended ok or diverged are returned. struct orch_run *; the
 * caller unrefs. */
GPtrArray *orch_store_find_runs(struct orch_store *store, const char *text, GError **error);

#endif
