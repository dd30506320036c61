/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks the tables of a damaged file by their keys. After a page that cannot be read the walk
 * continues with the next id or, for text keys, with the nearest greater prefix that can be found.
 */
#include "store/handle/sql.h"
#include "store/repair/repair_private.h"

#include <string.h>

/* The walk continues beyond the last known id for at most this many missing ids. */
enum { NUMBERS_BEYOND = 1000 };

sqlite3_stmt *orch_store_reading_prepare(struct orch_store *store, const char *sql)
{
    sqlite3_stmt *s = NULL;
    sqlite3_prepare_v2(store->db, sql, -1, &s, NULL);
    return s;
}

/* Reads the rows from `key` on. Returns 1 at the end, 0 when a row cannot be read (`key` is the
 * last one that could) and -1 on error. `*out_any` is true when there was at least one row. */
static int walk_from(struct store_reading *r, sqlite3_stmt *s, GString *key, store_take_row take,
                     bool *out_any, GError **error)
{
    int code;
    *out_any = false;
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, key->str, (int)key->len, SQLITE_TRANSIENT);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text = orch_store_text(s, 0);
        if (!text || strcmp(text, key->str) < 0)
            return 0; /* out of order: not a valid key */
        g_string_assign(key, text);
        *out_any = true;
        if (!take(r, s, error))
            return -1;
    }
    return code == SQLITE_DONE;
}

/* Finds a key after an unreadable place: the same text with one greater character, tried from the
 * last character to the first. Returns 1 when the rest was read or there is none; 0 when `key` has
 * advanced and another row cannot be read; -1 on error; -2 when nothing can be read after the
 * place. */
static int walk_behind(struct store_reading *r, sqlite3_stmt *s, GString *key, store_take_row take,
                       GError **error)
{
    static const char alphabet[] = "-0123456789_abcdefghijklmnopqrstuvwxyz";
    g_autofree char *stuck = g_strdup(key->len ? key->str : " ");
    for (size_t at = strlen(stuck); at-- > 0;) {
        for (const char *c = alphabet; *c; c++) {
            bool any;
            if (*c <= stuck[at])
                continue;
            g_string_truncate(key, 0);
            g_string_append_len(key, stuck, (gssize)at);
            g_string_append_c(key, *c);
            int outcome = walk_from(r, s, key, take, &any, error);
            if (outcome != 0 || any)
                return outcome;
        }
    }
    return -2;
}

bool orch_store_walk_texts(struct store_reading *r, const char *sql, store_take_row take,
                           GError **error)
{
    sqlite3_stmt *s = orch_store_reading_prepare(r->from, sql);
    g_autoptr(GString) key = g_string_new(NULL);
    bool any;
    r->gaps = 0;
    int outcome = s ? walk_from(r, s, key, take, &any, error) : 0;
    while (s && outcome == 0) {
        r->gaps++;
        outcome = walk_behind(r, s, key, take, error);
    }
    r->gaps += !s;
    sqlite3_finalize(s);
    return outcome != -1;
}

bool orch_store_walk_numbers(struct store_reading *r, const char *sql, int64_t last,
                             store_take_row take, GError **error)
{
    sqlite3_stmt *s = orch_store_reading_prepare(r->from, sql);
    bool ok = true;
    int code = s ? SQLITE_ROW : SQLITE_ERROR;
    r->gaps = !s;
    for (int64_t at = INT64_MIN, stuck = 0; s && ok && code != SQLITE_DONE;) {
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, at);
        bool any = false;
        while (ok && (code = sqlite3_step(s)) == SQLITE_ROW) {
            int64_t number = sqlite3_column_int64(s, 0);
            if (number <= at)
                break;
            any = true;
            at = number;
            ok = take(r, s, error);
        }
        if (code == SQLITE_DONE)
            break;
        r->gaps += any || !stuck;
        stuck = any ? 0 : stuck + 1;
        at = MAX(at, 0) + 1;
        if (at > last + NUMBERS_BEYOND)
            break;
    }
    sqlite3_finalize(s);
    return ok;
}

/* ---- writing to the new store ------------------------------------------------------------------
 */

enum store_copy_result orch_store_reading_outcome(struct orch_store *into, int code, GError **error)
{
    switch (code & 0xff) {
    case SQLITE_ROW:
    case SQLITE_DONE:
    case SQLITE_OK:
        return COPY_OK;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
        return COPY_INVALID;
    default:
        orch_store_fail(into, error, "write to");
        return COPY_FAILED;
    }
}

void orch_store_bind_columns(sqlite3_stmt *insert, int to, sqlite3_stmt *row, int first)
{
    for (int i = first; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(insert, to + i - first, sqlite3_column_value(row, i));
}
