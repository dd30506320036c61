/* SPDX-License-Identifier: MIT */
/* Internal to lib/hw: the functions of NVML, a library of NVIDIA's driver, opened at run time with
 * our own declarations, so that building does not need CUDA and the same program runs with and
 * without a driver. Types and values follow NVIDIA's "NVML API Reference Guide" (nvml.h). */
#ifndef ORCH_HW_NVML_API_H
#define ORCH_HW_NVML_API_H

#include <stdbool.h>

enum {
    NVML_SUCCESS = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_TIMEOUT = 10,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEMORY = 2,
    NVML_TEXT_CHARS = 96,
    NVML_DEVICES_MAX = 256,
};
#define NVML_EVENT_XID 0x8ULL       /* nvmlEventTypeXidCriticalError */
#define NVML_NO_INSTANCE 0xFFFFFFFF /* of an event that concerns the whole GPU */

typedef struct nvml_device *nvml_device;
typedef struct nvml_event_set *nvml_event_set;
struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};
struct nvml_utilization {
    unsigned gpu, memory; /* per cent of time */
};
struct nvml_pci { /* nvmlPciInfo_t */
    char short_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
struct nvml_event {
    nvml_device device;
    unsigned long long type, data; /* data of NVML_EVENT_XID: the Xid */
    unsigned gpu_instance, compute_instance;
};

struct orch_nvml {
    void *library;
    /* In every driver since 2014, with a stable ABI: functions with a version in their name never
     * change. Never NULL. */
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*driver_version)(char *, unsigned);
    int (*device_count)(unsigned *);
    int (*device_handle)(unsigned, nvml_device *);
    int (*device_name)(nvml_device, char *, unsigned);
    int (*device_uuid)(nvml_device, char *, unsigned);
    int (*device_memory)(nvml_device, struct nvml_memory *);
    int (*device_capability)(nvml_device, int *, int *);
    /* NULL where the driver lacks them; call them through ORCH_NVML_CALL. */
    int (*cuda_version)(int *);
    int (*utilization)(nvml_device, struct nvml_utilization *);
    int (*power)(nvml_device, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*mig_mode)(nvml_device, unsigned *, unsigned *);
    int (*mig_count)(nvml_device, unsigned *);
    int (*mig_handle)(nvml_device, unsigned, nvml_device *);
    int (*gpu_instance)(nvml_device, unsigned *);
    int (*pci)(nvml_device, struct nvml_pci *);
    int (*event_set_new)(nvml_event_set *);
    int (*event_set_free)(nvml_event_set);
    int (*event_register)(nvml_device, unsigned long long, nvml_event_set);
    int (*event_wait)(nvml_event_set, struct nvml_event *, unsigned);
};
/* The status of an optional function: NVML_NOT_SUPPORTED without it. */
#define ORCH_NVML_CALL(nvml, function, ...)                                                        \
    ((nvml)->function ? (nvml)->function(__VA_ARGS__) : (int)NVML_NOT_SUPPORTED)

/** Opens NVML and initialises it. False with nothing to close; `*out_note` then says why ("no NVML
 * library", "NVML: Driver Not Loaded"), and the caller frees it. `*out_absent`: there is no such
 * library, so no driver. */
bool orch_nvml_open(struct orch_nvml *out, bool *out_absent, char **out_note);
void orch_nvml_close(struct orch_nvml *nvml);

/** Number of MIG instances that the GPU can have; 0: MIG is off, or it has none. The indices below
 * it are not all in use. */
unsigned orch_nvml_mig_slots(const struct orch_nvml *nvml, nvml_device device);

/** Finds the GPU that a name means, as in CUDA_VISIBLE_DEVICES: an index, a UUID or its beginning,
 * or the UUID of a MIG instance, for which it is the GPU that the instance is part of.
 * `out_instance` (or NULL) gets the number of its GPU instance, NVML_NO_INSTANCE for a whole GPU.
 * False when no GPU answers to that name. */
bool orch_nvml_find(const struct orch_nvml *nvml, const char *name, unsigned *out_index,
                    unsigned *out_instance);

#endif
