/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/ranking.h"

#include "core/report/contrast.h"
#include "core/report/shared_base.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

/* ---- tasks --------------------------------------------------------------------------------------
 */

/* What makes numbers of two runs incomparable. A name of --by is left to the user. */
static const struct {
    const char *name;
    enum { OF_RUN, OF_PARAMS, OF_RESULTS } from;
} TASK[] = {
    {"recipe", OF_RUN},          {"experiment", OF_RUN},     {"dataset", OF_PARAMS},
    {"data_set", OF_PARAMS},     {"data", OF_PARAMS},        {"task", OF_PARAMS},
    {"classes", OF_PARAMS},      {"num_classes", OF_PARAMS}, {"n_classes", OF_PARAMS},
    {"class_count", OF_RESULTS},
};
enum { TASK_NAMES = G_N_ELEMENTS(TASK) };

static char *task_value(struct orch_store *store, const struct orch_run *run, const json_t *params,
                        size_t name)
{
    if (TASK[name].from == OF_RUN)
        return orch_run_field(store, run, TASK[name].name);
    const json_t *value = params ? json_object_get(params, TASK[name].name) : NULL;
    double number = NAN;
    if (TASK[name].from == OF_PARAMS)
        return value ? orch_value_format_json(value) : NULL;
    if (!orch_run_number(store, run, TASK[name].name, ORCH_AGGREGATE_LAST, &number, NULL, NULL,
                         NULL) ||
        isnan(number))
        return NULL;
    return g_strdup_printf("%g", number);
}

/* Of each run its values of TASK's names (interned; NULL: it has none). The caller frees. */
static const char **task_values(struct orch_store *store, const GPtrArray *runs,
                                const struct orch_ranking_wish *wish)
{
    const char **values = g_new0(const char *, (gsize)runs->len *TASK_NAMES + 1);
    for (guint i = 0; i < runs->len && !wish->across; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(json_t) params = orch_store_params(store, run->id, NULL);
        for (size_t j = 0; j < TASK_NAMES; j++) {
            if (wish->by && g_strv_contains(wish->by, TASK[j].name))
                continue;
            g_autofree char *value = task_value(store, run, params, j);
            values[i * TASK_NAMES + j] = value ? g_intern_string(value) : NULL;
        }
    }
    return values;
}

/* Which names tell runs apart. A missing value is one of its own. */
static void find_varying(const char *const *values, guint runs, bool *varies)
{
    for (size_t j = 0; j < TASK_NAMES; j++) {
        varies[j] = false;
        for (guint i = 1; i < runs; i++)
            varies[j] = varies[j] || values[i * TASK_NAMES + j] != values[j];
    }
}

static char *task_label(const char *const *values, const bool *varies, json_t *of)
{
    GString *text = g_string_new(NULL);
    for (size_t j = 0; j < TASK_NAMES; j++) {
        if (!varies[j])
            continue;
        g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", TASK[j].name,
                               values[j] ? values[j] : "-");
        json_object_set_new(of, TASK[j].name, values[j] ? json_string(values[j]) : json_null());
    }
    bool any = text->len;
    char *label = g_string_free(text, !any);
    return any ? label : NULL;
}

/* ---- margins ------------------------------------------------------------------------------------
 */

/* Above so many settings the pairs of the others are not computed: the correction is Bonferroni's.
 */
#define HOLM_SETTINGS_MAX 200

static const struct orch_difference NO_DIFFERENCE = {
    .mean = NAN, .low = NAN, .high = NAN, .p = NAN, .p_corrected = NAN};

/* Holm's correction of the winner's tests within those of all pairs. p: the winner's come first. */
static void correct_by_holm(const GArray *const *means, size_t count, double *p)
{
    size_t next = count - 1;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            p[next++] = orch_seed_difference(means[i], means[j]).p;
    orch_holm(p, next);
}

size_t orch_best_margins(const GArray *const *means, size_t count, bool larger_wins,
                         struct orch_difference *margins)
{
    bool by_holm = count <= HOLM_SETTINGS_MAX;
    double pairs = (double)count * (double)(count - 1) / 2;
    g_autofree double *p = g_new(double, by_holm ? (size_t)pairs + 1 : count);
    size_t worse = 0;
    if (count)
        margins[0] = NO_DIFFERENCE;
    for (size_t i = 1; i < count; i++) {
        struct orch_difference d = orch_seed_difference(means[i], means[0]);
        margins[i] = larger_wins ? d : orch_difference_turned(&d);
        p[i - 1] = by_holm ? d.p : fmin(1, d.p * pairs);
    }
    if (by_holm && count > 1)
        correct_by_holm(means, count, p);
    for (size_t i = 1; i < count; i++) {
        margins[i].p_corrected = isnan(margins[i].p) ? (double)NAN : p[i - 1];
        margins[i].is_more_than_noise = margins[i].p_corrected < ORCH_NOISE_LEVEL;
        worse += margins[i].is_more_than_noise;
    }
    return worse;
}

/* ---- ranks --------------------------------------------------------------------------------------
 */

static void free_ranking(gpointer pointer)
{
    struct orch_ranking *ranking = pointer;
    g_free(ranking->task);
    json_decref(ranking->of);
    g_strfreev(ranking->by);
    if (ranking->groups)
        g_ptr_array_unref(ranking->groups);
    g_free(ranking->margins);
    g_free(ranking->shared);
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

static void compare_with_first(struct orch_ranking *ranking, bool larger_wins)
{
    const GPtrArray *groups = ranking->groups;
    g_autofree const GArray **means = g_new(const GArray *, groups->len);
    size_t ranked = 0; /* those without a number come last */
    for (guint i = 0; i < groups->len; i++) {
        const struct orch_group *group = groups->pdata[i];
        means[i] = group->means;
        ranked += !isnan(group->spread.stat.mean);
    }
    ranking->margins = g_new(struct orch_difference, groups->len);
    for (guint i = 0; i < groups->len; i++)
        ranking->margins[i] = NO_DIFFERENCE;
    ranking->worse = orch_best_margins(means, ranked, larger_wins, ranking->margins);
    ranking->compared = ranked ? ranked - 1 : 0;
}

/* The sentence of the first setting whose repeats share a trained model. */
static char *find_shared(struct orch_store *store, const GPtrArray *groups)
{
    char *text = NULL;
    for (guint i = 0; i < groups->len && !text; i++) {
        const struct orch_group *group = groups->pdata[i];
        text = group->means->len > 1 ? orch_shared_base_text(store, group->runs) : NULL;
    }
    return text;
}

static bool fill(struct orch_store *store, GPtrArray *runs, const struct orch_ranking_wish *wish,
                 struct orch_ranking *ranking, GError **error)
{
    const char *better = NULL, *unit = NULL;
    ranking->groups = orch_groups_make(store, runs, wish->by, wish->metric, wish->aggregate,
                                       &ranking->by, &better, &unit, error);
    if (!ranking->groups)
        return false;
    g_ptr_array_sort_with_data(ranking->groups, compare_groups, wish->larger_wins ? ranking : NULL);
    compare_with_first(ranking, wish->larger_wins);
    if (!orch_unit_is_timing(unit, NULL)) /* a time does not hang on what the weights are */
        ranking->shared = find_shared(store, ranking->groups);
    return true;
}

static int compare_sizes(gconstpointer a, gconstpointer b)
{
    const GPtrArray *x = *(GPtrArray *const *)a, *y = *(GPtrArray *const *)b;
    return (x->len < y->len) - (x->len > y->len);
}

/* Runs of one task each, in order of size. `labels`: list -> struct orch_ranking with its task. */
static GPtrArray *split(struct orch_store *store, const GPtrArray *runs,
                        const struct orch_ranking_wish *wish, GHashTable *rankings)
{
    bool varies[TASK_NAMES];
    g_autofree const char **values = task_values(store, runs, wish);
    g_autoptr(GHashTable) by_task = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GPtrArray *lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    find_varying(values, runs->len, varies);
    for (guint i = 0; i < runs->len; i++) {
        json_t *of = json_object();
        char *task = task_label(values + (gsize)i * TASK_NAMES, varies, of);
        GPtrArray *list = g_hash_table_lookup(by_task, task ? task : "");
        if (list) {
            g_free(task);
            json_decref(of);
        } else {
            struct orch_ranking *ranking = g_new0(struct orch_ranking, 1);
            ranking->task = task;
            ranking->of = of;
            list = g_ptr_array_new();
            g_hash_table_insert(by_task, g_strdup(task ? task : ""), list);
            g_hash_table_insert(rankings, list, ranking);
            g_ptr_array_add(lists, list);
        }
        g_ptr_array_add(list, runs->pdata[i]);
    }
    g_ptr_array_sort(lists, compare_sizes);
    return lists;
}

GPtrArray *orch_rankings_make(struct orch_store *store, GPtrArray *runs,
                              const struct orch_ranking_wish *wish, GError **error)
{
    g_autoptr(GHashTable) by_list = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) lists = split(store, runs, wish, by_list);
    GPtrArray *rankings = g_ptr_array_new_with_free_func(free_ranking);
    for (guint i = 0; i < lists->len; i++)
        g_ptr_array_add(rankings, g_hash_table_lookup(by_list, lists->pdata[i]));
    for (guint i = 0; i < lists->len; i++)
        if (!fill(store, lists->pdata[i], wish, rankings->pdata[i], error)) {
            g_ptr_array_unref(rankings);
            return NULL;
        }
    return rankings;
}

char *orch_margins_method(const struct orch_difference *margins, size_t count)
{
    bool paired = false, welch = false;
    for (size_t i = 1; i < count; i++) {
        paired = paired || (!isnan(margins[i].p) && margins[i].is_paired);
        welch = welch || (!isnan(margins[i].p) && !margins[i].is_paired);
    }
    if (!paired && !welch)
        return NULL;
    const char *test = paired && welch ? "paired t by seed, or Welch's t where seeds differ"
                       : paired        ? "paired t by seed"
                                       : "Welch's t";
    if (count < 3)
        return g_strdup_printf("%s, two-sided; one comparison, so there is nothing to correct for",
                               test);
    return g_strdup_printf(
        "%s, two-sided; %s correction for all %zu pairs of %zu settings, because "
        "the winner was picked from the same runs",
        test, count > HOLM_SETTINGS_MAX ? "Bonferroni's" : "Holm's", count * (count - 1) / 2,
        count);
}
