/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/ranking.h"

#include "core/stats/numbers.h"
#include "core/stats/shared_base.h"
#include "core/stats/task.h"
#include "core/stats/varying_names.h"
#include "lib/base/json.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* ---- margins --------------------------------------------------------------------------------- */

static const struct orch_difference NO_DIFFERENCE = {
    .mean.mid = NAN, .mean.low = NAN, .mean.high = NAN, .p = NAN, .p_corrected = NAN};

size_t orch_best_margins(GArray *const *means, const bool *is_disturbed, size_t count,
                         const struct orch_best_metric *metric, struct orch_difference *margins,
                         char **out_method)
{
    struct orch_family *family = orch_family_new(means, is_disturbed, count, metric);
    size_t worse = 0;
    if (count)
        margins[0] = NO_DIFFERENCE;
    for (size_t i = 1; i < count; i++) {
        margins[i] = orch_family_difference(family, i, 0);
        if (!metric->larger_wins)
            margins[i] = orch_difference_turned(&margins[i]);
        worse += margins[i].is_more_than_noise;
    }
    *out_method = count ? orch_family_method(family, 0, margins, count) : NULL;
    orch_family_free(family);
    return worse;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void free_ranking(gpointer pointer)
{
    struct orch_ranking *ranking = pointer;
    g_free(ranking->task);
    json_decref(ranking->of);
    g_strfreev(ranking->by);
    if (ranking->groups)
        g_ptr_array_unref(ranking->groups);
    g_free(ranking->margins);
    g_free(ranking->method);
    g_free(ranking->shared);
    g_ptr_array_unref(ranking->runs);
    g_ptr_array_unref(ranking->mixed);
    g_free(ranking);
}

static int compare_groups(gconstpointer a, gconstpointer b, gpointer larger_wins)
{
    double x = (*(struct orch_group *const *)a)->spread.stat.mean;
    double y = (*(struct orch_group *const *)b)->spread.stat.mean;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    int sign = (x > y) - (x < y);
    return larger_wins ? -sign : sign;
}

static void compare_with_first(struct orch_ranking *ranking, const struct orch_best_metric *metric,
                               bool counts_disturbed)
{
    const GPtrArray *groups = ranking->groups;
    g_autofree GArray **means = g_new(GArray *, groups->len);
    g_autofree bool *is_disturbed = g_new(bool, groups->len + 1);
    size_t ranked = 0; /* groups without a number come last */
    for (guint i = 0; i < groups->len; i++) {
        const struct orch_group *group = groups->pdata[i];
        means[i] = group->means;
        is_disturbed[i] = group->is_disturbed;
        ranked += !isnan(group->spread.stat.mean);
    }
    ranking->margins = g_new(struct orch_difference, groups->len);
    for (guint i = 0; i < groups->len; i++)
        ranking->margins[i] = NO_DIFFERENCE;
    ranking->worse = orch_best_margins(means, counts_disturbed ? NULL : is_disturbed, ranked,
                                       metric, ranking->margins, &ranking->method);
    for (size_t i = 1; i < ranked; i++) {
        ranking->compared += !ranking->margins[i].is_uneven;
        ranking->is_uneven = ranking->is_uneven || ranking->margins[i].is_uneven;
    }
}

/* Returns the sentence on the first setting whose repeats share a trained model. */
static char *find_shared(struct orch_store *store, const GPtrArray *groups)
{
    char *text = NULL;
    for (guint i = 0; i < groups->len && !text; i++) {
        const struct orch_group *group = groups->pdata[i];
        text = group->means->len > 1 ? orch_shared_base_text(store, group->runs) : NULL;
    }
    return text;
}

static bool fill(struct orch_store *store, GPtrArray *runs,
                 const struct orch_ranking_request *request, struct orch_ranking *ranking,
                 GError **error)
{
    const char *better = NULL, *unit = NULL;
    ranking->groups = orch_groups_make(store, runs, request->by, request->metric,
                                       request->aggregate, &ranking->by, &better, &unit, error);
    if (!ranking->groups)
        return false;
    g_ptr_array_sort_with_data(ranking->groups, compare_groups,
                               request->larger_wins ? ranking : NULL);
    const struct orch_best_metric metric = {request->metric, unit, request->larger_wins};
    compare_with_first(ranking, &metric,
                       request->counts_disturbed || !orch_unit_is_timing(unit, NULL));
    if (!orch_unit_is_timing(unit, NULL)) /* a time does not depend on the values of the weights */
        ranking->shared = find_shared(store, ranking->groups);
    for (guint i = 0; i < ranking->groups->len; i++)
        if (!orch_mixed_names_add(store,
                                  ((const struct orch_group *)ranking->groups->pdata[i])->runs,
                                  (const char *const *)ranking->by, ranking->mixed, error))
            return false;
    return true;
}

static int compare_sizes(gconstpointer a, gconstpointer b)
{
    const struct orch_ranking *x = *(struct orch_ranking *const *)a,
                              *y = *(struct orch_ranking *const *)b;
    return (x->runs->len < y->runs->len) - (x->runs->len > y->runs->len);
}

GPtrArray *orch_rankings_split(struct orch_store *store, const GPtrArray *runs,
                               const struct orch_ranking_request *request)
{
    struct orch_tasks *tasks = request->across ? NULL : orch_tasks_new(store, runs, request->by);
    g_autoptr(GHashTable) by_task = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GPtrArray *rankings = g_ptr_array_new_with_free_func(free_ranking);
    for (guint i = 0; i < runs->len; i++) {
        g_autoptr(json_t) of = json_object();
        g_autofree char *task = tasks ? orch_tasks_label(tasks, i, of) : NULL;
        struct orch_ranking *ranking = g_hash_table_lookup(by_task, task ? task : "");
        if (!ranking) {
            ranking = g_new0(struct orch_ranking, 1);
            ranking->task = g_strdup(task);
            ranking->of = json_incref(of);
            ranking->mixed = g_ptr_array_new_with_free_func(g_free);
            ranking->runs = g_ptr_array_new();
            g_hash_table_insert(by_task, g_strdup(task ? task : ""), ranking);
            g_ptr_array_add(rankings, ranking);
        }
        g_ptr_array_add(ranking->runs, runs->pdata[i]);
    }
    orch_tasks_free(tasks);
    g_ptr_array_sort(rankings, compare_sizes);
    return rankings;
}

GPtrArray *orch_rankings_make(struct orch_store *store, GPtrArray *runs,
                              const struct orch_ranking_request *request, GError **error)
{
    GPtrArray *rankings = orch_rankings_split(store, runs, request);
    for (guint i = 0; i < rankings->len; i++) {
        struct orch_ranking *ranking = rankings->pdata[i];
        if (!fill(store, ranking->runs, request, ranking, error)) {
            g_ptr_array_unref(rankings);
            return NULL;
        }
    }
    return rankings;
}
