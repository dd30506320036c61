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
#define SCATTER_LEAST 1e-12 /* of the scatter that may be left: numbers are not exact */
#define DEGREES_LEAST 1e-9

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
    if (!(step > 0))
        total.scatter = 0; /* the mean of equal values may be rounded */
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

/* What the values scatter without the effect that is judged. */
struct law {
    double scatter, degrees;
    bool is_both_ways; /* the effect may be negative */
};

struct effect {
    double size, variance;
};

/* Returns the logarithm of the Bayes factor of an effect, its size and the noise integrated out.
 * `sum`: of the values times the effect's regressor, `between`: of the regressor's squares. */
static double effect_likelihood(const struct law *law, double between, double sum,
                                struct effect *out)
{
    size_t scales = G_N_ELEMENTS(STEP_SCALES);
    double logs[G_N_ELEMENTS(STEP_SCALES)], sizes[G_N_ELEMENTS(STEP_SCALES)];
    double rests[G_N_ELEMENTS(STEP_SCALES)];
    double most = -HUGE_VAL, prior = 0, weights = 0, size = 0, variance = 0;
    for (size_t i = 0; i < scales; i++) {
        double precision = 1 / (STEP_SCALES[i] * STEP_SCALES[i]);
        sizes[i] = sum / (between + precision);
        rests[i] = fmax(law->scatter - sum * sizes[i], SCATTER_LEAST * law->scatter);
        double error = sqrt(rests[i] / (law->degrees * (between + precision)));
        double positive = law->is_both_ways ? 0.5 : gsl_cdf_tdist_P(sizes[i] / error, law->degrees);
        logs[i] = -0.5 * log1p(between / precision) -
                  law->degrees / 2 * log(rests[i] / law->scatter) +
                  log(fmax(2 * positive, 1e-300)) - 0.5 * log(STEP_SCALES[i]);
        most = fmax(most, logs[i]);
        prior += 1 / sqrt(STEP_SCALES[i]);
    }
    for (size_t i = 0; i < scales; i++) {
        double weight = exp(logs[i] - most);
        weights += weight;
        size += weight * sizes[i];
        variance += weight * rests[i] / law->degrees;
    }
    *out = (struct effect){size / weights, variance / weights};
    return most + log(weights / prior);
}

/* ---- trends -----------------------------------------------------------------------------------
 */

/* A history may follow a straight line, or a parabola, beside the step or instead of it. */
enum { TRENDS = 2 };
#define PRIOR_TREND 0.02 /* of each (bench/change_points.py --simulated) */

struct trend {
    double between, slope; /* sum of squares of the regressor, and what it is multiplied with */
    double likelihood;     /* log of prior times Bayes factor */
    struct law left;       /* scatter about it */
};

struct trends {
    size_t count;
    double none;               /* log of the prior without a trend */
    double centre, width;      /* of the places */
    double level, tilt, scale; /* of the parabola, so that it is orthogonal to the line */
    struct trend of[TRENDS];
};

static double regressor(const struct trends *trends, size_t trend, size_t place)
{
    double time = ((double)place - trends->centre) / trends->width;
    return trend == 0 ? time : trends->scale * (time * time - trends->level - trends->tilt * time);
}

static void place_regressors(const struct orch_change_data *data, const struct total *total,
                             struct trends *out)
{
    double n = (double)total->count, square = 0, cube = 0, fourth = 0;
    out->width = (double)data->count;
    for (size_t i = 0; i < data->count; i++)
        out->centre += (double)i * (double)data->places[i].count / n;
    for (size_t i = 0; i < data->count; i++) {
        double time = regressor(out, 0, i), share = (double)data->places[i].count / n;
        square += share * pow(time, 2);
        cube += share * pow(time, 3);
        fourth += share * pow(time, 4);
    }
    out->level = square;
    out->tilt = square > 0 ? cube / square : 0;
    /* the same sum of squares as the line's, so that the scales of the step mean the same */
    double own = fourth - square * square - out->tilt * cube;
    out->scale = own > 1e-9 ? sqrt(square / own) : 0;
}

static struct trends trends_of(const struct orch_change_data *data, const struct total *total,
                               const struct law *law)
{
    struct trends trends = {.width = 1};
    if (data->history_weight <= 0)
        return trends;
    place_regressors(data, total, &trends);
    const struct law *left = law;
    double likelihood = 0, prior = 1;
    for (size_t k = 0; k < TRENDS; k++) {
        struct trend *trend = &trends.of[k];
        struct effect effect;
        double sum = 0;
        for (size_t i = 0; i < data->count; i++) {
            double x = regressor(&trends, k, i);
            trend->between += data->history_weight * (double)data->places[i].count * x * x;
            sum += data->history_weight * x * sum_about(&data->places[i], total->mean);
        }
        if (!(trend->between > 0))
            break;
        likelihood += effect_likelihood(left, trend->between, sum, &effect);
        prior -= PRIOR_TREND;
        trend->slope = sum / trend->between;
        trend->likelihood = log(PRIOR_TREND) + likelihood;
        trend->left =
            (struct law){fmax(left->scatter - sum * trend->slope, SCATTER_LEAST * left->scatter),
                         fmax(left->degrees - 1, DEGREES_LEAST), true};
        left = &trend->left;
        trends.count++;
    }
    trends.none = log(prior);
    return trends;
}

static double log_sum(double a, double b)
{
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* ---- all of them ------------------------------------------------------------------------------
 */

/* The values from a place on. */
struct tail {
    double count, sum, regressors[TRENDS]; /* values about the mean of all */
};

static void add_to_tail(const struct orch_change_data *data, const struct total *total,
                        const struct trends *trends, size_t place, struct tail *tail)
{
    double weight = data->history_weight > 0 ? data->history_weight : 1;
    double count = weight * (double)data->places[place].count;
    tail->count += count;
    tail->sum += weight * sum_about(&data->places[place], total->mean);
    for (size_t k = 0; k < trends->count; k++)
        tail->regressors[k] += count * regressor(trends, k, place);
}

/* Returns the log Bayes factor of a step before the tail and fills its expected means. `all`: the
 * count of all values. */
static double case_likelihood(const struct total *total, const struct law *law,
                              const struct trends *trends, const struct tail *tail, double all,
                              struct orch_change_case *out)
{
    double between = tail->count * (all - tail->count) / all, sum = tail->sum;
    struct effect step, beside;
    double likelihood = trends->none + effect_likelihood(law, between, sum, &step);
    for (size_t k = 0; k < trends->count; k++) {
        const struct trend *trend = &trends->of[k];
        sum -= tail->regressors[k] * trend->slope;
        between = fmax(0, between - pow(tail->regressors[k], 2) / trend->between);
        likelihood = log_sum(
            likelihood, trend->likelihood + effect_likelihood(&trend->left, between, sum, &beside));
    }
    if (!law->is_both_ways)
        step.size = fmax(0, step.size);
    out->before = total->mean - step.size * tail->count / all;
    out->after = out->before + step.size;
    out->noise = sqrt(step.variance);
    return likelihood;
}

static void set_prior(struct orch_change_posterior *out, const struct total *total)
{
    out->none = PRIOR_NONE;
    for (size_t i = 0; i < out->count; i++)
        out->cases[i] = (struct orch_change_case){
            i ? (1 - PRIOR_NONE) / (double)(out->count - 1) : 0, total->mean, total->mean, 0};
}

/* Fills `cases` but for the probabilities. Returns the log Bayes factor of each, which the caller
 * frees. */
static double *fill_cases(const struct orch_change_data *data, const struct total *total,
                          const struct law *law, const struct trends *trends,
                          struct orch_change_posterior *out)
{
    double *logs = g_new(double, data->count);
    struct tail tail = {0}, whole = {0};
    for (size_t i = 0; i < data->count; i++)
        add_to_tail(data, total, trends, i, &whole);
    size_t after = 0;
    for (size_t i = data->count - 1; i > 0; i--) {
        size_t count = data->places[i].count;
        bool is_same = i + 1 < data->count && !count;
        add_to_tail(data, total, trends, i, &tail);
        after += count;
        if (is_same) {
            out->cases[i] = out->cases[i + 1];
            logs[i] = logs[i + 1];
        } else if (after && after < total->count) {
            logs[i] = case_likelihood(total, law, trends, &tail, whole.count, &out->cases[i]);
        } else {
            logs[i] = 0; /* nothing was measured on one side */
            out->cases[i] = (struct orch_change_case){0, total->mean, total->mean, out->noise};
        }
    }
    return logs;
}

void orch_change_posterior_make(const struct orch_change_data *data,
                                struct orch_change_posterior *out)
{
    struct total total = total_of(data);
    double n = (double)total.count;
    double weight = data->history_weight > 0 ? data->history_weight : 1;
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
    struct law law = {weight * (total.scatter + total.rounding),
                      fmax(weight * n - 1, DEGREES_LEAST), data->history_weight > 0};
    struct trends trends = trends_of(data, &total, &law);
    g_autofree double *logs = fill_cases(data, &total, &law, &trends, out);
    double none = trends.none, prior = log((1 - PRIOR_NONE) / (double)(data->count - 1));
    for (size_t k = 0; k < trends.count; k++)
        none = log_sum(none, trends.of[k].likelihood);
    double most = none += log(PRIOR_NONE);
    for (size_t i = 1; i < data->count; i++)
        most = fmax(most, logs[i] += prior);
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
