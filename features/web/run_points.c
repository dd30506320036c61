/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/run_points.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static const double LOG_RATIO = 50; /* numbers that span more are taken by their logarithm */

/* ---- the runs ---------------------------------------------------------------------------------
 */

static void free_row(gpointer row)
{
    g_strfreev(row);
}

static char *text_of(const struct orch_row_cell *cell)
{
    char real[ORCH_REAL_CHARS];
    switch (cell->kind) {
    case ORCH_CELL_INTEGER:
        return g_strdup_printf("%" G_GINT64_FORMAT, cell->integer);
    case ORCH_CELL_REAL:
        return g_strdup(orch_real_format(cell->real, real));
    case ORCH_CELL_TEXT:
        return g_strdup(cell->text);
    case ORCH_CELL_NONE:
        break;
    }
    return g_strdup(""); /* a row is a NULL-terminated list, so an absent value is the empty text */
}

/* Columns: state, the number, then the parameters. Only runs that ended ok with a finite number
 * count. */
static bool take_run(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct run_points *points = ctx;
    const double value = orch_web_cell_number(&cells[1]);
    if (cells[0].kind != ORCH_CELL_TEXT || strcmp(cells[0].text, "ok") != 0 || !isfinite(value))
        return true;
    if (points->rows->len == points->most) {
        points->is_cut = true;
        return false;
    }
    char **row = g_new0(char *, points->params->len + 1);
    for (guint p = 0; p < points->params->len; p++)
        row[p] = text_of(&cells[2 + p]);
    g_ptr_array_add(points->rows, row);
    g_array_append_val(points->values, value);
    return true;
}

void orch_web_run_points_clear(struct run_points *points)
{
    if (points->params)
        g_ptr_array_unref(points->params);
    g_ptr_array_unref(points->rows);
    g_array_unref(points->values);
}

bool orch_web_run_points_read(struct web_call *call, const GArray *ids, size_t most,
                              const char *number, GPtrArray *params, struct run_points *out,
                              GError **error)
{
    *out = (struct run_points){.params = params,
                               .rows = g_ptr_array_new_with_free_func(free_row),
                               .values = g_array_new(FALSE, FALSE, sizeof(double)),
                               .most = most};
    if (!params)
        return false;
    g_autoptr(GPtrArray) columns = g_ptr_array_new();
    g_ptr_array_add(columns, (gpointer)(uintptr_t) "state");
    g_ptr_array_add(columns, (gpointer)(uintptr_t)number);
    for (guint p = 0; p < out->params->len; p++)
        g_ptr_array_add(columns, out->params->pdata[p]);
    g_ptr_array_add(columns, NULL);
    const int64_t *all = (const int64_t *)(const void *)ids->data;
    bool ok = true;
    /* mostly the first ones suffice */
    for (size_t from = 0, count = most; ok && from < ids->len && !out->is_cut;
         from += count, count *= 2)
        ok = orch_store_visit_rows(call->store, all + from, MIN(count, ids->len - from),
                                   (const char *const *)columns->pdata, take_run, out, error);
    return ok;
}

/* ---- the space --------------------------------------------------------------------------------
 */

static const char *text_at(const struct run_points *points, guint row, guint param)
{
    return ((char **)points->rows->pdata[row])[param];
}

char *orch_web_run_points_range(const struct run_points *points, guint param)
{
    double low = INFINITY, high = -INFINITY, value;
    bool is_number = true;
    g_autoptr(GHashTable) words = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < points->rows->len; i++) {
        const char *text = text_at(points, i, param);
        if (!*text)
            continue;
        g_hash_table_add(words, (gpointer)(uintptr_t)text);
        is_number = is_number && orch_real_parse(text, &value) && isfinite(value);
        low = is_number ? fmin(low, value) : low;
        high = is_number ? fmax(high, value) : high;
    }
    const guint count = g_hash_table_size(words);
    if (count < 2 || (is_number && !(high > low)) || (!is_number && count > ORCH_SPACE_CHOICES_MAX))
        return NULL;
    if (!is_number)
        return g_strdup("words");
    char a[ORCH_REAL_CHARS], b[ORCH_REAL_CHARS];
    return g_strdup_printf("%s(%s, %s)",
                           low > 0 && high / low >= LOG_RATIO ? "loguniform" : "uniform",
                           orch_real_format(low, a), orch_real_format(high, b));
}

/* Numbers the words of a parameter, so that any text can be a choice: "choice(w0, w1)". The caller
 * frees both. */
static char *choices_of(const struct run_points *points, guint param, GHashTable *numbers)
{
    GString *text = g_string_new("choice(");
    for (guint i = 0; i < points->rows->len; i++) {
        const char *word = text_at(points, i, param);
        if (!*word || g_hash_table_contains(numbers, word))
            continue;
        const guint number = g_hash_table_size(numbers);
        g_hash_table_insert(numbers, g_strdup(word), g_strdup_printf("w%u", number));
        g_string_append_printf(text, "%sw%u", number ? ", " : "", number);
    }
    return g_string_free(g_string_append_c(text, ')'), FALSE);
}

/* Fills a column of the points with unit coordinates; NAN: the run has no value. */
static void fill_units(const struct run_points *points, guint param, const struct orch_space *space,
                       unsigned index, GHashTable *numbers, double *units, unsigned width)
{
    for (guint i = 0; i < points->rows->len; i++) {
        const char *text = text_at(points, i, param);
        const char *known = numbers ? g_hash_table_lookup(numbers, text) : text;
        double unit = NAN;
        if (!known || !*known || !orch_space_unit(orch_space_param(space, index), known, &unit))
            unit = NAN;
        units[(gsize)i * width + index] = unit;
    }
}

/* The units have `width` columns, as many as there are parameters. */
static struct orch_space *space_of(const struct run_points *points, GPtrArray *out_names,
                                   double *units, unsigned width, GError **error)
{
    struct orch_space *space = orch_space_new();
    for (guint p = 0; p < points->params->len; p++) {
        g_autofree char *range = orch_web_run_points_range(points, p);
        if (!range)
            continue;
        g_autoptr(GHashTable) numbers =
            strcmp(range, "words") == 0
                ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
                : NULL;
        g_autofree char *choices = numbers ? choices_of(points, p, numbers) : NULL;
        g_autofree char *name = g_strdup_printf("p%u", p);
        if (!orch_space_add(space, name, choices ? choices : range, NULL, error)) {
            orch_space_free(space);
            return NULL;
        }
        fill_units(points, p, space, space->params->len - 1, numbers, units, width);
        g_ptr_array_add(out_names, (char *)points->params->pdata[p] + strlen("param."));
    }
    return space;
}

struct orch_space *orch_web_run_points_space(const struct run_points *points, GPtrArray *out_names,
                                             double **out_units, GError **error)
{
    /* the width is known only when the space is: first the widest, then packed */
    const unsigned wide = points->params->len;
    double *units = g_new0(double, (gsize)points->rows->len *wide + 1);
    struct orch_space *space = space_of(points, out_names, units, wide, error);
    const unsigned width = space ? space->params->len : 0;
    for (guint i = 0; i < points->rows->len; i++)
        memmove(units + (gsize)i * width, units + (gsize)i * wide, width * sizeof *units);
    *out_units = units;
    return space;
}
