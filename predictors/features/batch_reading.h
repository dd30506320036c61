/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The batch of a row is that of one GPU, unless its column is called batch_total. Some tables give
 * the batch of all GPUs under the other name: it then grows as the number of GPUs does, while the
 * network, the GPU and the precision stay. */
#ifndef ORCH_PREDICTORS_BATCH_READING_H
#define ORCH_PREDICTORS_BATCH_READING_H

#include "lib/base/csv.h"

/**
 * Divides the batch by the number of GPUs in both tables where it is that of all GPUs, and returns
 * a sentence that says so and by what rows; NULL if it is the batch of one GPU, or if too little
 * tells, or if one of the two is the `target`. `other`: a table of the same origin (training and
 * test rows), or NULL. The caller frees.
 */
char *orch_batch_reading_apply(struct orch_csv *csv, struct orch_csv *other, const char *target);

#endif
