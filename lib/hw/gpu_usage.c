/* SPDX-License-Identifier: MIT */
/* Values follow NVIDIA's "NVML API Reference Guide". A value that a device does not support is NaN;
 * any other error means that the device is gone, because it has been supported so far. The handle
 * is asked for at each reading: a driver that was reloaded would make an old one invalid. */
#include "lib/hw/gpu_usage.h"

#include "lib/hw/nvml_api.h"

#include <glib.h>
#include <math.h>
#include <string.h>

struct orch_gpu_usages {
    struct orch_nvml nvml;
};

struct orch_gpu_usages *orch_gpu_usages_open(char **out_note)
{
    struct orch_nvml nvml;
    bool is_absent;
    if (orch_nvml_open(&nvml, &is_absent, out_note))
        return g_memdup2(&nvml, sizeof nvml);
    if (is_absent)
        g_clear_pointer(out_note, g_free);
    return NULL;
}

void orch_gpu_usages_close(struct orch_gpu_usages *usages)
{
    if (!usages)
        return;
    orch_nvml_close(&usages->nvml);
    g_free(usages);
}

unsigned orch_gpu_usages_count(const struct orch_gpu_usages *usages)
{
    unsigned count = 0;
    return usages->nvml.device_count(&count) == NVML_SUCCESS ? count : 0;
}

bool orch_gpu_usages_find(const struct orch_gpu_usages *usages, const char *name,
                          unsigned *out_device)
{
    return orch_nvml_find(&usages->nvml, name, out_device, NULL);
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
    const struct orch_nvml *nvml = &usages->nvml;
    int lost = nvml->device_handle(device, &handle), status[CALLS] = {0};
    if (lost == NVML_SUCCESS) {
        status[BUSY] = ORCH_NVML_CALL(nvml, utilization, handle, &busy);
        status[MEMORY] = nvml->device_memory(handle, &memory);
        status[POWER] = ORCH_NVML_CALL(nvml, power, handle, &power);
        status[TEMPERATURE] = ORCH_NVML_CALL(nvml, temperature, handle, 0, &temperature);
        status[CLOCK] = ORCH_NVML_CALL(nvml, clock, handle, NVML_CLOCK_SM, &clock);
        status[MEMORY_CLOCK] =
            ORCH_NVML_CALL(nvml, clock, handle, NVML_CLOCK_MEMORY, &memory_clock);
    }
    for (int i = 0; i < CALLS && lost == NVML_SUCCESS; i++)
        lost = status[i] == NVML_NOT_SUPPORTED ? NVML_SUCCESS : status[i];
    if (lost != NVML_SUCCESS) {
        *out_note = g_strdup(nvml->error_string(lost));
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
