/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One estimate of the scatter from all settings of a sweep. Three repeats of one setting give two
 * degrees of freedom, those of nine settings give 16 or 18. */
#ifndef ORCH_FEATURES_COMPARE_POOLED_H
#define ORCH_FEATURES_COMPARE_POOLED_H

#include "core/stats/spread.h"

#include <glib.h>

/** The residuals of settings whose scatter is alike, on a scale on which it hardly depends on the
 * mean. */
struct orch_pooled {
    size_t settings;              /* number of settings in the pool; 0: nothing is pooled */
    size_t given;                 /* number of settings that there are */
    bool by_seed;                 /* settings by seeds: all settings of the pool have these seeds */
    struct orch_metric_kind kind; /* the scale: arc sine of the root for shares, or logarithm */
    double sd, degrees;           /* pooled standard deviation of a seed's mean, on that scale */
    double equal_p;               /* p of Bartlett's test that their scatter is equal */
    bool *has;                    /* [i]: setting i is in the pool */
};
/** Pools the settings' residuals. `means` has the means by seed of each setting (struct
 * orch_seed_mean); `name` and `unit` are the metric's (may be NULL). Settings with one seed, an
 * infinite value or no scatter at all stay out, and so do those whose scatter differs by Bartlett's
 * test. Fewer than three settings are not pooled. The caller clears. */
struct orch_pooled orch_pooled_of(const GArray *const *means, size_t count, const char *name,
                                  const char *unit);
void orch_pooled_clear(struct orch_pooled *pooled);

/** The mean b - a by Tukey's test among all `given` settings: p is that of the t test with the
 * pooled scatter, p_corrected that of the studentized range (Tukey and Kramer for unequal n), and
 * the interval holds for all pairs together with 95 %. `limit` is
 * orch_pooled_limit. Both settings must be in the pool. */
struct orch_difference orch_pooled_difference(const struct orch_pooled *pooled, const GArray *a,
                                              const GArray *b, double limit);
/** Returns the studentized range that is exceeded with the probability of ORCH_NOISE_LEVEL. */
double orch_pooled_limit(const struct orch_pooled *pooled);
/** Describes the method: "Tukey's range test, residuals of 9 settings pooled ...". The caller
 * frees. */
char *orch_pooled_text(const struct orch_pooled *pooled);

#endif
