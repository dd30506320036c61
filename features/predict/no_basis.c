/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/no_basis.h"

#include <string.h>

#define IN_BF16 "bf16 (measurements of fp16 are used)"

static void add(GPtrArray *what, char *text)
{
    g_ptr_array_add(what, text);
}

static void look_at_kernels(const struct orch_candidate *device, const struct orch_kernel_model *k,
                            GPtrArray *what)
{
    const char *precision = device->precision_name;
    const char *whose = *device->gpu->compute_capability ? "" : " on AMD's GPUs";
    if (!k->gpu.was_measured)
        add(what, g_strdup_printf("matrix products in %s%s", precision, whose));
    else if (k->switches.format == ORCH_FORMAT_FP4 ||
             (k->switches.format != ORCH_FORMAT_16 && strcmp(device->gpu->arch, "Hopper") != 0))
        add(what, g_strdup_printf("a training in %s (single kernels were measured)", precision));
    if (k->has_experts)
        add(what, g_strdup("a mixture of experts (single kernels were measured)"));
    if (k->has_packed)
        add(what, g_strdup("weights held in 8 or 4 bits"));
    if (k->switches.is_compiled)
        add(what, g_strdup("torch.compile"));
    if (!k->switches.is_written_out && (!k->gpu.is_tensor || !k->gpu.was_measured))
        add(what, g_strdup_printf("attention in one kernel in %s%s", precision, whose));
}

static void look_at_transfer(const struct orch_candidate *device,
                             const struct orch_transfer *transfer, GPtrArray *what)
{
    if (!transfer->arch_was_measured)
        add(what, g_strdup_printf("the architecture %s", device->gpu->arch));
    if (device->precision == ORCH_BF16)
        add(what, g_strdup(IN_BF16));
}

char *orch_no_basis(const struct orch_step_answer *answer)
{
    const struct orch_candidate *device = answer->c;
    const struct orch_prior *prior = &answer->prior;
    bool is_near = answer->tier >= ORCH_TIER_SAME_STEP && answer->tier <= ORCH_TIER_SAME_CHIP;
    bool is_own = answer->tier < ORCH_TIER_SAME_STEP || (answer->why && !answer->near.count);
    GPtrArray *what = g_ptr_array_new_with_free_func(g_free);
    if (answer->step.is_guess)
        add(what, g_strdup("sharded weights of such a network, precision and link"));
    if (is_own) /* the device itself was measured */
        ;
    else if (is_near && !answer->near.has_precision && device->precision == ORCH_BF16)
        add(what, g_strdup(IN_BF16));
    else if (is_near && !answer->near.has_precision && device->precision == ORCH_FP64)
        add(what, g_strdup("fp64 on this chip (measurements of other precisions are used)"));
    else if (is_near)
        ;
    else if (prior->is_by_kernels)
        look_at_kernels(device, &prior->kernels, what);
    else if (prior->is_transferred)
        look_at_transfer(device, &prior->transfer, what);
    else if (prior->is_borrowed)
        add(what, g_strdup_printf("the architecture %s in %s", device->gpu->arch,
                                  orch_precision_names()[device->precision]));
    if (!is_own && !prior->is_host_measured && answer->step.own.host_share > 0.5)
        add(what, g_strdup("this host, which takes longer to launch the kernels than the GPU to "
                           "run them"));
    g_ptr_array_add(what, NULL);
    char *text = what->len > 1 ? g_strjoinv("; ", (char **)what->pdata) : NULL;
    g_ptr_array_unref(what);
    return text;
}
