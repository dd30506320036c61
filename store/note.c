/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be said about a run after it ended: notes, tags, tombstones; recipes' texts; and purge,
 * the one way to drop points and artifacts here. */
#include "store/internal.h"

#include "lib/base/error.h"

#include <string.h>

bool orch_store_put_recipe(struct orch_store *store, const char *key, const char *name,
                           const char *canonical, const char *verbatim, GError **error)
{
    int64_t known;
    if (!store_get_int(store, &known, 0, error, "SELECT 1 FROM recipe WHERE key = ?", "t", key))
        return false;
    if (known)
        return true; /* without waiting for the lock */
    if (!store_begin(store, error))
        return false;
    if (store_run(store, error,
                  "INSERT INTO recipe(key, name, canonical, verbatim) VALUES(?, ?, ?, ?)"
                  " ON CONFLICT DO NOTHING",
                  "tttt", key, name, canonical, verbatim))
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

/* The number of a run; 0 with ORCH_ERROR_NOT_FOUND. */
static int64_t run_number(struct orch_store *store, const char *key, GError **error)
{
    int64_t id;
    if (!store_get_int(store, &id, 0, error, "SELECT id FROM run WHERE key = ?", "t", key))
        return 0;
    if (!id)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the runs",
                       "no run '%s' in store '%s'", key, store->path);
    return id;
}

/* A tombstone of one's own run carries the name that the run has, an older one perhaps: by that
 * alone every store knows that its author hid it. NULL: the run is somebody else's. The caller
 * frees. */
static char *own_name(struct orch_store *store, const char *run_key)
{
    sqlite3_stmt *s = store_statement(store, "SELECT who FROM run WHERE key = ?", NULL);
    if (!s)
        return NULL;
    store_bind(s, "t", run_key);
    g_autofree char *who = store_step(store, s, NULL) > 0 ? store_column_text(s, 0) : NULL;
    sqlite3_reset(s);
    return orch_who_is_same(who, orch_user_name()) ? g_steal_pointer(&who) : NULL;
}

static bool insert_note(struct orch_store *store, const char *run_key, const char *kind,
                        bool is_public, const char *text, GError **error)
{
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    if (!run_number(store, run_key, error))
        return false;
    bool is_tombstone = strcmp(kind, "tombstone") == 0;
    g_autofree char *own = is_tombstone ? own_name(store, run_key) : NULL;
    if (is_tombstone && !own)
        is_public = false; /* one cannot hide others' runs but for oneself */
    return store_run(store, error,
                     "INSERT INTO note(key, target, kind, public, text, who, made)"
                     " VALUES(?, ?, ?, ?, ?, ?, ?)",
                     "tttitti", key, run_key, kind, (int64_t)is_public, text,
                     own ? own : orch_user_name(), orch_now_ns());
}

bool orch_store_note(struct orch_store *store, const char *run_key, const char *kind,
                     bool is_public, const char *text, GError **error)
{
    static const char *const kinds[] = {"note", "tag", "tombstone", "signature", NULL};
    if (!g_strv_contains(kinds, kind)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "a note is one of: note, tag, tombstone, signature",
                       "unknown kind of note '%s'", kind);
        return false;
    }
    if (!store_begin(store, error))
        return false;
    if (insert_note(store, run_key, kind, is_public, text, error))
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

static bool purge(struct orch_store *store, const char *run_key, GError **error)
{
    int64_t id = run_number(store, run_key, error);
    return id &&
           store_run(store, error,
                     "INSERT INTO purged(run, made) VALUES(?, ?) ON CONFLICT DO NOTHING", "ii", id,
                     orch_now_ns()) &&
           store_run(store, error, "DELETE FROM metric WHERE run = ?", "i", id) &&
           store_run(store, error, "DELETE FROM artifact WHERE run = ?", "i", id);
}

bool orch_store_purge(struct orch_store *store, const char *run_key, GError **error)
{
    if (!store_begin(store, error))
        return false;
    if (purge(store, run_key, error))
        return store_commit(store, error);
    store_rollback(store);
    return false;
}
