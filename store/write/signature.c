/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/signature.h"

#include "store/handle/sql.h"
#include "store/write/note_rules.h"

#define TEXT_BYTES_MAX (1 << 20)

static void free_digest(gpointer pointer)
{
    struct orch_run_digest *run = pointer;
    g_free(run->key);
    g_free(run->digest);
    g_free(run->who);
    g_free(run);
}

GPtrArray *orch_store_run_digests(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT r.key, r.digest, r.who FROM run r WHERE r.id NOT IN " STORE_HIDDEN
        " ORDER BY r.key",
        error);
    if (!s)
        return NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(free_digest);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_run_digest *run = g_new0(struct orch_run_digest, 1);
        run->key = g_strdup(orch_store_text(s, 0));
        run->digest = g_strdup(orch_store_text(s, 1));
        run->who = orch_store_column_text(s, 2);
        g_ptr_array_add(runs, run);
    }
    return more == 0 ? g_steal_pointer(&runs) : NULL;
}

static void free_row(gpointer pointer)
{
    struct orch_signature_row *row = pointer;
    g_free(row->key);
    g_free(row->text);
    g_free(row->who);
    g_free(row);
}

GPtrArray *orch_store_signatures(struct orch_store *store, const char *run_key, GError **error)
{
    sqlite3_stmt *s =
        orch_store_statement(store,
                             "SELECT key, who, made, text, length(CAST(text AS BLOB)) FROM note"
                             " WHERE kind = 'signature' AND (?1 IS NULL OR instr(text, ?1))"
                             " ORDER BY made, key",
                             error);
    if (!s)
        return NULL;
    orch_store_bind(s, run_key ? "t" : "n", run_key);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_signature_row *row = g_new0(struct orch_signature_row, 1);
        row->key = g_strdup(orch_store_text(s, 0));
        row->who = orch_store_column_text(s, 1);
        row->made_ns = sqlite3_column_int64(s, 2);
        row->text =
            sqlite3_column_int64(s, 4) <= TEXT_BYTES_MAX ? orch_store_column_text(s, 3) : NULL;
        g_ptr_array_add(rows, row);
    }
    return more == 0 ? g_steal_pointer(&rows) : NULL;
}
