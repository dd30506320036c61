/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers for what some runs have: the names of their parameters, results and metrics in the order
 * in which the page offers them, and the values of a parameter. The first SAMPLE runs stand for
 * all, so that the answer takes as long for a hundred thousand runs as for a hundred. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/read/names_of.h"

#include <string.h>

enum { SAMPLE = 100, SAMPLE_OF_VALUES = 2000, VALUES = 50, EXPERIMENTS_MAX = 20 };
/* Ranks below are those of numbers that a recipe names (importance.c). */
enum { RANK_NAMED = 1000, RANK_TIMES = 3000 };

/* ---- names ------------------------------------------------------------------------------------
 */

struct ranked {
    const struct orch_name_of_runs *of;
    bool is_named, is_common, is_curve;
    int rank;
};

static struct ranked rank_of(GHashTable *ranks, const struct orch_name_of_runs *name,
                             int64_t sampled)
{
    const int rank = orch_web_importance_rank(ranks, &name->name);
    return (struct ranked){.of = name,
                           .rank = rank,
                           .is_named = rank < RANK_NAMED,
                           .is_common = 2 * name->runs >= sampled,
                           .is_curve = 2 * name->curves >= name->runs && name->curves > 0};
}

/* What most of the runs have comes first; of that the numbers that a recipe names, then the curves
 * before single values. Times, and measurements of the machine, are last. */
static int compare_ranked(gconstpointer a, gconstpointer b)
{
    const struct ranked *x = a, *y = b;
    const bool is_time = x->rank >= RANK_TIMES, is_other_time = y->rank >= RANK_TIMES;
    if (x->is_common != y->is_common)
        return y->is_common - x->is_common;
    if (x->is_named != y->is_named)
        return y->is_named - x->is_named;
    if (x->is_named && x->rank != y->rank)
        return x->rank - y->rank;
    if (is_time != is_other_time)
        return is_time - is_other_time;
    if (x->is_curve != y->is_curve)
        return y->is_curve - x->is_curve;
    return x->rank != y->rank ? x->rank - y->rank : strcmp(x->of->name.name, y->of->name.name);
}

static int compare_params(gconstpointer a, gconstpointer b)
{
    const struct orch_name_of_runs *x = ((const struct ranked *)a)->of;
    const struct orch_name_of_runs *y = ((const struct ranked *)b)->of;
    if ((x->distinct > 1) != (y->distinct > 1))
        return (y->distinct > 1) - (x->distinct > 1);
    return strcmp(x->name.name, y->name.name);
}

static void append_names(json_t *list, const GPtrArray *names, GHashTable *ranks, int64_t sampled,
                         bool is_params)
{
    g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(struct ranked));
    for (guint i = 0; i < names->len; i++) {
        const struct orch_name_of_runs *name = names->pdata[i];
        const struct ranked ranked = rank_of(ranks, name, sampled);
        if ((strcmp(name->name.kind, "param") == 0) == is_params)
            g_array_append_val(chosen, ranked);
    }
    g_array_sort(chosen, is_params ? compare_params : compare_ranked);
    for (guint i = 0; i < chosen->len; i++) {
        const struct ranked *r = &g_array_index(chosen, struct ranked, i);
        const struct orch_known_name *n = &r->of->name;
        json_array_append_new(
            list, json_pack("{s:s s:s s:s? s:s? s:i s:I s:I s:I}", "kind", n->kind, "name", n->name,
                            "unit", n->unit, "better", n->better, "rank", r->rank, "runs",
                            (json_int_t)r->of->runs, "distinct", (json_int_t)r->of->distinct,
                            "curves", (json_int_t)r->of->curves));
    }
}

/* ---- experiments ------------------------------------------------------------------------------
 */

struct seen {
    json_t *experiments, *states, *people;
};

static void note_text(json_t *list, const struct orch_row_cell *cell)
{
    const char *text = cell->kind == ORCH_CELL_TEXT ? cell->text : NULL;
    size_t i;
    json_t *known;
    if (!text || json_array_size(list) == EXPERIMENTS_MAX)
        return;
    json_array_foreach(list, i, known) if (g_strcmp0(json_string_value(known), text) == 0) return;
    json_array_append_new(list, json_string(text));
}

static bool note_run(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct seen *seen = ctx;
    note_text(seen->experiments, &cells[0]);
    note_text(seen->states, &cells[1]);
    note_text(seen->people, &cells[2]);
    return true;
}

bool orch_web_api_fields(struct web_call *call, GError **error)
{
    static const char *const columns[] = {"experiment", "state", "who", NULL};
    g_autoptr(GArray) ids = orch_web_requested(call, error);
    if (!ids)
        return false;
    const int64_t *first = (const int64_t *)(const void *)ids->data;
    const guint sampled = MIN(ids->len, SAMPLE);
    g_autoptr(GHashTable) ranks = orch_web_importance_of(call->store, first, sampled, error);
    g_autoptr(GPtrArray) names =
        ranks ? orch_store_names_of(call->store, first, sampled, error) : NULL;
    struct seen seen = {json_array(), json_array(), json_array()};
    bool ok = names &&
              orch_store_visit_rows(call->store, first, sampled, columns, note_run, &seen, error);
    if (ok) {
        json_t *list = json_array();
        append_names(list, names, ranks, sampled, true);
        append_names(list, names, ranks, sampled, false);
        orch_web_answer_json(call,
                             json_pack("{s:I s:I s:O s:O s:O s:o}", "total", (json_int_t)ids->len,
                                       "sampled", (json_int_t)sampled, "experiments",
                                       seen.experiments, "states", seen.states, "people",
                                       seen.people, "names", list),
                             15);
    }
    json_decref(seen.experiments);
    json_decref(seen.states);
    json_decref(seen.people);
    return ok;
}

/* ---- values -----------------------------------------------------------------------------------
 */

bool orch_web_api_values(struct web_call *call, GError **error)
{
    const char *name = orch_web_query_text(call, "name", NULL);
    if (!name) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?name=PARAMETER", "the query has no 'name'");
        return false;
    }
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    g_autoptr(GPtrArray) values =
        ids ? orch_store_values_of(call->store, (const int64_t *)(const void *)ids->data,
                                   MIN(ids->len, SAMPLE_OF_VALUES), name, VALUES, error)
            : NULL;
    if (!values)
        return false;
    json_t *list = json_array();
    for (guint i = 0; i < values->len; i++) {
        const char *text = values->pdata[i];
        json_t *value = orch_json_parse(text, strlen(text), 1 << 16, NULL);
        json_array_append_new(list, value ? value : json_string(text));
    }
    orch_web_answer_json(call, json_pack("{s:o}", "values", list), 15);
    return true;
}
