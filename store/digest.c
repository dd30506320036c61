/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Digest v1 of a run: SHA-256 over all that travels with it, in one fixed order. docs/store.md has
 * the layout byte by byte; tests/store/digest_v1.py computes it independently.
 *
 * Integers are 8 little-endian bytes, reals the 8 bytes of the IEEE double with one NaN and no
 * negative zero, texts their length and their bytes. The points of a metric enter as the SHA-256 of
 * their 24-byte records, so a metric can be hashed while it streams in, in any interleaving with
 * others, and is not read back. Rejected: JSON or CSV text (seven times slower for many points).
 */
#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <math.h>
#include <string.h>

enum { POINT_BYTES = 24, CHUNK_BYTES = 170 * POINT_BYTES };

static void encode_int(uint8_t out[8], int64_t value)
{
    uint64_t little = GUINT64_TO_LE((uint64_t)value);
    memcpy(out, &little, sizeof little);
}

static void encode_real(uint8_t out[8], double value)
{
    uint64_t bits = UINT64_C(0x7ff8000000000000);
    if (value == 0)
        bits = 0;
    else if (!isnan(value))
        memcpy(&bits, &value, sizeof bits);
    encode_int(out, (int64_t)bits);
}

static void add_int(GChecksum *sum, int64_t value)
{
    uint8_t bytes[8];
    encode_int(bytes, value);
    g_checksum_update(sum, bytes, sizeof bytes);
}

static void add_real(GChecksum *sum, double value)
{
    uint8_t bytes[8];
    encode_real(bytes, value);
    g_checksum_update(sum, bytes, sizeof bytes);
}

static void add_text(GChecksum *sum, const char *text, int64_t length)
{
    add_int(sum, text ? length : -1);
    if (text && length)
        g_checksum_update(sum, (const guchar *)text, length);
}

/* ---- points -----------------------------------------------------------------------------------
 */

struct store_points {
    GChecksum *sum;
    int64_t count;
    size_t used;
    uint8_t chunk[CHUNK_BYTES];
};

struct store_points *store_points_new(void)
{
    struct store_points *points = g_new(struct store_points, 1);
    points->sum = g_checksum_new(G_CHECKSUM_SHA256);
    points->count = 0;
    points->used = 0;
    return points;
}

void store_points_free(struct store_points *points)
{
    if (!points)
        return;
    g_checksum_free(points->sum);
    g_free(points);
}

void store_points_add(struct store_points *points, int64_t step, double t_ms, double value)
{
    uint8_t *at = points->chunk + points->used;
    encode_int(at, step);
    encode_real(at + 8, t_ms);
    encode_real(at + 16, value);
    points->count++;
    points->used += POINT_BYTES;
    if (points->used == CHUNK_BYTES) {
        g_checksum_update(points->sum, points->chunk, CHUNK_BYTES);
        points->used = 0;
    }
}

void store_points_finish(struct store_points *points, uint8_t out[32], int64_t *out_count)
{
    gsize length = 32;
    g_checksum_update(points->sum, points->chunk, (gssize)points->used);
    g_checksum_get_digest(points->sum, out, &length);
    *out_count = points->count;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Adds the columns of a row: 't' text, 'i' integer (NULL is 0), 'e' exit code (NULL is -1),
 * 'r' real. */
static void add_row(GChecksum *sum, sqlite3_stmt *row, int first, const char *types)
{
    for (int i = 0; types[i]; i++) {
        int column = first + i;
        bool is_null = sqlite3_column_type(row, column) == SQLITE_NULL;
        if (types[i] == 't') {
            const char *text = (const char *)sqlite3_column_text(row, column);
            add_text(sum, text, sqlite3_column_bytes(row, column));
        } else if (types[i] == 'r') {
            add_real(sum, store_column_real(row, column));
        } else {
            int64_t absent = types[i] == 'e' ? -1 : 0;
            add_int(sum, is_null ? absent : sqlite3_column_int64(row, column));
        }
    }
}

static bool add_head(struct orch_store *store, int64_t run_id, const char *key, GChecksum *sum,
                     GError **error)
{
    sqlite3_stmt *row = store_statement(
        store,
        "SELECT r.key, r.recipe_key, r.recipe, r.experiment, r.plugin, r.plugin_version, r.build,"
        " s.tree, s.commit_oid, s.branch, s.remote, s.dirty, r.fingerprint, r.where_key, r.seed,"
        " r.repeat, r.attempt, r.state, r.reason, r.exit_code, r.signal, m.key, m.facts, r.who,"
        " r.argv, r.started, r.ended, r.wall_ms, r.facts"
        " FROM run r" STORE_RUN_JOINS " WHERE r.id = ?",
        error);
    if (!row)
        return false;
    store_bind(row, "i", run_id);
    int more = store_step(store, row, error);
    if (more == 0)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "no run of number %" G_GINT64_FORMAT " in store '%s'", run_id, store->path);
    if (more <= 0)
        return false;
    add_text(sum, "orch run", 8);
    add_int(sum, 1);
    if (key)
        add_text(sum, key, (int64_t)strlen(key));
    else
        add_row(sum, row, 0, "t");
    add_row(sum, row, 1, "ttttttttttittiiitteittttiirt");
    sqlite3_reset(row);
    return true;
}

struct section {
    const char *count, *rows; /* SQL; ordered by name */
    const char *types;
};

static const struct section SECTIONS[] = {
    {"SELECT count(*) FROM param WHERE run = ?",
     "SELECT name, type, value FROM param WHERE run = ? ORDER BY name", "ttt"},
    {"SELECT count(*) FROM input WHERE run = ?",
     "SELECT name, from_key, sha256 FROM input WHERE run = ? ORDER BY name", "ttt"},
    {"SELECT count(*) FROM result WHERE run = ?",
     "SELECT name, unit, better, value FROM result WHERE run = ? ORDER BY name", "tttr"},
    {"SELECT count(*) FROM artifact WHERE run = ?",
     "SELECT name, sha256, bytes FROM artifact WHERE run = ? ORDER BY name", "tti"},
};

static bool add_section(struct orch_store *store, int64_t run_id, const struct section *section,
                        GChecksum *sum, GError **error)
{
    int64_t count;
    sqlite3_stmt *rows = store_statement(store, section->rows, error);
    if (!rows || !store_get_int(store, &count, 0, error, section->count, "i", run_id))
        return false;
    add_int(sum, count);
    store_bind(rows, "i", run_id);
    int more;
    while ((more = store_step(store, rows, error)) > 0)
        add_row(sum, rows, 0, section->types);
    return more == 0;
}

/* Hashes the stored points of one metric. */
static struct store_points *read_points(struct orch_store *store, int64_t run_id, int64_t name_id,
                                        GError **error)
{
    sqlite3_stmt *rows = store_statement(
        store, "SELECT step, t_ms, value FROM metric WHERE run = ? AND name_id = ? ORDER BY step",
        error);
    if (!rows)
        return NULL;
    store_bind(rows, "ii", run_id, name_id);
    struct store_points *points = store_points_new();
    int more;
    while ((more = store_step(store, rows, error)) > 0)
        store_points_add(points, sqlite3_column_int64(rows, 0), store_column_real(rows, 1),
                         store_column_real(rows, 2));
    if (more == 0)
        return points;
    store_points_free(points);
    return NULL;
}

static bool add_metric(struct orch_store *store, int64_t run_id, sqlite3_stmt *name,
                       GHashTable *streams, GChecksum *sum, GError **error)
{
    int64_t name_id = sqlite3_column_int64(name, 0);
    struct store_points *streamed =
        streams ? g_hash_table_lookup(streams, GINT_TO_POINTER((int)name_id)) : NULL;
    struct store_points *points = streamed ? streamed : read_points(store, run_id, name_id, error);
    if (!points)
        return false;
    uint8_t bytes[32];
    int64_t count;
    store_points_finish(points, bytes, &count);
    add_row(sum, name, 1, "ttt");
    add_int(sum, count);
    g_checksum_update(sum, bytes, sizeof bytes);
    if (!streamed)
        store_points_free(points);
    return true;
}

const char store_run_metrics_sql[] =
    "WITH RECURSIVE has(id) AS ("
    " SELECT min(name_id) FROM metric WHERE run = ?1"
    " UNION ALL SELECT (SELECT min(name_id) FROM metric WHERE run = ?1 AND name_id > has.id)"
    "  FROM has WHERE has.id IS NOT NULL)"
    " SELECT n.id, n.name, n.unit, n.better FROM has JOIN metric_name n ON n.id = has.id"
    " ORDER BY n.name, n.unit, n.better";

static bool add_metrics(struct orch_store *store, int64_t run_id, GHashTable *streams,
                        GChecksum *sum, GError **error)
{
    sqlite3_stmt *names = store_statement(store, store_run_metrics_sql, error);
    if (!names)
        return false;
    int64_t count = 0;
    int more;
    store_bind(names, "i", run_id);
    while ((more = store_step(store, names, error)) > 0)
        count++;
    if (more < 0)
        return false;
    add_int(sum, count);
    while ((more = store_step(store, names, error)) > 0) {
        if (!add_metric(store, run_id, names, streams, sum, error)) {
            sqlite3_reset(names);
            return false;
        }
    }
    return more == 0;
}

bool store_digest_run(struct orch_store *store, int64_t run_id, const char *key,
                      GHashTable *streams, char out[ORCH_SHA256_CHARS], GError **error)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    bool ok = add_head(store, run_id, key, sum, error);
    for (size_t i = 0; ok && i < G_N_ELEMENTS(SECTIONS); i++)
        ok = add_section(store, run_id, &SECTIONS[i], sum, error);
    ok = ok && add_metrics(store, run_id, streams, sum, error);
    if (ok)
        g_strlcpy(out, g_checksum_get_string(sum), ORCH_SHA256_CHARS);
    g_checksum_free(sum);
    return ok;
}

bool orch_store_digest(struct orch_store *store, int64_t run_id, char *out, GError **error)
{
    return store_digest_run(store, run_id, NULL, NULL, out, error);
}
