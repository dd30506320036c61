/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/handle/meta.h"

#include "store/handle/sql.h"

#include <string.h>

/* The table meta also holds the schema version; keys set here begin with a word and a dot. */

char *orch_store_remembered(struct orch_store *store, const char *name, GError **error)
{
    sqlite3_stmt *statement =
        orch_store_statement(store, "SELECT value FROM meta WHERE key = ?", error);
    if (!statement)
        return NULL;
    orch_store_bind(statement, "t", name);
    char *text = NULL;
    if (orch_store_step(store, statement, error) == 1)
        text = orch_store_column_text(statement, 0);
    sqlite3_reset(statement);
    return text;
}

bool orch_store_remember(struct orch_store *store, const char *name, const char *text,
                         GError **error)
{
    g_assert(strchr(name, '.'));
    return orch_store_is_writable(store, error) && orch_store_transaction_begin(store, error) &&
           (orch_store_run_statement(store, error,
                                     "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", "tt",
                                     name, text) ||
            (orch_store_transaction_rollback(store), false)) &&
           orch_store_transaction_commit(store, error);
}

int64_t orch_store_private_notes(struct orch_store *store, GError **error)
{
    int64_t count;
    bool ok = orch_store_get_int(
        store, &count, 0, error,
        "SELECT count(*) FROM note WHERE public = 0 AND kind NOT IN ('tombstone', 'restored')", "");
    return ok ? count : -1;
}

bool orch_store_has_source(struct orch_store *store, const char *tree, GError **error)
{
    int64_t found = 0;
    return orch_store_get_int(store, &found, 0, error,
                              "SELECT 1 FROM source s WHERE s.tree = ? AND EXISTS"
                              " (SELECT 1 FROM run r WHERE r.source = s.id) LIMIT 1",
                              "t", tree) &&
           found == 1;
}
