/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what a user types to runs: a key, a prefix, @last; or a filter that names several. */
#ifndef ORCH_CORE_CLI_FIND_H
#define ORCH_CORE_CLI_FIND_H

#include "core/cli/cli.h"

/** The active row whose key begins or ends with `text` (4 or more characters), or NULL. */
struct orch_active_row *orch_cli_find_active(struct orch_store *store, const char *text);

/** The trial of a live runner that began last, or NULL. The caller frees. */
struct orch_active_row *orch_cli_newest_active(struct orch_store *store);

/** Runs that match a filter and ended ok or diverged, newest first; at least one, else
 * ORCH_ERROR_NOT_FOUND. struct orch_run *; the caller unrefs. */
GPtrArray *orch_cli_filter_runs(struct orch_store *store, const char *filter, GError **error);

/** Runs named by `text`: one, when it is a key or @last; else all that match it as a filter and
 * ended ok or diverged (it then holds an operator). struct orch_run *; the caller unrefs. */
GPtrArray *orch_cli_find_runs(struct orch_store *store, const char *text, GError **error);

#endif
