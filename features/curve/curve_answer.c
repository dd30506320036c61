/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/curve_answer.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/find.h"

#include <math.h>
#include <string.h>

/* ---- the runs ----------------------------------------------------------------------------------
 */

static bool add_found(GPtrArray *all, GPtrArray *found)
{
    if (!found)
        return false;
    g_ptr_array_set_free_func(found, NULL);
    g_ptr_array_extend(all, found, NULL, NULL);
    g_ptr_array_unref(found);
    return true;
}

GPtrArray *orch_curve_runs(struct orch_store *store, const char *const *names, int count,
                           const char *filter, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (int i = 0; i < count; i++)
        if (!add_found(all, orch_store_find_runs(store, names[i], error)))
            return NULL;
    if (filter && !add_found(all, orch_store_filter_runs(store, filter, error)))
        return NULL;
    if (all->len)
        return g_steal_pointer(&all);
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "name runs, for example 'orch curve @last', or add --where 'recipe=hw4'",
                   "no runs are named");
    return NULL;
}

/* ---- reading and fitting ----------------------------------------------------------------------
 */

/* What is gathered from the runs, beside the answer itself. */
struct reading {
    struct orch_plugins *plugins;
    struct orch_store *store;
    const struct orch_curve_ask *ask;
    struct orch_curve_answer *answer;
    GPtrArray *costs; /* json_t *, or NULL: the cost that each run declared */
    GPtrArray *warnings;
};

/* Adds one run's curve and fit to the answer. */
static bool add_run(struct reading *r, const struct orch_run *run, GError **error)
{
    struct orch_curve_result result = {0};
    struct orch_run_curve *curve =
        orch_run_curve_read(r->plugins, r->store, run, &r->ask->series, error);
    if (!curve || !orch_run_curve_fit(curve, r->ask->choice, &r->ask->fit, &result, error)) {
        orch_run_curve_free(curve);
        return false;
    }
    if (curve->dropped)
        g_ptr_array_add(r->warnings,
                        g_strdup_printf("run %s: %zu points of '%s' are not finite, and left out",
                                        orch_run_short_key(run->key), curve->dropped,
                                        curve->metric));
    g_ptr_array_add(r->answer->curves, curve);
    g_array_append_val(r->answer->results, result);
    g_ptr_array_add(r->answer->places, curve->where);
    g_autoptr(json_t) facts = json_loads(run->facts ? run->facts : "{}", 0, NULL);
    g_ptr_array_add(r->costs, json_incref(json_object_get(facts, "cost")));
    return true;
}

static bool add_runs(struct reading *r, const GPtrArray *runs, GError **error)
{
    GError *last = NULL;
    for (guint i = 0; i < runs->len; i++) {
        GError *problem = NULL;
        if (add_run(r, runs->pdata[i], &problem))
            continue;
        if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND))
            r->answer->without++;
        else if (runs->len > 1)
            g_ptr_array_add(r->warnings, g_strdup_printf("left out: %s", problem->message));
        g_clear_error(&last);
        last = problem;
    }
    if (!r->answer->curves->len) {
        g_propagate_error(error, last);
        return false;
    }
    g_clear_error(&last);
    return true;
}

static bool predict_other(struct reading *r, GPtrArray *net_notes, GError **error)
{
    struct orch_curve_answer *answer = r->answer;
    answer->predicted = orch_predicted_curve_new(r->ask->other, answer->curves, answer->results,
                                                 r->costs, net_notes, error);
    return answer->predicted;
}

static bool fit_bridge(struct reading *r, GError **error)
{
    struct orch_curve_answer *answer = r->answer;
    answer->bridge = orch_run_curves_bridge(answer->curves, error);
    if (answer->bridge)
        orch_isotonic_cross(answer->bridge, r->ask->accuracy, &answer->bridge_loss, NULL);
    return answer->bridge;
}

static struct orch_curve_answer *answer_new(const struct orch_curve_options *fit)
{
    struct orch_curve_answer *answer = g_new0(struct orch_curve_answer, 1);
    answer->curves = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_curve_free);
    answer->results = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_result));
    g_array_set_clear_func(answer->results, (GDestroyNotify)orch_curve_result_release);
    answer->places = g_ptr_array_new();
    answer->bridge_loss = NAN;
    answer->has_errors =
        fit->weights == ORCH_CURVE_EQUAL && !fit->neighbours && !fit->is_normalised;
    return answer;
}

struct orch_curve_answer *orch_curve_answer_new(struct orch_plugins *plugins,
                                                struct orch_store *store, const GPtrArray *runs,
                                                const struct orch_curve_ask *ask,
                                                GPtrArray *warnings, GPtrArray *net_notes,
                                                GError **error)
{
    g_autoptr(GPtrArray) costs = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    struct reading r = {plugins, store, ask, answer_new(&ask->fit), costs, warnings};
    bool ok = add_runs(&r, runs, error) && (!ask->other || predict_other(&r, net_notes, error)) &&
              (isnan(ask->accuracy) || fit_bridge(&r, error));
    if (ok)
        return r.answer;
    orch_curve_answer_free(r.answer);
    return NULL;
}

void orch_curve_answer_free(struct orch_curve_answer *answer)
{
    if (!answer)
        return;
    orch_isotonic_free(answer->bridge);
    orch_predicted_curve_free(answer->predicted);
    g_ptr_array_unref(answer->curves);
    g_array_unref(answer->results);
    g_ptr_array_unref(answer->places);
    g_free(answer);
}

/* ---- targets -----------------------------------------------------------------------------------
 */

static void free_target(gpointer data)
{
    struct orch_curve_target *target = data;
    g_free(target->target);
    g_free(target);
}

/* Adds a target with the loss at k. Takes over `name`. */
static void add_target(GPtrArray *all, const struct orch_run_curve *c, char *name, double loss,
                       double k, const char *why_not, double seen_epoch)
{
    double epochs = k / c->k_per_epoch;
    double steps = c->is_by_epoch ? epochs * c->steps_per_epoch : k;
    struct orch_curve_target *target = g_new(struct orch_curve_target, 1);
    *target = (struct orch_curve_target){.key = c->key,
                                         .target = name,
                                         .loss = loss,
                                         .steps = isnan(steps) ? (double)NAN : ceil(steps),
                                         .epochs = epochs,
                                         .seconds = k * c->s_per_k,
                                         .seen_epoch = seen_epoch,
                                         .why_not = why_not};
    g_ptr_array_add(all, target);
}

static void add_reach(GPtrArray *all, const struct orch_run_curve *c,
                      const struct orch_stages *stages, char *name, double loss, double seen_epoch)
{
    double k = NAN;
    if (isnan(loss)) {
        add_target(all, c, name, loss, NAN, "no run reached it", seen_epoch);
        return;
    }
    bool reached = orch_stages_reach(stages, loss, &k, NULL);
    add_target(all, c, name, loss, reached ? k : (double)NAN, reached ? NULL : "never", seen_epoch);
}

/* Returns the first epoch at which the run itself reached the accuracy; NaN: never. */
static double first_accurate(const struct orch_run_curve *c, double accuracy)
{
    for (size_t i = 0; i < c->accuracy_count; i++)
        if (c->accuracy[i] >= accuracy)
            return c->accuracy_k[i] / c->k_per_epoch;
    return NAN;
}

/* Adds all targets of one curve. `seen_epoch`: when the run reached the accuracy, NaN: never. */
static void add_targets(GPtrArray *all, const struct orch_curve_ask *ask,
                        const struct orch_run_curve *c, const struct orch_stages *stages,
                        double bridge_loss, double seen_epoch)
{
    double k = (double)ask->epochs * c->k_per_epoch;
    if (!isnan(ask->loss))
        add_reach(all, c, stages, g_strdup_printf("loss %g", ask->loss), ask->loss, NAN);
    if (!isnan(ask->accuracy))
        add_reach(all, c, stages, g_strdup_printf("accuracy %g", ask->accuracy), bridge_loss,
                  seen_epoch);
    if (ask->epochs)
        add_target(all, c, g_strdup_printf("%d epochs", (int)ask->epochs),
                   isnan(k) ? (double)NAN : orch_stages_loss(stages, k), k,
                   isnan(k) ? "steps of an epoch unknown" : NULL, NAN);
}

GPtrArray *orch_curve_answer_targets(const struct orch_curve_answer *answer,
                                     const struct orch_curve_ask *ask)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_target);
    for (guint i = 0; i < answer->curves->len; i++) {
        const struct orch_run_curve *c = answer->curves->pdata[i];
        add_targets(all, ask, c, g_array_index(answer->results, struct orch_curve_result, i).stages,
                    answer->bridge_loss, first_accurate(c, ask->accuracy));
    }
    if (answer->predicted)
        add_targets(all, ask, &answer->predicted->units, answer->predicted->stages,
                    answer->bridge_loss, NAN);
    return all;
}
