/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input of the models: rows of named features, which are numbers or categories. */
#ifndef ORCH_PREDICTORS_MATRIX_H
#define ORCH_PREDICTORS_MATRIX_H

#include "predictors/features/json_arrays.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct orch_matrix_feature {
    char *name;
    GPtrArray *levels; /* char *: of a category, in order of appearance; NULL for a number */
};

struct orch_matrix {
    size_t rows;
    GPtrArray *features; /* struct orch_matrix_feature * */
    GPtrArray *columns;  /* double *, `rows` long: a number or the index of a level; NaN: missing */
};

struct orch_matrix *orch_matrix_new(size_t rows);
void orch_matrix_free(struct orch_matrix *matrix);

/** Adds a column of missing values and returns it for filling (borrowed). */
double *orch_matrix_add_number(struct orch_matrix *matrix, const char *name);
/** The same for a category; orch_matrix_level gives the values. */
double *orch_matrix_add_category(struct orch_matrix *matrix, const char *name);
/** Index of a level of feature `column`; adds it if it is new. */
double orch_matrix_level(struct orch_matrix *matrix, int column, const char *level);

int orch_matrix_cols(const struct orch_matrix *matrix);
const struct orch_matrix_feature *orch_matrix_feature(const struct orch_matrix *matrix, int column);
const double *orch_matrix_column(const struct orch_matrix *matrix, int column);
/** Index of a feature, -1 if there is none. */
int orch_matrix_find(const struct orch_matrix *matrix, const char *name);

/** Copies some rows in the given order; all levels are kept. */
struct orch_matrix *orch_matrix_pick(const struct orch_matrix *matrix, const size_t *rows,
                                     size_t count);

/** Copies the features for which `hides` returns false. */
struct orch_matrix *orch_matrix_without(const struct orch_matrix *matrix,
                                        bool (*hides)(const char *name, const void *data),
                                        const void *data);

/** Encoding of categories and numbers for a model. A coder is fitted on the training rows and
 * applied to any rows with features of the same names. A feature that is absent there counts as
 * missing; a number that was a category in training is looked up by its text. A version of software
 * (orch_feature_is_software) without rows counts as the nearest one with rows. */
enum orch_coding {
    ORCH_CODING_MEAN, /* target encoding of categories: mean target of the level, shrunk towards the
                         overall mean according to the variance within levels, then standardised; 0
                         for an unknown level. Numbers unchanged, missing values stay missing: for
                         trees. */
    ORCH_CODING_ONE_HOT, /* categories: an indicator for each level that has rows, so that an
                            unknown level resembles none of them more than another, or the target
                            encoding with more than 64 levels. Numbers: standardised, plus their
                            logarithm if all are positive; missing: 0 (the mean) plus an indicator.
                            For linear models. */
    ORCH_CODING_NEAR, /* the same, but categories with more than 64 levels become 24 pseudo-random
                         signs per level, so that any two are about equally distant. For distances.
                       */
};
struct orch_coder;
struct orch_coder *orch_coder_fit(const struct orch_matrix *matrix, const double *target,
                                  enum orch_coding coding);
void orch_coder_free(struct orch_coder *coder);
int orch_coder_cols(const struct orch_coder *coder);
/** Index of the feature (at the time of fitting) that a column derives from. */
int orch_coder_source(const struct orch_coder *coder, int column);
/** Encodes all rows: column-major, cols x rows. Caller frees with g_free. */
double *orch_coder_apply(const struct orch_coder *coder, const struct orch_matrix *matrix);
/** Encodes the training rows. The mean of a row's level is computed without the row and a fifth of
 * the others, so that no model sees its own target. */
double *orch_coder_apply_learned(const struct orch_coder *coder, const struct orch_matrix *matrix,
                                 const double *target);
/** Converts a coder to and from a JSON array. Loading fails with NULL and ORCH_ERROR_RECIPE. */
json_t *orch_coder_save(const struct orch_coder *coder, enum orch_save_style style);
struct orch_coder *orch_coder_load(const json_t *saved, GError **error);

#endif
