/* SPDX-License-Identifier: MIT */
/* Tells when a GPU can no longer be used: it has fallen off the bus, needs a reset, or reported a
 * critical Xid. Xids are NVIDIA's numbers of driver errors ("XID Errors", docs.nvidia.com). */
#ifndef ORCH_HW_GPU_HEALTH_H
#define ORCH_HW_GPU_HEALTH_H

#include <stdbool.h>

struct orch_gpu_health;

enum orch_gpu_event {
    ORCH_GPU_QUIET,
    ORCH_GPU_REMARK, /* an Xid that a program can cause, or that leaves the GPU usable */
    ORCH_GPU_LOST,
};

/** Watches the GPUs with these names (as in CUDA_VISIBLE_DEVICES; NULL-terminated). NULL without a
 * driver, or when none of the names means a GPU. */
struct orch_gpu_health *orch_gpu_health_open(const char *const *names);
void orch_gpu_health_close(struct orch_gpu_health *health);

/** Waits at most `timeout_ms` for an Xid. */
enum orch_gpu_event orch_gpu_health_wait(struct orch_gpu_health *health, unsigned timeout_ms);
/** Asks the driver whether each GPU still answers. */
enum orch_gpu_event orch_gpu_health_check(struct orch_gpu_health *health);
/** After an event: "GPU 1: Xid 79 (the GPU has fallen off the bus)". Borrowed, until the next
 * call. */
const char *orch_gpu_health_text(const struct orch_gpu_health *health);
/** After an event: the name of its GPU. Borrowed. */
const char *orch_gpu_health_name(const struct orch_gpu_health *health);

#endif
