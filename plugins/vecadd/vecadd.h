/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to plugin `vecadd`: its parameters, and what its parts share. See
 * docs/plugins/vecadd.md. */
#ifndef ORCH_PLUGINS_VECADD_H
#define ORCH_PLUGINS_VECADD_H

#include "plugins/common/kernels/samples.h"

#include <orch/plugin.h>

enum vecadd_scenario {
    VECADD_CPU_1,      /* one thread */
    VECADD_CPU_ALL,    /* all threads of the slot, vector instructions */
    VECADD_GPU_1X1,    /* one block of one thread */
    VECADD_GPU_1X256,  /* one block of 256 threads */
    VECADD_GPU_GRID,   /* a thread for each element, in blocks of 256 */
    VECADD_GPU_STRIDE, /* as many blocks as run at once, 16-byte loads */
};

enum vecadd_memory {
    VECADD_PAGEABLE,
    VECADD_PINNED,
    VECADD_MANAGED,          /* pages move when they are touched */
    VECADD_MANAGED_PREFETCH, /* pages are moved before the kernel and after it */
    VECADD_MANAGED_ADVICE,   /* likewise, and the driver is told how they are used */
};

/** Names of the two enumerations, NULL-terminated. */
extern const char *const VECADD_SCENARIOS[], *const VECADD_MEMORIES[];

/** A trial as it will run: sizes reduced in a smoke run. */
struct vecadd_trial {
    enum vecadd_scenario scenario;
    enum vecadd_memory memory;
    size_t count; /* elements of each of the three arrays */
    int warmup, threads;
    uint32_t seed;
    bool is_smoke; /* bandwidths are not measured, only exercised */
    struct orch_samples_rule rule;
};

/** Runs a trial of a cpu scenario; returns an enum orch_status. */
int orch_vecadd_cpu_run(const struct vecadd_trial *trial, const struct orch_host *host);
/** Runs a trial of a gpu scenario (the folder cuda). In a build without CUDA kernels (no_cuda)
 * it is skipped with its reason. */
int orch_vecadd_gpu_run(const struct vecadd_trial *trial, const struct orch_host *host);

/** Seconds since this process was started. */
double orch_vecadd_process_age_s(void);
/** Reports the median, spread and number of the kernel's samples, and what follows from them.
 * `measured` is the bandwidth that the same device reached in this trial, in bytes a second. */
void orch_vecadd_report_kernel(const struct vecadd_trial *trial, const struct orch_samples *samples,
                               double measured, const struct orch_host *host);
/** Bytes that an addition reads and writes: two arrays in, one out. */
double orch_vecadd_bytes(size_t count);
/** Fails the trial with a formatted text; returns ORCH_FAILED. */
int orch_vecadd_fail(const struct orch_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Skips the trial with a formatted text; returns ORCH_SKIPPED. */
int orch_vecadd_skip(const struct orch_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
