/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of runs grouped by seed. Runs with the same seed share what the seed determines (initial
 * weights, the images drawn), so they are not independent. The runs of a setting with one seed are
 * averaged first, n is the number of seeds, and two settings are compared seed by seed. */
#ifndef ORCH_CORE_STATS_SEEDS_H
#define ORCH_CORE_STATS_SEEDS_H

#include "core/stats/stats.h"
#include "store/store.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/** True for the name of a parameter that is the program's seed: seed, random_seed, manualSeed. */
bool orch_is_seed_name(const char *name);
/** Removes the parameters whose names are those of a seed from an object (or NULL). */
void orch_seed_names_remove(json_t *params);
/** Returns a number that is equal for the runs of one seed: of the parameter that is the program's
 * seed where the run has one ("-x seed=1,2,3"), else the run's own. 0: it has none. `params` may be
 * NULL. */
uint64_t orch_run_seed(const struct orch_run *run, const json_t *params);

/** The mean over the runs of one seed. */
struct orch_seed_mean {
    uint64_t seed; /* 0: a run without a seed, which is not averaged with others */
    double value;
    unsigned runs;
};

/** Averages numbers by seed, in order of first appearance (struct orch_seed_mean). `numbers`
 * (double, NaN are skipped) and `seeds` (uint64_t) have one element for each run. The caller
 * unrefs. */
GArray *orch_seed_means(const GArray *numbers, const GArray *seeds);
/** The mean of a seed, or NULL. Borrowed. */
const struct orch_seed_mean *orch_seed_mean_find(const GArray *means, uint64_t seed);
/** Returns the means without their seeds (double). The caller unrefs. */
GArray *orch_seed_values(const GArray *means);
/** Compares means by seed, b - a: paired when both sides have the same two or more seeds, else
 * Welch's test. */
struct orch_difference orch_seed_difference(const GArray *a, const GArray *b);
/** Whether two means differ by more than noise, picked from `choices` pairs (from 1). Of single
 * runs nothing is known of the noise: then each difference counts. */
bool orch_seed_means_differ(const GArray *a, const GArray *b, size_t choices);
/** The difference without a test, as the times of one side only were disturbed (is_uneven). */
struct orch_difference orch_seed_difference_uneven(const GArray *a, const GArray *b);

#endif
