/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVML with two V100s, or what $FAKE_NVML_MODEL names, for tests; $FAKE_NVML_COUNT: how many of
 * them. $FAKE_NVML chooses what goes wrong: "init" (no driver), "none" (no device), "lost" (the
 * second device has fallen off the bus), "bare" (no UUID, capability or version), "vanishes" (the
 * second device is lost after it was read $FAKE_NVML_READS times), "hangs" (its second reading does
 * not return), "idle" (no utilisation, as on old boards). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SUCCESS 0
#define ERROR_NOT_SUPPORTED 3
#define ERROR_DRIVER_NOT_LOADED 9
#define ERROR_GPU_IS_LOST 15

struct memory {
    unsigned long long total, free, used;
};
struct utilization {
    unsigned gpu, memory;
};

static int is_case(const char *name)
{
    const char *chosen = getenv("FAKE_NVML");
    return chosen && strcmp(chosen, name) == 0;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int status);
EXPORT int nvmlSystemGetDriverVersion(char *out, unsigned size);
EXPORT int nvmlDeviceGetCount_v2(unsigned *out);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out);
EXPORT int nvmlDeviceGetName(void *device, char *out, unsigned size);
EXPORT int nvmlDeviceGetUUID(void *device, char *out, unsigned size);
EXPORT int nvmlDeviceGetMemoryInfo(void *device, struct memory *out);
EXPORT int nvmlDeviceGetUtilizationRates(void *device, struct utilization *out);
EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *out);
EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *out);
EXPORT int nvmlDeviceGetClockInfo(void *device, int type, unsigned *out);
EXPORT int nvmlDeviceGetCudaComputeCapability(void *device, int *out_major, int *out_minor);

static int devices[8];

int nvmlInit_v2(void)
{
    return is_case("init") ? ERROR_DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int status)
{
    return status == ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded" : "GPU is lost";
}

int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
    snprintf(out, size, "470.57.02");
    return is_case("bare") ? ERROR_NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *out)
{
    const char *count = getenv("FAKE_NVML_COUNT");
    *out = is_case("none") ? 0 : count ? (unsigned)atoi(count) % 9 : 2;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out)
{
    if (is_case("lost") && index == 1)
        return ERROR_GPU_IS_LOST;
    *out = &devices[index];
    return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *out, unsigned size)
{
    (void)device;
    const char *model = getenv("FAKE_NVML_MODEL");
    snprintf(out, size, "%s", model ? model : "Tesla V100-SXM2-16GB");
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *out, unsigned size)
{
    snprintf(out, size, "GPU-fake-%d", (int)((int *)device - devices));
    return is_case("bare") ? ERROR_NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *out)
{
    (void)device;
    *out = (struct memory){.total = 16945512448ULL, .free = 16945512448ULL, .used = 0};
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *out_major, int *out_minor)
{
    (void)device;
    *out_major = 7;
    *out_minor = 0;
    return is_case("bare") ? ERROR_NOT_SUPPORTED : SUCCESS;
}

/* The device's number. */
static int number_of(void *device)
{
    return (int)((int *)device - devices);
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *out)
{
    static int readings[8];
    const char *most = getenv("FAKE_NVML_READS");
    int count = readings[number_of(device)]++;
    if (is_case("hangs") && count > 0)
        for (;;)
            pause();
    if (is_case("vanishes") && number_of(device) == 1 && count >= (most ? atoi(most) : 1))
        return ERROR_GPU_IS_LOST;
    *out = (struct utilization){(unsigned)(80 + number_of(device)), 30};
    return is_case("idle") ? ERROR_NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *out)
{
    *out = 250500 + 1000 * (unsigned)number_of(device); /* mW */
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *out)
{
    (void)device;
    *out = 60;
    return sensor == 0 ? SUCCESS : ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *out)
{
    (void)device;
    *out = type == 1 ? 1530 : type == 2 ? 877 : 0;
    return SUCCESS;
}
