/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A network's time as the sum of its layers (Justus et al. 2018). The times of convolutions and
 * dense layers are learned from measured layers of any geometry; an epoch is ceil(images / batch)
 * batches. The activation after a layer belongs to it. Pools, norms and other operations are not
 * covered: they are counted, and their time is missing from the sum.
 */
#ifndef ORCH_FEATURES_LEARN_LAYERWISE_H
#define ORCH_FEATURES_LEARN_LAYERWISE_H

#include "lib/base/interval.h"
#include "lib/net/net.h"
#include "predictors/learn/learn.h"

struct orch_layerwise;

/** Learns from measured layers; either table may be NULL. `conv` has the columns batch, in_hw,
 * kernel, cin, cout, stride, pad_same and optionally act, bias, opt, gpu and others; `dense` has
 * batch, din, dout and the same optional ones. `target` is the column of times in ms. Rows are
 * copied as needed. Caller frees. */
struct orch_layerwise *orch_layerwise_learn(const struct orch_rows *conv,
                                            const struct orch_rows *dense, const char *target,
                                            const struct orch_learn_options *options,
                                            GError **error);
void orch_layerwise_free(struct orch_layerwise *layerwise);

struct orch_layerwise_job {
    int64_t batch;
    const char *optimizer;    /* as in the column `opt`; "none": forward only */
    const char *const *facts; /* name, value, ..., NULL: further columns such as gpu or threads; may
                                 be NULL */
};

struct orch_layerwise_layer {
    const char *name; /* borrowed from the network */
    bool is_conv;
    struct orch_interval ms;
    bool is_outside; /* a size is outside the measured range */
};

struct orch_layerwise_time {
    GArray *layers;                  /* struct orch_layerwise_layer: the covered layers */
    struct orch_interval batch_ms;   /* sums over the layers, as if all errors had the same sign */
    int outside;                     /* number of layers outside the measured range */
    int left_out[ORCH_NET_OP_COUNT]; /* operations not covered. Activations after a layer are
                                        covered;  operations that move no data (flatten) are not
                                        counted */
    int left_out_count;
};

/** Predicts a batch. The network must outlive the result. Grouped convolutions and layers whose
 * kind has no table are left out. Fails with ORCH_ERROR_USAGE if no layer is covered. Caller
 * frees. */
struct orch_layerwise_time *orch_layerwise_predict(const struct orch_layerwise *layerwise,
                                                   const struct orch_net *net,
                                                   const struct orch_layerwise_job *job,
                                                   GError **error);
void orch_layerwise_time_free(struct orch_layerwise_time *time);

/** Seconds per epoch: batches (the last one counts fully) times the time of a batch. */
double orch_layerwise_epoch_s(double batch_ms, int64_t images, int64_t batch);

/** Lists the operations left out: "4 maxpool2d, 2 dropout" or "nothing". Caller frees. */
char *orch_layerwise_left_out_text(const struct orch_layerwise_time *time);

#endif
