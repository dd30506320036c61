/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of plugin staleness, and the model that they describe. */
#ifndef ORCH_PLUGINS_STALENESS_LEARNER_TIMES_H
#define ORCH_PLUGINS_STALENESS_LEARNER_TIMES_H

#include "plugins/staleness/learner_model.h"

#include <orch/plugin.h>

struct staleness_params {
    struct orch_list times;  /* const char *: "1 2 3 4", seconds, one text a learner */
    struct orch_list speeds; /* double */
    int64_t learners, gradients, bound;
    double gradient_time, pull_time, push_time, update_time; /* seconds */
    double variation, speed_variation;
    const char *distribution, *mode;
};

/** A model with what its gradient_ns reads. */
struct orch_staleness_settings {
    struct orch_staleness_model model;
    GPtrArray *lists; /* GArray of int64_t, a learner's times in ns; NULL: times are drawn */
    double *mean_ns;  /* by learner, where times are drawn */
    uint64_t *random; /* by learner: state of its stream */
    const char *distribution;
    double variation;
};

#define STALENESS_DISTRIBUTIONS                                                                    \
    ((const char *const[]){"constant", "exponential", "lognormal", NULL})
#define STALENESS_MODES ((const char *const[]){"asynchronous", "synchronous", "bounded", NULL})

/** Makes the model of the parameters; random times are drawn from `seed`. Fails with
 * ORCH_ERROR_RECIPE for parameters that contradict each other. Release with
 * orch_staleness_settings_clear, also after a failure. */
bool orch_staleness_settings_make(const struct staleness_params *params, uint64_t seed,
                                  struct orch_staleness_settings *out, GError **error);
void orch_staleness_settings_clear(struct orch_staleness_settings *settings);

#endif
