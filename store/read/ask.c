/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A query runs on the connection of the store, which joins what several hosts write. An authorizer
 * lets it read and call functions, and nothing else. The views are temporary: they exist for this
 * connection alone, so that the file keeps orch's schema. */
#include "store/read/ask.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/handle/sql.h"
#include "store/read/listing.h"
#include "store/write/note_rules.h"

#include <string.h>

#define ANSWER_BYTES_MAX ((gsize)256 << 20)
#define TIME_OF(column) "strftime('%Y-%m-%dT%H:%M:%fZ', r." column " / 1e9, 'unixepoch')"
#define SHOWN " r.id NOT IN " STORE_HIDDEN

const struct orch_store_view ORCH_STORE_VIEWS[] = {
    {"runs",
     "run key state reason recipe experiment plugin seed repeat attempt who started ended wall_s "
     "commit_oid branch dirty tree machine",
     "SELECT r.id, r.key, r.state, r.reason, r.recipe, r.experiment, r.plugin, r.seed, r.repeat,"
     " r.attempt, r.who, " TIME_OF("started") ", " TIME_OF(
         "ended") ", r.wall_ms / 1000.0,"
                  " s.commit_oid, s.branch, s.dirty, s.tree, m.key FROM main.run r"
                  " LEFT JOIN main.source s ON s.id = r.source LEFT JOIN main.machine m ON m.id = "
                  "r.machine"
                  " WHERE" SHOWN},
    {"settings", "run name value",
     "SELECT r.id, p.name, json_extract(p.value, '$') FROM main.run r"
     " JOIN main.param p ON p.run = r.id WHERE" SHOWN},
    {"results", "run name value unit",
     "SELECT r.id, v.name, v.value, v.unit FROM main.run r"
     " JOIN main.result v ON v.run = r.id WHERE" SHOWN},
    {"metrics", "run name step t_s value unit",
     "SELECT r.id, n.name, v.step, v.t_ms / 1000.0, v.value, n.unit FROM main.run r"
     " JOIN main.metric v ON v.run = r.id JOIN main.metric_name n ON n.id = v.name_id WHERE" SHOWN},
    {"last_values", "run name step value unit",
     "SELECT r.id, n.name, v.step, v.value, n.unit FROM main.run r"
     " JOIN main.metric_name n JOIN main.metric v ON v.run = r.id AND v.name_id = n.id"
     " AND v.step = (SELECT max(l.step) FROM main.metric l"
     "  WHERE l.run = r.id AND l.name_id = n.id) WHERE" SHOWN},
    {0}};

/* A connection that reads may not even make temporary views, while it says so. */
static bool make_views(struct orch_store *store, GError **error)
{
    bool ok = orch_store_exec(store, "PRAGMA query_only = OFF", "query", error);
    for (const struct orch_store_view *v = ORCH_STORE_VIEWS; ok && v->name; v++) {
        g_auto(GStrv) columns = g_strsplit(v->columns, " ", -1);
        g_autofree char *names = g_strjoinv(", ", columns);
        g_autofree char *sql =
            g_strdup_printf("CREATE TEMP VIEW IF NOT EXISTS %s(%s) AS %s", v->name, names, v->sql);
        ok = orch_store_exec(store, sql, "query", error);
    }
    return orch_store_exec(store, "PRAGMA query_only = ON", "query", ok ? error : NULL) && ok;
}

static int only_read(void *ctx, int action, const char *first, const char *second,
                     const char *database, const char *view)
{
    (void)ctx, (void)first, (void)second, (void)database, (void)view;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static bool fail(struct orch_store *store, int code, double seconds, GError **error)
{
    if (code == SQLITE_INTERRUPT)
        orch_error_set(error, ORCH_ERROR_BUDGET,
                       "select less (WHERE, LIMIT), or allow more time with --timeout",
                       "the query takes longer than %g s", seconds);
    else if (code == SQLITE_ERROR || code == SQLITE_TOOBIG)
        orch_error_set(error, ORCH_ERROR_USAGE, "'orch query --help' lists the views",
                       "the query cannot be run: %s", sqlite3_errmsg(store->db));
    else if (code == SQLITE_AUTH)
        orch_error_set(error, ORCH_ERROR_USAGE, "write one SELECT",
                       "the query does more than read");
    else
        orch_store_fail(store, error, "query");
    return false;
}

static sqlite3_stmt *prepare(struct orch_store *store, const char *sql, double seconds,
                             GError **error)
{
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, &rest);
    if (code != SQLITE_OK) {
        fail(store, code, seconds, error);
        return NULL;
    }
    const char *what = !statement ? "it is empty" : NULL;
    if (statement && rest[strspn(rest, " \t\r\n;")])
        what = "it has more than one statement";
    if (statement && sqlite3_bind_parameter_count(statement))
        what = "it has a parameter without a value";
    if (!what)
        return statement;
    sqlite3_finalize(statement);
    orch_error_set(error, ORCH_ERROR_USAGE, "for example orch query 'SELECT key, wall_s FROM runs'",
                   "the query cannot be run: %s", what);
    return NULL;
}

/* The names of the columns; a name that came before gets a number. */
static json_t *columns_of(sqlite3_stmt *statement)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    json_t *columns = json_array();
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const char *given = sqlite3_column_name(statement, i);
        char *name = g_utf8_make_valid(given ? given : "", -1);
        for (int n = 2; g_hash_table_contains(seen, name); n++) {
            g_free(name);
            name = g_strdup_printf("%s:%d", given ? given : "", n);
        }
        json_array_append_new(columns, json_string(name));
        g_hash_table_add(seen, name);
    }
    return columns;
}

static json_t *value_of(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return orch_json_real(sqlite3_column_double(statement, column));
    case SQLITE_TEXT:
        return json_string(orch_store_text(statement, column));
    case SQLITE_BLOB: {
        const unsigned char *bytes = sqlite3_column_blob(statement, column);
        GString *hex = g_string_new(NULL);
        for (int i = 0; i < sqlite3_column_bytes(statement, column); i++)
            g_string_append_printf(hex, "%02x", bytes[i]);
        json_t *text = json_string(hex->str);
        g_string_free(hex, TRUE);
        return text;
    }
    default:
        return json_null();
    }
}

static bool read_rows(struct orch_store *store, sqlite3_stmt *statement, double seconds,
                      json_t *rows, GError **error)
{
    gsize bytes = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *row = json_array();
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            json_array_append_new(row, value_of(statement, i));
            bytes += (gsize)sqlite3_column_bytes(statement, i) + sizeof(json_t);
        }
        json_array_append_new(rows, row);
        if (json_array_size(rows) < ORCH_STORE_ASK_ROWS && bytes < ANSWER_BYTES_MAX)
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, "select less (WHERE, LIMIT), or use 'orch export'",
                       "the answer has more than %d rows or %zu MiB", ORCH_STORE_ASK_ROWS,
                       ANSWER_BYTES_MAX >> 20);
        return false;
    }
    return code == SQLITE_DONE || fail(store, code, seconds, error);
}

json_t *orch_store_ask(struct orch_store *store, const char *sql, double seconds, GError **error)
{
    if (!make_views(store, error))
        return NULL;
    json_t *rows = json_array(), *answer = NULL;
    sqlite3_set_authorizer(store->db, only_read, NULL);
    orch_store_limit_time(store, seconds);
    sqlite3_stmt *statement = prepare(store, sql, seconds, error);
    if (statement && read_rows(store, statement, seconds, rows, error))
        answer = json_pack("{s:o s:O}", "columns", columns_of(statement), "rows", rows);
    sqlite3_finalize(statement);
    orch_store_limit_time(store, 0);
    sqlite3_set_authorizer(store->db, NULL, NULL);
    json_decref(rows);
    return answer;
}
