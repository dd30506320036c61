/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scans the points of a file in the order of the primary key, in batches of hundreds.
 *
 * An SQL function of this connection in the WHERE clause receives each row and returns false until
 * its batch is full or another run begins. So SQLite walks through the rows without returning each
 * one, which takes half the time. NOT INDEXED restricts it to the primary key, whatever indexes an
 * untrusted file has.
 */
#include "store/join/scan.h"
#include "store/handle/foreign.h"
#include "store/handle/sql.h"

#include <math.h>

enum { BATCH = 512, COLUMNS = 5 };

struct store_scan {
    struct orch_store *from;
    sqlite3_stmt *s; /* NULL: not started */
    guint at, count;
    int more;        /* result of the last step: 1 more rows may follow, 0 the end, -1 failure */
    bool is_damage;  /* whether the failure is damage of the file */
    GError *problem; /* error of a failure, reported after the rows before it */
    struct store_scanned rows[BATCH];
};

struct store_scan *orch_store_scan_new(struct orch_store *from)
{
    struct store_scan *scan = g_new0(struct store_scan, 1);
    scan->from = from;
    return scan;
}

void orch_store_scan_rest(struct store_scan *scan)
{
    if (scan->s)
        sqlite3_reset(scan->s);
    scan->s = NULL;
    scan->at = scan->count = 0;
    g_clear_error(&scan->problem);
}

void orch_store_scan_free(struct store_scan *scan)
{
    orch_store_scan_rest(scan);
    g_free(scan);
}

static bool take_real(sqlite3_value *value, double *out)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_FLOAT:
        *out = sqlite3_value_double(value);
        return true;
    case SQLITE_NULL:
        *out = (double)NAN;
        return true;
    case SQLITE_INTEGER:
        *out = (double)sqlite3_value_int64(value);
        return true;
    default:
        return false;
    }
}

/* Called for millions of rows, so each value is examined once. */
static void take(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    struct store_scan *scan = ((struct orch_store *)sqlite3_user_data(context))->scan;
    if (scan->count == BATCH) { /* called once for each row; SQLite stops at true */
        sqlite3_result_int(context, 1);
        return;
    }
    struct store_scanned *row = &scan->rows[scan->count++];
    row->run = sqlite3_value_int64(values[0]);
    row->name_id = sqlite3_value_int64(values[1]);
    row->step = sqlite3_value_int64(values[2]);
    row->is_sound = sqlite3_value_type(values[1]) == SQLITE_INTEGER &&
                    sqlite3_value_type(values[2]) == SQLITE_INTEGER &&
                    take_real(values[3], &row->t_ms) && take_real(values[4], &row->value);
    sqlite3_result_int(context, scan->count == BATCH || row->run != scan->rows[0].run);
}

static bool begin(struct store_scan *scan, int64_t run_id)
{
    struct orch_store *from = scan->from;
    if (!from->has_scan) {
        if (sqlite3_create_function_v2(from->db, "orch_take", COLUMNS,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, from, take, NULL, NULL,
                                       NULL) != SQLITE_OK)
            return orch_store_fail(from, &scan->problem, "read");
        from->has_scan = true;
    }
    scan->s = orch_store_statement(from,
                                   "SELECT 1 FROM metric NOT INDEXED WHERE run >= ?1"
                                   " AND orch_take(run, name_id, step, t_ms, value)"
                                   " ORDER BY run, name_id, step",
                                   &scan->problem);
    if (!scan->s)
        return false;
    orch_store_bind(scan->s, "i", run_id);
    return true;
}

/* Reads the next batch. Returns 1 when there is a row. */
static int fill(struct store_scan *scan)
{
    scan->at = scan->count = 0;
    if (scan->more > 0) {
        scan->from->scan = scan;
        scan->more = orch_store_step(scan->from, scan->s, &scan->problem);
        scan->is_damage = scan->more < 0 && orch_store_foreign_is_damage(scan->from);
    }
    return scan->count ? 1 : scan->more;
}

int orch_store_scan_find(struct store_scan *scan, int64_t run_id)
{
    while (scan->at < scan->count && scan->rows[scan->at].run < run_id)
        scan->at++;
    if (scan->at == scan->count && !(scan->s && scan->more == 0)) {
        orch_store_scan_rest(scan);
        scan->more = begin(scan, run_id) ? 1 : -1;
        scan->is_damage = scan->more < 0 && orch_store_foreign_is_damage(scan->from);
        if (fill(scan) < 0)
            return -1;
    }
    return scan->at < scan->count && scan->rows[scan->at].run == run_id;
}

int orch_store_scan_next(struct store_scan *scan)
{
    if (++scan->at < scan->count)
        return 1;
    return fill(scan);
}

const struct store_scanned *orch_store_scan_row(const struct store_scan *scan)
{
    return &scan->rows[scan->at];
}

bool orch_store_scan_is_damage(const struct store_scan *scan)
{
    return scan->is_damage;
}

GError *orch_store_scan_problem(struct store_scan *scan)
{
    scan->s = NULL;
    return g_steal_pointer(&scan->problem);
}
