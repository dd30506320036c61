/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regression models behind one interface, one file each. A model learns a target y from rows; the
 * caller decides what the target is (a time, its logarithm, its log ratio to an analytical model),
 * see predictors/learn/learn.h. For a given seed the result does not depend on the number of
 * threads.
 */
#ifndef ORCH_PREDICTORS_MODEL_H
#define ORCH_PREDICTORS_MODEL_H

#include "predictors/features/json_arrays.h"
#include "predictors/features/matrix.h"

#include <stdint.h>

/** Loss that a model minimises. */
enum orch_loss {
    ORCH_LOSS_SQUARED,
    ORCH_LOSS_RELATIVE, /* y is a logarithm: |exp(prediction - y) - 1|, the absolute relative error
                         */
    ORCH_LOSS_QUANTILE, /* quantile loss: a share of knobs.level of the rows is below the prediction
                         */
};

/** Hyperparameters. Each model ignores those that it does not have. */
struct orch_hyperparams {
    enum orch_loss loss;  /* boost; the others use the squared loss */
    double level;         /* of ORCH_LOSS_QUANTILE, in (0, 1) */
    double ridge;         /* linear: penalty; mlp: weight decay; kernel: noise */
    int depth;            /* trees */
    int trees;            /* forest, boost: maximum */
    int leaf_rows;        /* trees: minimum rows per leaf */
    double rate;          /* boost, mlp: learning rate */
    double feature_share; /* forest, boost: share of features considered for a split */
    double row_share;     /* boost: share of rows used for a tree */
    bool all_trees;       /* boost: no early stopping */
    double length;        /* kernel: length scale, in standard deviations of the columns */
    int neighbours;       /* knn */
    int width;            /* mlp: of the first hidden layer */
    int later_widths;     /* mlp: of the second and third; 0: like the first */
    int epochs;           /* mlp */
    double share;         /* of the model's correction of a white box that counts; 0: all of it */
};

struct orch_model_kind {
    const char *name;  /* "linear"; NULL ends the table */
    const char *about; /* one line */
    enum orch_coding coding;
    /** Fits y to values (column-major, cols x rows). `monotone` by column, or NULL: 1 requires a
     * non-decreasing prediction. Returns NULL with ORCH_ERROR_USAGE on failure. */
    void *(*fit)(const double *values, size_t rows, int cols, const double *y,
                 const int8_t *monotone, const struct orch_hyperparams *hyperparams, uint64_t seed,
                 GError **error);
    /** Predicts rows with the same columns. */
    void (*predict)(const void *fitted, const double *values, size_t rows, double *out);
    void (*release)(void *fitted);
    /** Converts the fit to and from JSON. Loading fails with NULL and ORCH_ERROR_RECIPE. */
    json_t *(*save)(const void *fitted, enum orch_save_style style);
    void *(*load)(const json_t *saved, int cols, GError **error);
    /** Sets `*out` to the grid of hyperparameters and returns its size. */
    int (*grid)(const struct orch_hyperparams **out);
    /** The hyperparameters that this kind has, as text: "5 neighbours". The caller frees. */
    char *(*describe)(const struct orch_hyperparams *hyperparams);
};

/** All model kinds, ended by a NULL name. */
const struct orch_model_kind *orch_model_kinds(void);
/** Their names, in the same order, then NULL. */
const char *const *orch_model_names(void);
/** Finds a kind by name. Fails with ORCH_ERROR_USAGE and the nearest name. */
const struct orch_model_kind *orch_model_find(const char *name, GError **error);
/** Formats the hyperparameters that a kind has: "depth 6, 400 trees, rate 0.1". Caller frees. */
char *orch_hyperparams_text(const struct orch_model_kind *kind,
                            const struct orch_hyperparams *hyperparams);

/** A fitted model with its encoding. */
struct orch_model {
    const struct orch_model_kind *kind;
    struct orch_hyperparams hyperparams;
    struct orch_coder *coder;
    void *fitted;
};
/** Fits a model; `monotone` is by feature of the matrix, or NULL. Fails with ORCH_ERROR_USAGE
 * without rows or for a target that is not finite. Caller frees. */
struct orch_model *orch_model_fit(const struct orch_model_kind *kind,
                                  const struct orch_matrix *matrix, const double *y,
                                  const int8_t *monotone,
                                  const struct orch_hyperparams *hyperparams, uint64_t seed,
                                  GError **error);
/** Predicts every row. */
void orch_model_predict(const struct orch_model *model, const struct orch_matrix *matrix,
                        double *out);
void orch_model_free(struct orch_model *model);

json_t *orch_hyperparams_save(const struct orch_hyperparams *hyperparams);
struct orch_hyperparams orch_hyperparams_load(const json_t *saved); /* missing members are 0 */
/** Converts a fitted model with its encoding to and from a JSON object. Loading fails with NULL and
 * ORCH_ERROR_RECIPE if the object is invalid or the kind unknown. Caller frees. */
json_t *orch_model_save(const struct orch_model *model, enum orch_save_style style);
struct orch_model *orch_model_load(const json_t *saved, GError **error);

/* The kinds (one file each). */
extern const struct orch_model_kind ORCH_MODEL_LINEAR, ORCH_MODEL_TREE, ORCH_MODEL_FOREST,
    ORCH_MODEL_BOOST, ORCH_MODEL_KNN, ORCH_MODEL_MLP, ORCH_MODEL_KERNEL;

#endif
