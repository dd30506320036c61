/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of a history. The place at which a step is most probable divides it in two, in which
 * further ones are looked for. Then each place is judged by the values between its neighbours, and
 * the least probable one is dropped until all are sure.
 *
 * Values that depend on those before them look like steps. They count for less by the factor that
 * an AR(1) process has, whose correlation is estimated from differences by medians, so that steps
 * and single values that are far off do not raise it (Chakar, Lebarbier, Levy-Leduc, Robin 2017,
 * "A robust approach for estimating change-points in the mean of an AR(1) process"). */
#include "features/bisect/change_point.h"
#include "lib/base/reals.h"

#include <math.h>

enum { STEPS_MAX = 20 };
#define PROBABLE 0.5 /* of a step in the first division */
/* A history counts as so many values at least: a large change is one although values drift
 * (bench/change_points.py). */
#define COUNT_LEAST 30

/* ---- dependence -------------------------------------------------------------------------------
 */

static double sum_of(const struct orch_change_place *place)
{
    double sum = 0;
    for (size_t i = 0; i < place->count; i++)
        sum += place->values[i];
    return sum;
}

/* Returns the mean of the values from `first` to `end` - 1. */
static double mean_of(const struct orch_change_data *data, size_t first, size_t end)
{
    double sum = 0, count = 0;
    for (size_t i = first; i < end; i++) {
        sum += sum_of(&data->places[i]);
        count += (double)data->places[i].count;
    }
    return sum / count;
}

/* Returns the median of how much values that are `lag` places apart differ. */
static double median_difference(const struct orch_change_data *data, size_t lag)
{
    size_t count = data->count - lag;
    g_autofree double *differences = g_new(double, count);
    for (size_t i = 0; i < count; i++)
        differences[i] = fabs(mean_of(data, i + lag, i + lag + 1) - mean_of(data, i, i + 1));
    qsort(differences, count, sizeof *differences, orch_compare_reals);
    return (differences[(count - 1) / 2] + differences[count / 2]) / 2;
}

static double weight_of(const struct orch_change_data *data)
{
    double least = fmin(1, COUNT_LEAST / (double)data->count);
    if (!(least < 1))
        return 1;
    double one = median_difference(data, 1), two = median_difference(data, 2);
    double correlation = one > 0 ? two * two / (one * one) - 1 : two > 0 ? 1 : 0;
    correlation = CLAMP(correlation, 0, 1);
    return fmax(least, (1 - correlation) / (1 + correlation));
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Finds the most probable step from `first` to `end` - 1; false: none is probable enough. */
static bool find_step(const struct orch_change_data *data, size_t first, size_t end,
                      struct orch_change_step *out)
{
    const struct orch_change_data part = {data->places + first, end - first, data->history_weight};
    struct orch_change_posterior posterior;
    *out = (struct orch_change_step){.place = 0};
    if (part.count < 2)
        return false;
    orch_change_posterior_make(&part, &posterior);
    struct orch_change_range range = orch_change_most_probable(&part, &posterior);
    if (posterior.measured > 2)
        *out = (struct orch_change_step){.place = first + range.first,
                                         .probability = 1 - posterior.none,
                                         .of_place = range.probability};
    orch_change_posterior_clear(&posterior);
    return out->probability >= PROBABLE;
}

/* Appends the places of probable steps from `first` to `end` - 1, in order. */
static void divide(const struct orch_change_data *data, size_t first, size_t end, GArray *places)
{
    struct orch_change_step step;
    if (places->len >= STEPS_MAX || !find_step(data, first, end, &step))
        return;
    divide(data, first, step.place, places);
    g_array_append_val(places, step.place);
    divide(data, step.place, end, places);
}

/* Judges each place by the values between its neighbours. Returns the index of the least probable
 * one. */
static guint judge(const struct orch_change_data *data, const GArray *places,
                   struct orch_change_step *steps)
{
    guint least = 0;
    for (guint i = 0; i < places->len; i++) {
        size_t first = i ? g_array_index(places, size_t, i - 1) : 0;
        size_t end = i + 1 < places->len ? g_array_index(places, size_t, i + 1) : data->count;
        if (!find_step(data, first, end, &steps[i]))
            steps[i].probability = 0;
        least = steps[i].probability < steps[least].probability ? i : least;
    }
    return least;
}

GArray *orch_change_steps(const struct orch_change_data *given, double sure)
{
    const struct orch_change_data data = {given->places, given->count, weight_of(given)};
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(size_t));
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct orch_change_step));
    divide(&data, 0, data.count, places);
    g_autofree struct orch_change_step *steps = g_new0(struct orch_change_step, places->len + 1);
    while (places->len) {
        guint least = judge(&data, places, steps);
        if (steps[least].probability >= sure)
            break;
        g_array_remove_index(places, least);
    }
    size_t last = 0;
    for (guint i = 0; i < places->len; i++)
        if (steps[i].place > last) {
            g_array_append_val(found, steps[i]);
            last = steps[i].place;
        }
    for (guint i = 0; i < found->len; i++) {
        struct orch_change_step *step = &g_array_index(found, struct orch_change_step, i);
        step->before = mean_of(&data, i ? step[-1].place : 0, step->place);
        step->after = mean_of(&data, step->place, i + 1 < found->len ? step[1].place : data.count);
    }
    return found;
}
