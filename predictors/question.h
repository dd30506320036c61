/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of predictors/learn: one question, its trials, its mixture, its interval. */
#ifndef ORCH_PREDICTORS_QUESTION_H
#define ORCH_PREDICTORS_QUESTION_H

#include "predictors/learn.h"
#include "predictors/nearness.h"
#include "predictors/whitebox.h"

#define ORCH_FOLDS 5
#define ORCH_LEVEL 0.90
#define ORCH_MEMBERS_MAX 20
#define ORCH_FEW_GROUPS 7 /* with fewer, their errors hardly say which model is best */

/** A model of the mixture, fitted on all rows. */
struct orch_member {
    struct orch_learn_trial trial;
    struct orch_whitebox *white; /* NULL: black */
    struct orch_model *model;    /* NULL: the white box alone */
    double low, high;            /* of what the model learned: answers far outside are drawn in */
};

/** How wide the interval is. */
struct orch_width {
    struct orch_model *difficulty; /* log of the error's size to expect; NULL: the same for all */
    double factor;                 /* quantile of |error| over its expected size */
    GPtrArray *groups;             /* char *: groups with a factor of their own, or NULL */
    GArray *group_factors;         /* double */
};

struct orch_question {
    char *column;      /* NULL: rows like those seen */
    bool is_lone;      /* one level of it was seen: none can be left out */
    GPtrArray *known;  /* char *: levels of the column that were seen */
    GPtrArray *hidden; /* char *: features that would tell a level by name */
    GPtrArray *facts;  /* char *: features that are one number for each level; without a column: the
                          GPU's */
    GArray *trials;    /* struct orch_learn_trial, best first */
    struct orch_member members[ORCH_MEMBERS_MAX];
    int member_count;
    bool is_baseline;
    double error, median; /* mean and median relative error of its mixture on rows left out */
    size_t judged;        /* how many those were */
    struct orch_width width;
    char *behind; /* JSON of members and width that was not read yet, or NULL */
};
/** Reads what stands behind. False with ORCH_ERROR_RECIPE when that is broken. */
bool orch_question_ready(struct orch_question *q, GError **error);

#define ORCH_QUESTIONS_MAX 3
struct orch_learned {
    struct orch_question *questions[ORCH_QUESTIONS_MAX];
    int count;
    struct orch_nearness *nearness;
};
struct orch_question *orch_question_new(const char *column);

/** Folds: by the levels of `groups` (NULL: rows at random). 0 .. ORCH_FOLDS-1, the caller frees. */
int *orch_folds_new(char *const *groups, size_t rows, uint64_t seed);
/** Text of a category column by row (borrowed from the matrix, "" where missing; g_free). */
char **orch_levels_of(const struct orch_matrix *matrix, int column);

/** Rows as a question's models see them: without its hidden features. */
struct orch_rows *orch_question_rows(const struct orch_question *q, const struct orch_rows *rows);
void orch_question_rows_free(struct orch_rows *view);
/** A list of `count` arrays, each `rows` long, and NULL; orch_answers_free. */
double **orch_answers_new(size_t count, size_t rows);
void orch_answers_free(double **answers);
/** For qsort of double, the least first. */
/** Is a feature one of the question's facts? For orch_matrix_without. */
bool orch_question_has_fact(const char *name, const void *question);

/** Log answers (of the target) of `count` trials for rows that their fold did not see: out[trial]
 * is `rows` long, NaN where a trial could not be fitted. */
void orch_try(const struct orch_question *q, const struct orch_rows *rows, const int *folds,
              const struct orch_learn_options *options, double **out);
/** Tells the options' listener, if any, that a trial is begun. */
void orch_learn_tell(const struct orch_learn_options *options, const struct orch_question *q,
                     const struct orch_learn_trial *trial, struct orch_learn_step step);
/** What is worth trying with so many rows. */
GArray *orch_trials_list(const struct orch_question *q, const struct orch_rows *rows,
                         const struct orch_learn_options *options, GError **error);

bool orch_member_fit(struct orch_member *member, const struct orch_question *q,
                     const struct orch_rows *rows, uint64_t seed, GError **error);
void orch_member_release(struct orch_member *member);
/** Log answers of the target; NaN where its white box has none. */
void orch_member_predict(const struct orch_member *member, const struct orch_rows *rows,
                         double *out);

/** Weights that are not negative and sum to 1, for answers out[trial][row] (log) to be near log of
 * the target in absolute relative error; rows weigh by `row_weights`. Where `groups` were left out
 * (0: rows were), each of the folds says how good a model is, and the fewer there were, the less
 * their errors say, and the more equal the weights. */
void orch_mix(double *const *answers, size_t count, const double *logs, const double *row_weights,
              size_t rows, const int *folds, size_t groups, double *out_weights);
/** Mixture of answers, the weights of those that are there brought to 1 in sum, and the deviation
 * among them. Of groups never seen (`of_groups`) without a tenth of the weight at either end: there
 * a model may be led astray. */
void orch_mix_apply(double *const *answers, const double *weights, size_t count, size_t rows,
                    bool of_groups, double *out, double *out_spread);
double orch_mean_relative_error(const double *answers, const double *logs,
                                const double *row_weights, size_t rows);
/** How good a model is by each fold in turn, as the geometric mean of its errors: a group that is
 * hard for all models says no more than the others which is the best. Without folds (NULL): the
 * mean relative error. */
double orch_error_by_folds(const double *answers, const double *logs, const double *row_weights,
                           const int *folds, size_t rows);

/** Fits the width of a question's interval to errors (log answer - log target, NaN: none) of rows
 * that were left out; `unseen`: groups that were left out whole, 0: rows were. */
bool orch_width_fit(struct orch_width *width, const struct orch_rows *rows, const double *answers,
                    const double *spread, const int *folds, const double *row_weights,
                    size_t unseen, char *const *groups, uint64_t seed, GError **error);
void orch_width_release(struct orch_width *width);
/** Half the width of the interval's logarithm, by row. */
void orch_width_of(const struct orch_width *width, const struct orch_rows *rows,
                   const double *answers, const double *spread, double *out);

#endif
