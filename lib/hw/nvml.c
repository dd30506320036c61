/* SPDX-License-Identifier: MIT */
/* GPUs through NVML, a library of NVIDIA's driver. It is loaded at run time with our own
 * declarations, so that building does not need CUDA and the same program runs with and without a
 * driver. Types and values follow NVIDIA's "NVML API Reference Guide"; the functions used exist in
 * every driver since 2014 with a stable ABI (functions with a version in their name never
 * change). */
#include "lib/hw/probe.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NVML_SUCCESS 0
#define NVML_NAME_CHARS 96
#define NVML_DEVICES_MAX 256

typedef struct nvml_device *nvml_device;

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

/* The functions used, in the order of `symbols`. */
struct nvml {
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
};

/* Exists in drivers since 2018. */
#define NVML_CUDA_VERSION "nvmlSystemGetCudaDriverVersion"

static const struct {
    size_t offset;
    const char *name;
} symbols[] = {
    {offsetof(struct nvml, init), "nvmlInit_v2"},
    {offsetof(struct nvml, shutdown), "nvmlShutdown"},
    {offsetof(struct nvml, error_string), "nvmlErrorString"},
    {offsetof(struct nvml, driver_version), "nvmlSystemGetDriverVersion"},
    {offsetof(struct nvml, device_count), "nvmlDeviceGetCount_v2"},
    {offsetof(struct nvml, device_handle), "nvmlDeviceGetHandleByIndex_v2"},
    {offsetof(struct nvml, device_name), "nvmlDeviceGetName"},
    {offsetof(struct nvml, device_uuid), "nvmlDeviceGetUUID"},
    {offsetof(struct nvml, device_memory), "nvmlDeviceGetMemoryInfo"},
    {offsetof(struct nvml, device_capability), "nvmlDeviceGetCudaComputeCapability"},
};

void orch_gpu_device_free(struct orch_gpu_device *device)
{
    if (!device)
        return;
    g_free(device->model);
    g_free(device->uuid);
    g_free(device);
}

/* Resolves every function. Returns the name of the first missing one, or NULL. */
static const char *resolve(void *library, struct nvml *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(symbols); i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function)
            return symbols[i].name;
        memcpy((char *)out + symbols[i].offset, &function, sizeof function);
    }
    return NULL;
}

/* Describes a device; NULL with a note if the driver cannot (it has fallen off the bus). */
static struct orch_gpu_device *read_device(const struct nvml *nvml, unsigned index, char **out_note)
{
    char name[NVML_NAME_CHARS] = "", uuid[NVML_NAME_CHARS] = "";
    struct nvml_memory memory = {0};
    nvml_device handle = NULL;
    int status = nvml->device_handle(index, &handle);
    if (status == NVML_SUCCESS)
        status = nvml->device_name(handle, name, sizeof name);
    if (status == NVML_SUCCESS)
        status = nvml->device_memory(handle, &memory);
    if (status != NVML_SUCCESS) {
        g_free(*out_note);
        *out_note = g_strdup_printf("GPU %u: %s", index, nvml->error_string(status));
        return NULL;
    }
    struct orch_gpu_device *device = g_new0(struct orch_gpu_device, 1);
    device->index = index;
    name[sizeof name - 1] = 0;
    device->model = g_strdup(name);
    if (nvml->device_uuid(handle, uuid, sizeof uuid) != NVML_SUCCESS)
        *uuid = 0;
    device->uuid = g_strdup(uuid);
    device->memory_bytes = (int64_t)memory.total;
    if (nvml->device_capability(handle, &device->cc_major, &device->cc_minor) != NVML_SUCCESS)
        device->cc_major = device->cc_minor = 0;
    return device;
}

/* "12.4": newest CUDA version that the driver supports; NULL: unknown. */
static char *read_cuda_version(void *library)
{
    int (*cuda_version)(int *) = NULL;
    int version = 0;
    *(void **)&cuda_version = dlsym(library, NVML_CUDA_VERSION);
    if (!cuda_version || cuda_version(&version) != NVML_SUCCESS || version <= 0)
        return NULL;
    return g_strdup_printf("%d.%d", version / 1000, version % 1000 / 10);
}

static void read_devices(const struct nvml *nvml, struct orch_machine *machine)
{
    unsigned count = 0;
    int status = nvml->device_count(&count);
    if (status != NVML_SUCCESS) {
        machine->gpu_note = g_strdup_printf("NVML: %s", nvml->error_string(status));
        return;
    }
    for (unsigned i = 0; i < MIN(count, NVML_DEVICES_MAX); i++) {
        struct orch_gpu_device *device = read_device(nvml, i, &machine->gpu_note);
        if (device)
            g_ptr_array_add(machine->gpus, device);
    }
    if (!machine->gpus->len && !machine->gpu_note)
        machine->gpu_note = g_strdup("no device");
    char version[NVML_NAME_CHARS] = "";
    if (machine->gpus->len && nvml->driver_version(version, sizeof version) == NVML_SUCCESS)
        machine->gpu_driver = g_strdup(version);
}

void orch_nvml_probe(struct orch_machine *machine)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        bool absent = !why || strstr(why, "No such file");
        machine->gpu_note =
            absent ? g_strdup("no NVML library") : g_strdup_printf("NVML library: %s", why);
        return;
    }
    struct nvml nvml;
    const char *missing = resolve(library, &nvml);
    int status = missing ? NVML_SUCCESS : nvml.init();
    if (missing) {
        machine->gpu_note = g_strdup_printf("NVML library: no function '%s'", missing);
    } else if (status != NVML_SUCCESS) {
        machine->gpu_note = g_strdup_printf("NVML: %s", nvml.error_string(status));
    } else {
        read_devices(&nvml, machine);
        if (machine->gpus->len)
            machine->cuda_version = read_cuda_version(library);
        nvml.shutdown();
    }
    dlclose(library);
}
