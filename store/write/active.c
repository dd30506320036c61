/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running trials: claims and active rows. Local to this file, never merged.
 *
 * A claim is a row of `lease` whose resource names what must not run twice at the same time: the
 * fingerprint, with the device_key where that matters, or the trial's own key when no run is
 * reused. It is deleted with the active row that owns it. Whether the owner is alive is not checked
 * here.
 */
#include "store/write/active.h"
#include "store/handle/sql.h"
#include "store/handle/store_dir.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"

#include <string.h>
#include <unistd.h>

/* Fetches the key in the first row of a statement. */
static bool take_key(struct orch_store *store, sqlite3_stmt *s, bool *out_found, char *out_key,
                     GError **error)
{
    int more = orch_store_step(store, s, error);
    *out_found = more > 0;
    if (more > 0 && out_key)
        g_strlcpy(out_key, orch_store_text(s, 0), ORCH_KEY_CHARS);
    sqlite3_reset(s);
    return more >= 0;
}

/* Finds a reusable run of the trial. When the plan ignored earlier runs, only runs that ended after
 * the plan was made count. */
static bool find_done(struct orch_store *store, const struct orch_active *a, const char *device_key,
                      bool *out_found, char *out_key, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT r.key FROM run r WHERE r.fingerprint = ?1 AND r.state IN " STORE_REUSED_STATES
        " AND (?2 IS NULL OR r.device_key = ?2) AND r.ended > ?3"
        " AND r.id NOT IN " STORE_HIDDEN " ORDER BY r.ended DESC LIMIT 1",
        error);
    if (!s)
        return false;
    orch_store_bind(s, "tti", a->fingerprint, device_key,
                    a->done_after_ns ? a->done_after_ns : INT64_MIN);
    return take_key(store, s, out_found, out_key, error);
}

/* Finds a process that has claimed the trial. */
static bool find_holder(struct orch_store *store, const struct orch_active *a,
                        const char *device_key, bool *out_found, char *out_key, GError **error)
{
    sqlite3_stmt *s =
        orch_store_statement(store,
                             "SELECT a.key FROM active a JOIN lease l ON l.owner = a.key"
                             " WHERE a.fingerprint = ?1 AND (?2 IS NULL OR a.device_key = ?2)"
                             " AND l.resource <> a.key LIMIT 1",
                             error);
    if (!s)
        return false;
    orch_store_bind(s, "tt", a->fingerprint, device_key);
    return take_key(store, s, out_found, out_key, error);
}

static bool insert_active(struct orch_store *store, const struct orch_active *a,
                          const char *resource, GError **error)
{
    return orch_store_run_statement(
               store, error,
               "INSERT INTO active(key, fingerprint, device_key, record, boot_id,"
               " pid, pid_start, started) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
               "tttttiii", a->key, a->fingerprint, a->device_key, a->record, a->runner.boot_id,
               a->runner.pid, a->runner.start, a->started_ns) &&
           orch_store_run_statement(store, error, "INSERT INTO lease(resource, owner) VALUES(?, ?)",
                                    "tt", resource, a->key);
}

/* Runs inside the transaction, because a trial that was free when the plan was made may be claimed
 * now. */
static bool claim(struct orch_store *store, const struct orch_active *a, enum orch_reuse reuse,
                  enum orch_begin *out, char *out_key, GError **error)
{
    const char *device_key = reuse == ORCH_REUSE_DEVICE ? a->device_key : NULL;
    bool found = false;
    if (reuse != ORCH_REUSE_NEVER) {
        if (!find_done(store, a, device_key, &found, out_key, error))
            return false;
        *out = ORCH_BEGIN_DONE;
        if (found)
            return true;
        if (!find_holder(store, a, device_key, &found, out_key, error))
            return false;
        *out = ORCH_BEGIN_HELD;
        if (found)
            return true;
    }
    g_autofree char *resource = reuse == ORCH_REUSE_NEVER ? g_strdup(a->key)
                                : device_key
                                    ? g_strdup_printf("trial %s at %s", a->fingerprint, device_key)
                                    : g_strdup_printf("trial %s", a->fingerprint);
    *out = ORCH_BEGIN_STARTED;
    return insert_active(store, a, resource, error);
}

bool orch_store_begin_all(struct orch_store *store, struct orch_beginning *rows, unsigned count,
                          GError **error)
{
    if (store->shards)
        store->shards->refresh(store); /* another host may have run a trial */
    if (!orch_store_transaction_begin(store, error))
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct orch_beginning *row = &rows[i];
        bool is_new = row->is_forced || !row->active.fingerprint;
        if (!claim(store, &row->active, is_new ? ORCH_REUSE_NEVER : row->reuse, &row->outcome,
                   row->other, error)) {
            orch_store_transaction_rollback(store);
            return false;
        }
    }
    return orch_store_transaction_commit(store, error);
}

bool orch_store_begin(struct orch_store *store, const struct orch_active *active,
                      enum orch_reuse reuse, bool force, enum orch_begin *out, char *out_key,
                      GError **error)
{
    struct orch_beginning row = {.active = *active, .reuse = reuse, .is_forced = force};
    if (!orch_store_begin_all(store, &row, 1, error))
        return false;
    *out = row.outcome;
    if (*row.other && out_key)
        g_strlcpy(out_key, row.other, ORCH_KEY_CHARS);
    return true;
}

void orch_active_row_free(struct orch_active_row *row)
{
    if (!row)
        return;
    g_free(row->key);
    g_free(row->fingerprint);
    g_free(row->device_key);
    g_free(row->trial_dir);
    g_free(row->record);
    g_free(row);
}

GPtrArray *orch_store_actives_all(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT key, fingerprint, device_key, record, boot_id, pid, pid_start, started"
        " FROM active ORDER BY started, key",
        error);
    if (!s)
        return NULL;
    GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)orch_active_row_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_active_row *row = g_new0(struct orch_active_row, 1);
        row->key = g_strdup(orch_store_text(s, 0));
        row->trial_dir = orch_store_dir_path(store, ORCH_STORE_DIR_TRIAL, row->key);
        row->fingerprint = g_strdup(orch_store_text(s, 1));
        row->device_key = g_strdup(orch_store_text(s, 2));
        row->record = orch_store_column_text(s, 3);
        g_strlcpy(row->runner.boot_id, orch_store_text(s, 4), ORCH_KEY_CHARS);
        row->runner.pid = sqlite3_column_int64(s, 5);
        row->runner.start = sqlite3_column_int64(s, 6);
        row->started_ns = sqlite3_column_int64(s, 7);
        if (row->trial_dir)
            g_ptr_array_add(rows, row);
        else
            orch_active_row_free(row); /* invalid key: the trial's folder cannot be found */
    }
    if (more == 0)
        return rows;
    g_ptr_array_unref(rows);
    return NULL;
}

GPtrArray *orch_store_actives(struct orch_store *store, GError **error)
{
    return store->is_own ? orch_store_actives_all(store, error)
                         : g_ptr_array_new_with_free_func((GDestroyNotify)orch_active_row_free);
}

bool orch_store_adopt(struct orch_store *store, const char *key, const struct orch_process *from,
                      bool *out_taken, GError **error)
{
    struct orch_process self;
    if (!orch_process_get(getpid(), &self)) {
        orch_error_set(error, ORCH_ERROR_IO, "mount /proc",
                       "cannot read '/proc/%d/stat' of this process", (int)getpid());
        return false;
    }
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (!orch_store_run_statement(
            store, error,
            "UPDATE active SET boot_id = ?, pid = ?, pid_start = ?"
            " WHERE key = ? AND substr(boot_id, 1, 36) = ? AND pid = ? AND pid_start = ?",
            "tiittii", self.boot_id, self.pid, self.start, key, from->boot_id, from->pid,
            from->start)) {
        orch_store_transaction_rollback(store);
        return false;
    }
    bool taken = sqlite3_changes(store->db) == 1;
    if (!orch_store_transaction_commit(store, error))
        return false;
    *out_taken = taken;
    return true;
}

bool orch_store_forget(struct orch_store *store, const char *key, GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (orch_store_run_statement(store, error, "DELETE FROM active WHERE key = ?", "t", key))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

bool orch_store_has_twin(struct orch_store *store, const char *key, const char *fingerprint)
{
    sqlite3_stmt *s =
        store->is_own
            ? orch_store_statement(
                  store, "SELECT key FROM active WHERE fingerprint = ? AND key <> ?", NULL)
            : NULL;
    bool found = false;
    if (!s)
        return false;
    orch_store_bind(s, "tt", fingerprint, key);
    return take_key(store, s, &found, NULL, NULL) && found;
}

bool orch_store_hand_over(struct orch_store *store, const struct orch_handover *rows,
                          unsigned count, GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    bool ok = true;
    for (unsigned i = 0; ok && i < count; i++)
        ok = orch_store_run_statement(
            store, error, "UPDATE active SET boot_id = ?, pid = ?, pid_start = ? WHERE key = ?",
            "tiit", rows[i].to.boot_id, rows[i].to.pid, rows[i].to.start, rows[i].key);
    if (ok)
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

bool orch_store_adopt_all(struct orch_store *store, const GPtrArray *rows, bool *out_taken,
                          GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        if (!orch_store_adopt(store, row->key, &row->runner, &out_taken[i], error)) {
            orch_store_transaction_rollback(store);
            return false;
        }
    }
    return orch_store_transaction_commit(store, error);
}
