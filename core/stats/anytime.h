/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A test of paired differences that may be looked at after every pair, and stopped whenever it is
 * sure. Its error rate of 5 % holds at any time for independent, nearly normal differences, and for
 * few distinct values that are symmetric about 0; not for skewed ones, nor for those that depend on
 * each other (anytime.c). */
#ifndef ORCH_CORE_STATS_ANYTIME_H
#define ORCH_CORE_STATS_ANYTIME_H

#include "core/stats/sample_shape.h"
#include "lib/base/interval.h"

#include <stddef.h>

/** What is known after some differences, of which the newest is the last. */
struct orch_anytime {
    size_t count;
    double mean, sd;               /* sd NaN for n < 2 */
    size_t distinct;               /* distinct differences, counted up to ORCH_DISTINCT_LEAST */
    double log_e;                  /* logarithm of the e-value against "the mean is 0"; of their
                                      signs alone while few are distinct */
    struct orch_interval interval; /* the mean, and the ends of its confidence sequence at this
                                      count; infinite while there are too few distinct ones */
};
/** Summarizes the differences. NaN or infinite ones are not allowed. */
struct orch_anytime orch_anytime_of(const double *differences, size_t count);

enum orch_anytime_verdict {
    ORCH_ANYTIME_OPEN,
    ORCH_ANYTIME_DIFFERENT, /* the interval does not contain 0, or the signs refuse it */
    ORCH_ANYTIME_ALIKE,     /* the interval lies within -least to least */
};
/** Gives the verdict of these differences alone. `least`: the smallest mean that matters, above 0.
 */
enum orch_anytime_verdict orch_anytime_verdict(const struct orch_anytime *so_far, double least);
/** Takes the differences one by one, until the first verdict. `*out` summarizes those taken. */
enum orch_anytime_verdict orch_anytime_decide(const double *differences, size_t count, double least,
                                              struct orch_anytime *out);

/** At most so many further differences are foreseen. */
#define ORCH_ANYTIME_AHEAD 1000
/** Returns how many further differences lead to a verdict with probability `power`, if their mean
 * and their standard deviation are as estimated, by simulation with a fixed seed. 0: more than
 * ORCH_ANYTIME_AHEAD, fewer than three differences, or too few distinct ones. */
size_t orch_anytime_more(const struct orch_anytime *so_far, double least, double power);

#endif
