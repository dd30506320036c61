/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the table of runs as a lab book (lines.h). Of a long list only the newest runs are
 * folded for the first view; the page asks for the whole when it has drawn that. */
#include "features/web/internal.h"
#include "features/web/lines.h"

#include "core/stats/grouping.h"
#include "core/stats/seeds.h"
#include "core/stats/spread.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/read/names_of.h"

#include <math.h>
#include <string.h>

enum {
    FIRST_VIEW = 2000, /* runs folded for it */
    ROWS_MAX = 500,
    OPEN_MAX = 20,
    COLUMNS_MAX = 48,
};

/* ---- folded lists -----------------------------------------------------------------------------
 * The last two that were folded are kept: that of the first view, and the whole. */

enum { KEPT = 2 };
struct web_folded {
    struct {
        char *key;
        struct web_lines *lines;
        gatomicrefcount *users;
    } of[KEPT];
    unsigned next;
};

static void unuse(struct web_lines *lines, gatomicrefcount *users)
{
    if (!users || !g_atomic_ref_count_dec(users))
        return;
    orch_web_lines_free(lines);
    g_free(users);
}

void orch_web_folded_free(struct web_folded *folded)
{
    for (unsigned i = 0; folded && i < KEPT; i++) {
        unuse(folded->of[i].lines, folded->of[i].users);
        g_free(folded->of[i].key);
    }
    g_free(folded);
}

/* Returns kept lines with one more user; NULL when they are not kept. */
static struct web_lines *kept_lines(struct orch_web *web, const char *key, gatomicrefcount **users)
{
    struct web_lines *found = NULL;
    g_mutex_lock(&web->lock);
    for (unsigned i = 0; web->folded && i < KEPT && !found; i++) {
        if (g_strcmp0(web->folded->of[i].key, key) != 0)
            continue;
        found = web->folded->of[i].lines;
        *users = web->folded->of[i].users;
        g_atomic_ref_count_inc(*users);
    }
    g_mutex_unlock(&web->lock);
    return found;
}

static void keep_lines(struct orch_web *web, const char *key, struct web_lines *lines,
                       gatomicrefcount *users)
{
    g_mutex_lock(&web->lock);
    if (!web->folded)
        web->folded = g_new0(struct web_folded, 1);
    const unsigned at = web->folded->next++ % KEPT;
    unuse(web->folded->of[at].lines, web->folded->of[at].users);
    g_free(web->folded->of[at].key);
    web->folded->of[at].key = g_strdup(key);
    web->folded->of[at].lines = lines;
    web->folded->of[at].users = users;
    g_atomic_ref_count_inc(users);
    g_mutex_unlock(&web->lock);
}

/* Folds the list of a request, or takes what is kept of it. `*users` is released with unuse. */
static struct web_lines *folded_lines(struct web_call *call, const GArray *ids, guint most,
                                      const char *version, gatomicrefcount **users, GError **error)
{
    g_autofree char *listing = orch_web_listing_key(call, version);
    g_autofree char *key = g_strdup_printf("%u\n%u\n%s", most, ids->len, listing);
    struct web_lines *lines = kept_lines(call->web, key, users);
    if (lines)
        return lines;
    lines = orch_web_lines_fold(call->store, ids, most, error);
    if (!lines)
        return NULL;
    *users = g_new0(gatomicrefcount, 1);
    g_atomic_ref_count_init(*users);
    keep_lines(call->web, key, lines, *users);
    return lines;
}

/* ---- the runs behind the rows -----------------------------------------------------------------
 */

/* Columns that are read of each run beside those asked for. */
enum { SEED, TREE, CELL, STATE, KEY, REPEAT, DEVICE, ENDED, EXTRA };
static char *const EXTRA_COLUMNS[EXTRA] = {"seed", "tree",   "cell",       "state",
                                           "key",  "repeat", "device_key", "ended"};

struct read {
    int columns;      /* asked for */
    GPtrArray *cells; /* by run in the order of reading: GArray of struct orch_row_cell, copied */
};

static void free_cells(gpointer data)
{
    GArray *cells = data;
    for (guint i = 0; i < cells->len; i++)
        g_free((char *)(uintptr_t)g_array_index(cells, struct orch_row_cell, i).text);
    g_array_unref(cells);
}

static bool take_cells(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct read *read = ctx;
    GArray *copy = g_array_new(FALSE, TRUE, sizeof(struct orch_row_cell));
    g_array_append_vals(copy, cells, (guint)read->columns + EXTRA);
    for (guint i = 0; i < copy->len; i++) {
        struct orch_row_cell *cell = &g_array_index(copy, struct orch_row_cell, i);
        cell->text = cell->kind == ORCH_CELL_TEXT ? g_strdup(cell->text) : NULL;
    }
    g_ptr_array_add(read->cells, copy);
    return true;
}

static const struct orch_row_cell *cell_at(const struct read *read, guint run, int column)
{
    return &g_array_index((GArray *)read->cells->pdata[run], struct orch_row_cell, column);
}

/* Reads all runs behind the rows. The id of each row's first one is appended to `firsts`. */
static bool read_runs(struct web_call *call, const struct web_lines *lines, const GArray *rows,
                      char **columns, struct read *read, GArray *counts, GArray *firsts,
                      GError **error)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++) {
        const struct web_row *row = &g_array_index(rows, struct web_row, i);
        const struct web_line *line = &g_array_index(lines->lines, struct web_line, row->line);
        const guint count = row->kind == WEB_ROW_LINE ? line->count : 1;
        g_array_append_val(counts, count);
        const guint begin = ids->len;
        if (row->kind == WEB_ROW_LINE)
            g_array_append_vals(ids, &g_array_index(lines->runs, int64_t, line->first), count);
        else
            g_array_append_val(ids, row->run);
        g_array_append_val(firsts, g_array_index(ids, int64_t, begin));
    }
    for (int i = 0; columns[i]; i++)
        g_ptr_array_add(names, columns[i]);
    for (int i = 0; i < EXTRA; i++)
        g_ptr_array_add(names, EXTRA_COLUMNS[i]);
    g_ptr_array_add(names, NULL);
    return orch_store_visit_rows(call->store, (const int64_t *)(const void *)ids->data, ids->len,
                                 (const char *const *)names->pdata, take_cells, read, error);
}

/* ---- what a line shows ------------------------------------------------------------------------
 */

static bool is_equal(const struct orch_row_cell *a, const struct orch_row_cell *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ORCH_CELL_INTEGER:
        return a->integer == b->integer;
    case ORCH_CELL_REAL:
        return a->real == b->real;
    case ORCH_CELL_TEXT:
        return strcmp(a->text, b->text) == 0;
    case ORCH_CELL_NONE:
        break;
    }
    return true;
}

static bool are_equal(const struct read *read, guint from, guint count, int column)
{
    for (guint i = 1; i < count; i++)
        if (!is_equal(cell_at(read, from, column), cell_at(read, from + i, column)))
            return false;
    return true;
}

/* Runs of one setting and one source are repeats, whose values have a mean; others are attempts, of
 * which the first one in the list is shown. */
static bool are_repeats(const struct read *read, guint from, guint count)
{
    return are_equal(read, from, count, read->columns + TREE) &&
           are_equal(read, from, count, read->columns + CELL) &&
           !are_equal(read, from, count, read->columns + SEED);
}

static bool is_ok(const struct read *read, guint run)
{
    const struct orch_row_cell *state = cell_at(read, run, read->columns + STATE);
    return state->kind == ORCH_CELL_TEXT && strcmp(state->text, "ok") == 0;
}

/* Adds a run that ended ok by the rule of grouping.h. */
static void add_value(struct orch_grouping *all, const struct read *read, guint run, int column)
{
    const struct orch_row_cell *seed = cell_at(read, run, read->columns + SEED),
                               *repeat = cell_at(read, run, read->columns + REPEAT),
                               *device = cell_at(read, run, read->columns + DEVICE),
                               *ended = cell_at(read, run, read->columns + ENDED);
    const double value = orch_web_cell_number(cell_at(read, run, column));
    const char *digits = seed->kind == ORCH_CELL_TEXT ? seed->text : "0";
    g_autofree char *trial = g_strdup_printf(
        "%s\n%s\n%" G_GINT64_FORMAT, digits, device->kind == ORCH_CELL_TEXT ? device->text : "",
        repeat->kind == ORCH_CELL_INTEGER ? repeat->integer : 0);
    const uint64_t number = g_ascii_strtoull(digits, NULL, 10);
    const struct orch_grouping_run one = {
        .group = "",
        .trial = number ? trial : NULL,
        .age_order = ended->kind == ORCH_CELL_INTEGER ? ended->integer : INT64_MIN,
        .seed = number,
        .values = &value};
    orch_grouping_add(all, &one);
}

/* Returns "0.912 [0.905, 0.918]" of the runs that ended ok; NULL for a column without numbers. */
static char *spread_text(const struct read *read, guint from, guint count, int column,
                         const char *name, const char *unit)
{
    struct orch_grouping *all = orch_grouping_new(1);
    guint added = 0;
    for (guint i = 0; i < count; i++)
        if (is_ok(read, from + i)) {
            add_value(all, read, from + i, column);
            added++;
        }
    g_autoptr(GArray) means = added ? orch_grouping_means(all, 0, 0)
                                    : g_array_new(FALSE, FALSE, sizeof(struct orch_seed_mean));
    g_autoptr(GArray) values = orch_seed_values(means);
    orch_grouping_free(all);
    if (values->len < 2)
        return NULL;
    const struct orch_spread spread =
        orch_spread_of((const double *)(const void *)values->data, values->len, name, unit);
    return orch_spread_format(&spread);
}

/* Returns "4 ok, 1 failed": how often each text occurs, in the order of the list. */
static char *counts_text(const struct read *read, guint from, guint count, int column)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < count; i++) {
        const struct orch_row_cell *cell = cell_at(read, from + i, column);
        guint same = 0, before = 0;
        for (guint k = 0; k < count; k++) {
            same += is_equal(cell, cell_at(read, from + k, column));
            before += k < i && is_equal(cell, cell_at(read, from + k, column));
        }
        if (!before && cell->kind == ORCH_CELL_TEXT)
            g_string_append_printf(text, "%s%u %s", text->len ? ", " : "", same, cell->text);
    }
    return g_string_free(text, FALSE);
}

/* Columns of a line that stand for its first run alone. */
static bool is_of_first(const char *column)
{
    static const char *const names[] = {"key",  "ended",   "started", "repeat",
                                        "seed", "attempt", NULL};
    return g_strv_contains(names, column);
}

struct line_reader {
    const struct read *read;
    char **columns;
    const GPtrArray *names; /* struct orch_name_of_runs *: for units */
};

static const char *unit_of(const struct line_reader *reader, const char *column)
{
    for (guint i = 0; i < reader->names->len; i++) {
        const struct orch_name_of_runs *name = reader->names->pdata[i];
        if (strcmp(name->name.name, orch_web_plain_name(column)) == 0)
            return name->name.unit;
    }
    return strcmp(column, "wall_s") == 0 ? "s" : NULL;
}

/* The texts that replace values of a line: an object by column. */
static json_t *texts_json(const struct line_reader *reader, guint from, guint count,
                          bool is_repeats)
{
    json_t *texts = json_object();
    for (int c = 0; c < reader->read->columns; c++) {
        const char *name = reader->columns[c];
        if (is_of_first(name) || are_equal(reader->read, from, count, c))
            continue;
        g_autofree char *text =
            strcmp(name, "state") == 0 ? counts_text(reader->read, from, count, c)
            : is_repeats ? spread_text(reader->read, from, count, c, name, unit_of(reader, name))
                         : NULL;
        if (text)
            json_object_set_new(texts, name, json_string(text));
    }
    return texts;
}

static json_t *keys_json(const struct read *read, guint from, guint count)
{
    json_t *keys = json_array();
    for (guint i = 0; i < count; i++)
        json_array_append_new(keys,
                              orch_web_cell_json(cell_at(read, from + i, read->columns + KEY)));
    return keys;
}

static json_t *row_json(const struct line_reader *reader, const struct web_lines *lines,
                        const struct web_row *row, guint from, guint count)
{
    static const char *const kinds[] = {"run", "line", "member"};
    const bool is_line = row->kind == WEB_ROW_LINE;
    const bool is_repeats = is_line && are_repeats(reader->read, from, count);
    json_t *cells = json_array();
    for (int c = 0; c < reader->read->columns; c++)
        json_array_append_new(cells, orch_web_cell_json(cell_at(reader->read, from, c)));
    return json_pack("{s:s s:I s:o s:b s:b s:o s:o}", "kind", kinds[row->kind], "runs",
                     (json_int_t)g_array_index(lines->lines, struct web_line, row->line).count,
                     "keys", keys_json(reader->read, from, count), "is_open", row->is_open,
                     "is_repeats", is_repeats, "cells", cells, "texts",
                     is_line ? texts_json(reader, from, count, is_repeats) : json_object());
}

/* ---- the answer -------------------------------------------------------------------------------
 */

/* The ids of the runs whose lines are open; keys that are gone are left out. */
static GArray *open_ids(struct web_call *call)
{
    g_auto(GStrv) keys = orch_web_query_list(call, "open", "");
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int i = 0; keys[i] && i < OPEN_MAX; i++) {
        struct orch_run *run = *keys[i] ? orch_store_run(call->store, keys[i], NULL) : NULL;
        if (run)
            g_array_append_val(ids, run->id);
        orch_run_free(run);
    }
    return ids;
}

static json_t *rows_json(struct web_call *call, const struct web_lines *lines, const GArray *rows,
                         char **columns, GError **error)
{
    g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) firsts = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_autoptr(GPtrArray) names = NULL;
    struct read read = {(int)g_strv_length(columns), g_ptr_array_new_with_free_func(free_cells)};
    json_t *list = NULL;
    if (read_runs(call, lines, rows, columns, &read, counts, firsts, error) &&
        (names = orch_store_names_of(call->store, (const int64_t *)(const void *)firsts->data,
                                     firsts->len, error))) {
        const struct line_reader reader = {&read, columns, names};
        guint from = 0;
        list = json_array();
        for (guint i = 0; i < rows->len && from < read.cells->len; i++) {
            const guint count = g_array_index(counts, guint, i);
            json_array_append_new(
                list,
                row_json(&reader, lines, &g_array_index(rows, struct web_row, i), from, count));
            from += count;
        }
    }
    g_ptr_array_unref(read.cells);
    return list;
}

bool orch_web_api_lines(struct web_call *call, GError **error)
{
    int64_t offset = 0, limit = 100;
    if (!orch_web_query_int(call, "offset", 0, INT32_MAX, &offset, error) ||
        !orch_web_query_int(call, "limit", 0, ROWS_MAX, &limit, error))
        return false;
    g_auto(GStrv) columns = orch_web_query_list(call, "columns", "key,state,setting,wall_s");
    if (g_strv_length(columns) > COLUMNS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "more than %d columns", COLUMNS_MAX);
        return false;
    }
    g_autofree char *version = NULL;
    g_autoptr(GArray) ids = orch_web_listing(call, &version, error);
    if (!ids)
        return false;
    const bool is_folded = strcmp(orch_web_query_text(call, "fold", "1"), "0") != 0;
    const bool is_whole =
        !is_folded || ids->len <= FIRST_VIEW || orch_web_query_text(call, "whole", NULL);
    const guint most = !is_folded ? 0 : is_whole ? G_MAXUINT : FIRST_VIEW;
    gatomicrefcount *users = NULL;
    struct web_lines *lines = folded_lines(call, ids, most, version, &users, error);
    if (!lines)
        return false;
    g_autoptr(GArray) open = open_ids(call);
    guint total = 0;
    g_autoptr(GArray) rows = orch_web_lines_rows(lines, open, (guint)offset, (guint)limit, &total);
    json_t *list = rows_json(call, lines, rows, columns, error);
    if (list)
        orch_web_answer_json(call,
                             json_pack("{s:s s:I s:I s:I s:b s:o}", "version", version, "total",
                                       (json_int_t)total, "runs", (json_int_t)ids->len, "lines",
                                       (json_int_t)lines->lines->len, "is_whole", is_whole, "rows",
                                       list),
                             15);
    unuse(lines, users);
    return list != NULL;
}
