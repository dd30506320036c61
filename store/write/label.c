/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tags and names of runs. Both are notes, so a run never changes. Which of them are in effect
 * depends only on the set of notes, not on the order of their arrival (STORE_TAG_HOLDS,
 * STORE_NAME_OF). */
#include "store/handle/sql.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"

#include <string.h>

GPtrArray *orch_store_tags(struct orch_store *store, const char *run_key, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT DISTINCT n.text FROM note n WHERE n.target = ? AND " STORE_TAG_HOLDS(
            "n") " ORDER BY n.text LIMIT 1000",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "t", run_key);
    GPtrArray *tags = g_ptr_array_new_with_free_func(g_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(tags, orch_store_column_text(s, 0));
    if (more == 0)
        return tags;
    g_ptr_array_unref(tags);
    return NULL;
}

char *orch_store_name(struct orch_store *store, const char *run_key, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT nullif(" STORE_NAME_OF("r") ", '') FROM run r WHERE r.key = ?", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "t", run_key);
    char *name = orch_store_step(store, s, error) > 0 ? orch_store_column_text(s, 0) : NULL;
    sqlite3_reset(s);
    return name;
}

/* SQL: counts the tags `text` of a run that are in effect; callers add conditions. */
#define COUNT_HELD                                                                                 \
    "SELECT count(*) FROM note n WHERE n.target = ?1 AND n.text = ?2 AND " STORE_TAG_HOLDS("n")

bool orch_store_untag(struct orch_store *store, const char *run_key, const char *text,
                      bool *out_had, GError **error)
{
    int64_t held, own = 0, left = 0;
    if (!orch_store_get_int(store, &held, 0, error, COUNT_HELD, "tt", run_key, text) ||
        (held &&
         !orch_store_get_int(store, &own, 0, error, COUNT_HELD " AND n.public = 1 AND n.who IS ?3",
                             "ttt", run_key, text, orch_user_name())))
        return false;
    if ((own && !orch_store_note(store, run_key, "untag", true, text, error)) ||
        (held && !orch_store_get_int(store, &left, 0, error, COUNT_HELD, "tt", run_key, text)) ||
        (left && !orch_store_note(store, run_key, "untag", false, text, error)))
        return false;
    *out_had = held > 0;
    return true;
}

bool orch_store_set_name(struct orch_store *store, const char *run_key, const char *name,
                         bool is_public, GError **error)
{
    int64_t is_own = 1;
    if (is_public && !orch_store_get_int(store, &is_own, 0, error,
                                         "SELECT count(*) FROM run WHERE key = ? AND who IS ?",
                                         "tt", run_key, orch_user_name()))
        return false;
    if (!is_own) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave --public out for a private name",
                       "only the author of a run can give it a public name");
        return false;
    }
    return orch_store_note(store, run_key, "name", is_public, name, error);
}
