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

/* In the order of ORCH_SAMPLER_NAMES. */
static const orch_sampler_fn SAMPLERS[] = {sample_auto,       orch_sample_gp,    orch_sample_tpe,
                                           orch_sample_cmaes, orch_sample_nsga2, orch_sample_grid,
                                           orch_sample_sobol, orch_sample_random};

orch_sampler_fn orch_sampler_find(const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(SAMPLERS); i++)
        if (strcmp(ORCH_SAMPLER_NAMES[i], name) == 0)
            return SAMPLERS[i];
    return NULL;
}

const char *orch_sampler_instead(const char *name, const struct orch_space *space)
{
    for (unsigned k = 0; strcmp(name, "cmaes") == 0 && k < space->params->len; k++)
        if (orch_space_param(space, k)->kind == ORCH_SPACE_CHOICE)
            return "the sampler cmaes takes numbers only, so tpe chooses the settings of a search "
                   "with choices";
    return NULL;
}
