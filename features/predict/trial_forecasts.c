/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of one plugin on one device are forecast together: their runs are read once, and one law
 * is fitted to all of them. */
#include "features/predict/trial_forecasts.h"

#include "core/rows/param_rows.h"
#include "core/workspace/environment.h"
#include "features/predict/estimator.h"
#include "features/predict/setting_forecast.h"
#include "features/predict/timed_cells.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/reals.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"
#include "lib/wire/library_fact.h"
#include "store/forecast.h"

#include <math.h>
#include <string.h>

/* Maximum number of runs, the newest first, read of an experiment and of its plugin's other
 * experiments, each. */
#define RUNS_MAX 300
/* Half width, as a factor, of the additional 90 % interval for trials that were only measured while
 * other programs ran. */
#define DISTURBED_FACTOR 2.0
/* A forecast is not made when its interval exceeds this factor to one side. */
#define WIDEST_FACTOR 10.0

/* The forecast of one item. */
struct known {
    bool is_known;
    bool is_changed;               /* the item has other values since it was forecast */
    struct orch_forecast forecast; /* its texts are static, except `why` */
    char *why;
    /* the forecast before the first trial ended: */
    bool is_planned;
    int64_t planned_ns;
    struct orch_forecast planned; /* its `why` is NULL */
};

struct group {
    const struct orch_manifest *manifest;
    const char *device_key;
    char *library; /* that its trials will use: "libtorch 2.11.0", or NULL */
    struct orch_timed_cells cells;
    GArray *items; /* unsigned: of the plan */
    size_t runs_answered;
};

struct orch_forecasts {
    struct orch_plan *plan;
    struct orch_estimator *estimator;
    GPtrArray *groups;       /* struct group * */
    GHashTable *experiments; /* const struct orch_experiment * -> struct group * */
    GPtrArray *order;        /* const struct orch_experiment *, in the plan's order */
    GHashTable *items_of;    /* const struct orch_experiment * -> GArray of unsigned, its items */
    struct known *known;     /* one for each item */
    bool has_ended;          /* a trial has ended since the plan was made */
    char **signatures;       /* of each item, computed on first use */
    GHashTable *predictors;  /* char * (experiment) -> struct orch_trained *, or NULL: none */
};

/* ---- trials as texts ---------------------------------------------------------------------------
 */

static GHashTable *params_of_item(const struct orch_plan_item *item)
{
    GHashTable *params = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    const char *name;
    json_t *value;
    json_object_foreach(item->cell->params, name, value)
    {
        if (!orch_param_is_secret(orch_manifest_param(item->cell->experiment->manifest, name)))
            g_hash_table_insert(params, (gpointer)(uintptr_t)g_intern_string(name),
                                orch_json_canonical(value));
    }
    for (guint i = 0; i < item->cell->refs->len; i++) {
        const struct orch_ref *ref = item->cell->refs->pdata[i];
        g_autoptr(json_t) text = json_string(ref->text);
        g_hash_table_insert(params, (gpointer)(uintptr_t)g_intern_string(ref->param),
                            orch_json_canonical(text));
    }
    return params;
}

static GHashTable *params_of_timing(const struct orch_manifest *manifest,
                                    const struct orch_timing *timing)
{
    GHashTable *params = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (guint i = 0; i < timing->names->len; i++)
        if (!orch_param_is_secret(orch_manifest_param(manifest, timing->names->pdata[i])))
            g_hash_table_insert(params, timing->names->pdata[i],
                                g_strdup(timing->values->pdata[i]));
    return params;
}

static const char *signature_of_item(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    size_t index = (size_t)(item - f->plan->items);
    if (!f->signatures[index]) {
        g_autoptr(GHashTable) params = params_of_item(item);
        f->signatures[index] = orch_timed_cell_signature(params);
    }
    return f->signatures[index];
}

json_t *orch_forecasts_cost(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    const struct orch_cell *cell = item->cell;
    g_autoptr(json_t) params = json_copy(cell->params);
    for (guint i = 0; i < cell->refs->len; i++) {
        const struct orch_ref *ref = cell->refs->pdata[i];
        json_object_set_new(params, ref->param,
                            ref->is_result ? json_integer(0) : json_string(ref->text));
    }
    json_t *cost = orch_plugins_cost(f->plan->plugins, cell->experiment->manifest, params, NULL);
    if (json_is_object(cost))
        return cost;
    json_decref(cost);
    return NULL;
}

/* ---- groups ------------------------------------------------------------------------------------
 */

static void free_group(gpointer data)
{
    struct group *group = data;
    g_free(group->library);
    orch_timed_cells_clear(&group->cells);
    g_array_unref(group->items);
    g_free(group);
}

/* Runs that shared the machine (co_runners > 0) only inform plans that also run trials in parallel.
 * A run of another plugin version, or with another version of LibTorch or PyTorch, counts as a
 * different program. */
static bool is_like(const struct orch_forecasts *f, const struct group *group,
                    const struct orch_timing *timing)
{
    return isfinite(timing->wall_s) && timing->wall_s > 0 &&
           (f->plan->options.slots > 1 || timing->co_runners == 0) &&
           g_strcmp0(timing->plugin_version, group->manifest->version) == 0 &&
           !orch_libraries_differ(timing->library, group->library);
}

/* True when there is an undisturbed run. Without one (on a machine that is always loaded) runs are
 * not treated as disturbed. */
static bool any_quiet(const struct orch_forecasts *f, const struct group *group,
                      const GPtrArray *timings)
{
    for (guint i = 0; i < timings->len; i++) {
        const struct orch_timing *timing = timings->pdata[i];
        if (!timing->is_disturbed && is_like(f, group, timing))
            return true;
    }
    return false;
}

static void read_runs(struct orch_forecasts *f, struct group *group, const char *experiment)
{
    struct orch_timing_query query = {.plugin = group->manifest->name,
                                      .device_key = group->device_key,
                                      .is_place = f->plan->options.executor != NULL,
                                      .experiment = experiment,
                                      .limit = RUNS_MAX};
    g_autoptr(GPtrArray) timings =
        f->plan->store ? orch_store_timings(f->plan->store, &query, NULL) : NULL;
    bool some_quiet = timings && any_quiet(f, group, timings);
    for (int pass = 0; timings && pass < 2; pass++)
        for (guint i = 0; i < timings->len; i++) {
            const struct orch_timing *timing = timings->pdata[i];
            bool is_own = orch_who_is_same(timing->who, orch_user_name());
            if (is_own == (pass == 0) && is_like(f, group, timing))
                orch_timed_cells_add(
                    &group->cells, params_of_timing(group->manifest, timing), timing->cost,
                    (struct orch_timed_run){timing->wall_s, timing->ended_ns, is_own,
                                            some_quiet && timing->is_disturbed});
        }
}

static struct group *make_group(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    struct group *group = g_new0(struct group, 1);
    group->manifest = experiment->manifest;
    group->device_key = item->device_key;
    group->library =
        orch_environment_library(orch_environments_facts(f->plan->environments, experiment));
    orch_timed_cells_init(&group->cells);
    group->items = g_array_new(FALSE, FALSE, sizeof(unsigned));
    group->runs_answered = SIZE_MAX;
    g_ptr_array_add(f->groups, group);
    read_runs(f, group, experiment->name);
    return group;
}

static void join_group(struct orch_forecasts *f, struct group *group,
                       const struct orch_experiment *experiment, const GArray *items)
{
    g_hash_table_insert(f->experiments, (gpointer)(uintptr_t)experiment, group);
    for (guint i = 0; i < items->len; i++) {
        unsigned index = g_array_index(items, unsigned, i);
        if (f->plan->items[index].state != ORCH_PLAN_UNUSED)
            g_array_append_val(group->items, index);
    }
}

/* The group of all experiments of a plugin on the same device. Its runs are read once, those of the
 * first experiment before those of the others. All its experiments join it at once, so that it is
 * answered once and not again for each of a thousand experiments. */
static struct group *group_of(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    struct group *group = g_hash_table_lookup(f->experiments, experiment);
    if (group)
        return group;
    group = make_group(f, item);
    join_group(f, group, experiment, g_hash_table_lookup(f->items_of, experiment));
    for (guint i = 0; !experiment->program && i < f->order->len; i++) {
        const struct orch_experiment *other = f->order->pdata[i];
        const GArray *items = g_hash_table_lookup(f->items_of, other);
        const struct orch_plan_item *first = &f->plan->items[g_array_index(items, unsigned, 0)];
        if (other->manifest == group->manifest && !other->program &&
            g_strcmp0(first->device_key, group->device_key) == 0 &&
            !g_hash_table_contains(f->experiments, other))
            join_group(f, group, other, items);
    }
    return group;
}

/* ---- features ----------------------------------------------------------------------------------
 */

/* Parses a canonical text as a number; NaN when it is none. */
static double number_of(const char *text)
{
    char *end;
    if (!text || !(g_ascii_isdigit(*text) || *text == '-'))
        return (double)NAN;
    double value = g_ascii_strtod(text, &end);
    return *end || !isfinite(value) ? (double)NAN : value;
}

static bool is_null(const char *text)
{
    return !text || strcmp(text, "null") == 0;
}

static void add_feature(struct orch_matrix *matrix, const char *name, GPtrArray *rows)
{
    bool is_number = true, differs = false;
    const char *first = g_hash_table_lookup(rows->pdata[0], name);
    for (guint i = 0; i < rows->len; i++) {
        const char *text = g_hash_table_lookup(rows->pdata[i], name);
        differs = differs || g_strcmp0(text, first) != 0;
        is_number = is_number && (is_null(text) || isfinite(number_of(text)));
    }
    if (!differs)
        return;
    int column = orch_matrix_cols(matrix);
    double *values =
        is_number ? orch_matrix_add_number(matrix, name) : orch_matrix_add_category(matrix, name);
    for (guint i = 0; i < rows->len; i++) {
        const char *text = g_hash_table_lookup(rows->pdata[i], name);
        values[i] =
            is_number ? number_of(text) : orch_matrix_level(matrix, column, text ? text : "null");
    }
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

/* Makes columns for the parameters that differ between the rows (GHashTable * of canonical texts).
 */
static struct orch_matrix *features_of(GPtrArray *rows)
{
    struct orch_matrix *matrix = orch_matrix_new(rows->len);
    if (!rows->len)
        return matrix;
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++) {
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, rows->pdata[i]);
        while (g_hash_table_iter_next(&iter, &name, NULL))
            g_hash_table_add(names, name);
    }
    GList *sorted = g_list_sort(g_hash_table_get_keys(names), compare_names);
    for (const GList *at = sorted; at; at = at->next)
        add_feature(matrix, at->data, rows);
    g_list_free(sorted);
    return matrix;
}

struct orch_matrix *orch_forecasts_features(struct orch_forecasts *f, const unsigned *wanted,
                                            size_t count)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    for (size_t i = 0; i < count; i++) {
        const struct orch_plan_item *item = &f->plan->items[wanted[i]];
        GHashTable *params = params_of_item(item);
        g_hash_table_insert(params, (gpointer)(uintptr_t)g_intern_static_string("plugin of trial"),
                            g_strdup(item->cell->experiment->manifest->name));
        g_ptr_array_add(rows, params);
    }
    return features_of(rows);
}

bool orch_forecasts_has_run(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    return !f->plan->expansion->smoke &&
           orch_timed_cells_find(&group_of(f, item)->cells, signature_of_item(f, item));
}

char *orch_forecasts_cell(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    return g_strdup_printf("%p\n%s", (const void *)item->cell->experiment->manifest,
                           signature_of_item(f, item));
}

/* ---- answers -----------------------------------------------------------------------------------
 */

/* Returns the item's forecast, to which the caller may add. Takes over `why`. */
static struct orch_forecast *set_known(struct orch_forecasts *f, unsigned index,
                                       struct orch_interval d, const char *tier, const char *model,
                                       char *why)
{
    struct known *known = &f->known[index];
    g_free(known->why);
    known->why = why;
    known->is_known = true;
    known->forecast = (struct orch_forecast){d, tier, model, known->why, false};
    return &known->forecast;
}

/* Widens the interval of a disturbed run: while other programs use up to all CPUs, a trial takes up
 * to twice as long. */
static struct orch_interval widened(struct orch_interval d)
{
    double low = log(d.mid / d.low), high = log(d.high / d.mid);
    d.low = d.mid * exp(-hypot(low, log(DISTURBED_FACTOR)));
    d.high = d.mid * exp(hypot(high, log(DISTURBED_FACTOR)));
    return d;
}

static void describe_measured(struct orch_forecasts *f, unsigned index, const struct group *group,
                              const struct orch_timed_cell *cell, struct orch_scatter scatter)
{
    guint n = cell->now_s->len;
    struct orch_interval d =
        orch_duration_of_repeats((const double *)(void *)cell->now_s->data, n, scatter);
    g_autofree char *change =
        cell->is_disturbed ? g_strdup("") : orch_timed_cells_change_text(&group->cells);
    if (cell->is_disturbed)
        d = widened(d);
    else if (cell->is_old)
        d = orch_timed_cells_widen(&group->cells, d);
    set_known(f, index, d, "measured", "repeats",
              g_strdup_printf("%u run%s of it here%s%s", n, orch_plural(n),
                              cell->is_disturbed
                                  ? ", while other programs kept the CPUs busy: a wider interval"
                                  : "",
                              change));
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
    struct orch_estimate_question question = {
        .cost = cost, .gpu = device ? device->model : NULL, .threads = parts.threads};
    g_free(parts.device);
    struct orch_forecast o;
    if (parts.gpu_share < 1) /* how long it takes depends on the trials beside it */
        return false;
    if (!cost || !orch_estimator_forecast(f->estimator, &question, &o))
        return false;
    set_known(f, index, o.time_s, o.tier, o.model, g_strdup(o.why));
    return true;
}

/* ---- a trained predictor of the experiment ----------------------------------------------------
 */

static void free_predictor(gpointer trained)
{
    orch_trained_free(trained);
}

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
    const struct orch_setting_question question = {.device_key = item->device_key, .values = texts};
    if (!trained || orch_device_key_is_share(item->device_key) ||
        !orch_setting_forecast(trained, &question, &forecast, NULL))
        return false;
    bool is_narrow = forecast.time_s.high <= WIDEST_FACTOR * forecast.time_s.mid &&
                     forecast.time_s.mid <= WIDEST_FACTOR * forecast.time_s.low;
    if (is_narrow) {
        const char *note = forecast.notes->len ? forecast.notes->pdata[0] : NULL;
        set_known(f, index, forecast.time_s, forecast.tier, "predictor",
                  g_strdup_printf("%s%s%s", forecast.why, note ? "; " : "", note ? note : ""))
            ->is_beyond = forecast.extrapolates;
    }
    orch_setting_forecast_clear(&forecast);
    return is_narrow;
}

/* The cells that a law is fitted to (borrowed). Disturbed cells are used only when there are no
 * others. */
static GPtrArray *learned_cells(const struct group *group)
{
    GPtrArray *cells = g_ptr_array_new();
    for (int disturbed = 0; disturbed < 2 && !cells->len; disturbed++)
        for (guint i = 0; i < group->cells.all->len; i++)
            if (((const struct orch_timed_cell *)group->cells.all->pdata[i])->is_disturbed ==
                disturbed)
                g_ptr_array_add(cells, group->cells.all->pdata[i]);
    return cells;
}

/* "a law over 12 trials here (0.4 s to start), off by 3 % on those left out". The caller frees. */
static char *law_text(const struct group *group, const struct orch_duration_law *law)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "a law over %zu trial%s here", law->cells, orch_plural(law->cells));
    if (law->start_s > 0) {
        g_autofree char *start = orch_duration_format(law->start_s);
        g_string_append_printf(text, " (%s to start, whatever the parameters)", start);
    }
    if (!isnan(law->relative_error))
        g_string_append_printf(text, ", off by %.2g %% on those left out",
                               100 * law->relative_error);
    g_autofree char *change = orch_timed_cells_change_text(&group->cells);
    g_string_append(text, change);
    return g_string_free(text, FALSE);
}

/* Fits the group's law and forecasts its items that never ran. `asked`: their indices. */
static void describe_fitted(struct orch_forecasts *f, const struct group *group,
                            const GArray *requested, struct orch_scatter scatter)
{
    g_autoptr(GPtrArray) known = learned_cells(group);
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
        g_ptr_array_add(rows, params_of_item(item));
        seconds[cells + i] = (double)NAN;
        work[cells + i] = cost ? orch_estimator_work(f->estimator, cost) : (double)NAN;
    }
    struct orch_matrix *features = features_of(rows);
    struct orch_duration_law law;
    g_autofree bool *beyond = g_new0(bool, count + 1);
    orch_duration_law(features, work, seconds, scatter, answers, &law);
    orch_duration_beyond(features, seconds, beyond);
    for (guint i = 0; i < requested->len; i++) {
        struct orch_interval d = answers[cells + i];
        if (isnan(d.mid))
            continue;
        set_known(f, g_array_index(requested, unsigned, i),
                  orch_timed_cells_widen(&group->cells, d), "fitted", "law", law_text(group, &law))
            ->is_beyond = beyond[cells + i];
    }
    orch_matrix_free(features);
}

static bool needs_forecast(const struct orch_plan_item *item)
{
    return orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD;
}

/* Forecasts some items of a group. */
static void answer(struct orch_forecasts *f, struct group *group, const unsigned *items,
                   size_t count)
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
            orch_timed_cells_find(&group->cells, signature_of_item(f, item));
        f->known[index].is_known = false;
        if (cell)
            describe_measured(f, index, group, cell, scatter);
        else if (!describe_predictor(f, index))
            g_array_append_val(requested, index);
    }
    if (group->cells.all->len && requested->len)
        describe_fitted(f, group, requested, scatter);
    for (guint i = 0; i < requested->len; i++)
        if (!f->known[g_array_index(requested, unsigned, i)].is_known)
            describe_estimator(f, g_array_index(requested, unsigned, i));
}

/* Forecasts are recomputed only after the number of runs has grown by 10 %, so that a thousand
 * short trials are not delayed. */
static bool is_outdated(const struct group *group)
{
    return group->runs_answered == SIZE_MAX ||
           group->cells.runs > group->runs_answered + group->runs_answered / 10;
}

static bool forecast(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out)
{
    struct orch_forecasts *f = ctx;
    if (f->plan->expansion->smoke)
        return false;
    struct group *group = group_of(f, item);
    const unsigned index = (unsigned)(item - f->plan->items);
    struct known *known = &f->known[index];
    if (is_outdated(group)) {
        group->runs_answered = group->cells.runs;
        answer(f, group, (const unsigned *)(void *)group->items->data, group->items->len);
    } else if (known->is_changed) {
        answer(f, group, &index, 1);
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
    f->known[index] = (struct known){.is_changed = true};
}

static bool planned(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out,
                    int64_t *out_made_ns)
{
    const struct orch_forecasts *f = ctx;
    const struct known *known = &f->known[item - f->plan->items];
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
    struct group *group = f->plan->expansion->smoke ? NULL : group_of(f, item);
    g_autoptr(json_t) cost = group ? orch_forecasts_cost(f, item) : NULL;
    if (group && wall_s > 0)
        orch_timed_cells_add(&group->cells, params_of_item(item), cost,
                             (struct orch_timed_run){wall_s, orch_now_ns(), true, false});
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void free_items(gpointer items)
{
    g_array_unref(items);
}

/* Lists the plan's experiments, and the items of each, in one pass. */
static void list_experiments(struct orch_forecasts *f)
{
    f->order = g_ptr_array_new();
    f->items_of = g_hash_table_new_full(NULL, NULL, NULL, free_items);
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
    f->groups = g_ptr_array_new_with_free_func(free_group);
    f->experiments = g_hash_table_new(NULL, NULL);
    list_experiments(f);
    f->known = g_new0(struct known, plan->count + 1);
    f->signatures = g_new0(char *, plan->count + 1);
    f->predictors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_predictor);
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
    struct orch_estimate_question question = {.cost = cost, .gpu = gpu};
    return cost && orch_estimator_forecast(f->estimator, &question, out);
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
