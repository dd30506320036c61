/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/curve_answer.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/read/find_runs.h"

#include <math.h>
#include <string.h>

#define FAR 10.0 /* times the run: what is reached later counts as never */

/* ---- the runs -------------------------------------------------------------------------------- */

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
    orch_error_set(error, ORCH_ERROR_USAGE, "for example orch curve @last", "no runs are named");
    return NULL;
}

/* ---- reading and fitting --------------------------------------------------------------------- */

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
    const struct orch_curve_ask *ask = r->ask;
    if (!curve || !orch_run_curve_fit(curve, ask->choice, &ask->fit, &result, error)) {
        bool has_targets = !isnan(ask->loss) || !isnan(ask->accuracy) || ask->epochs;
        if (result.is_refused && has_targets && !ask->other)
            g_ptr_array_add(r->answer->refused, curve);
        else
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
        guint refused = r->answer->refused->len;
        if (add_run(r, runs->pdata[i], &problem))
            continue;
        if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND))
            r->answer->without++;
        else if (runs->len > 1 || r->answer->refused->len)
            g_ptr_array_add(r->warnings,
                            g_strconcat(r->answer->refused->len > refused ? "" : "left out: ",
                                        problem->message, NULL));
        g_clear_error(&last);
        last = problem;
    }
    if (!r->answer->curves->len && !r->answer->refused->len) {
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

/* Accuracy as a function of the loss; without any loss it is the curve itself. */
static bool fit_bridge(struct reading *r, GError **error)
{
    struct orch_curve_answer *answer = r->answer;
    bool any_loss = false;
    for (guint i = 0; i < answer->curves->len; i++)
        any_loss =
            any_loss || !((const struct orch_run_curve *)answer->curves->pdata[i])->is_accuracy;
    if (!any_loss)
        return true;
    answer->bridge = orch_run_curves_bridge(answer->curves, error);
    if (answer->bridge)
        orch_isotonic_cross(answer->bridge, r->ask->accuracy, &answer->bridge_loss, NULL);
    return answer->bridge;
}

static struct orch_curve_answer *answer_new(const struct orch_curve_options *fit)
{
    struct orch_curve_answer *answer = g_new0(struct orch_curve_answer, 1);
    answer->curves = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_curve_free);
    answer->refused = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_curve_free);
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
    g_ptr_array_unref(answer->refused);
    g_array_unref(answer->results);
    g_ptr_array_unref(answer->places);
    g_free(answer);
}

/* ---- targets --------------------------------------------------------------------------------- */

static void free_target(gpointer data)
{
    struct orch_curve_target *target = data;
    g_free(target->target);
    g_free(target);
}

/* A run's curve and its fit; `result` is NULL for a network that was not run. */
struct fitted {
    const struct orch_run_curve *curve;
    const struct orch_stages *stages;
    const struct orch_curve_result *result;
};

/* A target, as far as it is known before the curve is asked. Takes over `name`. */
static struct orch_curve_target *new_target(const struct fitted *f, char *name, double loss,
                                            double seen_epoch)
{
    static const struct orch_interval UNKNOWN = {(double)NAN, (double)NAN, (double)NAN};
    struct orch_curve_target *target = g_new(struct orch_curve_target, 1);
    *target = (struct orch_curve_target){.key = f->curve->key,
                                         .target = name,
                                         .loss = loss,
                                         .steps = NAN,
                                         .epochs = NAN,
                                         .seconds = NAN,
                                         .step = UNKNOWN,
                                         .at = UNKNOWN,
                                         .seen_epoch = seen_epoch};
    return target;
}

static double steps_of(const struct orch_run_curve *c, double k)
{
    double steps = c->is_by_epoch ? k / c->k_per_epoch * c->steps_per_epoch : k;
    return isnan(steps) ? (double)NAN : ceil(steps);
}

static void set_k(struct orch_curve_target *target, const struct orch_run_curve *c, double k)
{
    target->epochs = k / c->k_per_epoch;
    target->steps = steps_of(c, k);
    target->seconds = k * c->s_per_k;
}

/* The half width of the log of the loss at k; NaN: not known. */
static double half_at(const struct fitted *f, double k)
{
    return f->result ? orch_run_curve_half(f->curve, f->result, k) : (double)NAN;
}

/* Finds the first k after the run's last point at which the curve, times exp(side x half width), is
 * at most `loss`. INFINITY: none within a million times the run. */
static double reach_with(const struct fitted *f, double loss, double side)
{
    double last = f->curve->k[f->curve->count - 1];
    for (double k = last; k < 1e6 * last; k *= 1.005)
        if (orch_stages_loss(f->stages, k) * exp(side * half_at(f, k)) <= loss)
            return k;
    return INFINITY;
}

/* A loss that the curve does not reach is "never" reached only if the intervals of its limit and of
 * the loss at ten times the run say so. */
static const char *why_never(const struct fitted *f, double loss)
{
    size_t last = f->stages->count - 1;
    bool has_interval = f->result && isfinite(f->result->limits[last].low);
    bool is_possible = has_interval && loss >= f->result->limits[last].low;
    double far = f->curve->count ? FAR * f->curve->k[f->curve->count - 1] : (double)NAN;
    is_possible |= orch_stages_loss(f->stages, far) * exp(-half_at(f, far)) <= loss;
    return is_possible ? "not by the fit, but possible" : "never";
}

static struct orch_curve_target *reach(const struct fitted *f, char *name, double loss,
                                       double seen_epoch)
{
    struct orch_curve_target *target = new_target(f, name, loss, seen_epoch);
    double k = NAN;
    if (isnan(loss)) {
        target->why_not = "no run reached it";
        return target;
    }
    bool is_reached = orch_stages_reach(f->stages, loss, &k, NULL);
    if (is_reached)
        set_k(target, f->curve, k);
    else
        target->why_not = why_never(f, loss);
    double last = f->curve->count ? f->curve->k[f->curve->count - 1] : (double)NAN;
    bool is_forecast = f->curve->count && !(is_reached && k <= last);
    if (!is_forecast || !isfinite(half_at(f, last)) ||
        (!is_reached && !strcmp(target->why_not, "never")))
        return target;
    double low = reach_with(f, loss, -1), high = reach_with(f, loss, 1);
    if (!is_reached && isfinite(low)) {
        k = orch_curve_reach_by_slope(f->curve->k, f->curve->loss, f->curve->count, loss);
        if (!isnan(k))
            set_k(target, f->curve, fmin(fmax(k, low), high));
    }
    target->step = (struct orch_interval){
        isfinite(low) ? steps_of(f->curve, low) : (double)INFINITY, target->steps,
        isfinite(high) ? steps_of(f->curve, high) : (double)INFINITY};
    return target;
}

/* The target of a run without a fit: nothing is forecast. */
static struct orch_curve_target *refuse(const struct fitted *f, char *name, double seen_k)
{
    struct orch_curve_target *target =
        new_target(f, name, NAN, isnan(seen_k) ? (double)NAN : seen_k / f->curve->k_per_epoch);
    target->why_not = isnan(seen_k) ? "not reached, no fit" : NULL;
    set_k(target, f->curve, seen_k);
    return target;
}

static struct orch_curve_target *after_epochs(const struct fitted *f, int64_t epochs)
{
    double k = (double)epochs * f->curve->k_per_epoch;
    double loss = isnan(k) ? (double)NAN : orch_stages_loss(f->stages, k);
    struct orch_curve_target *target =
        new_target(f, g_strdup_printf("%d epochs", (int)epochs), loss, NAN);
    target->why_not = isnan(k) ? "steps of an epoch unknown" : NULL;
    set_k(target, f->curve, k);
    if (f->curve->count && k > f->curve->k[f->curve->count - 1] && isfinite(half_at(f, k))) {
        double factor = exp(half_at(f, k));
        target->at = (struct orch_interval){loss / factor, loss, loss * factor};
    }
    return target;
}

/* Returns the first epoch at which the run itself reached the accuracy; NaN: never. */
static double first_accurate(const struct orch_run_curve *c, double accuracy)
{
    for (size_t i = 0; i < c->accuracy_count; i++)
        if (c->accuracy[i] >= accuracy)
            return c->accuracy_k[i] / c->k_per_epoch;
    return NAN;
}

/* An accuracy that no run reached, by the curve of 1 - accuracy of the run itself; NULL when there
 * are too few points. */
static struct orch_curve_target *reach_by_accuracy(const struct orch_run_curve *c, char *name,
                                                   double accuracy)
{
    g_autofree double *error = g_new(double, c->accuracy_count + 1);
    struct orch_run_curve own = *c;
    struct orch_curve_result result = {0};
    own.k = c->accuracy_k;
    own.loss = error;
    own.count = c->accuracy_count;
    for (size_t i = 0; i < own.count; i++)
        error[i] = 1 - c->accuracy[i];
    const struct fitted none = {&own, NULL, NULL};
    if (!orch_run_curve_fit(&own, ORCH_CURVE_AUTO, NULL, &result, NULL)) {
        if (result.is_refused)
            return refuse(&none, name, NAN);
        g_free(name);
        return NULL;
    }
    const struct fitted fitted = {&own, result.stages, &result};
    struct orch_curve_target *target = reach(&fitted, name, 1 - accuracy, NAN);
    target->loss = NAN;
    orch_curve_result_release(&result);
    return target;
}

static struct orch_curve_target *accuracy_target(const struct fitted *f, double accuracy,
                                                 double bridge_loss, double seen_epoch)
{
    g_autofree char *name = g_strdup_printf("accuracy %g", accuracy);
    struct orch_curve_target *own = NULL;
    if (f->curve->is_accuracy) {
        own = reach(f, g_steal_pointer(&name), 1 - accuracy, seen_epoch);
        own->loss = NAN;
        return own;
    }
    if (isnan(bridge_loss) && f->curve->accuracy_count)
        own = reach_by_accuracy(f->curve, g_strdup(name), accuracy);
    return own ? own : reach(f, g_steal_pointer(&name), bridge_loss, seen_epoch);
}

/* Adds all targets of one curve. */
static void add_targets(GPtrArray *all, const struct orch_curve_ask *ask, const struct fitted *f,
                        double bridge_loss)
{
    if (!isnan(ask->loss))
        g_ptr_array_add(all, reach(f, g_strdup_printf("loss %g", ask->loss), ask->loss, NAN));
    if (!isnan(ask->accuracy))
        g_ptr_array_add(all, accuracy_target(f, ask->accuracy, bridge_loss,
                                             first_accurate(f->curve, ask->accuracy)));
    if (ask->epochs)
        g_ptr_array_add(all, after_epochs(f, ask->epochs));
}

static double first_below(const struct orch_run_curve *c, double loss)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->loss[i] <= loss)
            return c->k[i];
    return NAN;
}

/* Adds the targets of a curve without a fit: what it recorded, and no forecast. */
static void add_refused(GPtrArray *all, const struct orch_curve_ask *ask,
                        const struct orch_run_curve *c)
{
    const struct fitted f = {c, NULL, NULL};
    double accurate = first_accurate(c, ask->accuracy) * c->k_per_epoch;
    if (!isnan(ask->loss)) {
        struct orch_curve_target *target =
            refuse(&f, g_strdup_printf("loss %g", ask->loss), first_below(c, ask->loss));
        target->loss = ask->loss;
        g_ptr_array_add(all, target);
    }
    if (!isnan(ask->accuracy))
        g_ptr_array_add(all, refuse(&f, g_strdup_printf("accuracy %g", ask->accuracy),
                                    c->is_accuracy ? first_below(c, 1 - ask->accuracy) : accurate));
    if (ask->epochs)
        g_ptr_array_add(all, refuse(&f, g_strdup_printf("%d epochs", (int)ask->epochs), NAN));
}

GPtrArray *orch_curve_answer_targets(const struct orch_curve_answer *answer,
                                     const struct orch_curve_ask *ask)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_target);
    for (guint i = 0; i < answer->curves->len; i++) {
        const struct orch_curve_result *result =
            &g_array_index(answer->results, struct orch_curve_result, i);
        const struct fitted fitted = {answer->curves->pdata[i], result->stages, result};
        add_targets(all, ask, &fitted, answer->bridge_loss);
    }
    for (guint i = 0; i < answer->refused->len; i++)
        add_refused(all, ask, answer->refused->pdata[i]);
    if (answer->predicted) {
        const struct fitted fitted = {&answer->predicted->units, answer->predicted->stages, NULL};
        add_targets(all, ask, &fitted, answer->bridge_loss);
    }
    return all;
}
