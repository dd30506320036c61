/* SPDX-License-Identifier: MIT */
/* Which Xids condemn a GPU: all, as in NVIDIA's plugin for Kubernetes (nvidia-device-plugin,
 * internal/rm/health.go), but those in the table below, which an application can cause, or after
 * which the GPU goes on. The others need a reset of the GPU or of the machine. */
#include "lib/hw/gpu_health.h"

#include "lib/hw/nvml_api.h"

#include <glib.h>
#include <string.h>

static const struct xid {
    unsigned number;
    bool is_critical;
    const char *meaning;
} XIDS[] = {
    {13, false, "graphics engine exception"},
    {31, false, "GPU memory page fault"},
    {43, false, "the GPU stopped processing a program"},
    {45, false, "preemptive cleanup"},
    {63, false, "a row of its memory was remapped"},
    {68, false, "video processor exception"},
    {92, false, "many corrected memory errors"},
    {94, false, "a contained memory error"},
    {109, false, "context switch timeout"},
    {48, true, "a double-bit memory error"},
    {61, true, "internal microcontroller error"},
    {62, true, "internal microcontroller halt"},
    {64, true, "a row of its memory could not be remapped"},
    {74, true, "NVLink error"},
    {79, true, "the GPU has fallen off the bus"},
    {95, true, "an uncontained memory error"},
    {119, true, "its system processor (GSP) does not answer"},
    {120, true, "its system processor (GSP) failed"},
};

struct watched {
    char *name;
    unsigned index, instance; /* instance: NVML_NO_INSTANCE for a whole GPU */
    nvml_device handle;
};

struct orch_gpu_health {
    struct orch_nvml nvml;
    nvml_event_set events; /* NULL: the driver reports none */
    GArray *gpus;          /* struct watched */
    const char *name;      /* of the last event */
    char *text;
};

static void clear_watched(void *data)
{
    g_free(((struct watched *)data)->name);
}

static void listen_to(struct orch_gpu_health *health)
{
    if (ORCH_NVML_CALL(&health->nvml, event_set_new, &health->events) != NVML_SUCCESS)
        health->events = NULL;
    bool any = false;
    for (guint i = 0; health->events && i < health->gpus->len; i++) {
        const struct watched *gpu = &g_array_index(health->gpus, struct watched, i);
        any = ORCH_NVML_CALL(&health->nvml, event_register, gpu->handle, NVML_EVENT_XID,
                             health->events) == NVML_SUCCESS ||
              any;
    }
    if (health->events && !any) {
        ORCH_NVML_CALL(&health->nvml, event_set_free, health->events);
        health->events = NULL;
    }
}

struct orch_gpu_health *orch_gpu_health_open(const char *const *names)
{
    struct orch_nvml nvml;
    bool is_absent;
    g_autofree char *note = NULL;
    if (!orch_nvml_open(&nvml, &is_absent, &note))
        return NULL;
    struct orch_gpu_health *health = g_new0(struct orch_gpu_health, 1);
    health->nvml = nvml;
    health->gpus = g_array_new(FALSE, TRUE, sizeof(struct watched));
    g_array_set_clear_func(health->gpus, clear_watched);
    for (unsigned i = 0; names[i]; i++) {
        struct watched gpu = {0};
        if (!orch_nvml_find(&nvml, names[i], &gpu.index, &gpu.instance))
            continue;
        gpu.name = g_strdup(names[i]);
        if (nvml.device_handle(gpu.index, &gpu.handle) != NVML_SUCCESS)
            gpu.handle = NULL; /* lost already, which the first check finds */
        g_array_append_val(health->gpus, gpu);
    }
    if (!health->gpus->len) {
        orch_gpu_health_close(health);
        return NULL;
    }
    listen_to(health);
    return health;
}

void orch_gpu_health_close(struct orch_gpu_health *health)
{
    if (!health)
        return;
    if (health->events)
        ORCH_NVML_CALL(&health->nvml, event_set_free, health->events);
    orch_nvml_close(&health->nvml);
    g_array_unref(health->gpus);
    g_free(health->text);
    g_free(health);
}

const char *orch_gpu_health_text(const struct orch_gpu_health *health)
{
    return health->text;
}

const char *orch_gpu_health_name(const struct orch_gpu_health *health)
{
    return health->name;
}

static void set_text(struct orch_gpu_health *health, const struct watched *gpu, char *what)
{
    health->name = gpu->name;
    g_free(health->text);
    health->text =
        g_strdup_printf("%s%s: %s", g_ascii_isdigit(*gpu->name) ? "GPU " : "", gpu->name, what);
    g_free(what);
}

enum orch_gpu_event orch_gpu_health_check(struct orch_gpu_health *health)
{
    for (guint i = 0; i < health->gpus->len; i++) {
        const struct watched *gpu = &g_array_index(health->gpus, struct watched, i);
        nvml_device handle = NULL;
        struct nvml_memory memory;
        int status = health->nvml.device_handle(gpu->index, &handle);
        if (status == NVML_SUCCESS)
            status = health->nvml.device_memory(handle, &memory);
        if (status != NVML_GPU_IS_LOST && status != NVML_RESET_REQUIRED)
            continue;
        set_text(health, gpu, g_strdup_printf("NVML: %s", health->nvml.error_string(status)));
        return ORCH_GPU_LOST;
    }
    return ORCH_GPU_QUIET;
}

/* The watched GPU that an event concerns, or NULL: another instance of the same GPU. */
static const struct watched *concerned(const struct orch_gpu_health *health,
                                       const struct nvml_event *event)
{
    for (guint i = 0; i < health->gpus->len; i++) {
        const struct watched *gpu = &g_array_index(health->gpus, struct watched, i);
        if (gpu->handle == event->device &&
            (gpu->instance == event->gpu_instance || gpu->instance == NVML_NO_INSTANCE ||
             event->gpu_instance == NVML_NO_INSTANCE))
            return gpu;
    }
    return NULL;
}

enum orch_gpu_event orch_gpu_health_wait(struct orch_gpu_health *health, unsigned timeout_ms)
{
    struct nvml_event event = {.gpu_instance = NVML_NO_INSTANCE};
    int status = health->events
                     ? ORCH_NVML_CALL(&health->nvml, event_wait, health->events, &event, timeout_ms)
                     : (int)NVML_NOT_SUPPORTED;
    if (status == NVML_GPU_IS_LOST || status == NVML_RESET_REQUIRED) {
        if (orch_gpu_health_check(health) == ORCH_GPU_LOST)
            return ORCH_GPU_LOST;
    }
    if (status != NVML_SUCCESS) {
        if (status != NVML_TIMEOUT)
            g_usleep(1000UL * timeout_ms);
        return ORCH_GPU_QUIET;
    }
    const struct watched *gpu = concerned(health, &event);
    if (!gpu || !(event.type & NVML_EVENT_XID) || !event.data)
        return ORCH_GPU_QUIET;
    const struct xid *xid = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(XIDS) && !xid; i++)
        xid = XIDS[i].number == event.data ? &XIDS[i] : NULL;
    set_text(health, gpu,
             xid ? g_strdup_printf("Xid %llu (%s)", event.data, xid->meaning)
                 : g_strdup_printf("Xid %llu", event.data));
    return xid && !xid->is_critical ? ORCH_GPU_REMARK : ORCH_GPU_LOST;
}
