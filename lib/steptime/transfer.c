/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/transfer.h"

#include "lib/base/error.h"
#include "lib/steptime/traffic.h"

#include <math.h>
#include <string.h>

struct fitted_arch {
    const char *arch;
    double factor;
    bool was_measured;
};
#include "lib/steptime/transfer_fit.inc"

/* Ratio of the tensor cores' rate to the fp32 peak for GeForce cards, as data sheets give half of
 * it (fp32 accumulation); others: the GPU table. */
static const struct {
    const char *arch;
    double ratio;
} TENSOR[] = {{"Turing", 8}, {"Ampere", 4}, {"Ada", 4}, {"Blackwell", 4}};

const char *orch_transfer_source(void)
{
    return FIT_SOURCE;
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
    for (size_t i = 0; i < G_N_ELEMENTS(FITTED); i++)
        if (strcmp(FITTED[i].arch, arch) == 0)
            return (int)i;
    return -1;
}

static double tensor_ratio(const char *arch)
{
    for (size_t i = 0; i < G_N_ELEMENTS(TENSOR); i++)
        if (strcmp(TENSOR[i].arch, arch) == 0)
            return TENSOR[i].ratio;
    return 0;
}

static double peak_of(const struct orch_gpu_spec *gpu, enum orch_precision precision)
{
    double peak = orch_gpu_peak(gpu, precision);
    double tensor = gpu->tensor16_tflops > 0
                        ? MAX(gpu->tensor16_tflops, gpu->fp32_tflops * tensor_ratio(gpu->arch))
                        : 0;
    if (peak > 0 && precision == ORCH_TF32)
        return tensor / 2 * 1e12;
    bool half = precision == ORCH_FP16 || precision == ORCH_BF16;
    return peak > 0 && half && tensor > 0 ? tensor * 1e12 : peak;
}

double orch_transfer_peak(const struct orch_gpu_spec *gpu, enum orch_precision precision)
{
    return find_arch(gpu->arch) < 0 ? 0 : peak_of(gpu, precision);
}

bool orch_transfer_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                       struct orch_transfer *out)
{
    int arch = find_arch(gpu->arch);
    *out = (struct orch_transfer){0};
    if (gpu->unit == ORCH_GPU_HOST || !*gpu->compute_capability || arch < 0)
        return false;
    out->peak_flops = peak_of(gpu, precision);
    out->bandwidth = gpu->bandwidth_gbs * 1e9;
    if (!(out->peak_flops > 0) || !(out->bandwidth > 0))
        return false;
    /* without 16-bit tensor cores: stored in 16 bits, computed in 32 */
    bool plain = precision == ORCH_FP16 && !(gpu->tensor16_tflops > 0);
    /* libraries that may use tf32 take the units of fp32 where these are faster */
    double fp32 = precision == ORCH_TF32 ? peak_of(gpu, ORCH_FP32_IEEE) / out->peak_flops : 0;
    for (int k = 0; k < ORCH_TRANSFER_KINDS; k++)
        out->shares[k] =
            MAX(SHARES[plain ? ORCH_FP32 : precision][k], fp32 * SHARES[ORCH_FP32_IEEE][k]) *
            FITTED[arch].factor * (is_geforce(gpu->name) ? GEFORCE : 1);
    out->memory_share = MEMORY;
    out->arch_was_measured = FITTED[arch].was_measured;
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
