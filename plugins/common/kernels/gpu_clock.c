/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and values follow NVIDIA's "NVML API Reference Guide"; the functions exist in every driver
 * since 2014. */
#include "plugins/common/kernels/gpu_clock.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

struct orch_gpu_clock {
    void *library, *device;
    int (*shutdown)(void);
    int (*clock_info)(void *device, int type, unsigned *out_mhz);
};

static void find_symbol(void *library, const char *name, void *out_function)
{
    void *address = dlsym(library, name);
    memcpy(out_function, &address, sizeof address); /* ISO C has no cast from void * to function */
}

struct orch_gpu_clock *orch_gpu_clock_open(const char *pci_bus_id)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    int (*init)(void) = NULL, (*by_bus_id)(const char *, void **) = NULL;
    struct orch_gpu_clock clock = {.library = library};
    find_symbol(library, "nvmlInit_v2", &init);
    find_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus_id);
    find_symbol(library, "nvmlShutdown", &clock.shutdown);
    find_symbol(library, "nvmlDeviceGetClockInfo", &clock.clock_info);
    if (!init || !by_bus_id || !clock.shutdown || !clock.clock_info || init() != 0) {
        dlclose(library);
        return NULL;
    }
    if (by_bus_id(pci_bus_id, &clock.device) != 0) {
        clock.shutdown();
        dlclose(library);
        return NULL;
    }
    struct orch_gpu_clock *out = g_new(struct orch_gpu_clock, 1);
    *out = clock;
    return out;
}

void orch_gpu_clock_close(struct orch_gpu_clock *clock)
{
    if (!clock)
        return;
    clock->shutdown();
    dlclose(clock->library);
    g_free(clock);
}

static double read_mhz(const struct orch_gpu_clock *clock, int type)
{
    unsigned mhz = 0;
    return clock && clock->clock_info(clock->device, type, &mhz) == 0 ? mhz : 0;
}

double orch_gpu_clock_sm_mhz(const struct orch_gpu_clock *clock)
{
    return read_mhz(clock, CLOCK_SM);
}

double orch_gpu_clock_memory_mhz(const struct orch_gpu_clock *clock)
{
    return read_mhz(clock, CLOCK_MEMORY);
}
