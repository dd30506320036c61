/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of runs by their seeds. Runs of equal seed share what the seed decides (initial weights,
 * the images drawn), so they are not independent: the runs of a setting that have one seed are
 * averaged first, n is the number of seeds, and two settings are compared seed by seed. */
#ifndef ORCH_CORE_REPORT_SEEDS_H
#define ORCH_CORE_REPORT_SEEDS_H

#include "core/report/stats.h"

#include <glib.h>
#include <stdint.h>

/** The mean over the runs of one seed. */
struct orch_seed_mean {
    uint64_t seed; /* 0: a run without a seed, which stands alone */
    double value;
    unsigned runs;
};

/** Means by seed, in order of first sight (struct orch_seed_mean). `numbers` (double; NaN are left
 * out) and `seeds` (uint64_t) have an element for each run. The caller unrefs. */
GArray *orch_seed_means(const GArray *numbers, const GArray *seeds);
/** The values alone (double). The caller unrefs. */
GArray *orch_seed_values(const GArray *means);
/** b - a of means by seed: paired when both have the same two seeds or more, else Welch's. */
struct orch_difference orch_seed_difference(const GArray *a, const GArray *b);

#endif
