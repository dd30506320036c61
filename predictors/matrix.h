/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What models learn from: rows of named features, numbers and categories, and a target. */
#ifndef ORCH_PREDICTORS_MATRIX_H
#define ORCH_PREDICTORS_MATRIX_H

#include "predictors/save.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct orch_feature {
    char *name;
    GPtrArray *levels; /* char *: of a category, in order of appearance; NULL: a number */
};

struct orch_matrix {
    size_t rows;
    GPtrArray *features; /* struct orch_feature * */
    GPtrArray *columns;  /* double *, `rows` long: a number, or a level's index; NaN: missing */
};

struct orch_matrix *orch_matrix_new(size_t rows);
void orch_matrix_free(struct orch_matrix *matrix);

/** Adds a column, all missing, and returns it (borrowed, to be filled in). */
double *orch_matrix_add_number(struct orch_matrix *matrix, const char *name);
/** The same of a category; its levels come with orch_matrix_level. */
double *orch_matrix_add_category(struct orch_matrix *matrix, const char *name);
/** Index of a level of feature `column`, made when it is new. */
double orch_matrix_level(struct orch_matrix *matrix, int column, const char *level);

int orch_matrix_cols(const struct orch_matrix *matrix);
const struct orch_feature *orch_matrix_feature(const struct orch_matrix *matrix, int column);
const double *orch_matrix_column(const struct orch_matrix *matrix, int column);
/** Index of a feature, -1 when there is none. */
int orch_matrix_find(const struct orch_matrix *matrix, const char *name);

/** A matrix of some rows, in that order; levels are kept. */
struct orch_matrix *orch_matrix_pick(const struct orch_matrix *matrix, const size_t *rows,
                                     size_t count);

/** A matrix of the features that `hides` does not say true of. */
struct orch_matrix *orch_matrix_without(const struct orch_matrix *matrix,
                                        bool (*hides)(const char *name, const void *data),
                                        const void *data);

/** How categories become numbers, and numbers what a model likes; fitted on the rows to learn from,
 * applied to any rows with features of the same names. A feature that was not there is
 * missing; a number that was a category goes by its text. */
enum orch_coding {
    ORCH_CODING_MEAN, /* categories: mean of the target, drawn to the overall mean as the variance
                         within levels asks for, centred and scaled; an unknown level: 0; numbers
                         as they are. Missing stays missing: for trees. */
    ORCH_CODING_ONE_HOT, /* categories: a column for each level but the first, with more than 64
                            levels as above; numbers: centred and scaled, beside their logarithm
                            where all are positive; missing: 0 (the mean) and a column that says so.
                            For linear models. */
    ORCH_CODING_NEAR,    /* the same, but categories with more than 64 levels as 24 signs that are
                            each level's own: any two are about as far apart. For distances. */
};
struct orch_coder;
struct orch_coder *orch_coder_fit(const struct orch_matrix *matrix, const double *target,
                                  enum orch_coding coding);
void orch_coder_free(struct orch_coder *coder);
int orch_coder_cols(const struct orch_coder *coder);
/** The feature that a column comes from, by its index when the coder was fitted. */
int orch_coder_source(const struct orch_coder *coder, int column);
/** Codes all rows: column-major, cols x rows (g_free). */
double *orch_coder_apply(const struct orch_coder *coder, const struct orch_matrix *matrix);
/** The same of the rows that the coder was fitted on, where a category's mean leaves the row (and a
 * fifth of the others) out, so that no model learns its own target. */
double *orch_coder_apply_learned(const struct orch_coder *coder, const struct orch_matrix *matrix,
                                 const double *target);
/** A coder as a JSON array, and back: NULL with ORCH_ERROR_RECIPE. */
json_t *orch_coder_save(const struct orch_coder *coder, enum orch_save_style style);
struct orch_coder *orch_coder_load(const json_t *saved, GError **error);

#endif
