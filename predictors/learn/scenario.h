/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of predictors/learn: one question with its candidates, ensemble and interval. A
 * question is one prediction scenario: rows like those measured, an unseen GPU, or an unseen
 * network. */
#ifndef ORCH_PREDICTORS_SCENARIO_H
#define ORCH_PREDICTORS_SCENARIO_H

#include "predictors/learn/learn.h"
#include "predictors/learn/nearness.h"
#include "predictors/learn/whitebox.h"
#include "predictors/matched/matched_rows.h"

#define ORCH_FOLDS 5
#define ORCH_LEVEL 0.90
#define ORCH_MEMBERS_MAX 20
#define ORCH_FEW_GROUPS 7 /* with fewer groups, their errors hardly distinguish the models */

/** A member of the ensemble, fitted on all rows. */
struct orch_member {
    struct orch_model_candidate candidate;
    struct orch_whitebox *white; /* NULL: the model predicts the log time itself */
    struct orch_model *model;    /* NULL: the white box alone */
    struct orch_matched
        *matched;     /* in its place, of ORCH_BOX_MATCHED; NULL: no rows to learn from */
    double low, high; /* the model's output is clamped to this range */
};

/** Parameters of the conformal interval. */
struct orch_conformal {
    struct orch_model *difficulty; /* predicts the log error size; NULL: the same for all rows */
    double factor;                 /* quantile of |error| over its expected size */
};

struct orch_scenario {
    char *column;       /* column whose levels are unseen; NULL: rows like those measured */
    bool has_one_group; /* none can be held out: one is known, or two with settings of their own */
    GPtrArray *known;   /* char *: measured levels of the column */
    GPtrArray *few;     /* char *: those of them with few rows beside the others */
    size_t group_count; /* of levels that are held out together: boards of one chip are one. While
                           fitting; 0 after loading */
    GPtrArray *hidden;  /* char *: features that identify a level, hidden from the models */
    GPtrArray *facts;   /* char *: features that are constant within a level; without a column: the
                           GPU's */
    GArray *candidates; /* struct orch_model_candidate, best first */
    struct orch_member members[ORCH_MEMBERS_MAX];
    int member_count;
    bool is_baseline;
    double error, median; /* mean and median relative error of the ensemble on held-out rows */
    size_t heldout_rows;  /* number of held-out rows */
    struct orch_conformal interval;
    char *deferred; /* JSON of members and interval, not parsed yet, or NULL */
};
/** Parses `deferred` if needed. Returns false with ORCH_ERROR_RECIPE if the JSON is invalid. */
bool orch_scenario_ready(struct orch_scenario *q, GError **error);

#define ORCH_SCENARIOS_MAX 5
struct orch_learned {
    struct orch_scenario *scenarios[ORCH_SCENARIOS_MAX];
    int count;
    struct orch_nearness *nearness;
};
struct orch_scenario *orch_scenario_new(const char *column);
void orch_scenario_free(struct orch_scenario *q);
/** Adds the questions that the rows can teach: similar rows, and unseen levels of columns such as
 * "gpu"; with `options->by_group` unseen groups alone. */
void orch_scenarios_list(struct orch_learned *learned, const struct orch_rows *rows,
                         const struct orch_learn_options *options);
/** True for a processor of the table of GPUs, and for a name that says so ("CPU: Dual Xeon"). */
bool orch_scenario_is_processor(const char *name);
/** What is held out together for a question, by row (borrowed texts); NULL: single rows. Caller
 * frees the array. */
char **orch_scenario_groups(const struct orch_scenario *q, const struct orch_rows *rows);

/** Assigns a fold, 0 .. ORCH_FOLDS-1, to each row; rows with equal `groups` share one (NULL: rows
 * are assigned at random). Caller frees. */
int *orch_folds_new(char *const *groups, size_t rows, uint64_t seed);
/** Replaces GPUs' names by those of their chips: boards of one chip resemble each other, so they
 * are held out together. The texts are borrowed from the array's own or static. */
void orch_folds_name_chips(char **gpus, size_t rows);
/** Text of a category column by row, "" where missing. The strings are borrowed from the matrix;
 * caller frees the array with g_free. */
char **orch_levels_of(const struct orch_matrix *matrix, int column);

/** A view of the rows without the question's hidden features; orch_scenario_rows_free. */
struct orch_rows *orch_scenario_rows(const struct orch_scenario *q, const struct orch_rows *rows);
void orch_scenario_rows_free(struct orch_rows *view);
/** Allocates `count` arrays of `rows` numbers and a final NULL; orch_predictions_free. */
double **orch_predictions_new(size_t count, size_t rows);
void orch_predictions_free(double **predictions);
/** True if the feature is one of the question's facts. For orch_matrix_without. */
bool orch_scenario_has_fact(const char *name, const void *question);

/** Cross-validates all candidates: out[candidate][row] is the log prediction for the row by the
 * candidate fitted without the row's fold, or NaN if it could not be fitted. */
void orch_candidates_cross_validate(const struct orch_scenario *q, const struct orch_rows *rows,
                                    const int *folds, const struct orch_learn_options *options,
                                    double **out);
/** Calls the progress callback of the options, if there is one. */
void orch_learn_report_step(const struct orch_learn_options *options, const struct orch_scenario *q,
                            const struct orch_model_candidate *candidate,
                            struct orch_learn_step step);
/** Lists the candidates for this question and number of rows. NULL on error; caller unrefs. */
GArray *orch_candidates_list(const struct orch_scenario *q, const struct orch_rows *rows,
                             const struct orch_learn_options *options, GError **error);

bool orch_member_fit(struct orch_member *member, const struct orch_scenario *q,
                     const struct orch_rows *rows, uint64_t seed, GError **error);
void orch_member_release(struct orch_member *member);
/** Log predictions of the target; NaN where the member's white box has no prediction. */
void orch_member_predict(const struct orch_member *member, const struct orch_rows *rows,
                         double *out);

/** Computes stacking weights: non-negative with sum 1, minimising the absolute relative error of
 * the weighted mean of answers[candidate][row] (log) against `logs`, with rows weighted by
 * `row_weights` (NULL: equally). `groups` is the number of groups held out, 0 if rows were held
 * out. With few groups the weights are shrunk towards equal ones, because errors of few groups are
 * poor evidence. `prior`: these by candidate, up to a factor; NULL: all equal. */
void orch_stacking_fit(double *const *predictions, const double *prior, size_t count,
                       const double *logs, const double *row_weights, size_t rows, const int *folds,
                       size_t groups, double *out_weights);
/** Weighted mean of the predictions (weights of missing ones are redistributed) and the standard
 * deviation among them. For unseen groups (`of_groups`) a tenth of the weight is trimmed at each
 * end, because single models may extrapolate badly. */
void orch_stacking_predict(double *const *predictions, const double *weights, size_t count,
                           size_t rows, bool of_groups, double *out, double *out_spread);
double orch_mean_relative_error(const double *predictions, const double *logs,
                                const double *row_weights, size_t rows);
/** Geometric mean over the folds of a model's mean relative error, so that a group that is hard for
 * all models does not decide which is best. Without folds (NULL): the mean relative error. */
double orch_error_by_folds(const double *predictions, const double *logs, const double *row_weights,
                           const int *folds, size_t rows);

/** Fits the interval to the errors of held-out rows (`answers` are log predictions, NaN: none).
 * `unseen` is the number of groups held out, 0 if rows were held out. */
bool orch_conformal_fit(struct orch_conformal *interval, const struct orch_rows *rows,
                        const double *predictions, const double *spread, const int *folds,
                        const double *row_weights, size_t unseen, uint64_t seed, GError **error);
void orch_conformal_release(struct orch_conformal *interval);
/** Half the interval of the interval on the log scale, by row. */
void orch_conformal_half_widths(const struct orch_conformal *interval, const struct orch_rows *rows,
                                const double *predictions, const double *spread, double *out);

#endif
