/* SPDX-License-Identifier: MIT */
#include "lib/devices/gpus.h"

#include <string.h>

const struct orch_gpu_spec *orch_gpu_find(const char *name)
{
    for (const struct orch_gpu_spec *spec = orch_gpu_specs(); spec->name; spec++)
        if (orch_gpu_is_named(spec, name))
            return spec;
    for (const struct orch_gpu_spec *spec = orch_gpu_specs(); spec->name; spec++)
        if (orch_gpu_is_named_by_memory(spec, name))
            return spec;
    return NULL;
}

const char *orch_gpu_spec_chip(const struct orch_gpu_spec *spec)
{
    return spec->chip && *spec->chip ? spec->chip : spec->name;
}

const char *orch_gpu_chip(const char *name)
{
    const struct orch_gpu_spec *spec = orch_gpu_find(name);
    return spec ? orch_gpu_spec_chip(spec) : name;
}

const char *orch_gpu_unit_name(enum orch_gpu_unit unit)
{
    static const char *const names[] = {"card", "module", "one GPU of its board", "whole board",
                                        "processor"};
    return names[unit];
}

const char *const *orch_precision_names(void)
{
    static const char *const names[] = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp32-ieee", NULL};
    return names;
}

bool orch_precision_find(const char *text, enum orch_precision *out)
{
    static const struct {
        const char *name;
        enum orch_precision precision;
    } others[] = {{"float", ORCH_FP32},    {"float32", ORCH_FP32},  {"single", ORCH_FP32},
                  {"32", ORCH_FP32},       {"half", ORCH_FP16},     {"float16", ORCH_FP16},
                  {"amp", ORCH_FP16},      {"16", ORCH_FP16},       {"double", ORCH_FP64},
                  {"float64", ORCH_FP64},  {"64", ORCH_FP64},       {"bfloat16", ORCH_BF16},
                  {"amp_bf16", ORCH_BF16}, {"ieee", ORCH_FP32_IEEE}};
    const char *const *names = orch_precision_names();
    for (int i = 0; names[i]; i++) {
        if (g_ascii_strcasecmp(names[i], text) == 0) {
            *out = (enum orch_precision)i;
            return true;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (g_ascii_strcasecmp(others[i].name, text) == 0) {
            *out = others[i].precision;
            return true;
        }
    }
    return false;
}

enum orch_precision orch_precision_run(const struct orch_gpu_spec *spec,
                                       enum orch_precision precision)
{
    bool has_tf32 = orch_gpu_peak(spec, ORCH_TF32) > 0;
    if (precision == ORCH_FP32 && has_tf32)
        return ORCH_TF32;
    return precision == ORCH_FP32_IEEE && !has_tf32 ? ORCH_FP32 : precision;
}

/* Cards with GDDR memory whose error correction is on as they are delivered, by their names in the
 * table. */
static const char *const CORRECTED[] = {
    "K10", "K20",  "K20X", "K40", "K80", "M40", "M60",  "P4",        "P40",       "T4", "A2",
    "A10", "A10G", "A16",  "A40", "L4",  "L40", "L40S", "K80-board", "M60-board", NULL};

/* Shares of 2^30 bytes a GB. What PyTorch's messages call the total capacity is 39.50 GiB of an
 * A100 with 40, 23.68 of an RTX 4090 with 24, 93.00 of an H100 NVL with 94: 0.987 to 0.989 of it.
 * nvidia-smi's total is 15360 MiB of a T4 with 16 GB, 23028 of an A10 with 24, 46068 of an L40S
 * with 48: 15/16, where an A100 with 40 has 40960 (github.com/modal-labs/modal-client/pull/2797).
 */
#define DRIVER_SHARE 0.987
#define CORRECTED_SHARE (15.0 / 16)

double orch_gpu_memory_bytes(const struct orch_gpu_spec *spec)
{
    if (spec->unit == ORCH_GPU_HOST)
        return spec->memory_gb * 1e9;
    bool is_corrected = g_strv_contains(CORRECTED, spec->name);
    return spec->memory_gb * 1073741824.0 * (is_corrected ? CORRECTED_SHARE : 1) * DRIVER_SHARE;
}

double orch_gpu_peak(const struct orch_gpu_spec *spec, enum orch_precision precision)
{
    double tensor = spec->tensor16_tflops;
    switch (precision) {
    case ORCH_FP64:
        return spec->fp64_tflops * 1e12;
    case ORCH_FP32:
    case ORCH_FP32_IEEE:
        return spec->fp32_tflops * 1e12;
    case ORCH_TF32:
        return spec->has_bf16 && *spec->compute_capability ? tensor / 2 * 1e12 : 0;
    case ORCH_FP16:
        if (tensor <= 0 && spec->fp16_tflops <= 0)
            return 0;
        return (tensor > 0 ? tensor : MAX(spec->fp16_tflops, spec->fp32_tflops)) * 1e12;
    case ORCH_BF16:
        return (spec->has_bf16 ? tensor : spec->bf16_tflops) * 1e12;
    }
    return 0;
}

int orch_precision_bytes(enum orch_precision precision)
{
    static const int bytes[] = {8, 4, 4, 2, 2, 4};
    return bytes[precision];
}
