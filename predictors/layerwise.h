/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A network's time as the sum of its layers' (Justus et al. 2018): the time of each convolution and
 * dense layer is learned from measured layers of any geometry, T_batch = sum of the layers, an
 * epoch is as many batches as hold the images. The activation behind a layer belongs to it. Pools,
 * norms and the rest are not covered: they are counted, and their time is missing from the sum.
 */
#ifndef ORCH_PREDICTORS_LAYERWISE_H
#define ORCH_PREDICTORS_LAYERWISE_H

#include "lib/net/net.h"
#include "predictors/learn.h"

struct orch_layerwise;

/** Learns from measured layers, either table may be NULL: `conv` has the columns batch, in_hw,
 * kernel, cin, cout, stride, pad_same and perhaps act, bias, opt, gpu and others; `dense` batch,
 * din, dout and the same. `target` is their time, in ms. Rows are copied where needed. The caller
 * frees. */
struct orch_layerwise *orch_layerwise_learn(const struct orch_rows *conv,
                                            const struct orch_rows *dense, const char *target,
                                            const struct orch_learn_options *options,
                                            GError **error);
void orch_layerwise_free(struct orch_layerwise *layerwise);

struct orch_layerwise_job {
    int64_t batch;
    const char *optimizer;    /* as the rows' column `opt` has it; "none": forward only */
    const char *const *facts; /* name, value, ..., NULL: what else the rows say, as gpu or threads;
                                 NULL: nothing */
};

struct orch_layerwise_layer {
    const char *name; /* the network's */
    bool is_conv;
    double ms, low, high;
    bool is_outside; /* a size is beyond all that was measured */
};

struct orch_layerwise_time {
    GArray *layers;                   /* struct orch_layerwise_layer: those covered */
    double batch_ms, low_ms, high_ms; /* the ends are sums of the layers' ends, as if all erred the
                                         same way */
    int outside;                      /* layers beyond what was measured */
    int left_out[ORCH_NET_OP_COUNT];  /* operations that are not covered; activations behind a layer
                                         are, and what moves no data (flatten) is not counted */
    int left_out_count;
};

/** Predicts a batch. The network must live as long as the answer. A convolution in groups or a
 * layer of a kind that has no table is left out. ORCH_ERROR_USAGE: no layer is covered. The caller
 * frees. */
struct orch_layerwise_time *orch_layerwise_predict(const struct orch_layerwise *layerwise,
                                                   const struct orch_net *net,
                                                   const struct orch_layerwise_job *job,
                                                   GError **error);
void orch_layerwise_time_free(struct orch_layerwise_time *time);

/** Seconds of an epoch: batches (the last one counts whole) times a batch. */
double orch_layerwise_epoch_s(double batch_ms, int64_t images, int64_t batch);

/** "4 maxpool2d, 2 dropout": what was left out; "nothing". The caller frees. */
char *orch_layerwise_left_out_text(const struct orch_layerwise_time *time);

#endif
