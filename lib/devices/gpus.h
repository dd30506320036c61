/* SPDX-License-Identifier: MIT */
/* GPU specifications, which forecasts use before a device has been measured. Rates are decimal
 * (TFLOP/s = 10^12, GB/s = 10^9, a multiply-add is two operations); peaks are at the boost clock
 * and without sparsity. */
#ifndef ORCH_LIB_DEVICES_GPUS_H
#define ORCH_LIB_DEVICES_GPUS_H

#include "lib/base/csv.h"

#include <glib.h>
#include <stdbool.h>

enum orch_gpu_unit {
    ORCH_GPU_CARD,
    ORCH_GPU_MODULE, /* SXM */
    ORCH_GPU_DIE,    /* one of the devices of a board, which programs see and clouds rent out */
    ORCH_GPU_BOARD,  /* all devices of a board together */
    ORCH_GPU_HOST,   /* not a GPU: a processor that was measured as a device */
};

struct orch_gpu_spec {
    const char *name;    /* "V100-SXM2-16GB"; NULL ends the table */
    const char *aliases; /* joined by ',' */
    enum orch_gpu_unit unit;
    const char *arch; /* "Volta" */
    const char *chip; /* the die, which boards of several names have: "GV100"; "": unknown */
    int year;
    const char *compute_capability; /* "7.0"; "" for other vendors than NVIDIA */
    int sms, cores;
    double base_mhz, boost_mhz; /* 0: unknown */
    double fp64_tflops;
    double fp32_tflops, fp32_base_tflops; /* at the boost and at the base clock */
    double fp16_tflops;                   /* without tensor cores; 0: unknown */
    double tensor16_tflops;               /* dense fp16 on tensor cores; 0: no tensor cores */
    bool has_bf16;                        /* on tensor cores, at the rate of fp16 */
    double bf16_tflops;            /* of devices without fp16: TPUs, measured processors; 0: none */
    double fp8_tflops, fp4_tflops; /* dense, on tensor cores; 0: none, or unknown */
    double memory_gb, bandwidth_gbs, l2_mb;
    double nvlink_gbs; /* of all links, both directions; 0: none */
    const char *pcie;  /* generation of its x16 link: "3.0" */
    double watts;
    const char *source;
    const char *date;       /* when the source was read: "2026-11-21"; or "" */
    const char *confidence; /* "high": two sources agree; "medium", "low"; "yours", "measured" */
    const char *note;       /* or "" */
};

/** Bytes of its memory that programs may have. Vendors' GB are 2^30 bytes; the driver keeps 1.3 %,
 * and error correction of cards without stacked memory a sixteenth. Of a processor: all. 0:
 * unknown. */
double orch_gpu_memory_bytes(const struct orch_gpu_spec *spec);

/** The built-in table, oldest architecture first, ended by a NULL name. */
const struct orch_gpu_spec *orch_gpu_specs(void);
/** Reads a table with the columns of share/hardware/gpus.csv, which must outlive the result; ended
 * by a NULL name. Fails with NULL and ORCH_ERROR_RECIPE with the position. Caller frees. */
struct orch_gpu_spec *orch_gpu_specs_read(const struct orch_csv *csv, GError **error);

/** True if `name` is this GPU's name or an alias of it. */
bool orch_gpu_is_named(const struct orch_gpu_spec *spec, const char *name);
/** True if its name is given with its memory, as in "H100-80GB" and "A100-80". */
bool orch_gpu_is_named_by_memory(const struct orch_gpu_spec *spec, const char *name);
/** Finds a GPU by name, alias or the driver's name ("NVIDIA H100 80GB HBM3"); NULL if unknown. */
const struct orch_gpu_spec *orch_gpu_find(const char *name);

/** The chip of a GPU; its own name where the table of GPUs does not say, since two GPUs are then
 * two chips. */
const char *orch_gpu_spec_chip(const struct orch_gpu_spec *spec);
/** The chip of the GPU of this name; the name itself where it is unknown. Borrowed. */
const char *orch_gpu_chip(const char *name);

/** "card", "module", "one GPU of its board", "whole board", "processor" */
const char *orch_gpu_unit_name(enum orch_gpu_unit unit);

enum orch_precision {
    ORCH_FP64,
    ORCH_FP32,
    ORCH_TF32, /* fp32 tensors; tensor cores multiply with 10 bits of mantissa */
    ORCH_FP16,
    ORCH_BF16,
    ORCH_FP32_IEEE, /* fp32 tensors, multiplied in fp32 also where the GPU has tf32 */
};
#define ORCH_PRECISION_COUNT (ORCH_FP32_IEEE + 1)
/** "fp32", ..., ended by NULL. */
const char *const *orch_precision_names(void);
/** Parses a precision by its name or a common alias ("float32", "half", "amp", "16"; "ieee" is
 * PyTorch's name for fp32-ieee), ignoring case. Returns false for other words. */
bool orch_precision_find(const char *text, enum orch_precision *out);
/** The precision in which the GPU multiplies tensors of a precision: tf32 for fp32 if the GPU
 * supports it (NVIDIA since Ampere), because PyTorch and TensorFlow use it for convolutions; fp32
 * for fp32-ieee if it does not; otherwise the same. Plans, queries and records mean this precision.
 */
enum orch_precision orch_precision_run(const struct orch_gpu_spec *spec,
                                       enum orch_precision precision);
/** Peak in operations per second; 0 if the GPU does not support the precision. fp16 and bf16:
 * tensor cores; fp16 without tensor cores: the faster of fp16 and fp32, because libraries then
 * compute values stored as fp16 in fp32; tf32 (NVIDIA since Ampere): half of the tensor cores'
 * fp16. */
double orch_gpu_peak(const struct orch_gpu_spec *spec, enum orch_precision precision);
/** Size of a value in memory, in bytes. */
int orch_precision_bytes(enum orch_precision precision);

#endif
