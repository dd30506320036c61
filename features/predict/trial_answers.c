/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forecast of a trial by its own runs, by a predictor, by a law over the runs of its group, or
 * by the cost that its plugin declares. */
#include "features/predict/trial_forecasts_private.h"

#include "core/rows/param_rows.h"
#include "features/predict/setting_forecast.h"
#include "lib/base/reals.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"

#include <math.h>

/* Half width, as a factor, of the additional 90 % interval for trials that were only measured while
 * other programs ran. */
#define DISTURBED_FACTOR 2.0
/* A forecast is not made when its interval exceeds this factor to one side. */
#define WIDEST_FACTOR 10.0

/* Returns the item's forecast, to which the caller may add. Takes over `why`. */
static struct orch_forecast *set_known(struct orch_forecasts *f, unsigned index,
                                       struct orch_interval d, const char *tier, const char *model,
                                       char *why)
{
    struct orch_trial_known *known = &f->known[index];
    g_free(known->why);
    known->why = why;
    known->is_known = true;
    known->forecast = (struct orch_forecast){d, tier, model, known->why, false};
    return &known->forecast;
}

/* Widens the interval of a disturbed run: while other programs use up to all CPUs, a trial takes up
 * to twice as long; with another number of threads at most by their ratio. */
static struct orch_interval widened(struct orch_interval d, double threads_ratio)
{
    double low = log(d.mid / d.low), high = log(d.high / d.mid);
    double more = log(MAX(DISTURBED_FACTOR, threads_ratio));
    d.low = d.mid * exp(-hypot(low, more));
    d.high = d.mid * exp(hypot(high, more));
    return d;
}

static void describe_measured(struct orch_forecasts *f, unsigned index,
                              const struct orch_trial_group *group,
                              const struct orch_timed_cell *cell, struct orch_scatter scatter)
{
    guint n = cell->now_s->len;
    struct orch_interval d =
        orch_duration_of_repeats((const double *)(void *)cell->now_s->data, n, scatter);
    g_autofree char *change =
        cell->disturbance ? g_strdup("") : orch_timed_cells_change_text(&group->cells);
    if (cell->disturbance)
        d = widened(d, cell->threads_ratio);
    else if (cell->is_old)
        d = orch_timed_cells_widen(&group->cells, d);
    set_known(
        f, index, d,
        orch_tier_name(cell->threads_ratio > 0 ? ORCH_TIER_FITTED : ORCH_TIER_MEASURED), "repeats",
        g_strdup_printf("%u run%s of this setting here%s%s%s%s", n, orch_plural(n),
                        cell->disturbance ? ", " : "", cell->disturbance ? cell->disturbance : "",
                        cell->disturbance ? ": a wider interval" : "", change));
}

static bool describe_estimator(struct orch_forecasts *f, unsigned index)
{
    const struct orch_plan_item *item = &f->plan->items[index];
    const struct orch_machine *machine = orch_workspace_machine(f->plan->workspace);
    unsigned gpus = item->gpus;
    const struct orch_gpu_device *device =
        gpus && machine->gpus->len ? machine->gpus->pdata[0] : NULL;
    g_autoptr(json_t) cost = gpus && !device ? NULL : orch_forecasts_cost(f, item);
    struct orch_device_parts parts = orch_device_key_parse(item->device_key);
    g_free(parts.device);
    struct orch_forecast o;
    if (parts.gpu_share < 1) /* how long it takes depends on the trials beside it */
        return false;
    if (!cost || !orch_estimator_forecast(f->estimator, cost, device ? device->model : NULL,
                                          parts.threads, &o))
        return false;
    set_known(f, index, o.time_s, o.tier, o.model, g_strdup(o.why));
    return true;
}

/* ---- a trained predictor of the experiment ----------------------------------------------------
 */

/* The predictor trained on the parameters of the experiment's runs, of this version of its plugin;
 * NULL when there is none that is better than its baselines. */
static const struct orch_trained *predictor_of(struct orch_forecasts *f,
                                               const struct orch_experiment *experiment)
{
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(f->predictors, experiment->name, NULL, &found))
        return found;
    struct orch_trained *trained =
        f->plan->store ? orch_setting_predictor_find(f->plan->store, experiment->name, NULL) : NULL;
    bool is_usable = trained && trained->is_used &&
                     g_strcmp0(trained->plugin_version, experiment->manifest->version) == 0;
    if (!is_usable)
        g_clear_pointer(&trained, orch_trained_free);
    g_hash_table_insert(f->predictors, g_strdup(experiment->name), trained);
    return trained;
}

/* The item's parameters as the predictor's columns have them. */
static GHashTable *texts_of_item(const struct orch_plan_item *item)
{
    GHashTable *texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    const char *name;
    json_t *value;
    json_object_foreach(item->cell->params, name, value)
    {
        g_hash_table_insert(texts, g_strdup(name), orch_param_rows_text(value));
    }
    for (guint i = 0; i < item->cell->refs->len; i++) {
        const struct orch_ref *ref = item->cell->refs->pdata[i];
        g_hash_table_insert(texts, g_strdup(ref->param), g_strdup(ref->text));
    }
    return texts;
}

/* False when no predictor was trained for the experiment, or its interval is too wide. */
static bool describe_predictor(struct orch_forecasts *f, unsigned index)
{
    const struct orch_plan_item *item = &f->plan->items[index];
    const struct orch_trained *trained = predictor_of(f, item->cell->experiment);
    struct orch_setting_forecast forecast;
    g_autoptr(GHashTable) texts = trained ? texts_of_item(item) : NULL;
    if (!trained || orch_device_key_is_share(item->device_key) ||
        !orch_setting_forecast(trained, item->device_key, texts, &forecast, NULL))
        return false;
    bool is_narrow = forecast.time_s.high <= WIDEST_FACTOR * forecast.time_s.mid &&
                     forecast.time_s.mid <= WIDEST_FACTOR * forecast.time_s.low;
    if (is_narrow) {
        const char *note = forecast.notes->len ? forecast.notes->pdata[0] : NULL;
        set_known(f, index, forecast.time_s, orch_tier_name(forecast.tier), "predictor",
                  g_strdup_printf("%s%s%s", forecast.why, note ? "; " : "", note ? note : ""))
            ->is_beyond = forecast.extrapolates;
    }
    orch_setting_forecast_clear(&forecast);
    return is_narrow;
}

/* The cells that a law is fitted to, all or the undisturbed ones. */
struct learned {
    GPtrArray *cells; /* struct orch_timed_cell *, borrowed */
    size_t disturbed;
    double threads_ratio;    /* the largest */
    GPtrArray *disturbances; /* const char *, each once; ends with NULL */
};

static struct learned learned_cells(const struct orch_trial_group *group, bool also_disturbed)
{
    struct learned out = {.cells = g_ptr_array_new(), .disturbances = g_ptr_array_new()};
    for (guint i = 0; i < group->cells.all->len; i++) {
        struct orch_timed_cell *cell = group->cells.all->pdata[i];
        gpointer disturbance = (gpointer)(uintptr_t)cell->disturbance;
        if (disturbance && !also_disturbed)
            continue;
        g_ptr_array_add(out.cells, cell);
        out.disturbed += disturbance != NULL;
        out.threads_ratio = MAX(out.threads_ratio, cell->threads_ratio);
        if (disturbance && !g_ptr_array_find(out.disturbances, disturbance, NULL))
            g_ptr_array_add(out.disturbances, disturbance);
    }
    g_ptr_array_add(out.disturbances, NULL);
    return out;
}

/* "a law fitted to 12 trials here (0.4 s to start)". The caller frees. */
static char *law_text(const struct orch_trial_group *group, const struct learned *learned,
                      const struct orch_duration_law *law)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "a law fitted to %zu trial%s here", law->cells, orch_plural(law->cells));
    if (learned->disturbed) {
        g_autofree char *how = g_strjoinv(" or ", (char **)learned->disturbances->pdata);
        if (learned->disturbed < law->cells)
            g_string_append_printf(text, ", %zu of them %s: a wider interval", learned->disturbed,
                                   how);
        else
            g_string_append_printf(text, ", all %s: a wider interval", how);
    }
    if (law->start_s > 0) {
        g_autofree char *start = orch_duration_format(law->start_s);
        g_string_append_printf(text, " (%s to start)", start);
    }
    if (!isnan(law->relative_error))
        g_string_append_printf(text, ", with an error of %.2g %% on trials left out",
                               100 * law->relative_error);
    g_autofree char *change = orch_timed_cells_change_text(&group->cells);
    g_string_append(text, change);
    return g_string_free(text, FALSE);
}

/* Fits a law to the cells and forecasts items that never ran, where its interval is narrower than
 * that of an earlier forecast. `requested`: their indices. */
static void describe_fitted(struct orch_forecasts *f, const struct orch_trial_group *group,
                            const struct learned *learned, const GArray *requested,
                            struct orch_scatter scatter)
{
    const GPtrArray *known = learned->cells;
    size_t cells = known->len, count = cells + requested->len;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    g_autofree double *seconds = g_new(double, count), *work = g_new(double, count);
    g_autofree struct orch_interval *answers = g_new0(struct orch_interval, count);
    for (size_t i = 0; i < cells; i++) {
        const struct orch_timed_cell *cell = known->pdata[i];
        g_ptr_array_add(rows, g_hash_table_ref(cell->params));
        seconds[i] =
            orch_reals_median_of((const double *)(void *)cell->now_s->data, cell->now_s->len);
        work[i] = cell->cost ? orch_estimator_work(f->estimator, cell->cost) : (double)NAN;
    }
    for (guint i = 0; i < requested->len; i++) {
        const struct orch_plan_item *item = &f->plan->items[g_array_index(requested, unsigned, i)];
        g_autoptr(json_t) cost = orch_forecasts_cost(f, item);
        g_ptr_array_add(rows, orch_trial_params(item));
        seconds[cells + i] = (double)NAN;
        work[cells + i] = cost ? orch_estimator_work(f->estimator, cost) : (double)NAN;
    }
    struct orch_matrix *features = orch_trial_matrix(rows);
    struct orch_duration_law law;
    g_autofree bool *beyond = g_new0(bool, count + 1);
    orch_duration_law(features, work, seconds, scatter, answers, &law);
    orch_duration_beyond(features, seconds, beyond);
    for (guint i = 0; i < requested->len; i++) {
        struct orch_interval d = answers[cells + i];
        const struct orch_trial_known *before = &f->known[g_array_index(requested, unsigned, i)];
        d = learned->disturbed ? widened(d, learned->threads_ratio) : d;
        d = orch_timed_cells_widen(&group->cells, d);
        if (isnan(d.mid) ||
            (before->is_known &&
             before->forecast.time_s.high / before->forecast.time_s.low <= d.high / d.low))
            continue;
        set_known(f, g_array_index(requested, unsigned, i), d, orch_tier_name(ORCH_TIER_FITTED),
                  "law", law_text(group, learned, &law))
            ->is_beyond = beyond[cells + i];
    }
    orch_matrix_free(features);
}

/* Forecasts items that never ran by the undisturbed trials, or by all where these are few. */
static void describe_by_laws(struct orch_forecasts *f, const struct orch_trial_group *group,
                             const GArray *requested, struct orch_scatter scatter)
{
    for (int all = 0; all < 2 && requested->len; all++) {
        struct learned learned = learned_cells(group, all);
        if (learned.cells->len && (!all || learned.disturbed))
            describe_fitted(f, group, &learned, requested, scatter);
        g_ptr_array_unref(learned.cells);
        g_ptr_array_unref(learned.disturbances);
    }
}

static bool needs_forecast(const struct orch_plan_item *item)
{
    return orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD;
}

/* Forecasts some items of a group. */
void orch_trial_answer(struct orch_forecasts *f, struct orch_trial_group *group,
                       const unsigned *items, size_t count)
{
    orch_timed_cells_bring_to_now(&group->cells);
    struct orch_scatter scatter = orch_timed_cells_scatter(&group->cells);
    g_autoptr(GArray) requested = g_array_new(FALSE, FALSE, sizeof(unsigned));
    for (size_t i = 0; i < count; i++) {
        unsigned index = items[i];
        const struct orch_plan_item *item = &f->plan->items[index];
        f->known[index].is_changed = false;
        if (!needs_forecast(item))
            continue;
        const struct orch_timed_cell *cell =
            orch_timed_cells_find(&group->cells, orch_trial_signature(f, item));
        f->known[index].is_known = false;
        if (cell)
            describe_measured(f, index, group, cell, scatter);
        else if (!describe_predictor(f, index))
            g_array_append_val(requested, index);
    }
    describe_by_laws(f, group, requested, scatter);
    for (guint i = 0; i < requested->len; i++)
        if (!f->known[g_array_index(requested, unsigned, i)].is_known)
            describe_estimator(f, g_array_index(requested, unsigned, i));
}
