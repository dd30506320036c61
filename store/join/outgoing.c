/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/join/outgoing.h"

#include "store/handle/sql.h"
#include "store/read/where.h"
#include "store/write/run_fields.h"

#include <string.h>

#define WHOLE " NOT EXISTS (SELECT 1 FROM purged p WHERE p.run = r.id)"

/* Prepares "SELECT `column`" over the selected runs, between the SQL texts `before` and `after`. */
static sqlite3_stmt *prepare(struct orch_store *store, const struct orch_outgoing *chosen,
                             const char *before, const char *column, const char *after,
                             GError **error)
{
    const struct orch_where *where = chosen->where;
    if (where && !orch_store_where_check_names(store, where, error))
        return NULL;
    g_autofree char *sql = g_strdup_printf(
        "%s SELECT %s FROM run r%s WHERE r.id > %" G_GINT64_FORMAT " AND" WHOLE "%s%s%s %s", before,
        column, where ? STORE_RUN_JOINS : "", chosen->after_run_id, where ? " AND (" : "",
        where ? orch_store_where_sql(where) : "", where ? ")" : "", after);
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &s, NULL) != SQLITE_OK) {
        orch_store_fail(store, error, "read");
        return NULL;
    }
    if (where)
        orch_store_where_bind(where, s, 1);
    return s;
}

/* ---- runs ------------------------------------------------------------------------- */

/* Reads rows with the columns id (0 for conflicts), key, digest. */
static bool read_pairs(struct orch_store *store, sqlite3_stmt *s, GArray *out, GError **error)
{
    int more = -1;
    while (s && (more = orch_store_step(store, s, error)) > 0) {
        struct orch_pair pair = {.run_id = sqlite3_column_int64(s, 0)};
        if (sqlite3_column_type(s, 1) != SQLITE_TEXT || sqlite3_column_type(s, 2) != SQLITE_TEXT)
            continue; /* an edited file: 'orch db check' reports it */
        g_strlcpy(pair.key, orch_store_text(s, 1), sizeof pair.key);
        g_strlcpy(pair.digest, orch_store_text(s, 2), sizeof pair.digest);
        g_array_append_val(out, pair);
    }
    sqlite3_finalize(s);
    return more == 0;
}

static sqlite3_stmt *prepare_conflicts(struct orch_store *store, const struct orch_outgoing *chosen,
                                       GError **error)
{
    static const char all[] = "SELECT 0, key, digest FROM conflict";
    struct orch_outgoing those = {.where = chosen->where};
    sqlite3_stmt *s = NULL;
    if (chosen->where)
        return prepare(store, &those, "SELECT 0, key, digest FROM conflict WHERE key IN (", "r.key",
                       ")", error);
    if (sqlite3_prepare_v2(store->db, all, -1, &s, NULL) == SQLITE_OK)
        return s;
    orch_store_fail(store, error, "read");
    return NULL;
}

static int compare_pairs(gconstpointer a, gconstpointer b)
{
    const struct orch_pair *x = a, *y = b;
    int keys = strcmp(x->key, y->key);
    return keys ? keys : strcmp(x->digest, y->digest);
}

GArray *orch_outgoing_pairs(struct orch_store *store, const struct orch_outgoing *chosen,
                            int64_t *out_last_run, GError **error)
{
    int64_t last = 0;
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct orch_pair));
    if (orch_store_get_int(store, &last, 0, error, "SELECT coalesce(max(id), 0) FROM run", "") &&
        read_pairs(store, prepare(store, chosen, "", "r.id, r.key, r.digest", "", error), pairs,
                   error) &&
        read_pairs(store, prepare_conflicts(store, chosen, error), pairs, error)) {
        g_array_sort(pairs, compare_pairs);
        if (out_last_run)
            *out_last_run = last;
        return pairs;
    }
    g_array_unref(pairs);
    return NULL;
}

char *orch_outgoing_conflict(struct orch_store *store, const struct orch_pair *pair, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT record FROM conflict WHERE key = ? AND digest = ?", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "tt", pair->key, pair->digest);
    int more = orch_store_step(store, s, error);
    char *text = more > 0 ? orch_store_column_text(s, 0) : NULL;
    sqlite3_reset(s);
    if (more == 0)
        orch_store_fail_code(store->path, SQLITE_CORRUPT, 0, error, "read");
    return text;
}

/* ---- related rows ----------------------------------------------------------------- */

GPtrArray *orch_outgoing_artifacts(struct orch_store *store, const struct orch_outgoing *chosen,
                                   GError **error)
{
    sqlite3_stmt *s =
        prepare(store, chosen, "SELECT DISTINCT a.sha256 FROM artifact a WHERE a.run IN (", "r.id",
                ") ORDER BY a.sha256", error);
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
    int more = -1;
    while (s && (more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(out, g_strdup(orch_store_text(s, 0)));
    sqlite3_finalize(s);
    return more == 0 ? g_steal_pointer(&out) : NULL;
}

bool orch_outgoing_recipes(struct orch_store *store, const struct orch_outgoing *chosen,
                           orch_outgoing_recipe_fn visit, void *ctx, GError **error)
{
    sqlite3_stmt *s =
        prepare(store, chosen,
                "SELECT c.key, c.name, c.canonical, c.verbatim FROM recipe c WHERE c.key IN (",
                "r.recipe_key", ") ORDER BY c.key", error);
    bool goes_on = true;
    int more = -1;
    while (s && goes_on && (more = orch_store_step(store, s, error)) > 0) {
        const struct orch_recipe_row row = {
            (const char *)sqlite3_column_text(s, 0), (const char *)sqlite3_column_text(s, 1),
            (const char *)sqlite3_column_text(s, 2), (const char *)sqlite3_column_text(s, 3)};
        goes_on = visit(ctx, &row, error);
    }
    sqlite3_finalize(s);
    return goes_on && more == 0;
}

static sqlite3_stmt *prepare_notes(struct orch_store *store, const struct orch_outgoing *chosen,
                                   GError **error)
{
#define NOTES "SELECT key, target, kind, text, who, made FROM note WHERE public = 1"
    struct orch_outgoing those = {.where = chosen->where};
    sqlite3_stmt *s = NULL;
    if (chosen->where)
        return prepare(store, &those, NOTES " AND (kind = 'view' OR target IN (", "r.key",
                       ")) ORDER BY key", error);
    if (sqlite3_prepare_v2(store->db, NOTES " ORDER BY key", -1, &s, NULL) == SQLITE_OK)
        return s;
    orch_store_fail(store, error, "read");
    return NULL;
}

bool orch_outgoing_notes(struct orch_store *store, const struct orch_outgoing *chosen,
                         orch_outgoing_note_fn visit, void *ctx, GError **error)
{
    sqlite3_stmt *s = prepare_notes(store, chosen, error);
    bool goes_on = true;
    int more = -1;
    while (s && goes_on && (more = orch_store_step(store, s, error)) > 0) {
        const struct orch_note note = {.key = (const char *)sqlite3_column_text(s, 0),
                                       .target = (const char *)sqlite3_column_text(s, 1),
                                       .kind = (const char *)sqlite3_column_text(s, 2),
                                       .text = (const char *)sqlite3_column_text(s, 3),
                                       .who = (const char *)sqlite3_column_text(s, 4),
                                       .made_ns = sqlite3_column_int64(s, 5)};
        goes_on = visit(ctx, &note, error);
    }
    sqlite3_finalize(s);
    return goes_on && more == 0;
}
