/* SPDX-License-Identifier: MIT */
#include "lib/hw/nvml_api.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

static const struct {
    size_t offset;
    const char *name;
    bool is_optional;
} SYMBOLS[] = {
    {offsetof(struct orch_nvml, init), "nvmlInit_v2", false},
    {offsetof(struct orch_nvml, shutdown), "nvmlShutdown", false},
    {offsetof(struct orch_nvml, error_string), "nvmlErrorString", false},
    {offsetof(struct orch_nvml, driver_version), "nvmlSystemGetDriverVersion", false},
    {offsetof(struct orch_nvml, device_count), "nvmlDeviceGetCount_v2", false},
    {offsetof(struct orch_nvml, device_handle), "nvmlDeviceGetHandleByIndex_v2", false},
    {offsetof(struct orch_nvml, device_name), "nvmlDeviceGetName", false},
    {offsetof(struct orch_nvml, device_uuid), "nvmlDeviceGetUUID", false},
    {offsetof(struct orch_nvml, device_memory), "nvmlDeviceGetMemoryInfo", false},
    {offsetof(struct orch_nvml, device_capability), "nvmlDeviceGetCudaComputeCapability", false},
    {offsetof(struct orch_nvml, cuda_version), "nvmlSystemGetCudaDriverVersion", true},
    {offsetof(struct orch_nvml, utilization), "nvmlDeviceGetUtilizationRates", true},
    {offsetof(struct orch_nvml, power), "nvmlDeviceGetPowerUsage", true},
    {offsetof(struct orch_nvml, temperature), "nvmlDeviceGetTemperature", true},
    {offsetof(struct orch_nvml, clock), "nvmlDeviceGetClockInfo", true},
    {offsetof(struct orch_nvml, mig_mode), "nvmlDeviceGetMigMode", true},
    {offsetof(struct orch_nvml, mig_count), "nvmlDeviceGetMaxMigDeviceCount", true},
    {offsetof(struct orch_nvml, mig_handle), "nvmlDeviceGetMigDeviceHandleByIndex", true},
    {offsetof(struct orch_nvml, gpu_instance), "nvmlDeviceGetGpuInstanceId", true},
    {offsetof(struct orch_nvml, pci), "nvmlDeviceGetPciInfo_v3", true},
    {offsetof(struct orch_nvml, event_set_new), "nvmlEventSetCreate", true},
    {offsetof(struct orch_nvml, event_set_free), "nvmlEventSetFree", true},
    {offsetof(struct orch_nvml, event_register), "nvmlDeviceRegisterEvents", true},
    {offsetof(struct orch_nvml, event_wait), "nvmlEventSetWait_v2", true},
};

/* Resolves every function. Returns the name of the first missing one, or NULL. */
static const char *resolve(struct orch_nvml *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(SYMBOLS); i++) {
        void *function = dlsym(out->library, SYMBOLS[i].name);
        if (!function && !SYMBOLS[i].is_optional)
            return SYMBOLS[i].name;
        memcpy((char *)out + SYMBOLS[i].offset, &function, sizeof function);
    }
    return NULL;
}

bool orch_nvml_open(struct orch_nvml *out, bool *out_absent, char **out_note)
{
    struct orch_nvml nvml = {.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    *out_absent = false;
    *out_note = NULL;
    if (!nvml.library) {
        const char *why = dlerror();
        *out_absent = !why || strstr(why, "No such file");
        *out_note =
            *out_absent ? g_strdup("no NVML library") : g_strdup_printf("NVML library: %s", why);
        return false;
    }
    const char *missing = resolve(&nvml);
    int status = missing ? NVML_SUCCESS : nvml.init();
    if (!missing && status == NVML_SUCCESS) {
        *out = nvml;
        return true;
    }
    *out_note = missing ? g_strdup_printf("NVML library: no function '%s'", missing)
                        : g_strdup_printf("NVML: %s", nvml.error_string(status));
    dlclose(nvml.library);
    return false;
}

void orch_nvml_close(struct orch_nvml *nvml)
{
    nvml->shutdown();
    dlclose(nvml->library);
}

unsigned orch_nvml_mig_slots(const struct orch_nvml *nvml, nvml_device device)
{
    unsigned is_on = 0, pending = 0, count = 0;
    if (ORCH_NVML_CALL(nvml, mig_mode, device, &is_on, &pending) != NVML_SUCCESS || !is_on ||
        ORCH_NVML_CALL(nvml, mig_count, device, &count) != NVML_SUCCESS)
        return 0;
    return MIN(count, (unsigned)NVML_DEVICES_MAX);
}

static bool has_uuid(const struct orch_nvml *nvml, nvml_device device, const char *name)
{
    char uuid[NVML_TEXT_CHARS] = "";
    return nvml->device_uuid(device, uuid, sizeof uuid) == NVML_SUCCESS &&
           g_str_has_prefix(uuid, name);
}

/* Looks for a MIG instance of the GPU by its UUID. */
static bool find_instance(const struct orch_nvml *nvml, nvml_device device, const char *name,
                          unsigned *out_instance)
{
    const unsigned count = orch_nvml_mig_slots(nvml, device);
    for (unsigned i = 0; i < count; i++) {
        nvml_device instance = NULL;
        if (ORCH_NVML_CALL(nvml, mig_handle, device, i, &instance) != NVML_SUCCESS ||
            !has_uuid(nvml, instance, name))
            continue;
        if (ORCH_NVML_CALL(nvml, gpu_instance, instance, out_instance) != NVML_SUCCESS)
            *out_instance = NVML_NO_INSTANCE;
        return true;
    }
    return false;
}

bool orch_nvml_find(const struct orch_nvml *nvml, const char *name, unsigned *out_index,
                    unsigned *out_instance)
{
    unsigned count = 0, ignored, *instance = out_instance ? out_instance : &ignored;
    guint64 number;
    *instance = NVML_NO_INSTANCE;
    if (!*name || nvml->device_count(&count) != NVML_SUCCESS)
        return false;
    if (g_ascii_string_to_unsigned(name, 10, 0, G_MAXUINT32, &number, NULL)) {
        *out_index = (unsigned)number;
        return number < count;
    }
    for (unsigned i = 0; i < MIN(count, (unsigned)NVML_DEVICES_MAX); i++) {
        nvml_device device = NULL;
        if (nvml->device_handle(i, &device) != NVML_SUCCESS ||
            !(has_uuid(nvml, device, name) || find_instance(nvml, device, name, instance)))
            continue;
        *out_index = i;
        return true;
    }
    return false;
}
