/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning times from measured rows: which target, which model and knobs by cross-validation, and
 * an interval that is calibrated on rows that were left out. */
#ifndef ORCH_PREDICTORS_LEARN_H
#define ORCH_PREDICTORS_LEARN_H

#include "predictors/model.h"
#include "predictors/rows.h"

enum orch_learn_target {
    ORCH_LEARN_LOG,  /* log of the time: relative errors count */
    ORCH_LEARN_GREY, /* log of the time over the white box's, where there is one */
    ORCH_LEARN_BEST, /* the better of both in cross-validation */
};

struct orch_learn_options {
    const char *model; /* "boost", ...; "auto": the best of all in cross-validation */
    enum orch_learn_target target;
    uint64_t seed;
    bool by_group;  /* folds by the rows' groups: for groups never seen */
    bool no_tuning; /* the first knobs of each grid */
};

/** What was tried: one line of the grid. */
struct orch_learn_trial {
    const struct orch_model_kind *kind;
    struct orch_knobs knobs;
    bool grey;
    bool bare; /* without what is known of the GPU: only the white box speaks of it, so that a GPU
                  never seen cannot lead the model astray */
    double mean_relative_error; /* over the folds */
};

struct orch_learned;
/** Tries (5 folds; the same for all), fits the best on all rows, calibrates the interval on the
 * rows that each fold left out. ORCH_ERROR_USAGE for fewer than 10 rows or no grey target to be
 * had. The caller frees. */
struct orch_learned *orch_learn(const struct orch_rows *rows,
                                const struct orch_learn_options *options, GError **error);
void orch_learned_free(struct orch_learned *learned);
/** All trials, best first (borrowed): struct orch_learn_trial. */
const GArray *orch_learned_trials(const struct orch_learned *learned);

struct orch_answer {
    double value;      /* in the unit of the target */
    double low, high;  /* the middle 90 % */
    bool extrapolates; /* farther from all rows that it learned from than these are from each other
                        */
};
/** Answers for rows of the same columns, one for each. */
void orch_learned_predict(const struct orch_learned *learned, const struct orch_rows *rows,
                          struct orch_answer *out);

struct orch_score {
    size_t n;
    double mean_relative_error, median_relative_error; /* of |value - target| / target */
    double rmse;                                       /* in the unit of the target */
    double coverage_90;                                /* share of targets within the interval */
};

/** How good it was on rows that their fold did not see. */
struct orch_score orch_learned_left_out(const struct orch_learned *learned);
/** Mean relative errors, on the same folds, of what a model must beat: the nearest record's time
 * ("last known"), and that times the ratio of the white boxes ("ratio of specifications"); NaN
 * where there is none. */
void orch_learned_baselines(const struct orch_learned *learned, double *last_known, double *ratio);
/** As a JSON object, and back: all that orch_learned_predict needs, and the trial that won. NULL
 * with ORCH_ERROR_RECIPE for what is broken. */
json_t *orch_learned_save(const struct orch_learned *learned, enum orch_save_style style);
struct orch_learned *orch_learned_load(const json_t *saved, GError **error);

/** Of rows `which` (NULL: all `count`). */
struct orch_score orch_score_of(const double *target, const struct orch_answer *answers,
                                const size_t *which, size_t count);

#endif
