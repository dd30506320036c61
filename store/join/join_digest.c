/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The digest of the whole store before and after a join, for its receipt.
 *
 * Computing it reads every run, so both are computed in one pass: runs and conflicts are added but
 * never changed or removed, and rows that a join added have larger ids than those before. The
 * digest of the last join is cached together with the extent of the store that it covers. Only
 * receipts use the cache; 'orch db info' always computes the digest anew.
 */
#include "store/handle/sql.h"
#include "store/join/join_internal.h"
#include "store/write/digest.h"

#include "lib/base/sha256.h"
#include "store/handle/meta.h"

#include <string.h>

static const char MEMO[] = "join.digest";

static bool read_extent(struct orch_store *store, int64_t *out_last, int64_t *out_apart,
                        GError **error)
{
    return orch_store_get_int(store, out_last, 0, error, "SELECT max(id) FROM run", "") &&
           orch_store_get_int(store, out_apart, 0, error, "SELECT count(*) FROM conflict", "");
}

static char *extent_text(int64_t last, int64_t apart)
{
    return g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " ", last, apart);
}

bool orch_store_join_will_change(struct orch_join *join, GError **error)
{
    if (join->has_begun)
        return true;
    GError *problem = NULL;
    if (!read_extent(join->store, &join->last_run, &join->apart_before, error))
        return false;
    g_autofree char *of = extent_text(join->last_run, join->apart_before);
    g_autofree char *kept = orch_store_remembered(join->store, MEMO, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    size_t length = strlen(of);
    if (kept && strncmp(kept, of, length) == 0 && orch_sha256_is_valid(kept + length))
        g_strlcpy(join->receipt->before, kept + length, ORCH_SHA256_CHARS);
    join->has_begun = true;
    return true;
}

static char *pair_text(const char *key, const char *digest)
{
    return g_strconcat(key, " ", digest, "\n", NULL);
}

void orch_store_join_set_apart(struct orch_join *join, const char *key, const char *digest)
{
    g_hash_table_add(join->apart, pair_text(key, digest));
}

/* Computes the digest as orch_store_digest_all does, and also the one without the rows that this
 * join added. */
static bool read_both(struct orch_join *join, char before[ORCH_SHA256_CHARS],
                      char after[ORCH_SHA256_CHARS], GError **error)
{
    sqlite3_stmt *s = orch_store_statement(join->store, store_pairs_sql, error);
    if (!s)
        return false;
    struct orch_hash was, is;
    orch_hash_begin(&was);
    orch_hash_begin(&is);
    g_autoptr(GString) line = g_string_new(NULL);
    int more;
    while ((more = orch_store_step(join->store, s, error)) > 0) {
        int64_t id = sqlite3_column_int64(s, 2);
        orch_store_pair_line(s, line);
        orch_hash_add(&is, line->str, line->len);
        if (id ? id <= join->last_run : !g_hash_table_contains(join->apart, line->str))
            orch_hash_add(&was, line->str, line->len);
    }
    orch_hash_end_text(&was, before);
    orch_hash_end_text(&is, after);
    return more == 0;
}

static bool keep(struct orch_join *join, int64_t last, int64_t apart, GError **error)
{
    g_autofree char *of = extent_text(last, apart);
    g_autofree char *text = g_strconcat(of, join->receipt->after, NULL);
    return orch_store_run_statement(join->store, error,
                                    "INSERT INTO meta(key, value) VALUES(?, ?)"
                                    " ON CONFLICT DO UPDATE SET value = excluded.value",
                                    "tt", MEMO, text);
}

bool orch_store_join_digests(struct orch_join *join, GError **error)
{
    struct orch_receipt *receipt = join->receipt;
    int64_t last, apart;
    if (!orch_store_join_will_change(join, error) ||
        !read_extent(join->store, &last, &apart, error))
        return false;
    receipt->conflicts_here = apart;
    if (*receipt->before && last == join->last_run && apart == join->apart_before) {
        g_strlcpy(receipt->after, receipt->before, ORCH_SHA256_CHARS);
        return true;
    }
    return read_both(join, receipt->before, receipt->after, error) &&
           keep(join, last, apart, error);
}
