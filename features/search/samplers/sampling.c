/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points that do not depend on values, and what all samplers ask of the trials. */
#include "features/search/samplers/sampler.h"

#include "lib/base/random.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>

/* Of a space of so few points at most, those that are left are found by looking at all. */
#define FEW_POINTS 4096
#define LATIN_FIRST 4 /* points of the first Latin hypercube */

uint64_t orch_sampling_random(const struct orch_sampling *sampling)
{
    return orch_random_stream(sampling->seed, sampling->count + 1);
}

size_t orch_sampling_count(const struct orch_sampling *sampling, enum orch_sampled_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < sampling->count; i++)
        count += sampling->trials[i].state == state;
    return count;
}

static int compare_values(const void *a, const void *b)
{
    const struct orch_sampled *x = *(const struct orch_sampled *const *)a,
                              *y = *(const struct orch_sampled *const *)b;
    int order = (x->value > y->value) - (x->value < y->value);
    return order ? order : (x > y) - (x < y);
}

const struct orch_sampled **orch_sampling_best(const struct orch_sampling *sampling, size_t *out_n)
{
    const struct orch_sampled **best = g_new(const struct orch_sampled *, sampling->count + 1);
    size_t n = 0;
    for (size_t i = 0; i < sampling->count; i++)
        if (sampling->trials[i].state == ORCH_SAMPLED_ENDED)
            best[n++] = &sampling->trials[i];
    qsort(best, n, sizeof *best, compare_values);
    *out_n = n;
    return best;
}

void orch_sample_random(const struct orch_sampling *sampling, double *out)
{
    uint64_t random = orch_sampling_random(sampling);
    for (unsigned i = 0; i < sampling->space->params->len; i++)
        out[i] = orch_random_unit(&random);
    orch_space_snap(sampling->space, out);
}

void orch_sample_sobol(const struct orch_sampling *sampling, double *out)
{
    unsigned count = sampling->space->params->len;
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, count);
    for (size_t i = 0; i <= sampling->count; i++)
        gsl_qrng_get(sequence, out);
    gsl_qrng_free(sequence);
    for (unsigned i = 0; i < count; i++) {
        uint64_t random = orch_random_stream(sampling->seed, i);
        double shifted = out[i] + orch_random_unit(&random);
        out[i] = shifted - floor(shifted);
    }
    orch_space_snap(sampling->space, out);
}

/* Number `index` of the values of one parameter: each part of the range gets one value, in an order
 * drawn at random; then the parts are halved, and those without a value get one. */
static double latin_value(uint64_t random, size_t index)
{
    size_t count = 0, parts = LATIN_FIRST;
    g_autofree double *values = NULL;
    for (; count <= index; parts *= 2) {
        g_autofree bool *is_taken = g_new0(bool, parts);
        g_autofree size_t *order = g_new(size_t, parts);
        size_t left = 0;
        for (size_t i = 0; i < count; i++)
            is_taken[(size_t)(values[i] * (double)parts)] = true;
        for (size_t part = 0; part < parts; part++)
            if (!is_taken[part]) {
                size_t other = orch_random_below(&random, ++left);
                order[left - 1] = order[other];
                order[other] = part;
            }
        values = g_renew(double, values, count + left);
        for (size_t i = 0; i < left; i++)
            values[count++] = ((double)order[i] + orch_random_unit(&random)) / (double)parts;
    }
    return values[index];
}

void orch_sample_latin(const struct orch_sampling *sampling, double *out)
{
    for (unsigned k = 0; k < sampling->space->params->len; k++)
        out[k] = latin_value(orch_random_stream(sampling->seed, k), sampling->count);
    orch_space_snap(sampling->space, out);
}

bool orch_sampling_was_tried(const struct orch_sampling *sampling, const double *at)
{
    for (size_t i = 0; i < sampling->count; i++)
        if (orch_space_is_same(sampling->space, sampling->trials[i].point, at, ORCH_SPACE_EQUAL))
            return true;
    return false;
}

/* Finds a point that was not tried in a space that has few. */
static bool find_untried(const struct orch_sampling *sampling, double *out)
{
    const struct orch_space *space = sampling->space;
    double count = 1;
    for (unsigned k = 0; k < space->params->len; k++) {
        double levels = orch_space_levels(orch_space_param(space, k));
        count *= levels > 0 ? levels : HUGE_VAL;
    }
    for (unsigned n = 0; count <= FEW_POINTS && n < count; n++) {
        double left = n;
        for (unsigned k = 0; k < space->params->len; k++) {
            const struct orch_space_param *param = orch_space_param(space, k);
            out[k] = orch_space_level_unit(param, fmod(left, orch_space_levels(param)));
            left = floor(left / orch_space_levels(param));
        }
        orch_space_snap(space, out);
        if (!orch_sampling_was_tried(sampling, out))
            return true;
    }
    return false;
}

bool orch_sampler_untried(orch_sampler_fn sampler, const struct orch_sampling *sampling,
                          double *out)
{
    struct orch_sampling asked = *sampling;
    for (unsigned i = 0; i < ORCH_SAMPLER_TRIES; i++) {
        asked.seed = i ? orch_random_stream(sampling->seed, i) : sampling->seed;
        sampler(&asked, out);
        if (!orch_sampling_was_tried(sampling, out))
            return true;
    }
    return find_untried(sampling, out);
}
