/* SPDX-License-Identifier: MIT */
/* GPUs by their specification: what a forecast knows of a device before anything was measured on
 * it. Rates are decimal (TFLOP/s = 10^12, GB/s = 10^9, a multiply-add is two operations), peaks are
 * at the boost clock and without sparsity. */
#ifndef ORCH_HW_GPUS_H
#define ORCH_HW_GPUS_H

#include <glib.h>
#include <stdbool.h>

enum orch_gpu_unit {
    ORCH_GPU_CARD,
    ORCH_GPU_MODULE, /* SXM */
    ORCH_GPU_DIE,    /* one of the devices of a board: what a program sees and a cloud rents out */
    ORCH_GPU_BOARD,  /* all devices of a board together */
    ORCH_GPU_HOST,   /* no GPU: a processor that was measured as a device */
};

struct orch_gpu_spec {
    const char *name;    /* "V100-SXM2-16GB"; NULL ends the table */
    const char *aliases; /* joined by ',' */
    enum orch_gpu_unit unit;
    const char *arch; /* "Volta" */
    int year;
    const char *compute_capability; /* "7.0"; "": not NVIDIA's */
    int sms, cores;
    double base_mhz, boost_mhz; /* 0: not known */
    double fp64_tflops;
    double fp32_tflops, fp32_base_tflops; /* at the boost and at the base clock */
    double fp16_tflops;                   /* without tensor cores; 0: not known */
    double tensor16_tflops;               /* dense fp16 of the tensor cores; 0: it has none */
    bool has_bf16;                        /* on the tensor cores, at the rate of fp16 */
    double memory_gb, bandwidth_gbs, l2_mb;
    double nvlink_gbs; /* of all links, both directions; 0: none */
    const char *pcie;  /* generation of its x16 link: "3.0" */
    double watts;
    const char *source;
    const char *confidence; /* "high": two sources agree; "medium", "low"; "yours", "measured" */
    const char *note;       /* or "" */
};

/** The table, oldest architecture first, ended by a NULL name. */
const struct orch_gpu_spec *orch_gpu_specs(void);

/** Key under which names are compared: lower case, without vendor, product line, blanks and
 * punctuation: "Tesla V100-SXM2-16GB" and "v100 sxm2 16gb" are one. The caller frees. */
char *orch_gpu_name_key(const char *name);
/** Is `name` this GPU's name or an alias of it? */
bool orch_gpu_is_named(const struct orch_gpu_spec *spec, const char *name);
/** By name, alias or what the driver says ("NVIDIA H100 80GB HBM3"); NULL when unknown. */
const struct orch_gpu_spec *orch_gpu_find(const char *name);

/** "card", "SXM module", "one GPU of its board", "whole board", "processor" */
const char *orch_gpu_unit_name(enum orch_gpu_unit unit);

enum orch_precision {
    ORCH_FP64,
    ORCH_FP32,
    ORCH_TF32, /* fp32 tensors, products on tensor cores with 10 bits of mantissa */
    ORCH_FP16,
    ORCH_BF16,
};
#define ORCH_PRECISION_COUNT (ORCH_BF16 + 1)
/** "fp32", ... ; NULL ends. */
const char *const *orch_precision_names(void);
/** Peak in operations a second; 0 when the GPU cannot. fp16 and bf16: of the tensor cores;
 * fp16 where there are none: the faster of its own and fp32's, as libraries compute in fp32 what is
 * stored in fp16 where that is faster; tf32 (NVIDIA from Ampere on): half of the tensor cores'
 * fp16. */
double orch_gpu_peak(const struct orch_gpu_spec *spec, enum orch_precision precision);
/** Bytes of a value in memory. */
int orch_precision_bytes(enum orch_precision precision);

#endif
