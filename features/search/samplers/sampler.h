/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samplers: which point of a space a search tries next. They get all trials so far and return one
 * point; they keep nothing between two calls, so that the same seed and the same trials in the same
 * order give the same point, in whatever process. Values are minimised. */
#ifndef ORCH_FEATURES_SEARCH_SAMPLER_H
#define ORCH_FEATURES_SEARCH_SAMPLER_H

#include "lib/space/param_space.h"

enum orch_sampled_state {
    ORCH_SAMPLED_ENDED,   /* it has a value */
    ORCH_SAMPLED_FAILED,  /* it ended without a value: such points are avoided, but no value is made
                             up for them */
    ORCH_SAMPLED_PENDING, /* it runs now */
};

struct orch_sampled {
    const double
        *point; /* unit coordinates, snapped (lib/space/param_space.h); NAN: does not exist */
    enum orch_sampled_state state;
    double value; /* of an ENDED trial, finite; the smaller, the better */
    double cost;  /* of an ENDED or FAILED one, in any unit: seconds, dollars; 0: not known */
};

struct orch_sampling {
    const struct orch_space *space;
    const struct orch_sampled *trials; /* in the order in which their points were chosen */
    size_t count;
    uint64_t seed;
    /* What a point promises is divided by its expected cost to this power, from 0 to 1 (gp only).
     */
    double cost_power;
    /* Of several objectives, or with limits: `goal_count` numbers for each trial, to minimise; NAN
     * where a trial has none or breaks a limit. For nsga2; others know `value` alone. NULL: none.
     */
    const double *goals;
    unsigned goal_count;
};

/** Writes the next point, snapped, to `out`: as many numbers as the space has parameters. */
typedef void (*orch_sampler_fn)(const struct orch_sampling *sampling, double *out);
/** The sampler of a name of ORCH_SAMPLER_NAMES; NULL: there is none. */
orch_sampler_fn orch_sampler_find(const char *name);
/** So often a sampler is asked for a point that was not tried, each time with another seed. */
#define ORCH_SAMPLER_TRIES 20
/** Writes the next point that no trial has; false: none was found. */
bool orch_sampler_untried(orch_sampler_fn sampler, const struct orch_sampling *sampling,
                          double *out);
bool orch_sampling_was_tried(const struct orch_sampling *sampling, const double *at);
/** Why another sampler chooses all settings of this space, to be shown; NULL: none does. */
const char *orch_sampler_instead(const char *name, const struct orch_space *space);

/* ---- the samplers, for features/search/samplers/sampler.c
 * ------------------------------------------------------
 */

/** Independent uniform coordinates. */
void orch_sample_random(const struct orch_sampling *sampling, double *out);
/** The next point of Sobol's sequence, shifted by the seed (Cranley and Patterson 1976). */
void orch_sample_sobol(const struct orch_sampling *sampling, double *out);
/** The next point of a sequence whose first 4, 8, 16 and so on are Latin hypercubes (McKay, Beckman
 * and Conover 1979). The first three points of Sobol's sequence lie on one line, from which no
 * model can tell the parameters apart. */
void orch_sample_latin(const struct orch_sampling *sampling, double *out);
/** The points of a grid, of an ever finer one when all were tried (sampler_grid.c). When a finer
 * one has no others either, the point is one that was tried. */
void orch_sample_grid(const struct orch_sampling *sampling, double *out);
/** CMA-ES, of spaces without choices (sampler_cmaes.c). */
void orch_sample_cmaes(const struct orch_sampling *sampling, double *out);
/** NSGA-II, for several objectives (sampler_nsga2.c). */
void orch_sample_nsga2(const struct orch_sampling *sampling, double *out);
/** Tree-structured Parzen estimators (sampler_tpe.c). */
void orch_sample_tpe(const struct orch_sampling *sampling, double *out);
/** A Gaussian process and its expected improvement (sampler_gp.c). */
void orch_sample_gp(const struct orch_sampling *sampling, double *out);

/** Smallest population of population-based training: the worst quarter is at least one member. */
#define ORCH_POPULATION_LEAST 4
/** The next trial of population-based training, which needs more than a point
 * (sampler_population.c). `members`: of each trial its member, from 1; 0: of none. Returns the new
 * trial's member; 0, without a point, while all `size` members have a trial that runs.
 * `*out_parent`: index of the trial whose checkpoint it begins from; -1: it begins anew. */
unsigned orch_sample_population(const struct orch_sampling *sampling, const unsigned *members,
                                unsigned size, double *out, gssize *out_parent);

/** State of the random numbers of the next choice. */
uint64_t orch_sampling_random(const struct orch_sampling *sampling);
/** Number of trials in a state. */
size_t orch_sampling_count(const struct orch_sampling *sampling, enum orch_sampled_state state);
/** The trials that have ended, the best first, of equal ones the older. Caller frees. */
const struct orch_sampled **orch_sampling_best(const struct orch_sampling *sampling, size_t *out_n);

#endif
