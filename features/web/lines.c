/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/lines.h"

#include <string.h>

/* Attempts of a script further apart than this are not of one sitting. */
static const int64_t SITTING_NS = INT64_C(3600) * 1000000000;

/* ---- folding ----------------------------------------------------------------------------------
 */

struct fold {
    GHashTable *by_key; /* char * -> line number + 1 */
    GArray *line_of;    /* guint: the line of each run */
    GArray *seen_ns;    /* int64_t by line: when its last run in the list ended */
    guint count;
};

enum { RECIPE, EXPERIMENT, SETTING, WHO, ENDED };
static const char *const COLUMNS[] = {"recipe", "experiment", "setting", "who", "ended", NULL};

static const char *text_of(const struct orch_row_cell *cell)
{
    return cell->kind == ORCH_CELL_TEXT ? cell->text : "";
}

/* A run without a swept parameter is an attempt: it joins the last one of its experiment unless
 * that is more than an hour away. */
static bool joins(const struct fold *fold, guint line, const struct orch_row_cell *cells)
{
    const char *setting = text_of(&cells[SETTING]);
    if (*setting && strcmp(setting, "{}") != 0)
        return true;
    const int64_t other = g_array_index(fold->seen_ns, int64_t, line);
    const int64_t mine = cells[ENDED].integer;
    return mine > other ? mine - other < SITTING_NS : other - mine < SITTING_NS;
}

static bool take_run(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct fold *fold = ctx;
    char *key =
        g_strdup_printf("%s\n%s\n%s\n%s", text_of(&cells[RECIPE]), text_of(&cells[EXPERIMENT]),
                        text_of(&cells[WHO]), text_of(&cells[SETTING]));
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(fold->by_key, key));
    if (!known || !joins(fold, known - 1, cells)) {
        known = ++fold->count;
        g_hash_table_replace(fold->by_key, key, GUINT_TO_POINTER(known));
        g_array_append_val(fold->seen_ns, cells[ENDED].integer);
    } else {
        g_free(key);
        g_array_index(fold->seen_ns, int64_t, known - 1) = cells[ENDED].integer;
    }
    const guint line = known - 1;
    g_array_append_val(fold->line_of, line);
    return true;
}

/* Sorts the runs by line, stably. */
static struct web_lines *lay_out(const struct fold *fold, const GArray *ids)
{
    const guint rest = ids->len - fold->line_of->len, count = fold->count + rest;
    struct web_lines *out = g_new0(struct web_lines, 1);
    out->lines = g_array_sized_new(FALSE, TRUE, sizeof(struct web_line), count);
    out->runs = g_array_sized_new(FALSE, TRUE, sizeof(int64_t), ids->len);
    g_array_set_size(out->lines, count);
    g_array_set_size(out->runs, ids->len);
    struct web_line *lines = (struct web_line *)(void *)out->lines->data;
    for (guint i = 0; i < ids->len; i++)
        lines[i < fold->line_of->len ? g_array_index(fold->line_of, guint, i)
                                     : fold->count + i - fold->line_of->len]
            .count++;
    for (guint k = 1; k < count; k++)
        lines[k].first = lines[k - 1].first + lines[k - 1].count;
    g_autofree guint *filled = g_new0(guint, count + 1);
    for (guint i = 0; i < ids->len; i++) {
        const guint line = i < fold->line_of->len ? g_array_index(fold->line_of, guint, i)
                                                  : fold->count + i - fold->line_of->len;
        g_array_index(out->runs, int64_t, lines[line].first + filled[line]++) =
            g_array_index(ids, int64_t, i);
    }
    return out;
}

struct web_lines *orch_web_lines_fold(struct orch_store *store, const GArray *ids, guint most,
                                      GError **error)
{
    struct fold fold = {
        .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .line_of = g_array_new(FALSE, FALSE, sizeof(guint)),
        .seen_ns = g_array_new(FALSE, FALSE, sizeof(int64_t)),
    };
    const int64_t *first = (const int64_t *)(const void *)ids->data;
    struct web_lines *lines = NULL;
    if (orch_store_visit_rows(store, first, MIN(ids->len, most), COLUMNS, take_run, &fold, error))
        lines = lay_out(&fold, ids);
    g_hash_table_unref(fold.by_key);
    g_array_unref(fold.line_of);
    g_array_unref(fold.seen_ns);
    return lines;
}

void orch_web_lines_free(struct web_lines *lines)
{
    if (!lines)
        return;
    g_array_unref(lines->lines);
    g_array_unref(lines->runs);
    g_free(lines);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static bool contains_any(const struct web_lines *lines, const struct web_line *line,
                         const GArray *open)
{
    for (guint i = 0; i < line->count; i++)
        for (guint k = 0; k < open->len; k++)
            if (g_array_index(lines->runs, int64_t, line->first + i) ==
                g_array_index(open, int64_t, k))
                return true;
    return false;
}

GArray *orch_web_lines_rows(const struct web_lines *lines, const GArray *open, guint offset,
                            guint limit, guint *out_total)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct web_row));
    guint at = 0;
    for (guint k = 0; k < lines->lines->len; k++) {
        const struct web_line *line = &g_array_index(lines->lines, struct web_line, k);
        const bool is_open = line->count > 1 && open->len && contains_any(lines, line, open);
        const guint below = is_open ? line->count : 0;
        for (guint i = 0; i <= below; i++, at++) {
            if (at < offset || at - offset >= limit)
                continue;
            const struct web_row row = {
                .kind = i                 ? WEB_ROW_MEMBER
                        : line->count > 1 ? WEB_ROW_LINE
                                          : WEB_ROW_RUN,
                .line = k,
                .run = g_array_index(lines->runs, int64_t, line->first + (i ? i - 1 : 0)),
                .is_open = is_open};
            g_array_append_val(rows, row);
        }
    }
    *out_total = at;
    return rows;
}
