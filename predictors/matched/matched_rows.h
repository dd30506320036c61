/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicts rows of a GPU that was not measured from the measured rows of the same network or task.
 *
 * A row's ratio to the rates of its GPU (predictors/features/row_device.h) is a sum of effects: of
 * its network or task, of its settings in general and for that network, of its GPU. They are one
 * Gaussian process with fixed variances (Rasmussen and Williams 2006, chapter 2), so that a setting
 * which was not measured takes what is known of the nearest ones, and no more. A task
 * without rows has the level that errs least on the tasks with rows; a network without rows whose
 * operations are known has no answer, since other models know it better.
 */
#ifndef ORCH_PREDICTORS_MATCHED_ROWS_H
#define ORCH_PREDICTORS_MATCHED_ROWS_H

#include "predictors/features/rows.h"

struct orch_matched;

/** True if the rows name networks or tasks, and the operations of most are unknown. */
bool orch_matched_applies(const struct orch_rows *rows);
/** Sets the weights of rows to 0 whose network or task has no row in another fold: without it they
 * are another question. */
void orch_matched_drop_lone(const struct orch_matrix *matrix, const int *folds,
                            double *inout_weights);
/** Learns `y`, the log of each row's target over what the rates give (NaN: unknown). `matrix`
 * holds the features of the same rows, without those of the GPU. NULL if there is nothing to
 * learn from. Caller frees. */
struct orch_matched *orch_matched_fit(const struct orch_rows *rows,
                                      const struct orch_matrix *matrix, const double *y);
void orch_matched_free(struct orch_matched *matched);
/** Predicts `y` of rows of any GPU. NaN without a GPU that is known, and for a network without rows
 * whose operations are known. */
void orch_matched_predict(const struct orch_matched *matched, const struct orch_rows *rows,
                          double *out);

/** Converts to and from a JSON object. Loading fails with NULL and ORCH_ERROR_RECIPE. */
json_t *orch_matched_save(const struct orch_matched *matched);
struct orch_matched *orch_matched_load(const json_t *saved, GError **error);

#endif
