/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Models that learn: one interface, one file each. A model learns a target y of any rows; what the
 * target is (a time, its logarithm, its logarithm over a white box) is its user's business
 * (predictors/learn.h). Given the seed the result is the same for every number of threads.
 */
#ifndef ORCH_PREDICTORS_MODEL_H
#define ORCH_PREDICTORS_MODEL_H

#include "predictors/matrix.h"
#include "predictors/save.h"

#include <stdint.h>

/** What a model keeps small. */
enum orch_loss {
    ORCH_LOSS_SQUARED,
    ORCH_LOSS_RELATIVE, /* y is a logarithm: |exp(answer - y) - 1|, the absolute relative error */
    ORCH_LOSS_QUANTILE, /* knobs.level of the rows lie below the answer */
};

/** One setting of a model's knobs; what a kind does not have it passes over. */
struct orch_knobs {
    enum orch_loss loss;  /* boost; others have the squared one */
    double level;         /* of ORCH_LOSS_QUANTILE, in (0, 1) */
    double ridge;         /* linear: penalty; mlp: weight decay; kernel: noise */
    int depth;            /* trees */
    int trees;            /* forest, boost: at most */
    int leaf_rows;        /* trees */
    double rate;          /* boost, mlp: learning rate */
    double feature_share; /* forest, boost: of features a split may choose from */
    double row_share;     /* boost: of rows a tree sees */
    bool all_trees;       /* boost: no rows are set aside to stop early */
    double length;        /* kernel: of its reach, in deviations of the columns */
    int neighbours;       /* knn */
    int width;            /* mlp: of its first hidden layer */
    int later_widths;     /* mlp: of the second and third; 0: as the first */
    int epochs;           /* mlp */
};

struct orch_model_kind {
    const char *name;  /* "linear"; NULL ends the table */
    const char *about; /* one line */
    enum orch_coding coding;
    /** Fits values (column-major, cols x rows) to y; NULL with ORCH_ERROR_USAGE when it cannot.
     * `monotone` by column (may be NULL): 1 never falls. */
    void *(*fit)(const double *values, size_t rows, int cols, const double *y,
                 const int8_t *monotone, const struct orch_knobs *knobs, uint64_t seed,
                 GError **error);
    /** Answers for rows of the same columns. */
    void (*predict)(const void *fitted, const double *values, size_t rows, double *out);
    void (*release)(void *fitted);
    /** What was fitted as JSON, and back: NULL with ORCH_ERROR_RECIPE when it is broken. */
    json_t *(*save)(const void *fitted, enum orch_save_style style);
    void *(*load)(const json_t *saved, int cols, GError **error);
    /** Settings to choose from, each row of `knobs`; returns how many. */
    int (*grid)(const struct orch_knobs **out);
};

/** All kinds, ended by a NULL name. */
const struct orch_model_kind *orch_model_kinds(void);
/** ORCH_ERROR_USAGE with the nearest name. */
const struct orch_model_kind *orch_model_find(const char *name, GError **error);
/** "depth 6, 400 trees, rate 0.1": the knobs that a kind has. The caller frees. */
char *orch_knobs_text(const struct orch_model_kind *kind, const struct orch_knobs *knobs);

/** A fitted model with its coding. */
struct orch_model {
    const struct orch_model_kind *kind;
    struct orch_knobs knobs;
    struct orch_coder *coder;
    void *fitted;
};
/** Fits a kind; `monotone` by feature of the matrix (may be NULL). ORCH_ERROR_USAGE for no rows or
 * a target that is not finite. The caller frees. */
struct orch_model *orch_model_fit(const struct orch_model_kind *kind,
                                  const struct orch_matrix *matrix, const double *y,
                                  const int8_t *monotone, const struct orch_knobs *knobs,
                                  uint64_t seed, GError **error);
/** Answers for every row into out. */
void orch_model_predict(const struct orch_model *model, const struct orch_matrix *matrix,
                        double *out);
void orch_model_free(struct orch_model *model);

json_t *orch_knobs_save(const struct orch_knobs *knobs);
struct orch_knobs orch_knobs_load(const json_t *saved); /* what is missing is 0 */
/** A fitted model with its coding as a JSON object, and back (the caller frees): NULL with
 * ORCH_ERROR_RECIPE for what is broken or of a kind not known here. */
json_t *orch_model_save(const struct orch_model *model, enum orch_save_style style);
struct orch_model *orch_model_load(const json_t *saved, GError **error);

/* The kinds (one file each). */
extern const struct orch_model_kind ORCH_MODEL_LINEAR, ORCH_MODEL_TREE, ORCH_MODEL_FOREST,
    ORCH_MODEL_BOOST, ORCH_MODEL_KNN, ORCH_MODEL_MLP, ORCH_MODEL_KERNEL;

#endif
