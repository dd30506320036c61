/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Digest v1 of a run: SHA-256 over everything that is exchanged with it, in a fixed order.
 * docs/store.md has the layout byte by byte; tests/store/digest_v1.py computes it independently.
 *
 * Integers are 8 little-endian bytes; reals are the 8 bytes of the IEEE double, with a single NaN
 * and no negative zero; texts are their length and their bytes. The points of a metric enter as the
 * SHA-256 of their 24-byte records, so a metric can be hashed while it is streamed, interleaved
 * with others, without being read back. Rejected: JSON or CSV text (seven times slower for many
 * points).
 */
#include "store/write/digest.h"
#include "store/handle/sql.h"
#include "store/write/run_fields.h"
#include "store/write/run_lists.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/sha256.h"

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

/* Everything but the points is collected in `out` and hashed in one call. */

static void add_int(GByteArray *out, int64_t value)
{
    uint8_t bytes[8];
    encode_int(bytes, value);
    g_byte_array_append(out, bytes, sizeof bytes);
}

static void add_real(GByteArray *out, double value)
{
    uint8_t bytes[8];
    encode_real(bytes, value);
    g_byte_array_append(out, bytes, sizeof bytes);
}

static void add_text(GByteArray *out, const char *text, int64_t length)
{
    add_int(out, text ? length : -1);
    if (text && length)
        g_byte_array_append(out, (const guint8 *)text, (guint)length);
}

/* ---- points -----------------------------------------------------------------------------------
 */

struct store_points {
    struct orch_hash hash;
    bool is_open; /* whether the hash accepts more points */
    int64_t count;
    size_t used;
    uint8_t chunk[CHUNK_BYTES];
};

struct store_points *orch_store_points_new(void)
{
    struct store_points *points = g_new(struct store_points, 1);
    orch_hash_begin(&points->hash);
    points->is_open = true;
    points->count = 0;
    points->used = 0;
    return points;
}

void orch_store_points_free(struct store_points *points)
{
    if (!points)
        return;
    if (points->is_open)
        orch_hash_free(&points->hash);
    g_free(points);
}

void orch_store_points_add(struct store_points *points, int64_t step, double t_ms, double value)
{
    uint8_t *at = points->chunk + points->used;
    encode_int(at, step);
    encode_real(at + 8, t_ms);
    encode_real(at + 16, value);
    points->count++;
    points->used += POINT_BYTES;
    if (points->used == CHUNK_BYTES) {
        orch_hash_add(&points->hash, points->chunk, CHUNK_BYTES);
        points->used = 0;
    }
}

/* Returns the 32 bytes of the digest and the number of points. No points can be added
 * afterwards. */
static void store_points_finish(struct store_points *points, uint8_t out[32], int64_t *out_count)
{
    orch_hash_add(&points->hash, points->chunk, points->used);
    orch_hash_end(&points->hash, out);
    points->is_open = false;
    *out_count = points->count;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Adds the columns of a row: 't' text, 'i' integer (NULL is 0), 'e' exit code (NULL is -1),
 * 'r' real. */
static void add_row(GByteArray *out, sqlite3_stmt *row, int first, const char *types)
{
    for (int i = 0; types[i]; i++) {
        int column = first + i;
        bool is_null = sqlite3_column_type(row, column) == SQLITE_NULL;
        if (types[i] == 't') {
            const char *text = (const char *)sqlite3_column_text(row, column);
            add_text(out, text, sqlite3_column_bytes(row, column));
        } else if (types[i] == 'r') {
            add_real(out, orch_store_column_real(row, column));
        } else {
            int64_t absent = types[i] == 'e' ? -1 : 0;
            add_int(out, is_null ? absent : sqlite3_column_int64(row, column));
        }
    }
}

/* The digest types of a run's fields, in order; the first field is the key. */
#define DIGEST_NAME "t"
#define DIGEST_TEXT "t"
#define DIGEST_LONG "t"
#define DIGEST_JSON "t"
#define DIGEST_BOOL "i"
#define DIGEST_SEED "i"
#define DIGEST_INT "i"
#define DIGEST_EXIT "e"
#define DIGEST_SIGNAL "i"
#define DIGEST_TIME "i"
#define DIGEST_MS "r"
#define DIGEST(kind, member, table, column, shown, what) DIGEST_##kind
static const char HEAD[] = STORE_RUN_FIELDS(DIGEST);

static bool add_head(struct orch_store *store, int64_t run_id, const char *key, GByteArray *out,
                     GError **error)
{
    sqlite3_stmt *row = orch_store_statement(
        store,
        "SELECT r.id" STORE_RUN_FIELDS(STORE_FIELD_SELECT) " FROM run r" STORE_RUN_JOINS
                                                           " WHERE r.id = ?",
        error);
    if (!row)
        return false;
    orch_store_bind(row, "i", run_id);
    int more = orch_store_step(store, row, error);
    if (more == 0)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "no run with number %" G_GINT64_FORMAT " in store '%s'", run_id,
                       store->path);
    if (more <= 0)
        return false;
    add_text(out, "orch run", 8);
    add_int(out, 1);
    if (key)
        add_text(out, key, (int64_t)strlen(key));
    else
        add_row(out, row, 1, "t");
    add_row(out, row, 2, HEAD + 1);
    sqlite3_reset(row);
    return true;
}

/* Adds the number of rows, then the rows. */
static bool add_rows(struct orch_store *store, int64_t run_id, const struct store_row_kind *kind,
                     GByteArray *out, GError **error)
{
    sqlite3_stmt *rows = orch_store_statement(store, kind->of_run, error);
    if (!rows)
        return false;
    char types[8] = {0};
    for (int i = 0; kind->members[i].kind; i++)
        types[i] = kind->members[i].kind == STORE_VALUE_REAL    ? 'r'
                   : kind->members[i].kind == STORE_VALUE_INT64 ? 'i'
                                                                : 't';
    guint at = out->len;
    int64_t count = 0;
    add_int(out, 0);
    orch_store_bind(rows, "i", run_id);
    int more;
    for (; (more = orch_store_step(store, rows, error)) > 0; count++)
        add_row(out, rows, 0, types);
    encode_int(out->data + at, count);
    return more == 0;
}

const char store_points_sql[] =
    "SELECT step, t_ms, value FROM metric WHERE run = ? AND name_id = ? ORDER BY step";

/* Hashes the stored points of one metric. */
static struct store_points *read_points(struct orch_store *store, int64_t run_id, int64_t name_id,
                                        GError **error)
{
    sqlite3_stmt *rows = orch_store_statement(store, store_points_sql, error);
    if (!rows)
        return NULL;
    orch_store_bind(rows, "ii", run_id, name_id);
    struct store_points *points = orch_store_points_new();
    int more;
    while ((more = orch_store_step(store, rows, error)) > 0)
        orch_store_points_add(points, sqlite3_column_int64(rows, 0),
                              orch_store_column_real(rows, 1), orch_store_column_real(rows, 2));
    if (more == 0)
        return points;
    orch_store_points_free(points);
    return NULL;
}

static bool add_metric(struct orch_store *store, int64_t run_id, const struct store_metric *metric,
                       GByteArray *out, GError **error)
{
    struct store_points *points =
        metric->points ? metric->points : read_points(store, run_id, metric->name_id, error);
    if (!points)
        return false;
    uint8_t bytes[32];
    int64_t count;
    store_points_finish(points, bytes, &count);
    add_text(out, metric->name, (int64_t)strlen(metric->name));
    add_text(out, metric->unit, (int64_t)strlen(metric->unit));
    add_text(out, metric->better, (int64_t)strlen(metric->better));
    add_int(out, count);
    g_byte_array_append(out, bytes, sizeof bytes);
    if (!metric->points)
        orch_store_points_free(points);
    return true;
}

const char store_run_metrics_sql[] =
    "WITH RECURSIVE has(id) AS ("
    " SELECT min(name_id) FROM metric WHERE run = ?1"
    " UNION ALL SELECT (SELECT min(name_id) FROM metric WHERE run = ?1 AND name_id > has.id)"
    "  FROM has WHERE has.id IS NOT NULL)"
    " SELECT n.id, n.name, n.unit, n.better FROM has JOIN metric_name n ON n.id = has.id"
    " ORDER BY n.name, n.unit, n.better";

static int compare_metrics(gconstpointer a, gconstpointer b)
{
    const struct store_metric *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    order = order ? order : strcmp(x->unit, y->unit);
    return order ? order : strcmp(x->better, y->better);
}

/* Reads the metrics of a run; their texts are stored in `texts`. */
static bool read_metrics(struct orch_store *store, int64_t run_id, GStringChunk *texts,
                         GArray *metrics, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, store_run_metrics_sql, error);
    if (!s)
        return false;
    orch_store_bind(s, "i", run_id);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        const char *text[3];
        for (int i = 0; i < 3; i++) {
            const char *column = (const char *)sqlite3_column_text(s, i + 1);
            text[i] = g_string_chunk_insert(texts, column ? column : "");
        }
        const struct store_metric metric = {sqlite3_column_int64(s, 0), text[0], text[1], text[2],
                                            NULL};
        g_array_append_val(metrics, metric);
    }
    return more == 0;
}

static bool add_metrics(struct orch_store *store, int64_t run_id, GArray *metrics, GByteArray *out,
                        GError **error)
{
    bool ok = true;
    g_array_sort(metrics, compare_metrics);
    add_int(out, metrics->len);
    for (guint i = 0; ok && i < metrics->len; i++)
        ok = add_metric(store, run_id, &g_array_index(metrics, struct store_metric, i), out, error);
    return ok;
}

static bool add_stored_metrics(struct orch_store *store, int64_t run_id, GByteArray *out,
                               GError **error)
{
    GStringChunk *texts = g_string_chunk_new(1024);
    GArray *metrics = g_array_new(FALSE, FALSE, sizeof(struct store_metric));
    bool ok = read_metrics(store, run_id, texts, metrics, error) &&
              add_metrics(store, run_id, metrics, out, error);
    g_array_unref(metrics);
    g_string_chunk_free(texts);
    return ok;
}

bool orch_store_digest_run(struct orch_store *store, int64_t run_id, const char *key,
                           GArray *metrics, char out[ORCH_SHA256_CHARS], GError **error)
{
    GByteArray *bytes = g_byte_array_sized_new(4096);
    bool ok = add_head(store, run_id, key, bytes, error);
    for (int k = 0; ok && k < STORE_ROWS; k++)
        ok = add_rows(store, run_id, &store_row_kinds[k], bytes, error);
    ok = ok && (metrics ? add_metrics(store, run_id, metrics, bytes, error)
                        : add_stored_metrics(store, run_id, bytes, error));
    if (ok)
        orch_sha256(bytes->data, bytes->len, out);
    g_byte_array_unref(bytes);
    return ok;
}

bool orch_store_digest(struct orch_store *store, int64_t run_id, char *out, GError **error)
{
    return orch_store_digest_run(store, run_id, NULL, NULL, out, error);
}
