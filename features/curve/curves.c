/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/curves.h"

#include "core/stats/group.h"
#include "core/stats/seeds.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Accuracies above this are in percent. */
#define PERCENT_FROM 1.5

static const char *const LOSSES[] = {"step_loss",  "train_loss", "loss",       "training_loss",
                                     "train/loss", "val_loss",   "valid_loss", "validation_loss",
                                     "eval_loss",  "test_loss",  "val/loss",   "eval/loss",
                                     NULL};
static const char *const ACCURACIES[] = {"val_accuracy",
                                         "val_acc",
                                         "validation_accuracy",
                                         "valid_accuracy",
                                         "valid_acc",
                                         "test_accuracy",
                                         "test_acc",
                                         "eval_accuracy",
                                         "eval_acc",
                                         "accuracy",
                                         "acc",
                                         "val_top1",
                                         "top1",
                                         "val/accuracy",
                                         "val/acc",
                                         "eval/accuracy",
                                         "test/accuracy",
                                         "train_accuracy",
                                         "train_acc",
                                         NULL};

static const char *const RATES[] = {"lr", "learning_rate", "train/learning_rate", "train/lr", NULL};

void orch_run_curve_free(struct orch_run_curve *curve)
{
    if (!curve)
        return;
    char *texts[] = {curve->key, curve->experiment, curve->who,    curve->where,
                     curve->net, curve->commit,     curve->metric, curve->accuracy_metric};
    double *numbers[] = {curve->k,          curve->loss,          curve->drops,  curve->accuracy,
                         curve->accuracy_k, curve->accuracy_loss, curve->rate_k, curve->rate};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        g_free(numbers[i]);
    g_free(curve);
}

/* ---- metadata of the run --------------------------------------------------------------------- */

static double number_param(const json_t *params, const char *name)
{
    const json_t *value = json_object_get(params, name);
    double number;
    if (json_is_number(value))
        return json_number_value(value);
    return json_is_string(value) && orch_real_parse(json_string_value(value), &number)
               ? number
               : (double)NAN;
}

/* Reads the first of `names` (only `wanted`, when it is given) that the run has. NULL without
 * error when there is none. */
static struct orch_series *first_series(struct orch_store *store, const struct orch_run *run,
                                        const char *wanted, const char *const *names,
                                        GError **error)
{
    const char *const one[] = {wanted, NULL};
    GError *problem = NULL;
    for (names = wanted ? one : names; *names && !problem; names++) {
        struct orch_series *series = orch_store_series(store, run->id, *names, &problem);
        if (series && series->count)
            return series;
        orch_series_free(series);
    }
    if (problem)
        g_propagate_error(error, problem);
    return NULL;
}

/* Returns whether the series counts epochs. Its plugin declares that; when the plugin is not
 * installed, a series counts epochs if its name lacks "step" and it ends no later than the last
 * epoch. */
static bool is_by_epoch(struct orch_plugins *plugins, const struct orch_run *run,
                        const struct orch_series *series, double epochs)
{
    const struct orch_manifest *manifest = orch_plugins_find(plugins, run->plugin, NULL, NULL);
    const struct orch_metric_spec *metric =
        manifest ? orch_manifest_metric(manifest, series->name) : NULL;
    if (metric && metric->step_unit)
        return strcmp(metric->step_unit, "epoch") == 0;
    return !strstr(series->name, "step") && (double)series->step[series->count - 1] <= epochs;
}

/* 100 for accuracies in percent, else 1. */
static double accuracy_unit(const struct orch_series *series)
{
    double most = 0;
    for (size_t i = 0; i < series->count; i++)
        most = isfinite(series->value[i]) ? fmax(most, series->value[i]) : most;
    return most > PERCENT_FROM ? 100 : 1;
}

static void read_points(struct orch_run_curve *c, const struct orch_series *series)
{
    double unit = c->is_accuracy ? accuracy_unit(series) : 1;
    c->metric = g_strdup(series->name);
    c->k = g_new(double, series->count);
    c->loss = g_new(double, series->count);
    for (size_t i = 0; i < series->count; i++) {
        double value = series->value[i] / unit;
        if (!isfinite(value) || series->step[i] < 0) {
            c->dropped++;
            continue;
        }
        c->k[c->count] = (double)series->step[i];
        c->loss[c->count++] = c->is_accuracy ? 1 - value : value;
    }
}

/* Computes the steps per epoch from images and batch, else from the last step. */
static void read_epochs(struct orch_run_curve *c, const json_t *params, double epochs)
{
    c->batch = number_param(params, "batch");
    c->steps_per_epoch = ceil(c->images / c->batch);
    if (c->is_by_epoch) {
        c->k_per_epoch = 1;
        return;
    }
    if (isnan(c->steps_per_epoch) && epochs > 0 && c->count)
        c->steps_per_epoch = c->k[c->count - 1] / epochs;
    c->k_per_epoch = c->steps_per_epoch;
}

/* Returns the mean of a per-epoch series, without the first epoch when there are several, and sets
 * which epochs it is of. NaN when there is no such series; then these stay as they are. */
static double mean_of_epochs(struct orch_run_curve *c, struct orch_store *store,
                             const struct orch_run *run, const char *name)
{
    struct orch_series *series = orch_store_series(store, run->id, name, NULL);
    double sum = 0;
    size_t first = series && series->count > 1, count = series ? series->count - first : 0;
    for (size_t i = 0; i < count; i++)
        sum += series->value[first + i];
    if (count) {
        c->timed_first = (size_t)series->step[first];
        c->timed_epochs = count;
    }
    orch_series_free(series);
    return count ? sum / (double)count : (double)NAN;
}

/* Computes the seconds per unit of k from epoch_time, or without it from the points' time stamps
 * after the first tenth. */
static void read_speed(struct orch_run_curve *c, struct orch_store *store,
                       const struct orch_run *run, const struct orch_series *loss)
{
    double epoch_s = mean_of_epochs(c, store, run, "epoch_time");
    c->s_per_k = NAN;
    if (isfinite(epoch_s) && isfinite(c->k_per_epoch)) {
        c->s_per_k = epoch_s / c->k_per_epoch;
        c->s_from = "epoch_time";
    } else if (loss->count > 1) {
        size_t first = loss->count / 10, last = loss->count - 1;
        double span = (loss->t_ms[last] - loss->t_ms[first]) / 1e3;
        double steps = (double)(loss->step[last] - loss->step[first]);
        if (span > 0 && steps > 0) {
            c->s_per_k = span / steps;
            c->s_from = "time stamps";
        }
    }
    c->images_per_s = mean_of_epochs(c, store, run, "images_per_s");
    if (isnan(c->images_per_s))
        c->images_per_s = c->images / epoch_s;
    if (!isfinite(c->s_per_k) || c->s_per_k <= 0) {
        c->s_per_k = NAN;
        c->s_from = NULL;
    }
}

/* Parses a milestone in epochs: "60", or "30%" of all epochs. NaN for any other text. */
static double milestone(const json_t *value, double epochs)
{
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN, share;
    if (!json_is_string(value))
        return number;
    if (orch_percent_parse(json_string_value(value), &number, &share))
        return share * epochs;
    return orch_real_parse(json_string_value(value), &number) ? number : (double)NAN;
}

/* Finds the first k of each stage after the first. A milestone after m epochs takes effect at the
 * next point, because a point of an epoch is the epoch's mean, and a point of a step is measured
 * before that step's update. */
static void read_drops(struct orch_run_curve *c, const json_t *params, double epochs)
{
    const json_t *list = json_object_get(params, "milestones");
    const char *schedule = orch_json_text(params, "schedule", "steps");
    double warmup = number_param(params, "warmup_epochs");
    c->warmup_k = warmup > 0 && isfinite(c->k_per_epoch) ? warmup * c->k_per_epoch : 0;
    c->drops = g_new0(double, json_array_size(list) + 1);
    if (strcmp(schedule, "steps") != 0 || !isfinite(c->k_per_epoch) || !c->count)
        return;
    for (size_t i = 0; i < json_array_size(list); i++) {
        double drop = milestone(json_array_get(list, i), epochs) * c->k_per_epoch + 1;
        double before = c->drop_count ? c->drops[c->drop_count - 1] : 0;
        if (drop > before && drop <= c->k[c->count - 1])
            c->drops[c->drop_count++] = drop;
    }
}

/* ---- accuracy and loss at one time ----------------------------------------------------------- */

/* Returns the mean loss of the points within `half` of k, or the nearest point's loss. */
static double loss_around(const struct orch_run_curve *c, double k, double half)
{
    double sum = 0, nearest = HUGE_VAL, at = NAN;
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        double off = fabs(c->k[i] - k);
        if (off <= half) {
            sum += c->loss[i];
            count++;
        }
        if (off < nearest) {
            nearest = off;
            at = c->loss[i];
        }
    }
    return count ? sum / (double)count : at;
}

static void read_accuracy(struct orch_run_curve *c, const struct orch_series *series,
                          bool accuracy_is_by_epoch)
{
    double factor = accuracy_is_by_epoch ? c->k_per_epoch : 1;
    if (!isfinite(factor) || (c->is_by_epoch && !accuracy_is_by_epoch))
        return;
    double half = accuracy_is_by_epoch && !c->is_by_epoch ? factor / 2 : 0;
    double unit = accuracy_unit(series);
    c->accuracy_metric = g_strdup(series->name);
    c->accuracy = g_new(double, series->count);
    c->accuracy_k = g_new(double, series->count);
    c->accuracy_loss = g_new(double, series->count);
    for (size_t i = 0; i < series->count; i++) {
        double k = (double)series->step[i] * factor, loss = loss_around(c, k, half);
        if (!isfinite(series->value[i]) || !isfinite(loss))
            continue;
        c->accuracy[c->accuracy_count] = series->value[i] / unit;
        c->accuracy_k[c->accuracy_count] = k;
        c->accuracy_loss[c->accuracy_count++] = loss;
    }
}

/* Reads the learning rate. A rate of an epoch holds from its beginning, where the loss counts
 * steps. */
static void read_rates(struct orch_run_curve *c, const struct orch_series *series,
                       bool rate_is_by_epoch)
{
    bool to_steps = rate_is_by_epoch && !c->is_by_epoch;
    if ((c->is_by_epoch && !rate_is_by_epoch) || (to_steps && !isfinite(c->k_per_epoch)))
        return;
    c->rate_k = g_new(double, series->count);
    c->rate = g_new(double, series->count);
    for (size_t i = 0; i < series->count; i++) {
        double step = (double)series->step[i];
        if (!isfinite(series->value[i]) || series->value[i] < 0 || step < 0)
            continue;
        c->rate_k[c->rates] = to_steps ? fmax(step - 1, 0) * c->k_per_epoch : step;
        c->rate[c->rates++] = series->value[i];
    }
}

bool orch_run_curve_is_copy(const struct orch_run_curve *a, const struct orch_run_curve *b)
{
    const size_t size = a->count * sizeof(double);
    return a->count && a->count == b->count && a->is_by_epoch == b->is_by_epoch &&
           memcmp(a->k, b->k, size) == 0 && memcmp(a->loss, b->loss, size) == 0;
}

/* Returns whether an earlier curve has the same points. */
static bool is_copy(const GPtrArray *curves, guint i)
{
    for (guint j = 0; j < i; j++)
        if (orch_run_curve_is_copy(curves->pdata[j], curves->pdata[i]))
            return true;
    return false;
}

struct orch_isotonic *orch_run_curves_bridge(const GPtrArray *curves, GError **error)
{
    g_autoptr(GArray) loss = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) accuracy = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < curves->len; i++) {
        const struct orch_run_curve *c = curves->pdata[i];
        if (!c->accuracy_count || c->is_accuracy || is_copy(curves, i))
            continue;
        g_array_append_vals(loss, c->accuracy_loss, (guint)c->accuracy_count);
        g_array_append_vals(accuracy, c->accuracy, (guint)c->accuracy_count);
    }
    if (!loss->len) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "name the metric with --accuracy-metric",
                       "none of these runs recorded both an accuracy and a loss");
        return NULL;
    }
    return orch_isotonic_fit((const double *)(void *)loss->data,
                             (const double *)(void *)accuracy->data, loss->len, false, error);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* True for the usual names of accuracies, and for a metric of which more is better that lies
 * between 0 and 1, or 0 and 100. */
static bool is_accuracy(struct orch_plugins *plugins, const struct orch_run *run,
                        const struct orch_curve_request *request, const struct orch_series *series)
{
    const struct orch_manifest *manifest = orch_plugins_find(plugins, run->plugin, NULL, NULL);
    const struct orch_metric_spec *metric =
        manifest ? orch_manifest_metric(manifest, series->name) : NULL;
    if (g_strv_contains(ACCURACIES, series->name) ||
        g_strcmp0(request->accuracy, series->name) == 0)
        return true;
    for (size_t i = 0; i < series->count; i++)
        if (series->value[i] < 0 || series->value[i] > 100)
            return false;
    return metric && orch_metric_spec_better(metric) == ORCH_BETTER_MAX;
}

static struct orch_run_curve *complain(const struct orch_run *run, const char *wanted,
                                       GError **error)
{
    if (error && *error)
        return NULL;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch show RUN' lists the run's metrics",
                   "run %s has no metric '%s'%s", orch_run_short_key(run->key),
                   wanted ? wanted : "step_loss', 'val_loss', 'val_accuracy",
                   wanted ? "" : " or the like");
    return NULL;
}

struct orch_run_curve *orch_run_curve_read(struct orch_plugins *plugins, struct orch_store *store,
                                           const struct orch_run *run,
                                           const struct orch_curve_request *request, GError **error)
{
    GError *problem = NULL;
    struct orch_series *loss = first_series(store, run, request->loss, LOSSES, &problem);
    if (!loss && !problem && !request->loss)
        loss = first_series(store, run, request->accuracy, ACCURACIES, &problem);
    g_autoptr(json_t) params = loss ? orch_store_params(store, run->id, &problem) : NULL;
    double images = NAN;
    if (params && !orch_run_number(store, run, "train_images", ORCH_AGGREGATE_LAST, &images, NULL,
                                   NULL, &problem))
        g_clear_pointer(&params, json_decref);
    if (!params) {
        orch_series_free(loss);
        if (problem)
            g_propagate_error(error, problem);
        return complain(run, request->loss, error);
    }
    struct orch_run_curve *c = g_new0(struct orch_run_curve, 1);
    double epochs = number_param(params, "epochs");
    c->key = g_strdup(run->key);
    c->experiment = g_strdup(run->experiment);
    c->who = g_strdup(run->who);
    c->where = g_strdup(run->device_key);
    c->commit = g_strdup(run->source_commit);
    c->net = g_strdup(orch_json_text(params, "net", NULL));
    c->seed = orch_run_seed(run, params);
    c->is_disturbed = orch_run_is_disturbed(store, run);
    c->is_by_epoch = is_by_epoch(plugins, run, loss, epochs);
    c->is_accuracy = is_accuracy(plugins, run, request, loss);
    read_points(c, loss);
    c->images = images;
    read_epochs(c, params, epochs);
    read_speed(c, store, run, loss);
    read_drops(c, params, epochs);
    struct orch_series *accuracy = first_series(store, run, request->accuracy, ACCURACIES, NULL);
    if (accuracy)
        read_accuracy(c, accuracy, is_by_epoch(plugins, run, accuracy, epochs));
    struct orch_series *rate = first_series(store, run, NULL, RATES, NULL);
    if (rate)
        read_rates(c, rate, is_by_epoch(plugins, run, rate, epochs));
    orch_series_free(rate);
    orch_series_free(accuracy);
    orch_series_free(loss);
    return c;
}

/* False for losses that do not fall. Outliers are judged as the fit has them. */
static bool falls(const struct orch_run_curve *c, const struct orch_stages *stages,
                  const struct orch_curve_options *o)
{
    g_autofree double *loss = g_memdup2(c->loss, c->count * sizeof *loss);
    if (o->neighbours)
        orch_curve_smooth(c->loss, c->count, o->neighbours, loss);
    return orch_stages_fall(stages, o->weights, c->k, loss, c->count);
}

bool orch_run_curve_fit(const struct orch_run_curve *curve, enum orch_curve_choice choice,
                        const struct orch_curve_options *options, struct orch_curve_result *out,
                        GError **error)
{
    struct orch_curve_options o = options ? *options : (struct orch_curve_options){0};
    o.form = choice == ORCH_CURVE_ALWAYS_POWER ? ORCH_CURVE_POWER : ORCH_CURVE_OPTIMUS;
    size_t least = (size_t)orch_curve_params(o.form);
    if (curve->count < least) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "run %s has %zu points of '%s', but a curve needs at least %zu",
                       orch_run_short_key(curve->key), curve->count, curve->metric, least);
        return false;
    }
    *out = (struct orch_curve_result){
        .errors = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast))};
    bool is_plain = !curve->drop_count;
    if (is_plain && choice == ORCH_CURVE_AUTO && o.weights == ORCH_CURVE_EQUAL)
        is_plain = orch_curve_choose(curve->k, curve->loss, curve->count, &o, &o, out->errors);
    else if (is_plain)
        orch_curve_try(curve->k, curve->loss, curve->count, &o, out->errors);
    out->stages = choice == ORCH_CURVE_AUTO && !out->errors->len
                      ? orch_stages_choose(curve->k, curve->loss, curve->count, curve->drops,
                                           curve->drop_count, &o, error)
                      : orch_stages_fit(curve->k, curve->loss, curve->count, curve->drops,
                                        curve->drop_count, &o, error);
    if (!out->stages) {
        orch_curve_result_release(out);
        g_prefix_error(error, "run %s, %s: ", orch_run_short_key(curve->key), curve->metric);
        return false;
    }
    out->good = orch_stages_goodness(out->stages, curve->k, curve->loss, curve->count, 0);
    if (!falls(curve, out->stages, &o)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name another metric with --metric",
                       "run %s: no curve fits '%s', because it does not fall as a loss does",
                       orch_run_short_key(curve->key), curve->metric);
        orch_curve_result_release(out);
        out->is_refused = true;
        return false;
    }
    out->limits = g_new(struct orch_interval, out->stages->count);
    for (size_t s = 0; s < out->stages->count; s++) {
        double end = s + 1 < out->stages->count ? out->stages->starts[s + 1] : HUGE_VAL;
        out->limits[s] = orch_curve_limit_interval(&out->stages->curves[s], curve->k, curve->loss,
                                                   curve->count, end);
    }
    return true;
}

double orch_run_curve_half(const struct orch_run_curve *curve,
                           const struct orch_curve_result *result, double k)
{
    double last_k = curve->k[curve->count - 1];
    bool is_short = !curve->drop_count && curve->count < ORCH_CURVE_CHOICE_POINTS;
    return is_short ? orch_curve_short_half(curve->count, last_k, k)
                    : orch_curve_forecast_half(result->errors, last_k, k);
}

void orch_run_curve_errors(const struct orch_run_curve *curve,
                           const struct orch_curve_result *result, size_t stage, double *out_errors)
{
    const struct orch_stages *stages = result->stages;
    double end = stage + 1 < stages->count ? stages->starts[stage + 1] : HUGE_VAL;
    orch_curve_errors(&stages->curves[stage], curve->k, curve->loss, curve->count, end, out_errors);
}

void orch_curve_result_release(struct orch_curve_result *result)
{
    g_clear_pointer(&result->stages, orch_stages_free);
    g_clear_pointer(&result->limits, g_free);
    g_clear_pointer(&result->errors, g_array_unref);
}

const char *orch_place_short(const char *where, const GPtrArray *others)
{
    const char *comma = where ? strrchr(where, ',') : NULL;
    if (!comma)
        return where ? where : "-";
    size_t head = (size_t)(comma - where) + 1;
    for (guint i = 0; i < others->len; i++)
        if (strncmp(where, others->pdata[i], head) != 0)
            return where;
    return comma + 1 + strspn(comma + 1, " ");
}
