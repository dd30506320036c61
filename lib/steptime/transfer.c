/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/transfer.h"

#include "lib/base/error.h"
#include "lib/base/interval.h"
#include "lib/steptime/traffic.h"

#include <math.h>
#include <string.h>

/* ---- coefficients, printed by bench/distil.py --------------------------------------------------
 */

/* dense, wino, point, group, linear */
static const double SHARES[ORCH_PRECISION_COUNT][ORCH_TRANSFER_KINDS] = {
    [ORCH_FP64] = {0.3956, 0.6385, 0.7632, 0.1039, 0.5873},
    [ORCH_FP32] = {0.4090, 1.0750, 0.6630, 0.0876, 0.6430},
    [ORCH_TF32] = {0.3621, 0.3336, 0.3797, 0.0186, 0.3497},
    [ORCH_FP16] = {0.2856, 0.2710, 0.3856, 0.0191, 0.3993},
    [ORCH_BF16] = {0.2856, 0.2710, 0.3856, 0.0191, 0.3993},
    [ORCH_FP32_IEEE] = {0.4090, 1.0750, 0.6630, 0.0876, 0.6430}, /* fp32's, of GPUs without tf32 */
};

static const struct {
    const char *arch;
    double factor;
    double tensor; /* ratio of the tensor cores' rate to the fp32 peak for GeForce cards, as data
                      sheets give half of it (fp32 accumulation); 0: use the GPU table */
    bool was_measured;
} ARCHS[] = {
    {"Kepler", 0.768, 0, true}, {"Maxwell", 0.912, 0, true}, {"Pascal", 0.945, 0, true},
    {"Volta", 1.187, 0, true},  {"Turing", 0.912, 8, true},  {"Ampere", 0.972, 4, true},
    {"Ada", 0.985, 4, true},    {"Hopper", 1, 0, false},     {"Blackwell", 1.066, 4, true},
};

#define MEMORY 0.765
#define KERNEL_S 20.1e-6
#define KERNEL_BACK_S 73.1e-6
#define LAUNCH_S 30.7e-6
#define LAUNCH_BACK_S 84.1e-6
#define P 1.58
#define LAG 4.0
#define GEFORCE 1.251
#define ERROR_80 0.278
#define ERROR_90 0.358
/* From the K80, P100 and V100, each left out: few other GPUs share their architecture. */
#define NEW_ARCH_ERROR 0.5
/* A chip that was left out of the fit (bench/distil.py --intervals): the deviation of the chips'
 * offsets, the 95 % quantile of Student's t for so many, and 90 % of the logarithms of what a
 * chip's rows are off by around its offset. */
#define OFFSET_SD 0.160
#define OFFSET_T 1.805 /* 18 degrees of freedom; with the error of a mean of 12 pairs */
#define SPREAD_90 0.408

/* Chips of which the fit has six rows or more, by the GPUs that have them. */
static const char *const CHIPS[] = {"K80",
                                    "K80-board",
                                    "TITAN-X-Maxwell",
                                    "TITAN-X-Pascal",
                                    "TITAN-Xp",
                                    "GTX-1080-Ti",
                                    "P100-SXM2",
                                    "P100-PCIe-16GB",
                                    "P100-PCIe-12GB",
                                    "RTX-2080-Ti",
                                    "TITAN-RTX",
                                    "Quadro-RTX-8000",
                                    "RTX-3090",
                                    "RTX-A6000",
                                    "A100-SXM4-40GB",
                                    "A100-SXM4-80GB",
                                    "A100-PCIe-40GB",
                                    "A100-PCIe-80GB",
                                    "RTX-PRO-6000-MaxQ",
                                    NULL};

const char *orch_transfer_source(void)
{
    return "815 public measurements of 18 networks on 20 GPUs, by seven groups from 2016 to 2025";
}

/* ---- a GPU -------------------------------------------------------------------------------------
 */

/* True for "GTX-1080-Ti", "RTX-3090"; false for Quadro, TITAN, RTX-A6000, RTX-6000-Ada. */
static bool is_geforce(const char *name)
{
    const char *digits = name + 4;
    if (!g_str_has_prefix(name, "GTX") && !g_str_has_prefix(name, "RTX"))
        return false;
    size_t n = strlen(name) > 4 ? strspn(digits, "0123456789") : 0;
    bool ends =
        !digits[n] || strcmp(digits + n, "-Ti") == 0 || g_str_has_prefix(digits + n, "-SUPER");
    return (n == 3 || n == 4) && ends;
}

static int find_arch(const char *arch)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ARCHS); i++)
        if (strcmp(ARCHS[i].arch, arch) == 0)
            return (int)i;
    return -1;
}

static double peak_of(const struct orch_gpu_spec *gpu, enum orch_precision precision, int arch)
{
    double peak = orch_gpu_peak(gpu, precision);
    double tensor = gpu->tensor16_tflops > 0
                        ? MAX(gpu->tensor16_tflops, gpu->fp32_tflops * ARCHS[arch].tensor)
                        : 0;
    if (peak > 0 && precision == ORCH_TF32)
        return tensor / 2 * 1e12;
    bool half = precision == ORCH_FP16 || precision == ORCH_BF16;
    return peak > 0 && half && tensor > 0 ? tensor * 1e12 : peak;
}

double orch_transfer_peak(const struct orch_gpu_spec *gpu, enum orch_precision precision)
{
    int arch = find_arch(gpu->arch);
    return arch < 0 ? 0 : peak_of(gpu, precision, arch);
}

double orch_transfer_chip_error(double runs)
{
    const double row = SPREAD_90 / ORCH_NORMAL_90;
    double offset = OFFSET_SD / sqrt(1 + runs * OFFSET_SD * OFFSET_SD / (row * row));
    return hypot(OFFSET_T * offset, SPREAD_90);
}

double orch_transfer_new_error(void)
{
    return NEW_ARCH_ERROR;
}

bool orch_transfer_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                       struct orch_transfer *out)
{
    int arch = find_arch(gpu->arch);
    *out = (struct orch_transfer){0};
    if (gpu->unit == ORCH_GPU_HOST || !*gpu->compute_capability || arch < 0)
        return false;
    out->peak_flops = peak_of(gpu, precision, arch);
    out->bandwidth = gpu->bandwidth_gbs * 1e9;
    if (!(out->peak_flops > 0) || !(out->bandwidth > 0))
        return false;
    /* without 16-bit tensor cores: stored in 16 bits, computed in 32 */
    bool plain = precision == ORCH_FP16 && !(gpu->tensor16_tflops > 0);
    for (int k = 0; k < ORCH_TRANSFER_KINDS; k++)
        out->shares[k] = SHARES[plain ? ORCH_FP32 : precision][k] * ARCHS[arch].factor *
                         (is_geforce(gpu->name) ? GEFORCE : 1);
    out->memory_share = MEMORY;
    out->error_80 = ERROR_80;
    out->arch_was_measured = ARCHS[arch].was_measured;
    out->chip_was_measured = g_strv_contains(CHIPS, gpu->name);
    out->error_90 = out->chip_was_measured   ? ERROR_90
                    : out->arch_was_measured ? orch_transfer_chip_error(0)
                                             : MAX(NEW_ARCH_ERROR, orch_transfer_chip_error(0));
    return true;
}

/* ---- a step ------------------------------------------------------------------------------------
 */

static double share_of(const struct orch_transfer *t, const struct orch_net_node *node,
                       const struct orch_net_cost *cost)
{
    if (node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_CONV_TRANSPOSE2D) {
        if (node->groups > 1)
            return t->shares[ORCH_TRANSFER_GROUP];
        bool whole = node->stride_h == 1 && node->stride_w == 1;
        if (whole && node->kernel_h == 1 && node->kernel_w == 1)
            return t->shares[ORCH_TRANSFER_POINT];
        bool is_3x3 = whole && node->kernel_h == 3 && node->kernel_w == 3;
        return t->shares[is_3x3 ? ORCH_TRANSFER_WINO : ORCH_TRANSFER_DENSE];
    }
    return cost->macs ? t->shares[ORCH_TRANSFER_LINEAR] : 1;
}

static double pass_s(const struct orch_transfer *t, struct orch_traffic traffic, double share,
                     double kernel_s)
{
    double compute = traffic.flops / (t->peak_flops * share);
    double memory = traffic.bytes / (t->bandwidth * t->memory_share);
    return pow(pow(compute, P) + pow(memory, P), 1 / P) + kernel_s;
}

/* True for views and operations without a significant kernel outside random training. */
static bool is_free(enum orch_net_op op)
{
    return op == ORCH_NET_INPUT || op == ORCH_NET_DROPOUT || op == ORCH_NET_FLATTEN ||
           op == ORCH_NET_STOCHASTIC_DEPTH || op == ORCH_NET_FIRST_TOKEN;
}

bool orch_transfer_step(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_transfer *t, const struct orch_roofline_work *work,
                        struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                        GError **error)
{
    double host_s = 0;
    *out = (struct orch_roofline_step){0};
    if (work->batch < 1) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use at least 1 image",
                       "the batch size is %" G_GINT64_FORMAT " images", work->batch);
        return false;
    }
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        struct orch_roofline_layer layer = {0};
        if (!node->is_auxiliary && !is_free(node->op)) {
            struct orch_traffic f = orch_traffic_forward(node, &costs[i], work);
            struct orch_traffic b = orch_traffic_backward(node, &costs[i], work);
            double share = share_of(t, node, &costs[i]);
            layer.forward_s = pass_s(t, f, share, KERNEL_S);
            bool has_backward = work->training && costs[i].learns;
            layer.backward_s = has_backward ? pass_s(t, b, share, KERNEL_BACK_S) : 0;
            host_s += LAUNCH_S + (has_backward ? LAUNCH_BACK_S : 0);
            out->flops += f.flops + (work->training ? b.flops : 0);
            out->bytes += f.bytes + (work->training ? b.bytes : 0);
        }
        out->forward_s += layer.forward_s;
        out->backward_s += layer.backward_s;
        if (layers)
            layers[i] = layer;
    }
    double update = orch_traffic_update(net, costs, work).bytes / (t->bandwidth * t->memory_share);
    out->update_s = work->training ? update : 0;
    out->total_s = out->forward_s + out->backward_s + out->update_s;
    double whole = pow(pow(out->total_s, LAG) + pow(host_s, LAG), 1 / LAG);
    if (out->total_s > 0)
        orch_roofline_scale(layers, net->nodes->len, whole / out->total_s, out);
    return true;
}
