/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digest of all ended runs and conflicts of a store. */
#include "store/handle/sql.h"
#include "store/write/digest.h"

#include "lib/base/sha256.h"

const char store_pairs_sql[] =
    "SELECT key, digest, id FROM run UNION ALL"
    " SELECT key, digest, 0 FROM conflict c WHERE NOT EXISTS"
    "  (SELECT 1 FROM run WHERE key = c.key AND digest = c.digest) ORDER BY key, digest";

void orch_store_pair_line(sqlite3_stmt *pair, GString *out)
{
    g_string_truncate(out, 0);
    for (int i = 0; i < 2; i++) {
        g_string_append_len(out, (const char *)sqlite3_column_text(pair, i),
                            sqlite3_column_bytes(pair, i));
        g_string_append_c(out, i == 0 ? ' ' : '\n');
    }
}

bool orch_store_digest_all(struct orch_store *store, char *out, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, store_pairs_sql, error);
    if (!s)
        return false;
    struct orch_hash hash;
    orch_hash_begin(&hash);
    g_autoptr(GString) line = g_string_new(NULL);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        orch_store_pair_line(s, line);
        orch_hash_add(&hash, line->str, line->len);
    }
    orch_hash_end_text(&hash, out);
    return more == 0;
}
