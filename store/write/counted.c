/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/counted.h"

#include "store/handle/sql.h"

char *orch_store_counted_target(const char *recipe, const char *experiment)
{
    return g_strconcat(STORE_COUNTED, recipe, "/", experiment, NULL);
}

/* The keys that are noted for a target; NULL with an error. */
static GHashTable *read_noted(struct orch_store *store, const char *target, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT text FROM note WHERE target = ?1 AND kind = 'counted' AND public = 0",
        error);
    if (!s)
        return NULL;
    GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int more;
    orch_store_bind(s, "t", target);
    while ((more = orch_store_step(store, s, error)) > 0)
        g_hash_table_add(keys, g_strdup(orch_store_text(s, 0)));
    if (more < 0)
        g_clear_pointer(&keys, g_hash_table_unref);
    return keys;
}

static bool insert(struct orch_store *store, const char *target, const char *run_key,
                   GError **error)
{
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    return orch_store_run_statement(store, error,
                                    "INSERT INTO note(key, target, kind, public, text, who, made)"
                                    " VALUES(?, ?, 'counted', 0, ?, ?, ?)",
                                    "tttti", key, target, run_key, orch_user_name(), orch_now_ns());
}

/* Notes one run, unless it was made under that name or is in `noted`. `*inout_begun`: a transaction
 * has begun. */
static bool note_one(struct orch_store *store, const char *recipe,
                     const struct orch_counted *counted, const char *target, GHashTable *noted,
                     bool *inout_begun, GError **error)
{
    int64_t has_other_name = 0;
    if (g_hash_table_contains(noted, counted->key))
        return true;
    if (!orch_store_get_int(store, &has_other_name, 0, error,
                            "SELECT 1 FROM run r WHERE r.key = ?1"
                            " AND NOT (r.recipe IS ?2 AND r.experiment IS ?3)",
                            "ttt", counted->key, recipe, counted->experiment))
        return false;
    g_hash_table_add(noted, g_strdup(counted->key));
    if (!has_other_name)
        return true;
    if (!*inout_begun && !orch_store_transaction_begin(store, error))
        return false;
    *inout_begun = true;
    return insert(store, target, counted->key, error);
}

bool orch_store_count_runs(struct orch_store *store, const char *recipe,
                           const struct orch_counted *counted, size_t count, GError **error)
{
    bool has_begun = false, ok = true;
    g_autoptr(GHashTable) by_target =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
    for (size_t i = 0; ok && i < count; i++) {
        char *target = orch_store_counted_target(recipe, counted[i].experiment);
        GHashTable *noted = g_hash_table_lookup(by_target, target);
        if (!noted && (noted = read_noted(store, target, error)))
            g_hash_table_insert(by_target, g_strdup(target), noted);
        ok = noted && note_one(store, recipe, &counted[i], target, noted, &has_begun, error);
        g_free(target);
    }
    if (has_begun && ok)
        return orch_store_transaction_commit(store, error);
    if (has_begun)
        orch_store_transaction_rollback(store);
    return ok;
}
