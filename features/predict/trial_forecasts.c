/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/trial_forecasts.h"

#include "features/predict/trial_forecasts_private.h"
#include "lib/base/ident.h"
#include "predictors/learn/trained.h"

/* Forecasts are recomputed only after the number of runs has grown by 10 %, so that a thousand
 * short trials are not delayed. */
static bool is_outdated(const struct orch_trial_group *group)
{
    return group->runs_answered == SIZE_MAX ||
           group->cells.runs > group->runs_answered + group->runs_answered / 10;
}

static bool forecast(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out)
{
    struct orch_forecasts *f = ctx;
    if (f->plan->expansion->smoke)
        return false;
    struct orch_trial_group *group = orch_trial_group_of(f, item);
    const unsigned index = (unsigned)(item - f->plan->items);
    struct orch_trial_known *known = &f->known[index];
    if (is_outdated(group)) {
        group->runs_answered = group->cells.runs;
        orch_trial_answer(f, group, (const unsigned *)(void *)group->items->data,
                          group->items->len);
    } else if (known->is_changed) {
        orch_trial_answer(f, group, &index, 1);
    }
    if (known->is_known && !known->is_planned && !f->has_ended) {
        known->is_planned = true;
        known->planned = known->forecast;
        known->planned.why = NULL;
        known->planned_ns = orch_now_ns();
    }
    if (known->is_known)
        *out = known->forecast;
    return known->is_known;
}

static void changed(void *ctx, const struct orch_plan_item *item)
{
    struct orch_forecasts *f = ctx;
    size_t index = (size_t)(item - f->plan->items);
    g_clear_pointer(&f->signatures[index], g_free);
    g_free(f->known[index].why);
    f->known[index] = (struct orch_trial_known){.is_changed = true};
}

static bool planned(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out,
                    int64_t *out_made_ns)
{
    const struct orch_forecasts *f = ctx;
    const struct orch_trial_known *known = &f->known[item - f->plan->items];
    if (!known->is_planned)
        return false;
    *out = known->planned;
    *out_made_ns = known->planned_ns;
    return true;
}

static void ended(void *ctx, const struct orch_plan_item *item, double wall_s)
{
    struct orch_forecasts *f = ctx;
    f->has_ended = true;
    struct orch_trial_group *group =
        f->plan->expansion->smoke ? NULL : orch_trial_group_of(f, item);
    g_autoptr(json_t) cost = group ? orch_forecasts_cost(f, item) : NULL;
    if (group && wall_s > 0)
        orch_timed_cells_add(&group->cells, orch_trial_params(item), cost,
                             (struct orch_timed_run){wall_s, orch_now_ns(), true, NULL, 0});
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* Lists the plan's experiments, and the items of each, in one pass. */
static void list_experiments(struct orch_forecasts *f)
{
    f->order = g_ptr_array_new();
    f->items_of = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    for (unsigned i = 0; i < f->plan->count; i++) {
        gpointer experiment = (gpointer)(uintptr_t)f->plan->items[i].cell->experiment;
        GArray *items = g_hash_table_lookup(f->items_of, experiment);
        if (!items) {
            items = g_array_new(FALSE, FALSE, sizeof(unsigned));
            g_hash_table_insert(f->items_of, experiment, items);
            g_ptr_array_add(f->order, experiment);
        }
        g_array_append_val(items, i);
    }
}

static struct orch_forecasts *new_forecasts(struct orch_plan *plan)
{
    struct orch_forecasts *f = g_new0(struct orch_forecasts, 1);
    f->plan = plan;
    f->estimator = orch_estimator_new(plan->workspace);
    f->groups = g_ptr_array_new_with_free_func(orch_trial_group_free);
    f->experiments = g_hash_table_new(NULL, NULL);
    list_experiments(f);
    f->known = g_new0(struct orch_trial_known, plan->count + 1);
    f->signatures = g_new0(char *, plan->count + 1);
    f->predictors =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)orch_trained_free);
    return f;
}

static void close_forecaster(void *ctx)
{
    struct orch_forecasts *f = ctx;
    for (unsigned i = 0; i < f->plan->count; i++) {
        g_free(f->known[i].why);
        g_free(f->signatures[i]);
    }
    g_free(f->known);
    g_free(f->signatures);
    g_ptr_array_unref(f->groups);
    g_hash_table_unref(f->experiments);
    g_hash_table_unref(f->items_of);
    g_ptr_array_unref(f->order);
    g_hash_table_unref(f->predictors);
    orch_estimator_free(f->estimator);
    g_free(f);
}

static bool elsewhere(void *ctx, const struct orch_plan_item *item, const char *gpu,
                      struct orch_forecast *out)
{
    struct orch_forecasts *f = ctx;
    g_autoptr(json_t) cost = orch_forecasts_cost(f, item);
    return cost && orch_estimator_forecast(f->estimator, cost, gpu, 0, out);
}

static struct orch_forecaster open_forecaster(struct orch_plan *plan)
{
    return (struct orch_forecaster){.ctx = new_forecasts(plan),
                                    .forecast = forecast,
                                    .planned = planned,
                                    .ended = ended,
                                    .changed = changed,
                                    .elsewhere = elsewhere,
                                    .close = close_forecaster};
}

struct orch_forecasts *orch_forecasts_of(const struct orch_forecaster *forecaster)
{
    g_assert(forecaster->close == close_forecaster);
    return forecaster->ctx;
}

struct orch_estimator *orch_forecasts_estimator(const struct orch_forecasts *f)
{
    return f->estimator;
}

const struct orch_forecasting ORCH_FORECASTING_PREDICT = {.open = open_forecaster,
                                                          .time_left = orch_predict_time_left};
