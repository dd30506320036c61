/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trains a predictor on one table of measurements and evaluates it on another. */
#ifndef ORCH_FEATURES_LEARN_EVALUATION_H
#define ORCH_FEATURES_LEARN_EVALUATION_H

#include "predictors/learn.h"

struct orch_evaluation_request {
    const char *train, *test; /* paths of CSV files */
    const char *target;       /* column to predict */
    const char *group;        /* column to score by, or NULL */
    const char *box;          /* "black", "grey", "best" or NULL: best */
    const char *const *drop;  /* columns to hide, NULL-terminated, or NULL */
    bool by_group;            /* leave whole groups out in cross-validation */
};

struct orch_evaluation {
    struct orch_rows *train, *test;
    struct orch_learned *learned;
    struct orch_answer *answers; /* one for each test row */
    double fit_s, predict_us;    /* seconds to train; microseconds to predict a row */
    GPtrArray *missing;          /* const char *: columns that only the training rows have */
};

/** Reads both tables and checks that they can be used. False with an error; the caller clears in
 * both cases. */
bool orch_evaluation_read(const struct orch_evaluation_request *request,
                          struct orch_evaluation *out, GError **error);
/** Trains with `options`, whose `target` becomes the request's box, and predicts the test rows. */
bool orch_evaluation_learn(struct orch_evaluation *evaluation,
                           const struct orch_evaluation_request *request,
                           struct orch_learn_options *options, GError **error);
void orch_evaluation_clear(struct orch_evaluation *evaluation);

/** Score over all test rows, or over those of one group. */
struct orch_score orch_evaluation_score(const struct orch_evaluation *evaluation,
                                        const char *group);
/** The groups of the test rows in order of appearance, const char *. The caller unrefs. */
GPtrArray *orch_evaluation_groups(const struct orch_evaluation *evaluation);
/** Writes a line for each test row with the measured and the predicted value, as CSV. */
bool orch_evaluation_write(const struct orch_evaluation *evaluation, const char *path,
                           GError **error);

#endif
