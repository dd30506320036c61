/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of predictors/matched_rows: the effects (matched_effects.c), which matched_learn.c
 * learns and matched_save.c saves. */
#ifndef ORCH_PREDICTORS_MATCHED_PRIVATE_H
#define ORCH_PREDICTORS_MATCHED_PRIVATE_H

#include "predictors/matched/matched_rows.h"

#define ORCH_MATCHED_RATES 3 /* bandwidth, peak, watts */

/** What a row has in a column. */
struct orch_value {
    const char *word; /* borrowed; NULL: a number */
    double number;    /* NaN with no word: missing */
};

/** What one value of a column adds to the logarithm of the target. */
struct orch_effect {
    char *word; /* NULL: a number */
    double number, weight;
    /* Of numbers, once they are ready: the weights of this and all smaller numbers, and of this and
     * all larger ones, each times its likeness to this one. */
    double up_to, from;
};

enum orch_matched_kind {
    ORCH_MATCHED_NUMBER,
    ORCH_MATCHED_BATCH,       /* per device */
    ORCH_MATCHED_BATCH_TOTAL, /* of all devices */
    ORCH_MATCHED_WORD,
    ORCH_MATCHED_CHIP,         /* of the row's GPU, which boards of several names have */
    ORCH_MATCHED_WORD_ON_CHIP, /* a word of the column together with the chip */
    ORCH_MATCHED_KINDS
};

struct orch_matched_column {
    char *name; /* of the feature; "" for the chip */
    enum orch_matched_kind kind;
};

/** The effects of the values of all columns. */
struct orch_effects {
    double constant;
    GArray **columns; /* struct orch_effect */
    double *smallest; /* by column: the smallest batch, as a logarithm; NaN: there is none */
};

struct orch_matched {
    double middle, sign; /* of the batch: 1 for times, -1 for rates */
    double unknown;      /* what a network or task without rows adds */
    double centre[ORCH_MATCHED_RATES], slopes[ORCH_MATCHED_RATES];
    GPtrArray *columns; /* struct orch_matched_column * */
    struct orch_effects *all;
    GHashTable *own; /* name of a network or task -> struct orch_effects * */
};

struct orch_matched *orch_matched_new(void);
void orch_matched_add_column(struct orch_matched *matched, const char *name,
                             enum orch_matched_kind kind);
/** True for a column of networks or tasks. */
bool orch_matched_is_work(const struct orch_matrix_feature *feature);
/** The names of a row's network and task, "" without one. Caller frees. */
char *orch_matched_work_name(const struct orch_matrix *matrix, size_t row);
/** Index in the matrix of each column, -1: absent. Caller frees. */
int *orch_matched_places(const struct orch_matched *matched, const struct orch_matrix *matrix);
/** The value of a column in one row of a GPU; `at`: its index in the matrix, -1: absent. */
struct orch_value orch_matched_value(const struct orch_matrix *matrix, int at,
                                     const struct orch_matched_column *column, size_t row,
                                     const struct orch_gpu_spec *gpu);
/** Logarithms of a GPU's rates. */
void orch_matched_rates(const struct orch_row_device *device, double *out);
/** What the effects common to all networks and tasks add for a row; `values` by column. */
double orch_matched_common(const struct orch_matched *matched, const struct orch_value *values,
                           const double *rates);

bool orch_matched_is_word(const struct orch_matched_column *column);
bool orch_matched_is_batch(const struct orch_matched_column *column);
/** How much two values of a column resemble each other, from 0 to 1. */
double orch_matched_likeness(const struct orch_matched_column *column, const struct orch_value *a,
                             const struct orch_value *b);

struct orch_effects *orch_effects_new(size_t columns);
void orch_effects_free(void *effects);
/** Adds a weight to the effect of a value; a missing value has none. */
void orch_effects_add(GArray *effects, const struct orch_value *value, double weight);
/** Sorts the effects of a column, to which none is added any more, for orch_effects_sum. */
void orch_effects_ready(GArray *effects, const struct orch_matched_column *column);
/** Sum of a column's effects, each times its likeness to the value. */
double orch_effects_sum(const GArray *effects, const struct orch_matched_column *column,
                        const struct orch_value *value);

#endif
