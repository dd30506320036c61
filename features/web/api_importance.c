/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the importance of parameters for a number, among the runs that match a condition: the
 * same forest and permutation as in the report of a search (predictors/param_importance.h), over
 * the parameters that vary among these runs. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/param_importance.h"
#include "store/names_of.h"

#include <math.h>
#include <string.h>

enum { RUNS_MAX = 1000, NAMES_SAMPLED = 100 };
static const double LOG_RATIO = 50; /* numbers that span more are taken by their logarithm */

/* ---- the runs ---------------------------------------------------------------------------------
 */

struct trials {
    GPtrArray *params; /* char *: "param.NAME" */
    GPtrArray *rows;   /* char **: of each run the texts of its parameters; NULL: it has none */
    GArray *values;    /* double: the number of each run */
};

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
    struct trials *trials = ctx;
    const double value = orch_web_cell_number(&cells[1]);
    if (cells[0].kind != ORCH_CELL_TEXT || strcmp(cells[0].text, "ok") != 0 || !isfinite(value))
        return true;
    char **row = g_new0(char *, trials->params->len + 1);
    for (guint p = 0; p < trials->params->len; p++)
        row[p] = text_of(&cells[2 + p]);
    g_ptr_array_add(trials->rows, row);
    g_array_append_val(trials->values, value);
    return true;
}

/* The parameters that vary among the newest runs, but for seeds. */
static GPtrArray *varied_params(struct web_call *call, const GArray *ids, GError **error)
{
    static const char *const seeds[] = {"seed", "random_seed", "manual_seed", "rng_seed", NULL};
    g_autoptr(GPtrArray) names = orch_store_names_of(
        call->store, (const int64_t *)(const void *)ids->data, MIN(ids->len, NAMES_SAMPLED), error);
    GPtrArray *params = names ? g_ptr_array_new_with_free_func(g_free) : NULL;
    for (guint i = 0; names && i < names->len && params->len < ORCH_SPACE_PARAMS_MAX; i++) {
        const struct orch_name_of_runs *n = names->pdata[i];
        if (strcmp(n->name.kind, "param") == 0 && n->distinct > 1 &&
            !g_strv_contains(seeds, n->name.name))
            g_ptr_array_add(params, g_strconcat("param.", n->name.name, NULL));
    }
    return params;
}

static bool read_trials(struct web_call *call, const GArray *ids, const char *number,
                        struct trials *out, GError **error)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new();
    g_ptr_array_add(columns, (gpointer)(uintptr_t) "state");
    g_ptr_array_add(columns, (gpointer)(uintptr_t)number);
    for (guint p = 0; p < out->params->len; p++)
        g_ptr_array_add(columns, out->params->pdata[p]);
    g_ptr_array_add(columns, NULL);
    return orch_store_visit_rows(call->store, (const int64_t *)(const void *)ids->data,
                                 MIN(ids->len, RUNS_MAX), (const char *const *)columns->pdata,
                                 take_run, out, error);
}

/* ---- the space --------------------------------------------------------------------------------
 */

static const char *text_at(const struct trials *trials, guint row, guint param)
{
    return ((char **)trials->rows->pdata[row])[param];
}

/* The range of a parameter as a search would write it; NULL when it has one value, or too many
 * words. The caller frees. */
static char *range_of(const struct trials *trials, guint param)
{
    double low = INFINITY, high = -INFINITY, value;
    bool is_number = true;
    g_autoptr(GHashTable) words = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < trials->rows->len; i++) {
        const char *text = text_at(trials, i, param);
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
static char *choices_of(const struct trials *trials, guint param, GHashTable *numbers)
{
    GString *text = g_string_new("choice(");
    for (guint i = 0; i < trials->rows->len; i++) {
        const char *word = text_at(trials, i, param);
        if (!*word || g_hash_table_contains(numbers, word))
            continue;
        const guint number = g_hash_table_size(numbers);
        g_hash_table_insert(numbers, g_strdup(word), g_strdup_printf("w%u", number));
        g_string_append_printf(text, "%sw%u", number ? ", " : "", number);
    }
    return g_string_free(g_string_append_c(text, ')'), FALSE);
}

/* Fills a column of the points with unit coordinates; NAN: the run has no value. */
static void fill_points(const struct trials *trials, guint param, const struct orch_space *space,
                        unsigned index, GHashTable *numbers, double *points, unsigned width)
{
    for (guint i = 0; i < trials->rows->len; i++) {
        const char *text = text_at(trials, i, param);
        const char *known = numbers ? g_hash_table_lookup(numbers, text) : text;
        double unit = NAN;
        if (!known || !*known || !orch_space_unit(orch_space_param(space, index), known, &unit))
            unit = NAN;
        points[(gsize)i * width + index] = unit;
    }
}

/* Makes the space of the parameters that vary, and their names in `out_names`. The points have
 * `width` columns. */
static struct orch_space *space_of(const struct trials *trials, GPtrArray *out_names,
                                   double *points, unsigned width, GError **error)
{
    struct orch_space *space = orch_space_new();
    for (guint p = 0; p < trials->params->len; p++) {
        g_autofree char *range = range_of(trials, p);
        if (!range)
            continue;
        g_autoptr(GHashTable) numbers =
            strcmp(range, "words") == 0
                ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
                : NULL;
        g_autofree char *choices = numbers ? choices_of(trials, p, numbers) : NULL;
        g_autofree char *name = g_strdup_printf("p%u", p);
        if (!orch_space_add(space, name, choices ? choices : range, NULL, error)) {
            orch_space_free(space);
            return NULL;
        }
        fill_points(trials, p, space, space->params->len - 1, numbers, points, width);
        g_ptr_array_add(out_names, (char *)trials->params->pdata[p] + strlen("param."));
    }
    return space;
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static json_t *shares_json(const struct orch_importance *importance, const GPtrArray *names)
{
    json_t *list = json_array();
    for (unsigned p = 0; p < importance->params; p++) {
        const struct orch_interval *share = &importance->share[p];
        json_array_append_new(list, json_pack("{s:s s:o s:o s:o}", "name", names->pdata[p], "share",
                                              orch_json_finite(share->mid), "low",
                                              orch_json_finite(share->low), "high",
                                              orch_json_finite(share->high)));
    }
    return list;
}

static bool answer_importance(struct web_call *call, const struct trials *trials, GError **error)
{
    /* the width is known only when the space is: first the widest, then packed */
    const unsigned wide = trials->params->len;
    g_autofree double *points = g_new0(double, (gsize)trials->rows->len *wide + 1);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    struct orch_space *space = space_of(trials, names, points, wide, error);
    if (!space)
        return false;
    const unsigned width = space->params->len;
    for (guint i = 0; i < trials->rows->len; i++)
        memmove(points + (gsize)i * width, points + (gsize)i * wide, width * sizeof *points);
    struct orch_importance importance = {.explained = NAN};
    if (width)
        orch_importance_of(space, points, (const double *)(const void *)trials->values->data,
                           trials->rows->len, &importance);
    orch_web_answer_json(call,
                         json_pack("{s:I s:i s:o s:o}", "runs", (json_int_t)trials->rows->len,
                                   "least", ORCH_IMPORTANCE_TRIALS, "explained",
                                   orch_json_finite(importance.explained), "params",
                                   width ? shares_json(&importance, names) : json_array()),
                         6);
    orch_space_free(space);
    return true;
}

bool orch_web_api_importance(struct web_call *call, GError **error)
{
    const char *number = orch_web_query_text(call, "number", NULL);
    if (!number) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?number=METRIC", "the query has no number");
        return false;
    }
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    struct trials trials = {.params = ids ? varied_params(call, ids, error) : NULL,
                            .rows = g_ptr_array_new_with_free_func(free_row),
                            .values = g_array_new(FALSE, FALSE, sizeof(double))};
    bool ok = trials.params && read_trials(call, ids, number, &trials, error) &&
              answer_importance(call, &trials, error);
    if (trials.params)
        g_ptr_array_unref(trials.params);
    g_ptr_array_unref(trials.rows);
    g_array_unref(trials.values);
    return ok;
}
