/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the place on a path at which the mean of noisy measurements becomes larger, with few
 * measurements: a posterior over the places, and the place to measure next.
 *
 * The model has one step: the values of the places before it scatter about one mean, those from it
 * on about a larger one, with the same normal noise. Mean and noise have no information in advance
 * (flat, and Jeffreys'), and the step in units of the noise is a mixture of normal laws, so that
 * all integrals but the last are closed (Zellner 1986; Smith 1975 for the change point). "No step"
 * has the prior 1/2, and each place the same part of the rest. In a history that is there already
 * the step may be down as well, and a line or a parabola may be there beside it or instead of it.
 *
 * The next measurement is at the place with the largest expected information on where the step is,
 * which is what probabilistic bisection (Horstein 1963; Waeber, Frazier, Henderson 2013) does when
 * the noise is known. Here it is learned, so that measuring an end or a place again may say more
 * than a new place. */
#ifndef ORCH_FEATURES_BISECT_CHANGE_POINT_H
#define ORCH_FEATURES_BISECT_CHANGE_POINT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** A place of the path. The first one lies before the step, the last one at or after it. */
struct orch_change_place {
    const double *values; /* measured there, finite */
    size_t count;
    bool is_closed; /* cannot be measured */
};

struct orch_change_data {
    const struct orch_change_place *places;
    size_t count; /* at least 2 */
    /** 0: a step up, searched for by measuring places. Else the values are a history, each of which
     * counts as this much of an independent one: the step is up or down, and a trend may be there
     * beside it or instead of it. */
    double history_weight;
};

/** What is known of a step at one place. */
struct orch_change_case {
    double probability;
    double before, after; /* expected means on both sides */
    double noise;         /* standard deviation */
};

struct orch_change_posterior {
    double none;                    /* probability that there is no step */
    double level, noise;            /* mean and standard deviation without a step */
    struct orch_change_case *cases; /* one for each place: the step is between it and the place
                                       before; the first has the probability 0 */
    size_t count, measured;         /* places; values in all */
};

/** Computes the posterior. The caller clears it. Without two values at different places nothing is
 * learned, and the posterior is the prior. */
void orch_change_posterior_make(const struct orch_change_data *data,
                                struct orch_change_posterior *out);
void orch_change_posterior_clear(struct orch_change_posterior *posterior);

/** Places that measurements cannot tell apart as the step's: closed ones and the one after them. */
struct orch_change_range {
    size_t first, last;
    double probability;
};
/** Returns the most probable of these ranges. */
struct orch_change_range orch_change_most_probable(const struct orch_change_data *data,
                                                   const struct orch_change_posterior *posterior);
/** Returns the shortest range of places that has this probability, of what is left without "no
 * step". */
struct orch_change_range orch_change_credible(const struct orch_change_posterior *posterior,
                                              double probability);

struct orch_change_step {
    size_t place;
    double probability, of_place; /* that there is a step near, and that it is at this place */
    double before, after;         /* means of the values up to the neighbouring steps */
};
/** Finds the steps of a history, up and down, that have a probability of `sure` or more. Each is
 * judged by the values between its neighbours. All places have values; `history_weight` is not
 * read, but estimated. The caller unrefs the array of struct orch_change_step. */
GArray *orch_change_steps(const struct orch_change_data *data, double sure);

/** Tests whether one step is enough: returns the p value that the places before `range`, and those
 * from its end on, differ no more among themselves than values of one place do (F test for lack of
 * fit). NaN without values that say it. */
double orch_change_misfit(const struct orch_change_data *data,
                          const struct orch_change_range *range);

struct orch_change_rules {
    double sure;        /* probability at which the step counts as found: 0.95 */
    size_t repeat_most; /* measurements of one place at most */
};

enum orch_change_verdict {
    ORCH_CHANGE_ENDS,    /* measure `place`, an end: it is not known yet whether the ends differ */
    ORCH_CHANGE_ASK,     /* measure `place` */
    ORCH_CHANGE_FOUND,   /* the step is in `range` */
    ORCH_CHANGE_NONE,    /* the ends do not differ */
    ORCH_CHANGE_UNKNOWN, /* the ends have been measured as often as allowed, and do not show whether
                            they differ */
    ORCH_CHANGE_OPEN,    /* no further measurement is allowed that would tell anything */
};

struct orch_change_turn {
    enum orch_change_verdict verdict;
    size_t place;
    double information; /* expected of measuring it, in bits; NaN for the ends */
    struct orch_change_range range;
};
/** Decides what to do next. */
struct orch_change_turn orch_change_next(const struct orch_change_data *data,
                                         const struct orch_change_posterior *posterior,
                                         const struct orch_change_rules *rules);

#endif
