/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records an ended run: its row, details, points and digest in one transaction, which also removes
 * its active row and claim.
 */
#include "store/handle/sql.h"
#include "store/write/write.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

static bool drop_active(struct orch_store *store, const char *key, GError **error)
{
    return orch_store_run_statement(store, error, "DELETE FROM active WHERE key = ?", "t", key);
}

/* A run with this key is already stored, which is fine when it is the same run. The record is
 * written under an unused key, to compute its digest, and rolled back. */
static bool compare_with_stored(struct orch_store *store, const struct orch_record *record,
                                const char *stored, GError **error)
{
    g_autofree char *other = g_strconcat(record->key, "#", NULL);
    struct store_written written;
    if (!orch_store_exec(store, "SAVEPOINT compare", "write to", error))
        return false;
    if (!orch_store_write_run(store, record, other, "", &written, error) ||
        !orch_store_exec(store, "ROLLBACK TO compare; RELEASE compare", "write to", error))
        return false;
    if (strcmp(written.digest, stored) == 0)
        return drop_active(store, record->key, error);
    orch_error_set(error, ORCH_ERROR_STORE,
                   "a finished run cannot change: record it under a new key",
                   "cannot record run '%s' in store '%s': it is stored with digest %.12s, but its "
                   "new digest is %.12s",
                   record->key, store->path, stored, written.digest);
    return false;
}

static bool write_or_compare(struct orch_store *store, const struct orch_record *record,
                             char digest[ORCH_SHA256_CHARS], GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, "SELECT digest FROM run WHERE key = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "t", record->key);
    int more = orch_store_step(store, s, error);
    if (more > 0) {
        g_strlcpy(digest, orch_store_text(s, 0), ORCH_SHA256_CHARS);
        sqlite3_reset(s);
        return compare_with_stored(store, record, digest, error);
    }
    struct store_written written;
    if (more < 0 || !orch_store_write_run(store, record, record->key, "", &written, error) ||
        !orch_store_seal_run(store, &written, error))
        return false;
    g_strlcpy(digest, written.digest, ORCH_SHA256_CHARS);
    return drop_active(store, record->key, error);
}

/* Commits and, on failure, checks whether the run was stored. With a rollback journal the last sync
 * follows the point at which the commit takes effect: when that sync fails, SQLite reports an error
 * although the run is stored. */
static bool commit_and_look(struct orch_store *store, const char *key, const char *digest,
                            GError **error)
{
    GError *problem = NULL;
    int64_t there = 0;
    if (orch_store_transaction_commit(store, &problem))
        return true;
    if (orch_store_get_int(store, &there, 0, NULL,
                           "SELECT EXISTS (SELECT 1 FROM run WHERE key = ?1 AND digest = ?2)"
                           " AND NOT EXISTS (SELECT 1 FROM active WHERE key = ?1)",
                           "tt", key, digest) &&
        there) {
        g_clear_error(&problem);
        return true;
    }
    g_propagate_error(error, problem);
    return false;
}

bool orch_store_record(struct orch_store *store, const struct orch_record *record, GError **error)
{
    if (!record->key || !*record->key || !record->state || !*record->state) {
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "cannot record a run without key or state");
        return false;
    }
    char digest[ORCH_SHA256_CHARS] = "";
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (write_or_compare(store, record, digest, error))
        return commit_and_look(store, record->key, digest, error);
    orch_store_transaction_rollback(store);
    return false;
}
