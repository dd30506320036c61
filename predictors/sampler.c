/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/sampler.h"

#include "lib/base/random.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <string.h>

/* Beyond so many values a Gaussian process takes longer for a point than a script takes to start.
 */
#define GP_VALUES_MAX 300
#define GP_PARAMS_MAX 20

static void sample_auto(const struct orch_sampling *sampling, double *out)
{
    bool is_large = orch_sampling_count(sampling, ORCH_SAMPLED_ENDED) > GP_VALUES_MAX ||
                    sampling->space->params->len > GP_PARAMS_MAX;
    (is_large ? orch_sample_tpe : orch_sample_gp)(sampling, out);
}

const struct orch_sampler ORCH_SAMPLERS[] = {
    {"auto", "gp up to 300 values and 20 parameters, tpe beyond", sample_auto},
    {"gp", "a Gaussian process; the point with the largest expected improvement", orch_sample_gp},
    {"tpe", "tree-structured Parzen estimators", orch_sample_tpe},
    {"sobol", "Sobol's sequence: points that fill the space evenly", orch_sample_sobol},
    {"random", "points drawn independently", orch_sample_random},
    {0},
};

const struct orch_sampler *orch_sampler_find(const char *name)
{
    for (const struct orch_sampler *sampler = ORCH_SAMPLERS; sampler->name; sampler++)
        if (strcmp(sampler->name, name) == 0)
            return sampler;
    return NULL;
}

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
