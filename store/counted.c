/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/counted.h"

#include "store/internal.h"

char *orch_store_counted_target(const char *recipe, const char *experiment)
{
    return g_strconcat(STORE_COUNTED, recipe, "/", experiment, NULL);
}

/* True for a run of another name that is not noted yet. */
static bool is_new(struct orch_store *store, const char *recipe, const struct orch_counted *counted,
                   const char *target, bool *out, GError **error)
{
    int64_t found;
    if (!orch_store_get_int(
            store, &found, 0, error,
            "SELECT 1 FROM run r WHERE r.key = ?1"
            " AND NOT (r.recipe IS ?2 AND r.experiment IS ?3) AND NOT EXISTS"
            " (SELECT 1 FROM note n WHERE n.target = ?4 AND n.kind = 'counted' AND n.public = 0"
            " AND n.text = ?1)",
            "tttt", counted->key, recipe, counted->experiment, target))
        return false;
    *out = found;
    return true;
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

static bool note_all(struct orch_store *store, const char *recipe,
                     const struct orch_counted *counted, size_t count, bool *inout_begun,
                     GError **error)
{
    for (size_t i = 0; i < count; i++) {
        g_autofree char *target = orch_store_counted_target(recipe, counted[i].experiment);
        bool missing = false;
        if (!is_new(store, recipe, &counted[i], target, &missing, error))
            return false;
        if (missing && !*inout_begun && !orch_store_transaction_begin(store, error))
            return false;
        *inout_begun = *inout_begun || missing;
        if (missing && !insert(store, target, counted[i].key, error))
            return false;
    }
    return true;
}

bool orch_store_count_runs(struct orch_store *store, const char *recipe,
                           const struct orch_counted *counted, size_t count, GError **error)
{
    bool has_begun = false;
    bool ok = note_all(store, recipe, counted, count, &has_begun, error);
    if (has_begun && ok)
        return orch_store_transaction_commit(store, error);
    if (has_begun)
        orch_store_transaction_rollback(store);
    return ok;
}
