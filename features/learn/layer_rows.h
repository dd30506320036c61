/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step of a network as the sum of its parts, from the rows of plugin layerbench: layers of every
 * kind, and what a step does besides (the batch to the device, the loss, the update).
 *
 * A layer that was measured (same text, batch, pass, precision, layout and facts) has the median of
 * its measurements. Other layers are learned from all rows of the same pass, precision, layout and
 * facts. The other parts are scaled from the nearest measured one. layerwise.h does the same for
 * the timings of Justus et al., which have convolutions and dense layers only.
 */
#ifndef ORCH_FEATURES_LEARN_LAYER_ROWS_H
#define ORCH_FEATURES_LEARN_LAYER_ROWS_H

#include "lib/base/csv.h"
#include "lib/net/net.h"
#include "predictors/learn/learn.h"

struct orch_layer_rows;

/** Reads rows: the columns of layerbench's artifact `rows`, and any number of facts (gpu, threads),
 * which are the columns `facts` (NULL-terminated). Fails with ORCH_ERROR_RECIPE for a missing
 * column or a field that is no number. Caller frees. */
struct orch_layer_rows *orch_layer_rows_read(const struct orch_csv *csv, const char *const *facts,
                                             GError **error);
void orch_layer_rows_free(struct orch_layer_rows *rows);
size_t orch_layer_rows_count(const struct orch_layer_rows *rows);

struct orch_layer_rows_job {
    int64_t batch;
    const char *optimizer; /* "none": forward only */
    const char *precision, *layout;
    const char *const *facts; /* values of the columns `facts`, NULL-terminated */
};

struct orch_layer_rows_sum {
    double layers_ms, others_ms; /* their sum is a step, or a forward pass */
    double learned_ms;           /* in layers_ms: layers that were not measured */
    int measured, learned;       /* number of layers */
    int others;                  /* parts besides the layers that have a measurement */
};

/** Predicts a step. On a GPU the times without a wait after each pass are summed. Fails with
 * ORCH_ERROR_USAGE if there are no rows of the job's pass, precision, layout and facts, or too few
 * to learn the layers that were not measured. */
bool orch_layer_rows_sum(const struct orch_layer_rows *rows, const struct orch_net *net,
                         const struct orch_layer_rows_job *job,
                         const struct orch_learn_options *options, struct orch_layer_rows_sum *out,
                         GError **error);

#endif
