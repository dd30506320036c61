/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers as the training engine runs them, timed one by one. */
#ifndef ORCH_PLUGINS_LAYERBENCH_UNITS_H
#define ORCH_PLUGINS_LAYERBENCH_UNITS_H

#include "plugins/layerbench/layerbench.h"

#include "lib/net/layer_spec.h"

/** Median times of a part of a step in ms, of one batch. */
struct layerbench_times {
    double forward, backward;               /* the device is waited for after each pass */
    double forward_queued, backward_queued; /* on a GPU it is waited for once; else the same */
    double spread; /* largest less smallest repeat of forward and backward together */
};

/** A trial's measurements. */
struct layerbench_bench {
    const struct orch_torch *torch;
    const struct params *p;
    const char *device;
    const struct orch_host *host;
    GString *csv; /* a row for each layer and each other part of a step */
    int64_t rows, left_out;
    struct layerbench_times sum; /* over the layers */
    double gflop;                /* of the layers: forward, and backward if they train */
    /* Sum over the layers: each as long as its operations take at peak_gflop_s, or its bytes at
     * peak_gbyte_s, whichever is longer. */
    double roofline_ms;
    double peak_gflop_s, peak_gbyte_s; /* measured; NaN: not measured */
    GArray *times, *spreads;           /* double: ms of each row, forward and backward */
};

void orch_layerbench_bench_init(struct layerbench_bench *bench, const struct orch_torch *torch,
                                const struct params *p, const char *device,
                                const struct orch_host *host);
void orch_layerbench_bench_clear(struct layerbench_bench *bench);

/** True if passes are timed as in training. */
bool orch_layerbench_trains(const struct params *p);
/** True if times are those that the process's thread computed. */
bool orch_layerbench_processor_time(const struct params *p);
/** Now, in ms, on the clock of the parameters. */
double orch_layerbench_now_ms(const struct params *p);
/** Makes a model in the precision and layout of the parameters, with the optimizer set. The caller
 * frees; the net must outlive it. */
struct orch_torch_model *orch_layerbench_model(const struct layerbench_bench *bench,
                                               const struct orch_net *net, GError **error);

/** Measures the largest GFLOP/s of a matrix product and GB/s of an element-wise operation on this
 * device, in the trial's precision: the denominators of utilisation and bandwidth_share. */
bool orch_layerbench_measure_peak(struct layerbench_bench *bench, GError **error);

/** Times the nodes of a graph from `first` on and adds a row for each. Input and flatten do no
 * work and have no row; a norm that is computed together with what follows it is one row.
 * `input_learns`: the gradient of the graph's input counts, too. */
bool orch_layerbench_graph(struct layerbench_bench *bench, const struct orch_net *net,
                           struct orch_torch_model *model, int first, int64_t batch,
                           bool input_learns, GError **error);
/** Times what a step does besides its layers and adds a row for each: the batch to the device
 * ("input"), the loss and the update. Without training only the first. Adds their times to
 * `*out_ms`. */
bool orch_layerbench_other_parts(struct layerbench_bench *bench, const struct orch_net *net,
                                 struct orch_torch_model *model, int64_t batch, double *out_ms,
                                 GError **error);

/** Times the layers that are listed, or draws them; then reports. An ORCH_ status. */
int orch_layerbench_given(const struct orch_torch *torch, const struct params *p,
                          const char *device, const struct orch_host *host);
/** Validates the list; reports the first entry that is wrong through the host. */
bool orch_layerbench_check_list(const struct params *p, const struct orch_host *host);

/** Reports results and the artifact `rows`. `others_ms` are the times of the other parts, NaN where
 * there are none. */
bool orch_layerbench_report(const struct layerbench_bench *bench, double others_ms, GError **error);

#endif
