/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points are streamed as a virtual table: INSERT ... SELECT from it writes all points of a run in
 * one statement. Starting a statement for each point costs twice as much as the insertion itself; a
 * block of VALUES is in between because of its bindings.
 *
 * The table is eponymous, exists only on this connection, and cannot be used in a schema.
 */
#include "store/handle/sql.h"
#include "store/write/write.h"

#include "lib/base/error.h"

struct store_stream {
    store_next_row next;
    void *ctx;
    struct store_row row;
    int state; /* 1 a row, 0 the end, -1 failure */
};

struct table {
    sqlite3_vtab base;
    struct store_stream *stream;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
    (void)argc, (void)argv, (void)error;
    int code = sqlite3_declare_vtab(db, "CREATE TABLE x(name_id, step, t_ms, value)");
    if (code != SQLITE_OK)
        return code;
    sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    struct table *table = g_new0(struct table, 1);
    table->stream = aux;
    *out = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
    g_free(table);
    return SQLITE_OK;
}

static int table_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedRows = 1000;
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    *out = g_new0(sqlite3_vtab_cursor, 1);
    return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *cursor)
{
    g_free(cursor);
    return SQLITE_OK;
}

static struct store_stream *stream_of(sqlite3_vtab_cursor *cursor)
{
    return ((struct table *)(void *)cursor->pVtab)->stream;
}

static int table_next(sqlite3_vtab_cursor *cursor)
{
    struct store_stream *stream = stream_of(cursor);
    stream->state = stream->next(stream->ctx, &stream->row);
    return stream->state < 0 ? SQLITE_ERROR : SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                        sqlite3_value **argv)
{
    (void)number, (void)text, (void)argc, (void)argv;
    return table_next(cursor);
}

static int table_eof(sqlite3_vtab_cursor *cursor)
{
    return stream_of(cursor)->state <= 0;
}

static int table_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    const struct store_row *row = &stream_of(cursor)->row;
    if (column < 2)
        sqlite3_result_int64(ctx, column == 0 ? row->name_id : row->step);
    else
        sqlite3_result_double(ctx, column == 2 ? row->t_ms : row->value); /* NaN becomes NULL */
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    (void)cursor;
    *out = 0; /* not used */
    return SQLITE_OK;
}

static const sqlite3_module MODULE = {
    .xConnect = table_connect,
    .xBestIndex = table_plan,
    .xDisconnect = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};

bool orch_store_insert_points(struct orch_store *store, int64_t run_id, store_next_row next,
                              void *ctx, GError **error)
{
    if (!store->stream) {
        struct store_stream *stream = g_new0(struct store_stream, 1);
        if (sqlite3_create_module_v2(store->db, "orch_points", &MODULE, stream, NULL) !=
            SQLITE_OK) {
            g_free(stream);
            return orch_store_fail(store, error, "write to");
        }
        store->stream = stream;
    }
    store->stream->next = next;
    store->stream->ctx = ctx;
    return orch_store_run_statement(
        store, error,
        "INSERT INTO metric(run, name_id, step, t_ms, value)"
        " SELECT ?, name_id, step, t_ms, value FROM orch_points WHERE true"
        " ON CONFLICT DO UPDATE SET t_ms = excluded.t_ms, value = excluded.value",
        "i", run_id);
}
