/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/chooser.h"

#include "core/stats/group.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/sampler.h"

#include <math.h>
#include <string.h>

/* So many trials may end well without the metric before the search gives up. */
#define WITHOUT_METRIC 3
/* Earlier runs that are looked at. */
#define FAILURES_MAX 1000

struct chooser {
    struct orch_cli *cli;
    GHashTable *values; /* key of a run -> double *: NaN when it has no value */
    GHashTable *failed; /* set of struct orch_search_point *: a trial of it did not end well */
    GPtrArray *earlier; /* struct earlier *: failures of runs before this one */
    GHashTable *read;   /* set of "SEARCH GROUP" whose earlier failures were read */
};

/* A point whose trial failed in an earlier run. */
struct earlier {
    const struct orch_search *search;
    unsigned group;
    double at[ORCH_SPACE_PARAMS_MAX];
};

/* ---- values -------------------------------------------------------------------------------------
 */

/* The value of a run; NAN when it has none. False on error. */
static bool value_of(struct chooser *chooser, const struct orch_plan *plan,
                     const struct orch_search *search, const char *key, double *out, GError **error)
{
    const double *known = g_hash_table_lookup(chooser->values, key);
    if (known) {
        *out = *known;
        return true;
    }
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    orch_aggregate_parse(search->summary, &aggregate);
    struct orch_run *run = orch_store_run(plan->store, key, error);
    bool ok =
        run && orch_run_number(plan->store, run, search->metric, aggregate, out, NULL, NULL, error);
    orch_run_free(run);
    if (ok)
        g_hash_table_insert(chooser->values, g_strdup(key), g_memdup2(out, sizeof *out));
    return ok;
}

/* What is known of a point: the mean over its repeats that are done. */
struct known {
    unsigned done, without; /* repeats that are done, and those without a value */
    double mean;            /* of the others; NAN: there is none */
};

static bool look_at(struct chooser *chooser, const struct orch_plan *plan,
                    const struct orch_search_point *point, struct known *out, GError **error)
{
    double sum = 0;
    *out = (struct known){0};
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        double value;
        if (item->cell->point != point || item->state != ORCH_PLAN_DONE)
            continue;
        if (!value_of(chooser, plan, point->search, item->run_key, &value, error))
            return false;
        out->done++;
        out->without += !isfinite(value);
        sum += isfinite(value) ? value : 0;
    }
    unsigned with = out->done - out->without;
    out->mean = with ? sum / with : (double)NAN;
    return true;
}

/* Keeps the point of an earlier trial that failed by itself. */
static bool keep_failure(struct chooser *chooser, const struct orch_plan *plan,
                         const struct orch_search_point *of, const char *key, GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, key, error);
    g_autoptr(json_t) params = run ? orch_store_params(plan->store, run->id, error) : NULL;
    struct earlier *earlier = g_new0(struct earlier, 1);
    earlier->search = of->search;
    earlier->group = of->group;
    orch_run_free(run);
    if (params && orch_search_point_of(of->search, params, earlier->at))
        g_ptr_array_add(chooser->earlier, earlier);
    else
        g_free(earlier);
    return params;
}

/* Reads, once for each search, which points have failed before: a search that goes on knows them.
 */
static bool read_failures(struct chooser *chooser, const struct orch_plan *plan,
                          const struct orch_plan_item *item, GError **error)
{
    const struct orch_search_point *point = item->cell->point;
    char *name = g_strdup_printf("%p %u", (const void *)point->search, point->group);
    if (!g_hash_table_add(chooser->read, name))
        return true;
    g_autoptr(GPtrArray) rows =
        orch_store_history(plan->store, plan->expansion->name, item->cell->experiment->name, 1,
                           item->cell->coords, FAILURES_MAX, error);
    bool ok = rows != NULL;
    for (guint i = 0; ok && i < rows->len; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        const struct orch_verdict_facts *facts = orch_verdict_facts(orch_verdict_parse(row->state));
        if (facts->fault && !facts->retried)
            ok = keep_failure(chooser, plan, point, row->key, error);
    }
    return ok;
}

/* ---- one search ---------------------------------------------------------------------------------
 */

/* The trials of a search so far. */
struct trials {
    GArray *sampled; /* struct orch_sampled */
    const struct orch_search_point *best;
    double best_value; /* as measured */
    unsigned points;   /* of this plan that are chosen */
    unsigned done, without;
};

static bool gather(struct chooser *chooser, const struct orch_plan *plan,
                   const struct orch_search_point *of, struct trials *out, GError **error)
{
    out->sampled = g_array_new(FALSE, TRUE, sizeof(struct orch_sampled));
    for (guint i = 0; i < chooser->earlier->len; i++) {
        const struct earlier *earlier = chooser->earlier->pdata[i];
        const struct orch_sampled failed = {.point = earlier->at, .state = ORCH_SAMPLED_FAILED};
        if (earlier->search == of->search && earlier->group == of->group)
            g_array_append_val(out->sampled, failed);
    }
    for (guint i = 0; i < plan->expansion->points->len; i++) {
        const struct orch_search_point *point = plan->expansion->points->pdata[i];
        struct known known;
        if (point->search != of->search || point->group != of->group || !point->is_chosen)
            continue;
        if (!look_at(chooser, plan, point, &known, error))
            return false;
        bool has_failed = g_hash_table_contains(chooser->failed, point) || known.without;
        struct orch_sampled sampled = {.point = point->at,
                                       .state = isfinite(known.mean) ? ORCH_SAMPLED_ENDED
                                                : has_failed         ? ORCH_SAMPLED_FAILED
                                                                     : ORCH_SAMPLED_PENDING,
                                       .value = of->search->is_max ? -known.mean : known.mean};
        g_array_append_val(out->sampled, sampled);
        out->points++;
        out->done += known.done;
        out->without += known.without;
        if (isfinite(known.mean) &&
            (!out->best ||
             (of->search->is_max ? known.mean > out->best_value : known.mean < out->best_value))) {
            out->best = point;
            out->best_value = known.mean;
        }
    }
    return true;
}

static bool is_reached(const struct orch_search *search, const struct trials *trials)
{
    return search->has_until && trials->best &&
           (search->is_max ? trials->best_value >= search->until
                           : trials->best_value <= search->until);
}

static bool choose(void *ctx, struct orch_plan *plan, unsigned index, char **out_why,
                   GError **error)
{
    struct chooser *chooser = ctx;
    struct orch_search_point *point = plan->items[index].cell->point;
    const struct orch_search *search = point->search;
    struct trials trials = {0};
    bool ok = read_failures(chooser, plan, &plan->items[index], error) &&
              gather(chooser, plan, point, &trials, error);
    if (ok && trials.done >= WITHOUT_METRIC && trials.without == trials.done) {
        orch_metric_not_found(plan->store, "of the search", search->metric, error);
        ok = false;
    } else if (ok && is_reached(search, &trials)) {
        char reached[ORCH_REAL_CHARS];
        *out_why = g_strdup_printf("its search has reached %s %s", search->metric,
                                   orch_real_format(trials.best_value, reached));
        ok = false;
    } else if (ok) {
        const struct orch_sampling sampling = {
            .space = search->space,
            .trials = (const struct orch_sampled *)(void *)trials.sampled->data,
            .count = trials.sampled->len,
            .seed = search->seed + point->group,
        };
        orch_sampler_find(search->sampler)->next(&sampling, point->at);
        GError *problem = NULL;
        ok = orch_plan_take_point(plan, point, &problem);
        if (problem) { /* the plugin rejects these values: the next ones are somewhere else */
            point->is_chosen = true;
            g_hash_table_add(chooser->failed, point);
            *out_why = orch_error_what(problem);
            g_error_free(problem);
        }
    }
    g_clear_pointer(&trials.sampled, g_array_unref);
    return ok;
}

static void ended(void *ctx, struct orch_plan *plan, unsigned index,
                  const struct orch_collected *collected)
{
    struct chooser *chooser = ctx;
    if (!orch_verdict_facts(collected->verdict)->is_reused)
        g_hash_table_add(chooser->failed, plan->items[index].cell->point);
}

/* ---- the part of a run
 * ---------------------------------------------------------------------------
 */

static bool begin(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error)
{
    (void)options, (void)error;
    if (!expansion->points->len || only_plans)
        return true;
    struct chooser *chooser = g_new0(struct chooser, 1);
    chooser->cli = cli;
    chooser->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    chooser->failed = g_hash_table_new(NULL, NULL);
    chooser->earlier = g_ptr_array_new_with_free_func(g_free);
    chooser->read = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    *out_state = chooser;
    return true;
}

static void close_chooser(void *state)
{
    struct chooser *chooser = state;
    g_hash_table_unref(chooser->values);
    g_hash_table_unref(chooser->failed);
    g_ptr_array_unref(chooser->earlier);
    g_hash_table_unref(chooser->read);
    g_free(chooser);
}

static bool give_chooser(void *state, struct orch_plan *plan, const struct orch_listener *listener,
                         struct orch_chooser *out)
{
    (void)plan, (void)listener;
    *out = (struct orch_chooser){.ctx = state, .choose = choose, .ended = ended};
    return true;
}

static const struct orch_plan_item *first_item(const struct orch_plan *plan,
                                               const struct orch_search_point *point)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == point)
            return &plan->items[i];
    return NULL;
}

/* "search of train: best val_accuracy 0.93 (max last) with lr=0.01, after 17 of 40 points" */
static bool print_best(struct chooser *chooser, const struct orch_plan *plan,
                       const struct orch_search_point *of, GError **error)
{
    struct trials trials = {0};
    bool ok = gather(chooser, plan, of, &trials, error);
    const struct orch_plan_item *best = trials.best ? first_item(plan, trials.best) : NULL;
    if (ok && best) {
        char value[ORCH_REAL_CHARS];
        g_autofree char *label = orch_cell_label(best->cell);
        orch_cli_info(chooser->cli, "best %s of %u point%s: %s %s, %s (orch show %s)",
                      of->search->metric, trials.points, orch_plural(trials.points),
                      of->search->summary, orch_real_format(trials.best_value, value), label,
                      best->run_key + strlen(best->run_key) - 8);
    }
    g_array_unref(trials.sampled);
    return ok;
}

static bool end_part(void *state, struct orch_plan *plan, const struct orch_totals *totals,
                     GError **error)
{
    bool ok = true;
    for (guint i = 0; totals && ok && i < plan->expansion->points->len; i++) {
        const struct orch_search_point *point = plan->expansion->points->pdata[i];
        if (point->number == 1)
            ok = print_best(state, plan, point, error);
    }
    return ok;
}

const struct orch_run_part ORCH_SEARCH_RUN_PART = {
    .begin = begin, .choose = give_chooser, .ended = end_part, .close = close_chooser};
