/* SPDX-License-Identifier: MIT */
/* The GPUs of this machine, as NVML describes them. Where MIG is on, the instances of a GPU are
 * devices of their own, and the GPU itself is none, because CUDA does not offer it then. */
#include "lib/hw/nvml_api.h"
#include "lib/hw/probe.h"
#include "lib/hw/topology_probe.h"

#include <stdlib.h>
#include <string.h>

void orch_gpu_device_free(struct orch_gpu_device *device)
{
    if (!device)
        return;
    g_free(device->model);
    g_free(device->uuid);
    g_free(device->visible);
    g_free(device);
}

static void note(char **out_note, const struct orch_nvml *nvml, unsigned index, int status)
{
    g_free(*out_note);
    *out_note = g_strdup_printf("GPU %u: %s", index, nvml->error_string(status));
}

/* Describes a GPU or a MIG instance of the GPU with that index; NULL with a note if the driver
 * cannot (it has fallen off the bus). */
static struct orch_gpu_device *read_device(const struct orch_nvml *nvml, unsigned index,
                                           nvml_device handle, char **out_note)
{
    char name[NVML_TEXT_CHARS] = "", uuid[NVML_TEXT_CHARS] = "";
    struct nvml_memory memory = {0};
    int status = nvml->device_name(handle, name, sizeof name);
    if (status == NVML_SUCCESS)
        status = nvml->device_memory(handle, &memory);
    if (status != NVML_SUCCESS) {
        note(out_note, nvml, index, status);
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
    device->numa_node = -1;
    return device;
}

static int node_of(const struct orch_nvml *nvml, nvml_device handle)
{
    struct nvml_pci pci = {0};
    return ORCH_NVML_CALL(nvml, pci, handle, &pci) == NVML_SUCCESS
               ? orch_pci_node("", pci.domain, pci.bus, pci.device)
               : -1;
}

/* Adds the GPU, or its MIG instances. An instance can only be named by its UUID. */
static void add_device(const struct orch_nvml *nvml, unsigned index, struct orch_machine *machine)
{
    nvml_device handle = NULL;
    int status = nvml->device_handle(index, &handle);
    if (status != NVML_SUCCESS) {
        note(&machine->gpu_note, nvml, index, status);
        return;
    }
    struct orch_gpu_device *gpu = read_device(nvml, index, handle, &machine->gpu_note);
    if (gpu)
        gpu->numa_node = node_of(nvml, handle);
    const unsigned slots = gpu ? orch_nvml_mig_slots(nvml, handle) : 0;
    if (gpu && !slots)
        g_ptr_array_add(machine->gpus, gpu);
    for (unsigned i = 0; i < slots; i++) {
        nvml_device instance = NULL;
        struct orch_gpu_device *device =
            ORCH_NVML_CALL(nvml, mig_handle, handle, i, &instance) == NVML_SUCCESS
                ? read_device(nvml, index, instance, &machine->gpu_note)
                : NULL;
        if (!device)
            continue;
        device->is_mig = true;
        device->numa_node = gpu->numa_node;
        if (!device->cc_major) {
            device->cc_major = gpu->cc_major;
            device->cc_minor = gpu->cc_minor;
        }
        g_ptr_array_add(machine->gpus, device);
    }
    if (slots)
        orch_gpu_device_free(gpu);
}

/* "12.4": newest CUDA version that the driver supports; NULL: unknown. */
static char *read_cuda_version(const struct orch_nvml *nvml)
{
    int version = 0;
    if (ORCH_NVML_CALL(nvml, cuda_version, &version) != NVML_SUCCESS || version <= 0)
        return NULL;
    return g_strdup_printf("%d.%d", version / 1000, version % 1000 / 10);
}

static void read_devices(const struct orch_nvml *nvml, struct orch_machine *machine)
{
    unsigned count = 0;
    int status = nvml->device_count(&count);
    if (status != NVML_SUCCESS) {
        machine->gpu_note = g_strdup_printf("NVML: %s", nvml->error_string(status));
        return;
    }
    for (unsigned i = 0; i < MIN(count, (unsigned)NVML_DEVICES_MAX); i++)
        add_device(nvml, i, machine);
    if (!machine->gpus->len && !machine->gpu_note)
        machine->gpu_note = g_strdup(count ? "MIG is on, and no instance was made" : "no device");
    char version[NVML_TEXT_CHARS] = "";
    if (machine->gpus->len && nvml->driver_version(version, sizeof version) == NVML_SUCCESS)
        machine->gpu_driver = g_strdup(version);
    if (machine->gpus->len)
        machine->cuda_version = read_cuda_version(nvml);
}

void orch_nvml_probe(struct orch_machine *machine)
{
    struct orch_nvml nvml;
    bool is_absent;
    if (!orch_nvml_open(&nvml, &is_absent, &machine->gpu_note))
        return;
    read_devices(&nvml, machine);
    orch_nvml_close(&nvml);
}
