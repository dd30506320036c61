/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of samplers. */
#include "features/search/samplers/sampler.h"

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
    {"auto", sample_auto},        {"gp", orch_sample_gp},         {"tpe", orch_sample_tpe},
    {"sobol", orch_sample_sobol}, {"random", orch_sample_random}, {0},
};

const struct orch_sampler *orch_sampler_find(const char *name)
{
    for (const struct orch_sampler *sampler = ORCH_SAMPLERS; sampler->name; sampler++)
        if (strcmp(sampler->name, name) == 0)
            return sampler;
    return NULL;
}
