/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NSGA-II (Deb, Pratap, Agarwal and Meyarivan 2002) as a steady state (Durillo et al. 2009), which
 * learns from each trial and not from each generation: parents are the best trials so far, by the
 * front that they are on and on it by how far their neighbours are; a child comes from two of them
 * by simulated binary crossover and polynomial mutation (Deb and Agrawal 1995). */
#include "core/stats/front.h"
#include "features/search/samplers/sampler.h"
#include "lib/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POPULATION 20
#define ROWS_MAX 1000 /* trials that are ranked, the newest */
#define CROSSOVER 0.9
#define CROSSOVER_INDEX 15.0 /* the larger, the nearer are children to a parent */
#define MUTATION_INDEX 20.0

struct rated {
    const struct orch_sampled *trial;
    const double *goals;
    unsigned front; /* from 0; the last one: without goals */
    double apart;   /* from the neighbours on its front */
};

static int compare_rated(const void *a, const void *b)
{
    const struct rated *x = a, *y = b;
    if (x->front != y->front)
        return x->front < y->front ? -1 : 1;
    if (x->apart != y->apart)
        return x->apart > y->apart ? -1 : 1;
    if (x->trial->value != y->trial->value)
        return x->trial->value < y->trial->value ? -1 : 1;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

struct along {
    double value;
    struct rated *rated;
};

static int compare_along(const void *a, const void *b)
{
    const struct along *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Adds to each trial of a front the distance between its neighbours, in each goal as a share of the
 * front's range. */
static void set_apart(struct rated *rated, size_t count, unsigned front, unsigned goals)
{
    g_autofree struct along *along = g_new(struct along, count);
    for (unsigned g = 0; g < goals; g++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (rated[i].front == front)
                along[n++] = (struct along){rated[i].goals[g], &rated[i]};
        qsort(along, n, sizeof *along, compare_along);
        const double range = along[n - 1].value - along[0].value;
        along[0].rated->apart = along[n - 1].rated->apart = HUGE_VAL;
        for (size_t i = 1; i + 1 < n && range > 0; i++)
            along[i].rated->apart += (along[i + 1].value - along[i - 1].value) / range;
    }
}

/* Sorts the trials, the fittest first. */
static void rate(struct rated *rated, size_t count, unsigned goals)
{
    g_autofree double *points = g_new(double, count *goals);
    g_autofree bool *is_on = g_new(bool, count);
    for (size_t i = 0; i < count; i++)
        memcpy(points + i * goals, rated[i].goals, goals * sizeof *points);
    for (size_t left = count, front = 0; left; front++) {
        size_t found = 0;
        orch_front_find(points, count, goals, is_on);
        for (size_t i = 0; i < count; i++)
            if (is_on[i]) {
                rated[i].front = (unsigned)front;
                points[i * goals] = (double)NAN;
                found++;
            }
        if (!found)
            break;
        set_apart(rated, count, (unsigned)front, goals);
        left -= found;
    }
    qsort(rated, count, sizeof *rated, compare_rated);
}

static const double *parent(const struct rated *rated, size_t count, uint64_t *random)
{
    const size_t a = orch_random_below(random, count), b = orch_random_below(random, count);
    return rated[MIN(a, b)].trial->point;
}

static double cross(double a, double b, uint64_t *random)
{
    const double u = orch_random_unit(random), power = 1 / (CROSSOVER_INDEX + 1);
    const double spread = u < 0.5 ? pow(2 * u, power) : pow(2 * (1 - u), -power);
    return CLAMP((a + b - spread * (b - a)) / 2, 0, 1);
}

static double mutate(double unit, uint64_t *random)
{
    const double u = orch_random_unit(random), power = 1 / (MUTATION_INDEX + 1);
    const double off = u < 0.5 ? pow(2 * u, power) - 1 : 1 - pow(2 * (1 - u), power);
    return CLAMP(unit + off, 0, 1);
}

/* A parameter that only one parent has comes from this one; one that neither has is drawn. */
static void breed(const struct orch_space *space, const double *a, const double *b,
                  uint64_t *random, double *out)
{
    const bool crosses = orch_random_unit(random) < CROSSOVER;
    const unsigned d = space->params->len, always = (unsigned)orch_random_below(random, d);
    for (unsigned k = 0; k < d; k++) {
        const bool is_choice = orch_space_param(space, k)->kind == ORCH_SPACE_CHOICE;
        const bool mutates = k == always || orch_random_unit(random) < 1.0 / d;
        const bool swaps = crosses && orch_random_unit(random) < 0.5;
        const double x = swaps ? b[k] : a[k], y = swaps ? a[k] : b[k];
        out[k] = isnan(x) ? y : x;
        if (isnan(out[k]) || (is_choice && mutates))
            out[k] = orch_random_unit(random);
        else if (!is_choice && crosses && !isnan(x) && !isnan(y))
            out[k] = cross(x, y, random);
        if (!is_choice && mutates)
            out[k] = mutate(out[k], random);
    }
    orch_space_snap(space, out);
}

void orch_sample_nsga2(const struct orch_sampling *sampling, double *out)
{
    const unsigned goals = sampling->goals ? sampling->goal_count : 1;
    g_autofree struct rated *rated = g_new(struct rated, sampling->count + 1);
    size_t n = 0;
    for (size_t i = sampling->count; i-- > 0 && n < ROWS_MAX;) {
        const struct orch_sampled *trial = &sampling->trials[i];
        if (trial->state == ORCH_SAMPLED_ENDED)
            rated[n++] = (struct rated){
                trial, sampling->goals ? sampling->goals + i * goals : &trial->value, G_MAXUINT, 0};
    }
    if (n < POPULATION) {
        orch_sample_sobol(sampling, out);
        return;
    }
    rate(rated, n, goals);
    uint64_t random = orch_sampling_random(sampling);
    const double *a = parent(rated, POPULATION, &random), *b = parent(rated, POPULATION, &random);
    breed(sampling->space, a, b, &random, out);
}
