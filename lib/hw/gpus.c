/* SPDX-License-Identifier: MIT */
#include "lib/hw/gpus.h"

#include <string.h>

/* Words of a driver's or a shop's name that do not tell one GPU from another. */
static const char *const NOISE[] = {"nvidia",   "tesla", "geforce", "quadro", "gpu",
                                    "graphics", "gtx",   "rtx",     "pny",    NULL};

/* Those that people write without a blank behind them: "RTX5090", "TeslaV100". */
static const char *const GLUED[] = {"nvidia", "geforce", "tesla", "quadro", "gtx", "rtx", NULL};

static bool is_noise(const char *word)
{
    for (int i = 0; NOISE[i]; i++)
        if (strcmp(NOISE[i], word) == 0)
            return true;
    return false;
}

char *orch_gpu_name_key(const char *name)
{
    g_autofree char *lower = g_ascii_strdown(name, -1);
    g_auto(GStrv) words = g_strsplit_set(lower, " -_()/.", -1);
    GString *key = g_string_new(NULL);
    for (int i = 0; words[i]; i++)
        if (!is_noise(words[i]))
            g_string_append(key, words[i]);
    for (int i = 0; GLUED[i]; i++)
        g_string_replace(key, GLUED[i], "", 0);
    return g_string_free(key, FALSE);
}

static bool has_key(const char *name, const char *key)
{
    g_autofree char *own = orch_gpu_name_key(name);
    return *own && strcmp(own, key) == 0;
}

bool orch_gpu_is_named(const struct orch_gpu_spec *spec, const char *name)
{
    g_autofree char *key = orch_gpu_name_key(name);
    if (has_key(spec->name, key))
        return true;
    g_auto(GStrv) aliases = g_strsplit(spec->aliases ? spec->aliases : "", ",", -1);
    for (int i = 0; aliases[i]; i++)
        if (has_key(aliases[i], key))
            return true;
    return false;
}

const struct orch_gpu_spec *orch_gpu_find(const char *name)
{
    for (const struct orch_gpu_spec *spec = orch_gpu_specs(); spec->name; spec++)
        if (orch_gpu_is_named(spec, name))
            return spec;
    return NULL;
}

const char *orch_gpu_unit_name(enum orch_gpu_unit unit)
{
    static const char *const names[] = {"card", "SXM module", "one GPU of its board", "whole board",
                                        "processor"};
    return names[unit];
}

const char *const *orch_precision_names(void)
{
    static const char *const names[] = {"fp64", "fp32", "tf32", "fp16", "bf16", NULL};
    return names;
}

double orch_gpu_peak(const struct orch_gpu_spec *spec, enum orch_precision precision)
{
    double tensor = spec->tensor16_tflops;
    switch (precision) {
    case ORCH_FP64:
        return spec->fp64_tflops * 1e12;
    case ORCH_FP32:
        return spec->fp32_tflops * 1e12;
    case ORCH_TF32:
        return spec->has_bf16 && *spec->compute_capability ? tensor / 2 * 1e12 : 0;
    case ORCH_FP16:
        if (tensor <= 0 && spec->fp16_tflops <= 0)
            return 0;
        return (tensor > 0 ? tensor : MAX(spec->fp16_tflops, spec->fp32_tflops)) * 1e12;
    case ORCH_BF16:
        return spec->has_bf16 ? tensor * 1e12 : 0;
    }
    return 0;
}

int orch_precision_bytes(enum orch_precision precision)
{
    static const int bytes[] = {8, 4, 4, 2, 2};
    return bytes[precision];
}
