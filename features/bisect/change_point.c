/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All partitions of the measured values by a step have the same total scatter, so a case needs only
 * the number and the sum of the values from its place on. */
#include "features/bisect/change_point.h"

#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define PRIOR_NONE 0.5

/* Standard deviations of the step in units of the noise: from steps that are barely worth finding
 * to metrics almost without noise. A scale counts by the inverse of its root: with equal weights a
 * few lucky values pass for a large step too often, with the inverse itself a large step needs more
 * runs (bench/bisect_paths.c). */
static const double STEP_SCALES[] = {0.5, 1, 2, 4, 8, 16, 64, 256};

/* ---- the values -------------------------------------------------------------------------------
 */

struct total {
    size_t count;
    double mean, scatter; /* sum of squares about the mean */
    double rounding;      /* scatter that values of this resolution cannot show */
};

/* The smallest difference between two values; 0 when all are equal. */
static double resolution_of(const double *values, size_t count)
{
    g_autofree double *sorted = g_memdup2(values, count * sizeof *values);
    double least = 0;
    if (count)
        qsort(sorted, count, sizeof *sorted, orch_compare_reals);
    for (size_t i = 1; i < count; i++) {
        double gap = sorted[i] - sorted[i - 1];
        if (gap > 0 && (least <= 0 || gap < least))
            least = gap;
    }
    return least;
}

static struct total total_of(const struct orch_change_data *data)
{
    struct total total = {0};
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
    for (size_t i = 0; i < data->count; i++)
        if (data->places[i].count)
            g_array_append_vals(all, data->places[i].values, (guint)data->places[i].count);
    const double *values = (const double *)(void *)all->data;
    total.count = all->len;
    for (guint i = 0; i < all->len; i++)
        total.mean += values[i] / all->len;
    for (guint i = 0; i < all->len; i++)
        total.scatter += pow(values[i] - total.mean, 2);
    /* Equal values of a coarse metric (91 of 100 images) do not prove that there is no noise: what
     * is rounded to steps of h has a variance of h^2 / 12 at least (Sheppard). */
    double step = resolution_of(values, all->len);
    total.rounding = (double)total.count * step * step / 12;
    return total;
}

static double sum_about(const struct orch_change_place *place, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < place->count; i++)
        sum += place->values[i] - mean;
    return sum;
}

/* ---- one case ---------------------------------------------------------------------------------
 */

/* Returns the logarithm of the likelihood with mean, noise and step integrated out, up to a
 * constant, and fills the expected means. `sum`: of the `after` values behind the step, about the
 * mean of all. */
static double case_likelihood(const struct total *total, size_t after, double sum,
                              struct orch_change_case *out)
{
    size_t scales = G_N_ELEMENTS(STEP_SCALES);
    double n = (double)total->count, degrees = n - 1;
    double between = (double)after * (n - (double)after) / n;
    double logs[G_N_ELEMENTS(STEP_SCALES)], steps[G_N_ELEMENTS(STEP_SCALES)];
    double most = -HUGE_VAL, prior = 0, weights = 0, step = 0, variance = 0;
    double rests[G_N_ELEMENTS(STEP_SCALES)];
    for (size_t i = 0; i < scales; i++) {
        double precision = 1 / (STEP_SCALES[i] * STEP_SCALES[i]);
        steps[i] = sum / (between + precision);
        rests[i] = total->scatter + total->rounding - sum * steps[i];
        double error = sqrt(rests[i] / (degrees * (between + precision)));
        double positive = gsl_cdf_tdist_P(steps[i] / error, degrees);
        logs[i] = -0.5 * log1p(between / precision) - degrees / 2 * log(rests[i]) +
                  log(fmax(2 * positive, 1e-300)) - 0.5 * log(STEP_SCALES[i]);
        most = fmax(most, logs[i]);
        prior += 1 / sqrt(STEP_SCALES[i]);
    }
    for (size_t i = 0; i < scales; i++) {
        double weight = exp(logs[i] - most);
        weights += weight;
        step += weight * steps[i];
        variance += weight * rests[i] / degrees;
    }
    step = fmax(0, step / weights);
    out->before = total->mean - step * (double)after / n;
    out->after = out->before + step;
    out->noise = sqrt(variance / weights);
    return most + log(weights / prior);
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static void set_prior(struct orch_change_posterior *out, const struct total *total)
{
    out->none = PRIOR_NONE;
    for (size_t i = 0; i < out->count; i++)
        out->cases[i] = (struct orch_change_case){
            i ? (1 - PRIOR_NONE) / (double)(out->count - 1) : 0, total->mean, total->mean, 0};
}

void orch_change_posterior_make(const struct orch_change_data *data,
                                struct orch_change_posterior *out)
{
    struct total total = total_of(data);
    double n = (double)total.count, most;
    *out = (struct orch_change_posterior){.cases = g_new0(struct orch_change_case, data->count),
                                          .count = data->count,
                                          .measured = total.count,
                                          .level = total.mean};
    set_prior(out, &total);
    if (total.count < 2 || !(total.scatter > 0)) {
        /* equal values, however many, are what no step looks like */
        if (total.count > 2)
            out->none = 1 - 1 / (n * n);
        return;
    }
    out->noise = sqrt((total.scatter + total.rounding) / (n - 1));
    g_autofree double *logs = g_new(double, data->count);
    double none = -(n - 1) / 2 * log(total.scatter + total.rounding) + log(PRIOR_NONE);
    most = none;
    double sum = 0, prior = log((1 - PRIOR_NONE) / (double)(data->count - 1));
    size_t after = 0;
    for (size_t i = data->count - 1; i > 0; i--) {
        const struct orch_change_place *place = &data->places[i];
        bool is_same = i + 1 < data->count && !place->count;
        sum += sum_about(place, total.mean);
        after += place->count;
        if (is_same) {
            out->cases[i] = out->cases[i + 1];
            logs[i] = logs[i + 1];
        } else if (after && after < total.count) {
            logs[i] = case_likelihood(&total, after, sum, &out->cases[i]) + prior;
        } else {
            logs[i] = none - log(PRIOR_NONE) + prior; /* nothing was measured on one side */
            out->cases[i] = (struct orch_change_case){0, total.mean, total.mean, out->noise};
        }
        most = fmax(most, logs[i]);
    }
    double all = exp(none - most);
    for (size_t i = 1; i < data->count; i++)
        all += exp(logs[i] - most);
    out->none = exp(none - most) / all;
    for (size_t i = 1; i < data->count; i++)
        out->cases[i].probability = exp(logs[i] - most) / all;
}

void orch_change_posterior_clear(struct orch_change_posterior *posterior)
{
    g_clear_pointer(&posterior->cases, g_free);
}

/* Adds the scatter of the places from `first` to `last` - 1: of the values about their places'
 * means, and of these means about the mean of all. */
static void add_scatter(const struct orch_change_data *data, size_t first, size_t last,
                        double *inout_within, double *inout_between, double *inout_within_degrees,
                        double *inout_between_degrees)
{
    double sum = 0, count = 0;
    for (size_t i = first; i < last; i++) {
        sum += sum_about(&data->places[i], 0);
        count += (double)data->places[i].count;
    }
    for (size_t i = first; i < last; i++) {
        const struct orch_change_place *place = &data->places[i];
        double n = (double)place->count, mean = place->count ? sum_about(place, 0) / n : 0;
        for (size_t k = 0; k < place->count; k++)
            *inout_within += pow(place->values[k] - mean, 2);
        *inout_between += n * pow(mean - sum / fmax(count, 1), 2);
        *inout_within_degrees += fmax(0, n - 1);
        *inout_between_degrees += place->count ? 1 : 0;
    }
    *inout_between_degrees -= count > 0 ? 1 : 0;
}

double orch_change_misfit(const struct orch_change_data *data,
                          const struct orch_change_range *range)
{
    double within = 0, between = 0, repeats = 0, places = 0;
    add_scatter(data, 0, range->first, &within, &between, &repeats, &places);
    add_scatter(data, range->last, data->count, &within, &between, &repeats, &places);
    if (repeats < 1 || places < 1)
        return (double)NAN;
    within += total_of(data).rounding; /* equal repeats of a coarse metric */
    if (!(within > 0))
        return between > 0 ? 0 : 1;
    return gsl_cdf_fdist_Q(between / places / (within / repeats), places, repeats);
}

struct orch_change_range orch_change_most_probable(const struct orch_change_data *data,
                                                   const struct orch_change_posterior *posterior)
{
    struct orch_change_range best = {0}, at = {0};
    for (size_t i = 1; i < data->count; i++) {
        bool continues = i > 1 && data->places[i - 1].is_closed;
        at.first = continues ? at.first : i;
        at.last = i;
        at.probability = (continues ? at.probability : 0) + posterior->cases[i].probability;
        if (!data->places[i].is_closed && at.probability > best.probability)
            best = at;
    }
    return best;
}

struct orch_change_range orch_change_credible(const struct orch_change_posterior *posterior,
                                              double probability)
{
    double wanted = probability * (1 - posterior->none) - 1e-12, sum = 0;
    struct orch_change_range best = {1, posterior->count - 1, 1 - posterior->none};
    for (size_t first = 1, last = 1; last < posterior->count; last++) {
        sum += posterior->cases[last].probability;
        while (first < last && sum - posterior->cases[first].probability >= wanted)
            sum -= posterior->cases[first++].probability;
        if (sum >= wanted && last - first < best.last - best.first)
            best = (struct orch_change_range){first, last, sum};
    }
    return best;
}
