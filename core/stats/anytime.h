/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interval for the median that may be looked at after every value, and sampling stopped whenever
 * it is narrow enough: 'orch compare --until-sure', `repeat: auto`.
 *
 * Guarantee: at any time, the probability that the interval has ever missed the median is at most
 * 5 %, for independent values of any continuous distribution, and for values whose neighbours lie
 * on the same side of the median with a probability of up to ORCH_ANYTIME_ALIKE_SIDES (proved where
 * the sides form a Markov chain; measured for AR(1) noise of 0.4 by bench/sure_pairs.c).
 * Sources: anytime.c. */
#ifndef ORCH_CORE_STATS_ANYTIME_H
#define ORCH_CORE_STATS_ANYTIME_H

#include "core/stats/sample_shape.h"
#include "lib/base/interval.h"

#include <stddef.h>

/** A smaller sample has no bounded interval. */
#define ORCH_ANYTIME_LEAST 10
/** Neighbours may lie on the same side of the median with this probability; 0.5: independent.
 * AR(1) noise of 0.4 has 0.63 to 0.65. */
#define ORCH_ANYTIME_ALIKE_SIDES 0.65

/** What contradicts that all values are of one distribution, or that they depend on each other no
 * more than is allowed for. */
enum orch_anytime_notice {
    ORCH_ANYTIME_NOTHING,
    ORCH_ANYTIME_WARM_UP,    /* the first value is far from all others */
    ORCH_ANYTIME_TREND,      /* later values are larger, or smaller */
    ORCH_ANYTIME_DEPENDENCE, /* neighbours are alike more often than is allowed for */
};

/** What is known after some values, of which the newest is the last. */
struct orch_anytime {
    size_t count;
    double mean;
    size_t distinct;               /* distinct values, counted up to ORCH_DISTINCT_LEAST */
    double log_e;                  /* logarithm of the e-value against "the median is 0" */
    int side;                      /* the median is surely above 0 (1), below (-1); 0: not sure */
    struct orch_interval interval; /* the sample's median, and the ends of the confidence sequence
                                      at this count; infinite below ORCH_ANYTIME_LEAST values, and
                                      while there are too few distinct ones */
    enum orch_anytime_notice notice;
};
/** Summarizes the values in the order in which they were measured. NaN or infinite ones are not
 * allowed. */
struct orch_anytime orch_anytime_of(const double *values, size_t count);
/** Returns "the first value is far from the others (warm-up?)" and the like; NULL for nothing.
 * Static. */
const char *orch_anytime_notice_text(enum orch_anytime_notice notice);

enum orch_anytime_verdict {
    ORCH_ANYTIME_OPEN,
    ORCH_ANYTIME_DIFFERENT, /* the median is not 0, and the mean lies on the same side of 0 */
    ORCH_ANYTIME_ALIKE,     /* the interval lies within -least to least */
};
/** Gives the verdict of these differences alone. `least`: the smallest median that matters, above
 * 0. */
enum orch_anytime_verdict orch_anytime_verdict(const struct orch_anytime *so_far, double least);
/** Takes the differences one by one, until the first verdict. `*out` summarizes those taken. */
enum orch_anytime_verdict orch_anytime_decide(const double *differences, size_t count, double least,
                                              struct orch_anytime *out);

/** At most so many further differences are foreseen. */
#define ORCH_ANYTIME_AHEAD 1000
/** Returns how many further differences lead to a verdict with probability `power`, if they are
 * normal with the mean and the standard deviation of these, by simulation with a fixed seed. 0:
 * more than ORCH_ANYTIME_AHEAD, fewer than three differences, or too few distinct ones. */
size_t orch_anytime_more(const double *differences, size_t count, double least, double power);

/** Returns the logarithm of the e-value against "the first of two means is not larger", whose gap
 * was measured with a standard error of `degrees` degrees of freedom; `size`: 1 / (1 / n + 1 / m)
 * of n and m values. As that of a t test with a normal mixture, of an effective sample size as
 * AR(1) noise of 0.4 leaves. Exact for normal noise of equal scatter; bench/arm_rules.c measures
 * other noise. */
double orch_anytime_log_e_of_gap(double gap, double error, double degrees, double size);

#endif
