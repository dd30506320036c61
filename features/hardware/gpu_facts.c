/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/hardware/gpu_facts.h"

#include <string.h>

struct orch_gpu_facts orch_gpu_facts_of(const struct orch_hardware *hardware,
                                        const struct orch_gpu_spec *spec)
{
    const struct orch_price *price =
        orch_hardware_price(hardware, (struct orch_price_query){.gpu = spec->name});
    return (struct orch_gpu_facts){
        .unit_name = orch_gpu_unit_name(spec->unit),
        .tf32_tflops = orch_gpu_peak(spec, ORCH_TF32) / 1e12,
        .bf16_tflops = orch_gpu_peak(spec, ORCH_BF16) / 1e12,
        .ridge = spec->fp32_tflops * 1e3 / spec->bandwidth_gbs,
        .link = spec->unit != ORCH_GPU_HOST ? orch_link_within(spec) : NULL,
        .price = price,
        .usd_per_hour = price ? orch_price_per_gpu(price, false) : 0,
        .spot_usd_per_hour = price ? orch_price_per_gpu(price, true) : 0};
}

char *orch_gpu_stem(const struct orch_gpu_spec *spec)
{
    return g_strndup(spec->name, strcspn(spec->name, "-"));
}

GPtrArray *orch_gpu_relatives(const struct orch_hardware *hardware,
                              const struct orch_gpu_spec *spec)
{
    g_autofree char *stem = orch_gpu_stem(spec);
    GPtrArray *relatives = g_ptr_array_new();
    for (guint i = 0; i < hardware->gpus->len; i++) {
        const struct orch_gpu_spec *other = hardware->gpus->pdata[i];
        bool parts = (spec->unit == ORCH_GPU_DIE && other->unit == ORCH_GPU_BOARD) ||
                     (spec->unit == ORCH_GPU_BOARD && other->unit == ORCH_GPU_DIE);
        if (parts && g_str_has_prefix(other->name, stem))
            g_ptr_array_add(relatives, (void *)(uintptr_t)other);
    }
    return relatives;
}

static void add_offers(GArray *offers, const GPtrArray *prices, const char *gpu)
{
    for (guint i = 0; i < prices->len; i++) {
        const struct orch_price *price = prices->pdata[i];
        const struct orch_offer offer = {price, orch_price_per_gpu(price, false),
                                         orch_price_per_gpu(price, true),
                                         orch_price_has_ended(price)};
        if (!gpu || strcmp(gpu, price->gpu) == 0)
            g_array_append_val(offers, offer);
    }
}

GArray *orch_offers_of(const struct orch_hardware *hardware, const char *gpu)
{
    GArray *offers = g_array_new(FALSE, FALSE, sizeof(struct orch_offer));
    add_offers(offers, hardware->prices, gpu);
    add_offers(offers, hardware->offers, gpu);
    return offers;
}
