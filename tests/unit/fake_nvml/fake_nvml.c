/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVML with two V100s, or what $FAKE_NVML_MODEL names, for tests; $FAKE_NVML_COUNT: how many of
 * them. $FAKE_NVML chooses what goes wrong: "init" (no driver), "none" (no device), "lost" (the
 * second device has fallen off the bus), "bare" (no UUID, capability or version), "vanishes" (the
 * second device is lost after its utilisation was read $FAKE_NVML_READS times), "hangs" (its second
 * reading does not return), "idle" (no utilisation, as on old boards), "gone" (the second device is
 * lost after $FAKE_NVML_AFTER seconds of a process, "reset": it needs a reset then), "xid" (it
 * reports the Xid $FAKE_NVML_XID then). $FAKE_NVML_MIG: the first device has MIG on, with so many
 * instances. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SUCCESS 0
#define ERROR_NOT_SUPPORTED 3
#define ERROR_DRIVER_NOT_LOADED 9
#define ERROR_NOT_FOUND 6
#define ERROR_TIMEOUT 10
#define ERROR_GPU_IS_LOST 15
#define ERROR_RESET_REQUIRED 16

struct memory {
    unsigned long long total, free, used;
};
struct utilization {
    unsigned gpu, memory;
};
struct event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
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
EXPORT int nvmlDeviceGetMigMode(void *device, unsigned *out_now, unsigned *out_pending);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *out);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **out);
EXPORT int nvmlDeviceGetGpuInstanceId(void *device, unsigned *out);
EXPORT int nvmlEventSetCreate(void **out);
EXPORT int nvmlEventSetFree(void *set);
EXPORT int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
EXPORT int nvmlEventSetWait_v2(void *set, struct event *out, unsigned timeout_ms);

enum { GPUS = 8, INSTANCES = 7 };
static int devices[GPUS + INSTANCES]; /* the instances of the first GPU come last */
static int utilisation_readings[GPUS];
static struct timespec begun;
static int has_second; /* the second device was registered for events */

/* The device's number. */
static int number_of(const void *device)
{
    return (int)((const int *)device - devices);
}

/* A number from the environment. */
static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* True once the process has used NVML for $FAKE_NVML_AFTER seconds. */
static int is_due(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds =
        (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9;
    return seconds >= setting("FAKE_NVML_AFTER", 1);
}

/* What the device's state makes of a call. */
static int state_of(int number)
{
    if (number != 1)
        return SUCCESS;
    if (is_case("lost") ||
        (is_case("vanishes") && utilisation_readings[1] > setting("FAKE_NVML_READS", 1)) ||
        (is_case("gone") && is_due()))
        return ERROR_GPU_IS_LOST;
    return is_case("reset") && is_due() ? ERROR_RESET_REQUIRED : SUCCESS;
}

int nvmlInit_v2(void)
{
    clock_gettime(CLOCK_MONOTONIC, &begun);
    return is_case("init") ? ERROR_DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int status)
{
    return status == ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded"
           : status == ERROR_RESET_REQUIRED  ? "GPU requires reset"
                                             : "GPU is lost";
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
    *out = &devices[index];
    return state_of((int)index);
}

int nvmlDeviceGetName(void *device, char *out, unsigned size)
{
    const char *model = getenv("FAKE_NVML_MODEL");
    snprintf(out, size, "%s%s", model ? model : "Tesla V100-SXM2-16GB",
             number_of(device) >= GPUS ? " MIG 1g.5gb" : "");
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *out, unsigned size)
{
    int number = number_of(device);
    snprintf(out, size, number < GPUS ? "GPU-fake-%d" : "MIG-fake-%d",
             number < GPUS ? number : number - GPUS);
    return is_case("bare") ? ERROR_NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *out)
{
    unsigned long long total = number_of(device) < GPUS ? 16945512448ULL : 5368709120ULL;
    *out = (struct memory){.total = total, .free = total, .used = 0};
    return state_of(number_of(device));
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *out_major, int *out_minor)
{
    (void)device;
    *out_major = 7;
    *out_minor = 0;
    return is_case("bare") ? ERROR_NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *out)
{
    int count = utilisation_readings[number_of(device)]++;
    if (is_case("hangs") && count > 0)
        for (;;)
            pause();
    if (state_of(number_of(device)) != SUCCESS)
        return state_of(number_of(device));
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

int nvmlDeviceGetMigMode(void *device, unsigned *out_now, unsigned *out_pending)
{
    *out_now = *out_pending = getenv("FAKE_NVML_MIG") && number_of(device) == 0;
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *out)
{
    (void)device;
    *out = INSTANCES;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **out)
{
    if (number_of(device) != 0 || (int)index >= setting("FAKE_NVML_MIG", 0))
        return ERROR_NOT_FOUND;
    *out = &devices[GPUS + index];
    return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *out)
{
    *out = (unsigned)(number_of(device) - GPUS);
    return number_of(device) >= GPUS ? SUCCESS : ERROR_NOT_SUPPORTED;
}

int nvmlEventSetCreate(void **out)
{
    static int set;
    *out = &set;
    return SUCCESS;
}

int nvmlEventSetFree(void *set)
{
    (void)set;
    return SUCCESS;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
    (void)set;
    has_second = has_second || (number_of(device) == 1 && types & 8);
    return SUCCESS;
}

int nvmlEventSetWait_v2(void *set, struct event *out, unsigned timeout_ms)
{
    static int was_sent;
    (void)set;
    if (is_case("xid") && has_second && is_due() && !was_sent++) {
        *out = (struct event){&devices[1], 8, (unsigned long long)setting("FAKE_NVML_XID", 79), ~0u,
                              ~0u};
        return SUCCESS;
    }
    usleep(1000 * timeout_ms);
    return ERROR_TIMEOUT;
}
