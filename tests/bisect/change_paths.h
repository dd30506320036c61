/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated paths with one step, searched by features/bisect/change_point.h and by bisection with
 * a fixed number of repeats. */
#ifndef ORCH_TESTS_CHANGE_PATHS_H
#define ORCH_TESTS_CHANGE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct change_path {
    size_t places; /* commits and the one before them: the step is at one of 1 .. places - 1 */
    double step;   /* in standard deviations of the noise */
    double closed_share; /* of the places between the ends that cannot be measured */
    size_t repeat_most;
};

struct change_tally {
    unsigned paths, found, right, none, open;
    double runs;   /* in all */
    double widest; /* sum of the places of the ranges that were found */
};

/** Searches `paths` paths of a kind with seeds from `seed` on. */
void change_paths_search(const struct change_path *path, unsigned paths, uint64_t seed,
                         struct change_tally *out);

/** The same by bisection: `repeats` measurements of each end and of each place asked, the mean of
 * which is on the side of the nearer end. */
void change_paths_bisect(const struct change_path *path, unsigned repeats, unsigned paths,
                         uint64_t seed, struct change_tally *out);

#endif
