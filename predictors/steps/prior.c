/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/steps/prior.h"

#include "lib/base/error.h"
#include "lib/base/interval.h"
#include "lib/steptime/checkpointing.h"

#include <math.h>
#include <string.h>

/* CUDA context, library handles, workspaces: milabench's peaks for a batch of none, without weights
 * and states, are 0.9 to 1.5 GB */
#define RESERVED_BYTES 1.0e9
#define BUCKET_BYTES (25.0 * 1024 * 1024) /* PyTorch's DistributedDataParallel */
#define BORROWED_SPREAD 0.5
/* 90 % of 107 published steps with 2 to 64 workers (TensorFlow's benchmarks, parameter servers and
 * replicas) were within a factor exp(+-this) of the prediction */
#define SEVERAL_ERROR 0.58
#define HOST_SPREAD 0.5
#define LAUNCHES_ERROR_90 0.6 /* a guess: milabench's two hosts differ by 1.4 in T5 of batch 1 */

static const char TENSORFLOW[] = "TensorFlow's published tf_cnn_benchmarks, 2017 (K80)";
static const char JCJOHNSON[] = "jcjohnson/cnn-benchmarks, cuDNN 5, 2017";
static const char PASCAL[] = "ryujaehun/pytorch-gpu-benchmark 2021; jcjohnson/cnn-benchmarks 2017; "
                             "tf_cnn_benchmarks 2017";
static const char TURING[] = "ryujaehun/pytorch-gpu-benchmark 2021; lambdal/deeplearning-benchmark "
                             "2025; u39kun/deep-learning-benchmark 2019";
static const char AMPERE[] = "ryujaehun/pytorch-gpu-benchmark 2021; lambdal/deeplearning-benchmark "
                             "2025; timm's benchmark of training steps (PyTorch 1.10 to 1.12)";

/* Fixed time per operation and pass: launching it, filling the GPU, and the framework's overhead.
 * One value for all GPUs, as it does not depend on the GPU. */
#define OPERATION_S 70e-6

/* Printed by bench/prior.py. Shares of compute near 1 are plausible: Winograd convolutions need
 * fewer operations than are counted. */
static const struct orch_prior_class CLASSES[] = {
    {"Kepler", "fp32", 0.75, 0.30, OPERATION_S, 0.37, 0.42, 14, 4, TENSORFLOW},
    {"Maxwell", "fp32", 1.00, 0.50, OPERATION_S, 0.15, 0.66, 16, 6, JCJOHNSON},
    {"Pascal", "fp32", 1.00, 0.70, OPERATION_S, 0.20, 0.65, 44, 17, PASCAL},
    {"Pascal", "fp16", 1.00, 0.30, OPERATION_S, 0.27, 0.61, 23, 14, PASCAL},
    {"Volta,Turing", "fp32", 1.00, 1.00, OPERATION_S, 0.25, 0.66, 61, 15, TURING},
    {"Volta,Turing", "fp16", 0.70, 0.60, OPERATION_S, 0.21, 0.39, 62, 14, TURING},
    {"Ampere,Ada", "tf32", 0.55, 0.60, OPERATION_S, 0.15, 0.25, 20, 14, AMPERE},
    {"Ampere,Ada", "fp16", 0.75, 0.50, OPERATION_S, 0.13, 0.51, 62, 16, AMPERE},
    {.archs = NULL},
};

/* A measured processor: its peaks are measured matrix products and copies, so shares are high. They
 * are from trainings on one processor (AMD EPYC, LibTorch 1.13: bench/processor_forecast.py), so
 * for others they are a guess. */
static const struct orch_prior_class HOST = {
    "processor", "fp32", 0.8, 0.8, 10e-6, HOST_SPREAD, 0, 0, 0, "no measurement: a guess"};

static const struct orch_prior_class *class_of(const char *arch, const char *precision)
{
    for (const struct orch_prior_class *c = CLASSES; c->archs; c++) {
        g_auto(GStrv) archs = g_strsplit(c->archs, ",", -1);
        if (g_strv_contains((const char *const *)archs, arch) &&
            strcmp(c->precision, precision) == 0)
            return c;
    }
    return NULL;
}

/* Class for an architecture without measurements: the newest one measured at that precision. fp64
 * and plain fp32 on tensor-core GPUs use the newest one measured at fp32. */
static const struct orch_prior_class *nearest_class(const char *arch, enum orch_precision precision)
{
    bool is_old = strcmp(arch, "Kepler") == 0 || strcmp(arch, "Maxwell") == 0;
    switch (precision) {
    case ORCH_FP64:
    case ORCH_FP32:
    case ORCH_FP32_IEEE:
        return class_of("Turing", "fp32");
    case ORCH_TF32:
        return class_of("Ampere", "tf32");
    case ORCH_FP16:
    case ORCH_BF16:
        return is_old ? class_of("Pascal", "fp16") : class_of("Ampere", "fp16");
    }
    return NULL;
}

void orch_prior_set_processor(struct orch_prior *prior, const struct orch_processor_rates *rates)
{
    struct orch_roofline_device *d = &prior->device;
    d->peak_flops = rates->flops;
    d->bandwidth = rates->bandwidth[0];
    int caches = 0;
    for (int i = ORCH_TRIADS - 1; i > 0 && caches < ORCH_ROOFLINE_CACHES; i--)
        if (rates->bandwidth[i] > d->bandwidth) {
            d->caches[caches].bytes = (double)ORCH_TRIAD_SIZES[i].bytes;
            d->caches[caches++].bandwidth = rates->bandwidth[i];
        }
}

static bool has_experts(const struct orch_net *net)
{
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_node(net, (int)i)->experts)
            return true;
    return false;
}

static bool has_packed(const struct orch_net *net)
{
    for (guint i = 0; i < net->tensors->len; i++)
        if (orch_net_tensor(net, (int)i)->stored_bits)
            return true;
    return false;
}

/* Takes the transferred model, if it is allowed and covers the GPU. */
static void transfer(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                     const struct orch_net *net, const struct orch_kernel_switches *switches,
                     struct orch_prior *inout)
{
    struct orch_kernel_model *kernels = &inout->kernels;
    bool is_covered = orch_transfer_for(gpu, precision, &inout->transfer);
    inout->error =
        orch_transfer_error_of(gpu, precision, net->name, is_covered ? &inout->transfer : NULL);
    inout->is_by_kernels = switches && orch_net_is_attention(net) &&
                           orch_kernel_gpu_for(gpu, precision, switches->watts, &kernels->gpu);
    inout->is_transferred = inout->is_by_kernels || (switches && is_covered);
    if (inout->is_by_kernels) {
        kernels->switches = *switches;
        kernels->spec = gpu;
        kernels->has_experts = has_experts(net);
        kernels->has_packed = has_packed(net);
        inout->error_90 = orch_kernel_model_error(kernels);
    } else if (inout->is_transferred)
        inout->error_90 = orch_transfer_error_half(&inout->error, 0);
}

bool orch_prior_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                    const struct orch_net *net, const struct orch_kernel_switches *switches,
                    struct orch_prior *out, GError **error)
{
    const char *name = orch_precision_names()[precision];
    double peak = orch_gpu_peak(gpu, precision);
    *out = (struct orch_prior){0};
    if (!(peak > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       gpu->unit == ORCH_GPU_HOST && precision == ORCH_BF16
                           ? "'orch doctor --bench' measures the peak on CPUs that compute in "
                             "bf16; on other CPUs fp32 is faster"
                           : "choose another --precision: 'orch gpu show' lists the peaks",
                       "%s has no known peak speed at %s", gpu->name, name);
        return false;
    }
    out->from = gpu->unit == ORCH_GPU_HOST
                    ? &HOST
                    : class_of(gpu->arch, precision == ORCH_BF16 ? "fp16" : name);
    out->is_borrowed = !out->from;
    if (!out->from)
        out->from = nearest_class(gpu->arch, precision);
    out->error_90 = ORCH_NORMAL_90 * (out->is_borrowed ? BORROWED_SPREAD : out->from->spread);
    out->shift = 1;
    out->device = (struct orch_roofline_device){.peak_flops = peak,
                                                .bandwidth = gpu->bandwidth_gbs * 1e9,
                                                .memory_bytes = orch_gpu_memory_bytes(gpu),
                                                .compute_share = out->from->compute_share,
                                                .memory_share = out->from->memory_share,
                                                .launch_s = out->from->launch_s,
                                                .is_host = gpu->unit == ORCH_GPU_HOST};
    if (net)
        transfer(gpu, precision, net, switches, out);
    return true;
}

double orch_prior_reserved_bytes(void)
{
    return RESERVED_BYTES;
}

double orch_prior_several_error(void)
{
    return SEVERAL_ERROR;
}

bool orch_prior_own_step(const struct orch_net *net, const struct orch_net_cost *costs,
                         const struct orch_prior *prior, const struct orch_roofline_work *work,
                         struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                         GError **error)
{
    g_autofree struct orch_roofline_layer *own =
        work->checkpoints && !layers ? g_new0(struct orch_roofline_layer, net->nodes->len) : NULL;
    layers = own ? own : layers;
    bool ok = prior->is_by_kernels
                  ? orch_kernel_step(net, costs, &prior->kernels, work, layers, out, error)
              : prior->is_transferred
                  ? orch_transfer_step(net, costs, &prior->transfer, work, layers, out, error)
                  : orch_roofline_step(net, costs, &prior->device, work, layers, out, error);
    if (ok && work->checkpoints && work->training)
        orch_checkpointing_add(net, costs, layers, out);
    if (ok)
        orch_roofline_scale(layers, net->nodes->len, prior->shift, out);
    return ok;
}

double orch_prior_error_90(const struct orch_prior *prior, const struct orch_roofline_step *own)
{
    return hypot(prior->error_90,
                 prior->is_host_measured ? 0 : LAUNCHES_ERROR_90 * own->host_share);
}

static void exchange_gradients(const struct orch_net *net, const struct orch_net_cost *costs,
                               const struct orch_exchange *exchange,
                               const struct orch_roofline_layer *layers,
                               struct orch_prior_step *out)
{
    guint count = net->nodes->len;
    g_autofree double *backward = g_new0(double, count);
    g_autofree double *bytes = g_new0(double, count);
    double all = 0;
    for (guint i = 0; i < count; i++) {
        backward[i] = layers[i].backward_s;
        bytes[i] = 4.0 * (double)costs[i].trained;
        all += bytes[i];
    }
    out->exchange_s = orch_exchange_s(exchange, all);
    out->exposed_s = orch_exchange_exposed_s(exchange, backward, bytes, (int)count, BUCKET_BYTES);
}

bool orch_prior_predict(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_prior *prior, const struct orch_roofline_work *work,
                        const struct orch_exchange *exchange, const struct orch_interval *own,
                        struct orch_prior_step *out, GError **error)
{
    *out = (struct orch_prior_step){0};
    g_autofree struct orch_roofline_layer *layers =
        g_new0(struct orch_roofline_layer, net->nodes->len);
    if (!orch_prior_own_step(net, costs, prior, work, layers, &out->own, error) ||
        (exchange && !orch_exchange_check(exchange, error)))
        return false;
    if (own && out->own.total_s > 0)
        orch_roofline_scale(layers, net->nodes->len, own->mid / out->own.total_s, &out->own);
    int64_t workers = exchange ? exchange->workers : 1;
    if (work->training && workers > 1)
        exchange_gradients(net, costs, exchange, layers, out);
    out->total_s.mid = out->own.total_s + out->exposed_s;
    /* best case: the exchange overlaps completely; worst case: not at all; each with its error */
    double error_90 = orch_prior_error_90(prior, &out->own);
    double factor = exp(workers > 1 ? MAX(error_90, SEVERAL_ERROR) : error_90);
    double low = own ? own->low : out->own.total_s / factor;
    double high = own ? own->high : out->own.total_s * factor;
    out->total_s.low = low;
    out->total_s.high = high + MAX(out->exchange_s, out->exposed_s) * factor;
    out->images_per_s = (double)(work->batch * workers) / out->total_s.mid;
    out->memory_bytes = orch_roofline_memory(net, costs, work) + RESERVED_BYTES;
    double room = prior->device.memory_bytes;
    out->fits = room <= 0 || out->memory_bytes <= room;
    out->largest_batch =
        room > 0 ? orch_roofline_largest_batch(net, costs, room, RESERVED_BYTES, work) : 0;
    return true;
}
