/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Additions to a run after it ended (notes, tags, tombstones), the texts of recipes, and purge, the
 * only way to delete points and artifact references here. */
#include "store/handle/sql.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"

#include <string.h>

bool orch_store_put_recipe(struct orch_store *store, const char *key, const char *name,
                           const char *canonical, const char *verbatim, GError **error)
{
    int64_t known;
    if (!orch_store_get_int(store, &known, 0, error, "SELECT 1 FROM recipe WHERE key = ?", "t",
                            key))
        return false;
    if (known)
        return true; /* known without taking the write lock */
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (orch_store_run_statement(
            store, error,
            "INSERT INTO recipe(key, name, canonical, verbatim) VALUES(?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            "tttt", key, name, canonical, verbatim))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

/* The id of a run; 0 with ORCH_ERROR_NOT_FOUND. */
static int64_t run_number(struct orch_store *store, const char *key, GError **error)
{
    int64_t id;
    if (!orch_store_get_int(store, &id, 0, error, "SELECT id FROM run WHERE key = ?", "t", key))
        return 0;
    if (!id)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the stored runs",
                       "no run '%s' in store '%s'", key, store->path);
    return id;
}

/* `*out`: the author's name as recorded in the user's own run, perhaps an older name of the user. A
 * tombstone or restored note carries it, because other stores recognise the author by that name
 * alone. NULL when the run has another author. The caller frees. */
static bool own_name(struct orch_store *store, const char *run_key, char **out, GError **error)
{
    *out = NULL;
    sqlite3_stmt *s = orch_store_statement(store, "SELECT who FROM run WHERE key = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "t", run_key);
    int more = orch_store_step(store, s, error);
    g_autofree char *who = more > 0 ? orch_store_column_text(s, 0) : NULL;
    sqlite3_reset(s);
    if (orch_who_is_same(who, orch_user_name()))
        *out = g_steal_pointer(&who);
    return more >= 0;
}

bool orch_store_note_kind_is_known(const char *kind)
{
    static const char *const kinds[] = {"note",      "tag",      "untag",     "name",
                                        "tombstone", "restored", "signature", "view",
                                        "counted",   "promise",  NULL};
    return kind && g_strv_contains(kinds, kind);
}

bool orch_store_note_kind_hides(const char *kind)
{
    return strcmp(kind, "tombstone") == 0 || strcmp(kind, "restored") == 0;
}

/* The kinds that a note of this kind competes with; the newest of them takes effect. */
static const char *rivals_of(const char *kind)
{
    static const struct {
        const char *kind, *rivals;
    } rows[] = {{"tombstone", "tombstone restored"},
                {"restored", "tombstone restored"},
                {"tag", "tag untag"},
                {"untag", "tag untag"},
                {"name", "name"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].kind, kind) == 0)
            return rows[i].rivals;
    return NULL;
}

/* The time of a new note: now, or later than all competing notes when the clock of one was fast.
 * One that was too fast counts for nothing (STORE_NOTE_TIME). */
static bool made_at(struct orch_store *store, const char *run_key, const char *kind, int64_t *out,
                    GError **error)
{
    int64_t last = 0;
    *out = orch_now_ns();
    const char *rivals = rivals_of(kind);
    if (!rivals)
        return true;
    /* notes by others that have no effect on names and hiding are ignored */
    if (!orch_store_get_int(
            store, &last, 0, error,
            "SELECT max(" STORE_NOTE_TIME(
                "n") ") FROM note n JOIN run r ON r.key = n.target"
                     " WHERE n.target = ?1 AND instr(?2, n.kind) AND (n.kind IN ('tag', 'untag')"
                     " OR " STORE_TAKES_EFFECT("n", "r") ")",
            "tt", run_key, rivals))
        return false;
    *out = MAX(*out, last + 1);
    return true;
}

static bool insert_note(struct orch_store *store, const char *run_key, const char *kind,
                        bool is_public, const char *text, GError **error)
{
    char key[ORCH_KEY_CHARS];
    int64_t made;
    orch_key_make(key);
    bool hides = orch_store_note_kind_hides(kind);
    g_autofree char *own = NULL;
    if (!run_number(store, run_key, error) || !made_at(store, run_key, kind, &made, error) ||
        (hides && !own_name(store, run_key, &own, error)))
        return false;
    if (hides && !own)
        is_public = false; /* other authors' runs can be hidden only in this store */
    return orch_store_run_statement(store, error,
                                    "INSERT INTO note(key, target, kind, public, text, who, made)"
                                    " VALUES(?, ?, ?, ?, ?, ?, ?)",
                                    "tttitti", key, run_key, kind, (int64_t)is_public, text,
                                    own ? own : orch_user_name(), made);
}

bool orch_store_note(struct orch_store *store, const char *run_key, const char *kind,
                     bool is_public, const char *text, GError **error)
{
    if (!orch_store_note_kind_is_known(kind)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "use note, tag, untag, name, tombstone, restored or signature",
                       "unknown kind of note '%s'", kind);
        return false;
    }
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (insert_note(store, run_key, kind, is_public, text, error))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

/* ---- hidden runs --------------------------------------------------------------------------------
 */

#define HIDING                                                                                     \
    "SELECT n.who, n.text, n.public, n.made FROM note n JOIN run r ON " STORE_HIDES(               \
        "n", "r") " WHERE r.key = ?1"

void orch_hidden_free(struct orch_hidden *hidden)
{
    if (!hidden)
        return;
    g_free(hidden->who);
    g_free(hidden->why);
    g_free(hidden);
}

struct orch_hidden *orch_store_hidden(struct orch_store *store, const char *run_key, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, HIDING " ORDER BY n.public DESC, " STORE_NOTE_TIME("n") " DESC, n.key LIMIT 1",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "t", run_key);
    if (orch_store_step(store, s, error) <= 0)
        return NULL;
    struct orch_hidden *hidden = g_new0(struct orch_hidden, 1);
    hidden->who = orch_store_column_text(s, 0);
    hidden->why = orch_store_column_text(s, 1);
    hidden->is_public = sqlite3_column_int(s, 2);
    hidden->made_ns = sqlite3_column_int64(s, 3);
    sqlite3_reset(s);
    return hidden;
}

/* Undoes the private tombstones, and the public ones when the run is the user's own. */
static bool restore(struct orch_store *store, const char *run_key, const char *text, GError **error)
{
    g_autofree char *own = NULL;
    if (!own_name(store, run_key, &own, error))
        return false;
    for (int is_public = 0; is_public < (own ? 2 : 1); is_public++) {
        int64_t hides = 0;
        if (!orch_store_get_int(store, &hides, 0, error,
                                "SELECT count(*) FROM (" HIDING " AND n.public = ?2)", "ti",
                                run_key, (int64_t)is_public) ||
            (hides && !insert_note(store, run_key, "restored", is_public, text, error)))
            return false;
    }
    return true;
}

bool orch_store_restore(struct orch_store *store, const char *run_key, const char *text,
                        GError **error)
{
    if (!run_number(store, run_key, error) || !orch_store_transaction_begin(store, error))
        return false;
    if (restore(store, run_key, text, error))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

static bool purge(struct orch_store *store, const char *run_key, GError **error)
{
    int64_t id = run_number(store, run_key, error);
    return id &&
           orch_store_run_statement(
               store, error, "INSERT INTO purged(run, made) VALUES(?, ?) ON CONFLICT DO NOTHING",
               "ii", id, orch_now_ns()) &&
           orch_store_run_statement(store, error, "DELETE FROM metric WHERE run = ?", "i", id) &&
           orch_store_run_statement(store, error, "DELETE FROM artifact WHERE run = ?", "i", id);
}

bool orch_store_purge(struct orch_store *store, const char *run_key, GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (purge(store, run_key, error))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}
