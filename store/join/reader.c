/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads runs by column from an untrusted file.
 *
 * The primary keys of the tables begin with the run's id, so one ordered scan of each table serves
 * all wanted runs; a cursor seeks only where runs are skipped. Nothing in the file is trusted but
 * the layout of its tables, which foreign.c has compared. SQLite does not check on reading whether
 * a value has its column's type or is NULL, so each value is checked here, and a text must be UTF-8
 * without NULs. A fault makes only its own run invalid; reading continues with the next one.
 *
 * Rejected: a query for each run and table (twice the time for short runs).
 */
#include "store/handle/foreign.h"
#include "store/handle/sql.h"
#include "store/join/join_internal.h"
#include "store/write/run_fields.h"
#include "store/write/run_lists.h"

#include "lib/base/error.h"
#include "lib/wire/bounds.h"

#include <math.h>
#include <string.h>

/** The position of a table's scan. */
struct cursor {
    const char *sql; /* selects the rows from a run on; the first column is the run's id */
    sqlite3_stmt *s;
    int64_t run;
    enum { CURSOR_NOWHERE, CURSOR_AT_ROW, CURSOR_AT_END } state;
};

/* The cursors: of each kind of rows, of the runs, and of the points. */
enum { RUN = STORE_ROWS, POINTS, CURSORS };

static const char RUNS_FROM[] =
    "SELECT r.id" STORE_RUN_FIELDS(STORE_FIELD_SELECT) ", r.digest, r.digest_v"
                                                       " FROM run r" STORE_RUN_JOINS
                                                       " WHERE r.id >= ?1 ORDER BY r.id";

/* NOT INDEXED restricts it to the primary key, whatever indexes an untrusted file has. */
static const char POINTS_FROM[] = "SELECT run, name_id, step, t_ms, value FROM metric NOT INDEXED"
                                  " WHERE run >= ?1 ORDER BY run, name_id, step";

struct store_reader {
    struct orch_store *from;
    struct cursor cursors[CURSORS];
    int64_t bytes, most_bytes;
    GStringChunk *texts;      /* texts of the current run */
    GHashTable *names;        /* name_id -> struct orch_metric_row *, for the life of the reader */
    GStringChunk *kept;       /* texts of `names` */
    GArray *rows[STORE_ROWS]; /* structs of store_row_kinds */
    GArray *results;          /* struct orch_named_real: those of rows, without units */
    GArray *metrics;
    struct orch_record record;
    int64_t run_id, name_id; /* the run and metric whose points are being streamed */
    const char *metric;
    const char *fault;
    GError *failure;
};

struct store_reader *orch_store_reader_new(struct orch_store *from)
{
    struct store_reader *reader = g_new0(struct store_reader, 1);
    reader->from = from;
    reader->most_bytes = INT64_MAX;
    for (int i = 0; i < CURSORS; i++)
        reader->cursors[i].sql = i == RUN      ? RUNS_FROM
                                 : i == POINTS ? POINTS_FROM
                                               : store_row_kinds[i].from_run;
    for (int i = 0; i < STORE_ROWS; i++)
        reader->rows[i] = g_array_new(FALSE, FALSE, (guint)store_row_kinds[i].row_bytes);
    reader->texts = g_string_chunk_new(32 << 10);
    reader->kept = g_string_chunk_new(4 << 10);
    reader->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    reader->results = g_array_new(FALSE, FALSE, sizeof(struct orch_named_real));
    reader->metrics = g_array_new(FALSE, FALSE, sizeof(struct orch_metric_row));
    return reader;
}

void orch_store_reader_forget(struct store_reader *reader)
{
    g_string_chunk_clear(reader->texts);
}

/* Resets the cursors, so that the tables can be written to. */
static void store_reader_rest(struct store_reader *reader)
{
    for (int i = 0; i < CURSORS; i++) {
        if (reader->cursors[i].s)
            sqlite3_reset(reader->cursors[i].s);
        reader->cursors[i].state = CURSOR_NOWHERE;
    }
}

void orch_store_reader_free(struct store_reader *reader)
{
    if (!reader)
        return;
    store_reader_rest(reader);
    g_string_chunk_free(reader->texts);
    g_string_chunk_free(reader->kept);
    g_hash_table_destroy(reader->names);
    for (int i = 0; i < STORE_ROWS; i++)
        g_array_unref(reader->rows[i]);
    g_array_unref(reader->results);
    g_array_unref(reader->metrics);
    g_clear_error(&reader->failure);
    g_free(reader);
}

void orch_store_reader_limit(struct store_reader *reader, int64_t bytes)
{
    reader->most_bytes = bytes;
}

const char *orch_store_reader_fault(const struct store_reader *reader)
{
    return reader->fault;
}

bool orch_store_reader_has_failed(const struct store_reader *reader, GError **error)
{
    if (reader->failure)
        g_propagate_error(error, g_error_copy(reader->failure));
    return reader->failure != NULL;
}

char *orch_store_reader_called(const struct store_reader *reader)
{
    const char *key = reader->record.key;
    return key && orch_key_is_valid(key)
               ? g_strdup_printf("run %s", key)
               : g_strdup_printf("run number %" G_GINT64_FORMAT, reader->run_id);
}

/* ---- cursors ---------------------------------------------------------------------- */

/* Records a failure: damage is a fault of the run, anything else ends the reading. Returns -1. */
static int fail(struct store_reader *reader, bool is_damage, GError *problem)
{
    if (is_damage) {
        reader->fault = "its rows cannot be read: the file is damaged there";
        g_clear_error(&problem);
    } else if (!reader->failure) {
        reader->failure = problem;
    } else {
        g_clear_error(&problem);
    }
    return -1;
}

/* Returns 1 for a row, 0 at the end and -1 on failure. */
static int cursor_next(struct store_reader *reader, struct cursor *cursor)
{
    GError *problem = NULL;
    int more = orch_store_step(reader->from, cursor->s, &problem);
    cursor->state = more > 0 ? CURSOR_AT_ROW : more == 0 ? CURSOR_AT_END : CURSOR_NOWHERE;
    if (more < 0)
        return fail(reader, orch_store_foreign_is_damage(reader->from), problem);
    if (more > 0)
        cursor->run = sqlite3_column_int64(cursor->s, 0);
    return more;
}

/* Moves the cursor to the first row of a run. Returns 1, 0 when there is none and -1 on failure. */
static int cursor_find(struct store_reader *reader, struct cursor *cursor, int64_t run_id)
{
    if (cursor->state == CURSOR_AT_END)
        return 0;
    if (cursor->state == CURSOR_NOWHERE || cursor->run < run_id) {
        GError *problem = NULL;
        cursor->s = orch_store_statement(reader->from, cursor->sql, &problem);
        if (!cursor->s)
            return fail(reader, orch_store_foreign_is_damage(reader->from), problem);
        orch_store_bind(cursor->s, "i", run_id);
        if (cursor_next(reader, cursor) < 0)
            return -1;
    }
    return cursor->state == CURSOR_AT_ROW && cursor->run == run_id;
}

/* ---- values ----------------------------------------------------------------------- */

bool orch_store_reader_text(struct store_reader *reader, sqlite3_stmt *s, int column,
                            bool may_be_null, const char **out)
{
    int type = sqlite3_column_type(s, column);
    *out = NULL;
    if (type == SQLITE_NULL && may_be_null)
        return true;
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(s, column) : NULL;
    int length = text ? sqlite3_column_bytes(s, column) : 0;
    reader->bytes += length;
    if (!text || !g_utf8_validate(text, length, NULL)) /* also rejects a NUL */
        reader->fault = "one of its texts is not a text, or not UTF-8";
    else if (reader->bytes > reader->most_bytes)
        reader->fault = "the file declares more than its size can hold";
    else
        *out = g_string_chunk_insert_len(reader->texts, text, length);
    return *out != NULL;
}

static bool take_int(struct store_reader *reader, sqlite3_stmt *s, int column, int64_t *out)
{
    *out = sqlite3_column_int64(s, column);
    if (sqlite3_column_type(s, column) == SQLITE_INTEGER)
        return true;
    reader->fault = "one of its numbers is not a number";
    return false;
}

static bool take_bounded(struct store_reader *reader, sqlite3_stmt *s, int column, const char *name,
                         int64_t *out)
{
    if (!take_int(reader, s, column, out))
        return false;
    g_autofree char *fault = orch_bound_named_fault(name, (double)*out);
    if (fault) {
        g_autofree char *its = g_strconcat("its ", fault, NULL);
        reader->fault = g_string_chunk_insert(reader->texts, its);
    }
    return !fault;
}

static bool take_real(struct store_reader *reader, sqlite3_stmt *s, int column, double *out)
{
    int type = sqlite3_column_type(s, column);
    *out = orch_store_column_real(s, column);
    if (type == SQLITE_FLOAT || type == SQLITE_NULL || type == SQLITE_INTEGER)
        return true;
    reader->fault = "one of its numbers is not a number";
    return false;
}

/* ---- a run's own row -------------------------------------------------------------- */

/* Reads an integer; NULL gives `absent`. */
static bool take_optional(struct store_reader *reader, sqlite3_stmt *s, int column,
                          const char *name, int absent, int *out)
{
    int64_t value = absent;
    if (sqlite3_column_type(s, column) != SQLITE_NULL &&
        !take_bounded(reader, s, column, name, &value))
        return false;
    *out = (int)value;
    return true;
}

static bool take_field(struct store_reader *reader, sqlite3_stmt *s, int column,
                       const struct store_run_field *field, void *at)
{
    bool is_null = sqlite3_column_type(s, column) == SQLITE_NULL;
    int64_t number = 0;
    switch (field->kind) {
    case STORE_FIELD_BOOL:
        if (!is_null && !take_int(reader, s, column, &number))
            return false;
        *(bool *)at = number != 0;
        return true;
    case STORE_FIELD_SEED:
        if (!take_int(reader, s, column, &number))
            return false;
        *(uint64_t *)at = (uint64_t)number;
        return true;
    case STORE_FIELD_INT:
    case STORE_FIELD_EXIT:
        return take_optional(reader, s, column, field->text, -1, at);
    case STORE_FIELD_SIGNAL:
        return take_optional(reader, s, column, field->text, 0, at);
    case STORE_FIELD_TIME:
        return take_bounded(reader, s, column, field->text, at);
    case STORE_FIELD_MS:
        return take_real(reader, s, column, at);
    default:
        return orch_store_reader_text(reader, s, column, true, at);
    }
}

static bool take_record(struct store_reader *reader, sqlite3_stmt *s, const char **out_digest)
{
    struct orch_record *r = &reader->record;
    int64_t version;
    for (int i = 0; i < STORE_RUN_FIELD_COUNT; i++)
        if (!take_field(reader, s, 1 + i, &store_run_fields[i],
                        (char *)r + store_run_fields[i].in_record))
            return false;
    if (!orch_store_reader_text(reader, s, 1 + STORE_RUN_FIELD_COUNT, true, out_digest) ||
        !take_int(reader, s, 2 + STORE_RUN_FIELD_COUNT, &version))
        return false;
    if (!r->key || !r->state || !*out_digest)
        reader->fault = "it has no key, state or digest";
    else if (version != 1)
        reader->fault = "its digest has an unknown version: update orch";
    return !reader->fault;
}

/* ---- details of a run ------------------------------------------------------------- */

/* Records the unit and direction of a result or metric. A name can have only one of each in a
 * run. */
static bool declare(struct store_reader *reader, const char *name, const char *unit,
                    const char *better)
{
    for (guint i = 0; i < reader->metrics->len; i++) {
        const struct orch_metric_row *row =
            &g_array_index(reader->metrics, struct orch_metric_row, i);
        if (strcmp(row->name, name) != 0)
            continue;
        if (strcmp(row->unit, unit) == 0 && strcmp(row->better, better) == 0)
            return true;
        reader->fault = "one of its metrics has two units";
        return false;
    }
    struct orch_metric_row row = {.name = name, .unit = unit, .better = better};
    g_array_append_val(reader->metrics, row);
    reader->record.metrics = (const struct orch_metric_row *)(void *)reader->metrics->data;
    reader->record.metric_count = reader->metrics->len;
    return true;
}

static bool take_value(struct store_reader *reader, sqlite3_stmt *s, int column,
                       const struct store_member *member, void *at)
{
    switch (member->kind) {
    case STORE_VALUE_INT64:
        return take_bounded(reader, s, column, member->name, at);
    case STORE_VALUE_REAL:
        return take_real(reader, s, column, at);
    default:
        return orch_store_reader_text(reader, s, column, member->kind == STORE_VALUE_TEXT, at);
    }
}

static bool add_row(struct store_reader *reader, int which, sqlite3_stmt *s)
{
    const struct store_row_kind *kind = &store_row_kinds[which];
    GArray *rows = reader->rows[which];
    g_array_set_size(rows, rows->len + 1);
    char *row = rows->data + (rows->len - 1) * kind->row_bytes;
    for (int i = 0; kind->members[i].kind; i++)
        if (!take_value(reader, s, 1 + i, &kind->members[i], row + kind->members[i].offset))
            return false;
    if (which != STORE_RESULTS)
        return true;
    const struct store_result *result = (const void *)row;
    const struct orch_named_real plain = {result->name, result->value};
    g_array_append_val(reader->results, plain);
    return declare(reader, result->name, result->unit, result->better);
}

static bool read_rows(struct store_reader *reader, int which, int64_t run_id)
{
    struct cursor *cursor = &reader->cursors[which];
    g_array_set_size(reader->rows[which], 0);
    int more = cursor_find(reader, cursor, run_id);
    while (more > 0) {
        if (!add_row(reader, which, cursor->s))
            return false;
        more = cursor_next(reader, cursor);
        if (more > 0 && cursor->run != run_id)
            more = 0;
    }
    return more == 0;
}

static bool read_details(struct store_reader *reader, int64_t run_id)
{
    struct orch_record *r = &reader->record;
    g_array_set_size(reader->results, 0);
    g_array_set_size(reader->metrics, 0);
    for (int k = 0; k < STORE_ROWS; k++)
        if (!read_rows(reader, k, run_id))
            return false;
    r->params = (const void *)reader->rows[STORE_PARAMS]->data;
    r->param_count = reader->rows[STORE_PARAMS]->len;
    r->inputs = (const void *)reader->rows[STORE_INPUTS]->data;
    r->input_count = reader->rows[STORE_INPUTS]->len;
    r->results = (const void *)reader->results->data;
    r->result_count = reader->results->len;
    r->artifacts = (const void *)reader->rows[STORE_ARTIFACTS]->data;
    r->artifact_count = reader->rows[STORE_ARTIFACTS]->len;
    return true;
}

/* ---- points ----------------------------------------------------------------------- */

static struct orch_metric_row *read_name(struct store_reader *reader, int64_t id)
{
    GError *problem = NULL;
    const char *name, *unit, *better;
    sqlite3_stmt *s = orch_store_statement(
        reader->from, "SELECT name, unit, better FROM metric_name WHERE id = ?", &problem);
    if (s)
        orch_store_bind(s, "i", id);
    int more = s ? orch_store_step(reader->from, s, &problem) : -1;
    if (more <= 0) {
        if (more < 0)
            fail(reader, orch_store_foreign_is_damage(reader->from), problem);
        else
            reader->fault = "one of its metrics has no name";
        return NULL;
    }
    struct orch_metric_row *row = NULL;
    if (orch_store_reader_text(reader, s, 0, false, &name) &&
        orch_store_reader_text(reader, s, 1, false, &unit) &&
        orch_store_reader_text(reader, s, 2, false, &better)) {
        row = g_new0(struct orch_metric_row, 1);
        row->name = g_string_chunk_insert(reader->kept, name);
        row->unit = g_string_chunk_insert(reader->kept, unit);
        row->better = g_string_chunk_insert(reader->kept, better);
    }
    sqlite3_reset(s);
    return row;
}

static bool start_metric(struct store_reader *reader, int64_t id)
{
    struct orch_metric_row *row = g_hash_table_lookup(reader->names, &id);
    if (!row && (row = read_name(reader, id)) != NULL)
        g_hash_table_insert(reader->names, g_memdup2(&id, sizeof id), row);
    if (!row || !declare(reader, row->name, row->unit, row->better))
        return false;
    reader->name_id = id;
    reader->metric = row->name;
    return true;
}

static bool take_point(struct store_reader *reader, sqlite3_stmt *s, struct orch_point *out)
{
    int64_t name_id;
    if (!take_int(reader, s, 1, &name_id) || !take_int(reader, s, 2, &out->step) ||
        !take_real(reader, s, 3, &out->t_ms) || !take_real(reader, s, 4, &out->value) ||
        ((!reader->metric || name_id != reader->name_id) && !start_metric(reader, name_id)))
        return false;
    out->name = reader->metric;
    return true;
}

/* Takes the next row of the run. The current one was returned by the last call, unless this is the
 * first. */
static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    struct store_reader *reader = ctx;
    struct cursor *cursor = &reader->cursors[POINTS];
    int more =
        reader->metric ? cursor_next(reader, cursor) : cursor_find(reader, cursor, reader->run_id);
    if (more > 0 && cursor->run == reader->run_id && take_point(reader, cursor->s, out))
        return true;
    if (!orch_store_reader_has_failed(reader, error) && reader->fault)
        g_set_error_literal(error, ORCH_ERROR, ORCH_ERROR_STORE, reader->fault);
    return false;
}

/* ---- entry points ----------------------------------------------------------------- */

static bool read_run(struct store_reader *reader, int64_t run_id, const char **out_digest)
{
    struct cursor *cursor = &reader->cursors[RUN];
    int more = cursor_find(reader, cursor, run_id);
    if (more == 0)
        reader->fault = "its row is not where it was";
    return more > 0 && take_record(reader, cursor->s, out_digest) && read_details(reader, run_id);
}

enum store_read orch_store_reader_run(struct store_reader *reader, int64_t run_id,
                                      struct orch_record **out, char digest[ORCH_SHA256_CHARS],
                                      GError **error)
{
    const char *recorded = NULL;
    orch_store_reader_forget(reader);
    reader->fault = NULL;
    reader->metric = NULL;
    reader->run_id = run_id;
    reader->record = (struct orch_record){.next_point = next_point, .next_ctx = reader};
    bool ok = !reader->failure && read_run(reader, run_id, &recorded);
    if (orch_store_reader_has_failed(reader, error))
        return STORE_READ_FAILED;
    if (!ok)
        return STORE_READ_REFUSED;
    g_strlcpy(digest, recorded, ORCH_SHA256_CHARS);
    *out = &reader->record;
    return STORE_READ_RUN;
}
