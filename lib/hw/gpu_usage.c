/* SPDX-License-Identifier: MIT */
/* Values follow NVIDIA's "NVML API Reference Guide". A value that a device does not support is NaN;
 * any other error means that the device is gone, because it has been supported so far. The handle
 * is asked for at each reading: a driver that was reloaded would make an old one invalid. */
#include "lib/hw/gpu_usage.h"

#include <dlfcn.h>
#include <glib.h>
#include <math.h>
#include <string.h>

enum { NVML_SUCCESS = 0, NVML_NOT_SUPPORTED = 3, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };

typedef struct nvml_device *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};
struct nvml_utilization {
    unsigned gpu, memory; /* per cent of time */
};

/* The functions used, in the order of SYMBOLS. */
struct orch_gpu_usages {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*device_count)(unsigned *);
    int (*device_handle)(unsigned, nvml_device *);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*utilization)(nvml_device, struct nvml_utilization *);
    int (*power)(nvml_device, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*clock)(nvml_device, int, unsigned *);
};

static const struct {
    size_t offset;
    const char *name;
} SYMBOLS[] = {
    {offsetof(struct orch_gpu_usages, init), "nvmlInit_v2"},
    {offsetof(struct orch_gpu_usages, shutdown), "nvmlShutdown"},
    {offsetof(struct orch_gpu_usages, error_string), "nvmlErrorString"},
    {offsetof(struct orch_gpu_usages, device_count), "nvmlDeviceGetCount_v2"},
    {offsetof(struct orch_gpu_usages, device_handle), "nvmlDeviceGetHandleByIndex_v2"},
    {offsetof(struct orch_gpu_usages, memory), "nvmlDeviceGetMemoryInfo"},
    {offsetof(struct orch_gpu_usages, utilization), "nvmlDeviceGetUtilizationRates"},
    {offsetof(struct orch_gpu_usages, power), "nvmlDeviceGetPowerUsage"},
    {offsetof(struct orch_gpu_usages, temperature), "nvmlDeviceGetTemperature"},
    {offsetof(struct orch_gpu_usages, clock), "nvmlDeviceGetClockInfo"},
};

/* Returns the name of the first missing function, or NULL. */
static const char *resolve(struct orch_gpu_usages *usages)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(SYMBOLS); i++) {
        void *function = dlsym(usages->library, SYMBOLS[i].name);
        if (!function)
            return SYMBOLS[i].name;
        memcpy((char *)usages + SYMBOLS[i].offset, &function, sizeof function);
    }
    return NULL;
}

struct orch_gpu_usages *orch_gpu_usages_open(char **out_note)
{
    *out_note = NULL;
    struct orch_gpu_usages usages = {.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (!usages.library)
        return NULL;
    const char *missing = resolve(&usages);
    int status = missing ? NVML_SUCCESS : usages.init();
    if (!missing && status == NVML_SUCCESS)
        return g_memdup2(&usages, sizeof usages);
    *out_note = missing ? g_strdup_printf("NVML has no function '%s'", missing)
                        : g_strdup_printf("NVML: %s", usages.error_string(status));
    dlclose(usages.library);
    return NULL;
}

void orch_gpu_usages_close(struct orch_gpu_usages *usages)
{
    if (!usages)
        return;
    usages->shutdown();
    dlclose(usages->library);
    g_free(usages);
}

unsigned orch_gpu_usages_count(const struct orch_gpu_usages *usages)
{
    unsigned count = 0;
    return usages->device_count(&count) == NVML_SUCCESS ? count : 0;
}

static double value_or_nan(int status, double value)
{
    return status == NVML_SUCCESS ? value : (double)NAN;
}

bool orch_gpu_usage_read(const struct orch_gpu_usages *usages, unsigned device,
                         struct orch_gpu_usage *out, char **out_note)
{
    enum { BUSY, MEMORY, POWER, TEMPERATURE, CLOCK, MEMORY_CLOCK, CALLS };
    nvml_device handle = NULL;
    struct nvml_memory memory = {0};
    struct nvml_utilization busy = {0};
    unsigned power = 0, temperature = 0, clock = 0, memory_clock = 0;
    int lost = usages->device_handle(device, &handle), status[CALLS] = {0};
    if (lost == NVML_SUCCESS) {
        status[BUSY] = usages->utilization(handle, &busy);
        status[MEMORY] = usages->memory(handle, &memory);
        status[POWER] = usages->power(handle, &power);
        status[TEMPERATURE] = usages->temperature(handle, 0, &temperature);
        status[CLOCK] = usages->clock(handle, NVML_CLOCK_SM, &clock);
        status[MEMORY_CLOCK] = usages->clock(handle, NVML_CLOCK_MEMORY, &memory_clock);
    }
    for (int i = 0; i < CALLS && lost == NVML_SUCCESS; i++)
        lost = status[i] == NVML_NOT_SUPPORTED ? NVML_SUCCESS : status[i];
    if (lost != NVML_SUCCESS) {
        *out_note = g_strdup(usages->error_string(lost));
        return false;
    }
    *out = (struct orch_gpu_usage){
        .core_percent = value_or_nan(status[BUSY], busy.gpu),
        .memory_busy_percent = value_or_nan(status[BUSY], busy.memory),
        .memory_mb = value_or_nan(status[MEMORY], (double)memory.used / 1e6),
        .power_w = value_or_nan(status[POWER], power / 1e3),
        .temperature_c = value_or_nan(status[TEMPERATURE], temperature),
        .clock_mhz = value_or_nan(status[CLOCK], clock),
        .memory_clock_mhz = value_or_nan(status[MEMORY_CLOCK], memory_clock),
    };
    return true;
}
