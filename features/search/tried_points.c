/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/tried_private.h"

#include "core/plan/plan_forecast.h"
#include "core/stats/group.h"
#include "lib/base/ident.h"
#include "lib/base/random.h"

#include <math.h>
#include <string.h>

/* What a run has of its search's metric. */
struct value {
    bool is_there;  /* the run has a metric or a result of that name */
    double number;  /* NAN: none */
    double seconds; /* that the run took */
    bool is_own;    /* a trial of the recipe; another's costs nothing here */
    bool is_whole;  /* no attempt before it, so that it has not begun in the middle */
    struct orch_goals goals;
};

struct orch_tried *orch_tried_new(void)
{
    struct orch_tried *tried = g_new0(struct orch_tried, 1);
    tried->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    tried->ended = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    tried->failed = g_hash_table_new(NULL, NULL);
    tried->avoided = g_ptr_array_new_with_free_func(g_free);
    tried->read = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    tried->ours = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    tried->counted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    tried->spent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    tried->began_ns = orch_now_ns();
    return tried;
}

void orch_tried_free(struct orch_tried *tried)
{
    if (!tried)
        return;
    g_hash_table_unref(tried->values);
    g_hash_table_unref(tried->ended);
    g_hash_table_unref(tried->failed);
    g_ptr_array_unref(tried->avoided);
    g_hash_table_unref(tried->read);
    g_hash_table_unref(tried->ours);
    g_hash_table_unref(tried->counted);
    g_hash_table_unref(tried->spent);
    g_free(tried);
}

bool orch_tried_is_of(const struct orch_search_point *point, const struct orch_search_point *of)
{
    return point && point->search == of->search && point->group == of->group;
}

char *orch_tried_name(const struct orch_search_point *of)
{
    return g_strdup_printf("%p %u", (const void *)of->search, of->group);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns the value of a run, borrowed. */
static const struct value *value_of(struct orch_tried *tried, const struct orch_plan *plan,
                                    const struct orch_search *search, const char *key,
                                    GError **error)
{
    const struct value *known = g_hash_table_lookup(tried->values, key);
    if (known)
        return known;
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    orch_aggregate_parse(search->summary, &aggregate);
    struct orch_run *run = orch_store_run(plan->store, key, error);
    struct orch_run_numbers *numbers = run ? orch_run_numbers_read(plan->store, run, error) : NULL;
    struct value *value = numbers ? g_new0(struct value, 1) : NULL;
    if (value) {
        value->seconds = run->wall_ms / 1000;
        value->is_whole = run->attempt <= 1;
        value->is_own = g_strcmp0(run->recipe, plan->expansion->name) == 0;
        value->is_there = orch_run_numbers_has(numbers, search->metric);
        value->number = orch_run_numbers_get(numbers, search->metric, aggregate, NULL, NULL);
        orch_goals_read(search, run, numbers, &value->goals);
        for (unsigned k = 0; k < search->more_count; k++)
            if (!isfinite(value->goals.at[k + 1]))
                value->number = (double)NAN;
        g_hash_table_insert(tried->values, g_strdup(key), value);
    }
    orch_run_numbers_free(numbers);
    orch_run_free(run);
    return value;
}

bool orch_tried_is_stopped(const struct orch_plan_item *item)
{
    return item->state == ORCH_PLAN_PRUNED && item->run_key;
}

/* What is known of a point. */
struct known {
    const struct orch_search_point *point;
    unsigned done, lacking; /* repeats that are done, and those without the metric */
    unsigned without;       /* ... or whose value is not a number */
    unsigned left;          /* repeats that may still give a value */
    double sum;             /* of the values */
    double seconds;         /* that the repeats took that are done and began at their start */
    unsigned whole;         /* these */
    double spent_s;         /* device seconds of this recipe's repeats that have ended */
    unsigned ended;         /* these repeats */
    unsigned running;       /* those that will end */
    unsigned stopped;       /* repeats that a rule stopped, and those of them with a value then */
    unsigned bounds;
    double bound_sum;        /* of these values */
    struct orch_goals goals; /* sums of the repeats that are done */
};

/* A repeat that has not ended, or of which nothing can be used. */
static void add_without_run(const struct orch_tried *tried, const struct orch_plan_item *item,
                            unsigned index, struct known *inout)
{
    const double *seconds = g_hash_table_lookup(tried->ended, GUINT_TO_POINTER(index));
    unsigned devices = orch_plan_item_devices(item);
    bool is_left = !seconds && (orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD);
    inout->left += is_left;
    inout->running += is_left;
    bool has_run = seconds && isfinite(*seconds);
    inout->spent_s += has_run ? *seconds * devices : 0;
    inout->ended += has_run;
}

static bool add_item(struct orch_tried *tried, const struct orch_plan *plan, unsigned index,
                     struct known *inout, GError **error)
{
    const struct orch_plan_item *item = &plan->items[index];
    bool is_stopped = orch_tried_is_stopped(item);
    if (item->state != ORCH_PLAN_DONE && !is_stopped) {
        add_without_run(tried, item, index, inout);
        return true;
    }
    const struct value *value = value_of(tried, plan, inout->point->search, item->run_key, error);
    if (!value)
        return false;
    if (value->is_own) {
        inout->spent_s += value->seconds * orch_plan_item_devices(item);
        inout->ended++;
    }
    bool has_number = isfinite(value->number);
    double number = has_number ? value->number : 0;
    if (is_stopped) {
        inout->stopped++;
        inout->bounds += has_number;
        inout->bound_sum += number;
        return true;
    }
    inout->done++;
    inout->lacking += !value->is_there;
    inout->without += !has_number;
    inout->sum += number;
    for (unsigned k = 0; k < ORCH_SEARCH_GOALS_MAX; k++)
        inout->goals.at[k] += value->goals.at[k];
    for (unsigned k = 0; k < ORCH_SEARCH_BOUNDS_MAX; k++)
        inout->goals.bound_at[k] += value->goals.bound_at[k];
    inout->goals.excess += value->goals.excess;
    inout->seconds += value->is_whole ? value->seconds : 0;
    inout->whole += value->is_whole;
    return true;
}

const char *orch_tried_value_format(double value, char out[ORCH_REAL_CHARS])
{
    return g_ascii_formatd(out, ORCH_REAL_CHARS, "%.9g", value);
}

bool orch_tried_is_better(const struct orch_search *search, double value, double than)
{
    return isfinite(value) && (isnan(than) || (search->is_max ? value > than : value < than));
}

/* Notes a point with the mean of its values so far. */
static void keep_best(const struct known *known, double mean, struct orch_tried_points *out)
{
    const struct orch_search *search = known->point->search;
    const struct orch_goals *goals =
        &g_array_index(out->rows, struct orch_goal_row, out->rows->len - 1).goals;
    if (search->more_count ? !orch_goals_reach(search, goals) : goals->excess > 0)
        return;
    if (!known->left && orch_tried_is_better(search, mean, out->best_whole))
        out->best_whole = mean;
    if (known->left && orch_tried_is_better(search, mean, out->hopeful_value)) {
        out->hopeful = known->point;
        out->hopeful_value = mean;
    }
    if (orch_tried_is_better(search, mean, out->best_value)) {
        out->best = known->point;
        out->best_value = mean;
    }
}

/* Adds a point of the plan. One of which a repeat failed, or has no number, has no value. One of
 * which a rule stopped a repeat has the values from then as a bound: the sampler gets their mean
 * with the others, but it is no best point. */
static void add_point(const struct orch_tried *tried, const struct known *known,
                      struct orch_tried_points *out)
{
    const struct orch_search *search = known->point->search;
    unsigned with = known->done - known->without + known->bounds;
    double mean = with ? (known->sum + known->bound_sum) / with : (double)NAN;
    bool has_failed = known->without || g_hash_table_contains(tried->failed, known->point);
    bool has_value = with && !has_failed;
    const struct orch_sampled sampled = {.point = known->point->at,
                                         .state = has_value ? ORCH_SAMPLED_ENDED
                                                  : has_failed || known->stopped
                                                      ? ORCH_SAMPLED_FAILED
                                                      : ORCH_SAMPLED_PENDING,
                                         .value = search->is_max ? -mean : mean,
                                         .cost = known->whole ? known->seconds / known->whole : 0};
    g_array_append_val(out->sampled, sampled);
    struct orch_goal_row row = {.goals = known->goals, .is_final = has_value && !known->stopped};
    for (unsigned k = 0; k < ORCH_SEARCH_GOALS_MAX; k++)
        row.goals.at[k] /= known->done;
    for (unsigned k = 0; k < ORCH_SEARCH_BOUNDS_MAX; k++)
        row.goals.bound_at[k] /= known->done;
    g_array_append_val(out->rows, row);
    g_ptr_array_add(out->of_rows, (void *)(uintptr_t)known->point);
    out->points += known->done || has_failed || known->stopped;
    out->spent_s += known->spent_s;
    out->ended += known->ended;
    out->running += known->running;
    out->done += known->done;
    out->lacking += known->lacking;
    if (known->stopped) {
        guint index = out->sampled->len - 1;
        g_array_append_val(out->bounds, index);
        return;
    }
    if (has_value)
        keep_best(known, mean, out);
}

/* A bound that is better than the best value says nothing more than that. */
static void keep_bounds_behind(const struct orch_search *search, struct orch_tried_points *out)
{
    double best = search->is_max ? -out->best_value : out->best_value;
    for (guint i = 0; out->best && i < out->bounds->len; i++) {
        guint index = g_array_index(out->bounds, guint, i);
        struct orch_sampled *sampled = &g_array_index(out->sampled, struct orch_sampled, index);
        if (sampled->state == ORCH_SAMPLED_ENDED)
            sampled->value = MAX(sampled->value, best);
    }
}

/* Where there are several metrics or limits: gives the sampler one number for each point, and makes
 * the knee of the front the best point of several metrics. */
static void settle_goals(const struct orch_search *search, struct orch_tried_points *out)
{
    const struct orch_goal_row *rows = (const void *)out->rows->data;
    const size_t count = out->rows->len;
    g_autofree double *scalars = g_new(double, count + 1);
    g_autofree bool *is_on = g_new(bool, count + 1);
    double worst = 0;
    if (!orch_goals_are_meant(search))
        return;
    orch_goals_scalars(search, rows, count, orch_random_stream(search->seed, count), scalars);
    for (size_t i = 0; i < count; i++)
        worst = isfinite(scalars[i]) ? fmax(worst, scalars[i]) : worst;
    for (size_t i = 0; i < count; i++) {
        struct orch_sampled *sampled = &g_array_index(out->sampled, struct orch_sampled, i);
        if (sampled->state == ORCH_SAMPLED_ENDED && isfinite(scalars[i]))
            sampled->value = scalars[i];
        else if (search->more_count && sampled->state == ORCH_SAMPLED_ENDED)
            sampled->value = worst; /* stopped: it was not to be on the front */
    }
    const size_t knee = orch_goals_front(search, rows, count, is_on);
    if (!search->more_count)
        return;
    out->best = knee < count ? out->of_rows->pdata[knee] : NULL;
    out->best_value = knee < count ? rows[knee].goals.at[0] : (double)NAN;
}

bool orch_tried_read(struct orch_tried *tried, const struct orch_plan *plan,
                     const struct orch_search_point *of, struct orch_tried_points *out,
                     GError **error)
{
    struct known known = {0};
    *out = (struct orch_tried_points){
        .best_value = (double)NAN, .best_whole = (double)NAN, .hopeful_value = (double)NAN};
    out->sampled = g_array_new(FALSE, TRUE, sizeof(struct orch_sampled));
    out->bounds = g_array_new(FALSE, FALSE, sizeof(guint));
    out->rows = g_array_new(FALSE, TRUE, sizeof(struct orch_goal_row));
    out->of_rows = g_ptr_array_new();
    for (guint i = 0; i < tried->avoided->len; i++) {
        const struct orch_tried_avoided *avoided = tried->avoided->pdata[i];
        const struct orch_sampled failed = {.point = avoided->at, .state = ORCH_SAMPLED_FAILED};
        if (avoided->search != of->search || avoided->group != of->group)
            continue;
        g_array_append_val(out->sampled, failed);
        g_array_set_size(out->rows, out->sampled->len);
        g_ptr_array_add(out->of_rows, NULL);
    }
    for (unsigned i = 0; i < plan->count; i++) { /* repeats of a point are neighbours */
        const struct orch_search_point *point = plan->items[i].cell->point;
        if (!orch_tried_is_of(point, of) || !point->is_chosen)
            continue;
        if (known.point && known.point != point)
            add_point(tried, &known, out);
        if (known.point != point)
            known = (struct known){.point = point};
        if (!add_item(tried, plan, i, &known, error))
            return false;
    }
    if (known.point)
        add_point(tried, &known, out);
    keep_bounds_behind(of->search, out);
    settle_goals(of->search, out);
    g_autofree char *name = orch_tried_name(of);
    const struct orch_tried_spent *spent = g_hash_table_lookup(tried->spent, name);
    out->spent_s += spent ? spent->seconds : 0;
    out->ended += spent ? spent->trials : 0;
    return true;
}

void orch_tried_points_clear(struct orch_tried_points *points)
{
    g_clear_pointer(&points->sampled, g_array_unref);
    g_clear_pointer(&points->bounds, g_array_unref);
    g_clear_pointer(&points->rows, g_array_unref);
    g_clear_pointer(&points->of_rows, g_ptr_array_unref);
}
