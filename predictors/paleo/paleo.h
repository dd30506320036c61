/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PALEO: the time of a training step from the geometry of a network and the specifications of a
 * device (Qi, Sparks, Talwalkar: "PALEO: A Performance Model for Deep Neural Networks", ICLR 2017).
 * Results equal those of the authors' program; comments name its differences from the paper.
 *
 * Units: milliseconds, FLOPs (a multiply-add is 2), bytes (a value is 4); clock in MHz, peak in
 * 10^9 FLOP/s, memory bandwidth in 2^30 bytes/s, network bandwidth in 10^9 bit/s. The "platform
 * percent of peak" (PPP) divides the times of computation and device memory (ppp_comp) and of the
 * network (ppp_comm); the time of the weight update is not divided.
 */
#ifndef ORCH_PREDICTORS_PALEO_H
#define ORCH_PREDICTORS_PALEO_H

#include "lib/net/net.h"
#include "predictors/steps/geometry.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_paleo_device {
    const char *name;
    double clock_mhz;
    double peak_gflops;
    double bandwidth_gib_s;
    bool is_gpu;
};
/** Finds one of PALEO's own devices by "paleo:K80" or "K80"; its K80 is the whole board at its base
 * clock. Returns NULL with ORCH_ERROR_NOT_FOUND and the nearest name. */
const struct orch_paleo_device *orch_paleo_device_find(const char *name, GError **error);

struct orch_paleo_network {
    const char *name;
    double gbit_s;
};
/** Finds one of PALEO's own networks; NULL with ORCH_ERROR_NOT_FOUND and the nearest name. */
const struct orch_paleo_network *orch_paleo_network_find(const char *name, GError **error);

enum orch_paleo_scheme {
    ORCH_PALEO_ONE_TO_ALL,           /* 2 (n-1) messages */
    ORCH_PALEO_TREE_ALL_REDUCE,      /* 2 ceil(log2 n) */
    ORCH_PALEO_BUTTERFLY_ALL_REDUCE, /* ceil(log2 n) */
    ORCH_PALEO_BUTTERFLY_MIXING,     /* 1, for one worker too */
};
#define ORCH_PALEO_SCHEME_COUNT (ORCH_PALEO_BUTTERFLY_MIXING + 1)
/** "TreeAllReduce", ... */
const char *orch_paleo_scheme_name(enum orch_paleo_scheme scheme);
bool orch_paleo_scheme_find(const char *name, enum orch_paleo_scheme *out, GError **error);

enum orch_paleo_scaling {
    ORCH_PALEO_STRONG, /* `batch` images per step in total: ceil(batch / n) per worker */
    ORCH_PALEO_WEAK,   /* `batch` images per worker */
};

/** Algorithm for convolutions with windows above 1 x 1. PALEO queries cuDNN for each; without it,
 * all are matrix products. */
enum orch_paleo_algorithm {
    ORCH_PALEO_GEMM,
    ORCH_PALEO_FFT,
    ORCH_PALEO_FFT_TILING, /* tiles of 32 x 32 */
};

struct orch_paleo_options {
    struct orch_paleo_device device;
    struct orch_paleo_network network;
    double ppp_comp, ppp_comm; /* in (0, 1] */
    bool pipeline; /* a layer takes the maximum of computation and memory, not their sum */
    enum orch_paleo_algorithm algorithm;
    int64_t batch;
    enum orch_paleo_scaling scaling;
    enum orch_paleo_scheme scheme;
};
/** PALEO's defaults: its K80, ethernet20, GEMM, no pipelining, PPP 0.62 and 0.72; batch 128, weak
 * scaling, TreeAllReduce. */
struct orch_paleo_options orch_paleo_defaults(void);
/** Validates the options. Fails with ORCH_ERROR_USAGE and a hint that names the option. */
bool orch_paleo_check(const struct orch_paleo_options *options, int64_t workers, GError **error);

/** Time of an operation. With FFT_TILING, `flops` and `bytes` are those of one tile. */
struct orch_paleo_time {
    double comp_ms, mem_ms;
    double flops, bytes;
};
/** The sum of both, or their maximum with pipelining. */
double orch_paleo_time_ms(struct orch_paleo_time time, bool pipeline);

/** A convolution with stride 1 that computes a forward pass (with its real stride) or a gradient:
 * input n x h x w x c, filter kh x kw x f_in x f_out, output out_n x out_h x out_w x f_out.
 * `holes_*` are the shares of zeros that a stride causes in the input or the filter. */
struct orch_paleo_conv {
    int64_t n, h, w, c;
    int64_t kernel_h, kernel_w, f_in, f_out;
    int64_t pad_h, pad_w;
    int64_t out_n, out_h, out_w;
    double holes_input, holes_filter;
};
struct orch_paleo_conv orch_paleo_conv_forward(const struct orch_layer *layer, int64_t batch);
struct orch_paleo_conv orch_paleo_conv_data_gradient(const struct orch_layer *layer, int64_t batch);
struct orch_paleo_conv orch_paleo_conv_filter_gradient(const struct orch_layer *layer,
                                                       int64_t batch);

/** Times of one layer for `batch` images on one worker. For pools and dropout bwd_data is the whole
 * backward pass. */
struct orch_paleo_layer_time {
    struct orch_paleo_time fwd, bwd_data, bwd_filter;
    double fwd_ms, bwd_ms; /* with the options' pipelining */
};
struct orch_paleo_layer_time orch_paleo_layer(const struct orch_layer *layer,
                                              const struct orch_paleo_options *options,
                                              int64_t batch);

/** Times to read `bytes` from device memory, to send them over the network, and to update
 * weights. */
double orch_paleo_memory_ms(const struct orch_paleo_device *device, double ppp, double bytes);
double orch_paleo_network_ms(double gbit_s, double ppp, double bytes);
double orch_paleo_update_ms(const struct orch_paleo_device *device, double bytes, bool pipeline);
/** Time to exchange gradients of `bytes` between `workers`. */
double orch_paleo_comm_ms(enum orch_paleo_scheme scheme, double gbit_s, double ppp, int64_t workers,
                          double bytes);

/** Times of a network's layers on one worker: the part of a step that does not depend on workers or
 * scheme, so that a sweep computes it once per batch size. */
struct orch_paleo_pass {
    int64_t batch;
    double params_bytes;
    double fwd_ms, bwd_ms, update_ms;
    double fwd_flops, bwd_flops;
};
/** The options must be valid (orch_paleo_check). */
struct orch_paleo_pass orch_paleo_pass(const struct orch_layer_table *table,
                                       const struct orch_paleo_options *options, int64_t batch);

/** A step of data-parallel training. */
struct orch_paleo_step {
    int64_t workers;
    int64_t worker_batch, effective_batch;
    double params_bytes;
    double fwd_ms, bwd_ms, update_ms;
    double comp_ms; /* sum of the three above */
    double comm_ms;
    double total_ms;
    double images_per_s;
};
/** Images per worker and step. */
int64_t orch_paleo_worker_batch(const struct orch_paleo_options *options, int64_t workers);
/** Checks the options and computes a step from the pass with its worker's batch. */
bool orch_paleo_simulate(const struct orch_layer_table *table,
                         const struct orch_paleo_options *options, int64_t workers,
                         struct orch_paleo_step *out, GError **error);

/** Returns whether a name is that of a network of PALEO's repository: "paleo:inception_v3". */
bool orch_paleo_net_is_own(const char *name);
/** The layers of such a network. The caller frees. ORCH_ERROR_NOT_FOUND, with the nearest name. */
struct orch_layer_table *orch_paleo_net_table(const char *name, GError **error);
/** The layers of a network of PALEO's repository or of the zoo. `*out_net` (may be NULL) becomes
 * the zoo's network, or NULL for one of PALEO's. The caller frees both. NULL with an error. */
struct orch_layer_table *orch_paleo_layers(const char *name, struct orch_net **out_net,
                                           GError **error);

#endif
