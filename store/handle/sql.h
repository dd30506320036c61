/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prepared statements, transactions, errors.
 *
 * A statement is prepared once for each store and cached under the address of its SQL literal.
 * Every helper that can fail sets a GError which names the file and ends with a hint.
 */
#ifndef ORCH_STORE_SQL_H
#define ORCH_STORE_SQL_H

#include "store/handle/handle.h"

/** Sets `error` from the last SQLite failure: "cannot DOING store 'PATH': why", with a hint.
 * Returns false. */
bool orch_store_fail(struct orch_store *store, GError **error, const char *doing);

/** Like orch_store_fail, for a result code when the handle cannot be asked. */
bool orch_store_fail_code(const char *path, int code, int system_errno, GError **error,
                          const char *doing);

/** Returns the prepared statement of a SQL literal, reset and without bindings, or NULL on failure.
 * Owned by the store. The same literal must not be used again while its statement is being
 * stepped. */
sqlite3_stmt *orch_store_statement(struct orch_store *store, const char *sql_literal,
                                   GError **error);

/** Binds values from parameter 1 on: 't' text (const char *; NULL binds NULL; invalid UTF-8 is
 * repaired; must live until the statement is done), 'i' int64_t, 'r' double (NaN binds NULL), 'n'
 * NULL. */
void orch_store_bind(sqlite3_stmt *statement, const char *types, ...);

/** Steps once. Returns 1 for a row, 0 when done and -1 on failure; the statement is reset in the
 * last two cases. */
int orch_store_step(struct orch_store *store, sqlite3_stmt *statement, GError **error);

/** Prepares a statement that returns no rows, binds (as orch_store_bind) and runs it. */
bool orch_store_run_statement(struct orch_store *store, GError **error, const char *sql_literal,
                              const char *types, ...);

/** Runs a query that returns one integer. `*out` is `fallback` when it returns no row. */
bool orch_store_get_int(struct orch_store *store, int64_t *out, int64_t fallback, GError **error,
                        const char *sql_literal, const char *types, ...);

/** Executes SQL without parameters (several statements are allowed). */
bool orch_store_exec(struct orch_store *store, const char *sql, const char *doing, GError **error);

/** A column as borrowed text, valid until the next step. Returns "" for NULL, and a substitute for
 * invalid UTF-8: a file that was edited by hand can contain either where the schema forbids it. */
const char *orch_store_text(sqlite3_stmt *statement, int column);
/** A column as owned text; NULL for NULL. */
char *orch_store_column_text(sqlite3_stmt *statement, int column);
/** Binds a text. NULL binds NULL, and invalid UTF-8 is repaired. When the text is longer than
 * SQLite allows, the result is SQLITE_TOOBIG and the step fails. */
int orch_store_bind_text(sqlite3_stmt *statement, int index, const char *text);
/** A column as a double; NaN for NULL. */
double orch_store_column_real(sqlite3_stmt *statement, int column);
/** Ids as a JSON array, for json_each(?). Caller frees. The list is then the outer loop of a CROSS
 * JOIN: SQLite would else look through it for every row of the store. */
char *orch_store_ids_text(const int64_t *ids, size_t count);
/** Visits the texts that a bound statement returns, until `visit` returns false; NULL is left out.
 */
bool orch_store_visit_texts(struct orch_store *store, sqlite3_stmt *statement,
                            bool (*visit)(void *ctx, const char *text), void *ctx, GError **error);

/** Begins a transaction (BEGIN IMMEDIATE). Within another one it becomes part of that. */
bool orch_store_transaction_begin(struct orch_store *store, GError **error);
/** Commits the transaction, unless it is part of another one. Rolls back on failure. */
bool orch_store_transaction_commit(struct orch_store *store, GError **error);
/** Rolls back everything since the first orch_store_transaction_begin: when a part fails, the whole
 * must fail. */
void orch_store_transaction_rollback(struct orch_store *store);

/** Fails when the store was opened for reading. */
bool orch_store_is_writable(struct orch_store *store, GError **error);

#endif
